/* SPDX-License-Identifier: MIT */
/*
 * Lending: how 'wrapix exec' works inside of 'wrapix run'.
 *
 * A command inside can make no sandbox of its own: its filter forbids namespaces, and a tree of
 * processes has one listener, which is ours. So the supervisor lends it a process that has no filter
 * and stands where the command stands:
 *
 *	exec inside          supervisor                    lent process
 *	-----------          ----------                    ------------
 *	connect to the door  wakes up; the network, first
 *	                     asks PID 1 for its namespaces
 *	                     fork: limits, then exec ----> joins them, and gives up every right
 *	the request  ------------------------------------> a server of commands (api/serve.h)
 *
 * From there on it is an exec like any other, with namespaces, a listener and a broker of its own, below
 * the outer sandbox's: its supervisor sees the outer one's files, network and limits, and no others.
 * So rules stack, and only tighten. The supervisor itself reads nothing of what is asked.
 *
 * Where the sandbox's files are changed by its supervisor (guard/broker.h), the same holds for what is
 * lent: once a command of its is started, the inner supervisor goes under a filter that asks, too, and
 * sends the listener. Then it changes files as any process inside does, by asking: the inner broker's
 * deed is the outer one's question. The command itself was started before, or it could have no listener.
 * Where the outer rules deny reading something by its name, the inner supervisor opens every file that
 * its command reads, whatever the inner rules say, and so asks about these, too. The settings come before the
 * command: a child goes under such a filter, opens them and hands them back (lent_open()).
 *
 * In an image every file is the sandbox's to change. Nothing of it may be loaded or run by who has no filter: the program
 * and its libraries are the host's, in memory before the root is another; the C library gets on without its
 * modules (os_pin_names()); and nothing is executed but commands, under their filters.
 *
 * One namespace is not joined: the processes are in a pid namespace beside the sandbox's. What has no
 * filter is thus nobody's to see inside, nor to trace, to signal or to take descriptors from. The
 * supervisor ends it; PDEATHSIG does when the supervisor is killed.
 *
 * What an attacker inside controls: how often it connects, and what it asks for.
 */
#pragma once

#include "engine/native/native.h"
#include "engine/network.h"
#include "os/loop.h"

enum { LENT_SPACES = 5 }; /* that PID 1 sends; the user namespace comes on top */

struct lender {
	struct loop *loop; /* NULL: there is no door */
	struct sandbox *sandbox;
	struct network *network;
	struct loop_source door;
	struct loop_source lent; /* its end is the lent process's; fd -1: there is none */
	bool ready;              /* it listens */
	unsigned n_started;
	struct asker *askers; /* those of its supervisors that ask for changes of files */
	pid_t pid;            /* its parent, which ends with it; 0: none */
	int spaces[LENT_SPACES + 1];
	size_t n_spaces;
};

/* The kinds in the order in which PID 1 sends them, from 1 on. */
enum { LENT_SPACE_NET = 5 };

#define LENDER_NONE                          \
	{                                    \
		.door.fd = -1, .lent.fd = -1 \
	}

/* A guest of the loop, where the plan has a door. Nothing is done until somebody knocks. */
int lender_start(struct lender *lender, struct loop *loop, struct sandbox *sandbox,
		 struct network *network, struct err *err);
/* A namespace of PID 1's came, or the last one has (kind 0). Takes the descriptor over. */
void lender_take(struct lender *lender, int kind, int fd);
void lender_stop(struct lender *lender);

/*
 * The other side: the program that the supervisor starts, under this name and with the number of its
 * namespaces as its word; other words say that commands may make namespaces, and that files are held.
 * Its descriptors are:
 */
#define LENT_NAME "wrapix-lent"
#define LENT_NESTED "nested"
#define LENT_IMAGE "image" /* its system is an image */
#define LENT_HELD "held"   /* files are changed by the supervisor alone */
#define LENT_READS "reads" /* and it decides what is read of them */
enum { LENT_LISTENER = 3, LENT_OWNER, LENT_FIRST_SPACE };

/* Joins the namespaces and returns as PID 1 of one that is its own, with no right left. 'image': the root is
 * one in which the sandbox may change every file. */
int lent_enter(int n_spaces, bool image, struct err *err);
/* From here on the calling process asks the sandbox's supervisor for every change of a file, and where
 * 'reads' is set for what it opens to read. */
int lent_ask(int owner, bool reads, struct err *err);
/* Opens a file as one who asks does, and needs not be one: an os_open_fn, whose context is the supervisor's
 * descriptor (an int). Not for who asks already; with lent_ask() it is no longer used. */
int lent_open(void *owner, const char *path, int flags);
/* Likewise mkdir -p. */
int lent_mkdirs(int owner, const char *path, mode_t mode, struct err *err);
/* To the supervisor, by its descriptor: ready (NULL), or why not. */
void lent_tell(int owner, const struct err *err);
