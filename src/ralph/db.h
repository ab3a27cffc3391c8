/* SPDX-License-Identifier: MIT */
/*
 * The database of one project: features, items, steps. SQLite, so that a process may be killed anywhere
 * and many may look while one writes. Every change is one transaction that takes the write lock at its
 * beginning (BEGIN IMMEDIATE), so that what was read in it still holds when it is written.
 *
 * It lies in the user's state directory and never in a sandbox.
 */
#pragma once

#include <stdarg.h>

#include "base/arena.h"
#include "base/err.h"
#include "os/timer.h"

struct sqlite3;
struct sqlite3_stmt;

struct db {
	struct sqlite3 *handle;
};

/* Makes it where there is none; *ret_new (may be NULL) says that. */
int db_open(struct db *db, const char *path, bool *ret_new, struct err *err);
void db_close(struct db *db);

/* Outside of a transaction: what is written while it is on is in the file at once, for every process, and
 * on the disk with the next one that waits for that. For what a crash of the machine may take back. */
void db_relax(struct db *db, bool on);

/* Waits for other writers, up to 20 seconds. */
int db_begin(struct db *db, struct err *err);
int db_commit(struct db *db, struct err *err);
/* Safe when there is nothing to take back. */
void db_rollback(struct db *db);

/*
 * One statement. types says what follows, a letter for each '?': 's' a string (NULL: null), 'i' an
 * int64_t, 'd' a double. on_row is called for each row and may be NULL.
 */
typedef void db_row_fn(void *ctx, struct sqlite3_stmt *row);
int db_do(struct db *db, db_row_fn *on_row, void *ctx, struct err *err, const char *sql,
	  const char *types, ...);
#define db_run(db, err, ...) db_do(db, NULL, NULL, err, __VA_ARGS__)

/* Columns of a row. The string is in the arena, NULL for null. */
char *row_text(struct arena *arena, struct sqlite3_stmt *row, int column);
int64_t row_int(struct sqlite3_stmt *row, int column);
double row_double(struct sqlite3_stmt *row, int column);

/* The rows that the last statement changed. */
int db_changed(struct db *db);
int64_t db_last_id(struct db *db);

/* Milliseconds since 1970: what records are ordered by. */
static inline int64_t db_now(void)
{
	return os_real_ms();
}

/* Small things of the project: the feature in use, what was exported. */
int db_get(struct db *db, struct arena *arena, const char *key, char **ret, struct err *err);
int db_set(struct db *db, const char *key, const char *value, struct err *err);
