/* SPDX-License-Identifier: MIT */
/* What every user of sockets needs once. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Of a connect() that went on without us, once the socket is writable: 0 or a positive errno. */
int os_connect_result(int fd);
/* Closes it so that the peer sees a connection reset. */
void os_socket_reset(int fd);
/* SO_LINGER with zero seconds: a close, ours or the kernel's at our death, is a reset. */
void os_socket_linger(int fd, bool reset);
/* Who is at the other end of a UNIX socket: false when nobody can say. ret_pid may be NULL. */
bool os_peer(int fd, uid_t *ret_uid, pid_t *ret_pid);
/* It can be made to speak with others than its peer, or has none. False for what is no socket. Its family: ret_family. */
bool os_socket_roams(int fd, int *ret_family);
/* Two ends that keep messages apart and notice the end of the other; close-on-exec. 0, or -1 with errno. */
int os_message_pair(int fds[2]);
/* Connects to the socket at path; reads and writes then fail after so many milliseconds. A descriptor, or
 * -1 whatever the reason. */
int os_connect_unix(const char *path, unsigned patience_ms);
/* The errors of a lack of descriptors or memory, which passes. */
bool os_is_exhausted(int code);
