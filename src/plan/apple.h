/* SPDX-License-Identifier: MIT */
/*
 * ENGINE_APPLE, in container's grammar: the operations become arguments and files in STAGE, a directory of
 * the session's on the host.
 * Directories are mounted by container. It shares them by virtio-fs, which shows everything as root's and
 * passes neither single files nor sockets; so single files are staged, and wrapix-entry puts them in their
 * places (entry/binds.c):
 *
 *	STAGE/in/env		the environment, at APPLE_STAGE_INSIDE: container never sees it
 *	STAGE/in/tree/DEST	what the entrypoint makes in the machine's own root, where nothing is
 *	STAGE/in/files/N	what it mounts over its place, read-only: generated, or copied from the host
 *	STAGE/in/binds		the list of these
 *	STAGE/live/N		second names (hard links) of single files that may be written
 *	STAGE/said/started	made by the entrypoint, where container relays no sockets
 *	STAGE/NAME.sock		sockets that container relays to APPLE_INSIDE/NAME.sock
 */
#pragma once

#include "plan/plan.h"

struct str;

#define APPLE_INSIDE "/run/wrapix"
#define APPLE_STAGE_INSIDE APPLE_INSIDE "/stage"
#define APPLE_LIVE_INSIDE APPLE_INSIDE "/live"
#define APPLE_SAID_INSIDE APPLE_INSIDE "/said"
#define APPLE_MARK "started"
#define APPLE_PROXY_PORT 3128 /* inside, NET_FILTERED */

enum apple_way {
	APPLE_NOT,      /* the machine has it by itself */
	APPLE_DIR,      /* container mounts it */
	APPLE_SOCKET,   /* container relays it */
	APPLE_TREE,     /* staged, and made by the entrypoint where nothing is */
	APPLE_FILE,     /* staged, and mounted over its place, read-only */
	APPLE_LIVE,     /* a second name of the file, mounted over its place */
	APPLE_READONLY, /* what is there, read-only */
};
enum apple_way apple_way(const struct plan *plan, const struct op *op);
/* Where it stands in STAGE; NULL: nowhere. */
char *apple_staged(struct arena *arena, const struct plan *plan, const struct op *op,
		   const char *stage);
/* The list for the entrypoint: a word a NUL (entry/binds.c). */
void apple_binds(struct arena *arena, const struct plan *plan, struct str *out);
/* A socket of the session's: "link", "net", "agent", "relay-N"; outside, and inside. */
char *apple_socket(struct arena *arena, const char *stage, const char *name);
/* What the entrypoint is told, beside the plan's own environment. */
void apple_env(struct arena *arena, const struct plan *plan, struct strv *ret);
/* The whole command line. */
int apple_argv(struct arena *arena, const struct plan *plan, const char *stage, const char *session,
	       struct strv *ret, struct err *err);
void apple_print(struct str *out, const struct plan *plan);
void apple_print_json(struct str *out, const struct plan *plan);
