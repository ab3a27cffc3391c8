/* SPDX-License-Identifier: MIT */
/*
 * The work trees of a repository in which commands work ('wrapix exec'): they may come to several of them, and what one
 * of them commits the others see at once, as everywhere. So there is one private git directory for all, with worktrees/ID
 * in it as the host's has it: HEAD, the index and operations that are not finished are the work tree's own, and
 * the rest is the repository's.
 *
 * Each is a part of the store with a base of its own but for references, and gets a round of its own when it is published, after the
 * repository's: it carries HEAD, the index, and the branch that the host's stands on.
 *
 * The host's worktrees/ID lies in a repository of which commands write nothing. What is in it is believed when the work
 * tree's .git leads back to it; no link is followed to find out.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "session/record.h"

enum { TREES_MAX = 32, LINE_MAX_LEN = 4096 };

const char *git_shared(const struct git_store *store)
{
	return store->tree ? store->shared : store->private;
}

/* ------------------------------------------------------------------ the host's */

/* The first line of a file, of which all is text. */
static char *read_line(struct arena *a, int dir, const char *name)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	if (git_read_file(dir, name, LINE_MAX_LEN, &text, &len) < 0 || strlen(text) != len)
		return NULL;
	return arena_strndup(a, text, strcspn(text, "\n"));
}

static int open_plain(int at, const char *path)
{
	return os_openat2(at, path, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
}

char *git_tree_top(struct arena *a, int dir, const char *common, const char *id)
{
	char *gitdir = arena_printf(a, "%s/worktrees/%s", common, id);
	char *line = read_line(a, dir, "gitdir"), *top, *back;
	_cleanup_close_ int tree = -1;

	line = line && *line ? path_join(a, gitdir, line) : NULL;
	if (!line || strcmp(path_name(line), ".git") != 0)
		return NULL;
	top = path_parent(a, line);
	tree = open_plain(AT_FDCWD, top);
	back = tree < 0 ? NULL : read_line(a, tree, ".git");
	if (!back || !str_starts(back, "gitdir: ") ||
	    strcmp(path_join(a, top, back + strlen("gitdir: ")), gitdir) != 0)
		return NULL;
	return top;
}

/* Nothing that git would write through, and no submodules: those have git directories of their own. */
static bool is_whole(int dir)
{
	static const char *const names[] = { "HEAD",      "index",        "logs",
					     "logs/HEAD", "refs",         "info",
					     "commondir", "rebase-merge", "rebase-apply" };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (fstatat(dir, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			return false;
	return fstatat(dir, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir, "modules", &st, AT_SYMLINK_NOFOLLOW) < 0;
}

void git_list_trees(struct arena *arena, const char *common, struct git_tree **ret, size_t *ret_n)
{
	int fd = open_plain(AT_FDCWD, path_join(arena, common, "worktrees"));
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	struct dirent *entry;

	while (*ret_n < TREES_MAX && (entry = os_dir_next(list)) != NULL) {
		_cleanup_close_ int dir = entry->d_name[0] == '.'
						  ? -1
						  : record_open_dir(fd, entry->d_name);
		char *top = dir < 0 ? NULL : git_tree_top(arena, dir, common, entry->d_name);
		struct git_tree *tree = top ? arena_grow(arena, ret, ret_n, sizeof(*tree)) : NULL;

		if (tree)
			*tree = (struct git_tree){ .id = arena_strdup(arena, entry->d_name),
						   .top = top,
						   .whole = is_whole(dir) };
	}
}

bool git_tree_is_there(const struct git_store *part)
{
	_cleanup_(arena_release) struct arena a = { NULL };
	_cleanup_close_ int dir = open_plain(AT_FDCWD, part->real);

	return dir >= 0 && git_is_same(part) &&
	       git_tree_top(&a, dir, part->common, part->name) != NULL;
}

/* ------------------------------------------------------------------ parts */

/* Whatever became of the host's; or NULL. */
static struct git_store *find_tree(const struct git_store *main, const char *id)
{
	for (size_t i = 0; i < main->n_parts; i++)
		if (main->parts[i].tree && !strcmp(main->parts[i].name, id))
			return &main->parts[i];
	return NULL;
}

void git_become_tree(const struct git_store *main, struct git_store *part)
{
	part->tree = true;
	part->common = main->common;
	part->shared = main->private;
	part->private = arena_printf((struct arena *)&main->arena, "%s/worktrees/%s", main->private,
				     part->name);
}

int git_write_tree_files(struct git_store *part, int to, struct err *err)
{
	struct arena *a = &part->arena;
	_cleanup_close_ int real = git_open_host(part, part->real);
	char *gitdir = real < 0 ? NULL : read_line(a, real, "gitdir");
	const char *files[][2] = { { "commondir", "../..\n" }, { "gitdir", NULL } };
	int r = 0;

	if (!gitdir)
		return err_set(err, EINVAL, "the work tree '%s' is none", part->name);
	files[1][1] = arena_printf(a, "%s\n", gitdir);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
		_cleanup_free_ char *there = NULL;
		size_t len;

		if (git_read_file(to, files[i][0], LINE_MAX_LEN, &there, &len) == 0 &&
		    !strcmp(there, files[i][1]))
			continue;
		os_remove_tree(to, files[i][0]);
		r = os_write_file_soon(to, files[i][0], files[i][1], strlen(files[i][1]), 0644,
				       err);
	}
	return r;
}

/* An empty directory for it in the private one. */
static int make_dir(const struct git_store *part, struct err *err)
{
	_cleanup_close_ int shared = record_open_dir(AT_FDCWD, part->shared), trees = -1;
	int r = -1;

	if (shared >= 0 && (mkdirat(shared, "worktrees", 0755) == 0 || errno == EEXIST))
		trees = record_open_dir(shared, "worktrees");
	if (trees >= 0 && os_remove_tree(trees, part->name) == 0 &&
	    mkdirat(trees, part->name, 0755) == 0)
		r = record_open_dir(trees, part->name);
	return r < 0 ? err_errno(err, errno, "making a private work tree '%s'", part->name) : r;
}

static int copy_rest(const struct git_store *part, int to, struct err *err)
{
	static const char *const names[] = { "logs/HEAD", "info/sparse-checkout", "locked" };
	_cleanup_close_ int real = git_open_host(part, part->real);
	int r = git_copy_own(part, to, err);

	if (r == 0 && (mkdirat(to, "logs", 0755) < 0 || mkdirat(to, "info", 0755) < 0))
		r = err_errno(err, errno, "making a private work tree '%s'", part->name);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(names); i++)
		r = git_copy_file(real, names[i], to, err);
	return r;
}

/* Both sides have what the host has; without marks that is looked at. */
static int note_base(struct git_store *part, struct git_state *host, const char *mark,
		     struct err *err)
{
	int r = git_base_link_index(part, err);

	host->mark = mark;
	return r < 0 ? r : git_base_save(part, "base", host, err);
}

static int note_fresh(struct git_store *part, struct err *err)
{
	struct git_state host;
	int r = git_read_host(part, &part->arena, &host, err);

	return r < 0 ? r : note_base(part, &host, "", err);
}

int git_fill_tree(struct git_store *part, struct err *err)
{
	_cleanup_close_ int to = make_dir(part, err);
	struct git_state host;
	int r = to < 0 ? to : git_read_host(part, &part->arena, &host, err);

	if (r == 0 && !host.head)
		r = err_set(err, ENOTSUP, "HEAD of '%s' is none that wrapix knows", part->real);
	if (r == 0)
		r = git_write_tree_files(part, to, err);
	if (r == 0)
		r = git_write_head(&host, to, err);
	if (r == 0)
		r = copy_rest(part, to, err);
	return r < 0 ? r : note_base(part, &host, git_marks_now(part, to), err);
}

static int renew_record(const struct git_store *main, struct git_store *part, struct err *err)
{
	char number[16];

	close_ptr(&part->dir);
	snprintf(number, sizeof(number), "%u", part->number);
	if (os_remove_tree(main->dir, number) < 0)
		return err_errno(err, errno, "removing '%s'", part->path);
	return git_store_make_record(part, err);
}

int git_add_tree(struct git_store *main, const char *id, bool fresh, struct err *err)
{
	struct git_store *part = find_tree(main, id);
	int r;

	if (!part && main->n_parts >= GIT_PARTS_MAX)
		return err_set(err, E2BIG, "there are too many");
	if (!part) {
		char *where = arena_printf(&main->arena, "worktrees/%s", id);

		part = git_add_part(main, path_join(&main->arena, main->common, where), id, where);
		git_become_tree(main, part);
	}
	git_note_identity(&main->arena, part);
	part->fresh = fresh;
	r = renew_record(main, part, err);
	if (r == 0)
		r = fresh ? note_fresh(part, err) : git_fill_tree(part, err);
	return r < 0 ? r : git_store_write_meta(main, err);
}

bool git_has_tree(const struct git_store *main, const char *id)
{
	const struct git_store *part = find_tree(main, id);

	return part && git_is_same(part);
}

/* By name alone. */
static bool is_stub(struct git_store *main, int dir)
{
	char *locked = read_line(&main->arena, dir, "locked");

	return locked && !strcmp(locked, GIT_TREE_STUB);
}

/* Shown so, or worked in; not one that a command has made since under the same name. */
static bool stands_for_host(struct git_store *main, int dir, const char *id)
{
	if (find_tree(main, id))
		return !git_tree_top(&main->arena, dir, main->common, id);
	return is_stub(main, dir);
}

/* It stands where the host's does. */
static void follow_head(struct git_store *main, int dir, const char *host)
{
	struct arena *a = &main->arena;
	_cleanup_close_ int real = git_open_host(main, host);
	char *head = real < 0 ? NULL : read_line(a, real, "HEAD"),
	     *known = read_line(a, dir, "HEAD");
	struct err ignored; /* then a branch is taken that is free, or the other way round */

	if (!head || (known && !strcmp(head, known)))
		return;
	head = arena_printf(a, "%s\n", head);
	os_write_file_atomic(dir, "HEAD", head, strlen(head), 0644, &ignored);
}

/* What stands for one of the host's that is gone: its branch is free. */
static void sweep(struct git_store *main)
{
	_cleanup_close_ int shared = record_open_dir(AT_FDCWD, main->private);
	int fd = shared < 0 ? -1 : record_open_dir(shared, "worktrees");
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		_cleanup_close_ int dir = entry->d_name[0] == '.'
						  ? -1
						  : record_open_dir(fd, entry->d_name);
		const char *host = strcmp(entry->d_name, GIT_TREE_MAIN) != 0
					   ? arena_printf(&main->arena, "%s/worktrees/%s",
							  main->common, entry->d_name)
					   : main->common;
		struct stat st;

		if (dir < 0 || !stands_for_host(main, dir, entry->d_name))
			continue;
		if (lstat(host, &st) < 0 && errno == ENOENT)
			os_remove_tree(fd, entry->d_name);
		else if (is_stub(main, dir))
			follow_head(main, dir, host);
	}
}

int git_take_trees(struct git_store *main, const struct git_about *about, struct err *err)
{
	_cleanup_close_ int turn = -1;
	int r = 0;

	sweep(main);
	for (size_t i = 0; r == 0 && i < about->n_trees; i++) {
		const struct git_tree *tree = &about->trees[i];

		if (!tree->whole || git_has_tree(main, tree->id))
			continue;
		if (turn < 0) {
			turn = git_open_turn(main->state, main->common);
			if (turn < 0 || git_take_turn(turn) < 0)
				return err_errno(err, errno, "locking '%s'", main->common);
			r = git_reload_parts(main, err);
		}
		if (r == 0 && !git_has_tree(main, tree->id))
			r = git_add_tree(main, tree->id, false, err);
	}
	main->closed = about->closed;
	for (size_t i = 0; i < about->n_trees; i++) {
		struct git_store *part = find_tree(main, about->trees[i].id);

		if (part)
			part->closed = about->trees[i].closed;
	}
	return r;
}

/* ------------------------------------------------------------------ rounds */

/* The records of parts lie in the repository's. Who has a turn has it for all of them. */
static int load_main(struct git_round *round, struct git_store *ret, struct git_state *base,
		     struct err *err)
{
	*ret = (struct git_store){ .dir = record_open_dir(round->store->dir, ".."),
				   .id = round->store->id,
				   .on_step = round->store->on_step };
	return git_base_load(ret, "base", &round->arena, base, err);
}

int git_tree_load_refs(struct git_round *round, struct err *err)
{
	struct git_store main;
	struct git_state base;
	int r = load_main(round, &main, &base, err);

	if (r == 0) {
		round->base.refs = base.refs;
		round->base.made = base.made;
	}
	close_ptr(&main.dir);
	return r;
}

int git_tree_save_refs(struct git_round *round, struct err *err)
{
	struct git_store main;
	struct git_state base;
	int r = load_main(round, &main, &base, err);

	base.refs = round->base.refs;
	base.made = round->base.made;
	if (r == 0)
		r = git_base_save(&main, "base", &base, err);
	close_ptr(&main.dir);
	return r;
}
