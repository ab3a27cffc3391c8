/* SPDX-License-Identifier: MIT */
/* The records of steps. */
#include "ralph/attempts.h"

int attempt_begin(struct db *db, struct attempt *attempt, struct err *err)
{
	int r;

	attempt->started = db_now();
	r = db_run(db, err,
		   "INSERT INTO step (feature, item, phase, session, verdict, started) "
		   "VALUES (?, ?, ?, ?, ?, ?)",
		   "sssssi", attempt->feature, attempt->item, attempt->phase, attempt->session,
		   verdict_name(VERDICT_NONE), attempt->started);
	attempt->id = db_last_id(db);
	return r;
}

int attempt_put(struct db *db, const struct attempt *attempt, struct err *err)
{
	return db_run(db, err,
		      "UPDATE step SET session = ?, verdict = ?, reason = ?, errors = ?, log = ?, "
		      "patch = ?, commit_id = ?, ended = nullif(?, 0), cost = ?, tokens_in = ?, "
		      "tokens_out = ? WHERE id = ?",
		      "sssssssidiii", attempt->session, verdict_name(attempt->verdict),
		      attempt->reason, attempt->errors, attempt->log, attempt->patch,
		      attempt->commit, attempt->ended, attempt->cost, attempt->tokens_in,
		      attempt->tokens_out, attempt->id);
}

static void on_attempt(void *ctx, struct sqlite3_stmt *row)
{
	struct attempts *attempts = ctx;
	struct arena *a = &attempts->arena;
	struct attempt *attempt = arena_grow(a, &attempts->v, &attempts->n, sizeof(*attempt));

	*attempt = (struct attempt){
		.id = row_int(row, 0),
		.feature = row_text(a, row, 1),
		.item = row_text(a, row, 2),
		.phase = row_text(a, row, 3),
		.session = row_text(a, row, 4),
		.verdict = verdict_of(row_text(a, row, 5)),
		.reason = row_text(a, row, 6),
		.errors = row_text(a, row, 7),
		.log = row_text(a, row, 8),
		.patch = row_text(a, row, 9),
		.commit = row_text(a, row, 10),
		.started = row_int(row, 11),
		.ended = row_int(row, 12),
		.cost = row_double(row, 13),
		.tokens_in = row_int(row, 14),
		.tokens_out = row_int(row, 15),
	};
}

int attempts_load(struct db *db, const char *feature, const char *item, struct attempts *ret,
		  struct err *err)
{
	*ret = (struct attempts){ 0 };
	return db_do(
		db, on_attempt, ret, err,
		"SELECT id, feature, item, phase, session, verdict, reason, errors, log, patch, "
		"commit_id, started, ended, cost, tokens_in, tokens_out FROM step WHERE feature = "
		"ifnull(?, feature) AND (? IS NULL OR item = ?) ORDER BY id",
		"sss", feature, item, item);
}

void attempts_release(struct attempts *attempts)
{
	arena_release(&attempts->arena);
	*attempts = (struct attempts){ 0 };
}
