/* SPDX-License-Identifier: MIT */
/* The wire format: one line of JSON a message. */
#include "notify/message.h"

#include <errno.h>
#include <string.h>

#include "notify/scan.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define REPLACEMENT "\xef\xbf\xbd"

static const char *const urgencies[] = { "low", "normal", "critical", NULL };

int urgency_parse(const char *word, enum urgency *ret)
{
	for (unsigned i = 0; urgencies[i]; i++)
		if (!strcmp(urgencies[i], word)) {
			*ret = (enum urgency)i;
			return 0;
		}
	return -EINVAL;
}

const char *urgency_name(enum urgency urgency)
{
	return urgencies[urgency];
}

/* The bytes that stand for what is at s; "" for what goes. */
static const char *shown_as(const char *s, bool lines, size_t *ret_taken, size_t *ret_len)
{
	uint32_t cp = 0;
	size_t n = utf8_next(s, SIZE_MAX, &cp);
	const char *as = s;

	*ret_taken = MAX(n, (size_t)1);
	*ret_len = n;
	if (n && utf8_visible(cp))
		return s;
	if (!n)
		as = REPLACEMENT;
	else if (cp == '\n' && lines)
		as = "\n";
	else if (cp == '\n' || cp == '\t')
		as = " ";
	else
		as = "";
	*ret_len = strlen(as);
	return as;
}

void message_set(char *field, size_t size, const char *text, bool lines)
{
	size_t len = 0, fits = 0, taken, n;

	while (*text) {
		const char *as = shown_as(text, lines, &taken, &n);

		if (len + n + 1 > size) {
			memcpy(field + fits, ELLIPSIS, sizeof(ELLIPSIS));
			return;
		}
		memcpy(field + len, as, n);
		len += n;
		if (len + sizeof(ELLIPSIS) <= size)
			fits = len;
		text += taken;
	}
	field[len] = '\0';
}

/* Cleans a field that holds raw text already. */
static void clean(char *field, size_t size, bool lines)
{
	char raw[sizeof(((struct message *)NULL)->text)];

	memcpy(raw, field, MIN(size, sizeof(raw)));
	raw[MIN(size, sizeof(raw)) - 1] = '\0';
	message_set(field, size, raw, lines);
}

static void read_actions(struct scan *s, struct message *m)
{
	if (scan_kind(s) != '[') {
		scan_skip(s);
		return;
	}
	for (bool more = scan_open(s, '['); more; more = scan_next(s, ']')) {
		struct message_action action = { "", "" };
		char key[16];

		if (scan_kind(s) != '{') {
			s->bad = true;
			return;
		}
		for (bool field = scan_open(s, '{'); field; field = scan_next(s, '}'))
			if (!scan_key(s, key, sizeof(key)))
				return;
			else if (!strcmp(key, "key"))
				scan_text(s, action.key, sizeof(action.key));
			else if (!strcmp(key, "label"))
				scan_text(s, action.label, sizeof(action.label));
			else
				scan_skip(s);
		clean(action.key, sizeof(action.key), false);
		clean(action.label, sizeof(action.label), false);
		if (action.key[0] && m->n_actions < ARRAY_LEN(m->actions))
			m->actions[m->n_actions++] = action;
	}
}

static void read_member(struct scan *s, const char *key, struct message *m)
{
	const struct {
		const char *key;
		char *field;
		size_t size;
	} fields[] = {
		{ "title", m->title, sizeof(m->title) },
		{ "message", m->text, sizeof(m->text) },
		{ "sound", m->sound, sizeof(m->sound) },
		{ "session_id", m->session, sizeof(m->session) },
		{ "replace", m->replace, sizeof(m->replace) },
	};
	char word[16];

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!strcmp(fields[i].key, key)) {
			if (scan_text(s, fields[i].field, fields[i].size))
				clean(fields[i].field, fields[i].size, fields[i].field == m->text);
			else if (fields[i].field == m->title)
				snprintf(m->title, sizeof(m->title), MESSAGE_TITLE);
			return;
		}
	if (!strcmp(key, "urgency")) {
		scan_text(s, word, sizeof(word));
		(void)urgency_parse(word, &m->urgency); /* a word of a later version: normal */
	} else if (!strcmp(key, "actions")) {
		read_actions(s, m);
	} else if (!strcmp(key, "wait")) {
		m->wait = scan_kind(s) == 't';
		scan_skip(s);
	} else {
		scan_skip(s);
	}
}

int message_parse(const char *line, size_t len, struct message *ret)
{
	struct message m = { .urgency = URGENCY_NORMAL, .title = MESSAGE_TITLE };
	struct scan s;
	char key[16];

	scan_init(&s, line, len);
	for (bool more = scan_open(&s, '{'); more; more = scan_next(&s, '}')) {
		if (!scan_key(&s, key, sizeof(key)))
			break;
		read_member(&s, key, &m);
	}
	if (!scan_end(&s))
		return -EINVAL;
	*ret = m;
	return 0;
}

/* A field is clean, so this is all that JSON needs. */
static void add_string(struct str *out, const char *key, const char *value)
{
	str_addf(out, "\"%s\":\"", key);
	for (; *value; value++)
		if (*value == '"' || *value == '\\')
			str_addf(out, "\\%c", *value);
		else if (*value == '\n')
			str_add(out, "\\n");
		else
			str_addn(out, value, 1);
	str_add(out, "\"");
}

void message_print(const struct message *m, struct str *out)
{
	str_add(out, "{");
	add_string(out, "title", m->title);
	str_add(out, ",");
	add_string(out, "message", m->text);
	str_add(out, ",");
	add_string(out, "sound", m->sound);
	str_add(out, ",");
	add_string(out, "session_id", m->session);
	if (m->urgency != URGENCY_NORMAL)
		str_addf(out, ",\"urgency\":\"%s\"", urgencies[m->urgency]);
	if (m->replace[0]) {
		str_add(out, ",");
		add_string(out, "replace", m->replace);
	}
	for (size_t i = 0; i < m->n_actions; i++) {
		str_add(out, i ? ",{" : ",\"actions\":[{");
		add_string(out, "key", m->actions[i].key);
		str_add(out, ",");
		add_string(out, "label", m->actions[i].label);
		str_add(out, i + 1 == m->n_actions ? "}]" : "}");
	}
	str_add(out, m->wait ? ",\"wait\":true}\n" : "}\n");
}
