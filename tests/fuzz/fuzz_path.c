/* SPDX-License-Identifier: MIT */
/* Two texts, a NUL between them, as a directory and a path: what is joined is clean and stays below. */
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "fuzz.h"

/* '..' may stand at the front of a relative path only. */
static void check_clean(const char *path)
{
	bool absolute = path[0] == '/', named = absolute;

	check(path[0]);
	if (!strcmp(path, "/") || !strcmp(path, "."))
		return;
	for (const char *p = path + absolute;; p++) {
		size_t n = strcspn(p, "/");
		bool up = n == 2 && !memcmp(p, "..", 2);

		check(n && !(n == 1 && *p == '.') && !(up && named));
		named = named || !up;
		p += n;
		if (!*p)
			return;
	}
}

static void try_join(struct arena *arena, const char *base, const char *path)
{
	char *joined = path_join(arena, base, path);
	const char *rest;

	check_clean(joined);
	check((joined[0] == '/') == (base[0] == '/' || path[0] == '/'));
	check(!strcmp(joined, path_join(arena, joined, "")));
	check(!strcmp(joined, path_join(arena, "", joined)));
	if (path[0] != '/')
		check(!strcmp(joined, path_join(arena, path_join(arena, base, ""), path)));
	if (joined[0] != '/')
		return;
	check(path_is_below(joined, path_parent(arena, joined)));
	check(path_is_below(joined, "/") && path_is_below(joined, joined));
	rest = path_below(joined, "/");
	check(!strcmp(joined, path_join(arena, "/", rest)));
	check(!strcmp(joined, path_join(arena, path_parent(arena, joined),
					strcmp(joined, "/") ? path_name(joined) : "")));
}

static void try_below(struct arena *arena, const char *base, const char *path)
{
	char *dir = path_join(arena, "/", base), *joined = path_join(arena, "/", path);
	const char *rest = path_below(joined, dir);

	check(path_is_below(joined, dir) == !!rest);
	if (rest)
		check(!strcmp(joined, path_join(arena, dir, rest)));
	if (!strstr(path, ".."))
		check(path[0] == '/' || path_is_below(path_join(arena, dir, path), dir));
}

static void try_expand(struct arena *arena, const char *path)
{
	char *expanded = path_expand(arena, path, "/h", "u");

	if (!strchr(path, '$') && path[0] != '~')
		check(!strcmp(expanded, path));
	if (path[0] == '~' && (!path[1] || path[1] == '/'))
		check(expanded[0] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { NULL };
	_cleanup_str_ struct str shell = { 0 };
	const char *base = arena_strndup(&arena, size ? (const char *)data : "", size);
	size_t len = strlen(base);
	const char *path = len < size ? base + len + 1 : "";

	try_join(&arena, base, path);
	try_below(&arena, base, path);
	try_expand(&arena, path);
	str_add_shell(&shell, path);
	check(shell.len >= strlen(path));
	arena_release(&arena);
	return 0;
}
