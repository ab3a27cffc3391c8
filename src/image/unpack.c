/* SPDX-License-Identifier: MIT */
/*
 * One layer onto a root. The archive is gone through twice: first for its whiteouts, which speak of
 * the layers below and never of this one, then for everything else. A parent is always opened anew
 * from the root, resolved inside of it (RESOLVE_IN_ROOT), so that a link that an earlier entry planted
 * leads at worst to another place of the same root.
 */
#include "image/unpack.h"

#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "image/foreign_tar.h"
#include "image/names.h"
#include "base/util.h"
#include "os/dir.h"
#include "os/fs.h"

#define WHITEOUT ".wh."
#define OPAQUE ".wh..wh..opq"

bool unpack_fits(struct archive_entry *entry, uint64_t *left)
{
	la_int64_t size = archive_entry_hardlink(entry) ? 0 : archive_entry_size(entry);

	if (size < 0 || (uint64_t)size > *left)
		return false;
	*left -= (uint64_t)size;
	return true;
}

int unpack_too_big(struct err *err)
{
	return err_set(err, EDQUOT, "the image is too big when it is unpacked");
}

struct unpack {
	int root;
	struct foreign_tar tar;
	struct unpack_limits *left;
};

static int open_beneath(int root, const char *path)
{
	return os_openat2(root, *path ? path : ".", O_PATH | O_DIRECTORY, 0,
			  RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* Makes what is missing on the way. Returns the directory. */
static int make_dirs(int root, const char *path)
{
	char prefix[NAME_SIZE];
	int fd = open_beneath(root, path), parent;

	if (fd != -ENOENT)
		return fd;
	parent = open_beneath(root, "");
	for (const char *end = path; parent >= 0 && *end;) {
		const char *name = end;

		end += strcspn(end, "/");
		snprintf(prefix, sizeof(prefix), "%.*s", (int)(end - path), path);
		fd = open_beneath(root, prefix);
		if (fd == -ENOENT) {
			char last[256];

			snprintf(last, sizeof(last), "%.*s", (int)(end - name), name);
			fd = mkdirat(parent, last, 0755) < 0 ? -errno : open_beneath(root, prefix);
		}
		close(parent);
		parent = fd;
		end += *end == '/';
	}
	return parent;
}

/* The directory that holds 'path'; *ret_name is the last component. */
static int open_parent(int root, const char *path, bool make, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[NAME_SIZE];

	*ret_name = slash ? slash + 1 : path;
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 0, path);
	return make ? make_dirs(root, dir) : open_beneath(root, dir);
}

/* --- whiteouts --- */

static void empty_dir(int root, const char *path)
{
	_cleanup_close_ int dir = open_beneath(root, path);
	_cleanup_dir_ DIR *list = os_dir_open(dir, ".");

	for (struct dirent *entry; (entry = os_dir_next(list));)
		os_remove_tree(dir, entry->d_name);
}

static int take_whiteout(struct unpack *unpack, const char *path, _unused_ struct archive_entry *e,
			 struct err *err)
{
	const char *name;
	_cleanup_close_ int dir = open_parent(unpack->root, path, false, &name);
	char below[NAME_SIZE];
	int r = 0;

	if (dir < 0 || strncmp(name, WHITEOUT, strlen(WHITEOUT)))
		return 0;
	if (!strcmp(name, OPAQUE)) {
		snprintf(below, sizeof(below), "%.*s", name > path ? (int)(name - path - 1) : 0,
			 path);
		empty_dir(unpack->root, below);
		return 0;
	}
	name += strlen(WHITEOUT);
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return err_set(err, EBADMSG, "the layer has a whiteout without a name");
	r = os_remove_tree(dir, name);
	return r < 0 ? err_errno(err, -r, "removing '%s'", path) : 0;
}

/* --- entries --- */

/* What stands there goes, but a directory that stays one. */
static int make_room(int dir, const char *name, bool for_dir)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (for_dir && S_ISDIR(st.st_mode))
		return 1;
	return os_remove_tree(dir, name);
}

static int make_dir(int dir, const char *name, mode_t mode)
{
	_cleanup_close_ int fd = -1;
	int r = make_room(dir, name, true);

	if (r == 0 && mkdirat(dir, name, 0700) < 0)
		return -errno;
	if (r < 0)
		return r;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Ours to change and to remove, whatever the image says. */
	return fd < 0 || fchmod(fd, (mode & 01777) | 0700) < 0 ? -errno : 0;
}

static int make_file(struct unpack *unpack, int dir, const char *name, mode_t mode)
{
	_cleanup_close_ int fd = openat(dir, name,
					O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	char buffer[65536];
	ssize_t n;
	int r = fd < 0 ? -errno : 0;

	while (r == 0 && (n = foreign_tar_data(&unpack->tar, buffer, sizeof(buffer))) != 0) {
		if (n < 0)
			return (int)n;
		if ((uint64_t)n > unpack->left->bytes)
			return -EDQUOT;
		unpack->left->bytes -= (uint64_t)n;
		r = os_write_all(fd, buffer, (size_t)n);
	}
	return r == 0 && fchmod(fd, (mode & 0777) | 0400) < 0 ? -errno : r;
}

static int make_link(struct unpack *unpack, int dir, const char *name, const char *target)
{
	char clean[NAME_SIZE];
	const char *last;
	_cleanup_close_ int from = -1;
	struct stat st;

	if (!name_clean(target, clean) || !*clean)
		return -EBADMSG;
	from = open_parent(unpack->root, clean, false, &last);
	if (from < 0)
		return from;
	if (fstatat(from, last, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EBADMSG;
	return linkat(from, last, dir, name, 0) < 0 ? -errno : 0;
}

static int make_entry(struct unpack *unpack, int dir, const char *name, struct archive_entry *entry)
{
	const char *link = archive_entry_hardlink(entry);
	mode_t type = archive_entry_filetype(entry);
	int r;

	if (type == AE_IFDIR && !link)
		return make_dir(dir, name, archive_entry_mode(entry));
	if (!link && type != AE_IFREG && type != AE_IFLNK)
		return 0; /* devices, FIFOs, sockets: nothing for an ordinary user */
	r = make_room(dir, name, false);
	if (r < 0)
		return r;
	if (link)
		return make_link(unpack, dir, name, link);
	if (type == AE_IFLNK)
		return symlinkat(archive_entry_symlink(entry) ?: "", dir, name) < 0 ? -errno : 0;
	return make_file(unpack, dir, name, archive_entry_mode(entry));
}

static int take_entry(struct unpack *unpack, const char *path, struct archive_entry *entry,
		      struct err *err)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	_cleanup_close_ int dir = -1;
	int r;

	if (!strncmp(name, WHITEOUT, strlen(WHITEOUT)))
		return 0;
	unpack->left->entries--;
	dir = open_parent(unpack->root, path, true, &name);
	r = dir < 0 ? dir : make_entry(unpack, dir, name, entry);
	if (r == -EDQUOT)
		return unpack_too_big(err);
	return r < 0 ? err_errno(err, -r, "unpacking '%s'", path) : 0;
}

typedef int take_fn(struct unpack *unpack, const char *path, struct archive_entry *entry,
		    struct err *err);

/* Every entry counts, also where nothing is done with it. */
static int take_all(struct unpack *unpack, take_fn *take, struct err *err)
{
	uint64_t room = unpack->left->bytes, entries = unpack->left->entries;
	struct archive_entry *entry;
	char path[NAME_SIZE];
	int r;

	while ((r = foreign_tar_next(&unpack->tar, &entry, err)) > 0) {
		if (!entries--)
			return err_set(err, EDQUOT, "the image has too many files");
		if (!unpack_fits(entry, &room))
			return unpack_too_big(err);
		if (!name_clean(archive_entry_pathname(entry), path))
			return err_set(err, EBADMSG, "the layer has an entry that leaves its root");
		r = *path ? take(unpack, path, entry, err) : 0;
		if (r < 0)
			return r;
	}
	return r < 0 ? err_wrap(err, "reading a layer") : 0;
}

static int pass(int root, int blob, struct unpack_limits *left, take_fn *take, struct err *err)
{
	struct unpack unpack = { .root = root, .left = left };
	int r;

	if (lseek(blob, 0, SEEK_SET) < 0)
		return err_errno(err, errno, "reading a layer");
	r = foreign_tar_begin(&unpack.tar, FOREIGN_LAYER, blob, left->stream, err);
	if (r < 0)
		err_wrap(err, "reading a layer");
	else
		r = take_all(&unpack, take, err);
	left->stream -= MIN(left->stream, foreign_tar_used(&unpack.tar));
	foreign_tar_close(&unpack.tar);
	return r;
}

int unpack_layer(int root, int blob, struct unpack_limits *left, struct err *err)
{
	int r = pass(root, blob, left, take_whiteout, err);

	return r == 0 ? pass(root, blob, left, take_entry, err) : r;
}
