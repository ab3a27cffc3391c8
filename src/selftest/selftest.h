/* SPDX-License-Identifier: MIT */
/*
 * 'wrapix selftest': the escape suite on this machine, with this user's configuration.
 *
 * The attempts are a program of their own (attempt/), static, that really tries what must be
 * impossible. A victim (the same program) runs as the user with a secret in every place that a
 * process has; each attempt is made outside first, where it must work, or it would prove nothing,
 * and then in a sandbox that 'wrapix run' or 'wrapix exec' starts as it would for the user.
 *
 *	scene.c    the directory, what lies in it, the victim; all of it goes at the end
 *	trial.c    both sides, and the lines they print
 *	verdict.c  what a line means: contained, weaker by a choice or a design that is known, open
 *
 * Nothing here needs or uses root's rights: attempts whose control does are made inside only, and
 * are counted apart. What an attempt touches on the host is the victim's.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* From best to worst. */
enum containment {
	NOT_TRIED, /* it cannot be made here, or does not work outside either */
	CONTAINED,
	WEAKER, /* it works, and this configuration is known to let it */
	ESCAPED,
};

struct trial_case {
	const char *name, *group, *control;
	bool evidence;       /* judged by what became of the user's terminal */
	const char *outside; /* the line of the control, without the name; NULL: none was run */
	const char *inside;
	enum containment verdict;
	const char *why, *fix; /* of what is weaker or was not tried; may be NULL */
};

struct selftest {
	/* what is asked for */
	const char *engine;    /* native, podman, exec */
	char *const *options;  /* of 'wrapix run'; NULL-terminated, or NULL */
	const char *state_dir; /* where the directory is made */
	void (*say)(const char *what);
	/* what comes out */
	struct arena arena;
	const char *network;                        /* NULL under exec */
	bool nested, shows_home, lets_token, image; /* what the user asked for */
	struct strv weaker; /* what holds less on this machine than it could, in words */
	struct trial_case *cases;
	size_t n_cases;
};

int selftest_run(struct selftest *test, struct err *err);
void selftest_release(struct selftest *test);

/* The verdict of every case, from its two lines and the configuration. */
void selftest_judge(struct selftest *test);

/* The groups in their order; NULL at the end. */
const char *selftest_group(const struct selftest *test, size_t i);
