/* SPDX-License-Identifier: MIT */
/*
 * Claude Code's settings as sandbox-runtime's, with each entry's own file and line; read at the start
 * and again whenever a file changes. For 'wrapix exec' and 'wrapix run'.
 */
#pragma once

#include "base/str.h"
#include "spec/claude.h"
#include "spec/srt.h"

struct claude_policy {
	struct arena arena;
	struct claude_where where;
	char *local; /* where a change belongs: the local settings, present or not; in a folder that
			      * is not trusted, or under a policy's lock, the user's own, because there
			      * no other would count */
	char *hosts_lock, *paths_lock; /* as in struct fix_place, at the start */
	struct strv said;              /* files that were read, and said something */
	struct strv watched;           /* files that may change, or come to be */
};

/* Copies 'where'. */
void claude_policy_init(struct claude_policy *policy, const struct claude_where *where);
void claude_policy_release(struct claude_policy *policy);

/*
 * What the files say now. With 'live' a file that said something and is gone, or empty, is one that
 * somebody edits: -ENOENT, and the old rules stay in force. On another failure ret_why has two lines for
 * the user.
 */
int claude_policy_load(struct claude_policy *policy, struct srt_config *ret, bool live,
		       struct str *ret_why);
