/* SPDX-License-Identifier: MIT */
/*
 * connect(2) in the sandbox's place, so that of the host's UNIX sockets only those that are allowed
 * can be reached.
 *
 * A read-only view does not keep anybody from connecting to a socket in it, and whoever lets a
 * judged call go on lets the caller swap the address, the descriptor or a link meanwhile. So the
 * supervisor takes the socket itself (pidfd_getfd), copies the address once, finds the file it means
 * in the sandbox's view, and connects to that very file. The other families are connected the same
 * way, because a filter cannot tell one socket from another by its number.
 *
 * A path may be connected to when
 *	- it lies in the sandbox's own memory (TMPDIR, /dev/shm), or the sandbox bound it; or
 *	- 'allowed' covers it, and the same file stands there on the host.
 * Abstract names are the network namespace's own. Datagram sockets name a peer in every message, so
 * something else stands in for them (guard/datagram.h); a pair of them is a pair of SOCK_SEQPACKET.
 */
#pragma once

#include <sys/stat.h>

#include "base/arena.h"
#include "guard/notify.h"
#include "os/linux/seccomp.h"

struct bound;
struct datagrams;
struct pending_connect;

struct connect_hooks {
	/* What was refused; path is NULL for a datagram socket of a 32-bit program. It is hostile. */
	void (*denied)(void *ctx, pid_t pid, const char *call, const char *path);
	/* The sandbox itself bound the socket at this file. NULL: no broker knows. */
	bool (*bound)(void *ctx, int file);
	void *ctx;
};

struct connect_guard {
	struct loop *loop; /* NULL: not started */
	struct notify *notify;
	const struct strv *allowed; /* absolute and resolved; each covers what lies below it */
	struct connect_hooks hooks;
	int view;      /* the sandbox's own root */
	dev_t own_dev; /* of its private files; 0: not looked at yet */
	struct loop_source timer;
	struct pending_connect *pending;
	size_t n_pending;
	struct datagrams *datagrams; /* NULL: none was made */
	struct bound *bound;         /* NULL: nothing was, or the broker knows */
};

/* view stays the caller's. */
int connect_guard_start(struct connect_guard *guard, struct loop *loop, struct notify *notify,
			const struct strv *allowed, int view, const struct connect_hooks *hooks,
			struct err *err);
/* A notify_fn for the calls of seccomp_notify_connect. */
int connect_guard_call(void *guard, const struct seccomp_notif *call);
void connect_guard_stop(struct connect_guard *guard);
/* The sandbox bound the socket at this file, which is taken over: one that the hook above does not know again. */
void unix_hold(struct connect_guard *guard, int file, const struct stat *st);
