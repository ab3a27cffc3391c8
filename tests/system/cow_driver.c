/* SPDX-License-Identifier: MIT */
/*
 * Applies a copy-on-write session, or undoes that, and is killed on the way: cow_driver BASE ID
 * apply|undo|whole STEP. Ends with 99 when it was killed before that step, with 0 when there were fewer. For 'whole'
 * somebody makes a file 'z' here when the first thing has been moved, and it is to be all or nothing.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cow/apply.h"

static unsigned long at, last;

static void on_step(void *ctx, const char *what, size_t i, size_t n)
{
	bool *meets = ctx;

	if (*meets && !strcmp(what, "apply") && i == 1) {
		FILE *z = fopen("z", "wx");

		if (z)
			fclose(z);
	}
	if (at++ != last)
		return;
	printf("%s %zu of %zu\n", what, i, n);
	fflush(stdout);
	_exit(99);
}

static int work(struct cow *cow, const char *what, struct err *err)
{
	bool whole = !strcmp(what, "whole");
	struct apply_options options = {
		.sensitive = true, .whole = whole, .on_step = on_step, .ctx = &whole
	};
	struct apply_report report = { 0 };
	struct changes changes;
	int r = 0;

	if (!strcmp(what, "undo")) {
		r = apply_undo(cow, &options, &report, err);
	} else {
		r = changes_find(&changes, cow, err);
		if (r == 0)
			r = apply_changes(cow, &changes, &options, &report, err);
	}
	for (size_t i = 0; i < report.n; i++)
		if (report.v[i].outcome > OUTCOME_MERGED)
			printf("%s: %s\n", report.v[i].path, report.v[i].text);
	return r;
}

int main(int argc, char **argv)
{
	struct cow_info info = { 0 };
	char turn[PATH_MAX];
	struct cow cow;
	struct err err;
	int r;

	if (argc != 5)
		return 2;
	snprintf(turn, sizeof(turn), "%s/../turn", argv[1]);
	info.turn = turn;
	info.base = argv[1];
	info.id = argv[2];
	last = strtoul(argv[4], NULL, 10);
	r = cow_open_listed(&cow, &info, &err);
	if (r == 0)
		r = cow_lock(&cow, &err);
	if (r == 0)
		r = cow_open_project(&cow, &err);
	if (r == 0)
		r = work(&cow, argv[3], &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.msg);
	return r < 0 ? 1 : 0;
}
