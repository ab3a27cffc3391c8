/* SPDX-License-Identifier: MIT */
/*
 * What is said through a session's door (session/control.h), as JSON:
 *
 *	{"allow": ["github.com:443"], "deny": ["gist.github.com"]}	either may be missing
 *	{"ok": true}							it is so from now on
 *	{"error": "...", "hint": "..."}					nothing has changed
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct request {
	struct strv allow, deny; /* as they were written; not judged yet */
};

/* The strings live in the arena. */
int request_parse(struct arena *arena, const char *text, size_t len, struct request *ret,
		  struct err *err);
void request_add(struct str *out, const struct request *request);

void reply_add(struct str *out, const struct err *err); /* NULL: it went well */
/* 0, or the failure that the reply tells of. */
int reply_parse(const char *text, size_t len, struct err *err);
