/* SPDX-License-Identifier: MIT */
/*
 * The pairs of keys on disk: ~/.ssh/deploy_keys/NAME and NAME-signing, each with its .pub, as
 * ssh-keygen makes them. Private halves are never read here.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct key_file {
	char *path;        /* of the private half; NULL: there is none */
	char *line;        /* the public half, "ssh-ed25519 BASE64"; NULL: none that can be read */
	char *fingerprint; /* of it */
};

struct key_pair {
	char *name;
	struct key_file deploy, signing;
};

/* 0 or a usage error. */
int key_name_check(const char *name, struct err *err);

/* By name. */
int key_store_list(struct arena *arena, const char *home, struct key_pair **ret, size_t *ret_len,
		   struct err *err);
/* -ENOENT with a hint when there is none. */
int key_store_find(struct arena *arena, const char *home, const char *name, struct key_pair *ret,
		   struct err *err);

/* Makes both with the program ssh-keygen. What is there is an error, or with force goes to a backup,
 * whose directory is then in *ret_backup (else NULL). Complete or not at all. */
int key_store_make(struct arena *arena, const char *home, const char *name, const char *keygen,
		   bool force, char **ret_backup, struct err *err);

/* One pair, PATH and PATH.pub, with the program ssh-keygen; without a passphrase. */
int key_generate(struct arena *arena, const char *keygen, const char *comment, const char *path,
		 struct err *err);

int key_store_remove(const char *home, const char *name, struct err *err);
