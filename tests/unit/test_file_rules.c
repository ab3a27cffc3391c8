/* SPDX-License-Identifier: MIT */
/* File rules: globs, precedence, protected names, moves; and random rules against a naive model. */
#include "spec/file_rules.h"

#include <errno.h>
#include <time.h>

#include "lib/tap.h"
#include "spec/glob.h"

static struct arena arena;

static void test_glob(void)
{
	static const struct {
		const char *glob, *path;
		int want; /* bytes covered, -1 for none */
	} cases[] = {
		{ "/a/*.c", "/a/x.c", 6 },
		{ "/a/*.c", "/a/b/x.c", -1 },
		{ "/a/*.c", "/a/.c", 5 },
		{ "/a/*.c", "/a/x.c/below", 6 },
		{ "/a/*.c", "/a/x.cc", -1 },
		{ "/a/**", "/a", 2 },
		{ "/a/**", "/a/b/c", 2 },
		{ "/a/**/**", "/a/b", 2 },
		{ "/**", "/x", 1 },
		{ "/**/*.pem", "/k.pem", 6 },
		{ "/**/*.pem", "/a/b/k.pem", 10 },
		{ "/**/*.pem", "/a/b/k.pem/x/y.pem", 18 },
		{ "/**/*.pem", "/a/kpem", -1 },
		{ "/a/**/b", "/a/b", 4 },
		{ "/a/**/b", "/a/x/y/b", 8 },
		{ "/a/**/b", "/a/xb", -1 },
		{ "/a**/b", "/ab", 3 },
		{ "/a**/b", "/axx/y/b", 8 },
		{ "/a/**x", "/a/b/c/yx", 9 },
		{ "/a/***/b", "/a/q/b", 6 },
		{ "/a?c", "/abc", 4 },
		{ "/a?c", "/a/c", -1 },
		{ "/a?c", "/aöc", 5 },
		{ "/a?c", "/a\377c", 4 },
		{ "/[ab]1", "/b1", 3 },
		{ "/[ab]1", "/c1", -1 },
		{ "/[a-c]", "/b", 2 },
		{ "/[^a]", "/b", -1 },
		{ "/[^a]", "/^", 2 },
		{ "/[!a]", "/a", 2 },
		{ "/[a-]", "/-", 2 },
		{ "/[+-9]x", "/x", -1 },
		{ "/a[+-9]b", "/a/b", -1 },
		{ "/[user-id]", "/[user-id]", 10 },
		{ "/[user-id]", "/u", -1 },
		{ "/[]", "/[]", 3 },
		{ "/[ab", "/[ab", 4 },
		{ "/[a/b]", "/[a/b]/c", 6 },
		{ "/a\\*", "/a\\xyz", 6 },
		{ "/a.c", "/abc", -1 },
		{ "/(a|b)+", "/(a|b)+", 7 },
		{ "/", "/x/y", 1 },
		{ "/*", "/x/y", 2 },
		{ "/x/", "/x/y", 2 },
	};
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_int(glob_cover(glob_compile(&arena, cases[i].glob, 0, &err), cases[i].path),
		       cases[i].want, "%s on %s", cases[i].glob, cases[i].path);
}

static void test_glob_fold(void)
{
	static const char *const same[] = { "/.GIT/Hooks", "/.git/hook\xc5\xbf",
					    "/.g\xe2\x80\x8cit/hooks", "/.git/hoo\xe2\x84\xaas" };
	struct err err = { 0 };
	struct glob *glob = glob_compile(&arena, "/.git/hooks", GLOB_FOLD, &err);

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		ok(glob_cover(glob, same[i]) > 0, "spelling %zu is the same name", i);
	ok(glob_cover(glob, "/.git/hook") < 0, "a shorter name is not");
	glob = glob_compile(&arena, "/.gitconfig", GLOB_FOLD, &err);
	ok(glob_cover(glob, "/.gitcon\xef\xac\x81g") > 0, "nor does a ligature hide");
	glob = glob_compile(&arena, "/[A-C]x[k\xc5\xbf]", GLOB_FOLD, &err);
	ok(glob_cover(glob, "/BXK") > 0 && glob_cover(glob, "/bxs") > 0 &&
		   glob_cover(glob, "/cX\xe2\x84\xaa") > 0,
	   "a set has its letters in every form");
	ok(glob_cover(glob, "/dxk") < 0 && glob_cover(glob, "/bxt") < 0, "and no others");
	is_str(glob_prefix(&arena, "/a/b/c*d/e"), "/a/b", "the directory before the special part");
	is_str(glob_prefix(&arena, "/a[x]"), "/", "the root before it");
	is_str(glob_prefix(&arena, "/a/[user-id]"), "/a/[user-id]", "nothing special");
}

/* What makes backtracking matchers take years. */
static void test_glob_hostile(void)
{
	char pattern[GLOB_MAX], path[4096];
	struct err err = { 0 };
	struct glob *glob;
	clock_t start = clock();
	size_t n = 0;

	pattern[n++] = '/';
	while (n + 4 < sizeof(pattern)) {
		memcpy(pattern + n, "**a", 3);
		n += 3;
	}
	strcpy(pattern + n, "b");
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	glob = glob_compile(&arena, pattern, 0, &err);
	ok(glob && glob_cover(glob, path) < 0, "a pattern of a thousand stars ends");
	diag("took %.3f s", (double)(clock() - start) / CLOCKS_PER_SEC);
	pattern[n] = '*';
	memset(pattern + n, 'x', sizeof(pattern) - n);
	char longer[GLOB_MAX + 2];
	memset(longer, 'x', sizeof(longer));
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	ok(!glob_compile(&arena, longer, 0, &err) && err.exit == EXIT_USAGE,
	   "a pattern that is too long is refused: %s", err.msg);
}

static struct file_rules rules;

static void add(enum file_rule_kind kind, const char *path)
{
	struct err err = { 0 };
	struct file_rule_source source = { kind, path, path, "key", "f:1", .literal = false };

	if (file_rules_add(&rules, &source, &err))
		ok(false, "adding %s: %s", path, err.msg);
}

static void begin(const char *cwd)
{
	file_rules_release(&rules);
	file_rules_init(&rules, "/home/u", cwd);
	add(FILE_ALLOW_WRITE, cwd);
}

static void protect(const char *added, const char *removed, bool git_config)
{
	struct strv plus = { 0 }, minus = { 0 };
	struct err err = { 0 };

	if (added)
		strv_add(&arena, &plus, added);
	if (removed)
		strv_add(&arena, &minus, removed);
	ok(!file_rules_protect(&rules, &plus, &minus, git_config, &err), "names are protected");
}

static bool can_write(const char *path)
{
	return file_rules_write(&rules, path).allowed;
}

static bool can_read(const char *path)
{
	return file_rules_read(&rules, path).allowed;
}

static void test_writes(void)
{
	struct file_verdict verdict;

	begin("/p");
	ok(can_write("/p/x") && can_write("/p"), "the working directory is writable");
	verdict = file_rules_write(&rules, "/q");
	ok(!verdict.allowed && !verdict.rule, "nothing else is, by no rule");
	add(FILE_DENY_WRITE, "/p/d");
	verdict = file_rules_write(&rules, "/p/d/x");
	ok(!verdict.allowed && verdict.rule && !strcmp(verdict.rule->text, "/p/d"),
	   "a denyWrite inside holds, and is named");
	add(FILE_ALLOW_WRITE, "/p/d/again");
	ok(!can_write("/p/d/again/x"), "a narrower allowWrite does not lift it");
	add(FILE_DENY_WRITE, "/p/**/*.lock");
	ok(!can_write("/p/a/b/x.lock") && can_write("/p/a/b/x.lockx"), "globs count for writes");
	add(FILE_ALLOW_WRITE, "/q/*.log");
	ok(can_write("/q/a.log") && !can_write("/q/a.txt"), "also those that allow");
	is_int((long long)rules.roots.len, 2, "two places may be writable");
	is_str(rules.roots.v[1], "/q", "one by its glob's directory");
	add(FILE_ALLOW_WRITE, "/");
	is_int((long long)rules.roots.len, 1, "a broader one takes them in");
	add(FILE_DENY_READ, "/p/secret");
	ok(!can_write("/p/secret/x"), "what cannot be read cannot be written");
	rules.disabled = true;
	ok(can_write("/q") && can_read("/p/secret"), "nothing is refused when switched off");
}

static void test_reads(void)
{
	begin("/home/u/p");
	ok(can_read("/etc/passwd") && file_rules_reads(&rules) == FILE_READS_FREE,
	   "all is readable");
	add(FILE_DENY_READ, "/home/u");
	ok(!can_read("/home/u/.ssh/id") && !can_read("/home/u"), "a denied region");
	ok(can_read("/home/u/p/x"), "the working directory inside is readable");
	ok(can_read("/home/us"), "a longer name is another");
	add(FILE_ALLOW_READ, "/home/u/pub");
	ok(can_read("/home/u/pub/x"), "allowRead lifts inside");
	add(FILE_DENY_READ, "/home/u/pub/key");
	ok(!can_read("/home/u/pub/key") && can_read("/home/u/pub/k"), "a narrower denyRead holds");
	add(FILE_ALLOW_READ, "/home/u/pub/key");
	ok(can_read("/home/u/pub/key"), "the same path: allowRead wins");
	add(FILE_DENY_READ, "/home/u/p");
	ok(!can_read("/home/u/p/x"), "the same path: denyRead wins over allowWrite");
	ok(file_rules_reads(&rules) == FILE_READS_WATCHED, "mounts can say all that");
	rules.unwatched = true;
	ok(file_rules_reads(&rules) == FILE_READS_FREE, "... and need nobody to look on");
	add(FILE_DENY_READ, "/**/*.pem");
	ok(!can_read("/home/u/pub/x.pem"), "a glob is as narrow as what it matches");
	ok(file_rules_reads(&rules) == FILE_READS_ASKED, "mounts cannot say that");

	begin("/p");
	add(FILE_DENY_READ, "/");
	add(FILE_ALLOW_READ, "/usr");
	ok(can_read("/") && can_read("/proc/self") && can_read("/usr/bin") && can_read("/dev/null"),
	   "what is left of a denied root");
	ok(!can_read("/etc") && !can_read("/procx") && can_read("/p/x"), "and what is not");

	begin("/p");
	struct err err = { 0 };
	struct file_rule_source firm = { FILE_DENY_READ, "x",
					 "/p/c",         "credentials.files[0]",
					 NULL,           .literal = true,
					 .firm = true };
	ok(!file_rules_add(&rules, &firm, &err), "a credential");
	add(FILE_ALLOW_READ, "/p/c");
	add(FILE_ALLOW_READ, "/p/c/d");
	add(FILE_ALLOW_WRITE, "/p/c/d");
	ok(!can_read("/p/c/d") && !can_write("/p/c/d"), "nothing lifts a credential");
	firm.firm = false;
	firm.absent = true;
	ok(!file_rules_add(&rules, &firm, &err) && file_rules_reads(&rules) == FILE_READS_ASKED,
	   "a path that is not there needs the broker");
	firm.path = "/p/[ab]*";
	ok(!file_rules_add(&rules, &firm, &err), "a literal name of special characters");
	ok(!can_read("/p/[ab]*") && can_read("/p/axx"), "means itself");
}

/* Where case is ignored. */
static void test_folded(void)
{
	struct err err = { 0 };
	struct file_rule_source source = {
		FILE_DENY_WRITE, "x",           "/p/Dir/key", "filesystem.denyWrite[0]", NULL,
		.literal = true, .folded = true
	};

	begin("/p");
	ok(!file_rules_add(&rules, &source, &err), "a name where case is ignored");
	ok(!can_write("/p/Dir/key") && !can_write("/p/dir/KEY") && !can_write("/p/DIR/Key/x"),
	   "is denied in every spelling");
	ok(can_write("/p/dir/keys") && can_write("/p/dir"), "and no other is");
	ok(!file_rules_move(&rules, "/p/DIR", "/p/moved", true).allowed,
	   "nor does the directory move by another spelling");
	ok(file_rules_reads(&rules) == FILE_READS_FREE, "reading is free");
	source.kind = FILE_DENY_READ;
	ok(!file_rules_add(&rules, &source, &err) && !can_read("/P/dir/key") &&
		   file_rules_reads(&rules) == FILE_READS_ASKED,
	   "for one that is not read no mount is enough");
	source.literal = false;
	source.path = "/p/*.Pem";
	ok(!file_rules_add(&rules, &source, &err) && !can_read("/p/a.PEM") && can_read("/p/a.pen"),
	   "and a pattern ignores it, too");
}

static void test_protected(void)
{
	static const char *const denied[] = {
		"/p/.bashrc",
		"/p/a/b/c/d/e/f/.zshrc",
		"/p/.BASHRC",
		"/p/.vscode/tasks.json",
		"/p/sub/.idea/x",
		"/p/.claude/settings.json",
		"/p/.claude/settings.local.json",
		"/p/.claude/skills/x/SKILL.md",
		"/p/x/.claude/hooks",
		"/p/.git/hooks/pre-commit",
		"/p/.git/config",
		"/p/deep/er/.git/hooks",
		"/p/.git/modules/a/b/hooks/x",
		"/p/.git/modules/a/config",
		"/p/.git/worktrees/w/config.worktree",
		"/p/.gitmodules",
		"/p/.mcp.json",
		"/p/.config/fish/config.fish",
		"/p/.config/git/config",
		"/home/u/.profile",
		"/home/u/.bashrc",
		"/home/u/.ssh/authorized_keys2",
		"/home/u/.ssh/rc",
		"/home/u/.config/systemd/user/x.service",
		"/home/u/.config/autostart",
		"/p/.cursor/mcp.json",
		"/p/wrapix.json",
		"/p/sub/Wrapix.json",
		"/p/wrapix.j\u017fon",
		"/p/.wrapix/profiles/web.json",
	};
	static const char *const allowed[] = {
		"/p/bashrc",
		"/p/.git",
		"/p/.git/index",
		"/p/.git/config.lock",
		"/p/.git/refs/heads/x",
		"/p/.claude/CLAUDE.md",
		"/p/.claude",
		"/p/hooks/x",
		"/p/config",
		"/p/.vscodex",
		"/home/u/x",
		"/home/u/.config/other",
		"/home/u/.ssh/known_hosts",
		"/p/.cursor/rules/x",
		"/p/.wrapix/ralph/x.jsonl",
		"/p/wrapix-bench/x",
		"/p/wrapix.jso",
	};
	struct file_verdict verdict;
	struct strv none = { 0 }, wrong = { 0 };
	struct err err = { 0 };

	begin("/p");
	add(FILE_ALLOW_WRITE, "/home/u");
	protect(NULL, NULL, false);
	for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
		verdict = file_rules_write(&rules, denied[i]);
		ok(!verdict.allowed && verdict.rule && verdict.rule->kind == FILE_PROTECT &&
			   can_read(denied[i]),
		   "%s stays as it is", denied[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
		ok(can_write(allowed[i]), "%s may be written", allowed[i]);
	ok(file_rules_write(&rules, "/p/.git/config").rule->by_content &&
		   !file_rules_write(&rules, "/p/.git/hooks").rule->by_content,
	   "git's configuration may be judged by what is in it");

	begin("/p/.vscode/ext");
	add(FILE_ALLOW_WRITE, "/home/u/.bashrc");
	protect("Makefile", ".idea", true);
	ok(can_write("/p/.vscode/ext/x"), "a project may live in a protected directory");
	ok(!can_write("/p/.vscode/ext/.vscode/x"), "and has one of its own");
	ok(!can_write("/home/u/.bashrc"), "allowing a protected name by name does not lift it");
	ok(!can_write("/p/.vscode/ext/sub/Makefile"), "protect.add");
	ok(can_write("/p/.vscode/ext/.idea/x"), "protect.remove");
	ok(can_write("/p/.vscode/ext/.git/config") && !can_write("/p/.vscode/ext/.git/hooks"),
	   "allowGitConfig leaves the hooks protected");

	strv_add(&arena, &wrong, ".ideas");
	ok(file_rules_protect(&rules, &none, &wrong, false, &err) == -EINVAL, "%s: %s", err.msg,
	   err.hint);
	for (const char *const *bad =
		     (const char *const[]){ "", "/etc", "../x", "a//b", "a/.", NULL };
	     *bad; bad++) {
		struct strv plus = { 0 };

		strv_add(&arena, &plus, *bad);
		ok(file_rules_protect(&rules, &plus, &none, false, &err) == -EINVAL, "%s", err.msg);
	}
}

static void test_moves(void)
{
	static const struct {
		const char *from, *to;
		bool dir, want;
	} cases[] = {
		{ "/p/a", "/p/b", false, true },
		{ "/p/a", "/p/b", true, true },
		{ "/p/a", "/etc/b", false, false },
		{ "/etc/a", "/p/b", false, false },
		{ "/p/.git", "/p/old", true, false },
		{ "/p/evil", "/p/.git", true, false },
		{ "/p/.claude", "/p/x", true, false },
		{ "/p/x", "/p/.claude", true, false },
		{ "/p/repo", "/p/repo2", true, true },
		{ "/p/repo/.git", "/p/repo2/.git", true, true },
		{ "/p/keep", "/p/away", true, false }, /* holds a denyWrite */
		{ "/p/other", "/p/keep", true, false },
		{ "/p/keep/open", "/p/open", true, true },
		{ "/p/keep/it", "/p/it", false, false },
		{ "/p/hidden", "/p/seen", true, false }, /* holds a denyRead */
		{ "/p/logs", "/p/more", true, true },    /* a floating glob holds at both places */
		{ "/p/keys", "/p/more", true, false },   /* an anchored one does not */
		{ "/p/keys/sub", "/p/more", true, true },
		{ "/p/.bashrc", "/p/x", false, false },
		{ "/p/x", "/p/.bashrc", false, false },
		{ "/p", "/p2", true, false },
		{ "/w", "/p/w", true, false }, /* a writable place itself */
		{ "/p/w", "/w/x", true, true },
	};

	begin("/p");
	add(FILE_ALLOW_WRITE, "/w");
	add(FILE_DENY_WRITE, "/p/keep/it");
	add(FILE_DENY_READ, "/p/hidden/it");
	add(FILE_DENY_READ, "/**/*.pem");
	add(FILE_DENY_WRITE, "/p/keys/*.key");
	protect(NULL, NULL, false);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ok(file_rules_move(&rules, cases[i].from, cases[i].to, cases[i].dir).allowed ==
			   cases[i].want,
		   "%s %s to %s: %s", cases[i].dir ? "directory" : "file", cases[i].from,
		   cases[i].to, cases[i].want ? "may" : "may not");

	begin("/home/u/p");
	add(FILE_DENY_READ, "/home/u");
	add(FILE_ALLOW_WRITE, "/w");
	ok(file_rules_move(&rules, "/home/u/p/d", "/w/d", true).allowed,
	   "what was lifted for both ends does not stop a move");
}

/* ---- the naive model: regular expressions by hand, every prefix tried, no cleverness ---- */

static bool naive_match(const char *g, const char *s)
{
	if (!*g)
		return !*s;
	if (!strncmp(g, "**/", 3)) {
		if (naive_match(g + 3, s))
			return true;
		for (const char *p = s; *p; p++)
			if (*p == '/' && naive_match(g + 3, p + 1))
				return true;
		return false;
	}
	if (!strncmp(g, "**", 2)) {
		for (const char *p = s;; p++) {
			if (naive_match(g + 2, p))
				return true;
			if (!*p)
				return false;
		}
	}
	if (*g == '*') {
		for (const char *p = s;; p++) {
			if (naive_match(g + 1, p))
				return true;
			if (!*p || *p == '/')
				return false;
		}
	}
	if (!*s)
		return false;
	if (*g == '?')
		return *s != '/' && naive_match(g + 1, s + 1);
	if (!strncmp(g, "[ab]", 4))
		return (*s == 'a' || *s == 'b') && naive_match(g + 4, s + 1);
	return *g == *s && naive_match(g + 1, s + 1);
}

static int naive_cover(const char *glob, const char *path)
{
	char g[128], p[256];
	int longest = -1;

	snprintf(g, sizeof(g), "%s", glob);
	while (strlen(g) >= 3 && !strcmp(g + strlen(g) - 3, "/**"))
		g[strlen(g) - 3] = '\0';
	if (!*g)
		return 1;
	for (size_t n = 1; n <= strlen(path); n++) {
		if (path[n] && path[n] != '/')
			continue;
		snprintf(p, sizeof(p), "%.*s", (int)n, path);
		if (naive_match(g, p))
			longest = (int)n;
	}
	return longest;
}

struct model_rule {
	enum file_rule_kind kind;
	char path[96];
};
static struct model_rule model[16];
static size_t n_model;

static bool model_read(const char *path)
{
	int deny = -1, allow = -1, write = -1;

	for (size_t i = 0; i < n_model; i++) {
		int len = naive_cover(model[i].path, path);

		if (model[i].kind == FILE_DENY_READ && len > deny)
			deny = len;
		if (model[i].kind == FILE_ALLOW_READ && len > allow)
			allow = len;
		if (model[i].kind == FILE_ALLOW_WRITE && len > write)
			write = len;
	}
	return deny < 0 || allow >= deny || write > deny;
}

static bool model_protects(const char *path)
{
	return strstr(path, "/.git/hooks/") || strstr(path, "/.vscode/") ||
	       (strlen(path) >= 11 && !strcmp(path + strlen(path) - 11, "/.git/hooks")) ||
	       (strlen(path) >= 8 && !strcmp(path + strlen(path) - 8, "/.vscode"));
}

static bool model_write(const char *path)
{
	bool allow = false;

	for (size_t i = 0; i < n_model; i++) {
		bool covered = naive_cover(model[i].path, path) >= 0;

		if (covered && model[i].kind == FILE_DENY_WRITE)
			return false;
		allow = allow || (covered && model[i].kind == FILE_ALLOW_WRITE);
	}
	return allow && !model_protects(path) && model_read(path);
}

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void random_path(char *out, const char *const *words, size_t n_words, uint32_t max)
{
	uint32_t n = 1 + rnd(max);

	*out = '\0';
	while (n--)
		sprintf(out + strlen(out), "/%s", words[rnd((uint32_t)n_words)]);
}

static const char *const names[] = { "a", "b", "ab", "c.k", ".git", "hooks", ".vscode" };
static const char *const parts[] = {
	"a",  "b",   "ab",   ".git", "hooks", "*",   "**", "**", "?",
	"a*", "*.k", "[ab]", "**b",  "a**",   "c.k", "a",  "b",  ".git"
};

static void random_rules(void)
{
	struct strv none = { 0 }, removed = { 0 };
	struct err err = { 0 };

	file_rules_release(&rules);
	file_rules_init(&rules, "/home/u", "/a");
	n_model = 1 + rnd(6);
	for (size_t i = 0; i < n_model; i++) {
		model[i].kind = i ? (enum file_rule_kind)rnd(4) : FILE_ALLOW_WRITE;
		random_path(model[i].path, parts, ARRAY_LEN(parts), i ? 4 : 1);
		if (!i)
			strcpy(model[i].path, "/a");
		add(model[i].kind, model[i].path);
	}
	for (size_t i = 0; file_rules_protected(i); i++)
		if (strcmp(file_rules_protected(i), ".git/hooks") &&
		    strcmp(file_rules_protected(i), ".vscode"))
			strv_add(&rules.arena, &removed, file_rules_protected(i));
	if (file_rules_protect(&rules, &none, &removed, false, &err))
		ok(false, "%s", err.msg);
}

/* The model knows no base: paths whose protected name lies at or above a writable place are not
 * compared, because the header's rule for them is tested above. */
static bool comparable(const char *path)
{
	for (size_t i = 0; i < n_model; i++) {
		char prefix[128];

		snprintf(prefix, sizeof(prefix), "%s/", model[i].path);
		if (model[i].kind == FILE_ALLOW_WRITE && model_protects(prefix))
			return false;
	}
	return *path == '/';
}

/* A move that is allowed changes no decision about any name below. */
static bool move_is_sound(const char *from, const char *to)
{
	for (int i = 0; i < 12; i++) {
		char rest[128], a[256], b[256];

		random_path(rest, names, ARRAY_LEN(names), 3);
		snprintf(a, sizeof(a), "%s%s", from, rest);
		snprintf(b, sizeof(b), "%s%s", to, rest);
		if (model_write(a) != model_write(b) || model_read(a) != model_read(b)) {
			diag("%s and %s differ", a, b);
			return false;
		}
	}
	return true;
}

static void show_rules(const char *path)
{
	diag("path %s", path);
	for (size_t i = 0; i < n_model; i++)
		diag("%s %s", file_rule_kind_name(model[i].kind), model[i].path);
}

static void test_random(void)
{
	size_t compared = 0, moved = 0, allowed = 0, wrong = 0;

	seed = getenv("WRAPIX_TEST_SEED") ? (uint32_t)strtoul(getenv("WRAPIX_TEST_SEED"), NULL, 0)
					  : (uint32_t)time(NULL);
	diag("seed %u (WRAPIX_TEST_SEED)", seed);
	for (int round = 0; round < 3000 && wrong < 5; round++) {
		random_rules();
		for (int i = 0; i < 20; i++) {
			char path[128], other[128];

			random_path(path, names, ARRAY_LEN(names), 6);
			random_path(other, names, ARRAY_LEN(names), 4);
			if (can_read(path) != model_read(path) ||
			    (comparable(path) && can_write(path) != model_write(path))) {
				show_rules(path);
				wrong++;
			}
			compared++;
			allowed += can_write(path);
			if (!comparable(path) ||
			    !file_rules_move(&rules, path, other, true).allowed)
				continue;
			moved++;
			if (!move_is_sound(path, other)) {
				show_rules(path);
				wrong++;
			}
		}
	}
	ok(!wrong, "%zu random decisions are the model's, %zu of them writable", compared, allowed);
	ok(moved > 100 && allowed > 1000, "%zu allowed moves change no decision", moved);
}

/* What a rule of a plain path is found by. */
static void test_many(void)
{
	enum { MANY = 20000 };
	char path[48];
	size_t right = 0;

	begin("/p");
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/d/%d/f", i);
		add(i % 2 ? FILE_ALLOW_WRITE : FILE_DENY_READ, path);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/d/%d/f/x", i);
		right += can_write(path) == (i % 2 == 1) && can_read(path) == (i % 2 == 1);
		snprintf(path, sizeof(path), "/d/%d/fx", i);
		right += !can_write(path) && can_read(path);
	}
	ok(right == 2 * MANY, "each of many rules decides on its own path alone");
	ok(rules.roots.len == 1 + MANY / 2, "... and is a writable place");
	add(FILE_ALLOW_WRITE, "/d/1");
	ok(rules.roots.len == 1 + MANY / 2 && can_write("/d/1/y"),
	   "one takes what lies in it along");
	add(FILE_ALLOW_WRITE, "/d");
	ok(rules.roots.len == 2 && !strcmp(rules.roots.v[1], "/d") && !rules.roots.v[2],
	   "... or all of it");
	is_str(file_rules_write(&rules, "/d/1/f/x").rule->text, "/d/1/f",
	       "of those that say the same the first is told of");
	add(FILE_DENY_WRITE, "/d/1");
	add(FILE_DENY_WRITE, "/d");
	is_str(file_rules_write(&rules, "/d/1/f/x").rule->text, "/d/1", "... of denials, too");
}

/* Directories and a file in each, in one order or the other: processor time in clock()'s ticks. */
static clock_t add_nested(int files_first)
{
	enum { MANY = 30000 };
	clock_t start = clock();
	char path[48];

	begin("/p");
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < MANY; i++) {
			snprintf(path, sizeof(path), "/d/%d%s", i, pass != files_first ? "/f" : "");
			add(FILE_ALLOW_WRITE, path);
		}
	ok(rules.roots.len == 1 + MANY && can_write("/d/7/x") && !can_write("/d/x"),
	   "%d directories are the writable places%s", MANY,
	   files_first ? ", also where each comes after a file in it" : "");
	return clock() - start;
}

/* The best of a few tries: a busy machine makes one dear, and not all of them. */
static void test_price(clock_t (*fn)(int), int cheap, int dear, const char *name)
{
	clock_t less = 0, more = 0;

	for (int tries = 0; tries < 5 && (!tries || more >= 10 * less); tries++) {
		less = fn(cheap);
		more = fn(dear);
	}
	ok(more < 10 * less, "%s at the same price: %ld us and %ld us", name, (long)less,
	   (long)more);
}

/* Processor time for directories that are moved where so many other paths have rules. */
static clock_t move_beside(int others)
{
	clock_t start;
	char path[48];
	size_t moved = 0;

	begin("/p");
	for (int i = 0; i < others; i++) {
		snprintf(path, sizeof(path), "/p/d%d/f", i);
		add(FILE_DENY_WRITE, path);
	}
	start = clock();
	for (int i = 0; i < 2000; i++)
		moved += file_rules_move(&rules, "/p/a/b", "/p/c", true).allowed;
	start = clock() - start;
	ok(moved == 2000 && !file_rules_move(&rules, "/p/d3", "/p/c", true).allowed &&
		   !file_rules_move(&rules, "/p/a", "/p/d3", true).allowed,
	   "a directory is moved beside %d rules, and not where one is below it", others);
	return start;
}

int main(void)
{
	test_glob();
	test_glob_fold();
	test_folded();
	test_glob_hostile();
	test_writes();
	test_reads();
	test_protected();
	test_moves();
	test_many();
	test_price(add_nested, false, true, "places in either order");
	test_price(move_beside, 4, 20000, "moves beside few rules and many");
	test_random();
	file_rules_release(&rules);
	arena_release(&arena);
	return done();
}
