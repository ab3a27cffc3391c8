/* SPDX-License-Identifier: MIT */
/*
 * Seatbelt profiles: read back by a small reader of their language, and held against the rules that they
 * were made from, for random rules and random paths. Nobody here can ask the kernel that they are for.
 */
#include <errno.h>

#include "base/str.h"
#include "lib/sbpl.h"
#include "lib/tap.h"
#include "plan/seatbelt.h"
#include "spec/exec.h"

static struct node *whole_profile(struct arena *arena, const char *text)
{
	struct node *profile = read_profile(arena, &text);

	ok(!*text, "the profile is read to its end");
	return profile;
}

static void release_profile(struct node *node)
{
	for (; node; node = node->next) {
		if (node->compiled)
			regfree(&node->regex);
		release_profile(node->child);
	}
}

/* --- random rules and paths --- */

static unsigned long seed;
static unsigned roll(unsigned n)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(seed >> 33) % n;
}

static const char *const parts[] = { "a",   "b",       "c.pem", ".ssh",  "x y",
				     "[q]", ".vscode", ".git",  "hooks", "k\"q" };

static void add_path(struct str *out, unsigned most)
{
	for (unsigned n = 1 + roll(most); n; n--)
		str_addf(out, "/%s", parts[roll(sizeof(parts) / sizeof(*parts))]);
}

static void add_pattern(struct str *out)
{
	static const char *const tails[] = { "/**/.ssh", "/*.pem",  "/**/*.pem",
					     "/?",       "/**/a/*", "/*" };

	if (roll(2))
		add_path(out, 2);
	str_add(out, tails[roll(sizeof(tails) / sizeof(*tails))]);
}

static void add_rules(struct file_rules *rules, unsigned n, bool globs)
{
	struct err err;

	while (n--) {
		_cleanup_str_ struct str path = { 0 };
		enum file_rule_kind kind = (enum file_rule_kind)roll(4);
		bool glob = globs && !roll(3);

		if (glob)
			add_pattern(&path);
		else
			add_path(&path, 3);
		if (file_rules_add(rules,
				   &(struct file_rule_source){ .kind = kind,
							       .text = path.s,
							       .path = path.s,
							       .key = "k",
							       .literal = !glob,
							       .firm = kind == FILE_DENY_READ &&
								       !roll(5) },
				   &err) < 0)
			ok(false, "%s: %s", path.s, err.msg);
	}
}

struct counts {
	unsigned asked, open, closed;
};

static void show(const struct file_rules *rules, const char *what, const char *path)
{
	printf("# %s, and should not be: %s\n", what, path);
	for (size_t i = 0; i < rules->n; i++)
		if (rules->rules[i].kind != FILE_PROTECT)
			printf("#   %s %s%s\n", file_rule_kind_name(rules->rules[i].kind),
			       rules->rules[i].text, rules->rules[i].firm ? " (firm)" : "");
}

/* Never more open than the rules; what is closed beyond them is counted. */
static void compare(struct node *profile, const struct file_rules *rules, struct counts *reads,
		    struct counts *writes)
{
	for (int i = 0; i < 60; i++) {
		_cleanup_str_ struct str path = { 0 };
		bool theirs, ours;

		add_path(&path, 6);
		theirs = file_rules_read(rules, path.s).allowed;
		ours = allows(profile, "file-read*", path.s);
		reads->asked++;
		reads->open += ours && !theirs;
		reads->closed += !ours && theirs;
		if (ours && !theirs)
			show(rules, "readable", path.s);
		theirs = file_rules_write(rules, path.s).allowed;
		ours = allows(profile, "file-write*", path.s);
		writes->asked++;
		writes->open += ours && !theirs;
		writes->closed += !ours && theirs;
		if (ours && !theirs)
			show(rules, "writable", path.s);
	}
}

static void test_random(bool globs)
{
	struct counts reads = { 0 }, writes = { 0 };

	for (unsigned round = 0; round < 300; round++) {
		struct exec_spec exec = { 0 };
		struct arena arena = { 0 };
		_cleanup_str_ struct str text = { 0 };
		const char *p;
		struct node *profile, **last = &profile;
		struct strv none = { 0 };
		struct err err;

		seed = 1000 * (globs + 1UL) + round;
		file_rules_init(&exec.files, "/home", "/a/b");
		add_rules(&exec.files, 1 + roll(6), globs);
		(void)file_rules_protect(&exec.files, &none, &none, false, &err);
		if (seatbelt_add(&text, &(struct seatbelt){ .exec = &exec, .tag = "t" }, &err) < 0)
			ok(false, "%s", err.msg);
		p = text.s;
		while ((*last = read_node(&arena, &p)))
			last = &(*last)->next;
		compare(profile, &exec.files, &reads, &writes);
		release_profile(profile);
		arena_release(&arena);
		file_rules_release(&exec.files);
	}
	is_int(reads.open, 0, "%u random reads, %s: never more open", reads.asked,
	       globs ? "globs" : "no globs");
	is_int(writes.open, 0, "%u random writes, %s: never more open", writes.asked,
	       globs ? "globs" : "no globs");
	if (!globs)
		is_int(reads.closed, 0, "... nor more closed");
	ok(reads.closed * 50 <= reads.asked, "... little is closed beyond the rules (%u)",
	   reads.closed);
	printf("# writes closed beyond the rules: %u of %u\n", writes.closed, writes.asked);
}

/* --- whole texts --- */

static void test_text(void)
{
	struct exec_spec exec = { 0 };
	_cleanup_str_ struct str text = { 0 }, long_path = { 0 };
	struct arena arena = { 0 };
	struct node *profile;
	struct err err;

	file_rules_init(&exec.files, "/Users/me", "/Users/me/p");
	(void)file_rules_add(&exec.files,
			     &(struct file_rule_source){ FILE_ALLOW_WRITE, ".", "/Users/me/p", "k",
							 NULL, .literal = true },
			     &err);
	(void)file_rules_add(&exec.files,
			     &(struct file_rule_source){ FILE_DENY_READ, "x", "/Users/me/\"q\"\\",
							 "k", NULL, .literal = true },
			     &err);
	is_int(seatbelt_add(&text,
			    &(struct seatbelt){ .exec = &exec,
						.tag = "wrapix-1",
						.proxy_port = 4777,
						.tmpdir = "/private/tmp/w" },
			    &err),
	       0, "a profile");
	ok(str_starts(text.s, "(version 1)\n(deny default (with message \"wrapix-1\"))\n"),
	   "begins with its version, and closed");
	ok(strstr(text.s, "(deny file-read* (subpath \"/Users/me/\\\"q\\\"\\\\\"))"),
	   "quotes what must be quoted");
	ok(strstr(text.s, "(allow network-outbound (remote ip \"localhost:4777\"))"),
	   "reaches the filter");
	ok(!strstr(text.s, "(allow network*)"), "... and nobody else");
	profile = whole_profile(&arena, text.s);
	ok(allows(profile, "file-write*", "/Users/me/p/x"), "the project is writable");
	ok(!allows(profile, "file-write*", "/Users/me/x"), "the home is not");
	ok(allows(profile, "file-write*", "/private/tmp/w/x"), "the temporary directory is");
	ok(!allows(profile, "file-read*", "/Users/me/\"q\"\\/x"), "what is denied is denied");
	release_profile(profile);
	for (int i = 0; i < 120; i++)
		str_add(&long_path, "/ten.bytes");
	(void)file_rules_add(&exec.files,
			     &(struct file_rule_source){ FILE_DENY_READ, "x", long_path.s, "k",
							 NULL, .literal = true },
			     &err);
	str_release(&text);
	is_int(seatbelt_add(&text, &(struct seatbelt){ .exec = &exec, .tag = "t" }, &err),
	       -ENAMETOOLONG, "a string that is too long is refused, not cut");
	file_rules_release(&exec.files);
	arena_release(&arena);
}

/* Names are compared without case, as the file system there does. */
static void test_names(void)
{
	static const char *const names[] = { "/p/.VSCode/x", "/p/deep/.Bashrc",
					     "/p/.con\xef\xac\x81g/fish",
					     "/p/.git/HOOKS/pre-commit" };
	struct exec_spec exec = { 0 };
	_cleanup_str_ struct str text = { 0 };
	struct arena arena = { 0 };
	struct strv none = { 0 };
	struct node *profile;
	struct err err;

	file_rules_init(&exec.files, "/home", "/p");
	(void)file_rules_add(&exec.files,
			     &(struct file_rule_source){ FILE_ALLOW_WRITE, ".", "/p", "k", NULL,
							 .literal = true },
			     &err);
	(void)file_rules_protect(&exec.files, &none, &none, false, &err);
	is_int(seatbelt_add(&text, &(struct seatbelt){ .exec = &exec, .tag = "t" }, &err), 0,
	       "protected names");
	profile = whole_profile(&arena, text.s);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ok(!allows(profile, "file-write*", names[i]) &&
			   !file_rules_write(&exec.files, names[i]).allowed,
		   "%s", names[i]);
	ok(allows(profile, "file-write*", "/p/hooks/x"),
	   "a directory of another repository's kind is not");
	release_profile(profile);
	arena_release(&arena);
	file_rules_release(&exec.files);
}

int main(void)
{
	test_text();
	test_names();
	test_random(false);
	test_random(true);
	return done();
}
