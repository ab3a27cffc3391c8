/* SPDX-License-Identifier: MIT */
/* Would it be allowed? A plan's answer about a path or a host, without running anything. */
#pragma once

#include "plan/plan.h"
#include "session/denial.h"
#include "spec/srt.h"

struct why_answer {
	struct denial act; /* what, on what; where it is refused also the reason and the rule */
	bool allowed;
	const char *why; /* safe for a terminal */
	struct fix fix;  /* where it is refused */
};

struct exec;
struct why {
	struct arena arena;
	const struct plan *plan;
	const struct srt_config *config; /* the settings it was made of; NULL: wrapix.json's */
	struct exec *exec;               /* the command that is asked about; NULL: 'wrapix run' */
	struct fix_place place;
	struct why_answer answers[2];
	size_t n;
};

/* The path as it would be resolved; 'path' is absolute. */
void why_path(struct why *why, const char *path);
/* "name", "name:443", "192.0.2.1:22", "[fd00::1]:22"; false with an error when it is none of these. */
int why_host(struct why *why, const char *text, struct err *err);
/* A system call by its name. */
void why_call(struct why *why, const char *name);
void why_release(struct why *why);
