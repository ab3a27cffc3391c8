/* SPDX-License-Identifier: MIT */
/*
 * Files of a project that something outside obeys or runs later: an editor, an agent, a hook manager, a
 * shell, a build, CI (cow/paths.h). What they were is known from before a session, what they are is looked
 * at after it, and what changed is told with its difference and with when it would count.
 *
 * Nothing walks the tree. Where the supervisor makes the changes itself (--git private) it notes each such
 * file before its first change, at any depth, and writes the note down, so that a session that was killed is told of
 * as well. Where it does not, the names at the top of the project are looked at before, and what lies in such
 * directories.
 *
 *	later.c          notes, and looks
 *	later_file.c     the notes of a session that may be killed
 *	later_changes.c  what is different now, in the project or in what is held of it
 *	later_tell.c     the words for it
 */
#pragma once

#include "base/arena.h"
#include "spec/spec.h"

enum later_limit {
	LATER_FILES_MAX = 100000, /* what is more is counted */
	LATER_TEXT_MAX = 64 * 1024,
	LATER_TEXTS_MAX = 16 << 20, /* of all files; then the others have no difference to show */
};

struct later_file;

struct later {
	struct arena arena;
	struct protection protection; /* borrowed */
	bool noted;                   /* by later_note(), not by a look at the top */
	bool brief;                   /* large files are not read: size and time tell */
	int file;                     /* the notes are written to it as well; 0: to none */
	struct later_file *v;
	size_t n;
	unsigned *index; /* of v by path, plus one; 0: free */
	size_t n_index;
	size_t texts;       /* bytes */
	size_t more;        /* files beyond those, which were changed */
	struct strv unseen; /* directories that were moved, and are too large to look through */
};

/* Where nobody is asked about changes: what is ro and at the top becomes read-only. */
void later_close(struct spec *spec, const char *project);

/* What is at the top now. A project that cannot be opened has nothing. */
void later_look(struct later *later, const char *project);
/* Before a change: what the path of the project is, by its directory and name; the first time counts. False: it is
 * a directory in which something may not be moved. */
bool later_note(struct later *later, int dir, const char *name, const char *path);
void later_release(struct later *later);

/* The directory of a path of the project, by no link: O_PATH, or -errno. */
int later_open_above(int root, struct arena *arena, const char *path);

/* later_file.c: what an earlier process noted. */
void later_read(struct later *later, int dir, const char *name);

/* One file that is different. */
struct later_change {
	const char *path;
	const char *as;                    /* the name by which it is obeyed; as a rule the path */
	const struct later_file *was, *is; /* NULL: there was, or is, none */
	bool held;                         /* not in the project, but in what is held of it */
	bool fresh;                        /* changed since the given time */
};

struct later_list {
	struct arena arena;
	struct later_change *v;
	size_t n;
	struct later was, is; /* whose files those are */
	struct strv trees;    /* that a package manager fills, and that were changed */
	size_t more;
	struct strv unseen;
};

/* What is different in the project now. */
void later_changes(struct later_list *list, struct later *before, const char *project);
/* What is different in what is held of the directory 'path': its upper layer, and the directory itself, -1: there
 * is none. */
void later_held(struct later_list *list, int upper, int lower, const char *path,
		const struct timespec *since);
void later_list_release(struct later_list *list);

/* "added", "changed", "removed" */
const char *later_word(const struct later_change *change);
/* As members of an event (docs/events.md). */
struct str;
void later_add_members(struct str *out, const struct later_change *change);
/* The difference, a line each, and no more of it than one looks at. */
void later_diff(const struct later_change *change, struct arena *arena, struct strv *ret);
/* A line for each, then its difference: the first of them, those of git, agents and editors before others, and how
 * many more there are. */
void later_tell(struct later_list *list, const char *id, struct arena *arena,
		struct strv *ret_says);
