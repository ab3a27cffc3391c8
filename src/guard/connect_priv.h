/* SPDX-License-Identifier: MIT */
/* For the files of guard/connect.h. */
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "guard/connect.h"

/* What is to be connected, and where to. */
struct connect_job {
	int socket; /* a duplicate of the caller's */
	int file;   /* of a path: the socket's file, O_PATH; else -1 */
	int domain, type;
	struct sockaddr_storage address;
	socklen_t len;
	const char *call; /* for the report of a refusal */
};

#define ERESTARTSYS 512 /* the kernel turns it into a restart or EINTR, when a signal waits */

/* The job is for a UNIX socket's file. */
bool job_has_path(const struct connect_job *job);

/*
 * Finds the file and judges it: 0 with job->file, or -errno. A refusal is reported.
 */
int unix_path_judge(struct connect_guard *guard, const struct seccomp_notif *call,
		    struct connect_job *job);

/* What the address means, in the caller's view, O_PATH; or -errno. */
int unix_path_open(const struct seccomp_notif *call, const char *path);

/* The moment that a socket's own limit (SO_SNDTIMEO, SO_RCVTIMEO) sets from now on; 0: none. */
int64_t connect_deadline(int socket, int option);
/* Connects to job->file, or to the address. */
int connect_once(const struct connect_job *job);
/* A pair of SOCK_SEQPACKET of the caller's network, so that no name of theirs is the host's. 0 or -errno. */
int connect_make_pair(const struct seccomp_notif *call, int flags, int ret_fds[2]);

/* ---- unix_bind.c */
int unix_bind_call(struct connect_guard *guard, const struct seccomp_notif *call);
/* Without a broker that knows: the sandbox bound this file. */
bool unix_was_bound(const struct connect_guard *guard, const struct stat *st);
void unix_bind_stop(struct connect_guard *guard);
