/* SPDX-License-Identifier: MIT */
/* From a command line to a task (export/task.h): the layers of configuration, and the project as a bundle. */
#pragma once

#include "api/api.h"
#include "export/task.h"

enum task_use {
	TASK_SHOWN,   /* looked at, and no more: also before the project's settings are trusted */
	TASK_USED,    /* somebody runs it */
	TASK_CARRIED, /* and the project's last commit goes along */
};

/* The task and its strings live in the spec's arena. */
int api_task(struct wrapix_spec *spec, const struct task_wishes *wishes, enum task_use use,
	     struct task *ret, struct err *err);

/* The project's branch and its history as a bundle in a file without a name, or -errno; -ENOENT: it has
 * no commit. */
int api_bundle(struct arena *arena, const char *dir, struct err *err);

/* The caller's environment for a git in a repository that may be anybody's: it speaks with nobody but by these
 * protocols, whatever its configuration allows, and so starts none of the programs that are named there for that. */
char *const *api_git_env(struct arena *arena, const char *protocols);
