/* SPDX-License-Identifier: MIT */
/*
 * A running sandbox as its supervisor sees it, whichever engine made it. An engine starts the command
 * and fills this in; supervise() keeps it until the end:
 *
 *	supervise.c	the loop: signals go in, stops and the end come out
 *	terminal.c	the bytes of the terminal
 *	guests.c	what Linux needs besides:
 *	network.c	the network, its ports and rules
 *	guards.c	system calls that the supervisor answers
 *	keys.c		the ssh-agent of a deploy key
 *	relays.c	ports of brokered credentials
 *	rules_door.c	rules of the network that the user changes
 *	tally.c, headcount.c, room.c	who runs into a limit; suspects.c finds out who that is
 */
#pragma once

#include <signal.h>

#include "engine/engine.h"
#include "keys/protocol.h"
#include "net/ports.h"
#include "net/uplink.h"
#include "plan/plan.h"

struct broker;
struct lender;
struct loop;
struct network;
struct gate;
struct guards;
struct sandbox;

/* A tree that is held, to write in. */
struct held_tree {
	const struct op *op;
	int fd;
};
enum { TREES_MAX = 32 };

/* What PID 1 of a sandbox tells its supervisor. */
enum said_type { SAID_NOTHING, SAID_STOPPED, SAID_CONTINUED, SAID_EXITED };

struct said {
	enum said_type type;
	int value; /* the stop signal, the command's wait status */
	bool last; /* the command ended, and nobody else is left inside */
};

/* What the supervisor keeps besides the command. */
struct sandbox_guests {
	int (*start)(struct sandbox *sandbox, struct loop *loop, void **ret, struct err *err);
	void (*started)(void *guests);           /* the command runs; may be NULL */
	void (*ended)(void *guests, int status); /* it has ended, as wait() has it; may be NULL */
	int (*set_rules)(void *guests, const struct engine_rules *rules, struct err *err);
	void (*stop)(void *guests);
	/* What of the sandbox's was made for them before they started; may be NULL. */
	void (*release)(struct sandbox *sandbox);
};
extern const struct sandbox_guests linux_guests; /* engine/guests.c */

/* How the engine speaks with PID 1. */
struct sandbox_link {
	/* The next thing that it said: 0, or negative when there is none. */
	int (*hear)(struct sandbox *sandbox, struct said *ret);
	/* A signal for the command. */
	void (*deliver)(struct sandbox *sandbox, int signal_no);
	/* What there is to know of the sandbox's end is known; NULL: it does not wait for that. */
	void (*let_go)(struct sandbox *sandbox);
	/* The process behind 'pidfd' is dead, or is to die: waits for it. ret_status: what the command's
	 * status is when PID 1 said none. */
	int (*reap)(struct sandbox *sandbox, int *ret_status, struct err *err);
	/* Guests of the engine's own, for as long as the loop runs; either may be NULL. */
	int (*start)(struct sandbox *sandbox, struct loop *loop, struct network *network,
		     struct err *err);
	void (*stop)(struct sandbox *sandbox);
	/* Ends it at once; NULL: by killing the process behind 'pidfd'. */
	void (*kill)(struct sandbox *sandbox);
	const struct sandbox_guests *guests;
};

struct sandbox {
	const struct plan *plan;
	const struct engine_hooks *hooks;
	const struct sandbox_link *link;
	pid_t pid;   /* of what lives as long as the sandbox does, on the host */
	pid_t first; /* its first process, on the host; 0: not known */
	bool leaves; /* to end by itself once it is alone; somebody waits for it later */
	int pidfd;
	int control;    /* readable when PID 1 has said something */
	int pty_master; /* -1: none */
	int netns;      /* for the lazy network and ports; -1: none */
	int listener;   /* of the guards; -1: none */
	int view;       /* the sandbox's root, for those that resolve paths in it; -1: none */
	int mntns;      /* for what is mounted while it runs; -1: none */
	int gate_store; /* the gate's directory, as it is in there; -1: none */
	int agent;      /* the listening socket of the ssh-agent; -1: none */
	int door;       /* the listening socket for 'exec' inside; -1: none */
	int outlet;     /* the listening socket that is a machine's whole network; -1: none */
	struct keyring keys;
	struct broker *broker; /* NULL: none */
	struct guards *guards; /* while they answer; NULL */
	struct gate *gate;     /* the broker's; NULL: none */
	struct held_tree trees[TREES_MAX];
	size_t n_trees;
	const struct gate_place *carried; /* the session's */
	size_t n_carried;
	int gate_meta; /* where the gate writes its list down; borrowed */
	const struct engine_private *private;
	size_t n_private;
	const char *turn; /* the session's */
	struct ports ports;
	/* From here on the native engine's. */
	int status; /* the pipe that a struct err comes from */
	struct lender *lender;
	struct cgroup cgroup;
	enum cgroup_kind limits_by;
	struct uplink uplink; /* attached before the start */
};

/* For fields that are descriptors: none of them is there. */
#define SANDBOX_NONE                                                                             \
	.pidfd = -1, .control = -1, .status = -1, .pty_master = -1, .netns = -1, .listener = -1, \
	.agent = -1, .door = -1, .outlet = -1, .view = -1, .mntns = -1, .gate_store = -1,        \
	.ports = PORTS_NONE

/* Tells whoever listens that a comfort was lost, or what happened. */
void sandbox_warn(const struct sandbox *sandbox, const struct err *err);
void sandbox_tell(const struct sandbox *sandbox, enum engine_event event, int value);
/* ... or what was refused (engine_hooks.on_denied), or came to pass on the network: a net_event_fn of the sandbox. */
void sandbox_tell_denied(const struct sandbox *sandbox, const struct denial *denial, pid_t pid);
void sandbox_tell_network(void *sandbox, const struct net_event *event);

/* Closes the descriptors, and ends the keys and ports; the process is the engine's to end first. */
void sandbox_release(struct sandbox *sandbox);

/* The signals that supervise() takes; blocked from before the start, so that none is lost. */
void supervised_signals(sigset_t *ret);

/* Runs the loop until the sandbox is dead; ret_status is the command's wait status. */
int supervise(struct sandbox *sandbox, int *ret_status, struct err *err);
