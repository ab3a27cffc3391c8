/* SPDX-License-Identifier: MIT */
/* The flags of claude_keys.c's table. "Project" means both files of a project, shared and local. */
#pragma once

#include "spec/claude.h"

enum claude_key_flags {
	KEY_LOCK = 1 << 0,       /* a project's value is ignored under a lock, or without trust */
	KEY_LOCK_TRUE = 1 << 1,  /* the same for true alone */
	KEY_LOCK_FALSE = 1 << 2, /* for false alone */
	KEY_TRUST_TRUE = 1 << 3, /* true is ignored without trust */
	KEY_NEVER = 1 << 4,      /* never from a project */
	KEY_NEVER_TRUE = 1 << 5, /* true never from a project */
	KEY_MANAGED = 1 << 6,    /* from managed settings alone */
	KEY_DOMAINS = 1 << 7,    /* allowManagedDomainsOnly leaves managed values alone */
	KEY_PATHS = 1 << 8,      /* allowManagedReadPathsOnly does */
	KEY_RULES = 1 << 9,      /* a list of permission rules */
	KEY_NO_EFFECT = 1 << 10, /* nothing to do for it here */
	KEY_TRUST = 1 << 11,     /* ignored without trust, a lock aside */
	KEY_BY_SCOPE = 1 << 12,  /* what an entry means depends on the file it is in */
};
