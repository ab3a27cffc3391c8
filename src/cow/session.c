/* SPDX-License-Identifier: MIT */
/* Copy-on-write sessions on the disk: made, opened, locked, listed, removed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/copy.h"
#include "cow/cow.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/overlay.h"
#include "os/proc.h"
#include "plan/plan.h"
#include "session/record.h"
#include "session/turn.h"

#define OLD_SECONDS (14LL * 86400)

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Now, as files are stamped, of which no clock tells: a change before has at most this stamp, one after at
 * least. Newer kernels stamp finely what was looked at since its last change, and from then on nothing
 * earlier: so it is looked at and changed again. Older ones know ticks only.
 */
static int64_t stamp(int dir)
{
	struct stat st = { 0 };

	for (int i = 0; i < 2; i++)
		if (fchmod(dir, 0700) < 0 || fstat(dir, &st) < 0)
			return now_ns();
	return (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
}

/* An upper directory looks like the directory it lies over: the view's root takes its mode. */
static int make_layer(int dir, const char *layer, const char *source, bool copy, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (stat(source, &st) < 0)
		return err_errno(err, errno, "opening '%s'", source);
	if (mkdirat(dir, layer, 0700) < 0 && errno != EEXIST)
		return err_errno(err, errno, "creating '%s'", layer);
	fd = record_open_dir(dir, layer);
	if (fd < 0)
		return err_errno(err, -fd, "opening '%s'", layer);
	if (copy)
		return copy_tree(AT_FDCWD, source, fd, "copy", err);
	if (mkdirat(fd, "upper", 0700) < 0 || mkdirat(fd, "work", 0700) < 0 ||
	    fchmodat(fd, "upper", st.st_mode & 07777, 0) < 0)
		return err_errno(err, errno, "creating '%s/upper'", layer);
	return 0;
}

static int write_meta(const struct cow *cow, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "{\"version\": 1, \"started\": %lld, \"copy\": %s", (long long)cow->started,
		 cow->copy ? "true" : "false");
	record_add(&out, "id", cow->id);
	record_add(&out, "name", cow->name);
	record_add(&out, "project", cow->project);
	record_add(&out, "gitTop", cow->git_top);
	str_add(&out, "}\n");
	/* Without a sync: the start does not wait for the disk, and what a power cut loses here has
	 * nothing in it yet. */
	return record_write_file(cow->dir, "meta", out.s, out.len, err) < 0
		       ? err_wrap(err, "writing its record")
		       : 0;
}

static int read_meta(struct cow *cow, struct err *err)
{
	_cleanup_json_ struct json_object *meta = NULL;
	int r = record_read(cow->dir, &meta, err);

	if (r < 0)
		return r;
	cow->name = record_get(&cow->arena, meta, "name");
	cow->project = record_get(&cow->arena, meta, "project");
	cow->git_top = record_get(&cow->arena, meta, "gitTop");
	if (!*cow->git_top)
		cow->git_top = NULL;
	cow->started = json_object_get_int64(json_object_object_get(meta, "started"));
	cow->copy = json_object_get_boolean(json_object_object_get(meta, "copy"));
	return 0;
}

static int take_lock(struct cow *cow)
{
	int fd = record_lock_ended(cow->dir);

	if (fd < 0)
		return fd;
	cow->lock = fd;
	return 0;
}

/* The mode of the view's root is the session's to choose and no change: one that nobody can enter would hide the session
 * from 'ps' and 'discard', and what is in it from 'diff'. */
static void open_up_layer(const struct cow *cow)
{
	_cleanup_close_ int dir = record_open_dir(cow->dir, LAYER_DIR_PROJECT);
	const char *name = cow->copy ? "copy" : "upper";
	struct stat st;

	if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_mode & 0700) != 0700)
		(void)!fchmodat(dir, name, (st.st_mode & 07777) | 0700,
				AT_SYMLINK_NOFOLLOW); /* the opening says it */
}

static int open_layer(struct cow *cow, struct err *err)
{
	open_up_layer(cow);
	cow->upper = os_openat2(cow->dir,
				cow->copy ? LAYER_DIR_PROJECT "/copy" : LAYER_DIR_PROJECT "/upper",
				O_RDONLY | O_DIRECTORY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return cow->upper < 0 ? err_errno(err, -cow->upper, "opening its changes") : 0;
}

static int fill(struct cow *cow, const struct cow_about *about, struct err *err)
{
	int r = take_lock(cow);

	if (r < 0)
		return err_errno(err, -r, "locking it");
	r = make_layer(cow->dir, LAYER_DIR_PROJECT, about->project, about->copy, err);
	if (r == 0 && about->git_layer)
		r = make_layer(cow->dir, LAYER_DIR_GIT, about->git_dir, about->copy, err);
	if (r == 0)
		r = write_meta(cow, err);
	return r < 0 ? r : open_layer(cow, err);
}

int cow_create(struct cow *cow, const struct cow_about *about, struct err *err)
{
	_cleanup_close_ int base = -1;
	int r;

	*cow = (struct cow)COW_NONE;
	cow->base = arena_strdup(&cow->arena, about->base);
	cow->id = arena_strdup(&cow->arena, about->id);
	cow->name = arena_strdup(&cow->arena, about->name);
	cow->project = arena_strdup(&cow->arena, about->project);
	cow->git_top = arena_strdup(&cow->arena, about->git_top);
	cow->copy = about->copy;
	r = os_mkdirs(about->base, 0700, err);
	if (r < 0)
		return r;
	base = record_open_dir(AT_FDCWD, about->base);
	if (base < 0 || mkdirat(base, about->id, 0700) < 0)
		return err_errno(err, base < 0 ? -base : errno,
				 "making a copy-on-write session in '%s'", about->base);
	cow->dir = record_open_dir(base, about->id);
	cow->started = stamp(cow->dir);
	r = cow->dir < 0 ? err_errno(err, -cow->dir, "opening it") : fill(cow, about, err);
	if (r < 0) {
		struct err ignored;

		err_wrap(err, "making the copy-on-write session '%s'", about->id);
		cow_remove(cow, &ignored);
		cow_close(cow);
	}
	return r;
}

int cow_open(struct cow *cow, const char *base, const char *id, struct err *err)
{
	_cleanup_close_ int fd = record_open_dir(AT_FDCWD, base);
	int r;

	*cow = (struct cow)COW_NONE;
	if (!record_id_ok(id))
		return err_set(err, ENOENT, "there is no copy-on-write session '%s'", id);
	cow->base = arena_strdup(&cow->arena, base);
	cow->id = arena_strdup(&cow->arena, id);
	cow->dir = fd < 0 ? fd : record_open_dir(fd, id);
	r = cow->dir < 0 ? err_errno(err, -cow->dir, "opening it") : read_meta(cow, err);
	if (r == 0)
		r = open_layer(cow, err);
	if (r < 0) {
		cow_close(cow);
		return err_wrap(err, "the copy-on-write session '%s'", id);
	}
	return 0;
}

int cow_lock(struct cow *cow, struct err *err)
{
	int r = cow->lock >= 0 ? 0 : take_lock(cow);

	if (r == -EBUSY) {
		err_set(err, EBUSY, "the session '%s' is in use", cow->id);
		return err_hint(err, "'wrapix ps' shows it; 'wrapix stop %s' ends it", cow->id);
	}
	return r < 0 ? err_errno(err, -r, "locking the session '%s'", cow->id) : 0;
}

int cow_open_project(struct cow *cow, struct err *err)
{
	if (cow->root >= 0)
		return 0;
	cow->root = os_openat2(AT_FDCWD, cow->project, O_RDONLY | O_DIRECTORY, 0,
			       RESOLVE_NO_SYMLINKS);
	if (cow->root < 0)
		return err_errno(err, -cow->root, "opening the project '%s'", cow->project);
	return 0;
}

bool cow_is_empty(const struct cow *cow)
{
	return !cow->copy && os_dir_is_empty(cow->upper, ".");
}

#define GONE ".gone-" /* and the id: being removed, which the next list finishes */

/* What overlayfs leaves of a killed podman session belongs to an id of podman's, which podman can be. */
static int remove_by_podman(int base, const char *name)
{
	struct arena arena = { 0 };
	char *podman = os_find_program(&arena, "podman", getenv("PATH"), NULL);
	char *dir = os_realpath(&arena, arena_printf(&arena, "/proc/self/fd/%d", base));
	_cleanup_free_ char *says = NULL;
	int r = -EACCES;

	if (podman && dir) {
		char *argv[] = { podman,        (char *)"unshare", (char *)"rm",
				 (char *)"-rf", (char *)"--",      path_join(&arena, dir, name),
				 NULL };

		r = os_capture_all(argv, 60, 65536, &says) == 0 ? 0 : -EACCES;
	}
	arena_release(&arena);
	return r;
}

static int remove_dir(int base, const char *name)
{
	_cleanup_close_ int dir = record_open_dir(base, name);
	int r;

	(void)os_raise_descriptors(); /* a tree is as deep as the sandbox liked, one for each level */
	if (dir >= 0)
		open_up_tree(dir);
	r = os_remove_tree(base, name);
	return r == -EACCES || r == -EPERM ? remove_by_podman(base, name) : r;
}

/* It is gone at once, or not at all: what is half removed would be neither listed nor swept. */
int cow_remove(struct cow *cow, struct err *err)
{
	_cleanup_close_ int base = record_open_dir(AT_FDCWD, cow->base);
	char gone[64];
	int r;

	if (base < 0 || cow->dir < 0)
		return err_errno(err, base < 0 ? -base : EBADF, "removing '%s'", cow->id);
	snprintf(gone, sizeof(gone), GONE "%s", cow->id);
	r = renameat(base, cow->id, base, gone) < 0 ? -errno : remove_dir(base, gone);
	if (r == -ENOENT || r == -ENOTEMPTY)
		r = 0; /* somebody's list removes it at the same time */
	if (r == 0)
		return 0;
	err_errno(err, -r, "removing '%s/%s'", cow->base, gone);
	return r == -EACCES ? err_hint(err,
				       "what is left belongs to an id of podman's: 'podman unshare "
				       "rm -rf %s/%s'",
				       cow->base, gone)
			    : r;
}

static bool has(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Its record was lost with the power, or was being written, and no change is in it. */
static bool never_began(int dir)
{
	struct cow cow = COW_NONE;
	struct stat st;
	struct err ignored;
	bool empty;

	if (fstatat(dir, "meta", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > 0)
		return false;
	cow.dir = dir;
	empty = open_layer(&cow, &ignored) == 0 && cow_is_empty(&cow);
	close_ptr(&cow.upper);
	return empty;
}

/* What was being removed, and what has no record or no layer: its start was killed, or a helper of a killed
 * sandbox came too late. Nothing of anybody's is in it. */
static bool is_remnant(int base, const char *name)
{
	_cleanup_close_ int dir = -1;
	struct stat st;

	if (str_starts(name, GONE))
		return true;
	if (!record_id_ok(name) && !str_starts(name, OVERLAY_PROBE))
		return false;
	dir = record_open_dir(base, name);
	return dir >= 0 && fstat(dir, &st) == 0 && time(NULL) - st.st_mtime > 60 &&
	       (!has(dir, "meta") || never_began(dir) ||
		(!has(dir, "project/upper") && !has(dir, "project/copy")));
}

void cow_close(struct cow *cow)
{
	for (size_t i = 0; i < 4; i++) {
		int fd = (int[]){ cow->upper, cow->root, cow->lock, cow->dir }[i];

		if (fd >= 0)
			close(fd);
	}
	arena_release(&cow->arena);
	*cow = (struct cow)COW_NONE;
}

/* 1 and the entry; 0 for what is none, or was swept. */
static int look_at(struct arena *arena, const char *base, const char *id, struct cow_info *ret)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	struct err err;
	int r;

	if (!record_id_ok(id) || cow_open(&cow, base, id, &err) < 0)
		return 0;
	r = take_lock(&cow);
	if (r == 0 && cow_is_empty(&cow) && faccessat(cow.dir, "apply", F_OK, 0) < 0 &&
	    now_ns() - cow.started > 60LL * 1000000000) {
		cow_remove(&cow, &err);
		return 0;
	}
	*ret = (struct cow_info){
		.base = base,
		.id = arena_strdup(arena, id),
		.name = arena_strdup(arena, cow.name),
		.project = arena_strdup(arena, cow.project),
		.started = cow.started / 1000000000,
		.running = r == -EBUSY,
	};
	return 1;
}

static int by_age(const void *a, const void *b)
{
	const struct cow_info *x = a, *y = b;

	if (x->started != y->started)
		return x->started < y->started ? -1 : 1;
	return strcmp(x->id, y->id);
}

int cow_list(struct arena *arena, const char *base, struct cow_info **list, size_t *len,
	     struct err *err)
{
	int fd = record_open_dir(AT_FDCWD, base);
	_cleanup_dir_ DIR *dir = os_dir_take(fd);
	struct dirent *entry;

	if (fd == -ENOENT || fd == -EACCES)
		return 0;
	if (!dir)
		return err_errno(err, fd < 0 ? -fd : errno, "opening '%s'", base);
	while ((entry = os_dir_next(dir))) {
		struct cow_info info;

		if (is_remnant(fd, entry->d_name))
			(void)remove_dir(fd, entry->d_name); /* else the next list does */
		else if (look_at(arena, base, entry->d_name, &info) == 1)
			*(struct cow_info *)arena_grow(arena, list, len, sizeof(info)) = info;
	}
	if (*len)
		qsort(*list, *len, sizeof(**list), by_age);
	return 0;
}

bool cow_is_old(const struct cow_info *info)
{
	return !info->running && time(NULL) - info->started > OLD_SECONDS;
}

uint64_t cow_usage(const char *base, const char *id)
{
	_cleanup_close_ int fd = record_open_dir(AT_FDCWD, base);
	_cleanup_close_ int dir = fd < 0 ? -1 : record_open_dir(fd, id);

	return dir < 0 ? 0 : tree_usage(dir);
}

int cow_list_all(struct arena *arena, const char *state_home, struct cow_info **ret,
		 size_t *ret_len, struct err *err)
{
	char *spare = arena_printf(arena, HOST_SPARE, geteuid());
	char *state = path_join(arena, state_home, "wrapix"), *turn = turn_path(arena, state);
	int r;

	*ret = NULL;
	*ret_len = 0;
	r = cow_list(arena, path_join(arena, state, "cow"), ret, ret_len, err);
	/* Anybody can make one there, with a session in it that says what is to be done where. */
	if (r == 0 && os_is_own_dir(spare))
		r = cow_list(arena, path_join(arena, spare, "cow"), ret, ret_len, err);
	for (size_t i = 0; r == 0 && i < *ret_len; i++)
		(*ret)[i].turn = turn;
	return r;
}

int cow_open_listed(struct cow *cow, const struct cow_info *info, struct err *err)
{
	int r = cow_open(cow, info->base, info->id, err);

	if (r == 0)
		cow->turn = arena_strdup(&cow->arena, info->turn);
	return r;
}

const struct cow_info *cow_find(const struct cow_info *list, size_t n, const char *word)
{
	const struct cow_info *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i].id, word))
			return &list[i];
		if (!strcmp(list[i].name, word) && (!found || list[i].started >= found->started))
			found = &list[i];
	}
	return found;
}
