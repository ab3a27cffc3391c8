/* SPDX-License-Identifier: MIT */
/*
 * Which hosts a tool downloads packages from. No list of ours names them: the tool's own
 * configuration on this machine does, and it is asked when a filtered network needs to know.
 */
#pragma once

#include "base/arena.h"

struct registry_place {
	const char *home; /* the user's */
	/* Answers are kept there until a tool or its configuration changes. */
	const char *cache_home;
	const char *path;   /* PATH, to find the tools in */
	const char *except; /* nothing at or below this directory is run: the project */
};

/* The i-th tool that can be asked, NULL after the last. */
const char *registry_name(size_t i);

/* Adds the hosts as "HOST:PORT" to ret; false when this machine does not know them. */
bool registry_hosts(struct arena *arena, const char *name, const struct registry_place *place,
		    struct strv *ret);

/* The hosts that a tool has used, as far as files say it that a sandbox may have written: for the user to look at. */
void registry_used(struct arena *arena, const char *name, const struct registry_place *place,
		   struct strv *ret);

/* The hosts in a tool's answer: URLs, and where 'bare' is set words that look like a host's name
 * too. Pure. */
void registry_scan(struct arena *arena, const char *text, bool bare, struct strv *ret);
