/* SPDX-License-Identifier: MIT */
/*
 * Directories that keep something of a session under its id, each with a record ("meta", JSON) of what
 * it is and a lock: copy-on-write sessions and private git directories.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

bool record_id_ok(const char *id);

/* A directory, never through a link. Descriptor or -errno. */
int record_open_dir(int at, const char *name);

/* Held until the descriptor is closed. -EBUSY when somebody else has it. */
int record_lock(int dir);

/*
 * Of the directories STATE/RECORDS/ID and STATE/DIRS/ID, removes those whose start or end was killed: they
 * have no record, and nobody's work is in them. A file RECORD_KEEP beside the record says that it is.
 */
#define RECORD_KEEP "keep"
void record_sweep(const char *state, const char *records, const char *dirs);

/*
 * record_lock() for one whose supervisor may have been killed a moment ago. The kernel ends the rest of it in its own time:
 * a child that still has the lock, and the sandbox, which must not write any more. So PID 1 of the sandbox and
 * its supervisor are noted ("init"), and where the supervisor is gone the others are waited for.
 */
int record_lock_ended(int dir);
void record_note_init(int dir, pid_t init);

/* A file of ours: old or new, never half, whoever is killed. It does not wait for the disk. */
int record_write_file(int dir, const char *name, const char *data, size_t len, struct err *err);

/* ', "KEY": "VALUE"'; NULL is written as "". */
void record_add(struct str *out, const char *key, const char *value);
/* Reads "meta", which must be of our version. */
int record_read(int dir, struct json_object **ret, struct err *err);
/* A string of it, "" where there is none. */
char *record_get(struct arena *arena, struct json_object *meta, const char *key);
