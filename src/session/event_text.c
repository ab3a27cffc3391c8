/* SPDX-License-Identifier: MIT */
/*
 * Events as text. Names, addresses and arguments come from inside a sandbox or from a damaged file:
 * whatever they are, what leaves here is safe for a terminal, and one line.
 */
#include "session/events.h"

#include <string.h>
#include <time.h>

#define HOST_WIDTH 36
#define RESULT_WIDTH 20
#define NUMBERS_WIDTH 28  /* sent, received, seconds */
#define COMMAND_SHOWN 160 /* bytes of a command line */

/* --- JSON --- */

static void add_object(struct str *out, struct json_object *object)
{
	bool first = true;

	str_add(out, "{");
	json_object_object_foreach(object, key, value)
	{
		str_add(out, first ? "" : ",");
		json_add_string(out, key);
		str_add(out, ":");
		event_add_json(out, value);
		first = false;
	}
	str_add(out, "}");
}

void event_add_json(struct str *out, struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_object:
		add_object(out, value);
		break;
	case json_type_array:
		str_add(out, "[");
		for (size_t i = 0; i < json_object_array_length(value); i++) {
			str_add(out, i ? "," : "");
			event_add_json(out, json_object_array_get_idx(value, i));
		}
		str_add(out, "]");
		break;
	case json_type_string:
		json_add_string(out, json_object_get_string(value));
		break;
	case json_type_null:
		str_add(out, "null");
		break;
	default: /* a number, as it was written; true, false */
		str_add(out, json_object_get_string(value));
	}
}

/* --- text --- */

static const char *get_string(struct json_object *event, const char *key)
{
	return json_text(event, key) ?: "";
}

/* -1 where there is none. */
static double get_number(struct json_object *event, const char *key)
{
	struct json_object *value = json_object_object_get(event, key);
	enum json_type type = json_object_get_type(value);

	return type == json_type_int || type == json_type_double ? json_object_get_double(value)
								 : -1;
}

static void add_local_time(struct str *out, struct json_object *event, const char *key)
{
	int64_t time = 0;
	time_t seconds;
	struct tm tm;

	(void)event_time_parse(get_string(event, key), &time); /* it was checked by event_parse() */
	seconds = (time_t)(time / 1000);
	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	str_addf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void pad(struct str *out, size_t from, size_t width)
{
	while (out->len - from < width)
		str_add(out, " ");
}

static void add_labelled(struct str *out, const char *label, const char *text)
{
	str_add(out, label);
	str_add_escaped(out, text);
}

/* "name:443", "[fd00::1]:443", "name"; of a file or a socket "write /path" */
static void add_host(struct str *out, struct json_object *event)
{
	const char *name = get_string(event, "name"), *address = get_string(event, "address");
	double port = get_number(event, "port");
	bool v6 = !name[0] && strchr(address, ':') && port > 0;

	if (!strcmp(get_string(event, "what"), "call")) {
		str_add(out, "call ");
		str_add_escaped(out, get_string(event, "call"));
		str_add(out, "(");
		str_add_escaped(out, get_string(event, "args"));
		str_add(out, ")");
		return;
	}
	if (!strcmp(get_string(event, "what"), "limit")) {
		add_labelled(out, "limit ", get_string(event, "reason"));
		add_labelled(out, " ", get_string(event, "rule"));
		return;
	}
	if (get_string(event, "call")[0]) {
		const char *path = get_string(event, "path");

		str_add_escaped(out, get_string(event, "what"));
		str_add(out, " ");
		str_add_escaped(out, path[0] ? path : get_string(event, "call"));
		return;
	}
	str_add(out, v6 ? "[" : "");
	str_add_escaped(out, name[0] ? name : address);
	str_add(out, v6 ? "]" : "");
	if (port > 0)
		str_addf(out, ":%.0f", port);
}

/* "9999", "1500K", "20M" */
static void add_bytes(struct str *out, double bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P", "E" };
	char text[32] = "";
	size_t unit = 0;

	for (; bytes >= 9999.5 && unit + 1 < ARRAY_LEN(units); unit++)
		bytes /= 1024;
	if (bytes >= 0)
		snprintf(text, sizeof(text), "%.0f%s", bytes, units[unit]);
	str_addf(out, " %8s", text);
}

/* What is refused has none, so that a long name has their room and what follows stays in its column. */
static void add_numbers(struct str *out, struct json_object *event)
{
	double sent = get_number(event, "sent"), received = get_number(event, "received");
	double seconds = get_number(event, "seconds");

	if (sent < 0 && received < 0 && seconds < 0)
		return;
	add_bytes(out, sent);
	add_bytes(out, received);
	if (seconds >= 0)
		str_addf(out, " %9.3f", seconds);
}

/* What a person wants to see of a command line, which is quoted for a shell: that reads its backslashes. */
static void add_cut(struct str *out, const char *line)
{
	char text[COMMAND_SHOWN + 1];

	snprintf(text, sizeof(text), "%s", line);
	str_add_quoted(out, text);
	str_add(out, strlen(line) > COMMAND_SHOWN ? "..." : "");
}

static void add_process(struct str *out, struct json_object *event)
{
	struct json_object *process = json_object_object_get(event, "process"), *argv;
	_cleanup_str_ struct str line = { 0 };

	if (!json_object_is_type(process, json_type_object))
		return;
	argv = json_object_object_get(process, "argv");
	str_add(out, json_object_get_boolean(json_object_object_get(process, "predicted"))
			     ? "  likely"
			     : " ");
	str_addf(out, " %.0f ", get_number(process, "pid"));
	for (size_t i = 0; json_object_is_type(argv, json_type_array) &&
			   i < json_object_array_length(argv) && line.len <= COMMAND_SHOWN;
	     i++) {
		struct json_object *word = json_object_array_get_idx(argv, i);

		str_add(&line, i ? " " : "");
		if (json_object_is_type(word, json_type_string))
			str_add_shell(&line, json_object_get_string(word));
	}
	if (!line.len)
		str_add(&line, get_string(process, "comm"));
	add_cut(out, line.s ? line.s : "");
}

static void add_network(struct str *out, struct json_object *event)
{
	const char *reason = get_string(event, "reason"), *rule = get_string(event, "rule");
	double count = get_number(event, "count");
	size_t from = out->len;

	add_host(out, event);
	pad(out, from, HOST_WIDTH);
	str_add(out, " ");
	if (!strcmp(get_string(event, "type"), "deny")) {
		bool limit = !strcmp(get_string(event, "what"), "limit");

		str_add_escaped(out, limit ? "reached" : reason[0] ? reason : "denied");
		if (count > 1)
			str_addf(out, " x%.0f", count);
		if (rule[0] && !limit) {
			str_add(out, " by ");
			str_add_escaped(out, rule);
		}
	} else {
		str_add(out, "ok");
	}
	pad(out, from, HOST_WIDTH + 1 + RESULT_WIDTH);
	add_numbers(out, event);
	pad(out, from, HOST_WIDTH + 1 + RESULT_WIDTH + NUMBERS_WIDTH);
	add_process(out, event);
}

static void add_limit(struct str *out, struct json_object *event)
{
	add_labelled(out, "limit reached: ", get_string(event, "text"));
}

static void add_warning(struct str *out, struct json_object *event)
{
	add_labelled(out, "warning: ", get_string(event, "text"));
}

static void add_credential(struct str *out, struct json_object *event)
{
	add_labelled(out, "credential ", get_string(event, "text"));
}

static void add_rule(struct str *out, struct json_object *event)
{
	str_add(out, "from now on: ");
	str_add_escaped(out, get_string(event, "effect"));
	add_labelled(out, " ", get_string(event, "rule"));
}

/* "-network.allowedDomains a.example" */
static void add_changes(struct str *out, struct json_object *event, const char *side,
			const char *sign)
{
	struct json_object *list = json_object_object_get(event, side);

	for (size_t i = 0;
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++) {
		struct json_object *rule = json_object_array_get_idx(list, i);

		str_addf(out, " %s", sign);
		str_add_escaped(out, get_string(rule, "key"));
		str_add(out, " ");
		str_add_escaped(out, get_string(rule, "rule"));
	}
}

void event_add_change(struct str *out, struct json_object *event)
{
	double more = get_number(event, "more");

	str_add(out, "settings changed:");
	add_changes(out, event, "old", "-");
	add_changes(out, event, "new", "+");
	if (more > 0)
		str_addf(out, " and %.0f more", more);
}

/* "signed: deploy key site, git@github.com" */
static void add_signature(struct str *out, struct json_object *event)
{
	const char *host = get_string(event, "name");

	str_add(out, "signed: ");
	str_add_escaped(out, get_string(event, "key"));
	str_add(out, " key ");
	str_add_escaped(out, get_string(event, "keyName"));
	if (host[0]) {
		str_add(out, ", ");
		str_add_escaped(out, get_string(event, "user"));
		str_add(out, "@");
		str_add_escaped(out, host);
	}
	add_process(out, event);
}

static void add_exit(struct str *out, struct json_object *event)
{
	double status = get_number(event, "status");

	if (status >= 0)
		str_addf(out, "ended with status %.0f", status);
	else
		str_add(out, "the sandbox failed");
}

static void add_gap(struct str *out, struct json_object *event)
{
	str_addf(out, "%.0f events are missing here", MAX(get_number(event, "lost"), 0.0));
}

static void add_later(struct str *out, struct json_object *event)
{
	str_add_escaped(out, get_string(event, "path"));
	str_add(out, " was ");
	str_add_escaped(out, get_string(event, "change"));
	str_add(out, json_object_get_boolean(json_object_object_get(event, "held"))
			     ? ", and is held"
			     : "");
	if (*get_string(event, "when")) {
		str_add(out, ": it counts when ");
		str_add_escaped(out, get_string(event, "when"));
	}
}

static const struct {
	const char *type;
	void (*add)(struct str *out, struct json_object *event);
} types[] = {
	{ "deny", add_network },        { "connection", add_network },
	{ "limit", add_limit },         { "warning", add_warning },
	{ "rule", add_rule },           { "settings", event_add_change },
	{ "exit", add_exit },           { "truncated", add_gap },
	{ "signature", add_signature }, { "credential", add_credential },
	{ "later", add_later },
};

static void add_header(struct str *out, struct json_object *header)
{
	const char *name = get_string(header, "name");

	str_add(out, "session ");
	str_add_escaped(out, get_string(header, "id"));
	if (name[0]) {
		str_add(out, " (");
		str_add_escaped(out, name);
		str_add(out, ")");
	}
	str_add(out, " in ");
	str_add_escaped(out, get_string(header, "dir"));
	str_add(out, ", started ");
	add_local_time(out, header, "started");
	str_add(out, ": ");
	add_cut(out, get_string(header, "command"));
}

void event_add_text(struct str *out, struct json_object *event)
{
	const char *type = get_string(event, "type");

	if (event_is_header(event)) {
		add_header(out, event);
		return;
	}
	add_local_time(out, event, "t");
	str_add(out, "  ");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(type, types[i].type)) {
			types[i].add(out, event);
			while (out->s[out->len - 1] == ' ')
				out->s[--out->len] = '\0';
			return;
		}
	str_add(out, type); /* of a later version; event_parse() has seen to its letters */
}

void event_add_titles(struct str *out)
{
	str_addf(out, "%-20s %-*s %-*s %8s %8s %9s  %s", "TIME", HOST_WIDTH, "WHAT", RESULT_WIDTH,
		 "RESULT", "SENT", "RECEIVED", "SECONDS", "PROCESS");
}
