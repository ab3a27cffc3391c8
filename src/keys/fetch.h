/* SPDX-License-Identifier: MIT */
/*
 * A secret read from the store by a process of its own, so that nobody waits for a keyring before the
 * value is needed, and several can be read at a time.
 *
 *	fetch_start()		the process is there
 *	fetch.fd		readable: it has ended, or is about to
 *	fetch_finish()		the value; waits for it
 */
#pragma once

#include <sys/types.h>

#include "keys/vault.h"

struct fetch {
	pid_t pid; /* 0: not started */
	int fd;
};

/* False where there is neither a keyring to ask nor a file: there is nothing to fetch. */
bool fetch_is_useful(const char *config_home);

int fetch_start(struct fetch *fetch, const char *config_home, const char *name, struct err *err);
/* -ENOENT: there is none of that name. ret is the caller's to free. */
int fetch_finish(struct fetch *fetch, struct secret *ret, size_t *ret_len, struct err *err);
/* Ends it; safe for a zeroed one. */
void fetch_cancel(struct fetch *fetch);
