/* SPDX-License-Identifier: MIT */
/* Editing works on a copy: an editor must not follow what the sandbox left around the file. */
#include "cow/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cow/copy.h"
#include "os/fs.h"

/* The session's file, by no link. */
static int open_session_file(const struct cow *cow, const char *path, int flags)
{
	return os_openat2(cow->upper, path, flags | O_NONBLOCK | O_NOCTTY, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int edit_begin(const struct cow *cow, const struct change *change, struct arena *arena,
	       char **ret_path, struct err *err)
{
	char *name = arena_printf(arena, "edit/%s", path_name(change->path));
	_cleanup_close_ int from = -1, to = -1;
	int r;

	if (!S_ISREG(change->new.mode))
		return err_set(err, EINVAL, "only a file can be edited");
	os_remove_tree(cow->dir, "edit");
	if (mkdirat(cow->dir, "edit", 0700) < 0)
		return err_errno(err, errno, "making a place to edit");
	from = open_session_file(cow, change->path, O_RDONLY);
	to = openat(cow->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = from < 0 ? from : to < 0 ? -errno : copy_content(from, to);
	*ret_path = arena_printf(arena, "%s/%s/%s", cow->base, cow->id, name);
	return r < 0 ? err_errno(err, -r, "copying '%s'", change->path) : 0;
}

int edit_end(const struct cow *cow, const struct change *change, const char *path, bool keep,
	     struct err *err)
{
	_cleanup_close_ int from = -1, to = -1;
	int r = 0;

	if (keep) {
		from = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		to = from < 0 ? -1 : open_session_file(cow, change->path, O_WRONLY | O_TRUNC);
		r = from < 0 ? -errno : to < 0 ? to : copy_content(from, to);
	}
	if (r < 0) { /* the session's may be half of it */
		err_errno(err, -r, "keeping '%s'", change->path);
		return err_hint(err, "what you made of it is in '%s'", path);
	}
	os_remove_tree(cow->dir, "edit");
	return 0;
}
