/* SPDX-License-Identifier: MIT */
/* Finishing what was begun with the deploy keys: a table of names by which something is begun. */
#include "keys/settle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "spec/deploykey.h"

const char *const key_endings[KEY_FILES] = { "", ".pub", KEY_SIGNING, KEY_SIGNING ".pub" };

static int move(int from, const char *name, int to, struct err *err)
{
	int r = os_move_new(from, name, to, name);

	return r < 0 ? err_errno(err, -r, "moving '%s'", name) : 0;
}

static int back_up(struct arena *arena, int dir, const char *file, const char *place,
		   struct err *err)
{
	char *path = arena_printf(arena, "backup/%s", place);
	_cleanup_close_ int to = -1;

	if ((mkdirat(dir, "backup", 0700) == 0 || errno == EEXIST) &&
	    (mkdirat(dir, path, 0700) == 0 || errno == EEXIST))
		to = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return to < 0 ? err_errno(err, errno, "making '%s'", path) : move(dir, file, to, err);
}

/* The public halves first: a private one alone would look like a pair. What is not in it any more is put. */
static int put_files(struct arena *arena, int dir, const char *name, struct err *err)
{
	const char *place = name + strlen(KEY_TO_PUT);
	_cleanup_close_ int from = openat(dir, name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = from < 0 ? err_errno(err, errno, "opening '%s'", name) : 0;

	for (size_t i = KEY_FILES; r == 0 && i-- > 0;) {
		int len = (int)(strrchr(place, '.') - place);
		char *file = arena_printf(arena, "%.*s%s", len, place, key_endings[i]);

		if (!os_exists_at(from, file))
			continue;
		if (os_exists_at(dir, file))
			r = back_up(arena, dir, file, place, err);
		r = r < 0 ? r : move(from, file, dir, err);
	}
	if (r == 0 && fsync(dir) < 0)
		r = err_errno(err, errno, "writing '~/" DEPLOY_KEYS_DIR "'");
	return r;
}

static int remove_files(struct arena *arena, int dir, const char *name, struct err *err)
{
	for (size_t i = 0; i < KEY_FILES; i++) {
		char *file = arena_printf(arena, "%s%s", name + strlen(KEY_TO_REMOVE),
					  key_endings[i]);

		if (unlinkat(dir, file, 0) < 0 && errno != ENOENT)
			return err_errno(err, errno, "removing '~/" DEPLOY_KEYS_DIR "/%s'", file);
	}
	return 0;
}

static const struct {
	const char *prefix;
	int (*finish)(struct arena *arena, int dir, const char *name, struct err *err);
} begun[] = { { KEY_NEW, NULL }, { KEY_TO_PUT, put_files }, { KEY_TO_REMOVE, remove_files } };

/* The row of the table that a name belongs to, or as many as there are. A .put. has a time, too. */
static size_t kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(begun); i++)
		if (str_starts(name, begun[i].prefix) &&
		    (begun[i].finish != put_files || strchr(name + strlen(KEY_TO_PUT), '.')))
			return i;
	return ARRAY_LEN(begun);
}

/* A name that is begun, in the arena; NULL when there is none. */
static char *find(struct arena *arena, int dir)
{
	_cleanup_dir_ DIR *list = os_dir_open(dir, ".");
	struct dirent *entry;
	char *found = NULL;

	while (!found && (entry = os_dir_next(list)))
		if (kind_of(entry->d_name) < ARRAY_LEN(begun))
			found = arena_strdup(arena, entry->d_name);
	return found;
}

int key_store_settle(int dir, struct err *err)
{
	struct arena arena = { 0 };
	char *name;
	int r = 0;

	while (r == 0 && (name = find(&arena, dir))) {
		size_t kind = kind_of(name);

		if (begun[kind].finish)
			r = begun[kind].finish(&arena, dir, name, err);
		if (r == 0 && os_remove_tree(dir, name) < 0)
			r = err_errno(err, errno, "removing '~/" DEPLOY_KEYS_DIR "/%s'", name);
	}
	arena_release(&arena);
	return r;
}

int key_store_open(const char *path, bool make, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (make && os_mkdirs(path, 0700, err) < 0)
		return -err->code;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (make && fchmod(fd, 0700) < 0) || flock(fd, LOCK_EX) < 0)
		return err_errno(err, errno, "opening '%s'", path);
	r = key_store_settle(fd, err);
	return r < 0 ? r : take_fd(&fd);
}

void key_store_look(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct arena arena = { 0 };
	struct err ignored;

	if (fd >= 0 && find(&arena, fd) && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)key_store_settle(fd, &ignored); /* a change of the keys says why it cannot */
	arena_release(&arena);
}
