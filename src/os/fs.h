/* SPDX-License-Identifier: MIT */
/* Files and directories by descriptor. */
#pragma once

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* How far a path may lead; the kernel's numbers. */
#define RESOLVE_NO_XDEV 0x01
#define RESOLVE_NO_MAGICLINKS 0x02
#define RESOLVE_NO_SYMLINKS 0x04
#define RESOLVE_BENEATH 0x08
#define RESOLVE_IN_ROOT 0x10

/* Both are of one file. */
static inline bool os_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Something has that name; where it leads is not asked. */
bool os_exists_at(int dir_fd, const char *name);
/* Both descriptors are. */
bool os_same_open(int a, int b);

/* Who has locked it with fcntl(), 0 for nobody. */
pid_t os_lock_holder(int fd);

/* open with a resolution rule; returns the descriptor or -errno. */
int os_openat2(int dir_fd, const char *path, int flags, mode_t mode, uint64_t resolve);

/* A file can be renamed from one directory to the other: nothing is moved from one mount to another, be they of one file
 * system. Linux before 5.8 does not tell them apart. */
bool os_same_mount(int a, int b);

/* A directory, where a canonical path leads by no link: nobody has put one there since. -1 and errno. */
int os_open_plain(const char *path);

/* A file of settings, to read: its descriptor, or -errno. */
int os_open_settings(const char *path, int flags);
/* From here on these are opened by 'fn', or by ourselves again (NULL): whose rules are to count for what we read. */
typedef int os_open_fn(void *ctx, const char *path, int flags);
void os_open_settings_by(os_open_fn *fn, void *ctx);

/* Reads a regular file of at most max bytes; *ret is NUL-terminated and malloc'ed. -EFBIG when longer. */
int os_read_fd(int fd, size_t max, char **ret, size_t *ret_len);
int os_read_file_at(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_len);

/* As much as there is, up to len: the bytes, fewer only at the end, or -errno. */
ssize_t os_read_full(int fd, void *data, size_t len);

/* How a small file of the kernel's begins: at most size - 1 bytes in one read, and a NUL. The bytes, or
 * -errno. */
ssize_t os_read_start_at(int dir_fd, const char *path, char *buf, size_t size);

/* All of it, through short writes and EINTR. */
int os_write_all(int fd, const void *data, size_t len);

/* A file that is not there yet, in dir_fd: 0 or -errno. */
int os_write_new(int dir_fd, const char *name, const void *data, size_t len, mode_t mode);

/* A file without a name that holds these bytes, to be read from their beginning; -1 and errno. */
int os_memory_file(const char *what, const void *data, size_t len);

/*
 * Writes name in dir_fd by way of a temporary file and fsync: old or new, never half, at whatever point we
 * are killed. At most '.NAME.new' is left then, whole, until the next time.
 */
int os_write_file_atomic(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
			 struct err *err);

/* The same without waiting for the disk: for what nobody needs when the machine has crashed. */
int os_write_file_soon(int dir_fd, const char *name, const void *data, size_t len, mode_t mode,
		       struct err *err);

/* Removes what of these was not whole yet, in a directory where nobody writes now. */
void os_sweep_unfinished(int dir_fd);

/* mkdir -p. */
int os_mkdirs(const char *path, mode_t mode, struct err *err);

/* Renames to where nothing is: -EEXIST. Killed in between, a file may have both names where a file system is of the poorer kind. */
int os_move_new(int from_dir, const char *from, int to_dir, const char *to);

/* rm -r of name in dir_fd: never follows a link, never leaves the file system. Absent is fine. */
int os_remove_tree(int dir_fd, const char *name);

/* A directory that is ours, and that nobody else writes in; no link. */
bool os_is_own_dir(const char *path);

/* What an open file is called now, as the kernel has it: the length, or -errno. */
int os_fd_name(int fd, char buf[PATH_MAX]);

/* The canonical absolute path, in the arena; NULL and errno where there is none. */
char *os_realpath(struct arena *arena, const char *path);
/* The working directory; NULL with an error that says what to do. */
char *os_here(struct arena *arena, struct err *err);

/* The directory of a file that the user names, to write it there; O_PATH. A name below the working directory leads out of
 * it by no link, as whoever writes there may have made that one; nor any by a link that comes meanwhile. -errno. */
int os_open_given(const char *path);
