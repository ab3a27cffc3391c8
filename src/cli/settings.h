/* SPDX-License-Identifier: MIT */
/* What settings, mode, check and exec share: Claude Code's settings of a directory. */
#pragma once

#include "cli/cli.h"
#include "spec/claude.h"

/* Where they are looked for, in the arena; 'settings' is what --settings says, or NULL; project is the
 * root where that is known, or NULL. */
int cli_claude_where(struct arena *arena, const char *settings, const char *project,
		     struct claude_where *ret, struct err *err);

/*
 * The settings that count in the working directory. Both are to be released, whatever is returned.
 */
int cli_claude_load(const char *settings, const char *project, struct claude_settings *ret,
		    struct claude_files *ret_files, struct err *err);

/* "FILE:LINE (scope)", escaped; the home directory is "~". */
void cli_add_origin(struct str *out, const struct claude_settings *settings,
		    const struct claude_value *value);
/* {"key":...,"value":...,"scope":...,"file":...,"line":...,"fate":...,...} */
void cli_add_value_json(struct str *out, const struct claude_value *value);

/* A hook of Claude Code: its JSON on standard input, the answer on standard output; in hook.c. */
int cli_hook(void);

/* What would become of a command, and what would allow it; returns the status of 'wrapix check'. */
int cli_check(const char *command, bool json);
/* The words after '--' as a shell takes them; one by itself with blanks in it is a line already. */
void cli_add_line(struct str *out, char *const *words);

/* In place of the file, at once and by way of its real name; made with its directory where there is
 * none. within: the project that the file is of, where anybody may have made it a link: none of them leads out; NULL: it is
 * the user's own. In settings_file.c. */
int cli_write_settings(const char *path, const char *within, const struct str *text,
		       struct err *err);
/* The file as it is, found in the same way: what comes out of the project by a link never comes back into it. -ENOENT:
 * there is none. */
int cli_read_settings(const char *path, const char *within, size_t max, char **ret, size_t *ret_len,
		      struct err *err);
