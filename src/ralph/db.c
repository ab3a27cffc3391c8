/* SPDX-License-Identifier: MIT */
/* SQLite with our errors, and the shape of the tables. */
#include "ralph/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/linux/files.h"

enum { PATIENCE_MS = 20000, SCHEMA = 1 };

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);"
	"CREATE TABLE IF NOT EXISTS feature ("
	" name TEXT PRIMARY KEY, spec TEXT NOT NULL, hidden INTEGER NOT NULL DEFAULT 0,"
	" title TEXT, reviews INTEGER NOT NULL DEFAULT 0,"
	" created INTEGER NOT NULL, updated INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS item ("
	" id TEXT PRIMARY KEY, feature TEXT NOT NULL, epic INTEGER NOT NULL DEFAULT 0,"
	" title TEXT NOT NULL, text TEXT, status TEXT NOT NULL, rank INTEGER NOT NULL,"
	" attempts INTEGER NOT NULL DEFAULT 0, notes TEXT, reason TEXT, answer TEXT, commit_id "
	"TEXT,"
	" created INTEGER NOT NULL, updated INTEGER NOT NULL);"
	"CREATE INDEX IF NOT EXISTS item_feature ON item (feature, rank);"
	"CREATE TABLE IF NOT EXISTS need ("
	" item TEXT NOT NULL, other TEXT NOT NULL, PRIMARY KEY (item, other));"
	"CREATE TABLE IF NOT EXISTS step ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, feature TEXT NOT NULL, item TEXT, phase TEXT NOT "
	"NULL,"
	" session TEXT, verdict TEXT NOT NULL, reason TEXT, errors TEXT, log TEXT, patch TEXT,"
	" commit_id TEXT, started INTEGER NOT NULL, ended INTEGER, cost REAL NOT NULL DEFAULT 0,"
	" tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX IF NOT EXISTS step_item ON step (item);";

static int fail(struct db *db, const char *what, struct err *err)
{
	int code = sqlite3_errcode(db->handle) & 0xff;

	err_set(err,
		code == SQLITE_BUSY   ? EBUSY
		: code == SQLITE_FULL ? ENOSPC
				      : EIO,
		"the database of ralph: %s: %s", what, sqlite3_errmsg(db->handle));
	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return err_hint(err, "move '%s' away: it is made again from .wrapix/ralph",
				sqlite3_db_filename(db->handle, NULL));
	return -err->code;
}

static int execute(struct db *db, const char *sql, const char *what, struct err *err)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
									    : fail(db, what, err);
}

/* A log beside the file is faster, and needs memory that processes share: not on a network. */
static bool is_local(const char *path)
{
	static const long network[] = { 0x6969, 0xff534d42, 0xfe534d42,
					0x517b, 0x01021997, 0x65735546 };
	struct arena arena = { 0 };
	struct statfs fs = { 0 };
	bool local = statfs(path_parent(&arena, path), &fs) == 0;

	for (size_t i = 0; i < ARRAY_LEN(network); i++)
		local &= (unsigned long)fs.f_type != (unsigned long)network[i];
	arena_release(&arena);
	return local;
}

static int prepare(struct db *db, const char *path, struct err *err)
{
	char sql[64];
	int64_t version = 0;
	int r;

	sqlite3_busy_timeout(db->handle, PATIENCE_MS);
	sqlite3_extended_result_codes(db->handle, 1);
	r = execute(db, is_local(path) ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE",
		    "opening it", err);
	if (r == 0)
		r = execute(db, "PRAGMA synchronous=FULL", "opening it", err);
	if (r == 0)
		r = db_begin(db, err);
	if (r == 0)
		r = execute(db, schema, "making its tables", err);
	snprintf(sql, sizeof(sql), "PRAGMA user_version=%d", SCHEMA);
	if (r == 0) {
		struct sqlite3_stmt *stmt;

		if (sqlite3_prepare_v2(db->handle, "PRAGMA user_version", -1, &stmt, NULL) ==
		    SQLITE_OK) {
			if (sqlite3_step(stmt) == SQLITE_ROW)
				version = sqlite3_column_int64(stmt, 0);
			sqlite3_finalize(stmt);
		}
	}
	if (r == 0 && version > SCHEMA) {
		err_set(err, EINVAL, "the database '%s' was made by a later version of ralph",
			path);
		r = err_hint(err, "install that version; or move it away: it is made again from "
				  ".wrapix/ralph");
	}
	if (r == 0 && version < SCHEMA)
		r = execute(db, sql, "making its tables", err);
	if (r == 0)
		return db_commit(db, err);
	db_rollback(db);
	return r;
}

int db_open(struct db *db, const char *path, bool *ret_new, struct err *err)
{
	struct stat st;
	mode_t mask;
	int r;

	if (ret_new)
		*ret_new = stat(path, &st) < 0;
	mask = umask(077);
	r = sqlite3_open_v2(path, &db->handle,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
			    NULL);
	if (r != SQLITE_OK) {
		err_set(err, EIO, "opening the database '%s': %s", path,
			sqlite3_errmsg(db->handle));
		r = -EIO;
	} else {
		r = prepare(db, path, err);
	}
	umask(mask);
	if (r < 0)
		db_close(db);
	return r;
}

void db_close(struct db *db)
{
	sqlite3_close_v2(db->handle);
	db->handle = NULL;
}

void db_relax(struct db *db, bool on)
{
	struct err ignored; /* it would be safe, and slow */

	(void)execute(db, on ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL",
		      "changing its pace", &ignored);
}

int db_begin(struct db *db, struct err *err)
{
	return execute(db, "BEGIN IMMEDIATE", "waiting for it", err);
}

int db_commit(struct db *db, struct err *err)
{
	return execute(db, "COMMIT", "writing to it", err);
}

void db_rollback(struct db *db)
{
	if (db->handle && !sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

static void bind_all(struct sqlite3_stmt *stmt, const char *types, va_list ap)
{
	for (int i = 1; *types; types++, i++) {
		if (*types == 'i')
			sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
		else if (*types == 'd')
			sqlite3_bind_double(stmt, i, va_arg(ap, double));
		else
			sqlite3_bind_text(stmt, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
	}
}

int db_do(struct db *db, db_row_fn *on_row, void *ctx, struct err *err, const char *sql,
	  const char *types, ...)
{
	struct sqlite3_stmt *stmt;
	va_list ap;
	int r;

	if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK)
		return fail(db, "asking it", err);
	va_start(ap, types);
	bind_all(stmt, types, ap);
	va_end(ap);
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
		if (on_row)
			on_row(ctx, stmt);
	if (r != SQLITE_DONE)
		r = fail(db, "working with it", err);
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

char *row_text(struct arena *arena, struct sqlite3_stmt *row, int column)
{
	return arena_strdup(arena, (const char *)sqlite3_column_text(row, column));
}

int64_t row_int(struct sqlite3_stmt *row, int column)
{
	return sqlite3_column_int64(row, column);
}

double row_double(struct sqlite3_stmt *row, int column)
{
	return sqlite3_column_double(row, column);
}

int db_changed(struct db *db)
{
	return sqlite3_changes(db->handle);
}

int64_t db_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

struct found {
	struct arena *arena;
	char *text;
};

static void on_value(void *ctx, struct sqlite3_stmt *row)
{
	struct found *found = ctx;

	found->text = row_text(found->arena, row, 0);
}

int db_get(struct db *db, struct arena *arena, const char *key, char **ret, struct err *err)
{
	struct found found = { arena, NULL };
	int r = db_do(db, on_value, &found, err, "SELECT value FROM meta WHERE key = ?", "s", key);

	*ret = found.text;
	return r;
}

int db_set(struct db *db, const char *key, const char *value, struct err *err)
{
	return db_run(db, err, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", "ss", key,
		      value);
}
