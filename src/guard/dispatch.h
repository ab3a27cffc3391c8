/* SPDX-License-Identifier: MIT */
/*
 * One listener, many guests: who is asked about which system call. A guest takes the calls of a
 * fragment of the filter (data/seccomp/notify-*.list), by the table that was made with it.
 */
#pragma once

#include "guard/notify.h"
#include "os/linux/seccomp.h"

enum { DISPATCH_GUESTS = 8, DISPATCH_CALLS = 1024 };

struct dispatch {
	struct notify notify;
	struct {
		notify_fn *fn;
		void *ctx;
	} guests[DISPATCH_GUESTS];
	unsigned n_guests;
	uint32_t arch[2];                     /* this machine's and its 32-bit sister's */
	uint8_t guests_of[2][DISPATCH_CALLS]; /* a bit for each guest, by arch and number */
};

/*
 * Before the start. Of several guests for a call each is asked, in the order of their addition,
 * until one says something other than NOTIFY_CONTINUE: a guest that has nothing to do with a call
 * lets it pass. A guest may be added for several fragments. What no guest was added for is refused with ENOSYS.
 */
void dispatch_add(struct dispatch *dispatch, const struct seccomp_program *fragment, notify_fn *fn,
		  void *ctx);
/* Takes the listener over. */
int dispatch_start(struct dispatch *dispatch, struct loop *loop, int listener, struct err *err);
void dispatch_stop(struct dispatch *dispatch);
