/* SPDX-License-Identifier: MIT */
/*
 * The project directory and its git layout, read without running git. A .git file is hostile: it
 * may point anywhere, so it counts only where the git directory it names points back at it.
 */
#pragma once

#include "spec/host.h"

/* The directory whose wrapix.json counts for a session in dir (canonical): dir itself, or the nearest
 * above it up to the top of its repository; NULL when there is none. */
char *project_config_dir(struct arena *arena, const char *dir);
/* The directories above config_dir (NULL: dir and above) that have a wrapix.json, the nearest first. What stands between,
 * a '.git' say, hides none of them: a sandbox of theirs can have made it. */
void project_dirs_around(struct arena *arena, const char *dir, const char *config_dir,
			 struct strv *ret);

/* The git directory that commands in dir (canonical) write to and that does not lie in it: of a linked
 * worktree, a submodule, or the repository around it; NULL when there is none. */
char *project_git_dir(struct arena *arena, const char *dir, const char *home);
/* The same, and also one that does not know the directory: git obeys it all the same. */
char *project_obeyed_dir(struct arena *arena, const char *dir, const char *home);

/* The same of a directory by itself, as host->project: dir, uid and home are given. */
void project_probe_git(struct host *host);

/* The git directories of submodules, and object directories that are borrowed from. */
void modules_probe(struct host *host);

int project_probe(const struct spec *spec, struct host *host, struct err *err);

/* user.name and user.email of the user's own configuration files (not of the project's). */
void git_identity_probe(struct host *host);
