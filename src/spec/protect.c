/* SPDX-License-Identifier: MIT */
/* The key "protect": what becomes of changes to files that somebody outside obeys later, class by class. */
#include <string.h>

#include "base/json.h"
#include "spec/config_priv.h"

static const char *const classes[PROTECT_CLASSES] = { "git",   "shell", "editor",
						      "agent", "build", "ci" };

enum protect_class protect_class_of(const char *word)
{
	enum protect_class class = 0;

	while (class < PROTECT_CLASSES && (!word || strcmp(classes[class], word) != 0))
		class ++;
	return class;
}

const char *protect_class_name(enum protect_class class)
{
	return classes[class];
}

const char *protect_level_name(enum protect_level level)
{
	static const char *const names[] = { "report", "allow", "report", "hold", "ro" };

	return names[level];
}

int config_read_protect(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		const struct json_at *place = JSON_KEY(at, name);
		char key[32];
		const char *text;

		if (protect_class_of(name) == PROTECT_CLASSES)
			return json_err_key(place, classes, PROTECT_CLASSES, err);
		r = json_get_string(place, entry, &text, err);
		snprintf(key, sizeof(key), "protect.%s", name);
		if (r == 0)
			r = config_set(reader, JSON_KEY(NULL, key), text, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int protect_parse(const char *text, char key[32], const char **ret_level, struct err *err)
{
	size_t n = strcspn(text, "=");

	if (!text[n] || n > 16) {
		err_usage(err, "'%s' is not CLASS=LEVEL", text);
		return err_hint(err, "classes: git shell editor agent build ci; levels: allow "
				     "report hold ro");
	}
	snprintf(key, 32, "protect.%.*s", (int)n, text);
	if (protect_class_of(key + strlen("protect.")) == PROTECT_CLASSES) {
		err_usage(err, "there is no class '%.*s'", (int)n, text);
		return err_hint(err, "git, shell, editor, agent, build or ci");
	}
	*ret_level = text + n + 1;
	return 0;
}
