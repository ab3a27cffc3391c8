/* SPDX-License-Identifier: MIT */
/*
 * Repositories that the session made: submodules it added, work trees, and nested ones. The host gets
 * a new, empty repository of our own making, and then takes over data as from any other. This is done
 * when the sandbox is gone; another one may still work there, and this one may have left links: none is followed on the
 * way to what lies in the project.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"
#include "spec/gitconfig.h"
#include "spec/gitkeys.h"

enum { NAME_LEN_MAX = 200, DEPTH_MAX = 8, NEW_MAX = 64 };
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

const char *git_top_inside(struct git_store *store)
{
	if (store->lasting)
		return store->top;
	return store->inner ? path_join(&store->arena, WORKSPACE_INSIDE,
					path_below(store->top, store->project))
			    : WORKSPACE_INSIDE;
}

const char *git_place_inside(struct git_store *main)
{
	char *plain = path_join(&main->arena, main->top, ".git");

	if (main->lasting)
		return main->real;
	return strcmp(main->real, plain) != 0
		       ? GIT_DIR_INSIDE
		       : path_join(&main->arena, git_top_inside(main), ".git");
}

/* What may be a directory of the host's below modules/ or worktrees/. */
bool git_module_name_ok(const char *name)
{
	if (strlen(name) > NAME_LEN_MAX || name[strspn(name, NAME_CHARS "./ -")])
		return false;
	for (const char *p = name;; p++) {
		size_t len = strcspn(p, "/");

		if (len == 0 || !memchr(NAME_CHARS, p[0], strlen(NAME_CHARS)) || p[len - 1] == ' ')
			return false;
		p += len;
		if (!*p)
			return true;
	}
}

/* --- an empty repository on the host --- */

static int write_new(int dir, const char *name, const char *text, struct err *err)
{
	int r = os_write_new(dir, name, text, strlen(text), 0644);

	return r < 0 ? err_errno(err, -r, "writing '%s' of a new repository", name) : 0;
}

/* Nobody's link is followed that was put there meanwhile. */
static int make_dir(struct git_store *store, const char *path)
{
	_cleanup_close_ int up = -1;
	int fd = git_open_host(store, path);

	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	up = make_dir(store, path_parent(&store->arena, path));
	if (up < 0)
		return up;
	if (mkdirat(up, path_name(path), 0755) < 0 && errno != EEXIST)
		return -errno;
	return record_open_dir(up, path_name(path));
}

int git_make_repository(struct git_store *store, const char *gitdir, const char *work_tree,
			bool sha256, struct err *err)
{
	static const char *const dirs[] = { "objects", "objects/info", "objects/pack",
					    "refs",    "refs/heads",   "refs/tags" };
	_cleanup_str_ struct str config = { 0 };
	_cleanup_close_ int dir = make_dir(store, gitdir);
	int r;

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (dir < 0 || mkdirat(dir, dirs[i], 0755) < 0)
			return err_errno(err, dir < 0 ? -dir : errno, "making '%s'", gitdir);
	str_addf(&config,
		 "[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = false\n"
		 "\tlogallrefupdates = true\n",
		 sha256);
	if (work_tree)
		str_addf(&config, "\tworktree = \"%s\"\n",
			 gitconfig_quote(&store->arena, work_tree));
	if (sha256)
		str_add(&config, "[extensions]\n\tobjectformat = sha256\n");
	r = write_new(dir, "config", config.s, err);
	return r < 0 ? r : write_new(dir, "HEAD", "ref: refs/heads/main\n", err);
}

/* The way from one absolute path to another. */
static char *relative(struct arena *a, const char *from, const char *to)
{
	_cleanup_str_ struct str out = { 0 };

	while (!path_is_below(to, from)) {
		str_add(&out, "../");
		from = path_parent(a, from);
	}
	str_add(&out, path_below(to, from));
	return arena_strdup(a, out.s);
}

int git_write_gitfile(struct git_store *main, const char *where, const char *gitdir,
		      struct err *err)
{
	struct arena *a = &main->arena;
	_cleanup_close_ int top = git_open_host(main, main->top);
	_cleanup_close_ int tree = top < 0 ? top
					   : os_openat2(top, where, O_RDONLY | O_DIRECTORY, 0,
							RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
								RESOLVE_NO_XDEV);
	char *text = arena_printf(a, "gitdir: %s\n",
				  relative(a, path_join(a, main->top, where), gitdir));
	struct stat st;

	if (tree < 0)
		return err_errno(err, -tree, "opening '%s'", where);
	if (fstatat(tree, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, EEXIST, "'%s/.git' is there already", where);
	return os_write_file_atomic(tree, ".git", text, strlen(text), 0644, err);
}

/* --- adopting one --- */

/* A repository that the session made, and that the host does not have. */
struct new_repository {
	const char *private; /* its git directory, which is taken away from there */
	const char *gitdir;  /* where the host's is to be: absent, or an empty directory */
	const char *name;    /* what the session calls it */
	const char *where;   /* its files, below the top */
	bool gitfile;        /* it lies elsewhere, and its files need a .git that leads there */
};

/* Makes an empty one on the host, which git_publish() then fills. The sandbox must be gone. */
static int adopt(struct git_store *main, const struct new_repository *new, struct err *err)
{
	struct arena *a = &main->arena;
	struct git_store *part;
	struct git_state host;
	char *tree = path_join(a, main->top, new->where);
	int r;

	if (main->n_parts >= GIT_PARTS_MAX)
		return err_set(err, E2BIG, "there are too many");
	r = git_make_repository(main, new->gitdir,
				new->gitfile ? relative(a, new->gitdir, tree) : NULL,
				git_is_sha256(main), err);
	if (r < 0)
		return r;
	part = git_add_part(main, new->gitdir, new->name, new->where);
	part->fresh = true;
	git_step(main, "adopt");
	r = git_store_make_record(part, err);
	if (r == 0 && rename(new->private, part->private) < 0)
		r = err_errno(err, errno, "taking '%s'", new->private);
	if (r == 0)
		r = git_read_host(part, a, &host, err);
	if (r == 0)
		r = git_base_save(part, "start", &host, err);
	if (r == 0)
		host.mark = "";
	if (r == 0)
		r = git_base_save(part, "base", &host, err);
	if (r == 0)
		r = git_store_write_meta(main, err);
	if (r == 0 && new->gitfile)
		r = git_write_gitfile(main, new->where, new->gitdir, err);
	return r;
}

/* --- submodules --- */

struct search {
	struct git_store *main;
	const struct git_state *session;
	struct git_report *report;
	size_t n;
};

/* Where its configuration says that its files are, below the top; only what the index has as a submodule. */
static char *work_tree(const struct search *s, int dir, const char *name)
{
	struct arena *a = &s->main->arena;
	const char *top = git_top_inside(s->main), *value, *entry;
	_cleanup_free_ char *text = NULL;
	char *place, *tree;
	size_t len;

	if (git_read_file(dir, "config", GITKEYS_MAX, &text, &len) < 0 || strlen(text) != len)
		return NULL;
	value = gitconfig_get(a, text, "core", "worktree");
	place = arena_printf(a, "%s/modules/%s", git_place_inside(s->main), name);
	tree = value ? path_join(a, place, value) : NULL;
	if (!tree || !path_is_below(tree, top) || !strcmp(tree, top))
		return NULL;
	tree = arena_strdup(a, path_below(tree, top));
	entry = git_path_ok(tree) ? git_find(&s->session->index, tree) : NULL;
	return entry && str_starts(entry, "160000 ") ? tree : NULL;
}

static void adopt_module(struct search *s, int dir, const char *name)
{
	struct arena *a = &s->main->arena;
	struct new_repository new = {
		.name = name,
		.private = arena_printf(a, "%s/modules/%s", s->main->private, name),
		.gitdir = arena_printf(a, "%s/modules/%s", s->main->real, name),
		.gitfile = true,
	};
	struct stat st;
	struct err err;

	new.where = git_module_name_ok(name) ? work_tree(s, dir, name) : NULL;
	if (!new.where || lstat(new.gitdir, &st) == 0 || s->n++ >= NEW_MAX)
		git_hold(s->report, "submodule", name, "the host takes no such submodule");
	else if (adopt(s->main, &new, &err) < 0)
		git_hold(s->report, "submodule", name, arena_strdup(&s->report->arena, err.msg));
}

static bool is_known(const struct git_store *main, const char *name)
{
	for (size_t i = 0; i < main->n_parts; i++)
		if (!main->parts[i].tree && !strcmp(main->parts[i].name, name))
			return true;
	return false;
}

static void find_modules(struct search *s, int at, const char *name, int depth)
{
	int fd = depth > DEPTH_MAX ? -1 : record_open_dir(at, path_name(name));
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	const char *below = depth ? name + strlen("modules/") : "";
	struct dirent *entry;

	if (!list)
		return;
	if (depth && git_is_repository(fd) && !is_known(s->main, below))
		adopt_module(s, fd, below);
	else if (!depth || !is_known(s->main, below))
		while ((entry = os_dir_next(list)) != NULL)
			if (entry->d_name[0] != '.')
				find_modules(s, fd, path_join(&s->main->arena, name, entry->d_name),
					     depth + 1);
}

void git_adopt_modules(struct git_store *main, struct git_report *report)
{
	_cleanup_close_ int dir = record_open_dir(AT_FDCWD, main->private);
	_cleanup_close_ int modules = dir < 0 ? -1 : record_open_dir(dir, "modules");
	struct git_state session;
	struct search s = { .main = main, .session = &session, .report = report };
	struct err ignored;

	/* What is odd there is said when it is published. */
	if (modules < 0 || git_read_private(main, &main->arena, &session, &ignored) < 0 ||
	    git_read_index(main, true, &main->arena, &session, &ignored) < 0)
		return;
	report->where = "";
	find_modules(&s, dir, "modules", 0);
}
