/* SPDX-License-Identifier: MIT */
/*
 * The merged root of an image, made once. A child does the unpacking, with Landlock between it and
 * everything but the directory it fills; it is renamed into place when it is whole, so that a kill
 * leaves a directory that nobody uses and gc removes.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/str.h"
#include "image/interrupt.h"
#include "image/unpack.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/landlock.h"
#include "os/proc.h"

#define ROOTS "roots"

enum { LOOK_MS = 100 };

static int unpack_layers(struct store *store, const struct oci_image *image, int root,
			 struct err *err)
{
	struct unpack_limits left = UNPACK_LIMITS;
	int r = 0;

	for (size_t i = 0; r == 0 && i < image->n_layers; i++) {
		const struct blob_ref *blob = &image->layers[i].blob;
		_cleanup_close_ int fd = -1;

		r = blob_verify(store->blobs, blob, err);
		fd = r < 0 ? r : blob_open(store->blobs, blob, err);
		r = fd < 0 ? fd : unpack_layer(root, fd, &left, err);
		if (r < 0)
			err_wrap(err, "layer %zu", i + 1);
	}
	return r;
}

/* In the child: whatever a layer makes libarchive do, it can write here and nowhere else. */
static int confine(const char *path, struct err *err)
{
	const struct landlock_rule rules[] = { { path, LANDLOCK_WRITE } };
	int abi = landlock_abi();

	if (os_no_new_privileges() < 0)
		return err_errno(err, errno, "no_new_privs");
	return landlock_handles_files(abi) ? landlock_restrict(abi, rules, ARRAY_LEN(rules), err)
					   : 0;
}

_Noreturn static void child_main(struct store *store, const struct oci_image *image,
				 const char *path, int status, pid_t parent)
{
	struct err err = { 0 };
	int root, r;

	os_die_with_parent(SIGKILL);
	if (getppid() != parent)
		_exit(1);
	root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = root < 0 ? err_errno(&err, errno, "opening '%s'", path) : confine(path, &err);

	if (r == 0)
		r = unpack_layers(store, image, root, &err);
	/* The parent is gone when this fails; there is nobody to tell. */
	if (r < 0)
		(void)os_write_all(status, &err, sizeof(err));
	_exit(r < 0);
}

/* What it has made is removed when a signal waits: it need not end kindly. */
static void await_child(pid_t pid, int status)
{
	struct pollfd fd = { .fd = status, .events = POLLIN };

	while (poll(&fd, 1, LOOK_MS) <= 0)
		if (interrupt_waits())
			kill(pid, SIGKILL);
}

static int unpack_in_child(struct store *store, const struct oci_image *image, const char *path,
			   struct err *err)
{
	struct err reported;
	int status[2], result;
	pid_t pid, self = getpid();
	ssize_t n;

	if (pipe2(status, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	pid = fork();
	if (pid == 0)
		child_main(store, image, path, status[1], self);
	close(status[1]);
	if (pid > 0)
		await_child(pid, status[0]);
	n = pid < 0 ? -1 : read(status[0], &reported, sizeof(reported));
	close(status[0]);
	if (pid < 0)
		return err_errno(err, errno, "fork");
	result = os_await(pid);
	if (interrupt_check(err) < 0)
		return -err->code;
	if (n == sizeof(reported)) {
		*err = reported;
		return -err->code;
	}
	return result ? err_set(err, EIO, "the unpacking process ended unexpectedly") : 0;
}

/* It may take as long as somebody else's unpacking. Nothing of ours is half-made, and a signal may strike. */
static int await_lock(int fd, int how)
{
	int r;

	interrupt_release();
	do {
		r = flock(fd, how);
	} while (r < 0 && errno == EINTR);
	interrupt_hold();
	return r;
}

/* A root of ours and what belongs to it: "DIGEST", "DIGEST.lock" and "DIGEST.env". */
static int lock_root(int roots, const char *digest, int how, struct err *err)
{
	char name[DIGEST_HEX + 8];
	int fd;

	snprintf(name, sizeof(name), "%s.lock", digest);
	fd = openat(roots, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", name);
	if (await_lock(fd, how) < 0) {
		err_errno(err, errno, "locking '%s'", name);
		close(fd);
		return -err->code;
	}
	return fd;
}

static int make_root(struct store *store, const struct oci_image *image, int roots, const char *dir,
		     struct err *err)
{
	char temporary[64], path[4096];
	int r;

	snprintf(temporary, sizeof(temporary), ".new-%.16s-%d", image->manifest.digest, getpid());
	snprintf(path, sizeof(path), "%s/%s", dir, temporary);
	os_remove_tree(roots, temporary);
	if (mkdirat(roots, temporary, 0755) < 0)
		return err_errno(err, errno, "making '%s'", path);
	r = unpack_in_child(store, image, path, err);
	if (r == 0 && renameat(roots, temporary, roots, image->manifest.digest) < 0)
		r = err_errno(err, errno, "keeping '%s'", path);
	if (r < 0)
		os_remove_tree(roots, temporary);
	return r;
}

/* The image's variables, for who starts from it: "DIGEST.env", "NAME=VALUE" with a NUL after each. */
static int write_env(const struct oci_image *image, int roots, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	char name[DIGEST_HEX + 8];

	snprintf(name, sizeof(name), "%s.env", image->manifest.digest);
	if (faccessat(roots, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	for (size_t i = 0; i < image->env.len; i++)
		str_addn(&out, image->env.v[i], strlen(image->env.v[i]) + 1);
	return os_write_file_atomic(roots, name, out.s ? out.s : "", out.len, 0644, err);
}

int unpack_image(struct store *store, const struct oci_image *image, struct arena *arena,
		 char **ret_path, struct err *err)
{
	char link[32];
	char *dir;
	_cleanup_close_ int roots = -1;
	int lock;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", store->dir);
	dir = os_realpath(arena, link);
	if (mkdirat(store->dir, ROOTS, 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "making '%s'", ROOTS);
	roots = openat(store->dir, ROOTS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (roots < 0 || !dir)
		return err_errno(err, errno, "opening '%s'", ROOTS);
	dir = arena_printf(arena, "%s/" ROOTS, dir);
	lock = lock_root(roots, image->manifest.digest, LOCK_SH, err);
	if (lock < 0)
		return lock;
	*ret_path = arena_printf(arena, "%s/%s", dir, image->manifest.digest);
	if (write_env(image, roots, err) < 0) {
		close(lock);
		return -err->code;
	}
	if (faccessat(roots, image->manifest.digest, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return lock;
	/* Whoever comes second waits, and then finds it made. */
	(void)await_lock(lock, LOCK_EX);
	if (faccessat(roots, image->manifest.digest, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    make_root(store, image, roots, dir, err) < 0) {
		close(lock);
		return -err->code;
	}
	flock(lock, LOCK_SH);
	return lock;
}

static int link_name(struct store *store, const char *name, const char *digest, struct err *err)
{
	_cleanup_close_ int names = -1;
	char temporary[64], target[DIGEST_HEX + 16];

	if (mkdirat(store->dir, "names", 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "making 'names'");
	names = openat(store->dir, "names", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(temporary, sizeof(temporary), ".new-%d", getpid());
	snprintf(target, sizeof(target), "../" ROOTS "/%s", digest);
	unlinkat(names, temporary, 0);
	if (names < 0 || symlinkat(target, names, temporary) < 0 ||
	    renameat(names, temporary, names, name) < 0)
		return err_errno(err, errno, "naming the unpacked image '%s'", name);
	return 0;
}

int unpack_named(struct store *store, const struct oci_image *image, const char *name,
		 struct arena *arena, char **ret_path, struct err *err)
{
	int lock = unpack_image(store, image, arena, ret_path, err);
	int r = lock < 0 ? lock : link_name(store, name, image->manifest.digest, err);

	if (lock >= 0)
		close(lock);
	return r;
}

static bool is_wanted(const struct oci_index *index, const char *name)
{
	for (size_t i = 0; i < index->n; i++)
		if (!strcmp(index->names[i].manifest.digest, name))
			return true;
	return false;
}

/* What killed sessions left of their changes: they had it locked. */
static void sweep_changes(struct store *store)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(store->dir, "changes", flags);
	_cleanup_dir_ DIR *list = os_dir_take(fd);

	for (struct dirent *entry; (entry = os_dir_next(list));) {
		_cleanup_close_ int dir = -1;

		if (entry->d_name[0] == '.')
			continue;
		dir = openat(fd, entry->d_name, flags);
		if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
			os_remove_tree(fd, entry->d_name);
	}
}

int unpack_gc(struct store *store, const struct oci_index *index, struct err *err)
{
	_cleanup_dir_ DIR *list = os_dir_open(store->dir, ROOTS);

	for (struct dirent *entry; (entry = os_dir_next(list));) {
		char name[DIGEST_HEX] = "", held[DIGEST_HEX + 8];
		_cleanup_close_ int lock = -1;

		if (strlen(entry->d_name) != DIGEST_HEX - 1 || is_wanted(index, entry->d_name))
			continue;
		memcpy(name, entry->d_name, DIGEST_HEX);
		lock = lock_root(dirfd(list), name, LOCK_EX | LOCK_NB, err);
		if (lock < 0)
			continue; /* a session has it */
		os_remove_tree(dirfd(list), name);
		snprintf(held, sizeof(held), "%s.env", name);
		unlinkat(dirfd(list), held, 0);
		snprintf(held, sizeof(held), "%s.lock", name);
		unlinkat(dirfd(list), held, 0);
	}
	sweep_changes(store);
	return 0;
}
