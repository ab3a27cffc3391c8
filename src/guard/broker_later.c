/* SPDX-License-Identifier: MIT */
/*
 * Opening what may wait: a fifo that has nobody at its other end blocks, and so does a file with a lease on it. A child
 * waits for that, with the listener, and answers by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "guard/broker_priv.h"
#include "os/linux/files.h"
#include "os/linux/kernel.h"
#include "os/proc.h"

static void forget(struct broker *b, struct worker *w)
{
	if (w->end.fd >= 0) {
		loop_remove(w->notify->loop, &w->end);
		close(w->end.fd);
	}
	w->pid = 0;
	b->n_workers--;
}

void workers_reap(struct broker *b)
{
	for (size_t i = 0; i < BROKER_WORKERS; i++) {
		struct worker *w = &b->workers[i];

		if (!w->pid)
			continue;
		if (!notify_is_valid(w->notify, w->id))
			kill(w->pid, SIGTERM); /* the caller is gone, or has just been answered */
		if (waitpid(w->pid, NULL, WNOHANG) == w->pid)
			forget(b, w);
	}
}

void workers_end(struct broker *b, const struct notify *notify)
{
	for (size_t i = 0; b->n_workers && i < BROKER_WORKERS; i++) {
		struct worker *w = &b->workers[i];

		if (!w->pid || (notify && w->notify != notify))
			continue;
		kill(w->pid, SIGKILL);
		(void)os_await(w->pid);
		forget(b, w);
	}
}

static int on_end(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct worker *w = container_of(source, struct worker, end);

	workers_reap(w->broker);
	return 0;
}

/* So that nobody finds a dead child of ours. */
static void watch(struct request *r, struct worker *w)
{
	struct err ignored;

	w->broker = r->b;
	w->notify = r->notify;
	w->end = (struct loop_source){ r->notify->loop ? os_pidfd_open(w->pid) : -1, on_end };
	if (w->end.fd >= 0 && loop_add(r->notify->loop, &w->end, LOOP_IN, &ignored) < 0)
		close(take_fd(&w->end.fd));
}

/* In the child: the only one of ours that may wait. */
_Noreturn static void wait_and_open(struct request *r, pid_t parent, int object, int flags)
{
	sigset_t term;
	char path[32];
	int fd, e;

	os_die_with_parent(SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	fd = open(fd_path(object, path), flags | O_NOCTTY | O_CLOEXEC);
	/* Who is interrupted while it gives a descriptor away gives none, and the caller sees 0. */
	signal(SIGTERM, SIG_IGN);
	e = fd < 0 ? -errno : open_inject_any(r, fd, flags);
	if (e < 0)
		notify_answer(r->notify, r->notif->id, e);
	_exit(0);
}

int open_later(struct request *r, int object, int flags)
{
	struct worker *free_one = NULL;
	pid_t self = getpid();

	for (size_t i = 0; i < BROKER_WORKERS; i++)
		if (!r->b->workers[i].pid)
			free_one = &r->b->workers[i];
	if (!free_one)
		return -EAGAIN;
	free_one->id = r->notif->id;
	free_one->pid = fork();
	if (free_one->pid == 0)
		wait_and_open(r, self, object, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW));
	if (free_one->pid < 0) {
		free_one->pid = 0;
		return -errno;
	}
	r->b->n_workers++;
	watch(r, free_one);
	return NOTIFY_LATER;
}
