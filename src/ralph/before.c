/* SPDX-License-Identifier: MIT */
/*
 * What a step takes the place of. An agent that tidies up ("git checkout .", "git clean") takes along what the user has
 * committed nowhere, and once its step is taken over nothing else has it. So the files that HEAD does not have as they are
 * go to before/N of the state directory first: by a link where that is possible, which costs nothing and keeps all of it.
 * What is staged of its files and is not in them goes to before/N-staged: the commit takes its place in the index.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cow/changes.h"
#include "cow/copy.h"
#include "os/dir.h"
#include "os/fs.h"
#include "ralph/git.h"
#include "ralph/land.h"

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static bool has_content(const struct node *node)
{
	return S_ISREG(node->mode) || S_ISLNK(node->mode);
}

/* The files of the project whose content the changes replace or remove. */
static void list_replaced(struct arena *arena, const struct changes *changes, struct strv *ret)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->v[i];
		const struct node *old = change->from ? &change->from_node : &change->old;

		if (has_content(old) && (change->content || !has_content(&change->new)))
			strv_add(arena, ret, change->from ? change->from : change->path);
	}
}

/* Those of them that HEAD has otherwise or not at all. Objects are not written. False: git does not say. */
static bool ask_which(const struct work *work, struct arena *arena, const struct strv *replaced,
		      char **ret)
{
	_cleanup_str_ struct str list = { 0 };
	const char *index = work_file(work, arena, "index.before");
	bool said;

	unlink(index);
	unlink(arena_printf(arena, "%s.lock", index)); /* of one that was killed */
	git_add_paths(&list, replaced->v, replaced->len);
	said = git_ask(work, arena, ARGS("update-index", "--info-only", "--add", "-z", "--stdin"),
		       index, list.s, list.len, NULL) == 0 &&
	       git_ask(work, arena,
		       ARGS("diff-index", "--cached", "-z", "--name-only", "--no-renames",
			    "--diff-filter=AMT", "HEAD"),
		       index, NULL, 0, ret) == 0;
	unlink(index);
	return said;
}

/* Without git, before the first commit, in submodules: all of them. */
static struct strv only_uncommitted(const struct work *work, struct arena *arena,
				    const struct strv *replaced)
{
	struct strv uncommitted = { 0 };
	char *paths = NULL;

	if (!work->site.git || !replaced->len || !ask_which(work, arena, replaced, &paths))
		return *replaced;
	for (; *paths; paths += strlen(paths) + 1)
		strv_add(arena, &uncommitted, paths);
	return uncommitted;
}

static const char *before(const struct work *work, struct arena *arena,
			  const struct attempt *attempt)
{
	return work_file(work, arena, "before/%lld", (long long)attempt->id);
}

static const char *before_staged(const struct work *work, struct arena *arena,
				 const struct attempt *attempt)
{
	return arena_printf(arena, "%s-staged", before(work, arena, attempt));
}

/* Its place in the directory, with nothing there. */
static const char *make_room(struct arena *arena, const char *dir, const char *path,
			     struct err *err)
{
	const char *to = path_join(arena, dir, path);

	if (os_mkdirs(path_parent(arena, to), 0700, err) < 0)
		return NULL;
	(void)unlink(to); /* of a landing that was interrupted */
	return to;
}

static int save_one(const struct cow *cow, struct arena *arena, const char *dir, const char *path,
		    struct err *err)
{
	_cleanup_close_ int from = node_open_parent(cow->root, path);
	const char *to = make_room(arena, dir, path, err), *name = path_name(path);

	if (!to)
		return -err->code;
	if (from < 0)
		return 0; /* gone by now: no loss of ours, and the apply sees it */
	if (linkat(from, name, AT_FDCWD, to, 0) == 0 || errno == ENOENT)
		return 0;
	return copy_tree(from, name, AT_FDCWD, to, err) < 0 ? err_wrap(err, "keeping '%s'", path)
							    : 0;
}

/* --- what is staged --- */

/* The commit takes the place of what is staged of its files. That is in the project, too, unless it was changed since. */
static bool ask_staged(const struct work *work, struct arena *arena, char **ret_staged,
		       struct strv *ret_changed)
{
	char *changed = NULL;

	if (git_ask(work, arena,
		    ARGS("diff-index", "--cached", "-z", "--no-renames", "--no-abbrev",
			 "--ita-invisible-in-index", "--diff-filter=AMT", "HEAD"),
		    NULL, NULL, 0, ret_staged) != 0 ||
	    !**ret_staged ||
	    git_ask(work, arena, ARGS("diff-files", "-z", "--name-only"), NULL, NULL, 0,
		    &changed) != 0)
		return false;
	for (; *changed; changed += strlen(changed) + 1)
		strv_add(arena, ret_changed, changed);
	return true;
}

static bool is_touched(const struct changes *changes, const char *path)
{
	if (changes_at(changes, path))
		return true;
	for (size_t i = 0; i < changes->n; i++)
		if (changes->v[i].from && !strcmp(changes->v[i].from, path))
			return true;
	return false;
}

/* entry is ":MODE MODE ID ID LETTER", the second of each the index's. */
static int save_staged(const struct work *work, struct arena *arena, const char *dir,
		       const char *path, char *entry, struct err *err)
{
	_cleanup_close_ int out = -1;
	char *words[5] = { NULL };
	const char *to;
	int status;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		words[i] = strsep(&entry, " ");
	if (!words[3] || !strcmp(words[1], "160000"))
		return 0;
	to = make_room(arena, dir, path, err);
	if (!to)
		return -err->code;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return err_errno(err, errno, "writing '%s'", to);
	status = git_write(work, arena, ARGS("cat-file", "blob", words[3]), out);
	return status ? git_failed(status, "keeping what is staged", err) : 0;
}

static int save_all_staged(const struct work *work, struct arena *arena, const char *dir,
			   const struct changes *changes, struct err *err)
{
	struct strv changed = { 0 };
	char *entry = NULL, *path;
	int r = 0;

	if (!work->site.git || !work->config.commit || !ask_staged(work, arena, &entry, &changed))
		return 0;
	for (; r == 0 && *entry; entry = path + strlen(path) + 1) {
		path = entry + strlen(entry) + 1;
		if (is_touched(changes, path) && strv_has(&changed, path))
			r = save_staged(work, arena, dir, path, arena_strdup(arena, entry), err);
	}
	return r;
}

/* --- both --- */

int land_save(const struct work *work, const struct attempt *attempt, const struct cow *cow,
	      const struct changes *changes, struct err *err)
{
	struct arena arena = { 0 };
	const char *dir = before(work, &arena, attempt);
	struct strv replaced = { 0 };
	/* First, as git takes a file that has got a second name for one that has changed. */
	int r = save_all_staged(work, &arena, before_staged(work, &arena, attempt), changes, err);

	list_replaced(&arena, changes, &replaced);
	replaced = only_uncommitted(work, &arena, &replaced);
	for (size_t i = 0; r == 0 && i < replaced.len; i++)
		r = save_one(cow, &arena, dir, replaced.v[i], err);
	arena_release(&arena);
	return r;
}

bool land_saves_first(const struct work *work, const struct attempt *attempt)
{
	struct arena arena = { 0 };
	bool first = access(before(work, &arena, attempt), F_OK) < 0 &&
		     access(before_staged(work, &arena, attempt), F_OK) < 0;

	arena_release(&arena);
	return first;
}

void land_forget(const struct work *work, const struct attempt *attempt)
{
	struct arena arena = { 0 };

	os_remove_tree(AT_FDCWD, before(work, &arena, attempt));
	os_remove_tree(AT_FDCWD, before_staged(work, &arena, attempt));
	arena_release(&arena);
}

/* Files, not directories. */
static size_t count(int dir, const char *name)
{
	_cleanup_dir_ DIR *entries = os_dir_open(dir, name);
	struct dirent *entry;
	size_t n = 0;

	while ((entry = os_dir_next(entries))) {
		struct stat st;

		if (fstatat(dirfd(entries), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			n += S_ISDIR(st.st_mode) ? count(dirfd(entries), entry->d_name) : 1;
	}
	return n;
}

static void tell(const struct work *work, const char *dir, const char *what)
{
	size_t n = count(AT_FDCWD, dir);

	if (n)
		work_say(work, "%zu file%s %s before this step: as %s in %s", n,
			 n == 1 ? " was" : "s were", what, n == 1 ? "it was" : "they were", dir);
}

void land_tell(const struct work *work, const struct attempt *attempt)
{
	struct arena arena = { 0 };

	tell(work, before(work, &arena, attempt), "not committed");
	tell(work, before_staged(work, &arena, attempt), "staged otherwise");
	arena_release(&arena);
}
