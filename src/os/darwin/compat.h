/* SPDX-License-Identifier: MIT */
/*
 * What the tree uses by name and the C library of macOS has not, or has otherwise. The build puts it before
 * every file there (-include). Only what means the same; everything else is behind a header of src/os.
 */
#pragma once

#include <crt_externs.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xlocale.h>

#define environ (*_NSGetEnviron()) /* no library may name it */

#define st_atim st_atimespec
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

/* A descriptor to stand on: here it needs the right to read. */
#define O_PATH O_RDONLY
#define HOST_NAME_MAX 255
/* No file without a name: to open a directory for writing fails, as it does where a file system has none. */
#define O_TMPFILE 0
#define EREMOTEIO EPROTO

/* Close-on-exec and nothing of SIGPIPE, set right after the call. */
#define SOCK_CLOEXEC 0x10000000
#define SOCK_NONBLOCK 0x20000000
#define MSG_NOSIGNAL 0
#define MSG_CMSG_CLOEXEC 0
int darwin_socket(int domain, int type, int protocol);
int darwin_socketpair(int domain, int type, int protocol, int fds[2]);
ssize_t darwin_recvmsg(int fd, struct msghdr *message, int flags);
#define socket(domain, type, protocol) darwin_socket(domain, type, protocol)
#define socketpair(domain, type, protocol, fds) darwin_socketpair(domain, type, protocol, fds)
#define recvmsg(fd, message, flags) darwin_recvmsg(fd, message, flags)
int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int pipe2(int fds[2], int flags);

#define MFD_CLOEXEC 1U
int memfd_create(const char *name, unsigned flags); /* a file without a name */

#define RENAME_NOREPLACE RENAME_EXCL
#define RENAME_EXCHANGE RENAME_SWAP
#define renameat2(from_dir, from, to_dir, to, flags) renameatx_np(from_dir, from, to_dir, to, flags)

#define CLOCK_REALTIME_COARSE CLOCK_REALTIME
/* Of root, who gives up all three. */
#define setresuid(real, effective, saved) setuid(real)
#define setresgid(real, effective, saved) setgid(real)
#define syncfs(fd) fcntl(fd, F_FULLFSYNC)

void *darwin_reallocarray(void *array, size_t n, size_t size);
#define reallocarray(array, n, size) darwin_reallocarray(array, n, size)
void *memrchr(const void *bytes, int c, size_t len);
#define explicit_bzero(bytes, len) ((void)memset_s(bytes, len, 0, len))
