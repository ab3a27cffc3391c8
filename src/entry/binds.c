/* SPDX-License-Identifier: MIT */
/*
 * Single files over places inside, and what is there read-only: 'binds' in the stage has three words for
 * each, with a NUL after every one:
 *
 *	bind        SOURCE  DEST	the staged file at DEST, with the rights of where it stands
 *	read-only   (empty) DEST	what is at DEST, read-only; where there is nothing, nothing is done
 *
 * Done in a mount namespace of the command's own, in which it has no right to undo it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "entry/entry.h"
#include "os/fs.h"
#include "os/linux/mount.h"

enum { BINDS_MAX = 4 << 20 };

/* A place in the root of our own; in the user's tree the engine has seen to it that there is one. */
static int make_place(const char *dest, struct err *err)
{
	char parent[4096];
	int fd;

	if (access(dest, F_OK) == 0)
		return 0;
	if (snprintf(parent, sizeof(parent), "%s", dest) >= (int)sizeof(parent))
		return err_set(err, ENAMETOOLONG, "mounting on '%.80s...'", dest);
	*strrchr(parent, '/') = '\0';
	if (parent[0] && os_mkdirs(parent, 0755, err) < 0)
		return -err->code;
	fd = open(dest, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(err, errno, "making '%s' to mount on", dest);
	close(fd);
	return 0;
}

static int put(const char *source, const char *dest, unsigned flags, struct err *err)
{
	_cleanup_close_ int mount = mount_clone(AT_FDCWD, source, flags);
	int r = mount < 0 ? mount : mount_attach(mount, AT_FDCWD, dest);

	return r < 0 ? err_errno(err, -r, "mounting '%s' on '%s'", source, dest) : 0;
}

static int bind_one(const struct entry_bind *bind, struct err *err)
{
	int r;

	if (!bind->source)
		return access(bind->dest, F_OK) < 0
			       ? 0
			       : put(bind->dest, bind->dest, MOUNT_RO | MOUNT_RECURSIVE, err);
	r = make_place(bind->dest, err);
	return r < 0 ? r : put(bind->source, bind->dest, 0, err);
}

int entry_binds_next(const struct entry_binds *binds, size_t *at, struct entry_bind *ret,
		     struct err *err)
{
	enum { KIND, SOURCE, DEST, WORDS };
	const char *word[WORDS];

	if (!binds->text || *at >= binds->len)
		return 0;
	for (size_t i = 0; i < WORDS; i++) {
		if (*at >= binds->len)
			return err_set(err, EINVAL, "the list of staged files is cut short");
		word[i] = binds->text + *at;
		*at += strlen(word[i]) + 1;
	}
	*ret = (struct entry_bind){ word[SOURCE], word[DEST] };
	if (ret->dest[0] != '/')
		return err_set(err, EINVAL, "a staged file has no place");
	if (!strcmp(word[KIND], "read-only"))
		ret->source = NULL;
	else if (strcmp(word[KIND], "bind") || ret->source[0] != '/')
		return err_set(err, EINVAL, "the list of staged files cannot be read");
	return 1;
}

int entry_binds_load(const char *stage, struct entry_binds *ret, struct err *err)
{
	_cleanup_close_ int dir = open(stage, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : os_read_file_at(dir, "binds", BINDS_MAX, &ret->text, &ret->len);

	return r < 0 && r != -ENOENT ? err_errno(err, -r, "reading '%s/binds'", stage) : 0;
}

int entry_binds_do(const struct entry_binds *binds, struct err *err)
{
	struct entry_bind bind = { 0 };
	size_t at = 0;
	int r;

	while ((r = entry_binds_next(binds, &at, &bind, err)) > 0) {
		known(bind.dest);
		r = bind_one(&bind, err);
		if (r < 0)
			break;
	}
	return r;
}
