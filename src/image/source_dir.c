/* SPDX-License-Identifier: MIT */
/* A directory as a source: walked by descriptor, sorted, never leaving its file tree. */
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "image/interrupt.h"
#include "image/source.h"
#include "os/dir.h"

enum { MAX_DEPTH = 128 };

struct link {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct walk {
	source_fn *fn;
	void *ctx;
	struct arena arena;
	struct link *links; /* files with several names that were seen already */
	size_t n_links;
	struct archive_entry *entry;
	unsigned depth;
};

static int walk_dir(struct walk *walk, int fd, const char *path, struct err *err);

static ssize_t read_file(void *from, void *buffer, size_t len)
{
	ssize_t n = read(*(int *)from, buffer, len);

	return n < 0 ? -errno : n;
}

/* The first name a file was seen by; NULL the first time. */
static const char *seen(struct walk *walk, const struct stat *st, const char *path)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return NULL;
	for (size_t i = 0; i < walk->n_links; i++)
		if (walk->links[i].ino == st->st_ino && walk->links[i].dev == st->st_dev)
			return walk->links[i].path;
	*(struct link *)arena_grow(&walk->arena, &walk->links, &walk->n_links,
				   sizeof(struct link)) = (struct link){
		st->st_dev, st->st_ino, arena_strdup(&walk->arena, path)
	};
	return NULL;
}

static int emit(struct walk *walk, int dir, const char *name, const char *path,
		const struct stat *st, struct err *err)
{
	const char *first = seen(walk, st, path);
	_cleanup_close_ int fd = -1;
	char target[PATH_MAX];
	ssize_t n;

	archive_entry_clear(walk->entry);
	archive_entry_set_pathname(walk->entry, path);
	archive_entry_set_mode(walk->entry, st->st_mode);
	archive_entry_set_size(walk->entry, S_ISREG(st->st_mode) && !first ? st->st_size : 0);
	if (first)
		archive_entry_set_hardlink(walk->entry, first);
	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n < 0)
			return err_errno(err, errno, "reading '%s'", path);
		target[n] = '\0';
		archive_entry_set_symlink(walk->entry, target);
	}
	if (S_ISREG(st->st_mode) && !first) {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			return err_errno(err, errno, "opening '%s'", path);
	}
	return walk->fn(walk->ctx, walk->entry, read_file, &fd, err);
}

static int walk_one(struct walk *walk, int dir, const char *path, const char *name, struct err *err)
{
	char below[PATH_MAX];
	struct stat st;
	int fd, r;

	known(path);
	if (interrupt_check(err) < 0)
		return -err->code;
	if (snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", name) >=
	    (int)sizeof(below))
		return err_set(err, ENAMETOOLONG, "a path below '%s' is too long", path);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "looking at '%s'", below);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))
		return 0; /* sockets, FIFOs, devices: nothing that an image can use */
	r = emit(walk, dir, name, below, &st, err);
	if (r < 0 || !S_ISDIR(st.st_mode))
		return r;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", below);
	return walk_dir(walk, fd, below, err);
}

/* Takes fd over. */
static int walk_dir(struct walk *walk, int fd, const char *path, struct err *err)
{
	struct arena arena = { 0 };
	struct strv names = { 0 };
	_cleanup_dir_ DIR *dir = os_dir_take(fd);
	int r = 0;

	if (!dir)
		return err_errno(err, errno, "reading '%s'", path);
	if (++walk->depth > MAX_DEPTH)
		r = err_set(err, ELOOP, "'%s' is too deep", path);
	for (struct dirent *entry; r == 0 && (entry = os_dir_next(dir));)
		strv_add(&arena, &names, entry->d_name);
	strv_sort(&names);
	for (size_t i = 0; r == 0 && i < names.len; i++)
		r = walk_one(walk, dirfd(dir), path, names.v[i], err);
	walk->depth--;
	arena_release(&arena);
	return r;
}

/* What stands above a prefix: "opt", "opt/wrapix". */
static int emit_above(struct walk *walk, const char *prefix, struct err *err)
{
	const struct stat st = { .st_mode = S_IFDIR | 0755 };
	char path[PATH_MAX];
	int r = 0;

	for (const char *end = prefix; r == 0 && *end;) {
		end += strcspn(end, "/");
		snprintf(path, sizeof(path), "%.*s", (int)(end - prefix), prefix);
		r = emit(walk, -1, "", path, &st, err);
		end += *end == '/';
	}
	return r;
}

typedef int walk_fn(struct walk *walk, int fd, const struct source *source, struct err *err);

static int visit(const struct source *source, source_fn *fn, void *ctx, walk_fn *start,
		 struct err *err)
{
	struct walk walk = { .fn = fn, .ctx = ctx, .entry = archive_entry_new() };
	int fd = open(source->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (!walk.entry)
		r = err_errno(err, ENOMEM, "reading '%s'", source->path);
	else if (fd < 0)
		r = err_errno(err, errno, "opening '%s'", source->path);
	if (r == 0 && source->prefix)
		r = emit_above(&walk, source->prefix, err);
	if (r == 0)
		r = start(&walk, fd, source, err);
	else if (fd >= 0)
		close(fd);
	archive_entry_free(walk.entry);
	arena_release(&walk.arena);
	return r;
}

static int walk_all(struct walk *walk, int fd, const struct source *source, struct err *err)
{
	return walk_dir(walk, fd, source->prefix ? source->prefix : "", err);
}

static int walk_names(struct walk *walk, int fd, const struct source *source, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < source->names->len; i++)
		r = walk_one(walk, fd, source->prefix, source->names->v[i], err);
	close(fd);
	return r;
}

static int source_visit_dir(const struct source *source, source_fn *fn, void *ctx, struct err *err)
{
	return visit(source, fn, ctx, walk_all, err);
}

static int source_visit_store(const struct source *source, source_fn *fn, void *ctx,
			      struct err *err)
{
	return visit(source, fn, ctx, walk_names, err);
}

int source_visit(const struct source *source, source_fn *fn, void *ctx, struct err *err)
{
	static int (*const visits[])(const struct source *, source_fn *, void *, struct err *) = {
		[SOURCE_TAR] = source_visit_tar,
		[SOURCE_DIR] = source_visit_dir,
		[SOURCE_STORE] = source_visit_store,
	};

	return visits[source->kind](source, fn, ctx, err);
}
