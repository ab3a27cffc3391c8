/* SPDX-License-Identifier: MIT */
/*
 * The policy of 'wrapix exec' as a Seatbelt profile, for sandbox-exec of macOS. There the last rule that
 * matches decides, where our rules decide by the longest part they cover; so rules are written from the
 * short to the long, and globs, whose length depends on the path, between two rounds of them. Where both
 * cannot be had at once the profile refuses: it is never more open than the rules.
 *
 * Pure: made and tested on any machine.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define SEATBELT_STRING_MAX 1025 /* bytes in one string of a profile */

struct exec_spec;

struct seatbelt {
	const struct exec_spec *exec;
	const char *tag;     /* in the log of each refusal: how ours are known */
	const char *tmpdir;  /* private, and writable */
	const char *tty;     /* the command's own terminal; NULL: none */
	unsigned proxy_port; /* of the filter on the loopback; 0: no network */
	bool open_network;   /* nothing is filtered */
};

int seatbelt_add(struct str *out, const struct seatbelt *seatbelt, struct err *err);
