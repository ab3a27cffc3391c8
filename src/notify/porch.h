/* SPDX-License-Identifier: MIT */
/*
 * The session's socket over TCP, for a virtual machine whose engine relays no sockets: the supervisor listens at the
 * address that is the machine's gateway, and who begins with the token of the session is led to the session's
 * own socket. Everybody on that network can connect; without the token nothing that they say is read.
 */
#pragma once

#include "net/relay.h"
#include "os/listener.h"

#define PORCH_PORT 5959 /* the first; others follow while it is taken */
#define PORCH_TOKEN 32  /* letters */

struct porch_guest;

struct porch {
	struct loop *loop;
	struct listener listener;
	struct ticker ticker; /* until the network is there, and for guests that say nothing */
	struct relay relay;
	struct porch_guest *guests;
	size_t n_guests;
	char address[16];
	uint16_t port;
	char token[PORCH_TOKEN + 1];
	char path[108]; /* the session's socket */
};

#define PORCH_NONE                              \
	{                                       \
		.listener = LISTENER(-1, NULL), \
	}

/* Takes a port at the address (IPv4), which may not be there yet. path: of the session's socket. */
int porch_make(struct porch *porch, const char *address, const char *path, struct err *err);
int porch_watch(struct porch *porch, struct loop *loop, struct err *err);
/* Safe for one that was never made. */
void porch_close(struct porch *porch);
