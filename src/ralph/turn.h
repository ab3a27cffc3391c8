/* SPDX-License-Identifier: MIT */
/*
 * One session of an agent without a terminal: prompt in, lines out, a watchdog beside it, a door for
 * 'ralph item', a log. A guest of the loop.
 */
#pragma once

#include "os/ticker.h"
#include "ralph/door.h"
#include "ralph/lines.h"
#include "ralph/work.h"

struct turn {
	struct work *work;
	enum phase phase;
	const char *who; /* for who watches */
	const struct feature *feature;
	const struct item *item; /* NULL: of the whole feature */
	struct attempt attempt;  /* its record; begun by the caller */
	double budget;           /* dollars it may cost; 0: no limit */
	const char *previous;    /* a file with the diff of the last try; NULL */
	void (*on_done)(struct turn *turn);

	/* What came of it, when it is done. */
	enum verdict verdict;
	struct str reason;
	bool not_started; /* the sandbox itself failed: another try would, too */
	unsigned added, noted;
	struct stream stream;

	/* Its own. */
	struct arena arena;
	struct process process;
	struct lines lines;
	struct door door;
	struct ticker ticker;
	int log;
	int64_t began, heard, term; /* seconds; term: when it was asked to end, 0: not */
	enum verdict forced;
	char *run_dir;
	uint64_t logged;
};

int turn_start(struct turn *turn, struct loop *loop, const char *prompt, struct err *err);
/* Ends it, as VERDICT_KILLED; on_done is called when it is gone. */
void turn_interrupt(struct turn *turn);
/* After on_done, or when it did not start. */
void turn_release(struct turn *turn);

/*
 * A whole session about the feature, on a loop of its own, with its record; what it changed in the project
 * is thrown away. turn_release() is the caller's, also when it fails.
 */
int turn_run(struct turn *turn, const char *prompt, struct err *err);

/* The words that start the agent on a terminal with a first prompt, in the arena. */
char **turn_ask_args(const struct work *work, struct arena *arena, enum phase phase,
		     const char *prompt);
/* The mounts that every session of ralph's has: the client, the run directory, a hidden spec. */
void turn_add_mounts(const struct work *work, struct arena *arena, const struct feature *feature,
		     const char *run_dir, bool spec_writable, struct process_spec *spec);
