/* SPDX-License-Identifier: MIT */
/* For the files of the podman engine. */
#pragma once

#include "engine/engine.h"
#include "engine/native/native.h"
#include "engine/podman/stage.h"

struct container {
	struct arena arena;
	struct sandbox sandbox; /* what the deploy keys' agent needs of one, and the client's pid */
	const char *id;
	char *stage; /* the session's directory */
	int lock;    /* held while we live: stage_sweep() leaves it alone */
	int to, from;
	bool started;
};

/* Makes STAGE. What is there of it is removed by stage_remove() in any case. */
int stage_make(struct container *c, struct err *err);
/* wrapix-init has read it: the names that nobody else is to open go. */
void stage_close(const struct container *c);
void stage_remove(struct container *c);
/* Removes what killed supervisors left, containers included. */
void stage_sweep(const struct plan *plan);

/* Gives the image to podman unless it has it. */
int image_load(const struct plan *plan, struct err *err);
/* podman failed: whether it has the image is asked again next time. */
void image_doubt(const struct plan *plan);

/* Runs the loop until podman ended. */
int container_supervise(struct container *c, int *ret_status, struct err *err);
