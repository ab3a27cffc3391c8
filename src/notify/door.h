/* SPDX-License-Identifier: MIT */
/*
 * The daemon's door, DIR/wrapix/notifyd.sock: supervisors register their sandboxes here and commands ask
 * how things are. SOCK_SEQPACKET; a message is a JSON object with an "op":
 *
 *	register  "id", and with it the listening socket of the sandbox as a descriptor. The session lasts
 *	          as long as this connection. DIR/wrapix/sessions/ID.json says where its user is.
 *	focus     "value": "here" or "elsewhere": what the session's terminal reports.
 *	message   the members of wrapix-protocol(7): the supervisor's own words for its session.
 *	status    answered with an object.
 *	test      a message that says that messages arrive.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define DOOR_NAME "notifyd.sock"

/* Connects to the daemon of that directory; the descriptor, or -errno. */
int door_connect(const char *dir);
/* One request, with a descriptor where fd is not -1; never waits. */
int door_send(int door, const struct str *request, int fd);
