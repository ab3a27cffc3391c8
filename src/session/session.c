/* SPDX-License-Identifier: MIT */
/* The registry of sessions. */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/control.h"
#include "session/record.h"

#define META_MAX 65536

void session_new_id(char ret_id[SESSION_ID_MAX])
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
	unsigned char random[8] = { 0 };

	if (getentropy(random, sizeof(random)) < 0)
		abort(); /* cannot fail for 8 bytes on any kernel we run on */
	for (size_t i = 0; i < sizeof(random); i++)
		ret_id[i] = letters[random[i] % (sizeof(letters) - 1)];
	ret_id[sizeof(random)] = '\0';
}

static int open_sessions(const char *base, bool make, struct err *err)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/wrapix/sessions", base) >= (int)sizeof(path))
		return err_errno(err, ENAMETOOLONG, "'%s'", base);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && make && os_mkdirs(path, 0700, err) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "opening '%s'", path) : fd;
}

static void add_pair(struct str *out, const char *key, const char *value)
{
	str_addf(out, "%s\"%s\":", out->len > 1 ? "," : "", key);
	json_add_string(out, value ? value : "");
}

static void info_write(const struct session_info *info, struct str *out)
{
	str_add(out, "{");
	add_pair(out, "id", info->id);
	add_pair(out, "name", info->name);
	add_pair(out, "dir", info->dir);
	add_pair(out, "engine", info->engine);
	add_pair(out, "network", info->network);
	add_pair(out, "command", info->command);
	str_addf(out, ",\"started\":%lld,\"nanoseconds\":%ld}\n", (long long)info->started,
		 info->nanoseconds);
}

int session_info_parse(struct arena *arena, const char *text, size_t len, struct session_info *ret)
{
	_cleanup_json_ struct json_object *meta = NULL;
	struct err err;

	if (json_parse(text, len, "meta", &meta, &err) < 0 ||
	    !json_object_is_type(meta, json_type_object))
		return -EINVAL;
	*ret = (struct session_info){
		.id = record_get(arena, meta, "id"),
		.name = record_get(arena, meta, "name"),
		.dir = record_get(arena, meta, "dir"),
		.engine = record_get(arena, meta, "engine"),
		.network = record_get(arena, meta, "network"),
		.command = record_get(arena, meta, "command"),
		.started = json_object_get_int64(json_object_object_get(meta, "started")),
		.nanoseconds = json_object_get_int(json_object_object_get(meta, "nanoseconds")),
	};
	return 0;
}

static int info_read(struct arena *arena, int fd, struct session_info *ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = os_read_fd(fd, META_MAX, &text, &len);

	return r < 0 ? r : session_info_parse(arena, text, len, ret);
}

/* Looks at one session; 1 when it lives, 0 when it was swept or is just being made. */
static int look_at(struct arena *arena, int sessions_fd, const char *id, struct session_info *ret)
{
	_cleanup_close_ int dir = openat(sessions_fd, id,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int meta = -1;
	struct stat st;

	if (dir < 0)
		return 0;
	meta = openat(dir, "meta", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (meta < 0) {
		/* Killed between two system calls, or being made right now: age tells. */
		if (fstat(dir, &st) == 0 && time(NULL) - st.st_mtime > 60)
			os_remove_tree(sessions_fd, id);
		return 0;
	}
	*ret = (struct session_info){ .pid = os_lock_holder(meta) };
	if (!ret->pid) {
		if (fstat(meta, &st) == 0 && (st.st_size > 0 || time(NULL) - st.st_mtime > 60))
			os_remove_tree(sessions_fd, id);
		return 0;
	}
	if (arena) {
		pid_t pid = ret->pid;

		if (info_read(arena, meta, ret) < 0)
			return 0;
		ret->pid = pid;
	}
	return 1;
}

/* ID.json, the place of a session's user (notify/place.h), which its supervisor holds the lock of. True
 * for a file of that name. */
static bool look_at_place(int sessions_fd, const char *name)
{
	size_t len = strlen(name);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (len < 6 || strcmp(name + len - 5, ".json"))
		return false;
	fd = openat(sessions_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	/* It may be our own: this lock, unlike a record lock, is not ours to take twice. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	    (st.st_size > 0 || time(NULL) - st.st_mtime > 60))
		unlinkat(sessions_fd, name, 0);
	return true;
}

/* Calls look_at() on every session; collects the living ones when arena is given. */
static void walk(struct arena *arena, int sessions_fd, struct session_info **list, size_t *len)
{
	_cleanup_dir_ DIR *dir = os_dir_open(sessions_fd, ".");
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		struct session_info info;

		if (entry->d_name[0] == '.' || look_at_place(sessions_fd, entry->d_name) ||
		    look_at(arena, sessions_fd, entry->d_name, &info) != 1)
			continue;
		if (arena)
			*(struct session_info *)arena_grow(arena, list, len, sizeof(info)) = info;
	}
}

/* The descriptor of the session's own directory, which it makes. */
static int make_directory(const struct session *session, struct err *err)
{
	int fd = -1;

	if (mkdirat(session->sessions_fd, session->id, 0700) == 0)
		fd = openat(session->sessions_fd, session->id,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "its directory") : fd;
}

static int write_meta(struct session *session, int dir, const struct session_info *info,
		      struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_str_ struct str text = { 0 };

	info_write(info, &text);
	session->meta_fd = openat(dir, "meta", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (session->meta_fd < 0 || fcntl(session->meta_fd, F_SETLK, &lock) < 0 ||
	    os_write_all(session->meta_fd, text.s, text.len) < 0)
		return err_errno(err, errno, "its record");
	return 0;
}

int session_create(struct session *session, const char *base, const struct session_info *info,
		   struct err *err)
{
	_cleanup_close_ int dir = -1;
	int r = 0;

	*session = (struct session)SESSION_NONE;
	snprintf(session->id, sizeof(session->id), "%s", info->id);
	session->sessions_fd = open_sessions(base, true, err);
	if (session->sessions_fd < 0)
		return session->sessions_fd;
	walk(NULL, session->sessions_fd, NULL, NULL);
	dir = make_directory(session, err);
	if (dir >= 0)
		r = write_meta(session, dir, info, err);
	if (dir >= 0 && r >= 0)
		return 0;
	session_remove(session);
	return err_wrap(err, "recording the session in '%s/wrapix'", base);
}

int session_listen(const struct session *session, struct err *err)
{
	_cleanup_close_ int dir = openat(session->sessions_fd, session->id,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return dir < 0 ? err_errno(err, errno, "the session's directory")
		       : control_listen(dir, err);
}

void session_remove(struct session *session)
{
	if (session->sessions_fd >= 0) {
		os_remove_tree(session->sessions_fd, session->id);
		close(session->sessions_fd);
	}
	if (session->meta_fd >= 0)
		close(session->meta_fd);
	*session = (struct session)SESSION_NONE;
}

int session_open(const struct session_info *info, struct err *err)
{
	_cleanup_close_ int sessions = open_sessions(info->base, false, err);
	int fd;

	if (sessions < 0)
		return sessions;
	fd = openat(sessions, info->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, ENOENT, "the session has ended");
	return fd < 0 ? err_errno(err, errno, "opening the session '%s'", info->id) : fd;
}

static int by_age(const void *a, const void *b)
{
	const struct session_info *x = a, *y = b;

	if (x->started != y->started)
		return x->started < y->started ? -1 : 1;
	if (x->nanoseconds != y->nanoseconds)
		return x->nanoseconds < y->nanoseconds ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid; /* records of before, within one second */
}

int session_list(struct arena *arena, const char *const *bases, struct session_info **ret,
		 size_t *ret_len, struct err *err)
{
	*ret = NULL;
	*ret_len = 0;
	for (; *bases; bases++) {
		int fd = open_sessions(*bases, false, err);
		size_t first = *ret_len;

		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return fd;
		walk(arena, fd, ret, ret_len);
		close(fd);
		for (size_t i = first; i < *ret_len; i++)
			(*ret)[i].base = *bases;
	}
	if (*ret_len)
		qsort(*ret, *ret_len, sizeof(**ret), by_age);
	return 0;
}
