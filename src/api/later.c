/* SPDX-License-Identifier: MIT */
/* Files that run later. Their content is the sandbox's: it is capped, and whoever prints it escapes it. */
#include "api/later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/paths.h"
#include "cow/unified.h"
#include "os/fs.h"

enum { DEPTH_MAX = 5, FILES_MAX = 500, TEXT_MAX = 64 * 1024, LINES_MAX = 40, TOLD_MAX = 20 };

struct later_file {
	const char *path;
	mode_t mode; /* 0: there is none */
	bool tree; /* what is in it was not looked at: a directory, or what a package manager fills */
	off_t size;
	struct timespec mtime;
	const char *text; /* NULL: too long, or not to be read; of a link its target */
	size_t len;
};

static void read_text(struct later *later, int dir, const char *name, struct later_file *file)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	char target[PATH_MAX];
	ssize_t n;

	if (S_ISLNK(file->mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		file->len = n < 0 ? 0 : (size_t)n;
		file->text = n < 0 ? NULL : arena_strndup(&later->arena, target, (size_t)n);
		return;
	}
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || os_read_fd(fd, TEXT_MAX, &text, &file->len) < 0)
		return;
	file->text = memcpy(arena_alloc(&later->arena, file->len + 1), text, file->len);
}

static struct later_file *add(struct later *later, const char *path, const struct stat *st)
{
	struct later_file *file = arena_grow(&later->arena, &later->v, &later->n, sizeof(*file));

	*file = (struct later_file){ .path = arena_strdup(&later->arena, path) };
	if (st) {
		file->mode = st->st_mode;
		file->size = st->st_size;
		file->mtime = st->st_mtim;
	}
	return file;
}

enum protect_level later_level(const enum protect_level *levels, const char *path)
{
	enum protect_class class = protect_class_of(sensitive_class(path, NULL));

	return class == PROTECT_CLASSES         ? PROTECT_ALLOW
	       : levels[class] == PROTECT_UNSET ? PROTECT_REPORT
						: levels[class];
}

void later_close(struct spec *spec, const char *project)
{
	_cleanup_close_ int root = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name;

	if (spec->git == GIT_MODE_PRIVATE)
		return; /* somebody is asked */
	for (size_t i = 0; root >= 0 && (name = sensitive_name(i)) != NULL; i++) {
		size_t n = strlen(name);
		char *path = arena_strndup(&spec->arena, name, n - (name[n - 1] == '/'));
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (later_level(spec->protect, path) != PROTECT_RO)
			continue;
		fd = os_openat2(root, path, O_PATH | O_CLOEXEC, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
		if (fd >= 0 && fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
			strv_addf(&spec->arena, &spec->read_only, "%s%s", path,
				  S_ISDIR(st.st_mode) ? "/" : "");
	}
}

static bool is_noted(const struct later *later, const char *path)
{
	for (size_t i = 0; i < later->n; i++) {
		size_t n = strlen(later->v[i].path);

		if (!strcmp(later->v[i].path, path) ||
		    (later->v[i].tree && !strncmp(later->v[i].path, path, n) && path[n] == '/'))
			return true;
	}
	return false;
}

static void look(struct later *later, int dir, const char *path, int depth);

static void look_in(struct later *later, int dir, const char *path, int depth)
{
	int fd = openat(dir, path_name(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			look(later, fd, path_join(&later->arena, path, entry->d_name), depth + 1);
	if (list)
		closedir(list);
}

/* What counts of the path, or of what is in it. */
static void look(struct later *later, int dir, const char *path, int depth)
{
	struct later_file *file;
	struct stat st;

	if (later->n == FILES_MAX || depth > DEPTH_MAX || sensitive_bulk(path) ||
	    fstatat(dir, path_name(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		look_in(later, dir, path, depth);
		return;
	}
	if (later_level(later->levels, path) == PROTECT_ALLOW || is_noted(later, path))
		return;
	file = add(later, path, &st);
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		read_text(later, dir, path_name(path), file);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct later_file *)a)->path, ((const struct later_file *)b)->path);
}

static int open_above(int root, struct arena *arena, const char *path)
{
	char *parent = path_parent(arena, path_join(arena, "/", path));

	return os_openat2(root, parent[1] ? parent + 1 : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

void later_look(struct later *later, const char *project)
{
	_cleanup_close_ int root = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name;

	for (size_t i = 0; root >= 0 && (name = sensitive_name(i)) != NULL; i++) {
		size_t n = strlen(name);
		char *path = arena_strndup(&later->arena, name, n - (name[n - 1] == '/'));
		_cleanup_close_ int dir = open_above(root, &later->arena, path);

		if (dir >= 0)
			look(later, dir, path, 0);
	}
	if (later->n)
		qsort(later->v, later->n, sizeof(*later->v), by_path);
}

void later_note(struct later *later, int dir, const char *name, const char *path)
{
	size_t bulk = sensitive_bulk(path);
	struct later_file *file;
	struct stat st;
	bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	later->noted = true;
	if (bulk) {
		path = arena_strndup(&later->arena, path, bulk);
		if (!is_noted(later, path) && later->n < FILES_MAX)
			add(later, path, NULL)->tree = true;
		return;
	}
	if (later->n == FILES_MAX || is_noted(later, path))
		return;
	if (there && S_ISDIR(st.st_mode)) {
		look(later, dir, path, 0); /* it goes, or something takes its place */
		return;
	}
	file = add(later, path, there ? &st : NULL);
	if (there && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
		read_text(later, dir, name, file);
}

void later_release(struct later *later)
{
	arena_release(&later->arena);
	*later = (struct later){ .v = NULL };
}

/* What the noted paths are now, and what is in those that are directories. */
static void look_again(struct later *now, const struct later *before, const char *project)
{
	_cleanup_close_ int root = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; root >= 0 && i < before->n; i++) {
		_cleanup_close_ int dir = open_above(root, &now->arena, before->v[i].path);

		if (dir >= 0 && !is_noted(now, before->v[i].path))
			look(now, dir, before->v[i].path, 0);
	}
}

/* ------------------------------------------------------------------ what changed */

static bool same(const struct later_file *a, const struct later_file *b)
{
	if (a->mode != b->mode)
		return false;
	if (a->text && b->text)
		return a->len == b->len && !memcmp(a->text, b->text, a->len);
	return !a->text && !b->text && a->size == b->size && a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec;
}

/* The difference, a line each, and no more of it than one looks at. */
static void tell_diff(const struct later_file *a, const struct later_file *b, struct arena *arena,
		      struct strv *says)
{
	_cleanup_str_ struct str out = { 0 };
	struct unified_stat stat;
	const char *old = a && a->text ? a->text : "", *new = b && b->text ? b->text : "";
	size_t old_len = a && a->text ? a->len : 0, new_len = b && b->text ? b->len : 0;
	int n = 0;

	if (!unified_is_text(old, old_len) || !unified_is_text(new, new_len))
		return;
	unified_add(&out, old, old_len, new, new_len, &stat);
	for (char *line = out.s, *end; line && *line && n <= LINES_MAX; line = end + 1, n++) {
		end = strchr(line, '\n');
		if (!end)
			end = line + strlen(line) - 1;
		strv_addf(arena, says, "  %s",
			  n == LINES_MAX ? "..."
					 : arena_strndup(arena, line,
							 (size_t)(end - line) + (*end != '\n')));
	}
}

static void tell(const struct later_file *a, const struct later_file *b, struct arena *arena,
		 struct strv *says)
{
	_cleanup_str_ struct str name = { 0 };
	const char *path = (a ? a : b)->path;

	strv_addf(arena, says, "%s was %s by the session: it counts when %s",
		  str_quote(&name, path),
		  !a   ? "added"
		  : !b ? "removed"
		       : "changed",
		  sensitive_event(path));
	tell_diff(a, b, arena, says);
}

/* A line for all of it. */
static void tell_tree(const struct later_file *tree, struct arena *arena, struct strv *says)
{
	_cleanup_str_ struct str name = { 0 };

	strv_addf(arena, says,
		  "%s was changed by the session: programs in it are run by what you build, test "
		  "or start",
		  str_quote(&name, tree->path));
}

/* What was there, by path; directories that a package manager fills are told at once. */
static void settle(struct later *before, struct arena *arena, struct strv *says)
{
	size_t n = 0;

	for (size_t i = 0; i < before->n; i++)
		if (before->v[i].tree)
			tell_tree(&before->v[i], arena, says);
		else if (before->v[i].mode)
			before->v[n++] = before->v[i];
	before->n = n;
	if (n)
		qsort(before->v, n, sizeof(*before->v), by_path);
}

void later_tell(struct later *before, const char *project, struct arena *arena,
		struct strv *ret_says)
{
	struct later now = { .v = NULL };
	size_t i = 0, k = 0, told = 0;

	memcpy(now.levels, before->levels, sizeof(now.levels));
	if (before->noted)
		look_again(&now, before, project);
	else
		later_look(&now, project);
	if (now.n)
		qsort(now.v, now.n, sizeof(*now.v), by_path);
	settle(before, arena, ret_says);
	while (i < before->n || k < now.n) {
		const struct later_file *a = i < before->n ? &before->v[i] : NULL;
		const struct later_file *b = k < now.n ? &now.v[k] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);

		i += order <= 0;
		k += order >= 0;
		if (order == 0 && same(a, b))
			continue;
		if (++told <= TOLD_MAX)
			tell(order <= 0 ? a : NULL, order >= 0 ? b : NULL, arena, ret_says);
	}
	if (told > TOLD_MAX)
		strv_addf(arena, ret_says, "... and %zu more files that run later were changed",
			  told - TOLD_MAX);
	later_release(&now);
}
