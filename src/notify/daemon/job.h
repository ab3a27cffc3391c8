/* SPDX-License-Identifier: MIT */
/*
 * Something that may take long or hang, done in a child: a program of the desktop's, a question to a
 * compositor. A guest of the loop; what is not finished in time is killed and counts as failed.
 */
#pragma once

#include <sys/types.h>

#include "os/loop.h"

struct job;

/* In the child, with 'out' to write a short result to; returns the exit status. */
typedef int job_child_fn(void *arg, int out);
/* ok: ended with status 0, in time. The output is NUL-terminated. The job is free again. */
typedef void job_done_fn(struct job *job, bool ok, const char *output);

struct job {
	struct loop *loop; /* NULL: free */
	struct loop_source child, timer;
	int out;
	pid_t pid;
	job_done_fn *done;
	char output[1024];
};

/* 0 or -errno; done is called later, and only when 0 was returned. */
int job_start(struct job *job, struct loop *loop, job_child_fn *fn, void *arg, int timeout_ms,
	      job_done_fn *done);
/* Kills it without a word; safe for one that is free. */
void job_cancel(struct job *job);

static inline bool job_busy(const struct job *job)
{
	return job->loop != NULL;
}
