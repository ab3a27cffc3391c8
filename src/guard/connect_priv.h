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
};

/* The job is for a UNIX socket's file. */
bool job_has_path(const struct connect_job *job);

/*
 * Finds the file and judges it: 0 with job->file, or -errno. A refusal is reported.
 */
int unix_path_judge(struct connect_guard *guard, const struct seccomp_notif *call,
		    struct connect_job *job);
