/* SPDX-License-Identifier: MIT */
/* Paths as text: joining, cleaning, containment, expansion. */
#include "base/path.h"

#include "lib/tap.h"

static struct arena arena;

static void test_join(void)
{
	static const struct {
		const char *base, *path, *want;
	} cases[] = {
		{ "/a", "b", "/a/b" },
		{ "/a/", "b/", "/a/b" },
		{ "/a", "/b", "/b" },
		{ "/", "", "/" },
		{ "/", "b", "/b" },
		{ "/a//b", "./c/.", "/a/b/c" },
		{ "/a/b", "..", "/a" },
		{ "/a/b", "../..", "/" },
		{ "/a", "../../../etc", "/etc" },
		{ "/", "..", "/" },
		{ "/a", "..b/c..", "/a/..b/c.." },
		{ "/a", "...", "/a/..." },
		{ "", "a/b", "a/b" },
		{ "a", "b", "a/b" },
		{ "a", "..", "." },
		{ "", "", "." },
		{ "a", "../..", ".." },
		{ "", "../x", "../x" },
		{ "", "../../x/../y", "../../y" },
		{ "a", "../../b", "../b" },
		{ "../a", "..", ".." },
		{ "a", "/", "/" },
		{ "/a\n", "b c", "/a\n/b c" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(path_join(&arena, cases[i].base, cases[i].path), cases[i].want,
		       "'%s' and '%s'", cases[i].base, cases[i].path);
}

static void test_below(void)
{
	ok(path_is_below("/a/b", "/a"), "/a/b lies below /a");
	ok(path_is_below("/a", "/a"), "/a counts as below itself");
	ok(!path_is_below("/ab", "/a"), "/ab does not lie below /a");
	ok(!path_is_below("/a", "/a/b"), "/a does not lie below /a/b");
	ok(path_is_below("/a", "/") && path_is_below("/", "/"), "all lies below the root");
	is_str(path_below("/a/b/c", "/a"), "b/c", "what is left");
	is_str(path_below("/a", "/a"), "", "nothing is left");
	is_str(path_below("/a/b", "/"), "a/b", "what is left below the root");
	ok(!path_below("/b", "/a"), "NULL when it lies elsewhere");
}

static void test_parts(void)
{
	is_str(path_parent(&arena, "/a/b"), "/a", "the parent");
	is_str(path_parent(&arena, "/a"), "/", "the parent at the top");
	is_str(path_parent(&arena, "/"), "/", "the root's parent");
	is_str(path_parent(&arena, "a"), ".", "the parent of a bare name");
	ok(path_parent_len("/a/b", 4) == 2 && path_parent_len("/a/b", 2) == 1, "its length");
	ok(!path_parent_len("/a/b", 1) && !path_parent_len("", 0) && !path_parent_len("ab", 2),
	   "... 0 of what has none");
	is_str(path_name("/a/b"), "b", "the name");
	is_str(path_name("b"), "b", "a bare name");
	is_str(path_name("/"), "/", "the root's name");
}

static void test_expand(void)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "~", "/home/u" },
		{ "~/x", "/home/u/x" },
		{ "~x", "~x" },
		{ "a~", "a~" },
		{ "/a/~/b", "/a/~/b" },
		{ "$HOME/x", "/home/u/x" },
		{ "/srv/$USER", "/srv/u" },
		{ "/srv/$USER.d/$USER", "/srv/u.d/u" },
		{ "$HOMEX", "$HOMEX" },
		{ "$HOME_", "$HOME_" },
		{ "$PATH", "$PATH" },
		{ "${HOME}", "${HOME}" },
		{ "$(id)", "$(id)" },
		{ "`id`", "`id`" },
		{ "$", "$" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(path_expand(&arena, cases[i].path, "/home/u", "u"), cases[i].want, "%s",
		       cases[i].path);
	is_str(path_expand(&arena, "~/$USER", "/home/$USER", "$HOME"), "/home/$USER/$HOME",
	       "a value is not expanded again");
}

static void test_list(void)
{
	is_str(path_list_add(&arena, "/a:/b", "/b:/c:/a:/c"), "/a:/b:/c", "what is new comes last");
	is_str(path_list_add(&arena, "/a:/bb", "/b::"), "/a:/bb:/b", "a beginning is another");
	is_str(path_list_add(&arena, "/a", NULL), "/a", "nothing is added");
}

int main(void)
{
	test_join();
	test_below();
	test_parts();
	test_expand();
	test_list();
	arena_release(&arena);
	return done();
}
