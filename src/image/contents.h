/* SPDX-License-Identifier: MIT */
/*
 * What every image of ours has, whatever it is made from: the user and his home, private places, the
 * project's, our entrypoint and notification client, pinned host keys; and, when asked, an agent with its
 * settings.
 */
#pragma once

#include "image/build.h"
#include "spec/agent.h"

struct contents {
	const char *architecture;
	const char *agent;        /* NULL: none */
	const struct spec *spec;  /* the profile: variables, writable directories */
	struct build_found found; /* the source's tables of users */
	char *program_at;         /* the agent's, by contents_find_agent() */
	char *interpreter;        /* that it needs in the image; or NULL */
	char *root, *root_at;     /* its files on this machine, and where they go */
};

/* Where the agent that was asked for is installed here. */
int contents_find_agent(struct contents *contents, struct arena *arena, struct err *err);

/* Adds the layers and fills the image's configuration. *ret_said, in the image's arena, is a line for
 * the user, or NULL. */
int contents_add(const struct contents *contents, struct store *store, const struct build_how *how,
		 struct oci_image *image, char **ret_said, struct err *err);
