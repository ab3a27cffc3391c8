/* SPDX-License-Identifier: MIT */
/*
 * Tasks as a text that the user edits:
 *
 *	## k3x9qab: Title
 *	after: other1, other2
 *
 *	The task's text, until the next '## '.
 *
 * The order of the sections is the order of the tasks, a section that is removed drops its task, and one
 * with 'new' in place of an id adds one. An epic is '# id: Title'. A line of a text that begins with '#'
 * or 'after:' is written with a backslash before it.
 */
#pragma once

#include "base/str.h"
#include "ralph/items.h"

/* Those that may still be changed: proposed and open ones. */
void outline_print(const struct items *items, struct str *out);

/* Takes the text over, whole or not at all: titles, texts, order, needs; what is missing is dropped, what
 * is new has the given status. The error names the line. */
int outline_take(struct db *db, const char *feature, const char *text, size_t len,
		 enum item_status status, struct err *err);
