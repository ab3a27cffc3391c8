/* SPDX-License-Identifier: MIT */
/* The store of images: a shared layout, its locks, and what may be thrown away. */
#include "image/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/str.h"
#include "image/unpack.h"
#include "os/dir.h"
#include "os/fs.h"

static int open_dir(int at, const char *path, struct err *err)
{
	int fd;

	if (mkdirat(at, path, 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "making '%s'", path);
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "opening '%s'", path) : fd;
}

static int open_lock(int dir, const char *name, int how, struct err *err)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", name);
	while (flock(fd, how) < 0) {
		if (errno == EINTR)
			continue;
		err_errno(err, errno, "locking '%s'", name);
		close(fd);
		return -err->code;
	}
	return fd;
}

int layout_open_other(struct store *store, const char *path, struct err *err)
{
	_cleanup_close_ int blobs = -1;
	int r = os_mkdirs(path, 0755, err);

	*store = (struct store)STORE_NONE;
	if (r < 0)
		return r;
	store->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->dir < 0)
		return err_errno(err, errno, "opening '%s'", path);
	blobs = open_dir(store->dir, "blobs", err);
	store->blobs = blobs < 0 ? blobs : open_dir(blobs, "sha256", err);
	if (store->blobs >= 0)
		return 0;
	layout_close(store);
	return err_wrap(err, "the images in '%s'", path);
}

int layout_open(struct store *store, const char *path, struct err *err)
{
	int r = layout_open_other(store, path, err);

	if (r < 0)
		return r;
	store->use = open_lock(store->dir, "use", LOCK_SH, err);
	if (store->use >= 0)
		return 0;
	layout_close(store);
	return err_wrap(err, "the images in '%s'", path);
}

int layout_open_foreign(struct store *store, const char *path, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

	*store = (struct store)STORE_NONE;
	store->dir = open(path, flags);
	store->blobs = store->dir < 0 ? -1 : openat(store->dir, "blobs/sha256", flags);
	if (store->blobs >= 0)
		return 0;
	err_errno(err, errno, "opening the OCI layout '%s'", path);
	layout_close(store);
	return -err->code;
}

void layout_close(struct store *store)
{
	for (size_t i = 0; i < 3; i++) {
		int fd = (int[]){ store->dir, store->blobs, store->use }[i];

		if (fd >= 0)
			close(fd);
	}
	*store = (struct store)STORE_NONE;
}

/* It led to the image that had the name before. */
static void forget_link(struct store *store, const char *name)
{
	char path[512];

	if (snprintf(path, sizeof(path), "names/%s", name) < (int)sizeof(path))
		unlinkat(store->dir, path, 0);
}

/* It is also a file's name, and a part of what engines call the image. */
static int check_name(const char *name, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	size_t len = strlen(name);

	if (len && len < 64 && name[0] != '.' && name[0] != '-' &&
	    len == strspn(name,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"))
		return 0;
	err_usage(err, "%s is no name for an image", str_quote(&shown, name));
	return err_hint(err, "--name takes letters, digits, '.', '_' and '-'");
}

int layout_name(struct store *store, const char *name, const struct blob_ref *manifest,
		struct err *err)
{
	int r = check_name(name, err);
	_cleanup_close_ int lock = r < 0 ? -1 : open_lock(store->dir, "lock", LOCK_EX, err);

	if (r < 0 || lock < 0)
		return r < 0 ? r : lock;
	return layout_put(store, name, manifest, err);
}

/* What we made of a stranger's may have become more than we read: whoever looks at all images would fail at it. */
static int check_image(struct store *store, const struct blob_ref *manifest, struct err *err)
{
	struct oci_image image = { .manifest = *manifest };
	int r = oci_read_image(store->blobs, &image, err);

	oci_image_release(&image);
	return r < 0 ? err_wrap(err, "what became of the image") : 0;
}

int layout_put(struct store *store, const char *name, const struct blob_ref *manifest,
	       struct err *err)
{
	struct oci_index index;
	int r = check_image(store, manifest, err);

	if (r == 0)
		r = oci_read_index(store->dir, &index, err);
	if (r < 0)
		return r;
	/* First: a link that is missing is said, one to the wrong image is not. */
	if (store->use >= 0)
		forget_link(store, name);
	oci_index_put(&index, name, manifest);
	r = oci_write_index(store->dir, &index, err);
	oci_index_release(&index);
	return r;
}

int layout_forget(struct store *store, const char *name, struct err *err)
{
	_cleanup_close_ int lock = open_lock(store->dir, "lock", LOCK_EX, err);
	struct oci_index index;
	size_t kept = 0;
	int r = lock < 0 ? lock : oci_read_index(store->dir, &index, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < index.n; i++)
		if (strcmp(index.names[i].name, name))
			index.names[kept++] = index.names[i];
	if (kept == index.n)
		r = err_usage(err, "there is no image '%s'", name);
	index.n = kept;
	if (r == 0)
		forget_link(store, name);
	if (r == 0)
		r = oci_write_index(store->dir, &index, err);
	oci_index_release(&index);
	return r;
}

/* --- throwing away --- */

struct keep {
	struct arena arena;
	char (*digests)[DIGEST_HEX];
	size_t n;
};

static void keep_one(struct keep *keep, const char *digest)
{
	memcpy(arena_grow(&keep->arena, &keep->digests, &keep->n, DIGEST_HEX), digest, DIGEST_HEX);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* An image that cannot be read keeps its manifest, and stops the whole: its layers are not known. */
static int keep_image(struct keep *keep, int blobs, const struct blob_ref *manifest,
		      struct err *err)
{
	struct oci_image image = { .manifest = *manifest };
	int r = oci_read_image(blobs, &image, err);

	keep_one(keep, manifest->digest);
	if (r == 0)
		keep_one(keep, image.config.digest);
	for (size_t i = 0; r == 0 && i < image.n_layers; i++)
		keep_one(keep, image.layers[i].blob.digest);
	oci_image_release(&image);
	return r;
}

static int keep_named(struct keep *keep, int blobs, const struct oci_name *name, struct err *err)
{
	if (keep_image(keep, blobs, &name->manifest, err) == 0)
		return 0;
	err_wrap(err, "the image '%s'", name->name);
	return err_hint(err, "'wrapix image remove %s' takes its name away; or build it again",
			name->name);
}

static int sweep(int blobs, const struct keep *keep, struct store_gc *ret, struct err *err)
{
	_cleanup_dir_ DIR *dir = os_dir_open(blobs, ".");

	if (!dir)
		return err_errno(err, errno, "reading the blobs");
	for (struct dirent *entry; (entry = os_dir_next(dir));) {
		char name[DIGEST_HEX] = "";
		struct stat st;

		if (strlen(entry->d_name) == DIGEST_HEX - 1)
			memcpy(name, entry->d_name, DIGEST_HEX);
		if (*name && keep->n && bsearch(name, keep->digests, keep->n, DIGEST_HEX, compare))
			continue;
		if (fstatat(blobs, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    unlinkat(blobs, entry->d_name, 0) == 0) {
			ret->blobs++;
			ret->bytes += (uint64_t)st.st_size;
		}
	}
	return 0;
}

static void sweep_kinds(int at, const char *name, const char *const *kinds)
{
	_cleanup_dir_ DIR *dir = os_dir_open(at, name);

	for (struct dirent *entry; dir && (entry = os_dir_next(dir));)
		for (const char *const *kind = kinds; *kind; kind++)
			if (str_starts(entry->d_name, *kind))
				os_remove_tree(dirfd(dir), entry->d_name);
}

/* What a killed build, or a killed writer of the index, left. Nobody writes now. */
static void sweep_scratch(struct store *store)
{
	static const char *const ours[] = { ".make-",       ".load-",       ".fetch-",
					    ".index.json.", ".oci-layout.", NULL };
	static const char *const fresh[] = { ".new-", NULL };

	sweep_kinds(store->dir, ".", ours);
	sweep_kinds(store->blobs, ".", fresh);
	sweep_kinds(store->dir, "roots", fresh);
	sweep_kinds(store->dir, "names", fresh);
}

int layout_tidy(struct store *store, struct err *err)
{
	if (flock(store->use, LOCK_EX | LOCK_NB) == 0)
		sweep_scratch(store);
	/* Who asks for it alone in vain has lost it as well. */
	while (flock(store->use, LOCK_SH) < 0)
		if (errno != EINTR)
			return err_errno(err, errno, "locking 'use'");
	return 0;
}

int layout_gc(struct store *store, struct store_gc *ret, struct err *err)
{
	_cleanup_close_ int lock = open_lock(store->dir, "lock", LOCK_EX, err);
	struct oci_index index;
	struct keep keep = { 0 };
	int r = lock < 0 ? lock : 0;

	*ret = (struct store_gc){ 0 };
	if (r == 0 && flock(store->use, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, EBUSY, "images are being made; try again when they are done");
	if (r == 0)
		r = oci_read_index(store->dir, &index, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < index.n; i++)
		r = keep_named(&keep, store->blobs, &index.names[i], err);
	if (keep.n)
		qsort(keep.digests, keep.n, DIGEST_HEX, compare);
	if (r == 0)
		r = sweep(store->blobs, &keep, ret, err);
	if (r == 0)
		r = unpack_gc(store, &index, err);
	if (r == 0)
		sweep_scratch(store);
	arena_release(&keep.arena);
	oci_index_release(&index);
	flock(store->use, LOCK_SH);
	return r;
}

int layout_verify(const struct store *store, const struct oci_image *image, struct err *err)
{
	int r = blob_verify(store->blobs, &image->manifest, err);

	if (r == 0)
		r = blob_verify(store->blobs, &image->config, err);
	for (size_t i = 0; r == 0 && i < image->n_layers; i++)
		r = blob_verify(store->blobs, &image->layers[i].blob, err);
	return r;
}
