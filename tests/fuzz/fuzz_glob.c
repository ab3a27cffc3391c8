/* SPDX-License-Identifier: MIT */
/* Two texts, a NUL between them, as a pattern and a path: what is covered ends where a name ends, and as a regular expression, for
 * engines that take those, the pattern covers the same. */
#include <regex.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "spec/glob.h"
#include "fuzz.h"

static bool is_ascii(const char *text)
{
	while (*text > 0)
		text++;
	return !*text;
}

/* Short ones of ASCII alone: bytes are characters to the C library here. What covers the root is no expression of Seatbelt's. */
static void check_regex(const struct glob *glob, const char *pattern, const char *path,
			bool covered)
{
	_cleanup_str_ struct str text = { 0 };
	regex_t regex;

	if (glob_cover(glob, "/") >= 0 || strlen(pattern) > 40 || strlen(path) > 60 ||
	    !is_ascii(pattern) || !is_ascii(path))
		return;
	str_add(&text, "^");
	check(glob_add_regex(&text, glob, false));
	str_add(&text, "(/.*)?$");
	check(regcomp(&regex, text.s, REG_EXTENDED | REG_NOSUB) == 0);
	check((regexec(&regex, path, 0, NULL, 0) == 0) == covered);
	regfree(&regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { NULL };
	struct err err;
	const char *text = arena_strndup(&arena, size ? (const char *)data : "", size);
	size_t len = strlen(text);
	const char *pattern = path_join(&arena, "/", text);
	const char *path = path_join(&arena, "/", len < size ? text + len + 1 : "");

	for (int flags = 0; flags <= (GLOB_PLAIN | GLOB_FOLD); flags++) {
		struct glob *glob = glob_compile(&arena, pattern, flags, &err);
		ssize_t n = glob ? glob_cover(glob, path) : -1;

		check(glob || strlen(pattern) >= GLOB_MAX);
		check(n <= (ssize_t)strlen(path));
		check(n < 0 || !path[n] || path[n] == '/' || n == 1);
		check(!glob || glob_same_below(glob, path, path));
		if (glob)
			check_regex(glob, pattern, path, n >= 0);
		if (glob && flags == GLOB_PLAIN)
			check((n >= 0) == path_is_below(path, pattern));
		if (glob && flags & GLOB_PLAIN)
			check(glob_cover(glob, pattern) == (ssize_t)strlen(pattern) ||
			      flags & GLOB_FOLD);
	}
	check(path_is_below(pattern, glob_prefix(&arena, pattern)));
	arena_release(&arena);
	return 0;
}
