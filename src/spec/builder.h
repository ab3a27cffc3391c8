/* SPDX-License-Identifier: MIT */
/*
 * What 'wrapix-builder' wants beyond a spec: a machine for remote builds, whose root is one in a user
 * namespace with a range of ids. Who may be reached, limits, the image and the port are in the spec itself.
 */
#pragma once

#define BUILDER_HOST "wrapix-builder" /* its name */

struct builder_spec {
	const char *nix;   /* the directory on the host that is its /nix */
	const char *stage; /* the one with its configuration (entry/builder.h) */
};
