/* SPDX-License-Identifier: MIT */
/*
 * Lines to and from a server of commands: what is taken is written and read again as the same, what is
 * refused says why, and a line of the server's holds nothing that a terminal obeys.
 */
#include "api/serve_wire.h"
#include "fuzz.h"

#include <string.h>

static void check_text(const char *a, const char *b)
{
	check(!a == !b && (!a || !strcmp(a, b)));
}

static void check_same(const struct strv *a, const struct strv *b)
{
	check(a->len == b->len);
	for (size_t i = 0; i < a->len; i++)
		check(!strcmp(a->v[i], b->v[i]));
}

static void check_request(struct arena *arena, const struct serve_request *q)
{
	_cleanup_str_ struct str text = { 0 };
	struct serve_request again;
	struct err err;

	check(!q->command != !q->argv.len);
	check(!q->cwd || q->cwd[0] == '/');
	for (size_t i = 0; i < q->n_fds; i++)
		check(q->fds[i] >= 0 && q->fds[i] < SERVE_FD_TOP);
	serve_request_add(&text, q);
	check(text.s[text.len - 1] == '\n' && strchr(text.s, '\n') == text.s + text.len - 1);
	if (q->text) /* json-c writes bytes that its reader does not take, and the server refuses them */
		return;
	check(serve_request_parse(arena, text.s, text.len - 1, q->n_fds, &again, &err) == 0);
	check_text(q->command, again.command);
	check_same(&q->argv, &again.argv);
	check_text(q->cwd, again.cwd);
	check(q->has_env == again.has_env && q->umask == again.umask && q->srt == again.srt);
	check_same(&q->env, &again.env);
	check_text(q->settings, again.settings);
	check_text(q->from, again.from);
	check_text(q->project, again.project);
	check_text(q->report, again.report);
	check(q->terminal == again.terminal && q->control == again.control &&
	      q->dashed == again.dashed && q->unseen == again.unseen && q->debug == again.debug &&
	      q->detail == again.detail);
	check(!memcmp(q->fds, again.fds, q->n_fds * sizeof(*q->fds)));
}

static void check_line(struct arena *arena, const struct serve_line *line)
{
	_cleanup_str_ struct str text = { 0 };
	struct serve_line again;
	struct err err;

	if (line->kind == SERVE_OTHER)
		return;
	serve_line_add(&text, line);
	for (size_t i = 0; i + 1 < text.len; i++)
		check((unsigned char)text.s[i] >= 0x20 && text.s[i] != 0x7f);
	check(serve_line_parse(arena, text.s, text.len - 1, &again, &err) == 0);
	check(again.kind == line->kind);
	check_text(line->text, again.text);
	check_text(line->line, again.line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct arena arena = { 0 };
	struct err err = { 0 };

	for (size_t n = 0; n < 5; n++) {
		struct serve_request request;

		err.code = 0;
		if (serve_request_parse(&arena, text, size, n, &request, &err) == 0)
			check_request(&arena, &request);
		else
			check(err.code && err.msg[0]);
	}
	struct serve_message message;
	if (serve_message_parse(&arena, text, size, &message, &err) == 0)
		check(message.signal_no || message.text);
	struct serve_line line;
	if (serve_line_parse(&arena, text, size, &line, &err) == 0)
		check_line(&arena, &line);
	arena_release(&arena);
	return 0;
}
