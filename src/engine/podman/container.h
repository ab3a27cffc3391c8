/* SPDX-License-Identifier: MIT */
/* For the files of the podman engine. */
#pragma once

#include "engine/podman/stage.h"
#include "engine/sandbox.h"

struct container {
	struct arena arena;
	struct sandbox sandbox; /* 'pid' is podman's, 'control' the FIFO from wrapix-init */
	const char *id;
	const char *layers;  /* of a copy-on-write workspace; NULL: none */
	const char **places; /* of the plan's operations, by the image's links */
	char *stage;         /* the session's directory */
	int lock;            /* held while we live: stage_sweep() leaves it alone */
	int to;              /* the FIFO to wrapix-init */
	bool greeted;        /* wrapix-init runs */
	int init;            /* a pidfd of wrapix-init; -1: not known yet */
	pid_t keeper;        /* of a virtual machine: who ends it when we die; 0: none */
	int life;            /* and how it hears of that */
	unsigned said;       /* messages to it so far */
	bool begun;          /* podman was started: there may be a container */
	bool ended;          /* podman has removed the container */
	int exit;            /* what wrapix-init ended with, as it said; -1: it said nothing */
};

/* The plan as this machine is now; its operations live in c's arena. */
void plan_present(struct container *c, const struct plan *plan, struct plan *ret);

/* The places where something is mounted here, a NUL after each; NULL: they cannot be told. */
char *mount_points(void);

/* By the image's links nothing that is mounted comes to lie in something else that is. Fills c->places. */
int places_check(struct container *c, const struct plan *plan, struct err *err);

/* Makes STAGE. What is there of it is removed by stage_remove(). */
int stage_make(struct container *c, struct err *err);
/* wrapix-init has read it: the names that nobody else is to open go. */
void stage_close(const struct container *c);
/* Nobody needs what is in it any more; and then it goes itself, wherever it stands. It stays, for stage_sweep(), for as long
 * as there may be a container. */
void stage_empty(const struct container *c);
void stage_remove(struct container *c);
/* Removes what killed supervisors left, containers included. */
void stage_sweep(const struct plan *plan);

/* The session's container, if there is one left. */
int stage_remove_container(const struct plan *plan, const char *id);

/* Of the session's conmon: ends what podman has lost sight of. */
void conmon_end(const char *stage, const char *id);

/* Gives the image to podman unless it has it. */
int image_load(const struct plan *plan, const struct engine_hooks *hooks, struct err *err);
/* podman failed: whether it has the image is asked again next time. */
void image_doubt(const struct plan *plan);

/* wrapix-init waits: what the plan needs of its namespaces, and the ports inside. */
int container_enter(struct container *c, struct err *err);
/* Everything is mounted: what the sandbox may write to becomes writable. */
int container_make_writable(struct container *c, struct err *err);
/* Descriptor number of wrapix-init becomes the sandbox's listener. */
int container_take_listener(struct container *c, int number, struct err *err);

/* How the supervisor and wrapix-init speak. */
extern const struct sandbox_link podman_link;
/* The same where it is a virtual machine's: see machine.c. */
extern const struct sandbox_link machine_link;
int machine_begin(struct container *c, struct err *err);
/* 1: it is there, and entered; 0: not yet */
int machine_look(struct container *c, struct err *err);
void machine_end(struct container *c);

/* Waits for podman's end; its wait status. Without the FIFO wrapix-init ends, and podman then removes the
 * container. */
int client_await(struct container *c);
/* Until the command runs: 1. 0: a signal came first, and *ret_status says which. */
int container_await(struct container *c, int *ret_status, struct err *err);
