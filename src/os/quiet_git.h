/* SPDX-License-Identifier: MIT */
/*
 * A git that runs on the host for us: nothing runs because a repository's configuration names it, and nothing is
 * fetched. Filters are another matter: who lets git look at the content of files decides about those.
 */
#pragma once

#include "base/arena.h"

struct git_setting {
	const char *key, *value;
};

/* The settings before git's own words: where the environment has settings of the user's, which these are above. */
void quiet_git_add_words(struct arena *arena, struct strv *argv);
/* The same by the environment, with n further ones. */
void quiet_git_add_settings(struct arena *arena, struct strv *env, const struct git_setting *more,
			    size_t n);
/* And no question to anybody, nor a way to another repository but by these protocols. No key of a repository is above that. */
void quiet_git_add_env(struct arena *arena, struct strv *env, const char *protocols);
