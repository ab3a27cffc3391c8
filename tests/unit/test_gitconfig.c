/* SPDX-License-Identifier: MIT */
/* One value out of a git configuration file, as git itself reads it. */
#include "spec/gitconfig.h"

#include <string.h>

#include "lib/tap.h"

static void test_subsection(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "[remote \"origin\"]\n\turl = a\n", "a" },
		{ "[REMOTE  \"origin\"] url = a\n", "a" },
		{ "[remote \"origin\"]\nurl = a\n[remote \"other\"]\nurl = b\n", "a" },
		{ "[remote \"origin2\"]\nurl = a\n", NULL },
		{ "[remote \"Origin\"]\nurl = a\n", NULL },
		{ "[remote]\nurl = a\n", NULL },
		{ "[remote.origin]\nurl = a\n", "a" },
		{ "[remote \"origin\"x]\nurl = a\n", NULL },
		{ "[remote \"origin", NULL },
	};
	struct arena arena = { NULL };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(gitconfig_get_in(&arena, cases[i].text, "remote", "origin", "url"),
		       cases[i].want, "of a subsection (%zu)", i);
	arena_release(&arena);
}

int main(void)
{
	static const struct {
		const char *text, *want; /* of user.name */
	} cases[] = {
		{ "[user]\n\tname = Ann Lee\n", "Ann Lee" },
		{ "[user]\nname=Ann\n", "Ann" },
		{ "[USER]\n NAME = Ann  \n", "Ann" },
		{ "[user] name = Ann\n", "Ann" },
		{ "[user]\nname = \"Ann # Lee\" ; end\n", "Ann # Lee" },
		{ "[user]\nname = Ann # comment\n", "Ann" },
		{ "[user]\nname = a\\\"b\\\\c\\td\n", "a\"b\\c\td" },
		{ "[user]\nname = one \\\ntwo\n", "one two" },
		{ "[user]\r\nname = Ann\r\n", "Ann" },
		{ "[user]\nname = a\n[user]\nname = b\n", "b" },
		{ "[user \"x\"]\nname = a\n", NULL },
		{ "[user.x]\nname = a\n", NULL },
		{ "[users]\nname = a\n", NULL },
		{ "[core]\nname = a\n", NULL },
		{ "[user]\nnames = a\n", NULL },
		{ "[user]\nname\n", "true" },
		{ "[user]\nname = \"open\n", NULL },
		{ "[user]\nname = bad \\q\n", NULL },
		{ "[user]\nname = a\n[core]\nname = b\n", "a" },
		{ "# [user]\n; name = x\n[user]\nname =\n", "" },
		{ "", NULL },
		{ "[", NULL },
		{ "[user", NULL },
		{ "[user]\nname = a\\", "a" },
		{ "# C:\\\n[user]\nname = a\n", "a" },
		{ "[user]\nname = a\\\\\nname = b\n", "b" },
		{ "[user]\r\nname = a\\\r\nb\r\n", "ab" },
		{ "[core] [user] name = a\n", "a" },
		{ "\xef\xbb\xbf[user]\nname = a\n", "a" },
		{ "[user]\rname = a\r\n", "a" },
		{ "[user]\nname = a \\\n\n", "a " },
		{ "[user]\nname = a \"\"\n", "a " },
		{ "[user]\nname = \"\" a\n", "a" },
		{ "[user]\nname = \\\n a\n", "a" },
	};
	struct arena arena = { NULL };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(gitconfig_get(&arena, cases[i].text, "user", "name"), cases[i].want,
		       "case %zu", i);
	is_str(gitconfig_quote(&arena, "a\"b\\c\nd\x1b"), "a\\\"b\\\\c\\nd", "quoted");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text;

		if (!cases[i].want)
			continue;
		text = arena_printf(&arena, "[user]\n\tname = \"%s\"\n",
				    gitconfig_quote(&arena, cases[i].want));
		/* A tab is written as it is, and git reads it so within quotes. */
		if (!strchr(cases[i].want, '\t'))
			is_str(gitconfig_get(&arena, text, "user", "name"), cases[i].want,
			       "what is quoted is read back (%zu)", i);
	}
	arena_release(&arena);
	test_subsection();
	return done();
}
