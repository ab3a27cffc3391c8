/* SPDX-License-Identifier: MIT */
/* The builder's settings: read twice, they are the same. */
#include <string.h>

#include "builder/builder.h"
#include "fuzz.h"

static void print(const struct builder *b, struct str *out)
{
	str_add(out, "{");
	builder_add_settings(out, &b->settings);
	str_add(out, "}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct builder b = { .config = (char *)"fuzz" }, again = b;
	_cleanup_str_ struct str first = { 0 }, second = { 0 };
	struct err err;

	b.settings = again.settings = (struct builder_settings){ .engine = ENGINE_AUTO,
								 .port = 2222,
								 .net = NET_OPEN };
	if (builder_parse_settings(&b, (const char *)data, size, &err) == 0) {
		print(&b, &first);
		check(builder_parse_settings(&again, first.s, first.len, &err) == 0);
		print(&again, &second);
		check(!strcmp(first.s, second.s));
	}
	builder_close(&b);
	builder_close(&again);
	return 0;
}
