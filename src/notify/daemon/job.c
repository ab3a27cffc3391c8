/* SPDX-License-Identifier: MIT */
/* A child with a deadline. Its end is seen by its pidfd, so nothing here waits. */
#include "notify/daemon/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "os/proc.h"
#include "os/timer.h"

static void release(struct job *job)
{
	loop_remove(job->loop, &job->child);
	loop_remove(job->loop, &job->timer);
	for (size_t i = 0; i < 3; i++) {
		int fd = (int[]){ job->child.fd, job->timer.fd, job->out }[i];

		if (fd >= 0)
			close(fd);
	}
	job->loop = NULL;
}

static int reap(struct job *job)
{
	return os_await(job->pid);
}

static void finish(struct job *job, bool ok)
{
	char output[sizeof(job->output)];
	ssize_t n = read(job->out, job->output, sizeof(job->output) - 1);

	job->output[MAX(n, 0)] = '\0';
	memcpy(output, job->output, sizeof(output));
	release(job);
	job->done(job, ok, output);
}

static int on_end(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct job *job = container_of(source, struct job, child);
	int status = reap(job);

	finish(job, WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return 0;
}

static int on_late(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct job *job = container_of(source, struct job, timer);

	kill(job->pid, SIGKILL);
	reap(job);
	finish(job, false);
	return 0;
}

_Noreturn static void child_main(job_child_fn *fn, void *arg, int out)
{
	int null = open("/dev/null", O_RDWR);

	os_reset_signals();
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	os_close_all_but(3, (int[]){ out }, 1);
	_exit(fn(arg, out));
}

static int watch(struct job *job, int timeout_ms, struct err *err)
{
	int r;

	job->child = (struct loop_source){ .fd = os_pidfd_open(job->pid), .on_event = on_end };
	job->timer = (struct loop_source){
		.fd = os_timer_open(),
		.on_event = on_late,
	};
	if (job->child.fd < 0 || job->timer.fd < 0)
		return err_errno(err, EMFILE, "watching a child");
	(void)os_timer_set(job->timer.fd, timeout_ms > 0 ? (unsigned)timeout_ms : 1, 0);
	r = loop_add(job->loop, &job->child, LOOP_IN, err);
	return r < 0 ? r : loop_add(job->loop, &job->timer, LOOP_IN, err);
}

int job_start(struct job *job, struct loop *loop, job_child_fn *fn, void *arg, int timeout_ms,
	      job_done_fn *done)
{
	struct err err;
	int out[2], r;

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	*job = (struct job){ .loop = loop, .out = out[0], .done = done, .pid = fork() };
	if (job->pid == 0)
		child_main(fn, arg, out[1]);
	close(out[1]);
	if (job->pid < 0) {
		r = -errno;
		close(out[0]);
		job->loop = NULL;
		return r;
	}
	r = watch(job, timeout_ms, &err);
	if (r < 0)
		job_cancel(job);
	return r;
}

void job_cancel(struct job *job)
{
	if (!job->loop)
		return;
	kill(job->pid, SIGKILL);
	reap(job);
	release(job);
}
