/* SPDX-License-Identifier: MIT */
/*
 * What the supervisor and wrapix-init, PID 1 of a podman sandbox, have in common.
 *
 * The session's directory on the host (plan/plan.h: STAGE) has an 'init' that stands inside at
 * STAGE_INSIDE, read-only:
 *
 *	env	the environment, "NAME=VALUE" with a NUL after each: podman never sees it
 *	rules	Landlock's rules, a letter of the class and the path with a NUL after each
 *	tree	files, directories and links to make below '/'
 *	to	a FIFO from the supervisor: messages, and its end is the supervisor's
 *	from	a FIFO to the supervisor: messages
 *	say.N	in place of both for a virtual machine (machine.c): the supervisor's message number N
 *
 * wrapix-init says HELLO when it has read all of it. The supervisor then takes the names of the FIFOs
 * and of the environment away, so that nothing else inside can open them, enters the container's
 * network, makes writable what is to be (writable.c), and says GO. FIFOs, not sockets: they keep
 * their label under SELinux; a descriptor is taken out of wrapix-init with pidfd_getfd().
 */
#pragma once

#include "base/err.h"
#include "plan/podman.h"

enum stage_type {
	STAGE_HELLO,     /* init: all of it is read, the FIFOs are open */
	STAGE_GO,        /* supervisor: the terminal is of the size value (os/tty.h) */
	STAGE_LISTENER,  /* init: the supervisor may take descriptor value, then GO again */
	STAGE_STARTED,   /* init: the command runs */
	STAGE_FAILED,    /* init: it does not, and why */
	STAGE_SIGNAL,    /* supervisor: deliver value */
	STAGE_STOPPED,   /* init: the command was stopped by value */
	STAGE_CONTINUED, /* init: it goes on */
	STAGE_EXITED,    /* init: the command ended with wait status value */
};

#define STAGE_SAY "say.%u"

/* Written and read whole: it is smaller than what a pipe takes at once. */
struct stage_message {
	enum stage_type type;
	int value;
	struct err err; /* STAGE_FAILED */
};
_Static_assert(sizeof(struct stage_message) <= 4096, "a message is more than PIPE_BUF");

/* The letters of the classes in 'rules', in the order of enum landlock_class and access_class. */
#define STAGE_CLASSES "rwd"
