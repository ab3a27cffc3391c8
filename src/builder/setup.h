/* SPDX-License-Identifier: MIT */
/*
 * What root's side of Nix must have to reach the builder, as changes of files below /etc, and the way
 * back. What was there is kept in ETC/nix/wrapix-builder.saved before the first byte is changed.
 */
#pragma once

#include "builder/builder.h"

struct setup_change {
	char *path;
	const char *name; /* below etc */
	bool secret;      /* its text is shown to nobody */
	char *before;     /* NULL: there is no such file */
	size_t before_len;
	unsigned before_mode;
	bool unreadable; /* it is there, and we may not look */
	char *after;     /* NULL: there will be none */
	size_t after_len;
	unsigned mode;     /* afterwards */
	unsigned uid, gid; /* the same; -1U: whoever we are */
	bool edited;       /* somebody changed it since setup: only --force goes on */
};

struct setup_changes {
	struct arena arena;
	char *etc;
	struct setup_change *v;
	size_t len;
	bool back;        /* the way back: what was saved is forgotten at the end */
	struct strv made; /* directories that setup makes, or made; below etc, parents first */
};

/* Looks, and changes nothing. etc: "/etc", or another place for it. */
int setup_plan(struct builder *builder, const char *etc, struct setup_changes *ret,
	       struct err *err);
int unsetup_plan(const char *etc, struct setup_changes *ret, struct err *err);
/* True when nothing would change. */
bool setup_is_done(const struct setup_changes *changes);
/* Carries them out: all that was there is saved first (setup), and forgotten last (unsetup). */
int setup_apply(struct setup_changes *changes, struct err *err);
/* As root: files are read as this user, whose they are, until builder_return(). */
int builder_become(const char *user, struct err *err);
int builder_return(struct err *err);
void setup_release(struct setup_changes *changes);
