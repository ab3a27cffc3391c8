/* SPDX-License-Identifier: MIT */
/*
 * System calls that no sandbox may make (data/seccomp), refused by the supervisor in the filter's place,
 * because an errno of the kernel's leaves no trace. The answer is the filter's own, run over the numbers
 * of the call; nothing that is read of the caller's memory decides anything.
 *
 * The first guest of the listener: what the filter refuses no other guest may let go on.
 */
#pragma once

#include "base/str.h"
#include "guard/notify.h"

struct refused_call {
	const char *name;
	/* Those that matter, for a person: "\"tmpfs\", \"/mnt\""; hostile, escaped. */
	const char *args;
	const char *reason; /* "namespaces": a sandbox that may have its own could make it */
	pid_t pid;          /* the thread's, on the host */
};

struct refused {
	const struct notify *notify;
	bool nested; /* by which filter */
	void (*fn)(void *ctx, const struct refused_call *call);
	void *ctx;
};

/* The call is refused for the mode that it would give a file; the reason is "setuid" then. */
bool refused_by_mode(const char *name);
/* A notify_fn for the calls of seccomp_refused(). */
int refused_call(void *refused, const struct seccomp_notif *call);
