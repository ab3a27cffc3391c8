/* SPDX-License-Identifier: MIT */
/* The directory in which a self test happens, and the victim beside it. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

struct scene {
	struct arena arena;
	char *self;    /* wrapix */
	char *attempt; /* wrapix-attempt, as installed */
	char *base;    /* the directory; the rest lies in it */
	char *project;
	char *token, *argument; /* secrets: in files and memory, and in a command line */
	int top_fd, lock_fd;    /* where base stands; its lock */
	int victim_in;          /* closing it ends the victim */
	pid_t victim;
	struct strv env; /* with the secret in it */
};

/* Makes it in dir, after removing what a killed self test left there, and starts the victim. */
int scene_make(struct scene *scene, const char *dir, struct err *err);
void scene_remove(struct scene *scene);
#define _cleanup_scene_ _cleanup_(scene_remove)

/*
 * Runs the words in the project, with the secret in the environment and two descriptors open on it
 * that somebody forgot, for at most a minute. What it prints goes to the files out and err of base's
 * 'log'. Returns the wait status, or -errno.
 */
int scene_run(struct scene *scene, char *const *argv);

/* What a file of base holds; "" where there is none. */
char *scene_read(struct scene *scene, const char *name);
