/* SPDX-License-Identifier: MIT */
/*
 * The directory that the last caller was in. Who makes one file in it soon makes the next, and to find out where a process is takes as
 * long as four other looks. So it is held for as long as it is certain:
 *
 * - until the kernel's clock goes on: in that time no number becomes another thread's;
 * - until somebody is about to go to another directory, which is a call that we hear of (chdir, fchdir). Whether it has got there we
 *   do not hear, so as long as it has not called again, nothing is held of who goes where it goes: threads of one process, and
 *   processes that were made so (CLONE_FS). The kernel says who does (kcmp).
 *
 * What is held is the directory and never its name: another command's broker may give it one that git obeys, between two of our turns.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "guard/broker_priv.h"
#include "os/linux/kernel.h"

static void drop(struct kept *kept)
{
	close_ptr(&kept->fd);
}

static void forget_mover(struct kept *kept, size_t i)
{
	kept->movers[i] = kept->movers[--kept->n_movers];
}

void kept_arrived(struct broker *b, uint32_t tid)
{
	for (size_t i = 0; i < b->kept.n_movers; i++)
		if (b->kept.movers[i] == tid) {
			forget_mover(&b->kept, i);
			return;
		}
}

static bool is_gone(uint32_t tid)
{
	return kill((pid_t)tid, 0) < 0 && errno == ESRCH;
}

void kept_leave(struct broker *b, uint32_t tid)
{
	struct kept *kept = &b->kept;

	drop(kept);
	if (kept->n_movers == ARRAY_LEN(kept->movers))
		for (size_t i = kept->n_movers; i-- > 0;)
			if (is_gone(kept->movers[i]))
				forget_mover(kept, i);
	if (kept->n_movers < ARRAY_LEN(kept->movers))
		kept->movers[kept->n_movers++] = tid;
	else
		kept->is_over = true;
}

/* No other that has this one's working directory may be on its way. */
static bool is_settled(struct kept *kept, uint32_t tid)
{
	if (kept->is_over)
		return false;
	for (size_t i = kept->n_movers; i-- > 0;) {
		long r = syscall(SYS_kcmp, tid, kept->movers[i], KCMP_FS, 0, 0);

		if (r < 0 && errno == ESRCH)
			forget_mover(kept, i);
		else if (r <= 0)
			return false;
	}
	return true;
}

/* The second time in a tick that it is asked for: who makes a file now and then has nothing of it. */
static bool keep(struct request *r, int fd)
{
	struct kept *kept = &r->b->kept;
	uint32_t tid = r->notif->pid;
	bool again = kept->tid == tid && !clock_ticked(&kept->at);
	struct stat st;

	kept->tid = tid;
	if (!again || r->nested || !is_settled(kept, tid) || fstat(fd, &st) < 0)
		return false;
	kept->fd = fd;
	kept->dev = st.st_dev;
	kept->ino = st.st_ino;
	return true;
}

int kept_start(struct request *r, int *ret_own)
{
	struct kept *kept = &r->b->kept;
	int fd;

	if (r->has_kept)
		return kept->fd; /* also when the clock goes on in the middle of a call */
	if (kept->fd >= 0 && kept->tid == r->notif->pid && !clock_ticked(&kept->at)) {
		r->is_known = r->has_kept = true;
		return kept->fd;
	}
	drop(kept);
	fd = walk_start(r, AT_FDCWD);
	r->has_kept = fd >= 0 && keep(r, fd);
	if (fd >= 0 && !r->has_kept)
		*ret_own = fd;
	return fd;
}

void kept_release(struct broker *b)
{
	drop(&b->kept);
}
