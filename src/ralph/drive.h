/* SPDX-License-Identifier: MIT */
/* Step after step, until a feature is done or nothing goes on. */
#pragma once

#include "ralph/step.h"

enum { DRIVE_DONE = 0, DRIVE_FAILED = 1, DRIVE_NOTHING = 100, DRIVE_STUCK = 101 };
enum { DRIVE_PARALLEL_MAX = 16 };

struct drive_options {
	int64_t parallel, max_steps; /* 0: no limit, here and below */
	double max_cost;
	int64_t max_time;
	const char *item; /* this one alone */
	bool wait;        /* for another ralph that works on the feature */
	bool push;
	bool once; /* a single step, whose end needs no explanation */
};

struct drive_result {
	int status; /* one of DRIVE_*, or a hook's own */
	size_t steps, done;
	double cost;
	enum verdict last; /* of the step that ended last */
	char why[512];     /* it ended */
};

/* Takes the feature's lock; -EBUSY when another has it and 'wait' is not set. */
int drive_feature(struct work *work, const struct feature *feature,
		  const struct drive_options *options, struct drive_result *ret, struct err *err);
