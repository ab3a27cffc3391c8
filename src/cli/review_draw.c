/* SPDX-License-Identifier: MIT */
/* The screen of 'wrapix review': the list stands beside the diff, or above it where that is narrow. */
#include "cli/review.h"

#include <string.h>

#include "cow/show.h"

#define WIDE 110 /* columns from which list and diff stand side by side */

static const char marks[] = { [UNDECIDED] = ' ', [ACCEPTED] = '+', [OURS] = 'o',
			      [THEIRS] = 't',    [BOTH] = 'b',     [REJECTED] = '-' };

static void draw_list(struct review *r, unsigned rows, unsigned width)
{
	if (r->at < r->first)
		r->first = r->at;
	if (r->at >= r->first + rows)
		r->first = r->at - rows + 1;
	for (unsigned row = 0; row < rows; row++) {
		_cleanup_str_ struct str line = { 0 };
		size_t i = r->first + row;
		const struct change *change;

		str_add(&line, "");
		if (i < r->n) {
			change = &r->changes.v[r->items[i].change];
			str_addf(&line, "%c %c%c ", marks[r->items[i].verdict], change->status,
				 change->conflict    ? 'C'
				 : change->sensitive ? 'S'
						     : ' ');
			add_quoted_name(&line, "", change->path);
		}
		screen_put(&r->screen, row, 0, width,
			   i >= r->n                          ? NULL
			   : i == r->at                       ? "7"
			   : r->items[i].verdict == REJECTED  ? "31"
			   : r->items[i].verdict != UNDECIDED ? "32"
							      : NULL,
			   line.s, line.len);
	}
}

static const char *diff_attr(const char *line)
{
	switch (line[0]) {
	case '+':
		return "32";
	case '-':
		return "31";
	case '@':
		return "36";
	case 'd':
		return "1";
	default:
		return NULL;
	}
}

static void draw_diff(struct review *r, unsigned row, unsigned rows, unsigned col, unsigned width)
{
	const char *at = r->diff.s, *end = r->diff.s + r->diff.len;

	for (size_t skip = 0; skip < r->line && at < end; skip++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		at = stop ? stop + 1 : end;
	}
	for (unsigned i = 0; i < rows; i++) {
		const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);

		screen_put(&r->screen, row + i, col, width, len ? diff_attr(at) : NULL, at, len);
		at = stop ? stop + 1 : end;
	}
}

static void draw_help(struct review *r, unsigned rows)
{
	static const char *const lines[] = {
		"j k, arrows      the next file, the one before; g G: the first, the last",
		"space, page down further down in the difference; p, page up: further up",
		"a                accept it; in a conflict, merge both where that can be done",
		"t                accept it; in a conflict, take the session's version",
		"b                accept it; in a conflict, put the session's beside yours",
		"o                accept it; in a conflict, leave yours as it is",
		"r                reject it",
		"u                undecided again",
		"A                accept all that are undecided, but for those with C or S",
		"e                edit the session's version",
		"w, enter         take over what was accepted, and end",
		"q                end, and take nothing over",
		"",
		"In the list: A added, M changed, D removed, R renamed, T of another kind;",
		"C a conflict with what you changed, S executed or obeyed by something later.",
		"",
		"Any key goes back.",
	};

	for (unsigned i = 0; i < rows; i++) {
		const char *line = i < ARRAY_LEN(lines) ? lines[i] : "";

		screen_put(&r->screen, i, 0, r->screen.cols, NULL, line, strlen(line));
	}
}

void review_draw(struct review *r)
{
	static const char keys[] = /* 80 columns */
		"a accept r reject e edit t theirs b both A all w apply q quit j k space ? keys";
	struct screen *s = &r->screen;
	_cleanup_str_ struct str title = { 0 };
	unsigned body = s->rows > 2 ? s->rows - 2 : 1;
	size_t chosen = 0;

	for (size_t i = 0; i < r->n; i++)
		chosen += r->items[i].verdict != UNDECIDED && r->items[i].verdict != REJECTED;
	screen_begin(s);
	if (r->help) {
		draw_help(r, body);
	} else if (s->cols >= WIDE) {
		unsigned list = s->cols / 3;

		draw_list(r, body, list);
		for (unsigned i = 0; i < body; i++)
			screen_put(s, i, list, 1, "2", "|", 1);
		draw_diff(r, 0, body, list + 1, s->cols - list - 1);
	} else {
		unsigned list = MIN((unsigned)MAX(r->n, (size_t)1), MAX(body / 3, 1U));

		draw_list(r, list, s->cols);
		draw_diff(r, list, body - list, 0, s->cols);
	}
	str_addf(&title, "%s: %zu of %zu, %zu accepted", r->target.cow.id, r->at + 1, r->n, chosen);
	if (r->message)
		str_addf(&title, " - %s", r->message);
	screen_put(s, s->rows - 2, 0, s->cols, "7", title.s, title.len);
	screen_put(s, s->rows - 1, 0, s->cols, NULL, keys, sizeof(keys) - 1);
	screen_show(s);
	r->message = NULL;
}
