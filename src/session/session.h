/* SPDX-License-Identifier: MIT */
/*
 * The registry of running sessions: DIR/wrapix/sessions/ID/meta, where DIR is the user's runtime
 * directory, or the state directory where there is none. The supervisor holds a record lock on the
 * file while it lives; the kernel names the holder, so whether a session lives, and as which pid,
 * is never guessed from a number in a file. What a killed supervisor left is removed by the next
 * command that looks.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

#define SESSION_ID_MAX 16

/* What is written down of one. */
struct session_info {
	char *id, *name, *dir, *network, *engine;
	char *command;    /* as one line, quoted for a shell */
	int64_t started;  /* in seconds */
	long nanoseconds; /* of that second; zero in records of before */
	pid_t pid;        /* of its supervisor; 0 when it is dead */
	const char *base; /* where session_list() found it */
};

/* Its text; who lives is not in it. */
int session_info_parse(struct arena *arena, const char *text, size_t len, struct session_info *ret);

struct session {
	char id[SESSION_ID_MAX];
	int sessions_fd; /* the directory of all */
	int meta_fd;     /* holds the lock */
};
#define SESSION_NONE                             \
	{                                        \
		.sessions_fd = -1, .meta_fd = -1 \
	}

void session_new_id(char ret_id[SESSION_ID_MAX]);

/* Makes the directory and takes the lock. Also sweeps what dead ones left. */
int session_create(struct session *session, const char *base, const struct session_info *info,
		   struct err *err);
/* Makes its door (session/control.h): the listening descriptor or -errno. */
int session_listen(const struct session *session, struct err *err);
void session_remove(struct session *session);

/* The living ones of all places (NULL-terminated), oldest first; dead ones are swept. */
int session_list(struct arena *arena, const char *const *bases, struct session_info **ret,
		 size_t *ret_len, struct err *err);

/* The directory of one that was listed; the descriptor or -errno. */
int session_open(const struct session_info *info, struct err *err);
