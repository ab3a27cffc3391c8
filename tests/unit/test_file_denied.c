/* SPDX-License-Identifier: MIT */
/* Denied paths in a table: they decide as the same paths as rules do, and there is an end to them. */
#include "spec/file_denied.h"

#include <string.h>

#include "lib/tap.h"

static void test_map(void)
{
	struct path_map map = { 0 };
	char path[32];
	size_t found = 0;

	ok(!path_map_find(&map, "/a", 2), "an empty table has nothing");
	for (size_t i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/dir/%zu", i);
		*path_map_add(&map, path, strlen(path)) = (void *)(i + 1);
	}
	for (size_t i = 0; i < 5000; i++) {
		void **value;

		snprintf(path, sizeof(path), "/dir/%zu", i);
		value = path_map_find(&map, path, strlen(path));
		found += value && *value == (void *)(i + 1);
	}
	ok(found == 5000 && map.n == 5000, "each of many is found, with what is known of it");
	ok(*path_map_add(&map, "/dir/7", 6) == (void *)8 && map.n == 5000, "none is there twice");
	ok(!path_map_find(&map, "/dir/77", 5) && path_map_find(&map, "/dir/77", 6),
	   "what counts is so many bytes");
	path_map_release(&map);
	ok(!path_map_find(&map, "/dir/7", 6) && !map.n && !map.bytes, "all are forgotten");
}

static void test_cover(void)
{
	struct file_denied denied = { 0 };

	file_denied_add(&denied, "/a/b/c", "protect");
	is_str(file_denied_cover(&denied, "/a/b/c")->text, "/a/b/c", "a path covers itself");
	is_str(file_denied_cover(&denied, "/a/b/c/d/e")->key, "protect", "... and all below");
	ok(!file_denied_cover(&denied, "/a/b") && !file_denied_cover(&denied, "/a/b/cd") &&
		   !file_denied_cover(&denied, "/"),
	   "... but nothing beside, and nothing above");
	ok(file_denied_difference(&denied, "/a", "/x") &&
		   file_denied_difference(&denied, "/x", "/a/b"),
	   "what lies above it is not moved, nor is anything moved there");
	ok(!file_denied_difference(&denied, "/a/x", "/a/y") &&
		   !file_denied_difference(&denied, "/a", "/a"),
	   "... but what does not");
	file_denied_release(&denied);
}

/* Long ones, of which it takes fewer. */
static void test_full(void)
{
	struct file_denied denied = { 0 };
	char path[3000] = "/";
	size_t n = 0, at = 0;

	memset(path + 1, 'x', sizeof(path) - 2);
	while (!file_denied_cover(&denied, "/elsewhere") && n < 100000) {
		snprintf(path + sizeof(path) - 8, 8, "%07zu", n++);
		file_denied_add(&denied, path, "protect");
	}
	ok(n > 1000 && n < 100000,
	   "so many paths that they are no longer remembered are all there are");
	while (file_denied_next(&denied, &at))
		n--;
	is_int((long)n, 0, "each that is remembered comes in its turn");
	file_denied_release(&denied);
}

/* ------------------------------------------------------------------ beside the same as rules */

static uint32_t seed = 1;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static const char *random_path(char out[64])
{
	static const char *const names[] = { "a", "b", "ab", "c" };

	*out = '\0';
	for (uint32_t n = 1 + rnd(4); n--;)
		sprintf(out + strlen(out), "/%s", names[rnd(ARRAY_LEN(names))]);
	return out;
}

static void add(struct file_rules *rules, enum file_rule_kind kind, const char *path)
{
	const struct file_rule_source rule = {
		.kind = kind, .text = path, .path = path, .key = "protect", .literal = true
	};
	struct err err = { 0 };

	if (file_rules_add(rules, &rule, &err) < 0)
		ok(false, "%s", err.msg);
}

static bool decides_as(const struct file_rules *a, const struct file_rules *b)
{
	char path[64], other[64];
	bool is_dir = rnd(2);

	random_path(path);
	random_path(other);
	if (file_rules_write(a, path).allowed == file_rules_write(b, path).allowed &&
	    file_rules_symlink(a, path).allowed == file_rules_symlink(b, path).allowed &&
	    file_rules_move(a, path, other, is_dir).allowed ==
		    file_rules_move(b, path, other, is_dir).allowed)
		return true;
	diag("%s, %s: they differ", path, other);
	return false;
}

static void test_random(void)
{
	size_t wrong = 0, allowed = 0;
	char path[64];

	for (int round = 0; round < 1000; round++) {
		struct file_rules as_rules, as_table;
		struct file_denied denied = { 0 };

		file_rules_init(&as_rules, "/home/u", "/");
		file_rules_init(&as_table, "/home/u", "/");
		add(&as_rules, FILE_ALLOW_WRITE, "/");
		add(&as_table, FILE_ALLOW_WRITE, "/");
		as_table.denied = &denied;
		for (uint32_t n = rnd(4); n--;) {
			add(&as_rules, FILE_DENY_WRITE, random_path(path));
			file_denied_add(&denied, path, "protect");
		}
		for (int i = 0; i < 50; i++)
			wrong += !decides_as(&as_rules, &as_table);
		allowed += file_rules_move(&as_table, "/a/b", "/c", true).allowed;
		file_rules_release(&as_rules);
		file_rules_release(&as_table);
		file_denied_release(&denied);
	}
	is_int((long)wrong, 0, "50000 decisions are those that rules make");
	ok(allowed > 100 && allowed < 900, "%zu of 1000 moves are allowed", allowed);
}

int main(void)
{
	test_map();
	test_cover();
	test_full();
	test_random();
	return done();
}
