/* SPDX-License-Identifier: MIT */
/*
 * wrapix-entry: the entrypoint of our images, for every engine but our own: podman, docker, Kubernetes,
 * Apple's containers. It does what a shell script would: becomes the user, makes his home, sets git and
 * ssh up, and runs the command as a child whose exit status it returns. It is static and needs no shell.
 *
 * What it is told, by variables that the command does not see:
 *
 *	WRAPIX_UID, WRAPIX_GID, WRAPIX_USER	who the command is to be, inside and in what it makes
 *	WRAPIX_STAGE	a directory with 'env' ("NAME=VALUE", a NUL after each) and 'tree' (to put below '/')
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

/* user.c: from who we are to who the command is to be. Without this every later file has a wrong owner. */
int entry_become(const struct entry *entry, struct err *err);
bool entry_maps(const struct entry *entry);

/* keys.c: git and ssh with the keys that the variables name. Without any there is nothing to do. */
int entry_keys(const struct entry *entry, struct err *err);

/* child.c: runs it to its end; the exit status, 128+N for signal N. */
int entry_run(char **argv);
