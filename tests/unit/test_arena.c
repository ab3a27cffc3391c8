/* SPDX-License-Identifier: MIT */
/* Arenas: alignment, zeroing, big blocks, growing arrays and string lists. */
#include "base/arena.h"

#include "lib/tap.h"

static void test_alloc(void)
{
	struct arena arena = { NULL };
	bool aligned = true, zeroed = true;
	char *big;

	for (size_t size = 0; size < 300; size++) {
		unsigned char *p = arena_alloc(&arena, size);

		aligned = aligned && (uintptr_t)p % _Alignof(max_align_t) == 0;
		for (size_t i = 0; i < size; i++)
			zeroed = zeroed && p[i] == 0;
		memset(p, 0xff, size);
	}
	ok(aligned, "every block is aligned for anything");
	ok(zeroed, "every block is zeroed, whatever its neighbours hold");
	big = arena_alloc(&arena, (size_t)1 << 20);
	memset(big, 'x', (size_t)1 << 20);
	is_str(arena_strdup(&arena, "after"), "after", "a block larger than a chunk");
	arena_release(&arena);
	ok(!arena.chunks, "released");
	arena_release(&arena);
	is_str(arena_strdup(&arena, "again"), "again", "a released arena can be used again");
	arena_release(&arena);
}

static void test_strings(void)
{
	struct arena arena = { NULL };

	ok(!arena_strdup(&arena, NULL), "a copy of NULL is NULL");
	is_str(arena_strdup(&arena, ""), "", "an empty string");
	is_str(arena_strndup(&arena, "abcdef", 3), "abc", "a part of a string");
	is_str(arena_printf(&arena, "%s-%d", "x", 7), "x-7", "a formatted string");
	arena_release(&arena);
}

static void test_grow(void)
{
	struct arena arena = { NULL };
	size_t n = 0, wrong = 0;
	int *v = NULL;

	for (int i = 0; i < 1000; i++) {
		int *p = arena_grow(&arena, &v, &n, sizeof(*v));

		if (*p)
			wrong++;
		*p = i;
	}
	for (int i = 0; i < 1000; i++)
		if (v[i] != i)
			wrong++;
	is_int((long long)n, 1000, "an array grows element by element");
	is_int((long long)wrong, 0, "new elements are zero and old ones keep their value");
	arena_release(&arena);
}

static void test_strv(void)
{
	struct arena arena = { NULL };
	struct strv list = { NULL };
	bool terminated = true;

	ok(!strv_has(&list, "a"), "nothing is in an empty list");
	for (int i = 0; i < 70; i++) {
		strv_addf(&arena, &list, "%d", i);
		terminated = terminated && !list.v[list.len];
	}
	strv_add(&arena, &list, "last");
	ok(terminated, "a list ends in NULL after every addition");
	is_int((long long)list.len, 71, "its length");
	is_str(list.v[0], "0", "its first");
	is_str(list.v[70], "last", "its last");
	ok(strv_has(&list, "42") && !strv_has(&list, "71"), "what it has");
	strv_sort(&list);
	ok(!strcmp(list.v[1], "1") && !strcmp(list.v[2], "10") && !strcmp(list.v[70], "last"),
	   "sorted by its bytes");
	ok(strv_has_sorted(&list, "42") && !strv_has_sorted(&list, "71"), "what it has then");
	list = (struct strv){ NULL };
	strv_sort(&list);
	ok(!strv_has_sorted(&list, "a"), "an empty one is sorted");
	arena_release(&arena);
}

int main(void)
{
	test_alloc();
	test_strings();
	test_grow();
	test_strv();
	return done();
}
