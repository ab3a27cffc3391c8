/* SPDX-License-Identifier: MIT */
/* Requests to a running session and their replies: text to struct and back. */
#include "session/request.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

int request_parse(struct arena *arena, const char *text, size_t len, struct request *ret,
		  struct err *err)
{
	static const char *const words[] = { "allow", "deny" };
	_cleanup_json_ struct json_object *object = NULL;
	struct request request = { 0 };
	struct strv *lists[] = { &request.allow, &request.deny };
	int r = json_parse(text, len, "request", &object, err);

	if (r == 0)
		r = json_check_type(JSON_KEY(NULL, "request"), object, json_type_object, err);
	if (r < 0)
		return r;
	json_object_object_foreach(object, key, value)
	{
		const struct json_at *at = JSON_KEY(NULL, key);
		size_t i;

		r = json_find_key(at, words, ARRAY_LEN(words), &i, err);
		if (r == 0)
			r = json_get_strings(arena, at, value, lists[i], err);
		if (r < 0)
			return r;
	}
	*ret = request;
	return 0;
}

void request_add(struct str *out, const struct request *request)
{
	str_add(out, "{");
	json_add_key(out, "allow");
	json_add_strings(out, &request->allow);
	json_add_key(out, "deny");
	json_add_strings(out, &request->deny);
	str_add(out, "}");
}

void reply_add(struct str *out, const struct err *err)
{
	if (!err) {
		str_add(out, "{\"ok\": true}");
		return;
	}
	str_add(out, "{\"error\": ");
	json_add_string(out, err->msg);
	if (err->hint[0]) {
		str_add(out, ", \"hint\": ");
		json_add_string(out, err->hint);
	}
	str_add(out, "}");
}

int reply_parse(const char *text, size_t len, struct err *err)
{
	_cleanup_json_ struct json_object *object = NULL;
	const char *error, *hint;
	int r = json_parse(text, len, "reply", &object, err);

	if (r == 0 && !json_object_is_type(object, json_type_object))
		r = err_set(err, EPROTO, "the session's reply is none");
	if (r < 0)
		return r;
	error = json_text(object, "error");
	hint = json_text(object, "hint");
	if (!error && json_object_get_boolean(json_object_object_get(object, "ok")))
		return 0;
	err_set(err, EPERM, "%s", error ? error : "the session's reply is none");
	return hint ? err_hint(err, "%s", hint) : -EPERM;
}
