/* SPDX-License-Identifier: MIT */
/* Which git keys a sandbox may set, to what. */
#include "spec/gitkeys_allow.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

/* The whole of what a value is checked by; each function takes hostile text. */
typedef bool value_fn(const char *value);

enum row_flags {
	ONCE = 1,      /* a key that is there stays as it is */
	REMOTE = 2,    /* the value names a remote of the file */
	WORK_TREE = 4, /* a path that must lie beside the git directory */
};

#define WORD_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool only(const char *value, const char *chars, size_t max)
{
	size_t n = strlen(value);

	return n > 0 && n <= max && strspn(value, chars) == n;
}

static bool is_word(const char *value)
{
	return only(value, WORD_CHARS "-", 32);
}

static bool is_digit(const char *value)
{
	return only(value, "0123456789", 1);
}

static bool is_text(const char *value)
{
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < ' ' && *p != '\n')
			return false;
	return strlen(value) <= 1024;
}

static bool is_person(const char *value)
{
	return is_text(value) && strlen(value) <= 200 && !strpbrk(value, "<>\n");
}

static bool is_remote(const char *value)
{
	return !strcmp(value, ".") ||
	       (isalnum((unsigned char)*value) && only(value, WORD_CHARS "_.-", 100));
}

/* A ref's or a pattern's name: nothing that starts an option or leaves refs/. */
static bool is_ref(const char *value)
{
	return str_starts(value, "refs/") && only(value, WORD_CHARS "_.-/*@+#", 250) &&
	       !strstr(value, "..");
}

static bool is_branch(const char *value)
{
	return str_starts(value, "refs/heads/") && is_ref(value) && !strchr(value, '*');
}

static bool is_refspec(const char *value)
{
	const char *colon;
	char from[256];

	value += *value == '+' || *value == '^';
	colon = strchr(value, ':');
	if (!colon)
		return is_ref(value);
	if ((size_t)(colon - value) >= sizeof(from))
		return false;
	memcpy(from, value, (size_t)(colon - value));
	from[colon - value] = '\0';
	return is_ref(from) && is_ref(colon + 1) &&
	       (str_starts(colon + 1, "refs/remotes/") || str_starts(colon + 1, "refs/tags/") ||
		!strcmp(value, "refs/*:refs/*"));
}

/* A place git reaches by itself: no helper program is named ("ext::", "fd::", other schemes). */
static bool is_url(const char *value)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://",
					       "file://" };
	size_t n = strlen(value);

	if (n == 0 || n > 1024 || *value == '-' || !is_text(value) || strstr(value, "::") ||
	    strchr(value, '\n'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_starts(value, schemes[i]))
			return value[strlen(schemes[i])] != '-';
	return !strstr(value, "://"); /* git@host:path, or a path */
}

static bool is_bool(const char *value)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "1", "0" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcasecmp(value, words[i]))
			return true;
	return false;
}

static bool is_rebase(const char *value)
{
	return is_bool(value) || !strcmp(value, "merges") || !strcmp(value, "interactive");
}

static bool is_update(const char *value)
{
	return !strcmp(value, "checkout") || !strcmp(value, "rebase") || !strcmp(value, "merge") ||
	       !strcmp(value, "none");
}

static bool is_filter(const char *value)
{
	return only(value, WORD_CHARS ":=.+-", 100) && !str_starts(value, "sparse:path");
}

/* Names as gitkeys_parse() makes them. '*' stands for a subsection, which may hold dots. */
static const struct {
	const char *name;
	value_fn *fits;
	int flags;
} rows[] = {
	{ "user.name", is_person, 0 },
	{ "user.email", is_person, 0 },
	{ "branch.*.remote", is_remote, REMOTE },
	{ "branch.*.pushremote", is_remote, REMOTE },
	{ "branch.*.merge", is_branch, 0 },
	{ "branch.*.rebase", is_rebase, 0 },
	{ "branch.*.description", is_text, 0 },
	{ "pull.rebase", is_word, 0 },
	{ "pull.ff", is_word, 0 },
	{ "merge.ff", is_word, 0 },
	{ "merge.conflictstyle", is_word, 0 },
	{ "rebase.autosquash", is_word, 0 },
	{ "rebase.autostash", is_word, 0 },
	{ "push.default", is_word, 0 },
	{ "push.autosetupremote", is_word, 0 },
	{ "push.followtags", is_word, 0 },
	{ "fetch.prune", is_word, 0 },
	{ "rerere.enabled", is_word, 0 },
	{ "commit.verbose", is_word, 0 },
	{ "status.?*", is_word, 0 },
	{ "diff.algorithm", is_word, 0 },
	{ "diff.renames", is_word, 0 },
	{ "diff.colormoved", is_word, 0 },
	{ "diff.mnemonicprefix", is_word, 0 },
	{ "log.?*", is_word, 0 },
	{ "advice.?*", is_word, 0 },
	{ "submodule.*.active", is_bool, 0 },
	{ "submodule.active", is_text, ONCE },
	{ "submodule.*.url", is_url, ONCE },
	{ "submodule.*.update", is_update, 0 },
	{ "lfs.repositoryformatversion", is_digit, 0 },
	/* what 'git init', 'git clone' and 'git sparse-checkout' write */
	{ "core.repositoryformatversion", is_digit, 0 },
	{ "core.filemode", is_bool, ONCE },
	{ "core.bare", is_bool, ONCE },
	{ "core.logallrefupdates", is_word, ONCE },
	{ "core.ignorecase", is_bool, ONCE },
	{ "core.precomposeunicode", is_bool, ONCE },
	{ "core.symlinks", is_bool, ONCE },
	{ "core.sparsecheckout", is_bool, 0 },
	{ "core.sparsecheckoutcone", is_bool, 0 },
	{ "core.worktree", is_text, WORK_TREE },
	{ "index.sparse", is_bool, 0 },
	{ "extensions.objectformat", is_word, ONCE },
	{ "extensions.refstorage", is_word, ONCE },
	{ "extensions.worktreeconfig", is_bool, 0 },
	{ "extensions.partialclone", is_remote, ONCE },
	{ "remote.*.url", is_url, ONCE },
	{ "remote.*.fetch", is_refspec, ONCE },
	{ "remote.*.tagopt", is_text, ONCE },
	{ "remote.*.mirror", is_bool, ONCE },
	{ "remote.*.promisor", is_bool, ONCE },
	{ "remote.*.partialclonefilter", is_filter, ONCE },
};

static int find_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *star = strchr(rows[i].name, '*');

		if (!star && !strcmp(rows[i].name, name))
			return (int)i;
		if (star && !fnmatch(rows[i].name, name, FNM_NOESCAPE) &&
		    (star[-1] != '?' || strchr(name, '.') == strrchr(name, '.')))
			return (int)i;
	}
	return -1;
}

static bool has_remote(const struct gitkeys *all, const char *remote)
{
	size_t n = strlen(remote);

	if (!strcmp(remote, "."))
		return true;
	for (size_t i = 0; i < all->n; i++) {
		const char *name = all->keys[i].name;

		if (str_starts(name, "remote.") && !strncmp(name + 7, remote, n) &&
		    !strcmp(name + 7 + n, ".url"))
			return true;
	}
	return false;
}

/* A submodule's: from .git/modules/NAME back to where the repository is checked out. */
static bool is_beside(struct arena *arena, const char *gitdir, const char *value)
{
	const char *dot_git = gitdir ? strstr(gitdir, "/.git/") : NULL;
	char *top, *tree;

	if (!dot_git || *value == '/')
		return false;
	top = arena_strndup(arena, gitdir, (size_t)(dot_git - gitdir));
	tree = path_join(arena, gitdir, value);
	return path_is_below(tree, top) && strcmp(tree, top) != 0 && !strstr(tree, "/.git/") &&
	       strcmp(path_name(tree), ".git") != 0;
}

bool gitkeys_may_set(struct arena *arena, const struct gitkeys *all, const char *name,
		     const char *value, bool was_there, const char *gitdir)
{
	int row = find_row(name);

	if (row < 0 || !rows[row].fits(value))
		return false;
	if ((rows[row].flags & ONCE) && was_there)
		return false;
	if ((rows[row].flags & REMOTE) && !has_remote(all, value))
		return false;
	return !(rows[row].flags & WORK_TREE) || is_beside(arena, gitdir, value);
}

bool gitkeys_may_remove(const char *name)
{
	int row = find_row(name);

	return row >= 0 && !(rows[row].flags & (ONCE | WORK_TREE));
}
