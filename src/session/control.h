/* SPDX-License-Identifier: MIT */
/*
 * The door of a running session for commands of the same user: DIR/wrapix/sessions/ID/control, a
 * SOCK_SEQPACKET. One message is one request and gets one message as its reply; what they say is in
 * session/request.h. A client may ask again and again.
 *
 * Who may: a process of the same user that is not inside a sandbox. A sandbox that was given the
 * directory, by a mount of the user's own choice, must not open its own door.
 */
#pragma once

#include <sys/stat.h>

#include "base/str.h"
#include "os/listener.h"

/*
 * The mode of a socket that takes orders from outside of every sandbox. The sticky bit means nothing
 * to the kernel there. It tells a supervisor that connects in a command's place not to: the server
 * would see the supervisor, which is outside (guard/unix_path.c).
 */
#define CONTROL_MODE (S_ISVTX | 0600)

enum {
	CONTROL_MAX = 65536, /* bytes of a request */
	CONTROL_CLIENTS = 8,
};

/* Writes the reply to a request, which is NUL-terminated but may hold NULs too. */
typedef void control_fn(void *ctx, const char *request, size_t len, struct str *reply);

struct control_server;

struct control_client {
	struct control_server *server;
	struct loop_source source; /* fd -1: free */
};

/* A guest of the loop. */
struct control_server {
	struct loop *loop; /* NULL: not started */
	struct listener listener;
	struct control_client clients[CONTROL_CLIENTS];
	size_t next; /* the slot that a newcomer gets: the one that was given longest ago */
	control_fn *fn;
	void *ctx;
};

/* Makes the socket in a session's directory; the descriptor or -errno. */
int control_listen(int dir_fd, struct err *err);

/* Takes the listening descriptor over, also when it fails. */
int control_server_start(struct control_server *server, struct loop *loop, int listener,
			 control_fn *fn, void *ctx, struct err *err);
void control_server_stop(struct control_server *server); /* safe for one that was not started */

/* True for a peer of this user's that is not inside a sandbox; for other doors too. */
bool control_may_ask(int fd);
/* The same for a process that was lent to a sandbox (engine/native/lend.h): its peer is in that one, and
 * not in one of those that it has made itself, whose processes it can see. */
bool control_may_ask_lent(int fd);

/* The other side: one request, and the reply within ten seconds. */
int control_call(int dir_fd, const struct str *request, struct str *reply, struct err *err);
