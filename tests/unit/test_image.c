/* SPDX-License-Identifier: MIT */
/* The pure parts of images: names, machines, which layer a file goes to, which store path is popular. */
#include <lib/tap.h>

#include "image/names.h"
#include "image/nix.h"
#include "image/platform.h"
#include "image/split.h"

static void test_names(void)
{
	static const char *const cases[][2] = {
		{ "./usr//bin/", "usr/bin" },
		{ ".", "" },
		{ "/etc/passwd", "etc/passwd" },
		{ "a/../b", NULL },
		{ "..", NULL },
		{ "a..b/...", "a..b/..." },
		{ "../x", NULL },
		{ "a/./b", "a/b" },
	};
	char buffer[NAME_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = name_clean(cases[i][0], buffer);

		ok(cases[i][1] ? got && !strcmp(got, cases[i][1]) : !got, "the name %s",
		   cases[i][0]);
	}
}

static void test_platforms(void)
{
	const char *arch, *variant;
	struct err err;
	char buffer[64];

	ok(platform_parse("linux/arm64/v8", buffer, &arch, &variant, &err) == 0, "with a variant");
	is_str(arch, "arm64", "the architecture");
	is_str(variant, "v8", "the variant");
	ok(platform_parse("amd64", buffer, &arch, &variant, &err) == 0 && !variant, "without");
	ok(platform_parse("windows/amd64", buffer, &arch, &variant, &err) < 0, "not Linux");
	ok(platform_parse("", buffer, &arch, &variant, &err) < 0, "nothing");
}

/* glibc is needed by all, bash by two, the others by nobody. */
static void test_popularity(void)
{
	static const char *const names[] = { "aaa-bash", "bbb-glibc", "ccc-git", "ddd-tool",
					     "eee-alone" };
	static const char graph[] = "digraph G {\n"
				    "\"bbb-glibc\" [label = \"glibc\"];\n"
				    "\"bbb-glibc\" -> \"aaa-bash\" [color = \"red\"];\n"
				    "\"aaa-bash\" -> \"ccc-git\" [color = \"blue\"];\n"
				    "\"aaa-bash\" -> \"ddd-tool\";\n"
				    "\"ddd-tool\" -> \"ddd-tool\";\n"
				    "\"zzz-unknown\" -> \"ccc-git\";\n"
				    "\"broken -> \"\n}\n";
	static const char *const want[] = { "bbb-glibc", "aaa-bash", "eee-alone", "ccc-git",
					    "ddd-tool" };
	struct arena arena = { 0 };
	struct strv list = { 0 }, ranked = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		strv_add(&arena, &list, names[i]);
	nix_rank(&arena, &list, graph, &ranked);
	is_int((long long)ranked.len, ARRAY_LEN(want), "every name is ranked");
	for (size_t i = 0; i < ranked.len && i < ARRAY_LEN(want); i++)
		is_str(ranked.v[i], want[i], "the popular first, then by name");
	arena_release(&arena);
}

static void test_ranked_layers(void)
{
	struct split *split = split_new();
	size_t n, first, second, rest;

	split_rank(split, "aaa-first");
	split_rank(split, "bbb-second");
	split_size(split, "/nix/store/ccc-third/file", 100 << 20);
	split_size(split, "/nix/store/aaa-first/file", 1);
	n = split_layout(split);
	is_int((long long)n, 4, "directories, two store paths, the rest");
	first = split_layer(split, "/nix/store/aaa-first/bin/x", false);
	second = split_layer(split, "/nix/store/bbb-second", true);
	rest = split_layer(split, "/nix/store/ccc-third/file", false);
	ok(first != second && second != rest && first != rest, "each has its own");
	is_int((long long)rest, (long long)n - 1, "whatever its size, the others share one");
	is_int((long long)split_layer(split, "/nix/store", true), 0,
	       "what is above is directories");
	split_free(split);
}

static void test_packages(void)
{
	struct split *split = split_new();
	uint64_t sizes[128] = { 0 };
	size_t n, big;

	split_own(split, "big", "/usr/lib/big");
	split_own(split, "small", "/bin/small");
	split_size(split, "/usr/lib/big", SPLIT_BIG);
	split_size(split, "/usr/bin/small", 10);
	n = split_layout(split);
	big = split_layer(split, "/usr/lib/big", false);
	ok(big != split_layer(split, "/usr/bin/small", false), "a big package stands alone");
	is_int((long long)split_layer(split, "/etc/nobodys", false), (long long)n - 1,
	       "what is nobody's is last");
	split_sizes(split, SPLIT_BIG + 17, sizes);
	is_int((long long)sizes[big], SPLIT_BIG, "its layer is as large");
	is_int((long long)sizes[n - 1], 7, "and what is nobody's is the rest");
	split_free(split);
}

int main(void)
{
	test_names();
	test_platforms();
	test_popularity();
	test_ranked_layers();
	test_packages();
	return done();
}
