/* SPDX-License-Identifier: MIT */
/* Where a repository's remote is, by its URL. Pure. */
#pragma once

#include "base/arena.h"

struct remote {
	bool ssh;   /* the URL is for ssh */
	char *user; /* for ssh: "git" where the URL names none */
	char *host;
	unsigned port; /* of ssh; 22 where the URL is not for ssh or names none */
	char *path;    /* for a command on the other side: "owner/repo.git", "/srv/repo.git" */
	char *name;    /* "owner/repo" */
};

/* "git@host:owner/repo.git", "ssh://[user@]host[:port]/path", "https://host/owner/repo"; false for a
 * directory, or anything that could be taken for an option or a shell's word. */
bool remote_parse(struct arena *arena, const char *url, struct remote *ret);

/* How the host stands in a known_hosts file: "host", "[host]:2222". */
char *remote_pin(struct arena *arena, const struct remote *remote);
