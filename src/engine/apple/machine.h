/* SPDX-License-Identifier: MIT */
/* For the files of the apple engine. */
#pragma once

#include "engine/sandbox.h"

struct machine {
	struct arena arena;
	struct sandbox sandbox; /* 'pid' is container's, 'control' the link to wrapix-entry */
	const char *id;
	char *stage;  /* the session's directory; see plan/plan.h */
	int lock;     /* held while we live: machine_sweep() leaves it alone */
	int listener; /* for the link, until the entrypoint has come; -1: none, or no longer */
	int silence;  /* keeps 'control' silent where there is no link; -1: there is one */
};

/* Makes STAGE and its sockets, for the plan of this machine. machine_unstage() removes what is there of it. */
int machine_stage(struct machine *m, struct err *err);
/* The entrypoint has read the environment: it goes. */
void machine_hide_env(const struct machine *m);
void machine_unstage(struct machine *m);
/* Removes what killed supervisors left, containers included. */
void machine_sweep(const struct plan *plan);

/* The proxy, keys and the door for rules, while it runs. */
extern const struct sandbox_guests machine_guests;

/* How the supervisor and wrapix-entry speak. */
extern const struct sandbox_link apple_link;
/* Until the command runs: 1. 0: a signal came first, and *ret_status says which. */
int machine_await(struct machine *m, int *ret_status, struct err *err);
