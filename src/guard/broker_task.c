/* SPDX-License-Identifier: MIT */
/*
 * The broker's callers. A directory in /proc that is held open stays that of the thread it was
 * opened for: when the thread is gone and another got its number, a look into it fails. So an entry
 * is trusted after any look that succeeds, and what was learnt about the thread holds.
 *
 * The umask is read once and then followed, because umask(2) is a notified call as well. Threads
 * share it, so it is set for the whole process; for all others it is forgotten, because a child may
 * share it too (CLONE_FS).
 *
 * The working directory is followed the same way, for a look alone: whatever is done is done from where
 * the caller really is. A thread that asks while another is on its way to a new one is taken for being in
 * the old.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "os/linux/kernel.h"

static void forget(struct task *task)
{
	close_ptr(&task->proc);
	free(task->cwd);
	*task = (struct task){ .proc = -1, .umask = -1 };
}

static int make(struct broker *b, struct task *task, uint32_t tid)
{
	char name[16];

	forget(task);
	snprintf(name, sizeof(name), "%u", tid);
	task->proc = openat(b->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (task->proc < 0)
		return -errno;
	task->tid = tid;
	return 0;
}

int task_find(struct request *r)
{
	uint32_t tid = r->notif->pid;

	r->task = &r->b->tasks[tid % BROKER_TASKS];
	r->root = r->b->view;
	if (r->task->tid == tid && r->task->proc >= 0)
		return 0;
	return make(r->b, r->task, tid);
}

/* Once more with a fresh entry when this one turns out to be another's. */
int task_open(struct request *r, const char *name)
{
	int fd = openat(r->task->proc, name, O_PATH | O_CLOEXEC), e;

	r->is_known |= fd >= 0;
	if (fd >= 0)
		return fd;
	if (errno != ENOENT && errno != ESRCH)
		return -errno;
	e = make(r->b, r->task, r->notif->pid);
	if (e < 0)
		return e;
	fd = openat(r->task->proc, name, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

const char *task_directory(struct request *r, int dirfd)
{
	struct task *task = r->task;
	char name[24] = "cwd";
	ssize_t n;

	if (dirfd == AT_FDCWD && task->cwd)
		return task->cwd;
	if (dirfd != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", dirfd);
	n = readlinkat(task->proc, name, r->b->rest, PATH_MAX - 1);
	if (n < 0 && (errno == ENOENT || errno == ESRCH) && make(r->b, task, r->notif->pid) == 0)
		n = readlinkat(task->proc, name, r->b->rest, PATH_MAX - 1);
	if (n < 0)
		return NULL;
	r->b->rest[n] = '\0';
	if (dirfd == AT_FDCWD)
		task->cwd = strdup(r->b->rest);
	return r->b->rest;
}

void tasks_forget_directories(struct broker *b)
{
	for (size_t i = 0; i < BROKER_TASKS; i++) {
		free(b->tasks[i].cwd);
		b->tasks[i].cwd = NULL;
	}
}

int do_chdir(struct request *r)
{
	gate_entered(r);
	repository_entered(r);
	tasks_forget_directories(r->b);
	kept_leave(r->b, r->notif->pid);
	return OUTSIDE;
}

/* Both stand in the first lines, after a name that holds no line break. */
static int read_status(struct task *task)
{
	_cleanup_close_ int fd = openat(task->proc, "status", O_RDONLY | O_CLOEXEC);
	char text[512];
	uint64_t mask, tgid;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (!caller_status_number(text, "\nUmask:", 8, &mask) ||
	    !caller_status_number(text, "\nTgid:", 10, &tgid))
		return -ESRCH;
	task->umask = (int)mask;
	task->tgid = (uint32_t)tgid;
	return 0;
}

static int get_umask(struct request *r, mode_t *ret)
{
	struct task *task = r->task;
	int e = 0;

	/* In a tick of the clock no number becomes another thread's. */
	if (task->umask >= 0 && !r->is_known && clock_ticked(&task->known_at) &&
	    faccessat(task->proc, "cwd", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		e = make(r->b, task, r->notif->pid);
	if (e == 0 && task->umask < 0) {
		e = read_status(task);
		if (e == -ENOENT || e == -ESRCH) {
			e = make(r->b, task, r->notif->pid);
			e = e < 0 ? e : read_status(task);
		}
	}
	if (e < 0)
		return e;
	*ret = (mode_t)task->umask;
	return 0;
}

int task_take_umask(struct request *r)
{
	mode_t mask;
	int e = get_umask(r, &mask);

	if (e < 0 || mask == r->b->umask)
		return e;
	umask(mask);
	r->has_umask = true;
	return 0;
}

void task_give_umask(struct request *r)
{
	if (r->has_umask)
		umask(r->b->umask);
	r->has_umask = false;
}

int task_number(struct request *r, bool thread, char buf[32])
{
	_cleanup_close_ int fd = openat(r->task->proc, "status", O_RDONLY | O_CLOEXEC);
	const char *key = thread ? "\nNSpid:" : "\nNStgid:";
	char text[4096], *at, *end;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	at = strstr(text, key);
	end = at ? strchr(at + 1, '\n') : NULL;
	if (!end)
		return -ESRCH;
	*end = '\0';
	snprintf(buf, 32, "%lu", strtoul(strrchr(at, '\t') + 1, NULL, 10));
	return 0;
}

int do_umask(struct request *r)
{
	struct task *task = r->task;
	mode_t before;
	int mask = (int)(request_arg(r, 0) & 0777);

	if (get_umask(r, &before) < 0)
		return OUTSIDE;
	for (size_t i = 0; i < BROKER_TASKS; i++)
		r->b->tasks[i].umask = r->b->tasks[i].tgid == task->tgid ? mask : -1;
	return OUTSIDE;
}
