/* SPDX-License-Identifier: MIT */
/*
 * Lines of the control descriptor: whatever pieces they come in, they are those of the whole text, none
 * is lost, joined or made up, and one that is too long is told of as such.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/config_watch.h"
#include "fuzz.h"

/* The rest of the text, from which the lines that are told of are taken in order. */
struct expected {
	const char *at, *end;
	bool is_over; /* the last line was taken */
};

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(" \t\r\n", text[i]))
			return false;
	return true;
}

/* The next line that is not blank; false: there is none. */
static bool next(struct expected *e, const char **ret_line, size_t *ret_len)
{
	while (!e->is_over) {
		const char *newline = memchr(e->at, '\n', (size_t)(e->end - e->at));
		const char *end = newline ? newline : e->end;

		*ret_line = e->at;
		*ret_len = (size_t)(end - e->at);
		e->is_over = !newline;
		e->at = newline ? newline + 1 : e->end;
		if (*ret_len > CONFIG_LINE_MAX || !is_blank(*ret_line, *ret_len))
			return true;
	}
	return false;
}

static void on_line(void *ctx, const char *line, size_t len)
{
	const char *want;
	size_t want_len;

	check(next(ctx, &want, &want_len));
	if (want_len > CONFIG_LINE_MAX)
		check(len > CONFIG_LINE_MAX);
	else
		check(len == want_len && !memcmp(line, want, len));
}

static void on_file(void *ctx)
{
	(void)ctx;
	abort();
}

static void on_lost(void *ctx, int code)
{
	(void)ctx;
	(void)code;
	abort();
}

/* The first byte says how long the pieces are, and how often the rest is repeated, so that a small input
 * makes a long line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? 1u << (data[0] & 15) : 1, times = 1, len;
	struct config_watch watch = CONFIG_WATCH_NONE;
	struct expected expected;
	char *text;

	if (size < 2 || size > 4096)
		return 0;
	if (data[0] & 128 && piece >= 4096)
		times = 2 * CONFIG_LINE_MAX / (size - 1) + 2;
	len = (size - 1) * times;
	text = malloc(len);
	check(text != NULL);
	for (size_t i = 0; i < times; i++)
		memcpy(text + i * (size - 1), data + 1, size - 1);
	if (times > 1 && memchr(text, '\n', len)) /* one long line at the start, then the others */
		memset(text, 'x', len / 2 + 1);
	expected = (struct expected){ .at = text, .end = text + len };
	watch.hooks = (struct config_watch_hooks){ on_line, on_file, on_lost, &expected };
	for (size_t at = 0; at < len; at += piece)
		config_watch_bytes(&watch, text + at, len - at < piece ? len - at : piece);
	config_watch_end(&watch);
	check(!next(&expected, &(const char *){ NULL }, &(size_t){ 0 }));
	str_release(&watch.line);
	free(text);
	return 0;
}
