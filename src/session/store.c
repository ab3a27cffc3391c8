/* SPDX-License-Identifier: MIT */
/* The directory of event logs. Its content may be anything; only names of logs are touched. */
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "os/dir.h"
#include "os/fs.h"

#define SUFFIX ".jsonl"
#define LOGS_MAX 4096 /* looked at when there are too many */

/* "ID.jsonl" or "ID.1.jsonl". */
static void store_name(char ret[SESSION_ID_MAX + 16], const char *id, enum store_part part)
{
	snprintf(ret, SESSION_ID_MAX + 16, "%s%s" SUFFIX, id, part == STORE_TAIL ? ".1" : "");
}

bool store_id(const char *name, char ret_id[SESSION_ID_MAX])
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (!len || len >= SESSION_ID_MAX || strcmp(name + len, SUFFIX) != 0)
		return false;
	memcpy(ret_id, name, len);
	ret_id[len] = '\0';
	return true;
}

int store_open(const char *state_home, bool make, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/wrapix/log", state_home) >= (int)sizeof(path))
		return err_errno(err, ENAMETOOLONG, "'%s'", state_home);
	fd = open(path, flags);
	if (fd < 0 && errno == ENOENT && make && os_mkdirs(path, 0700, err) == 0)
		fd = open(path, flags);
	return fd < 0 ? err_errno(err, errno, "opening '%s'", path) : fd;
}

int store_create(int dir, const char *id, enum store_part part)
{
	char name[SESSION_ID_MAX + 16];
	int fd;

	store_name(name, id, part);
	unlinkat(dir, name, 0); /* nearly never there */
	fd = openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	return fd < 0 ? -errno : fd;
}

void store_remove(int dir, const char *id, enum store_part part)
{
	char name[SESSION_ID_MAX + 16];

	store_name(name, id, part);
	unlinkat(dir, name, 0);
}

int store_read(int dir, const char *id, enum store_part part)
{
	char name[SESSION_ID_MAX + 16];
	struct stat st;
	int fd;

	store_name(name, id, part);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

struct found {
	char id[SESSION_ID_MAX];
	struct timespec time;
};

static int by_time(const void *a, const void *b)
{
	const struct timespec *x = &((const struct found *)a)->time,
			      *y = &((const struct found *)b)->time;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* When the log was last written to. */
static bool last_written(int dir, const char *id, struct timespec *ret)
{
	char name[SESSION_ID_MAX + 16];
	struct stat st;

	for (enum store_part part = STORE_TAIL;; part = STORE_HEAD) {
		store_name(name, id, part);
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			*ret = st.st_mtim;
			return true;
		}
		if (part == STORE_HEAD)
			return false;
	}
}

static void remove_log(int dir, const char *id)
{
	char name[SESSION_ID_MAX + 16];
	_cleanup_close_ int fd = store_read(dir, id, STORE_HEAD);

	if (fd >= 0 && os_lock_holder(fd))
		return;
	for (enum store_part part = STORE_HEAD; part <= STORE_TAIL; part++) {
		store_name(name, id, part);
		unlinkat(dir, name, 0); /* what cannot be removed stays, and counts next time */
	}
}

static size_t find_logs(int dir_fd, struct found **ret)
{
	_cleanup_dir_ DIR *dir = os_dir_open(dir_fd, ".");
	struct found *list = calloc(LOGS_MAX, sizeof(*list));
	struct dirent *entry;
	size_t n = 0;

	while (list && n < LOGS_MAX && (entry = os_dir_next(dir)))
		if (store_id(entry->d_name, list[n].id) &&
		    last_written(dir_fd, list[n].id, &list[n].time))
			n++;
	*ret = list;
	return n;
}

void store_prune(int dir, const char *id, size_t keep)
{
	_cleanup_free_ struct found *list = NULL;
	size_t n = find_logs(dir, &list);

	if (n <= keep)
		return;
	qsort(list, n, sizeof(*list), by_time);
	for (size_t i = 0; i < n - keep; i++)
		if (strcmp(list[i].id, id) != 0) /* closing it would drop our lock */
			remove_log(dir, list[i].id);
}
