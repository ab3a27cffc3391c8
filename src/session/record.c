/* SPDX-License-Identifier: MIT */
/* What a directory of a session's says of itself. */
#include "session/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "os/dir.h"
#include "os/fs.h"

#define META_MAX ((size_t)1 << 20)
#define VERSION 1
#define SWEEP_AGE 60   /* seconds: what is younger may be in the making */
#define DYING_MS 10000 /* how long a killed sandbox may take to end */

bool record_id_ok(const char *id)
{
	return *id && strlen(id) < 16 && !id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789")];
}

int record_open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int record_lock(int dir)
{
	int fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int code = errno;

		close(fd);
		return code == EWOULDBLOCK ? -EBUSY : -code;
	}
	return fd;
}

/* The clock tick at which a process was started: tells it from a later one with its number. Zero
 * when it is gone or only waits to be reaped. */
static unsigned long long start_time(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long ticks = 0;
	char path[64], state = 'Z';
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (os_read_file_at(AT_FDCWD, path, 4096, &text, NULL) < 0)
		return 0;
	end = strrchr(text, ')');
	if (!end ||
	    sscanf(end + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %llu",
		   &state, &ticks) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : ticks;
}

/* It was sent SIGKILL, and comes to nothing any more. */
static bool is_killed(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long own = 0, shared = 0;
	const char *line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (os_read_file_at(AT_FDCWD, path, 16384, &text, NULL) < 0)
		return true;
	line = strstr(text, "\nSigPnd:");
	return line && sscanf(line, " SigPnd: %llx ShdPnd: %llx", &own, &shared) == 2 &&
	       ((own | shared) >> (SIGKILL - 1)) & 1;
}

void record_note_init(int dir, pid_t init)
{
	_cleanup_close_ int fd = openat(
		dir, "init", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	/* Only a kill -9 within the next instant would miss it. */
	if (fd >= 0)
		dprintf(fd, "%d %llu %d %llu\n", (int)init, start_time(init), (int)getpid(),
			start_time(getpid()));
}

/* Who was noted. */
struct noted {
	int init, supervisor;
	unsigned long long init_ticks, supervisor_ticks;
};

static bool read_noted(int dir, struct noted *ret)
{
	_cleanup_free_ char *text = NULL;

	return os_read_file_at(dir, "init", 128, &text, NULL) == 0 &&
	       sscanf(text, "%d %llu %d %llu", &ret->init, &ret->init_ticks, &ret->supervisor,
		      &ret->supervisor_ticks) == 4 &&
	       ret->init_ticks && ret->supervisor_ticks;
}

int record_lock_ended(int dir)
{
	int fd = record_lock(dir);
	struct noted noted;

	if ((fd < 0 && fd != -EBUSY) || !read_noted(dir, &noted))
		return fd;
	for (int waited = 0; fd == -EBUSY || start_time(noted.init) == noted.init_ticks; waited++) {
		if (waited == DYING_MS || (start_time(noted.supervisor) == noted.supervisor_ticks &&
					   !is_killed(noted.supervisor))) {
			if (fd >= 0)
				close(fd);
			return -EBUSY;
		}
		poll(NULL, 0, 1);
		if (fd == -EBUSY)
			fd = record_lock(dir);
		if (fd < 0 && fd != -EBUSY)
			break;
	}
	return fd;
}

int record_write_file(int dir, const char *name, const char *data, size_t len, struct err *err)
{
	return os_write_file_soon(dir, name, data, len, 0600, err);
}

/* --- what has no record --- */

static bool is_old(int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && time(NULL) - st.st_mtime > SWEEP_AGE;
}

static bool lacks(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static bool is_remnant(int records, int dirs, const char *id)
{
	_cleanup_close_ int dir = record_open_dir(records, id);
	_cleanup_close_ int other = dir == -ENOENT ? record_open_dir(dirs, id) : -1;
	_cleanup_close_ int lock = -1;

	if (dir < 0)
		return other >= 0 && is_old(other);
	if (!is_old(dir) || !lacks(dir, "meta") || !lacks(dir, RECORD_KEEP))
		return false;
	lock = record_lock(dir);
	return lock >= 0;
}

static void sweep(int listed, int records, int dirs)
{
	_cleanup_dir_ DIR *list = os_dir_open(listed, ".");
	struct dirent *entry;

	while ((entry = os_dir_next(list)))
		if (record_id_ok(entry->d_name) && is_remnant(records, dirs, entry->d_name)) {
			os_remove_tree(dirs, entry->d_name); /* what cannot be removed: next time */
			os_remove_tree(records, entry->d_name);
		}
}

void record_sweep(const char *state, const char *records, const char *dirs)
{
	_cleanup_close_ int top = record_open_dir(AT_FDCWD, state);
	_cleanup_close_ int first = top < 0 ? -1 : record_open_dir(top, records);
	_cleanup_close_ int second = top < 0 ? -1 : record_open_dir(top, dirs);

	if (first < 0 || second < 0)
		return;
	sweep(first, first, second);
	sweep(second, first, second);
}

void record_add(struct str *out, const char *key, const char *value)
{
	str_addf(out, ", \"%s\": ", key);
	json_add_string(out, value ? value : "");
}

int record_read(int dir, struct json_object **ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *meta = NULL;
	size_t len;
	int r = os_read_file_at(dir, "meta", META_MAX, &text, &len);

	if (r < 0)
		return err_errno(err, -r, "reading its record");
	r = json_parse(text, len, "meta", &meta, err);
	if (r < 0)
		return r;
	if (!json_object_is_type(meta, json_type_object) ||
	    json_object_get_int(json_object_object_get(meta, "version")) != VERSION)
		return err_set(err, EINVAL, "its record is of another version of wrapix");
	*ret = TAKE_PTR(meta);
	return 0;
}

char *record_get(struct arena *arena, struct json_object *meta, const char *key)
{
	return arena_strdup(arena, json_text(meta, key) ?: "");
}
