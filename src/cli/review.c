/* SPDX-License-Identifier: MIT */
/*
 * wrapix review: goes through the changes of a copy-on-write session, one file after the other, and
 * takes over those that were accepted. Here are the keys and what they do; review_draw.c is the screen.
 */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/review.h"
#include "cow/apply.h"
#include "cow/edit.h"
#include "cow/paths.h"
#include "cow/show.h"

static const struct change *current(const struct review *r)
{
	return &r->changes.v[r->items[r->at].change];
}

static void load_diff(struct review *r)
{
	const struct change *change = current(r);

	r->diff.len = 0;
	str_add(&r->diff, "");
	if (change->status == CHANGE_IGNORED)
		str_addf(&r->diff, "This is never taken over: %s.\n", change->why);
	if (change->conflict)
		str_addf(&r->diff, "Conflict: %s. a merges, t takes the session's, b both.\n",
			 conflict_text(change->conflict));
	if (change->sensitive)
		str_addf(&r->diff, "Executed or obeyed %s.\n", sensitive_when(change->sensitive));
	if (change_is_open(change))
		str_addf(&r->diff, "Everybody on this machine may write it (mode %04o).\n",
			 (unsigned)change->new.mode & 0777);
	if (change_has_mode(change))
		str_addf(&r->diff, "Mode %04o, was %04o.\n", (unsigned)change->new.mode & 0777,
			 (unsigned)(change->from ? change->from_node : change->old).mode & 07777);
	else if (change->status != CHANGE_IGNORED && !change_is_git(change))
		str_addf(&r->diff, "A directory that %s.\n",
			 node_exists(&change->new) ? "is new" : "is removed");
	change_add_diff(&r->diff, &r->target.cow, change);
	r->line = r->lines = 0;
	for (size_t i = 0; i < r->diff.len; i++)
		r->lines += r->diff.s[i] == '\n';
}

static int load_changes(struct review *r, struct err *err)
{
	int e;

	changes_release(&r->changes);
	free(r->items);
	r->n = 0;
	e = cli_cow_changes(&r->target, &r->changes, err);
	r->items = calloc(r->changes.n + 1, sizeof(*r->items));
	if (e < 0 || !r->items)
		return e < 0 ? e : err_errno(err, ENOMEM, "reviewing");
	for (size_t i = 0; i < r->changes.n; i++)
		if (!change_is_implied(&r->changes, i) &&
		    change_is_chosen(&r->changes.v[i], r->target.paths, r->target.n_paths))
			r->items[r->n++].change = i;
	r->at = MIN(r->at, r->n ? r->n - 1 : 0);
	if (r->n)
		load_diff(r);
	return 0;
}

/* --- keys --- */

static void go_to(struct review *r, size_t at)
{
	if (at >= r->n || at == r->at)
		return;
	r->at = at;
	load_diff(r);
}

static void scroll(struct review *r, long by)
{
	long line = (long)r->line + by;
	long most = (long)r->lines - 1;

	r->line = (size_t)MAX(MIN(line, most), 0);
}

static void decide(struct review *r, enum verdict verdict)
{
	if (current(r)->status == CHANGE_IGNORED && verdict != REJECTED && verdict != UNDECIDED) {
		r->message = "this is never taken over";
		return;
	}
	r->items[r->at].verdict = verdict;
	go_to(r, r->at + 1);
}

/* What needs a look of its own is left out. */
static void accept_rest(struct review *r)
{
	size_t left = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct change *change = &r->changes.v[r->items[i].change];

		if (r->items[i].verdict != UNDECIDED || change->status == CHANGE_IGNORED)
			continue;
		if (change->sensitive || change->conflict)
			left++;
		else
			r->items[i].verdict = ACCEPTED;
	}
	if (left)
		r->message = "those with C or S need a look of their own";
}

/* Verdicts are kept by name: the list may be another afterwards. */
static int reload(struct review *r, struct err *err)
{
	struct arena arena = { 0 };
	size_t n = r->n;
	char **names = arena_alloc(&arena, (n + 1) * sizeof(*names));
	enum verdict *verdicts = arena_alloc(&arena, (n + 1) * sizeof(*verdicts));
	int e;

	for (size_t i = 0; i < n; i++) {
		names[i] = arena_strdup(&arena, r->changes.v[r->items[i].change].path);
		verdicts[i] = r->items[i].verdict;
	}
	e = load_changes(r, err);
	for (size_t i = 0, k = 0; e == 0 && i < r->n; i++) {
		const char *path = r->changes.v[r->items[i].change].path;

		while (k < n && strcmp(names[k], path) < 0)
			k++;
		if (k < n && !strcmp(names[k], path))
			r->items[i].verdict = verdicts[k];
	}
	arena_release(&arena);
	return e;
}

static int edit(struct review *r, struct err *err)
{
	struct arena arena = { 0 };
	char *path = NULL;
	int e;

	if (!S_ISREG(current(r)->new.mode)) {
		r->message = "only a file can be edited";
		return 0;
	}
	e = edit_begin(&r->target.cow, current(r), &arena, &path, err);
	if (e == 0) {
		struct err failed;
		bool good;

		screen_pause(&r->screen);
		good = cli_edit(path, &failed) == 0;
		screen_resume(&r->screen);
		e = edit_end(&r->target.cow, current(r), path, good, err);
		if (!good)
			r->message = "the editor failed; nothing was changed";
	}
	arena_release(&arena);
	return e < 0 ? e : reload(r, err);
}

/* Along the list, and along the diff. */
static void move_by(struct review *r, int key)
{
	long page = r->screen.rows > 6 ? (long)r->screen.rows / 2 : 1;

	switch (key) {
	case 'j':
	case KEY_DOWN:
		go_to(r, r->at + 1);
		break;
	case 'k':
	case KEY_UP:
		go_to(r, r->at - 1);
		break;
	case KEY_HOME:
	case 'g':
		go_to(r, 0);
		break;
	case KEY_END:
	case 'G':
		go_to(r, r->n - 1);
		break;
	case ' ':
	case KEY_PAGE_DOWN:
		scroll(r, page);
		break;
	case 'p':
	case KEY_PAGE_UP:
		scroll(r, -page);
	}
}

static void decide_by(struct review *r, int key)
{
	static const struct {
		int key;
		enum verdict verdict;
	} verdicts[] = { { 'a', ACCEPTED }, { 'r', REJECTED }, { 't', THEIRS },
			 { 'b', BOTH },     { 'o', OURS },     { 'u', UNDECIDED } };

	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
		if (key == verdicts[i].key)
			decide(r, verdicts[i].verdict);
}

/* 1: apply, 0: go on, or -errno. */
static int on_key(struct review *r, int key, bool *ret_quit, struct err *err)
{
	if (r->help && key != KEY_NONE && key != KEY_END_OF_INPUT) {
		r->help = false;
		return 0;
	}
	move_by(r, key);
	decide_by(r, key);
	switch (key) {
	case '?':
		r->help = true;
		break;
	case 'A':
		accept_rest(r);
		break;
	case 'e':
		return edit(r, err);
	case 'w':
	case '\n':
		return 1;
	case 'q':
	case 3: /* Ctrl-C */
	case KEY_END_OF_INPUT:
		*ret_quit = true;
	}
	return 0;
}

/* Each kind of verdict is one apply. */
static int apply_verdicts(struct review *r, struct apply_report *report, struct err *err)
{
	char **paths = calloc(r->n + 1, sizeof(*paths));
	int e = 0;

	if (!paths)
		return err_errno(err, ENOMEM, "applying");
	for (enum verdict v = ACCEPTED; e == 0 && v <= BOTH; v++) {
		struct apply_options options = {
			.resolution = (enum resolution)(v - 1),
			.paths = paths,
			.exact = true,     /* what is in a directory has verdicts of its own */
			.sensitive = true, /* each was looked at */
		};

		for (size_t i = 0; i < r->n; i++)
			if (r->items[i].verdict == v)
				paths[options.n_paths++] =
					(char *)r->changes.v[r->items[i].change].path;
		if (options.n_paths)
			e = apply_changes(&r->target.cow, &r->changes, &options, report, err);
	}
	free(paths);
	return e;
}

/* True when the user wants what he decided. */
static int go_through(struct review *r, struct err *err)
{
	bool quit = false;
	int e = screen_start(&r->screen, err);

	while (e == 0 && !quit && r->n) {
		review_draw(r);
		e = on_key(r, screen_key(&r->screen), &quit, err);
	}
	screen_stop(&r->screen);
	return e;
}

static int review(struct review *r, struct apply_report *report, struct err *err)
{
	struct apply_options none = { 0 };
	int e = cow_lock(&r->target.cow, err);

	if (e == 0)
		e = MIN(apply_recover(&r->target.cow, &none, report, err), 0);
	if (e == 0)
		e = load_changes(r, err);
	if (e == 0 && !r->n) {
		printf("There is nothing to review.\n");
		return 0;
	}
	if (e == 0)
		e = go_through(r, err);
	if (e == 1) {
		e = apply_verdicts(r, report, err);
		if (e == 0)
			cli_print_report(report);
	} else if (e == 0) {
		printf("Nothing was taken over.\n");
	}
	return e;
}

static int cmd_review(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct review r = { .target = COW_TARGET_NONE };
	struct apply_report report = { 0 };
	struct err err;
	int e, status = cli_parse(argc, argv, &r, &rest);

	if (status != CLI_GO_ON)
		return status;
	e = cli_cow_open(&r.target, rest.operands, rest.n_operands, &err);
	if (e == 0)
		e = review(&r, &report, &err);
	status = e < 0 ? cli_fail(&err) : cli_report_status(&report);
	apply_report_release(&report);
	str_release(&r.diff);
	free(r.items);
	changes_release(&r.changes);
	cli_cow_close(&r.target);
	return status;
}

static const struct opt opts[] = {
	HELP,
	{ .kind = OPT_END },
};

const struct command command_review = {
	.name = "review",
	.section = SECTION_SESSIONS,
	.usage = "review [SESSION] [PATH...] [options]",
	.summary = "go through the changes of a copy-on-write session in the terminal",
	.description =
		"Shows each file that a session changed and its diff, to accept, reject or edit "
		"it; w takes over what was accepted. What was not stays in the session.",
	.examples = EXAMPLES("wrapix review", "the latest session here"),
	.syntax = { opts, .max = -1U, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_review,
};
