/* SPDX-License-Identifier: MIT */
/*
 * One task, from claim to record: the agent's session, a look at what it left, the gate, the landing. A
 * guest of the loop; several may run side by side, each on a view of the project of its own.
 */
#pragma once

#include "ralph/land.h"
#include "ralph/turn.h"

enum step_stage { STEP_IDLE, STEP_AGENT, STEP_WAIT, STEP_GATE, STEP_OVER };

struct step_run {
	struct work *work;
	struct loop *loop;
	const struct feature *feature;
	double budget; /* what it may cost; 0: no limit */
	void (*on_done)(struct step_run *run);
	void *ctx;

	/* What came of it. */
	enum verdict verdict;
	struct str reason;
	double cost;
	bool fatal; /* another try would fail the same way: no sandbox, a full disk */
	size_t files;
	char *commit;

	/* Its own. */
	enum step_stage stage;
	struct arena arena;
	struct items items; /* as they were when it began */
	const struct item *item;
	struct turn turn;
	struct harvest harvest;
	struct process gate;
	struct ticker ticker;
	struct str gate_output;
	int64_t gate_heard;
	enum verdict gate_stopped; /* VERDICT_NONE: it ended by itself */
};

/* Claims the item and starts its session. -ESTALE when somebody else has it. */
int step_start(struct step_run *run, const char *item_id, struct err *err);
/* One that waits for its turn to be taken over tries again; others do nothing. */
void step_go_on(struct step_run *run);
void step_interrupt(struct step_run *run);
void step_release(struct step_run *run);

/* The prompt of a task, rendered. */
int step_prompt(struct work *work, struct arena *arena, const struct feature *feature,
		const struct item *item, const char **ret_previous, struct str *ret,
		struct err *err);

/* What a kill left of a feature's items: landings are finished, claims taken back, sessions removed. */
int step_recover(struct work *work, const struct feature *feature, struct err *err);
/* Removes the sessions that nobody needs any more. */
int step_sweep(struct work *work, const struct feature *feature, struct err *err);
