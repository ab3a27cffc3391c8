/* SPDX-License-Identifier: MIT */
/* Which changes of a git configuration a sandbox may make. */
#include "lib/tap.h"
#include "spec/gitkeys.h"

#define BASE                                                                         \
	"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n" \
	"[remote \"origin\"]\n\turl = https://example.org/x.git\n"                   \
	"\tfetch = +refs/heads/*:refs/remotes/origin/*\n"                            \
	"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"

static const struct {
	const char *what, *add; /* to BASE */
	bool allowed;
} additions[] = {
	{ "a name", "[user]\n\tname = A B\n\temail = a@example.org\n", true },
	{ "a name in angle brackets", "[user]\n\tname = A <b>\n", false },
	{ "a branch", "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n", true },
	{ "a branch of itself", "[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/main\n", true },
	{ "a remote that is not there", "[branch \"x\"]\n\tremote = evil\n", false },
	{ "a remote that is a place", "[branch \"x\"]\n\tremote = ../evil\n", false },
	{ "a merge outside heads", "[branch \"x\"]\n\tmerge = refs/../x\n", false },
	{ "a new remote",
	  "[remote \"up\"]\n\turl = git@example.org:x\n\tfetch = "
	  "+refs/heads/*:refs/remotes/up/*\n",
	  true },
	{ "a new remote by ext", "[remote \"up\"]\n\turl = ext::sh -c id\n", false },
	{ "a new remote by helper", "[remote \"up\"]\n\turl = foo://x\n", false },
	{ "a remote like an option", "[remote \"up\"]\n\turl = -oProxyCommand=x\n", false },
	{ "uploadpack", "[remote \"up\"]\n\turl = https://x/y\n\tuploadpack = id\n", false },
	{ "vcs", "[remote \"up\"]\n\tvcs = ext\n", false },
	{ "a second url", "[remote \"origin\"]\n\turl = https://evil.example/\n", false },
	{ "a refspec into heads", "[remote \"up\"]\n\tfetch = +refs/heads/*:refs/heads/*\n",
	  false },
	{ "fsmonitor", "[core]\n\tfsmonitor = id\n", false },
	{ "fsmonitor in capitals", "[CORE]\n\tFsMonitor = id\n", false },
	{ "fsmonitor on one line", "[core] fsmonitor = id\n", false },
	{ "fsmonitor after a comment", "# [x]\n[core]\n;\nfsmonitor=id", false },
	{ "fsmonitor continued", "[core]\n\tfsmonitor = i\\\nd\n", false },
	{ "fsmonitor with CR", "[core]\r\n\tfsmonitor = id\r\n", false },
	{ "hooksPath", "[core]\n\thooksPath = x\n", false },
	{ "sshCommand", "[core]\n\tsshCommand = id\n", false },
	{ "pager", "[core]\n\tpager = id\n", false },
	{ "worktree", "[core]\n\tworktree = ../other\n", false },
	{ "an alias", "[alias]\n\tst = !id\n", false },
	{ "a filter", "[filter \"x\"]\n\tclean = id\n", false },
	{ "an include", "[include]\n\tpath = x\n", false },
	{ "an includeIf", "[includeIf \"gitdir:/\"]\n\tpath = x\n", false },
	{ "an old-style section", "[diff.x]\n\ttextconv = id\n", false },
	{ "insteadOf", "[url \"ext::id\"]\n\tinsteadOf = https://\n", false },
	{ "a credential helper", "[credential]\n\thelper = !id\n", false },
	{ "gpg.program", "[gpg]\n\tprogram = id\n", false },
	{ "hook by config", "[hook \"x\"]\n\tcommand = id\n", false },
	{ "diff.external", "[diff]\n\texternal = id\n", false },
	{ "diff.algorithm", "[diff]\n\talgorithm = histogram\n", true },
	{ "a word that is none", "[pull]\n\trebase = a b\n", false },
	{ "pull.rebase", "[pull]\n\trebase = true\n", true },
	{ "advice", "[advice]\n\tdetachedHead = false\n", true },
	{ "status in a subsection", "[status \"x\"]\n\ty = 1\n", false },
	{ "another filemode", "[core]\n\tfilemode = false\n", false },
	{ "a submodule", "[submodule \"s\"]\n\tactive = true\n\turl = https://example.org/s\n",
	  true },
	{ "a submodule that runs", "[submodule \"s\"]\n\tupdate = !id\n", false },
	{ "sparse checkout", "[core]\n\tsparseCheckout = true\n", true },
	{ "an open quote", "[user]\n\tname = \"x\n", false },
	{ "a bad escape", "[user]\n\tname = \\x\n", false },
	{ "a key without a section name", "[]\n\tname = x\n", false },
	{ "a control character", "[user]\n\tname = a\x01z\n", false },
	{ "a comment", "# nothing\n", true },
};

static const char *check(struct arena *arena, const char *old, const char *new)
{
	return gitkeys_check(arena, old, strlen(old), new, strlen(new), "/p/.git");
}

static void check_additions(void)
{
	for (size_t i = 0; i < ARRAY_LEN(additions); i++) {
		struct arena arena = { 0 };
		char *text = arena_printf(&arena, "%s%s", BASE, additions[i].add);
		const char *why = check(&arena, BASE, text);

		ok(!why == additions[i].allowed, "%s: %s", additions[i].what, why ? why : "fine");
		arena_release(&arena);
	}
}

static void check_changes(void)
{
	static const char fs[] = "[core]\n\tfsmonitor = true\n";
	static const char two[] = "[core]\n\tpager = cat\n\tpager = less\n";
	struct arena arena = { 0 };

	ok(!check(&arena, BASE, BASE), "nothing changed");
	ok(!check(&arena, fs, fs), "what is there may stay");
	ok(!check(&arena, fs, "# x\n[core]\n\tfsmonitor = true\n"), "however it is written");
	ok(check(&arena, fs, "[core]\n\tfsmonitor = id\n") != NULL, "but not become another");
	ok(check(&arena, two, "[core]\n\tpager = less\n\tpager = cat\n") != NULL,
	   "the order of values counts");
	ok(check(&arena, fs, "") != NULL, "nor go away");
	ok(check(&arena, BASE, "[core]\n\trepositoryformatversion = 0\n") != NULL,
	   "a remote does not go away");
	ok(!check(&arena, "[user]\n\tname = x\n", ""), "a name does");
	ok(!check(&arena, "", BASE), "a new repository");
	ok(check(&arena, "", fs) != NULL, "not with anything");
	ok(check(&arena, "", "\xef\xbb\xbf[user]\n\tname = x\n") != NULL, "no byte order mark");
	ok(gitkeys_check(&arena, "", 0, "[user]\0", 7, NULL) != NULL, "no NUL");
	ok(!gitkeys_check(&arena, "", 0, "[core]\n\tworktree = ../../../sub\n", 32,
			  "/p/.git/modules/sub"),
	   "a submodule's work tree");
	ok(gitkeys_check(&arena, "", 0, "[core]\n\tworktree = ../../../../x\n", 33,
			 "/p/.git/modules/sub") != NULL,
	   "not beside the repository");
	arena_release(&arena);
}

/* The reader gives what git would. */
static void check_parser(void)
{
	static const char text[] = "[A.b]\nKey\n[s \"S \\\"x\\\\\"] k = \" a\" b # c\nK2=x\\\n y\n";
	static const struct gitkey want[] = {
		{ "a.b.key", "true" },
		{ "s.S \"x\\.k", " a b" },
		{ "s.S \"x\\.k2", "x y" },
	};
	struct arena arena = { 0 };
	struct gitkeys keys;

	is_int(gitkeys_parse(&arena, text, strlen(text), &keys), 0, "odd but right");
	is_int((int)keys.n, ARRAY_LEN(want), "so many keys");
	for (size_t i = 0; i < ARRAY_LEN(want) && i < keys.n; i++) {
		is_str(keys.keys[i].name, want[i].name, "name %zu", i);
		is_str(keys.keys[i].value, want[i].value, "value %zu", i);
	}
	arena_release(&arena);
}

int main(void)
{
	check_additions();
	check_changes();
	check_parser();
	return done();
}
