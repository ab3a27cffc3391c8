/* SPDX-License-Identifier: MIT */
/*
 * What a step takes the place of. An agent that tidies up ("git checkout .", "git clean") takes along what the user has
 * committed nowhere, and once its step is taken over nothing else has it. So the files that HEAD does not have as they are
 * go to before/N of the state directory first: by a link where that is possible, which costs nothing and keeps all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cow/changes.h"
#include "cow/copy.h"
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

		if (has_content(&change->old) && (change->content || !has_content(&change->new)))
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

static int save_one(const struct cow *cow, struct arena *arena, const char *dir, const char *path,
		    struct err *err)
{
	_cleanup_close_ int from = node_open_parent(cow->root, path);
	const char *to = path_join(arena, dir, path), *name = path_name(path);
	int r = os_mkdirs(path_parent(arena, to), 0700, err);

	if (r < 0)
		return r;
	if (from < 0)
		return 0; /* gone by now: no loss of ours, and the apply sees it */
	(void)unlink(to); /* of a landing that was interrupted */
	if (linkat(from, name, AT_FDCWD, to, 0) == 0 || errno == ENOENT)
		return 0;
	return copy_tree(from, name, AT_FDCWD, to, err);
}

int land_save(const struct work *work, const struct attempt *attempt, const struct cow *cow,
	      const struct changes *changes, size_t *ret_n, struct err *err)
{
	struct arena arena = { 0 };
	const char *dir = work_file(work, &arena, LAND_BEFORE, (long long)attempt->id);
	struct strv replaced = { 0 };
	int r = 0;

	list_replaced(&arena, changes, &replaced);
	replaced = only_uncommitted(work, &arena, &replaced);
	for (size_t i = 0; r == 0 && i < replaced.len; i++)
		r = save_one(cow, &arena, dir, replaced.v[i], err);
	*ret_n = replaced.len;
	arena_release(&arena);
	return r;
}
