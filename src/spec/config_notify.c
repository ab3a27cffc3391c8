/* SPDX-License-Identifier: MIT */
/* The key "notify" of a configuration file: true, false, or an object. */
#include <string.h>

#include "base/json.h"
#include "spec/config_priv.h"

static int read_member(const struct reader *reader, const struct json_at *at, const char *key,
		       struct json_object *value, struct err *err)
{
	/* In the file, in the spec, and what the file holds. */
	static const struct {
		const char *key, *name;
		enum json_type type;
	} members[] = {
		{ "enabled", "notify", json_type_boolean },
		{ "waiting", "notify.waiting", json_type_string },
		{ "idle", "notify.idle", json_type_int },
		{ "quiet", "notify.quiet", json_type_string },
		{ "sound", "notify.sound", json_type_string },
		{ "webhook", "notify.webhook", json_type_string },
		{ "always", "notify.always", json_type_boolean },
		{ "violations", "notify.violations", json_type_boolean },
	};
	const char *words[ARRAY_LEN(members)];
	const struct json_at *place = JSON_KEY(at, key);
	int r;

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		words[i] = members[i].key;
		if (strcmp(members[i].key, key))
			continue;
		r = json_check_type(place, value, members[i].type, err);
		if (r < 0)
			return r;
		/* A command that runs outside the sandbox is nobody's to name but the user's. */
		if (!strcmp(key, "webhook") && reader->layer == LAYER_PROJECT)
			return err_usage(err,
					 "notify.webhook: belongs into your own "
					 "~/.config/wrapix/config.json, not into a project's file");
		return config_set(reader, JSON_KEY(NULL, members[i].name),
				  strcmp(key, "enabled")           ? json_object_get_string(value)
				  : json_object_get_boolean(value) ? "on"
								   : "off",
				  err);
	}
	return json_err_key(place, words, ARRAY_LEN(words), err);
}

int config_read_notify(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err)
{
	int r = 0;

	if (json_object_is_type(value, json_type_boolean))
		return config_set(reader, at, json_object_get_boolean(value) ? "on" : "off", err);
	if (!json_object_is_type(value, json_type_object))
		return json_err_type(at, value, "true, false or an object", err);
	json_object_object_foreach(value, key, entry)
	{
		if (r == 0)
			r = read_member(reader, at, key, entry, err);
	}
	return r;
}
