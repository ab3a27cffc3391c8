/* SPDX-License-Identifier: MIT */
/* Files that run later: notes and looks. Their content is the sandbox's: it is capped, and whoever prints it escapes
 * it. */
#include "api/later.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "api/later_priv.h"
#include "api/protection.h"
#include "base/path.h"
#include "base/path_map.h"
#include "cow/aliases.h"
#include "cow/paths.h"
#include "cow/unified.h"
#include "os/dir.h"
#include "os/fs.h"

/* Of one look: a directory that is moved may be any. */
enum { DEPTH_MAX = 64, ENTRIES_MAX = 50000 };
#define HASHED_MAX ((size_t)8 << 20)
#define WALK_MAX ((off_t)256 << 20) /* other sandboxes wait for their turn meanwhile */

/* ------------------------------------------------------------------ the list */

/* Where it is in the index, or would be. */
static unsigned *find(const struct later *later, const char *path, size_t n)
{
	size_t i = path_hash(path, n) & (later->n_index - 1);

	for (;; i = (i + 1) & (later->n_index - 1)) {
		const struct later_file *file = later->index[i] ? &later->v[later->index[i] - 1]
								: NULL;

		if (!file || (!strncmp(file->path, path, n) && !file->path[n]))
			return &later->index[i];
	}
}

static void grow(struct later *later)
{
	later->n_index = later->n_index ? later->n_index * 4 : 256;
	later->index = arena_alloc(&later->arena, later->n_index * sizeof(*later->index));
	memset(later->index, 0, later->n_index * sizeof(*later->index));
	for (size_t i = 0; i < later->n; i++)
		*find(later, later->v[i].path, strlen(later->v[i].path)) = (unsigned)i + 1;
}

bool later_is_noted(const struct later *later, const char *path)
{
	for (size_t n = strcspn(path, "/"); later->n_index; n += 1 + strcspn(path + n + 1, "/")) {
		unsigned at = *find(later, path, n);

		if (at && (!path[n] || later->v[at - 1].tree))
			return true;
		if (!path[n])
			break;
	}
	return false;
}

const struct later_file *later_find(const struct later *later, const char *path)
{
	unsigned at = later->n_index ? *find(later, path, strlen(path)) : 0;

	return at ? &later->v[at - 1] : NULL;
}

struct later_file *later_add(struct later *later, const char *path, const struct stat *st)
{
	struct later_file *file;

	if (later->n == LATER_FILES_MAX) {
		later->more++;
		return NULL;
	}
	if (later->n * 2 >= later->n_index)
		grow(later);
	*find(later, path, strlen(path)) = (unsigned)later->n + 1;
	file = arena_grow(&later->arena, &later->v, &later->n, sizeof(*file));
	*file = (struct later_file){ .path = arena_strdup(&later->arena, path) };
	if (st) {
		file->mode = st->st_mode;
		file->size = st->st_size;
		file->ctime = st->st_ctim;
	}
	return file;
}

void later_release(struct later *later)
{
	if (later->file)
		close(later->file);
	arena_release(&later->arena);
	*later = (struct later){ .v = NULL };
}

int later_by_path(const void *a, const void *b)
{
	return strcmp(((const struct later_file *)a)->path, ((const struct later_file *)b)->path);
}

/* ------------------------------------------------------------------ one file */

static void keep(struct later *later, struct later_file *file, const char *text, size_t len)
{
	if (len <= LATER_TEXT_MAX && later->texts + len <= LATER_TEXTS_MAX &&
	    unified_is_text(text, len) && !memchr(text, '\0', len)) {
		char *copy = arena_alloc(&later->arena, len + 1);

		memcpy(copy, text, len);
		copy[len] = '\0';
		file->text = copy;
		file->len = len;
		later->texts += len;
		return;
	}
	sha256_hex(text, len, file->hash);
}

void later_read_text(struct later *later, int dir, const char *name, struct later_file *file)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	char target[PATH_MAX];
	size_t len;
	ssize_t n;

	if (S_ISLNK(file->mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n >= 0)
			keep(later, file, target, (size_t)n);
		return;
	}
	if (!S_ISREG(file->mode))
		return;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && os_read_fd(fd, HASHED_MAX, &text, &len) == 0)
		keep(later, file, text, len);
}

/* ------------------------------------------------------------------ looks */

struct walk {
	struct later *later;
	size_t entries;
	off_t bytes;
	bool too_much;
	bool closed; /* something in it is ro */
};

static void look(struct walk *walk, int dir, const char *path, int depth);

static void look_in(struct walk *walk, int dir, const char *path, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(dir, path_name(path));
	struct arena *arena = &walk->later->arena;
	struct dirent *entry;

	while (!walk->too_much && (entry = os_dir_next(list)) != NULL)
		if (!is_git_name(entry->d_name))
			look(walk, dirfd(list), path_join(arena, path, entry->d_name), depth + 1);
}

static void look(struct walk *walk, int dir, const char *path, int depth)
{
	struct later *later = walk->later;
	enum protect_level level;
	struct later_file *file;
	struct stat st;

	if (++walk->entries > ENTRIES_MAX || depth > DEPTH_MAX) {
		walk->too_much = true;
		return;
	}
	if (sensitive_bulk(path) || fstatat(dir, path_name(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		look_in(walk, dir, path, depth);
		return;
	}
	level = protection_of(&later->protection, path).level;
	walk->closed |= level == PROTECT_RO;
	if (level == PROTECT_ALLOW || later_is_noted(later, path))
		return;
	file = later_add(later, path, &st);
	if (!file)
		return;
	walk->bytes += MIN(st.st_size, (off_t)HASHED_MAX);
	if ((!later->brief && walk->bytes <= WALK_MAX) ||
	    (st.st_size <= LATER_TEXT_MAX && later->texts < LATER_TEXTS_MAX))
		later_read_text(later, dir, path_name(path), file);
	later_write(later, file);
}

/* True: something in it is ro. */
static bool look_all(struct later *later, int dir, const char *path)
{
	struct walk walk = { .later = later };

	look(&walk, dir, path, 0);
	if (walk.too_much && !strv_has(&later->unseen, path))
		strv_add(&later->arena, &later->unseen, path);
	return walk.closed;
}

void later_look_at(struct later *later, int dir, const char *path)
{
	look_all(later, dir, path);
}

int later_open_above(int root, struct arena *arena, const char *path)
{
	char *parent = path_parent(arena, path_join(arena, "/", path));

	return os_openat2(root, parent[1] ? parent + 1 : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Those that the user named, then those that somebody obeys, without a last slash; NULL: there are no more. */
static char *nth_name(const struct protection *said, size_t i, struct arena *arena)
{
	const char *name = i < said->n_paths ? said->paths[i].path
					     : sensitive_name(i - said->n_paths);
	size_t n = name ? strlen(name) : 0;

	return name ? arena_strndup(arena, name, n - (name[n - 1] == '/')) : NULL;
}

static void look_by_path(struct later *later, int root, const char *path)
{
	_cleanup_close_ int dir = later_open_above(root, &later->arena, path);

	if (dir >= 0)
		look_all(later, dir, path);
}

void later_look(struct later *later, const char *project)
{
	_cleanup_close_ int root = os_open_plain(project);
	const struct protection *said = &later->protection;
	char *name;

	for (size_t i = 0; root >= 0 && said->aliases && i < said->aliases->n; i++)
		look_by_path(later, root, said->aliases->v[i].path);
	for (size_t i = 0; root >= 0 && (name = nth_name(said, i, &later->arena)) != NULL; i++)
		look_by_path(later, root, name);
}

bool later_note(struct later *later, int dir, const char *name, const char *path)
{
	size_t bulk = sensitive_bulk(path);
	struct later_file *file;
	struct stat st;
	bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	later->noted = true;
	if (bulk)
		path = arena_strndup(&later->arena, path, bulk);
	if (later_is_noted(later, path))
		return true;
	/* It goes, or something takes its place. */
	if (there && S_ISDIR(st.st_mode) && !bulk)
		return !look_all(later, dir, path);
	file = later_add(later, path, there && !bulk ? &st : NULL);
	if (!file)
		return true;
	file->tree = bulk;
	if (there && !bulk)
		later_read_text(later, dir, name, file);
	later_write(later, file);
	return true;
}

/* ------------------------------------------------------------------ without a supervisor */

void later_close(struct spec *spec, const char *project)
{
	_cleanup_close_ int root = os_open_plain(project);
	const struct protection *said = &spec->protect;
	struct aliases links = { .v = NULL };
	char *path;

	for (size_t i = 0; root >= 0 && (path = nth_name(said, i, &spec->arena)) != NULL; i++) {
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (protection_of(said, path).level != PROTECT_RO)
			continue;
		aliases_add(&links, &spec->arena, root, project, path);
		if (links.n) /* what it leads to is what can be changed */
			path = arena_strdup(&spec->arena, links.v[--links.n].path);
		fd = os_openat2(root, path, O_PATH | O_CLOEXEC, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
		if (fd >= 0 && fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
			strv_addf(&spec->arena, &spec->closed, "%s%s", path,
				  S_ISDIR(st.st_mode) ? "/" : "");
	}
}
