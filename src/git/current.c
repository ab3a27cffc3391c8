/* SPDX-License-Identifier: MIT */
/* Whether a private git directory that lasts has all that the host has: a stamp of the host's tells, without a git. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { STAMP_DIRS = 512, STAMP_DEPTH = 8, STAMP_MS = 20 };

struct stamp {
	uint64_t sum;
	struct timespec newest;
	int left; /* directories that may still be looked at */
};

static void add_number(struct stamp *stamp, uint64_t number)
{
	for (int i = 0; i < 8; i++, number >>= 8)
		stamp->sum = (stamp->sum ^ (number & 0xff)) * 0x100000001b3;
}

static void add_stat(struct stamp *stamp, int at, const char *name)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		add_number(stamp, 0);
		return;
	}
	add_number(stamp, st.st_ino);
	add_number(stamp, (uint64_t)st.st_mtim.tv_sec);
	add_number(stamp, (uint64_t)st.st_mtim.tv_nsec);
	if (st.st_mtim.tv_sec > stamp->newest.tv_sec ||
	    (st.st_mtim.tv_sec == stamp->newest.tv_sec &&
	     st.st_mtim.tv_nsec > stamp->newest.tv_nsec))
		stamp->newest = st.st_mtim;
}

/* References are replaced, by a new file beside them: their directories tell. */
static void add_dirs(struct stamp *stamp, int at, const char *name, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	struct dirent *entry;

	add_stat(stamp, at, name);
	while (depth && (entry = os_dir_next(list)) != NULL)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && stamp->left-- > 0)
			add_dirs(stamp, dirfd(list), entry->d_name, depth - 1);
}

static void stamp_one(struct stamp *stamp, const struct git_store *store)
{
	static const char *const names[] = { ".", "config", "hooks", "info" };
	_cleanup_close_ int real = git_open_host(store, store->real);
	_cleanup_close_ int common = store->tree ? -1 : git_open_host(store, store->common);

	add_stat(stamp, real, ".");
	if (store->tree)
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		add_stat(stamp, common, names[i]);
	if (store->hooks)
		add_stat(stamp, AT_FDCWD, store->hooks);
	add_dirs(stamp, common, "refs", STAMP_DEPTH);
}

/* "": too much, or so new that the next change may have the same time. */
void git_stamp_make(const struct git_store *store, char ret[GIT_STAMP])
{
	struct stamp stamp = { .sum = 0xcbf29ce484222325, .left = STAMP_DIRS };
	struct timespec now;
	int64_t age;

	stamp_one(&stamp, store);
	for (size_t i = 0; i < store->n_parts; i++)
		stamp_one(&stamp, &store->parts[i]);
	clock_gettime(CLOCK_REALTIME, &now);
	age = (int64_t)(now.tv_sec - stamp.newest.tv_sec) * 1000 +
	      (now.tv_nsec - stamp.newest.tv_nsec) / 1000000;
	snprintf(ret, GIT_STAMP, "%016llx", (unsigned long long)stamp.sum);
	if (stamp.left <= 0 || age < STAMP_MS)
		*ret = '\0';
}

void git_stamp_save(const struct git_store *store, const char *stamp)
{
	struct err ignored; /* then it is taken in once more */

	record_write_file(store->dir, "stamp", stamp, strlen(stamp), &ignored);
}

bool git_is_locked(const struct git_store *store)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/index.lock", store->private);
	if (access(path, F_OK) == 0)
		return true;
	for (size_t i = 0; i < store->n_parts; i++)
		if (git_is_locked(&store->parts[i]))
			return true;
	return false;
}

bool git_is_current(const struct git_store *store)
{
	_cleanup_free_ char *saved = NULL;
	char now[GIT_STAMP];
	size_t len;

	if (git_is_locked(store))
		return false;
	if (faccessat(store->dir, "done", F_OK, 0) < 0 || git_locks_noted(store) ||
	    os_read_file_at(store->dir, "stamp", GIT_STAMP, &saved, &len) < 0)
		return false;
	git_stamp_make(store, now);
	return *now && !strcmp(saved, now) && git_is_whole(store);
}
