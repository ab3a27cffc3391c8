/* SPDX-License-Identifier: MIT */
/*
 * What a session changed: one walk over what the sandbox wrote, compared with the project as it is
 * now. A cost of the changes, not of the project.
 */
#pragma once

#include "cow/aliases.h"
#include "cow/cow.h"
#include "cow/manifest.h"

enum change_status {
	CHANGE_ADDED = 'A',
	CHANGE_MODIFIED = 'M', /* content, or mode alone */
	CHANGE_DELETED = 'D',
	CHANGE_RENAMED = 'R',
	CHANGE_TYPE = 'T',   /* another kind of thing stands there */
	CHANGE_IGNORED = '!' /* cannot be taken over: 'why' says why */
};

/* What the user did meanwhile, where that meets the change. */
enum conflict {
	CONFLICT_NONE,
	CONFLICT_CHANGED,  /* changed it */
	CONFLICT_GONE,     /* removed it */
	CONFLICT_APPEARED, /* made one of the same name */
	CONFLICT_ABOVE,    /* did one of these to a directory on the way */
};
const char *conflict_text(enum conflict conflict);

struct change {
	enum change_status status;
	const char *path;
	const char *from; /* CHANGE_RENAMED: what it was called; a deletion of that is not listed */
	struct node old;  /* in the project now; of 'from' when it was renamed */
	struct node new;  /* in the session */
	struct node from_node; /* CHANGE_RENAMED: of 'from' in the project */
	struct node base; /* what it was when the session began; empty where that is not known */
	bool emptied;     /* a removed directory: a file that was renamed lay in it */
	bool content;     /* the content differs, not only the mode */
	enum conflict conflict;
	bool late_base;             /* what it was when the session began is not known */
	const char *sensitive;      /* who would execute it (cow/paths.h), or NULL */
	const char *from_sensitive; /* the same of 'from' */
	const char *why;
};

struct changes {
	struct arena arena;
	struct change *v; /* by path; directories before what is in them */
	size_t n;
	bool git;               /* something in a git directory changed: that is never taken over */
	struct aliases aliases; /* links of the project whose names count */
};

/* The project must be open. */
int changes_find(struct changes *changes, struct cow *cow, struct err *err);
void changes_release(struct changes *changes);

/* Finds pairs of one deleted and one added file that are the same; part of changes_find(). */
void changes_find_renames(struct changes *changes, const struct cow *cow);

/* A directory of an overlay's upper one that hides what the lower one has there. */
bool is_opaque_dir(int dir);

/* The change of that path, or NULL. */
const struct change *changes_at(const struct changes *changes, const char *path);

/* The session made it, and anybody on this machine may write it: no diff says so. */
bool change_is_open(const struct change *change);
/* Who may read, write or execute it changes: git's format tells of the owner's right to execute alone. */
bool change_has_mode(const struct change *change);

/* True for a directory whose change needs no line of its own: others below it tell. */
bool change_is_implied(const struct changes *changes, size_t i);
/* True when path is one of the n paths or lies below one; always, when n is 0. */
bool change_is_chosen(const struct change *change, char *const *paths, size_t n);
