/* SPDX-License-Identifier: MIT */
/* What an agent prints, in each dialect and in pieces: one line an action, of bounded length. */
#include <string.h>

#include "ralph/lines.h"
#include "ralph/stream.h"
#include "ralph/verdict.h"
#include "fuzz.h"

static void on_act(void *ctx, enum act act, const char *text)
{
	(void)ctx;
	if (act > ACT_NOISE || strlen(text) > ACT_TEXT_MAX)
		abort();
}

static void on_line(void *ctx, const char *line, size_t len)
{
	if (line && line[len])
		abort();
	stream_line(ctx, line, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "claude", "codex", "gemini", "opencode" };
	size_t piece = size ? data[0] % 7 + 1 : 1;

	for (size_t d = 0; d < ARRAY_LEN(names); d++) {
		struct stream stream = { .dialect = dialect_find(names[d]), .show = on_act };
		struct lines lines = { .on_line = on_line, .ctx = &stream };
		const char *rest;
		size_t n;

		for (size_t i = 0; i < size; i += piece)
			lines_feed(&lines, (const char *)data + i, MIN(piece, size - i));
		lines_end(&lines);
		if (verdict_signal(stream.final.s ? stream.final.s : "", stream.final.len, &rest,
				   &n) >= VERDICT_FAILED)
			abort();
		lines_release(&lines);
		stream_release(&stream);
	}
	return 0;
}
