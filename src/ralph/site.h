/* SPDX-License-Identifier: MIT */
/*
 * Where ralph works and where it keeps things:
 *
 *	PROJECT/specs/NAME.md                   a spec
 *	PROJECT/.wrapix/ralph/NAME.jsonl        the items of a feature, for git (export.h)
 *	PROJECT/.wrapix/ralph/template/         the project's own templates
 *	STATE/wrapix/ralph/KEY.db               the database
 *	STATE/wrapix/ralph/KEY/specs/NAME.md    a hidden spec
 *	                      /logs/N.jsonl     what the agent of step N printed
 *	                      /patches/N.diff   what step N changed
 *	                      /lock-NAME        held by who works on a feature
 *	                      /lock             held by who takes a step over into the project
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct site {
	struct arena arena;
	char *top;   /* the project, canonical: the top of its repository where there is one */
	char *state; /* STATE/wrapix/ralph/KEY */
	char *state_home;
	char *db;
	bool git; /* top is a repository's */
};

/* From the working directory; a project can be worked on from any directory in it. As root, becomes the
 * project's owner first. Makes the state directories. */
int site_find(struct site *site, struct err *err);
void site_release(struct site *site);

/* Opens a directory below the project without following links; made where 'make' says so. */
int site_open_dir(const struct site *site, const char *path, bool make, struct err *err);

/*
 * A lock that ends with this process and no child holds: a descriptor, or -EBUSY with the holder's pid in
 * the message. wait: as long as it takes.
 */
int site_lock(const struct site *site, const char *name, bool wait, struct err *err);
