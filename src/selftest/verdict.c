/* SPDX-License-Identifier: MIT */
/*
 * What the two lines of an attempt mean. One that works inside is an escape, unless a row below says
 * that this configuration is known to let it: then the row says why, and what would close it.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/str.h"
#include "selftest/selftest.h"
#include "selftest/scene.h"
#include "selftest/trial.h"

enum {
	HOST_NETWORK = 1 << 0,
	NESTED = 1 << 1,
	EXEC = 1 << 2,
	PODMAN = 1 << 3,
	SHOWN = 1 << 4,  /* a mount of the user's shows the home */
	LET_IN = 1 << 5, /* a variable of the user's, which holds a token */
	IMAGE = 1 << 6,
};

static const struct {
	const char *names; /* patterns, with blanks between */
	unsigned int when;
	const char *why, *fix;
} known[] = {
	{ "net-loopback* net-zero-address net-datagram", HOST_NETWORK,
	  "with --network host the machine's own services can be reached",
	  "--network open, or none; --host-port lets single ports in" },
	{ "namespace-* filter-*unshare* filter-*clone* filter-*mount* filter-*setns* "
	  "filter-*pivot* filter-*chroot* filter-*fs* filter-*tree* mount-*",
	  NESTED, "--allow-nested lets programs make namespaces, and so reach more of the kernel",
	  "leave --allow-nested away where no browser or sandbox runs inside" },
	{ "proc-read-keys proc-read-symbols", NESTED, "with --allow-nested /proc is not masked",
	  "leave --allow-nested away where no browser or sandbox runs inside" },
	{ "home-visible host-tmp-visible readonly-mount-reopen readonly-mount-mmap", EXEC,
	  "under 'wrapix exec' the host's tree can be seen, but for what denyRead names",
	  "denyRead in the settings; or 'wrapix run', which shows nothing of the home" },
	{ "proc-read-symbols sys-*-visible", EXEC, "/proc and /sys are the host's, read-only",
	  "'wrapix run' has its own" },
	{ "env-doors env-host-name", EXEC, "the environment and the name of the machine come along",
	  "credentials.envVars in the settings; or 'wrapix run'" },
	{ "system-*", IMAGE,
	  "the system's files are the image's; what is changed goes with the sandbox", NULL },
	{ "env-variable env-any-variable env-doors env-of-any-process", LET_IN,
	  "a variable that you let in holds a token",
	  "--credential NAME=brokered keeps it outside" },
	{ "secret-* home-visible net-path-* key-file", SHOWN,
	  "a mount that you ask for shows the home", "mount a smaller directory" },
	{ "limit-memory limit-fork-bomb", PODMAN,
	  "no control group is delegated to you, so podman enforces no limits",
	  "'wrapix doctor' says how to have one delegated; or --engine native" },
};

static unsigned int conditions(const struct selftest *test)
{
	return (test->network && !strcmp(test->network, "host") ? HOST_NETWORK : 0) |
	       (test->nested ? NESTED : 0) | (!strcmp(test->engine, "exec") ? EXEC : 0) |
	       (!strcmp(test->engine, "podman") ? PODMAN : 0) | (test->shows_home ? SHOWN : 0) |
	       (test->lets_token ? LET_IN : 0) | (test->image ? IMAGE : 0);
}

static bool matches(const char *patterns, const char *name)
{
	char copy[256], *save = NULL;

	(void)snprintf(copy, sizeof(copy), "%s", patterns);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
		if (fnmatch(p, name, 0) == 0)
			return true;
	return false;
}

static void judge_open(const struct selftest *test, struct trial_case *c)
{
	unsigned int when = conditions(test);

	c->verdict = ESCAPED;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if ((known[i].when & when) && matches(known[i].names, c->name)) {
			c->verdict = WEAKER;
			c->why = known[i].why;
			c->fix = known[i].fix;
			return;
		}
	c->why = "it must be impossible";
	c->fix = "report it: SECURITY.md says how";
}

static bool needs_root(const struct trial_case *c)
{
	return !strcmp(c->control, "root");
}

static void judge(const struct selftest *test, struct trial_case *c)
{
	bool inside = c->inside && str_starts(c->inside, "worked");

	c->verdict = NOT_TRIED;
	if (!strcmp(c->control, "laid") || !strcmp(c->control, "pasta"))
		c->why = "needs what only the tests of wrapix prepare";
	else if (!c->inside)
		c->why = "the sandbox that it needs did not start";
	else if (inside)
		judge_open(test, c);
	else if (!needs_root(c) && !(c->outside && str_starts(c->outside, "worked")))
		c->why = "does not work outside either, so it proves nothing";
	else if (!str_starts(c->inside, "stopped"))
		c->why = "could not be made inside";
	else
		c->verdict = CONTAINED;
}

void selftest_judge(struct selftest *test)
{
	for (size_t i = 0; i < test->n_cases; i++)
		judge(test, &test->cases[i]);
}

int selftest_run(struct selftest *test, struct err *err)
{
	_cleanup_scene_ struct scene scene;
	int r = scene_make(&scene, test->state_dir, err);

	if (r == 0)
		r = trial_run(test, &scene, err);
	if (r == 0)
		selftest_judge(test);
	return r;
}

const char *selftest_group(const struct selftest *test, size_t i)
{
	for (size_t k = 0; k < test->n_cases; k++) {
		size_t before = 0;

		while (before < k && strcmp(test->cases[before].group, test->cases[k].group))
			before++;
		if (before == k && i-- == 0)
			return test->cases[k].group;
	}
	return NULL;
}

void selftest_release(struct selftest *test)
{
	arena_release(&test->arena);
}
