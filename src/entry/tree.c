/* SPDX-License-Identifier: MIT */
/* Copying a tree, by descriptor. */
#include "entry/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"

enum { MAX_FILE = 16 << 20 };

static void fill(const struct tree *tree, const char *text, size_t len, struct str *out)
{
	size_t hole = tree->hole ? strlen(tree->hole) : 0;
	const char *end = text + len, *at;

	while (hole && (at = memmem(text, (size_t)(end - text), tree->hole, hole))) {
		str_addn(out, text, (size_t)(at - text));
		str_add(out, tree->filling);
		text = at + hole;
	}
	str_addn(out, text, (size_t)(end - text));
}

static int own(const struct tree *tree, int dest, const char *name)
{
	if (tree->uid == -1U)
		return 0;
	return fchownat(dest, name, tree->uid, tree->gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int copy_file(const struct tree *tree, int dir, const char *name, int dest, mode_t mode)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str filled = { 0 };
	_cleanup_close_ int out = openat(
		dest, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	size_t len;
	int r;

	if (out < 0)
		return errno == EEXIST ? 0 : -errno; /* what is there stays */
	r = os_read_file_at(dir, name, MAX_FILE, &text, &len);
	if (r < 0)
		return r;
	fill(tree, text, len, &filled);
	r = os_write_all(out, filled.s ? filled.s : "", filled.len);
	return r < 0 ? r : own(tree, dest, name);
}

static int copy_link(const struct tree *tree, int dir, const char *name, int dest)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (symlinkat(target, dest, name) < 0)
		return errno == EEXIST ? 0 : -errno;
	return own(tree, dest, name);
}

static int copy_all(const struct tree *tree, int dir, int dest);

static int copy_one(const struct tree *tree, int dir, const char *name, int dest)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int sub = -1, sub_dest = -1;
	struct stat st;
	int r = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return copy_link(tree, dir, name, dest);
	if (!S_ISDIR(st.st_mode))
		return copy_file(tree, dir, name, dest, st.st_mode & 0777);
	if (mkdirat(dest, name, st.st_mode & 01777) == 0)
		r = own(tree, dest, name);
	else if (errno != EEXIST)
		return -errno;
	sub = openat(dir, name, flags);
	sub_dest = openat(dest, name, flags);
	if (r < 0)
		return r;
	return sub < 0 || sub_dest < 0 ? -errno : copy_all(tree, sub, sub_dest);
}

static int copy_all(const struct tree *tree, int dir, int dest)
{
	_cleanup_dir_ DIR *list = os_dir_open(dir, ".");
	int r = list ? 0 : -errno;

	for (struct dirent *entry; r == 0 && (entry = os_dir_next(list));)
		r = copy_one(tree, dir, entry->d_name, dest);
	return r;
}

int tree_copy_to(const struct tree *tree, const char *from, const char *to, struct err *err)
{
	_cleanup_close_ int dir = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int dest = -1;
	int r;

	if (dir < 0)
		return errno == ENOENT ? 0 : err_errno(err, errno, "reading '%s'", from);
	dest = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dest < 0)
		return err_errno(err, errno, "opening '%s'", to);
	r = copy_all(tree, dir, dest);
	return r < 0 ? err_errno(err, -r, "copying '%s' to '%s'", from, to) : 0;
}
