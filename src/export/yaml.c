/* SPDX-License-Identifier: MIT */
/* YAML, as much of it as there is JSON. */
#include "export/yaml.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/util.h"

static void add_value(struct str *out, struct json_object *value, int indent);

/* Words that some reader of YAML takes for something else. */
static bool is_word_of_yaml(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on",
					     "off",  "null",  "y",   "n" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcasecmp(text, words[i]))
			return true;
	return false;
}

/* Begins with a letter or '/', and has nothing in it that means something. */
static bool is_plain(const char *text)
{
	if (!isascii(text[0]) || (!isalpha((unsigned char)text[0]) && text[0] != '/') ||
	    is_word_of_yaml(text))
		return false;
	for (; *text; text++)
		if (!isascii(*text) || (!isalnum((unsigned char)*text) && !strchr("._/-", *text)))
			return false;
	return true;
}

static void add_string(struct str *out, const char *text)
{
	if (is_plain(text))
		str_add(out, text);
	else
		json_add_string(out, text);
}

/* Lines of text as they are, where a block can hold them. */
static bool add_block(struct str *out, const char *text, int indent)
{
	size_t len = strlen(text);

	if (!strchr(text, '\n') || text[0] == ' ' || text[0] == '\n' || text[len - 1] != '\n' ||
	    (len > 1 && text[len - 2] == '\n'))
		return false;
	for (const char *p = text; *p; p++)
		if (!isascii(*p) || (iscntrl((unsigned char)*p) && *p != '\n' && *p != '\t'))
			return false;
	str_add(out, " |");
	while (*text) {
		size_t line = strcspn(text, "\n");

		str_addf(out, "\n%*s%.*s", line ? indent : 0, "", (int)line, text);
		text += line + 1;
	}
	str_add(out, "\n");
	return true;
}

static bool is_empty(struct json_object *value)
{
	return (json_object_is_type(value, json_type_object) &&
		!json_object_object_length(value)) ||
	       (json_object_is_type(value, json_type_array) && !json_object_array_length(value));
}

static bool is_nested(struct json_object *value)
{
	return (json_object_is_type(value, json_type_object) ||
		json_object_is_type(value, json_type_array)) &&
	       !is_empty(value);
}

static void add_members(struct str *out, struct json_object *map, int indent, bool first_is_placed)
{
	bool placed = first_is_placed;

	json_object_object_foreach(map, key, value)
	{
		str_addf(out, "%*s", placed ? 0 : indent, "");
		placed = false;
		add_string(out, key);
		str_add(out, ":");
		if (json_object_is_type(value, json_type_string) &&
		    add_block(out, json_object_get_string(value), indent + 2))
			continue;
		str_add(out, is_nested(value) ? "\n" : " ");
		add_value(out, value,
			  json_object_is_type(value, json_type_array) ? indent : indent + 2);
	}
}

static void add_elements(struct str *out, struct json_object *list, int indent)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *value = json_object_array_get_idx(list, i);

		str_addf(out, "%*s- ", indent, "");
		if (json_object_is_type(value, json_type_object) && !is_empty(value))
			add_members(out, value, indent + 2, true);
		else
			add_value(out, value, indent + 2);
	}
}

static void add_value(struct str *out, struct json_object *value, int indent)
{
	if (is_nested(value) && json_object_is_type(value, json_type_object))
		add_members(out, value, indent, false);
	else if (is_nested(value))
		add_elements(out, value, indent);
	else if (json_object_is_type(value, json_type_string))
		add_string(out, json_object_get_string(value));
	else
		str_add(out, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
	if (!is_nested(value))
		str_add(out, "\n");
}

void yaml_add(struct str *out, struct json_object *value)
{
	add_value(out, value, 0);
}
