/* SPDX-License-Identifier: MIT */
/* JSON values: getters that say where a wrong value stands. */
#include "base/json.h"

#include <string.h>

enum { SHOWN_MAX = 60 }; /* bytes of a wrong value in a message */

void json_at_add(struct str *out, const struct json_at *at)
{
	if (!at)
		return;
	json_at_add(out, at->up);
	if (!at->key) {
		str_addf(out, "[%zu]", at->index);
		return;
	}
	if (at->up)
		str_add(out, ".");
	str_add_escaped(out, at->key);
}

static const char *type_phrase(enum json_type type)
{
	static const char *const phrases[] = {
		[json_type_null] = "null",        [json_type_boolean] = "true or false",
		[json_type_double] = "a number",  [json_type_int] = "a whole number",
		[json_type_object] = "an object", [json_type_array] = "a list",
		[json_type_string] = "a string",
	};

	return phrases[type];
}

/* Short values as they stand, long and nested ones by their kind. */
static void add_shown(struct str *out, struct json_object *value)
{
	enum json_type type = json_object_get_type(value);

	if (type == json_type_object || type == json_type_array) {
		str_add(out, type_phrase(type));
	} else if (type == json_type_string) {
		char buf[SHOWN_MAX + 1];
		bool cut = json_object_get_string_len(value) > SHOWN_MAX;

		snprintf(buf, sizeof(buf), "%s", json_object_get_string(value));
		str_add(out, "\"");
		str_add_escaped(out, buf);
		str_add(out, cut ? "...\"" : "\"");
	} else {
		str_add(out, value ? json_object_get_string(value) : "null");
	}
}

int json_err_type(const struct json_at *at, struct json_object *value, const char *what,
		  struct err *err)
{
	_cleanup_str_ struct str place = { 0 }, shown = { 0 };

	json_at_add(&place, at);
	add_shown(&shown, value);
	return err_usage(err, "%s%smust be %s, not %s", place.s ? place.s : "", place.s ? ": " : "",
			 what, shown.s);
}

int json_err_key(const struct json_at *at, const char *const *words, size_t n, struct err *err)
{
	const char *near = str_nearest(at->key, words, n);
	_cleanup_str_ struct str place = { 0 }, list = { 0 };

	json_at_add(&place, at);
	err_usage(err, "%s: unknown key", place.s);
	if (near)
		return err_hint(err, "did you mean \"%s\"?", near);
	for (size_t i = 0; i < n; i++)
		str_addf(&list, "%s%s", i ? ", " : "", words[i]);
	return err_hint(err, n == 1 ? "the only key there is %s" : "the keys there are %s",
			list.s ? list.s : "");
}

int json_check_type(const struct json_at *at, struct json_object *value, enum json_type type,
		    struct err *err)
{
	if (json_object_get_type(value) == type)
		return 0;
	return json_err_type(at, value, type_phrase(type), err);
}

int json_get_string(const struct json_at *at, struct json_object *value, const char **ret,
		    struct err *err)
{
	int k = json_check_type(at, value, json_type_string, err);

	if (k == 0)
		*ret = json_object_get_string(value);
	return k;
}

int json_get_bool(const struct json_at *at, struct json_object *value, bool *ret, struct err *err)
{
	int k = json_check_type(at, value, json_type_boolean, err);

	if (k == 0)
		*ret = json_object_get_boolean(value);
	return k;
}

int json_get_strings(struct arena *arena, const struct json_at *at, struct json_object *value,
		     struct strv *ret, struct err *err)
{
	int r = json_check_type(at, value, json_type_array, err);

	for (size_t i = 0; r == 0 && i < json_object_array_length(value); i++) {
		const char *text;

		r = json_get_string(JSON_INDEX(at, i), json_object_array_get_idx(value, i), &text,
				    err);
		if (r == 0)
			strv_add(arena, ret, text);
	}
	return r;
}

int json_find_key(const struct json_at *at, const char *const *words, size_t n, size_t *ret,
		  struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i], at->key)) {
			*ret = i;
			return 0;
		}
	return json_err_key(at, words, n, err);
}

const char *json_text(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_is_type(object, json_type_object)
					    ? json_object_object_get(object, key)
					    : NULL;

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}
