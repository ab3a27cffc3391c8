/* SPDX-License-Identifier: MIT */
/* The unified diff: known cases, and against diff(1) and patch(1) for random texts. */
#include "cow/unified.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tap.h"

static void is_diff(const char *name, const char *a, const char *b, const char *want)
{
	struct str out = { 0 };
	struct unified_stat stat;

	unified_add(&out, a, strlen(a), b, strlen(b), &stat);
	is_str(out.s ? out.s : "", want, "%s", name);
	str_release(&out);
}

static void test_known(void)
{
	is_diff("the same", "a\nb\n", "a\nb\n", "");
	is_diff("both empty", "", "", "");
	is_diff("from nothing", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
	is_diff("to nothing", "a\n", "", "@@ -1 +0,0 @@\n-a\n");
	is_diff("one line", "a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
	is_diff("no newline at the end", "a\nb", "a\nb\n",
		"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
	is_diff("an insertion in the middle", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
		"1\n2\n3\n4\nx\n5\n6\n7\n8\n9\n", "@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n");
	is_diff("two hunks", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
		"@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
	is_diff("six lines between are one hunk", "a\n1\n2\n3\n4\n5\n6\nb\n",
		"A\n1\n2\n3\n4\n5\n6\nB\n",
		"@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
	ok(unified_is_text("", 0) && unified_is_text("a", 1) && !unified_is_text("a\0", 2),
	   "a NUL makes it no text");
}

/* Applies our own hunks, by the rules of the format. */
static bool apply(const char *a, const char *diff, struct str *out)
{
	const char *at = a;
	size_t line = 1;

	while (*diff) {
		const char *end = strchr(diff, '\n');
		size_t from, n = 1;

		if (!end)
			return false;
		if (*diff == '@') {
			if (sscanf(diff, "@@ -%zu,%zu", &from, &n) < 1)
				return false;
			for (from += n == 0; line < from; line++) {
				const char *next = strchr(at, '\n');

				if (!next)
					return false;
				str_addn(out, at, (size_t)(next - at) + 1);
				at = next + 1;
			}
		} else if (*diff == '+') {
			str_addn(out, diff + 1, (size_t)(end - diff));
		} else {
			size_t len = (size_t)(end - diff);

			if (strncmp(at, diff + 1, len) != 0)
				return false;
			if (*diff == ' ')
				str_addn(out, diff + 1, len);
			at += len;
			line++;
		}
		diff = end + 1;
	}
	str_add(out, at);
	return true;
}

static void make_text(struct str *out, unsigned lines, unsigned kinds)
{
	while (lines--)
		str_addf(out, "%u\n", (unsigned)rand() % kinds);
}

static void test_random(void)
{
	unsigned seed = (unsigned)getpid();
	bool good = true;

	diag("seed %u", seed);
	srand(seed);
	for (int i = 0; good && i < 3000; i++) {
		struct str a = { 0 }, b = { 0 }, diff = { 0 }, made = { 0 };
		struct unified_stat stat;
		unsigned lines = i < 2990 ? 40 : 4000;

		str_add(&a, "");
		str_add(&b, "");
		str_add(&diff, "");
		str_add(&made, "");
		make_text(&a, (unsigned)rand() % lines, 1 + (unsigned)rand() % 30);
		make_text(&b, (unsigned)rand() % lines, 1 + (unsigned)rand() % 30);
		unified_add(&diff, a.s, a.len, b.s, b.len, &stat);
		good = apply(a.s, diff.s, &made) && !strcmp(made.s, b.s);
		if (!good)
			diag("round %d", i);
		str_release(&a);
		str_release(&b);
		str_release(&diff);
		str_release(&made);
	}
	ok(good, "what it says makes the second text of the first, for random ones");
}

int main(void)
{
	test_known();
	test_random();
	return done();
}
