/* SPDX-License-Identifier: MIT */
/*
 * A hook's JSON as a message. One row an event: what is said when it gives no words of its own, and
 * how much it matters. An event that is not in the table is told by its name.
 */
#include <errno.h>
#include <string.h>

#include "notify/message.h"
#include "notify/scan.h"

struct hook {
	char event[32], title[256], message[2048], tool[64], last[2048], type[64];
	char command[512], description[512], file[512];
};

static const struct {
	const char *event, *text;
	enum urgency urgency;
} events[] = {
	{ "Notification", "Waiting for input", URGENCY_NORMAL },
	{ "PermissionRequest", "Waiting for permission", URGENCY_NORMAL },
	{ "Stop", "Finished, waiting for you", URGENCY_NORMAL },
	{ "SubagentStop", "A helper has finished", URGENCY_LOW },
	{ "PostToolUse", "Used a tool", URGENCY_LOW },
	{ "PreToolUse", "Is about to use a tool", URGENCY_LOW },
	{ "SessionEnd", "The session has ended", URGENCY_LOW },
};

static void read_input(struct scan *s, struct hook *h)
{
	char key[32];

	if (scan_kind(s) != '{') {
		scan_skip(s);
		return;
	}
	for (bool more = scan_open(s, '{'); more; more = scan_next(s, '}'))
		if (!scan_key(s, key, sizeof(key)))
			return;
		else if (!strcmp(key, "command"))
			scan_text(s, h->command, sizeof(h->command));
		else if (!strcmp(key, "description"))
			scan_text(s, h->description, sizeof(h->description));
		else if (!strcmp(key, "file_path"))
			scan_text(s, h->file, sizeof(h->file));
		else
			scan_skip(s);
}

static void read_hook(struct scan *s, struct hook *h)
{
	const struct {
		const char *key;
		char *field;
		size_t size;
	} fields[] = {
		{ "hook_event_name", h->event, sizeof(h->event) },
		{ "title", h->title, sizeof(h->title) },
		{ "message", h->message, sizeof(h->message) },
		{ "tool_name", h->tool, sizeof(h->tool) },
		{ "last_assistant_message", h->last, sizeof(h->last) },
		{ "notification_type", h->type, sizeof(h->type) },
	};
	char key[32];

	for (bool more = scan_open(s, '{'); more; more = scan_next(s, '}')) {
		size_t i = 0;

		if (!scan_key(s, key, sizeof(key)))
			return;
		while (i < ARRAY_LEN(fields) && strcmp(fields[i].key, key))
			i++;
		if (i < ARRAY_LEN(fields))
			scan_text(s, fields[i].field, fields[i].size);
		else if (!strcmp(key, "tool_input"))
			read_input(s, h);
		else
			scan_skip(s);
	}
}

/* The real reason, from the words that the event brought. */
static void add_reason(const struct hook *h, const char *otherwise, struct str *out)
{
	const char *about = h->description[0] ? h->description
			    : h->command[0]   ? h->command
					      : h->file;

	if (h->message[0])
		str_add(out, h->message);
	else if (h->tool[0])
		str_addf(out, "%s%s%s", h->tool, about[0] ? ": " : "", about);
	else if (h->last[0])
		str_add(out, h->last);
	else
		str_add(out, otherwise);
}

int message_from_hook(const char *json, size_t len, struct message *ret)
{
	_cleanup_str_ struct str text = { 0 };
	struct hook h = { .event = "" };
	struct scan s;
	size_t i = 0;

	scan_init(&s, json, len);
	read_hook(&s, &h);
	if (!h.event[0])
		return -EINVAL;
	while (i < ARRAY_LEN(events) && strcmp(events[i].event, h.event))
		i++;
	*ret = (struct message){ .urgency = URGENCY_NORMAL };
	if (i < ARRAY_LEN(events))
		ret->urgency = events[i].urgency;
	add_reason(&h, i < ARRAY_LEN(events) ? events[i].text : h.event, &text);
	message_set(ret->title, sizeof(ret->title), h.title[0] ? h.title : MESSAGE_TITLE, false);
	message_set(ret->text, sizeof(ret->text), text.s, true);
	return 0;
}
