/* SPDX-License-Identifier: MIT */
/* What a directory of a session's says of itself. */
#include "session/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>

#include "os/fs.h"

#define META_MAX ((size_t)1 << 20)
#define VERSION 1

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

int record_write_file(int dir, const char *name, const char *data, size_t len, struct err *err)
{
	_cleanup_close_ int fd = -1;
	char tmp[NAME_MAX + 1];
	int r;

	if (snprintf(tmp, sizeof(tmp), ".%s.%d", name, (int)getpid()) >= (int)sizeof(tmp))
		return err_errno(err, ENAMETOOLONG, "writing '%s'", name);
	unlinkat(dir, tmp, 0); /* a leftover of a killed process that had our pid */
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : os_write_all(fd, data, len);
	if (r == 0 && renameat(dir, tmp, dir, name) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	unlinkat(dir, tmp, 0);
	return err_errno(err, -r, "writing '%s'", name);
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
	const char *s = json_object_get_string(json_object_object_get(meta, key));

	return arena_strdup(arena, s ? s : "");
}
