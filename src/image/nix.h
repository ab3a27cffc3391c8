/* SPDX-License-Identifier: MIT */
/* A Nix closure as a source: what the packages are, all they need, and which of that most others need. */
#pragma once

#include "image/build.h"

struct nix_closure {
	char *store;         /* "/nix/store" */
	struct strv roots;   /* the packages themselves: paths */
	struct strv names;   /* of all: "HASH-NAME", sorted */
	struct strv popular; /* the same, the most popular first */
	char *registration;  /* what the database of a store that gets them must know */
};

/* Packages are attributes of nixpkgs, or paths in the store (or links to some). What nix says goes to the
 * descriptor 'log'. */
int nix_closure_find(struct arena *arena, const struct strv *packages, int log,
		     struct nix_closure *ret, struct err *err);

/* What makes a root of them: /usr/bin with their programs (the first that has one wins), /bin, the
 * certificates, and /nix-path-registration for 'nix-store --load-db'. In the arena. */
void nix_links(struct arena *arena, const struct nix_closure *closure, struct build_file **ret,
	       size_t *ret_n);

/* Parses nix-store's graph ("HASH-NAME" -> "HASH-NAME": what is needed, who needs it) and orders
 * 'names' by how many need each, directly or not. Pure. */
void nix_rank(struct arena *arena, const struct strv *names, const char *graph, struct strv *ret);
