/* SPDX-License-Identifier: MIT */
/* Makes the attempts on both sides; verdict.c says what came of it. */
#pragma once

#include "selftest/selftest.h"

struct scene;

/* Fills the cases, but for their verdicts. */
int trial_run(struct selftest *test, struct scene *scene, struct err *err);
