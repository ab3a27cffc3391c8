/* SPDX-License-Identifier: MIT */
/*
 * What the entrypoint of an image is told: the list of staged files, whose every place is absolute; and behind the first
 * byte 'f' the list of ports, each with a socket that ends.
 */
#include <string.h>

#include "entry/entry.h"
#include "fuzz.h"

static void read_forwards(const char *text)
{
	struct forward list[FORWARDS_MAX];
	struct err err;
	size_t n = 0;

	if (entry_forward_parse(text, list, &n, &err) < 0) {
		check(err.msg[0]);
		return;
	}
	check(n <= FORWARDS_MAX);
	for (size_t i = 0; i < n; i++)
		check(list[i].port > 0 && list[i].port < 65536 && list[i].path[0] == '/' &&
		      !strchr(list[i].path, ' '));
}

static void read_binds(char *text, size_t len)
{
	const struct entry_binds binds = { text, len };
	struct entry_bind bind;
	size_t at = 0, before = 0;
	struct err err;
	int r;

	while ((r = entry_binds_next(&binds, &at, &bind, &err)) > 0) {
		check(at > before && bind.dest[0] == '/' &&
		      (!bind.source || bind.source[0] == '/'));
		before = at;
	}
	check(r == 0 || err.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = calloc(1, size + 1); /* as a file is read: a NUL behind it */

	check(text);
	if (size)
		memcpy(text, data, size);
	if (size && text[0] == 'f')
		read_forwards(text + 1);
	else
		read_binds(text, size);
	return 0;
}
