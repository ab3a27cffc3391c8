/* SPDX-License-Identifier: MIT */
/*
 * A strict JSON reader with comments, by recursive descent over the words of json_lex.h, with the
 * depth capped.
 */
#include "base/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/json_lex.h"

static int read_value(struct json_lex *r, struct json_object **ret);

static int no_memory(struct json_lex *r)
{
	return err_errno(r->err, ENOMEM, "reading '%s'", r->origin);
}

static int read_number(struct json_lex *r, struct json_object **ret)
{
	const char *start = r->p;
	char text[64];
	bool whole;
	size_t len;
	int k = json_lex_number(r, &whole);

	if (k < 0)
		return k;
	len = (size_t)(r->p - start);
	if (len >= sizeof(text))
		return json_lex_fail_at(r, start, "a number of too many digits");
	memcpy(text, start, len);
	text[len] = '\0';
	errno = 0;
	if (whole) {
		int64_t n = strtoll(text, NULL, 10);

		if (errno)
			return json_lex_fail_at(r, start, "a number out of range");
		*ret = json_object_new_int64(n);
	} else {
		/* The program that uses our library may have set a locale with another point. */
		locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		double n = c ? strtod_l(text, NULL, c) : (double)NAN;

		if (c)
			freelocale(c);
		if (!isfinite(n))
			return json_lex_fail_at(r, start, "a number out of range");
		*ret = json_object_new_double_s(n, text);
	}
	return *ret ? 0 : no_memory(r);
}

static int read_array(struct json_lex *r, struct json_object **ret)
{
	_cleanup_json_ struct json_object *array = json_object_new_array();
	bool more;
	int k;

	if (!array)
		return no_memory(r);
	r->p++;
	k = json_lex_space(r);
	for (more = !json_lex_at(r, ']'); k == 0 && more;) {
		struct json_object *value = NULL;

		k = read_value(r, &value);
		if (k == 0 && json_object_array_add(array, value) < 0) {
			json_object_put(value);
			k = no_memory(r);
		}
		if (k == 0)
			k = json_lex_next(r, ']', &more);
	}
	if (k < 0)
		return k;
	r->p++;
	*ret = TAKE_PTR(array);
	return 0;
}

static int read_member(struct json_lex *r, struct json_object *object)
{
	_cleanup_str_ struct str key = { 0 };
	struct json_object *value = NULL;
	const char *start = r->p;
	int ret;

	if (!json_lex_at(r, '"'))
		return json_lex_fail(r, "expected a key in double quotes");
	ret = json_lex_string(r, &key);
	if (ret < 0)
		return ret;
	if (json_object_object_get_ex(object, key.s, NULL)) {
		_cleanup_str_ struct str what = { 0 };

		str_add(&what, "the key \"");
		str_add_escaped(&what, key.s);
		str_add(&what, "\" stands twice");
		return json_lex_fail_at(r, start, what.s);
	}
	ret = json_lex_space(r);
	if (ret == 0 && !json_lex_take(r, ":"))
		ret = json_lex_fail(r, "expected ':' after the key");
	if (ret == 0)
		ret = json_lex_space(r);
	if (ret == 0)
		ret = read_value(r, &value);
	if (ret == 0 &&
	    json_object_object_add_ex(object, key.s, value, JSON_C_OBJECT_ADD_KEY_IS_NEW) < 0) {
		json_object_put(value);
		ret = no_memory(r);
	}
	return ret;
}

static int read_object(struct json_lex *r, struct json_object **ret)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	bool more;
	int k;

	if (!object)
		return no_memory(r);
	r->p++;
	k = json_lex_space(r);
	for (more = !json_lex_at(r, '}'); k == 0 && more;) {
		k = read_member(r, object);
		if (k == 0)
			k = json_lex_next(r, '}', &more);
	}
	if (k < 0)
		return k;
	r->p++;
	*ret = TAKE_PTR(object);
	return 0;
}

static int read_word(struct json_lex *r, struct json_object **ret)
{
	const char *start = r->p;

	*ret = NULL;
	if (json_lex_take(r, "null"))
		return 0;
	if (!json_lex_take(r, "true") && !json_lex_take(r, "false"))
		return json_lex_fail(r, "expected a value");
	*ret = json_object_new_boolean(*start == 't');
	return *ret ? 0 : no_memory(r);
}

static int read_value(struct json_lex *r, struct json_object **ret)
{
	int k;

	if (json_lex_at(r, '"')) {
		_cleanup_str_ struct str s = { 0 };

		k = json_lex_string(r, &s);
		if (k < 0)
			return k;
		*ret = json_object_new_string_len(s.s, (int)s.len);
		return *ret ? 0 : no_memory(r);
	}
	if (r->p < r->end && memchr("-0123456789", *r->p, 11))
		return read_number(r, ret);
	if (!json_lex_at(r, '{') && !json_lex_at(r, '['))
		return read_word(r, ret);
	if (++r->depth > JSON_MAX_DEPTH)
		return json_lex_fail(r, "nested too deeply");
	k = json_lex_at(r, '{') ? read_object(r, ret) : read_array(r, ret);
	r->depth--;
	return k;
}

int json_parse_max(const char *text, size_t len, size_t max, const char *origin,
		   struct json_object **ret, struct err *err)
{
	_cleanup_json_ struct json_object *value = NULL;
	struct json_lex r = {
		.text = text, .p = text, .end = text + len, .origin = origin, .err = err
	};
	int k = json_lex_begin(&r, max);

	if (k == 0)
		k = read_value(&r, &value);
	if (k == 0)
		k = json_lex_end(&r);
	if (k == 0)
		*ret = TAKE_PTR(value);
	return k;
}

int json_parse(const char *text, size_t len, const char *origin, struct json_object **ret,
	       struct err *err)
{
	return json_parse_max(text, len, JSON_MAX_SIZE, origin, ret, err);
}
