/* SPDX-License-Identifier: MIT */
/*
 * What a child is told whose root was begun before anybody knew what for (spare.c): the rest of the
 * plan, as far as it is the child's business, and the command's descriptors. It goes from one process
 * to a copy of it; what comes is checked for its form all the same.
 */
#pragma once

#include "base/str.h"
#include "engine/native/native.h"
#include "spec/exec.h"

struct order {
	struct plan plan; /* its operations are those that are missing */
	unsigned seccomp; /* plan_seccomp() of the whole plan */
	mode_t mask;
	int numbers[3 + EXEC_PASS_MAX]; /* what the descriptors are called inside */
	size_t n_fds;
	int fds[3 + EXEC_PASS_MAX]; /* what they are called until then */
};

/* The text of it: the plan without the operations that were carried out. */
void order_write(struct str *out, const struct plan *plan, size_t done, mode_t mask);
/* Its plan and numbers. Strings are those of the text, which must live as long. -EBADMSG where it is
 * not whole. */
int order_read(struct order *ret, char *text, size_t len);

/* In the supervisor, with its own descriptors and umask for the command. */
int order_send(int control, const struct plan *plan, size_t done);

/* In the child: waits for it. From then on the child has another plan. */
int order_take(struct child *child, struct err *err);
/* Then, when the root is complete: gives the command's descriptors their numbers. */
int order_place(struct child *child, struct err *err);
