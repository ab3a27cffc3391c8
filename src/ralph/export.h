/* SPDX-License-Identifier: MIT */
/*
 * A feature and its items as JSON Lines, in PROJECT/.wrapix/ralph/NAME.jsonl: one record a line, in an
 * order that does not change, so that git merges it ('merge=union', which we set there, keeps both sides'
 * lines; the newer record of an id counts). The database can be made anew from these files, and takes
 * over what is newer in them each time it is opened. A hidden feature's file lies beside its spec.
 */
#pragma once

#include "ralph/items.h"
#include "base/str.h"
#include "ralph/site.h"

#define EXPORT_DIR ".wrapix/ralph"

/* The records of one feature. */
int export_text(struct db *db, const struct feature *feature, struct str *out, struct err *err);
/* Takes over what is newer in a text; lines that are no records are passed over and counted. hidden:
 * its features are. In a transaction. */
int export_merge(struct db *db, const char *text, size_t len, bool hidden, size_t *ret_taken,
		 size_t *ret_passed, struct err *err);

/* Writes the files of all features that changed; reads those that somebody else changed first. */
int export_sync(struct db *db, const struct site *site, struct err *err);
