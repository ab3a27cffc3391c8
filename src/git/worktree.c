/* SPDX-License-Identifier: MIT */
/*
 * Work trees. Those of the host's are shown to the session, so that it takes no branch that somebody stands
 * on: a name, a HEAD, and a lock.
 *
 * Those that the session added to the project ('git worktree add'): the host gets one of our own
 * making for the same branch, once the branch is there. What was staged in it is a change of its files.
 *
 * Those that a command of 'wrapix exec' added may lie anywhere that it can write. Their .git says already what it
 * is to say, else the host takes none; then they are work trees like others (trees.c), and what was staged travels.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { NEW_MAX = 64, LINE_MAX_LEN = 4096, ATTEMPTS = 3 };

/* --- the host's, for the session --- */

/* The first line of a file of the host's. */
static char *read_line(struct git_store *store, const char *path, const char *name)
{
	_cleanup_close_ int dir = git_open_host(store, path);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (dir < 0 || git_read_file(dir, name, LINE_MAX_LEN, &text, &len) < 0)
		return NULL;
	return arena_strndup(&store->arena, text, strcspn(text, "\n"));
}

static int show_one(struct arena *a, int trees, const char *id, const char *head,
		    const char *gitdir, struct err *err)
{
	const char *const files[][2] = {
		{ "HEAD", head },
		{ "commondir", "../.." },
		{ "gitdir", gitdir },
		{ "locked", GIT_TREE_STUB },
	};
	_cleanup_close_ int dir = -1;
	int r = 0;

	if (!head || !gitdir)
		return 0;
	if (mkdirat(trees, id, 0755) < 0)
		return err_errno(err, errno, "showing the work tree '%s'", id);
	dir = record_open_dir(trees, id);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
		char *text = arena_printf(a, "%s\n", files[i][1]);

		r = os_write_file_soon(dir, files[i][0], text, strlen(text), 0644, err);
	}
	return r;
}

int git_show_worktrees(struct git_store *store, int to, struct err *err)
{
	struct arena *a = &store->arena;
	int fd = git_open_host(store, path_join(a, store->common, "worktrees"));
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	const char *own = git_is_linked(store->real, store->common) ? path_name(store->real) : NULL;
	_cleanup_close_ int trees = -1;
	struct dirent *entry;
	int r = 0;

	if (!list)
		return 0;
	if (mkdirat(to, "worktrees", 0755) < 0 || (trees = record_open_dir(to, "worktrees")) < 0)
		r = err_errno(err, errno, "showing the host's work trees");
	if (r == 0 && own && !strcmp(path_name(store->common), ".git"))
		r = show_one(a, trees, GIT_TREE_MAIN, read_line(store, store->common, "HEAD"),
			     store->common, err);
	while (r == 0 && (entry = os_dir_next(list)) != NULL) {
		char *dir = arena_printf(a, "%s/worktrees/%s", store->common, entry->d_name);

		if (entry->d_name[0] != '.' && (!own || strcmp(own, entry->d_name) != 0))
			r = show_one(a, trees, entry->d_name, read_line(store, dir, "HEAD"),
				     read_line(store, dir, "gitdir"), err);
	}
	return r;
}

/* One of these still. */
static bool is_shown(struct git_store *store, int dir, const char *id)
{
	struct arena *a = &store->arena;
	_cleanup_free_ char *text = NULL;
	const char *host = strcmp(id, GIT_TREE_MAIN) != 0
				   ? read_line(
					     store,
					     arena_printf(a, "%s/worktrees/%s", store->common, id),
					     "gitdir")
				   : store->common;
	size_t len;

	if (!host || git_read_file(dir, "gitdir", LINE_MAX_LEN, &text, &len) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, host);
}

/* --- the session's, for the host --- */

struct tree {
	const char *id, *head;
	char *where;
};

/* Where its files are, below the top: its 'gitdir' says "/workspace/WHERE/.git", or the way there. */
static char *read_where(struct git_store *store, int dir, const char *id)
{
	const char *top = git_top_inside(store);
	struct arena *a = &store->arena;
	_cleanup_free_ char *text = NULL;
	char *path;
	size_t len;

	if (git_read_file(dir, "gitdir", LINE_MAX_LEN, &text, &len) < 0 || strlen(text) != len)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	path = path_join(a, arena_printf(a, "%s/worktrees/%s", git_place_inside(store), id), text);
	if (strcmp(path_name(path), ".git") != 0)
		return NULL;
	path = path_parent(a, path);
	if (!path_is_below(path, top) || !strcmp(path, top))
		return NULL;
	path = arena_strdup(a, path_below(path, top));
	return git_path_ok(path) ? path : NULL;
}

static const char *read_head(struct git_store *store, int dir)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (git_read_file(dir, "HEAD", LINE_MAX_LEN, &text, &len) < 0)
		return NULL;
	return git_parse_head(&store->arena, text, len);
}

/* worktrees/ID of the host's; one that is there was begun by us and broken off. */
static int open_new(struct git_store *store, const char *id)
{
	_cleanup_close_ int common = git_open_host(store, store->common), trees = -1;

	if (common < 0 || (mkdirat(common, "worktrees", 0755) < 0 && errno != EEXIST))
		return -errno;
	trees = record_open_dir(common, "worktrees");
	if (trees < 0 || (mkdirat(trees, id, 0755) < 0 && errno != EEXIST))
		return -errno;
	return record_open_dir(trees, id);
}

/* Where its files are comes last: with it the work tree is there. */
static int make_tree(struct git_store *store, const struct tree *tree, struct err *err)
{
	struct arena *a = &store->arena;
	struct git_run read = git_on_host_write(store, GIT_ARGS("read-tree", "HEAD"));
	_cleanup_close_ int dir = open_new(store, tree->id);
	const char *const files[][2] = {
		{ "commondir", "../..\n" },
		{ "HEAD", arena_printf(a, "%s\n", tree->head) },
		{ NULL, NULL },
		{ "gitdir", arena_printf(a, "%s/.git\n", path_join(a, store->top, tree->where)) },
	};
	int r = dir < 0 ? err_errno(err, -dir, "making the work tree '%s'", tree->id) : 0;

	read.gitdir = arena_printf(a, "%s/worktrees/%s", store->common, tree->id);
	unlinkat(dir, "index.lock", 0); /* nobody works in it yet */
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
		git_step(store, "worktree");
		/* It is known before it is there: what was staged in it is not taken for the host's. */
		if (i + 1 == ARRAY_LEN(files) && store->lasting)
			r = git_add_tree(store, tree->id, true, err);
		if (r < 0)
			break;
		r = files[i][0] ? os_write_file_atomic(dir, files[i][0], files[i][1],
						       strlen(files[i][1]), 0644, err)
				: git_do(&read, NULL, err);
	}
	return r < 0 || store->lasting ? r
				       : git_write_gitfile(store, tree->where, read.gitdir, err);
}

/* Its git may be killed. */
static int make_tree_again(struct git_store *store, const struct tree *tree, struct err *err)
{
	int r = -EAGAIN;

	for (int attempt = 0; r == -EAGAIN && attempt < ATTEMPTS; attempt++)
		r = make_tree(store, tree, err);
	return r;
}

/* By an earlier round, which was killed before its files led there. */
static bool is_made(struct git_store *store, const struct tree *tree, struct err *err)
{
	struct arena *a = &store->arena;
	char *gitdir = arena_printf(a, "%s/worktrees/%s", store->common, tree->id);

	return !store->lasting && tree->where &&
	       git_same(read_line(store, gitdir, "gitdir"),
			arena_printf(a, "%s/.git", path_join(a, store->top, tree->where))) &&
	       git_write_gitfile(store, tree->where, gitdir, err) == 0;
}

/* Begun, and not come to where it counts. */
static bool is_taken(struct git_store *store, const char *id)
{
	char *gitdir = arena_printf(&store->arena, "%s/worktrees/%s", store->common, id);
	struct stat st;

	return lstat(gitdir, &st) == 0 &&
	       (!S_ISDIR(st.st_mode) ||
		lstat(path_join(&store->arena, gitdir, "gitdir"), &st) == 0);
}

static bool has_modules(int dir)
{
	struct stat st;

	return fstatat(dir, "modules", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* One without a branch begins where the host stands: its own commit may not be there yet, and comes with its round. */
static struct tree *beginning(const struct git_store *store, struct tree *tree,
			      const struct git_state *host)
{
	const char *head = host->head;

	if (head && str_starts(head, "ref: "))
		head = git_find(&host->refs, head + 5);
	if (store->lasting && head && !str_starts(tree->head, "ref: "))
		tree->head = head;
	return tree;
}

static void add_tree(struct git_store *store, int dir, const char *id, struct git_report *report)
{
	struct arena *a = &store->arena;
	struct tree tree = { .id = id, .head = read_head(store, dir) };
	struct git_state host;
	struct err err;

	if (git_module_name_ok(id) && !strchr(id, '/'))
		tree.where = store->lasting ? git_tree_top(a, dir, store->common, id)
					    : read_where(store, dir, id);
	if (is_made(store, &tree, &err))
		return;
	if (store->lasting && git_is_linked(store->real, store->common))
		git_hold(report, "worktree", id,
			 "it was added from the only one that the command may write");
	else if (is_taken(store, id))
		git_hold(report, "worktree", id, "the host has one of that name");
	else if (!tree.where || !tree.head)
		git_hold(report, "worktree", id,
			 store->inner ? "it does not lie below the repository"
				      : "it is none in the project");
	else if (store->lasting && has_modules(dir))
		git_hold(report, "worktree", id, "it has submodules of its own");
	else if (git_read_host(store, a, &host, &err) < 0 ||
		 (str_starts(tree.head, "ref: ") && !git_find(&host.refs, tree.head + 5)))
		git_hold(report, "worktree", id, "its branch is not there");
	else if (str_starts(tree.head, "ref: ") && git_same(tree.head, host.head))
		git_hold(report, "worktree", id, "its branch is checked out");
	else if (make_tree_again(store, beginning(store, &tree, &host), &err) < 0)
		git_hold(report, "worktree", id, arena_strdup(&report->arena, err.msg));
}

/* 'git worktree move': its files are where the session says, and lead back. */
static void move_tree(struct git_store *store, const struct git_store *part)
{
	struct arena *a = &store->arena;
	_cleanup_close_ int own = part->tree ? record_open_dir(AT_FDCWD, part->private) : -1;
	_cleanup_close_ int real = own < 0 ? -1 : git_open_host(store, part->real);
	char *top = real < 0 || !git_is_same(part) || git_tree_is_there(part)
			    ? NULL
			    : git_tree_top(a, own, store->common, part->name);
	char *text = top ? arena_printf(a, "%s/.git\n", top) : NULL;
	struct err ignored; /* then git says that it can be pruned */

	if (text)
		os_write_file_atomic(real, "gitdir", text, strlen(text), 0644, &ignored);
}

/* The user locked it: its files may be on a disk that is not there. */
static bool is_kept(int trees, const char *id)
{
	_cleanup_close_ int dir = record_open_dir(trees, id);
	struct stat st;

	return dir < 0 || fstatat(dir, "locked", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* One that commands made, and that they removed with its files: the host's leads nowhere. */
static void drop_tree(struct git_store *store, const struct git_store *part)
{
	_cleanup_close_ int common = git_open_host(store, store->common);
	_cleanup_close_ int trees = common < 0 ? -1 : record_open_dir(common, "worktrees");
	struct stat st;

	if (part->tree && part->fresh && lstat(part->private, &st) < 0 && git_is_same(part) &&
	    !git_tree_is_there(part) && trees >= 0 && !is_kept(trees, part->name))
		os_remove_tree(trees, part->name);
}

size_t git_adopt_worktrees(struct git_store *store, struct git_report *report)
{
	_cleanup_close_ int own = record_open_dir(AT_FDCWD, store->private);
	int fd = own < 0 ? -1 : record_open_dir(own, "worktrees");
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	struct dirent *entry;
	size_t n = 0;

	report->where = "";
	for (size_t i = 0; i < store->n_parts; i++) {
		move_tree(store, &store->parts[i]);
		drop_tree(store, &store->parts[i]);
	}
	while (n < NEW_MAX && (entry = os_dir_next(list)) != NULL) {
		_cleanup_close_ int dir = entry->d_name[0] == '.'
						  ? -1
						  : record_open_dir(fd, entry->d_name);

		if (dir < 0 || is_shown(store, dir, entry->d_name) ||
		    (store->lasting && git_has_tree(store, entry->d_name)))
			continue;
		n++;
		add_tree(store, dir, entry->d_name, report);
	}
	return n;
}
