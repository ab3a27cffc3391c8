/* SPDX-License-Identifier: MIT */
/* For the files of 'wrapix review': a review at work. */
#pragma once

#include "cli/cow.h"
#include "cli/screen.h"
#include "cow/changes.h"

/* What the user decided; the numbers are those of enum resolution, plus one. */
enum verdict { UNDECIDED, ACCEPTED, OURS, THEIRS, BOTH, REJECTED };

struct review_item {
	size_t change;
	enum verdict verdict;
};

struct review {
	struct cow_target target;
	struct changes changes;
	struct screen screen;
	struct review_item *items;
	size_t n, at;       /* at: the one that is shown */
	size_t first;       /* of the list, on the screen */
	struct str diff;    /* of the one that is shown */
	size_t lines, line; /* of it, and the first on the screen */
	const char *message;
	bool help; /* the keys are shown, until the next one */
};

/* The whole screen; a message is shown once. */
void review_draw(struct review *review);
