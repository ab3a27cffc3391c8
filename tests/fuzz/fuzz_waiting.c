/* SPDX-License-Identifier: MIT */
/*
 * What a sandbox writes to its terminal, and what is typed: in one piece or byte by byte it says the same, and what it says
 * fits its place.
 */
#include <string.h>

#include "base/str.h"
#include "notify/waiting.h"
#include "fuzz.h"

static void on_bell(void *ctx)
{
	str_add(ctx, "bell\n");
}

static void on_text(void *ctx, const char *title, const char *text)
{
	if (strlen(title) + strlen(text) >= 1024)
		abort();
	str_addf(ctx, "text %s|%s\n", title, text);
}

static void on_focus(void *ctx, bool here)
{
	str_addf(ctx, "focus %d\n", here);
}

static void listen(const char *bytes, size_t size, size_t step, struct str *said)
{
	struct waiting w = { .hooks = { on_bell, on_text, on_focus, said } };

	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		waiting_output(&w, bytes + at, n, 10);
		if (w.out.len > sizeof(w.out.seq) || w.in.len > sizeof(w.in.seq))
			abort();
	}
	for (size_t at = 0; at < size; at += step)
		waiting_input(&w, bytes + at, size - at < step ? size - at : step);
	if (waiting_silence(&w, 20) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_str_ struct str whole = { 0 }, pieces = { 0 };

	listen((const char *)data, size, size ? size : 1, &whole);
	listen((const char *)data, size, 1, &pieces);
	if (whole.len != pieces.len || (whole.len && memcmp(whole.s, pieces.s, whole.len) != 0))
		abort();
	return 0;
}
