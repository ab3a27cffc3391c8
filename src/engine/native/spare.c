/* SPDX-License-Identifier: MIT */
/*
 * A sandbox begun ahead. Namespaces and the root's first part take most of a start, and they are the
 * same for all commands: a child can have them ready and wait. What may differ comes with the order, and
 * is done then: what the settings deny, the command's words, environment, directory, descriptors, umask
 * and filters. So no decision is older than the command; what is older is the copy of the host's mounts
 * and the device nodes, and a spare is not used once one of them has changed.
 *
 * While it waits it holds these mounts, as a running command does, no descriptor of the caller's but
 * 0, 1 and 2, and no open file or directory. It dies with the caller: by the signal of its parent's
 * death, and because its socket ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/native/native.h"
#include "engine/native/order.h"
#include "os/linux/processor.h"
#include "os/proc.h"

struct engine_spare {
	struct plan begun;
	struct sandbox sandbox;
	int mounts;           /* the caller's mountinfo, which tells of changes */
	struct stat *sources; /* what is mounted, as it was: one for each operation */
};

/* What is not there is all zeroes. */
static struct stat look(const struct op *op)
{
	struct stat st;

	return op->kind == OP_BIND && lstat(op->src, &st) == 0 ? st : (struct stat){ 0 };
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
	       a->st_rdev == b->st_rdev && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool move_up(int *fd, int floor)
{
	int up = *fd >= floor ? *fd : fcntl(*fd, F_DUPFD_CLOEXEC, floor);

	if (up >= 0 && up != *fd) {
		close(*fd);
		*fd = up;
	}
	return up >= 0;
}

struct engine_spare *native_spare(struct plan *begun, int floor, bool at_once)
{
	struct engine_spare *spare = malloc(sizeof(*spare));
	struct processor_kept apart = { .kept = false };
	struct child child = {
		.seccomp = plan_seccomp(begun), .ahead = true, .apart = &apart, .pty_slave = -1
	};
	struct err err;
	sigset_t held, old;
	int r;

	if (!spare) {
		plan_release(begun);
		return NULL;
	}
	*spare = (struct engine_spare){ .begun = *begun, .sandbox = { SANDBOX_NONE } };
	/* First: what changes from here on is seen. */
	spare->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	spare->sources = arena_alloc(&spare->begun.arena, begun->n_ops * sizeof(struct stat));
	for (size_t i = 0; i < begun->n_ops; i++)
		spare->sources[i] = look(&begun->ops[i]);
	child.plan = &spare->begun;
	if (at_once)
		processor_others(&apart);
	supervised_signals(&held);
	sigprocmask(SIG_BLOCK, &held, &old);
	r = spare->mounts < 0 ? -errno : sandbox_clone(&spare->sandbox, &child, &err);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		processor_begin(spare->sandbox.pid, &apart);
	if (r == 0 && move_up(&spare->mounts, floor) && move_up(&spare->sandbox.pidfd, floor) &&
	    move_up(&spare->sandbox.control, floor) && move_up(&spare->sandbox.status, floor))
		return spare;
	native_spare_free(spare);
	return NULL; /* whoever starts without it finds out why */
}

int native_spare_fd(const struct engine_spare *spare)
{
	return spare->mounts;
}

/* A mount or what is mounted has changed, or it is dead; also where that cannot be told. */
static bool is_stale(const struct engine_spare *spare)
{
	struct pollfd changes[] = {
		{ .fd = spare->mounts, .events = POLLPRI },
		{ .fd = spare->sandbox.pidfd, .events = POLLIN },
	};

	for (size_t i = 0; i < spare->begun.n_ops; i++) {
		const struct stat now = look(&spare->begun.ops[i]);

		if (!is_same(&spare->sources[i], &now))
			return true;
	}
	return poll(changes, ARRAY_LEN(changes), 0) != 0;
}

bool spare_use(struct engine_spare *spare, struct sandbox *sandbox)
{
	struct sandbox *made = spare ? &spare->sandbox : NULL;

	if (!made || sandbox->limits_by != CGROUP_NONE ||
	    !plan_continues(sandbox->plan, &spare->begun) || is_stale(spare) ||
	    order_send(made->control, sandbox->plan, spare->begun.n_ops) < 0)
		return false;
	sandbox->pid = made->pid;
	made->pid = 0;
	sandbox->pidfd = take_fd(&made->pidfd);
	sandbox->control = take_fd(&made->control);
	sandbox->status = take_fd(&made->status);
	return true;
}

void native_spare_free(struct engine_spare *spare)
{
	struct sandbox *made;

	if (!spare)
		return;
	made = &spare->sandbox;
	if (made->pid > 0) {
		os_pidfd_kill(made->pidfd, SIGKILL);
		(void)os_await(made->pid);
	}
	close_ptr(&made->pidfd);
	close_ptr(&made->control);
	close_ptr(&made->status);
	close_ptr(&spare->mounts);
	plan_release(&spare->begun);
	free(spare);
}
