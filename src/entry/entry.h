/* SPDX-License-Identifier: MIT */
/*
 * wrapix-entry: the entrypoint of our images, for every engine but our own: podman, docker, Kubernetes,
 * Apple's containers. It does what a shell script would: becomes the user, makes his home, sets git and
 * ssh up, and runs the command as a child whose exit status it returns. It is static and needs no shell.
 *
 * What it is told, by variables that the command does not see:
 *
 *	WRAPIX_UID, WRAPIX_GID, WRAPIX_USER	who the command is to be, inside and in what it makes
 *	WRAPIX_STAGE	a directory with 'env' ("NAME=VALUE", a NUL after each), 'tree' (to put below '/') and
 *			'binds' (see binds.c)
 *	WRAPIX_ROWS, WRAPIX_COLUMNS	of the terminal, which an engine sets when the command may have looked already
 *	WRAPIX_CWD	where the command is to start; else /workspace, where the engine says nothing
 *	WRAPIX_LINK	a socket to the supervisor (see link.h)
 *	WRAPIX_MARK	a file to make when the command is started, where there is no such socket
 *	WRAPIX_FORWARD	ports inside that are sockets outside (see forward.c)
 *
 * and by variables that it does: WRAPIX_DEPLOY_KEY and WRAPIX_SIGNING_KEY, files inside; WRAPIX_GIT_SIGN
 * ("0": commits are not signed by themselves).
 *
 * In the image:
 *
 *	/etc/wrapix/home	files for the home, "${KEY_END}" in them standing for the end of the variable
 *	/etc/wrapix/key		... whose name is here
 */
#pragma once

#include "base/err.h"

#define ENTRY_PATH "opt/wrapix/bin/wrapix-entry" /* in an image, without a leading '/' */
#define ENTRY_HOME "etc/wrapix/home"
#define ENTRY_KEY "etc/wrapix/key"
#define ENTRY_HOLE "${KEY_END}"

struct entry {
	unsigned uid, gid; /* who the command is to be */
	const char *user, *home;
	bool maps; /* he is who we are, by another number: see user.c */
};

/* A line to the user; and one about what does not stop us. */
void entry_say(const char *level, const struct err *err);
void entry_warn(const struct err *err);

/* binds.c: what is staged for places inside; read before, and done where we may mount. */
struct entry_binds {
	char *text; /* NULL: nothing */
	size_t len;
};
int entry_binds_load(const char *stage, struct entry_binds *ret, struct err *err);
/* One of the list; source NULL: what is at dest, read-only. 1: *ret is the next, 0: there is none, or -errno. */
struct entry_bind {
	const char *source, *dest;
};
int entry_binds_next(const struct entry_binds *binds, size_t *at, struct entry_bind *ret,
		     struct err *err);
int entry_binds_do(const struct entry_binds *binds, struct err *err);

/* forward.c: the ports of WRAPIX_FORWARD. */
int entry_forward(struct err *err);
enum { FORWARDS_MAX = 64, FORWARD_PATH = 104 };
struct forward {
	unsigned port;
	char path[FORWARD_PATH];
};
/* "PORT=SOCKET" with blanks between. */
int entry_forward_parse(const char *text, struct forward list[FORWARDS_MAX], size_t *ret_n,
			struct err *err);

/* user.c: from who we are to who the command is to be. Without this every later file has a wrong owner. */
int entry_become(const struct entry *entry, const struct entry_binds *binds, struct err *err);
bool entry_maps(const struct entry *entry);

/* keys.c: git and ssh with the keys that the variables name. Without any there is nothing to do. */
int entry_keys(const struct entry *entry, struct err *err);

/* child.c: runs it to its end; the exit status, 128+N for signal N. link: to the supervisor; -1: none.
 * mark: a file to make when it is started; NULL: none. */
int entry_run(char **argv, int link, const char *mark);
