/* SPDX-License-Identifier: MIT */
/*
 * A server of commands: 'wrapix exec --server', and the library's wrapix_server.
 *
 *	server                     workers                       clients
 *	------                     -------                       -------
 *	makes the socket
 *	forks spare workers -----> begin a sandbox
 *	                           wait in poll()    <---------- connect
 *	forks another one   <----- "taken"
 *	                           read the line, and become the <--- {"argv": ...} + descriptors
 *	                           supervisor of one command   ---> {"type":"deny", ...}
 *	reaps               <----- end                         ---> {"type":"exit", ...}
 *
 * A worker is a copy of a process that is loaded, linked and warm, and does what 'wrapix exec' does:
 * the same code, one supervisor a command, so commands share nothing but the program. It is there
 * before the client is. It dies with the server, and its command with it or with its client.
 *
 * The sandbox that a waiting worker has begun (exec_begin()) is used when the command's plan continues
 * it and no mount of the host's has changed. It is given up when one does, and when nobody has asked
 * for a while: an idle server holds no file system. Such a worker starts its command from nothing.
 *
 * Who may ask: a process of the same user that is in no sandbox below the server's own place
 * (session/control.h): what is restricted must not have a command run under other settings. A server
 * that was lent to a sandbox (engine/native/lend.h) hears that sandbox alone.
 */
#pragma once

#include "api/exec.h"
#include "api/serve_wire.h"

enum {
	SERVE_SPARE = 2,         /* workers that wait */
	SERVE_WORKERS = 64,      /* at a time; more clients wait in the socket's queue */
	SERVE_IDLE_SECONDS = 60, /* until what was begun is given up */
};

struct serve_options {
	int listener;     /* taken over */
	int owner;        /* the server ends when its other end is closed; -1: by signals alone */
	const char *path; /* as clients name its socket, absolute; NULL: it has no name */
	const char *settings; /* of requests that name none; NULL: as 'choose' says */
	/* Claude Code's settings count for the request, in the working directory; NULL: srt's always */
	int (*choose)(const struct serve_request *request, struct arena *arena,
		      struct claude_where *ret, bool *ret_use, struct err *err);
	bool lent;   /* to a sandbox, in which commands are held */
	bool held;   /* its supervisor changes its files, and takes listeners by 'owner' */
	bool reads;  /* and it decides what is read of them */
	bool nested; /* it allows user namespaces */
};

/* Makes the socket, mode 0600. What a killed server left is replaced, anything else is refused.
 * Returns the descriptor. ret_id tells later whether it is still ours. */
struct serve_id {
	dev_t dev;
	ino_t ino;
};
int serve_listen(const char *path, struct serve_id *ret_id, struct err *err);
/* Removes the socket, if it is still the same. */
void serve_unlink(const char *path, const struct serve_id *id);

/* Until SIGTERM, SIGINT or SIGHUP, or the owner's end; with it every command ends. */
int serve_run(struct serve_options *options, struct err *err);

/* For the files of this room: a worker that got its client. */
_Noreturn void serve_command(const struct serve_options *options, int fd,
			     struct engine_spare *spare);
/* A worker at its start: nothing of the server's own goes to a command. */
int serve_close_own(struct err *err);
