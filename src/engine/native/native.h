/* SPDX-License-Identifier: MIT */
/*
 * The native engine: carries a plan out on Linux, without root, daemon or image.
 *
 *	supervisor (the user's namespaces)          sandbox
 *	----------------------------------          -------------------------------------------
 *	record what the sources are
 *	clone3 with every namespace   ------------> PID 1: map ids, build the root, pivot
 *	cgroup, pasta                 <-- mapped --
 *	                              --- go -----> fork the target, drop everything, reap
 *	wait for the status pipe      <------------ target: pty, limits, Landlock, seccomp, exec
 *	loop: signals, terminal, end  <-- exit ----
 *
 * The first half, up to the root, needs nothing of the command: a spare (spare.c) has it behind itself
 * and waits for an order (order.c).
 *
 * A failure anywhere comes back through the status pipe as one struct err. When the supervisor
 * dies, however it dies, the kernel kills PID 1 (PDEATHSIG) and with it the whole pid namespace.
 */
#pragma once

#include "engine/control.h"
#include "engine/sandbox.h"

/* What a source was when the supervisor looked, so that the child can tell that it is the same. */
struct source_id {
	dev_t dev;
	ino_t ino;
};

struct order;
struct processor_kept;

/* What the child inherits from the supervisor. */
struct child {
	const struct plan *plan;
	unsigned seccomp; /* plan_seccomp() */
	uint64_t namespaces;
	bool ahead;                         /* it builds its root, and waits for an order */
	const struct processor_kept *apart; /* until that comes, from the supervisor */
	struct order *order;                /* that came; NULL: none */
	mode_t mask;                        /* of the command */
	const char *id;                     /* the session's */
	const struct source_id *sources;    /* one for each operation of the plan */
	int control;                        /* to the supervisor */
	int status; /* the pipe for a struct err; closed by a successful exec */
	const struct cgroup *cgroup;
	enum cgroup_kind limits_by; /* as it turned out */
	bool wait_for_go;
	int pty_slave;                    /* -1: none */
	const char *layers;               /* the directory of the copy-on-write layers, or NULL */
	const struct gate_place *carried; /* what is held of earlier sessions */
	size_t n_carried;
	const char *image_changes; /* where the changes of an image go; NULL: to the scratch */
};

/* PID 1 of the sandbox; never returns. */
_Noreturn void init_main(struct child *child);

/* In the child: reports the failure and ends. */
_Noreturn void init_fail(const struct child *child, const struct err *err);

/* In the child: a message, with a descriptor or -1, to the supervisor; it fails where that is gone. */
int child_send(const struct child *child, enum control_type type, int value, int fd,
	       struct err *err);

/* Closes what the child inherited, but for what it needs itself and what is the command's. */
void child_close_others(const struct child *child);

/* The process that becomes the command; never returns. */
_Noreturn void target_main(struct child *child);

/* How the supervisor and PID 1 speak. */
extern const struct sandbox_link native_link;

/* Makes the child that carries child->plan out; the sandbox has its ends. */
int sandbox_clone(struct sandbox *sandbox, struct child *child, struct err *err);

/* Where the spare is as good as a new child for this plan, the sandbox takes it over and gives it the
 * order; false: it does not, and must start its own. */
bool spare_use(struct engine_spare *spare, struct sandbox *sandbox);
