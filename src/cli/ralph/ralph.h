/* SPDX-License-Identifier: MIT */
/* What the commands of ralph share: the row of each, how they begin and end, how they show items. */
#pragma once

#include "cli/cli.h"
#include "ralph/drive.h"

/* The headings of its help, in the places of wrapix's own. */
#define SECTION_MAKE SECTION_SANDBOX
#define SECTION_WATCH SECTION_SESSIONS
#define SECTION_SETTLE SECTION_CLAUDE
#define SECTION_SELF SECTION_HOST

extern const struct command command_start, command_ralph_plan, command_ready, command_todo;
extern const struct command command_step, command_loop, command_ralph_run;
extern const struct command command_status, command_logs, command_ralph_report;
extern const struct command command_msg, command_spec, command_ralph_check, command_item;
extern const struct command command_tune, command_use, command_export;

/* Opens the project and, unless feature is NULL, the feature that the first word names or that is in use.
 * The status to end with, or CLI_GO_ON. */
int ralph_open(struct work *work, const char *agent, const struct opt_rest *rest,
	       struct feature *feature, bool verbose);
/* Prints the error; 2 for a mistake of the user's, 1 for everything else. */
int ralph_fail(const struct err *err);
/* "next: ..." on standard error: what to type now. */
void ralph_next(const char *fmt, ...) _printf_(1, 2);

/* Text of an agent's for a terminal: what is not visible is escaped. */
void print_plain(const char *text);
/* "name: title", without a newline. */
void print_title(const char *name, const char *title);

/* What status and report tell of a feature. */
struct story {
	struct items items;
	struct attempts attempts;
	struct item_count count;
	double cost;
	int64_t tokens_in, tokens_out, ms; /* of all sessions */
};
int story_load(struct story *story, struct work *work, const struct feature *feature,
	       struct err *err);
void story_release(struct story *story);

/* The tree of a feature's items, a line each. */
size_t print_tree(const struct items *items, FILE *out); /* how many it shows */
/* All of an item, for programs. */
void add_item_json(struct str *out, const struct items *items, const struct item *item);
/* "[####------] 40% (4/10)" */
void add_progress(struct str *out, const struct item_count *count);
/* "3m 20s" */
void add_duration(struct str *out, int64_t ms);
/* What to type now that the items are as they are. */
void say_next(const struct feature *feature, const struct items *items);

/* The same for the feature of that name, or the one in use (NULL). */
void say_next_of(struct work *work, const char *feature);

#define FEATURE_OPERAND .max = 1, .operand = "FEATURE", .complete = COMPLETE_SESSION
