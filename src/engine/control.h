/* SPDX-License-Identifier: MIT */
/* The messages between the supervisor and PID 1: fixed size, over a SOCK_SEQPACKET pair. Nobody else has an end of it:
 * PID 1 lets nobody look into it, and what is executed inside gets none. */
#pragma once

#include "base/err.h"

enum control_type {
	CONTROL_MAPPED, /* child: the user namespace has its ids */
	CONTROL_NETNS,  /* child: the network namespace comes along */
	CONTROL_AGENT,  /* child: the listening socket of the ssh-agent comes along */
	CONTROL_DOOR,   /* child: the listening socket for 'exec' inside comes along */
	CONTROL_MNTNS,  /* child: the mount namespace comes along */
	CONTROL_GATE,   /* child: the gate's directory comes along */
	CONTROL_TREE, /* child: a tree that is held (OPF_HELD), to write in; value is the operation */
	CONTROL_VIEW,      /* child: the root directory as the command sees it comes along */
	CONTROL_PTY,       /* child: the master comes along */
	CONTROL_LISTENER,  /* command: the seccomp listener comes along */
	CONTROL_ORDER,     /* supervisor: what the root was made ahead for comes along (order.h) */
	CONTROL_IDS,       /* supervisor: the user namespace has its ids */
	CONTROL_GO,        /* supervisor: network and limits are in place */
	CONTROL_SIGNAL,    /* supervisor: deliver value to the command */
	CONTROL_STOPPED,   /* child: the command was stopped by value */
	CONTROL_CONTINUED, /* child: it goes on */
	CONTROL_EXITED,    /* child: the command ended with wait status value */
	CONTROL_EXITED_LAST, /* child: the same, and nobody else is left inside */
	CONTROL_LEAVE,       /* supervisor: PID 1 may end, where it waits for that */
	CONTROL_LEND,        /* supervisor: send the namespaces */
	CONTROL_SPACE,       /* child: one of them comes along; value 0: that was all */
	CONTROL_READY,       /* lent: it listens, or fails and says why in its own words */
	CONTROL_ASKS,        /* lent: the listener of one that changes files comes along */
	CONTROL_OPENED,      /* lent's child: the file that was asked for comes along, or -errno */
};

struct control {
	enum control_type type;
	int value;
};

enum { CONTROL_FDS_MAX = 72 };

int control_send(int fd, enum control_type type, int value, int pass_fd);

/* The command was stopped, or goes on: that is sent. False: it has ended. */
bool control_send_pause(int fd, int status);

/* 0, or -EPIPE when the other side is gone. ret_fd may be NULL; it is -1 when none came. */
int control_receive(int fd, struct control *ret, int *ret_fd);

/* The same with several. n_fds: how many there is room for; then how many came. */
int control_send_many(int fd, enum control_type type, int value, const int *fds, size_t n_fds);
int control_receive_many(int fd, struct control *ret, int *ret_fds, size_t *n_fds);
