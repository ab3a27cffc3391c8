/* SPDX-License-Identifier: MIT */
/* What settings, mode, check and exec share: Claude Code's settings of a directory. */
#pragma once

#include "cli/cli.h"
#include "spec/claude.h"

/*
 * The settings that count in the working directory. 'settings' is what --settings says, or NULL;
 * project is its root where that is known, or NULL. Both are to be released, whatever is returned.
 */
int cli_claude_load(const char *settings, const char *project, struct claude_settings *ret,
		    struct claude_files *ret_files, struct err *err);

/* "FILE:LINE (scope)", escaped; the home directory is "~". */
void cli_add_origin(struct str *out, const struct claude_settings *settings,
		    const struct claude_value *value);
/* {"key":...,"value":...,"scope":...,"file":...,"line":...,"fate":...,...} */
void cli_add_value_json(struct str *out, const struct claude_value *value);
