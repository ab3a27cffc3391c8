/* SPDX-License-Identifier: MIT */
/*
 * The builder's /nix, which outlives every builder: filled from the image the first time, and again when
 * the image is another one.
 *
 * First: everything is made under another name and renamed into place, so that a kill leaves nothing or
 * a whole store. Again: paths that are missing are copied beside the store and renamed into it one by
 * one, then the registration is put there for the start to take in (entry/builder.c), then what holds
 * the image's paths against gc, and the stamp last: a kill on the way means that it is all done again.
 * What was built stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "builder/machine.h"
#include "cow/copy.h"
#include "entry/builder.h"
#include "os/dir.h"
#include "os/fs.h"

#define STAMP ".wrapix-stamp"
#define FILLING ".wrapix-filling" /* in a store that is there */
#define GC_ROOTS "var/nix/gcroots"
#define OUR_ROOTS "wrapix-image"                   /* there */
#define IMAGE_REGISTRATION "nix-path-registration" /* at the top of an image */

static const int dir_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/* The image is a stranger's, and in a store that is there root of a builder has been: a link of theirs, which is for
 * inside, would lead us to the user's own files. */
#define INSIDE (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)

struct fill {
	int image;  /* the image's /nix/store; -1: it has none */
	int top;    /* the image's root; -1: there is none */
	int nix;    /* what becomes /nix, or is */
	int store;  /* its store */
	int beside; /* where paths are copied before they are renamed */
	int roots;  /* what gc keeps for us */
};

/* Calls fn for each name in the image's store. */
static int each_path(const struct fill *fill,
		     int (*fn)(const struct fill *fill, const char *name, struct err *err),
		     struct err *err)
{
	_cleanup_dir_ DIR *list = os_dir_open(fill->image, ".");
	struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = os_dir_next(list)))
		if (entry->d_name[0] != '.')
			r = fn(fill, entry->d_name, err);
	return r;
}

/* A directory is given another parent only by who may write in it. */
static int move_in(const struct fill *fill, const char *name, struct err *err)
{
	struct stat st;
	bool dir;

	if (fstatat(fill->beside, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "copying '%s'", name);
	dir = S_ISDIR(st.st_mode);
	if (dir && fchmodat(fill->beside, name, st.st_mode | 0200, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "copying '%s'", name);
	if (renameat(fill->beside, name, fill->store, name) < 0)
		return err_errno(err, errno, "adding '%s' to the store", name);
	if (dir && fchmodat(fill->store, name, st.st_mode & 07777, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, errno, "closing '%s'", name);
	return 0;
}

static int add_path(const struct fill *fill, const char *name, struct err *err)
{
	struct stat st;

	if (fstatat(fill->store, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (copy_tree(fill->image, name, fill->beside, name, err) < 0)
		return -err->code;
	return move_in(fill, name, err);
}

/* So that gc keeps what the builder itself is made of. */
static int hold_path(const struct fill *fill, const char *name, struct err *err)
{
	char target[512];

	snprintf(target, sizeof(target), "/nix/store/%.400s", name);
	if (symlinkat(target, fill->roots, name) < 0)
		return err_errno(err, errno, "holding '%s'", name);
	return 0;
}

static int open_inside(int at, const char *path, struct err *err)
{
	int fd = os_openat2(at, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, INSIDE);

	if (fd == -ELOOP)
		return err_set(err, ELOOP, "'%s' leads through a link", path);
	return fd < 0 && fd != -ENOENT ? err_errno(err, -fd, "opening '%s'", path) : fd;
}

static int make_dirs(struct fill *fill, struct err *err)
{
	static const char *const names[] = { "store", "var", "var/nix", GC_ROOTS };
	_cleanup_close_ int roots = -1;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_close_ int made = -1;

		if (mkdirat(fill->nix, names[i], 0755) < 0 && errno != EEXIST)
			return err_errno(err, errno, "making '%s'", names[i]);
		made = open_inside(fill->nix, names[i], err);
		if (made < 0)
			return made;
	}
	roots = open_inside(fill->nix, GC_ROOTS, err);
	os_remove_tree(roots, OUR_ROOTS);
	if (mkdirat(roots, OUR_ROOTS, 0755) < 0)
		return err_errno(err, errno, "making '" GC_ROOTS "/" OUR_ROOTS "'");
	fill->roots = openat(roots, OUR_ROOTS, dir_flags);
	return fill->roots < 0 ? err_errno(err, errno, "opening '" OUR_ROOTS "'") : 0;
}

/* What the store's database must learn; one of a kill stays until it has been taken in. */
static int add_registration(const struct fill *fill, struct err *err)
{
	_cleanup_close_ int fd = fill->top < 0 ? -ENOENT
					       : open_inside(fill->top, IMAGE_REGISTRATION, err);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = os_read_fd(fd, 64 << 20, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading the image's '%s'", IMAGE_REGISTRATION);
	return os_write_file_atomic(fill->nix, path_name(BUILDER_REGISTRATION), text, len, 0644,
				    err);
}

static int do_fill(struct fill *fill, const char *stamp, struct err *err)
{
	int r;

	os_remove_tree(fill->nix, FILLING);
	r = make_dirs(fill, err);
	if (r == 0 && mkdirat(fill->nix, FILLING, 0700) < 0)
		r = err_errno(err, errno, "making a place for the image's paths");
	if (r < 0)
		return r;
	fill->store = openat(fill->nix, "store", dir_flags);
	fill->beside = openat(fill->nix, FILLING, dir_flags);
	if (fill->store < 0 || fill->beside < 0)
		return err_errno(err, errno, "opening the store");
	r = each_path(fill, add_path, err);
	if (r == 0)
		r = add_registration(fill, err);
	if (r == 0)
		r = each_path(fill, hold_path, err);
	if (r < 0)
		return r;
	open_up_tree(fill->beside);
	os_remove_tree(fill->nix, FILLING);
	if (syncfs(fill->nix) < 0)
		return err_errno(err, errno, "writing the store");
	return os_write_file_atomic(fill->nix, STAMP, stamp, strlen(stamp), 0644, err);
}

static bool has_stamp(int nix, const char *stamp)
{
	_cleanup_free_ char *text = NULL;

	return os_read_file_at(nix, STAMP, 4096, &text, NULL) == 0 && !strcmp(text, stamp);
}

/* The store under another name until it is whole. */
static int fill_new(struct builder *b, struct fill *fill, int data, const char *stamp,
		    struct err *err)
{
	const char *name = path_name(b->nix);
	char *fresh = arena_printf(&b->arena, "%s.new", name);
	_cleanup_close_ int left = openat(data, fresh, dir_flags);
	int r;

	if (left >= 0)
		open_up_tree(left);
	os_remove_tree(data, fresh);
	if (mkdirat(data, fresh, 0755) < 0)
		return err_errno(err, errno, "making '%s.new'", b->nix);
	fill->nix = openat(data, fresh, dir_flags);
	r = fill->nix < 0 ? err_errno(err, errno, "opening '%s.new'", b->nix)
			  : do_fill(fill, stamp, err);
	if (r == 0 && (renameat(data, fresh, data, name) < 0 || fsync(data) < 0))
		r = err_errno(err, errno, "making '%s'", b->nix);
	return r;
}

static int open_image(struct fill *fill, const char *dir, struct err *err)
{
	fill->top = open(dir, dir_flags);
	if (fill->top < 0)
		return err_errno(err, errno, "opening '%s'", dir);
	fill->image = open_inside(fill->top, "nix/store", err);
	return fill->image < 0 && fill->image != -ENOENT ? fill->image : 0;
}

static int fill_store(struct builder *b, struct fill *fill, int data, const char *stamp,
		      struct err *err)
{
	fill->nix = openat(data, path_name(b->nix), dir_flags);
	if (fill->nix < 0 && errno != ENOENT)
		return err_errno(err, errno, "opening '%s'", b->nix);
	if (fill->nix < 0)
		return fill_new(b, fill, data, stamp, err);
	return has_stamp(fill->nix, stamp) ? 0 : do_fill(fill, stamp, err);
}

int builder_fill_store(struct builder *builder, const struct builder_root *root, struct err *err)
{
	struct fill fill = { -1, -1, -1, -1, -1, -1 };
	_cleanup_close_ int data = -1;
	int r = os_mkdirs(builder->data, 0700, err);

	if (r < 0 || !root->stamp)
		return r;
	data = open(builder->data, dir_flags);
	if (data < 0)
		return err_errno(err, errno, "opening '%s'", builder->data);
	if (root->dir)
		r = open_image(&fill, root->dir, err);
	if (r == 0)
		r = fill_store(builder, &fill, data, root->stamp, err);
	for (size_t i = 0; i < sizeof(fill) / sizeof(int); i++)
		close_ptr(&((int *)&fill)[i]);
	return r < 0 ? err_wrap(err, "filling the builder's store") : 0;
}
