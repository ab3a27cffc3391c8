/* SPDX-License-Identifier: MIT */
/*
 * The process that hangs in a notified system call, as the supervisor gets at it. All of it is
 * hostile and may change at any moment: memory is copied once, a descriptor is taken once, and what
 * was judged is what is used. The pid may be another's by now, so notify_is_valid() comes after the
 * copies and before anything is done for it.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "guard/notify.h"

/* A pidfd of the thread, or of its process where the kernel knows none of threads; or -errno. */
int caller_open(const struct seccomp_notif *call);
/* A duplicate of the caller's descriptor; -EBADF when it has none of that number. */
int caller_get_fd(int pidfd, int fd);
/* Copies len bytes of its memory: 0, or -EFAULT. */
int caller_read(const struct seccomp_notif *call, uint64_t address, void *buf, size_t len);
int caller_write(const struct seccomp_notif *call, uint64_t address, const void *buf, size_t len);
/* How /proc/PID/NAME of its begins, with a NUL: 0, or -errno. */
int caller_read_proc(const struct seccomp_notif *call, const char *name, char *buf, size_t size);
/* The number behind a key of /proc/PID/status, "\nUmask:"; false where it is not in this part of it. */
bool caller_status_number(const char *status, const char *key, int base, uint64_t *ret);
/* A string as system calls take paths: its length, -EFAULT, or -ENAMETOOLONG without an end. */
int caller_read_path(const struct seccomp_notif *call, uint64_t address, char buf[PATH_MAX]);
/* Two at once, where both end within their first bytes: the length of the first, or -EAGAIN. */
enum { CALLER_PIECE = 256 };
int caller_read_paths(const struct seccomp_notif *call, const uint64_t address[2],
		      char first[CALLER_PIECE], char second[CALLER_PIECE]);
/* An O_PATH descriptor of its root or working directory ("root", "cwd"), or -errno. */
int caller_open_dir(const struct seccomp_notif *call, const char *which);
/* A signal waits that a handler of its is to take: the kernel would break off the call. */
bool caller_is_interrupted(const struct seccomp_notif *call);
/* Where it cannot be told, one that gives nobody else anything. */
mode_t caller_umask(const struct seccomp_notif *call);
