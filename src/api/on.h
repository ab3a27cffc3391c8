/* SPDX-License-Identifier: MIT */
/* 'wrapix run --on': a task on somebody else's engine, and its commits brought back. */
#pragma once

#include "api/export.h"
#include "export/on.h"

struct on_hooks {
	void (*say)(void *ctx, const char *text); /* a line for the user */
	void *ctx;
};

struct str;
/* What would be asked of the engine: the objects, or the command line that makes the container. */
int api_plan_on(struct wrapix_spec *spec, const char *where, const struct task_wishes *wishes,
		struct str *out, struct err *err);
/* Runs the command there with our standard input, output and error. *ret_status is its exit status; its
 * commits are a branch of the project's then, which is said. */
int api_run_on(struct wrapix_spec *spec, const char *where, const struct task_wishes *wishes,
	       bool tty, const struct on_hooks *hooks, int *ret_status, struct err *err);
