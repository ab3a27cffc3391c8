/* SPDX-License-Identifier: MIT */
/* What the files of 'wrapix key' share. */
#pragma once

#include "cli/cli.h"
#include "keys/forge.h"
#include "keys/store.h"

struct key_args {
	bool json, force, yes, no_gh;
	const char *fingerprint; /* key trust: the one that is expected */
};

/* One action, while it runs. */
struct key_job {
	struct arena arena;
	struct key_args args;
	const char *home, *config_home;
	char *dir;            /* where we stand, canonical */
	char **words;         /* after the action */
	struct remote remote; /* of the repository here */
	bool has_remote;
};

int key_add(struct key_job *job, struct err *err);
int key_test(struct key_job *job, struct err *err);
int key_trust(struct key_job *job, struct err *err);

/* The first word, or DIRECTORY-HOST. */
int key_job_name(struct key_job *job, char **ret, struct err *err);
/* A program on PATH that is not the project's; NULL where there is none. */
char *key_job_program(struct key_job *job, const char *name);
/* There is no such program, and it is OpenSSH's. */
int key_job_without(const char *name, struct err *err);
/* The output of a program that needs no more than argv, whatever its end. Returns its wait status;
 * what was said is in the arena. */
int key_job_run(struct key_job *job, const char *const *argv, char **ret_said, struct err *err);
/* y or Y on the terminal; without one it is an error, whose hint is given. */
int key_job_ask(const struct key_job *job, const char *question, const char *hint, struct err *err);
