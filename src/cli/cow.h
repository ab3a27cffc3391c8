/* SPDX-License-Identifier: MIT */
/* What the commands for copy-on-write sessions share: diff, review, apply, undo, discard. */
#pragma once

#include "base/str.h"
#include "cow/changes.h"
#include "cow/cow.h"

/* What such a command works on. */
struct cow_target {
	struct arena arena;
	struct cow cow;
	char **paths; /* below the project, clean */
	size_t n_paths;
};
#define COW_TARGET_NONE          \
	{                        \
		.cow = COW_NONE, \
	}

/*
 * The session that the first word names, or else the latest of the project that we are in, and the
 * paths that the other words name, from here or from the project's top. The project is open.
 */
int cli_cow_open(struct cow_target *target, char *const *words, size_t n, struct err *err);
void cli_cow_close(struct cow_target *target);
/* What it changed; a path that neither it nor the project has is a mistake of the command line. */
int cli_cow_changes(struct cow_target *target, struct changes *changes, struct err *err);

/* All of this user's, oldest first. */
int cli_cow_list(struct arena *arena, struct cow_info **ret, size_t *ret_len, struct err *err);

/* "3.4M" */
void add_size(struct str *out, uint64_t bytes);

/* What became of an apply: in words, and as the exit status. */
struct apply_report;
struct result;
void cli_print_result(const struct result *result); /* nothing, where it was simply done */
void cli_print_report(const struct apply_report *report);
int cli_report_status(const struct apply_report *report);

/* Standard output goes through the user's pager until it ends; only on a terminal. */
struct pager {
	pid_t pid; /* 0: none */
};
void pager_start(struct pager *pager);
void pager_stop(struct pager *pager);
