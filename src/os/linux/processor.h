/* SPDX-License-Identifier: MIT */
/*
 * Two that wake each other are quickest on one processor: the scheduler would rather give the one that is woken another
 * that is idle, which takes time to wake up itself, most of all in a virtual machine. And two that work side by side are
 * quickest on two: a scheduler that saves processors lets a new process wait until its parent rests. It is about time
 * alone: what cannot be done is not.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

struct processor_kept {
	cpu_set_t before, only;
	bool kept;
};

/* Keeps a thread (0: this one) on the processor that we are on. */
void processor_keep(pid_t thread, struct processor_kept *ret);
/* Before a process is made: on which processors it would not be in our way. And after that, its first ones. */
void processor_others(struct processor_kept *ret);
void processor_begin(pid_t process, const struct processor_kept *others);
/* Gives it back those that it had, unless somebody else has meanwhile given it others. */
void processor_release(pid_t thread, const struct processor_kept *kept);
/*
 * Keeps this thread for longer: to be kept and released takes as long as much of an answer, and whoever was answered twice
 * in a row is probably going to ask again. processor_stay() comes before both wake each other, and processor_pause() after
 * each answer (0: the last one). That releases with another's turn, or with a tick of the clock: after it the thread is
 * woken where the one that asks is. A child by fork() does not stay.
 */
void processor_stay(void);
void processor_pause(pid_t answered);
