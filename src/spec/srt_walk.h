/* SPDX-License-Identifier: MIT */
/*
 * Where the paths of the settings lead. This looks at the file system.
 *
 * Symbolic links: a deny rule follows them all, and also denies changing a link that it went through.
 * A rule that allows follows only those that the sandbox cannot have made: in directories that belong
 * to root, that nobody else may write, and that do not lie in the working directory. Otherwise a
 * command could leave 'build -> ~/.ssh' behind and be given ~/.ssh the next time.
 *
 * '..' after a link is the parent of what the link leads to, as the kernel has it; who reads the text takes it for another
 * place. A deny rule denies both, and one that allows allows neither.
 */
#pragma once

#include "spec/srt.h"

/* Goes through the components of a path. */
struct srt_walk {
	struct arena *arena;
	const char *cwd;
	bool follow_all;
	char *done, *rest;
	struct strv links; /* that were gone through */
	struct strv left;  /* directories that '..' went up from */
	const char *stop;  /* the link that was not followed, or NULL */
	bool absent;
};

/* All of an absolute path, or up to 'stop'. */
int srt_walk(struct srt_walk *w, const char *path, struct err *err);

/* '~' is the home; the rest counts from the working directory. */
char *srt_absolute(struct arena *arena, const struct srt_place *place, const char *text);
/* The same with every '..' where it stands. */
char *srt_raw(struct arena *arena, const struct srt_place *place, const char *text);

/* The beginning of a path without patterns leads elsewhere than its text says: 1 and the walk; 0: it does not. */
int srt_leads_elsewhere(const struct srt_place *place, const char *raw, struct srt_walk *ret,
			struct err *err);
/* 1 for an entry that is to allow something and says one thing and means another, which is told. */
int srt_is_ambiguous(struct arena *arena, const struct srt_place *place, const char *text,
		     bool literal, const char *key, struct srt_notes *notes, struct err *err);

/* An entry that allows, absolute and resolved; "" and a warning when it goes through a link that the
 * sandbox may have made; NULL on failure. Strings live in the arena. */
char *srt_resolve_allowed(struct arena *arena, const struct srt_place *place, const char *text,
			  const char *key, struct srt_notes *notes, struct err *err);
