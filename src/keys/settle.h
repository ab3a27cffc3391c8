/* SPDX-License-Identifier: MIT */
/*
 * Changes of the directory of deploy keys, of which a kill leaves all or nothing.
 *
 * One name decides. New keys are made in .new.NAME.*; from the moment when that is called .put.NAME.TIME
 * they count, and what had their names belongs into backup/NAME.TIME. From the moment when there is .rm.NAME,
 * its keys do not count. The rest is done at once, or by whoever looks at the keys next.
 */
#pragma once

#include "base/err.h"
#include "base/util.h"

#define KEY_NEW ".new."
#define KEY_TO_PUT ".put."
#define KEY_TO_REMOVE ".rm."
#define KEY_SIGNING "-signing"
#define KEY_FILES 4

/* The files of a pair, by how they end. */
extern const char *const key_endings[KEY_FILES];

/* The directory, made where it is missing, ours alone, settled, and locked until it is closed. */
int key_store_open(const char *path, bool make, struct err *err);

/* Finishes what was begun; the directory is locked. */
int key_store_settle(int dir, struct err *err);

/* The same for those who only look: where nobody is at work, and without a word when it cannot be done. */
void key_store_look(const char *path);
