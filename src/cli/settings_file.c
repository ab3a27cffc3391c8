/* SPDX-License-Identifier: MIT */
/*
 * A file of settings is read and written for 'mode' and 'learn'. A session may run that works in or around the project, and
 * put links where none were a moment ago: a project's file is found once, without a link on the way, or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cli/settings.h"
#include "os/fs.h"

static int leads_out(const char *path, const char *target, struct err *err)
{
	err_set(err, EPERM, "the project's '%s' leads out of it, by a link", path_name(path));
	return err_hint(err, "whoever wrote in the project may have made it: '%s' would be changed",
			target);
}

/* Of a project's settings, the directory right in it that they are in. */
static int make_within(const char *parent, const char *within, struct err *err)
{
	_cleanup_close_ int top = os_open_plain(within);
	const char *below = path_below(parent, within);

	if (top < 0)
		return errno == ELOOP ? leads_out(within, parent, err)
				      : err_errno(err, errno, "opening '%s'", within);
	if (below && *below && mkdirat(top, below, 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "creating '%s'", parent);
	return 0;
}

/* Where the file is, or would be; without a link in it. */
static int find_target(struct arena *arena, const char *path, const char *within, char **ret,
		       struct err *err)
{
	char *parent = path_parent(arena, path), *real;
	int r;

	*ret = os_realpath(arena, path);
	if (!*ret && errno != ENOENT)
		return err_errno(err, errno, "opening '%s'", path);
	if (!*ret) {
		r = within ? make_within(parent, within, err) : os_mkdirs(parent, 0755, err);
		real = r < 0 ? NULL : os_realpath(arena, parent);
		if (!real)
			return r < 0 ? r : err_errno(err, errno, "opening '%s'", parent);
		*ret = path_join(arena, real, path_name(path));
	}
	/* As it was called when the session began, or this command: it may be a link by now. */
	return within && !path_is_below(path_parent(arena, *ret), within)
		       ? leads_out(path, *ret, err)
		       : 0;
}

int cli_read_settings(const char *path, const char *within, size_t max, char **ret, size_t *ret_len,
		      struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	char *real = os_realpath(&arena, path);
	int r = real ? 0 : -errno;
	_cleanup_close_ int dir = -1, fd = -1;

	if (real && within && !path_is_below(path_parent(&arena, real), within))
		return leads_out(path, real, err);
	if (r == 0 && (dir = os_open_plain(path_parent(&arena, real))) < 0)
		r = -errno;
	if (r == 0 && (fd = openat(dir, path_name(real),
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0)
		r = -errno;
	if (r == 0)
		r = os_read_fd(fd, max, ret, ret_len);
	return r < 0 ? err_errno(err, -r, "reading '%s'", path) : 0;
}

int cli_write_settings(const char *path, const char *within, const struct str *text,
		       struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_close_ int dir = -1;
	bool there = false;
	struct stat st;
	char *target;
	int r = find_target(&arena, path, within, &target, err);

	if (r < 0)
		return r;
	/* A session may run, and put links where none were a moment ago. */
	dir = os_open_plain(path_parent(&arena, target));
	if (dir < 0)
		return err_errno(err, errno, "opening the directory of '%s'", target);
	there = fstatat(dir, path_name(target), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(st.st_mode);
	r = os_write_file_atomic(dir, path_name(target), text->s, text->len,
				 there ? st.st_mode & 07777 : 0644, err);
	/* The umask may have taken something away. */
	if (r == 0 && there &&
	    fchmodat(dir, path_name(target), st.st_mode & 07777, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "setting the mode of '%s'", target);
	return r;
}
