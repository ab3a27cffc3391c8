/* SPDX-License-Identifier: MIT */
/* What the files of 'wrapix git' share. */
#pragma once

#include "api/apart.h"
#include "git/git.h"

struct git_args {
	bool json, show, ours, theirs;
};

struct git_job {
	struct arena arena;
	struct git_args args;
	char *state, *here;
	struct git_info *list;
	size_t n;
	struct apart *aparts; /* of sessions that have ended */
	size_t n_aparts;
	char **words; /* after the action */
	size_t n_words;
	bool left; /* something was not taken over, because the user changed it meanwhile */
};

/* To standard output. */
void git_print(const char *text);

/* git_show.c: what accepting it would change; as lines, or as members of JSON. */
void git_show_held(struct git_job *job, struct git_store *store, const struct git_held *held,
		   const char *indent);
void git_show_held_json(struct git_job *job, struct git_store *store, const struct git_held *held,
			struct str *json);

/* git_apart.c: directories that were kept apart (protect: hold). */
void git_print_apart(struct git_job *job, const struct apart *apart, struct str *json, bool first);
bool git_has_apart(const struct git_job *job, const char *id);
typedef int git_apart_fn(struct git_job *job, const struct apart *apart, const char *file,
			 struct err *err);
/* 1: the words were such directories or files, and it is done. */
int git_decide_apart(struct git_job *job, git_apart_fn *act, const char *did, struct err *err);
git_apart_fn git_accept_apart, git_drop_apart;
