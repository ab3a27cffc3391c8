/* SPDX-License-Identifier: MIT */
/* Where the event logs are: STATE/wrapix/log/ID.jsonl, ID.1.jsonl. For the files of this room. */
#pragma once

#include "session/session.h"

enum store_part { STORE_HEAD, STORE_TAIL };

/* The head's id; false for every other file. */
bool store_id(const char *name, char ret_id[SESSION_ID_MAX]);

/* The directory, never through a link; -ENOENT when there is none and none is to be made. */
int store_open(const char *state_home, bool make, struct err *err);
/* A new file to append to; an old one of that name is removed. Descriptor or -errno. */
int store_create(int dir, const char *id, enum store_part part);
void store_remove(int dir, const char *id, enum store_part part);
/* A regular file to read. Descriptor or -errno. */
int store_read(int dir, const char *id, enum store_part part);
/* Removes the logs that were written to least recently until 'keep' are left; not those that are
 * still written to, nor the one with this id. */
void store_prune(int dir, const char *id, size_t keep);
