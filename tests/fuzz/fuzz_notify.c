/* SPDX-License-Identifier: MIT */
/*
 * A line that a sandbox sends: what is taken is valid UTF-8 without controls, fits its places, and is
 * printed and read again as the same. The same bytes are also read as a hook's JSON.
 */
#include <string.h>

#include "notify/message.h"
#include "fuzz.h"

static void check_text(const char *text, size_t size, bool lines)
{
	check(strnlen(text, size) < size);
	while (*text) {
		uint32_t cp = 0;
		size_t n = utf8_next(text, SIZE_MAX, &cp);

		check(n > 0 && (utf8_visible(cp) || (lines && cp == '\n')));
		text += n;
	}
}

static void check_message(const struct message *m)
{
	_cleanup_str_ struct str line = { 0 }, again = { 0 };
	struct message back;

	check_text(m->title, sizeof(m->title), false);
	check_text(m->text, sizeof(m->text), true);
	check_text(m->sound, sizeof(m->sound), false);
	check_text(m->session, sizeof(m->session), false);
	check_text(m->replace, sizeof(m->replace), false);
	check(m->n_actions <= ARRAY_LEN(m->actions));
	for (size_t i = 0; i < m->n_actions; i++) {
		check_text(m->actions[i].key, sizeof(m->actions[i].key), false);
		check_text(m->actions[i].label, sizeof(m->actions[i].label), false);
		check(m->actions[i].key[0]);
	}
	message_print(m, &line);
	check(line.len <= MESSAGE_LINE_MAX);
	check(memchr(line.s, '\n', line.len) == line.s + line.len - 1);
	check(message_parse(line.s, line.len, &back) == 0);
	message_print(&back, &again);
	check(!strcmp(line.s, again.s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message m;

	if (message_parse((const char *)data, size, &m) == 0)
		check_message(&m);
	if (message_from_hook((const char *)data, size, &m) == 0)
		check_message(&m);
	return 0;
}
