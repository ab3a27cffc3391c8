/* SPDX-License-Identifier: MIT */
/*
 * What was kept apart, into the project: file by file, each by a copy and a rename. Nothing that the session wrote is
 * followed, and the project is entered without links.
 *
 * The user may have changed the same file meanwhile: it is compared with what it was when it was held (gated_bases.c).
 * Where both changed it both are merged, where that goes; else it is left on both sides, and reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/apart.h"
#include "api/later_priv.h"
#include "api/protection.h"
#include "base/path.h"
#include "cow/base.h"
#include "cow/changes.h"
#include "cow/copy.h"
#include "cow/paths.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/turn.h"
#include "spec/file_rules.h"

enum { DEPTH_MAX = 64, TURN_STEP_US = 100 };
#define COPY FILE_APPLY_DIR "accepted"
#define IS_GIT (-ENOEXEC) /* nothing else ends with that */

struct taking {
	const struct apart *apart;
	const char *file; /* in the directory; NULL: all */
	enum resolution resolution;
	struct apply_report *report;
	struct later bases;
	bool has_bases; /* else a version of wrapix that kept none held it */
	struct timespec began;
	int upper, lower;
	int turn; /* with the sandboxes that change files meanwhile; -1: there can be none */
};

static int open_turn(struct taking *t)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *state = arena_printf(&arena, "%s/../../..", t->apart->place);
	int r = turn_open(turn_path(&arena, state), &t->turn);

	return MIN(r, 0);
}

static int begin(struct taking *t, struct err *err)
{
	_cleanup_close_ int meta = apart_open_meta(t->apart);
	struct stat st;
	int r;

	if (meta >= 0 && fstatat(meta, "meta", &st, 0) == 0)
		t->began = st.st_mtim;
	t->has_bases = meta >= 0 && faccessat(meta, APART_BASES, F_OK, 0) == 0;
	if (t->has_bases)
		later_read(&t->bases, meta, APART_BASES);
	r = open_turn(t);
	if (r < 0)
		return err_errno(err, -r, "taking turns");
	t->upper = apart_open_upper(t->apart);
	t->lower = apart_make_lower(t->apart);
	if (t->upper >= 0 && t->lower >= 0)
		return 0;
	return err_errno(err, t->upper < 0 ? -t->upper : -t->lower, "opening '%s'", t->apart->path);
}

static void end(struct taking *t)
{
	later_release(&t->bases);
	close_ptr(&t->upper);
	close_ptr(&t->lower);
	close_ptr(&t->turn);
}

/* ------------------------------------------------------------------ what the user did meanwhile */

static enum conflict judge(const struct taking *t, const struct later_change *change)
{
	const struct later_file *base = later_find(&t->bases, change->path), *now = change->was;

	if (!t->has_bases || sensitive_bulk(change->path))
		return now && (now->ctime.tv_sec > t->began.tv_sec ||
			       (now->ctime.tv_sec == t->began.tv_sec &&
				now->ctime.tv_nsec > t->began.tv_nsec))
			       ? CONFLICT_CHANGED
			       : CONFLICT_NONE;
	if (!base || !base->mode)
		return now ? CONFLICT_APPEARED : CONFLICT_NONE;
	if (!now)
		return CONFLICT_GONE;
	return later_same(base, now) ? CONFLICT_NONE : CONFLICT_CHANGED;
}

/* A file beside the layers, which the sandbox has never seen. */
static char *put(const struct taking *t, struct arena *arena, int place, const char *name,
		 const struct later_file *file)
{
	struct err ignored;

	return os_write_file_atomic(place, name, file->text, file->len, 0600, &ignored) < 0
		       ? NULL
		       : path_join(arena, t->apart->place, name);
}

/* Both sides' changes, in a file without a name; -1: they do not go together. */
static int merge(const struct taking *t, const struct later_change *change)
{
	const struct later_file *base = later_find(&t->bases, change->path);
	const struct later_file *const sides[] = { change->was, base, change->is };
	static const char *const names[] = { "ours", "base", "theirs" };
	_cleanup_close_ int place = open(t->apart->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct cow cow = COW_NONE;
	char *paths[ARRAY_LEN(sides)] = { NULL };
	int out = openat(place, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	bool merged = out >= 0;

	cow.project = t->apart->project;
	for (size_t i = 0; merged && i < ARRAY_LEN(sides); i++) {
		merged = sides[i] && S_ISREG(sides[i]->mode) && sides[i]->text;
		if (merged)
			paths[i] = put(t, &arena, place, names[i], sides[i]);
		merged = paths[i] != NULL;
	}
	merged = merged && base_merge(&cow, paths[0], paths[1], paths[2], out) == 1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unlinkat(place, names[i], 0);
	if (!merged)
		close_ptr(&out);
	return merged ? out : -1;
}

/* ------------------------------------------------------------------ turns */

/* No sandbox changes anything between this look and what is done then. */
static int take_turn(const struct taking *t, const char *file)
{
	int r = t->turn < 0 ? 0 : turn_await(t->turn, TURN_STEP_US);

	return r == 0 && apart_is_git(t->upper, t->lower, file) ? IS_GIT : r;
}

static void give_turn(const struct taking *t)
{
	if (t->turn >= 0)
		flock(t->turn, LOCK_UN);
}

/* ------------------------------------------------------------------ one file */

/* The directory of the file in the project; those on the way are made. */
static int make_above(const struct taking *t, const char *file)
{
	int to = fcntl(t->lower, F_DUPFD_CLOEXEC, 3), above;

	for (const char *slash; to >= 0 && (slash = strchr(file, '/')) != NULL; file = slash + 1) {
		char name[NAME_MAX + 1];

		snprintf(name, sizeof(name), "%.*s", (int)(slash - file), file);
		mkdirat(to, name, 0755);
		above = to;
		to = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(above);
	}
	return to < 0 ? -errno : to;
}

/* Directories that have nothing but such in them. */
static void remove_empty(int at, const char *name, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	const struct dirent *entry;

	while (depth < DEPTH_MAX && (entry = os_dir_next(list)) != NULL)
		remove_empty(dirfd(list), entry->d_name, depth + 1);
	unlinkat(at, name, AT_REMOVEDIR);
}

/* What is in a directory there went before. */
static int move_in(const struct taking *t, const char *file)
{
	_cleanup_close_ int to = make_above(t, file);
	const char *name = path_name(file);

	if (to < 0 || renameat(t->lower, COPY, to, name) == 0)
		return MIN(to, 0);
	remove_empty(to, name, 0);
	return renameat(t->lower, COPY, to, name) < 0 ? -errno : 0;
}

/* A copy, where no sandbox writes, takes its place at once. */
static int take_file(const struct taking *t, const char *file, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_close_ int from = later_open_above(t->upper, &arena, file);
	int r;

	if (from < 0)
		return err_errno(err, -from, "opening '%s'", file);
	os_remove_tree(t->lower, COPY);
	r = copy_tree(from, path_name(file), t->lower, COPY, err);
	if (r == 0) {
		r = take_turn(t, file);
		if (r == 0)
			r = move_in(t, file);
		give_turn(t);
	}
	if (r < 0)
		os_remove_tree(t->lower, COPY);
	return r < 0 ? err_errno(err, -r, "taking over '%s'", file) : 0;
}

static int remove_file(const struct taking *t, const char *file, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_close_ int dir = later_open_above(t->lower, &arena, file);

	return dir < 0 || (unlinkat(dir, path_name(file), 0) < 0 && errno != ENOENT)
		       ? err_errno(err, dir < 0 ? -dir : errno, "removing '%s'", file)
		       : 0;
}

static int take_one(const struct taking *t, const struct later_change *change, const char *file,
		    struct err *err)
{
	if (!change->is)
		return remove_file(t, file, err);
	if (!S_ISREG(change->is->mode) && !S_ISLNK(change->is->mode))
		return 0; /* pipes and the like stay where they are */
	return take_file(t, file, err);
}

/* From here on the view shows what the project has. */
static int forget(const struct taking *t, const char *file, struct err *err)
{
	int r = os_remove_tree(t->upper, file);

	return r < 0 ? err_errno(err, -r, "removing what was held of '%s'", file) : 0;
}

static int take_merged(const struct taking *t, const struct later_change *change, const char *file,
		       int merged, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_close_ int to = later_open_above(t->lower, &arena, file);
	_cleanup_close_ int dir = -1;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = to < 0 ? to : 0;

	if (r == 0)
		dir = openat(to, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0 && (dir < 0 || lseek(merged, 0, SEEK_SET) < 0))
		r = -errno;
	if (r == 0)
		r = os_read_fd(merged, (size_t)4 * LATER_TEXT_MAX, &text, &len);
	if (r == 0)
		r = take_turn(t, file);
	if (r < 0)
		err_errno(err, -r, "merging '%s'", file);
	else
		r = os_write_file_atomic(dir, path_name(file), text, len, change->was->mode & 0777,
					 err);
	give_turn(t);
	return r < 0 ? r : forget(t, file, err);
}

static enum outcome settle(struct taking *t, const struct later_change *change, const char *file,
			   enum conflict conflict, struct err *err)
{
	_cleanup_close_ int merged = -1;

	if (t->resolution == CONFLICTS_OURS)
		return forget(t, file, err) < 0 ? OUTCOME_FAILED : OUTCOME_KEPT;
	if (conflict == CONFLICT_CHANGED)
		merged = merge(t, change);
	if (merged < 0)
		return OUTCOME_CONFLICT;
	return take_merged(t, change, file, merged, err) < 0 ? OUTCOME_FAILED : OUTCOME_MERGED;
}

/* ------------------------------------------------------------------ one change */

static enum outcome refuse(const struct taking *t, const struct later_change *change)
{
	if (t->report)
		apply_report_add(t->report, OUTCOME_REFUSED, change->path,
				 "git would obey what is in that directory");
	return OUTCOME_REFUSED;
}

static enum outcome take_change(struct taking *t, const struct later_change *change)
{
	const char *file = change->path + strlen(t->apart->path) + 1, *text = NULL;
	enum conflict conflict = judge(t, change);
	enum outcome outcome = OUTCOME_APPLIED;
	struct err err = { 0 };

	if (apart_is_git(t->upper, t->lower, file))
		return refuse(t, change);
	if (conflict && t->resolution != CONFLICTS_THEIRS)
		outcome = settle(t, change, file, conflict, &err);
	else if (take_one(t, change, file, &err) < 0)
		outcome = OUTCOME_FAILED;
	if (outcome == OUTCOME_FAILED && err.code == -IS_GIT)
		return refuse(t, change);
	if (outcome == OUTCOME_CONFLICT)
		text = conflict_text(conflict);
	else if (outcome == OUTCOME_FAILED)
		text = err.msg;
	if (t->report)
		apply_report_add(t->report, outcome, change->path, text);
	return outcome;
}

/* ------------------------------------------------------------------ directories */

/* What is empty has no line in any list: directories that were made are made, and those that were removed go, once
 * nothing is in them. */
static void take_dirs(const struct taking *t, int upper, int lower, const char *path, int depth);

static void make_dir(const struct taking *t, const char *path)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	int dir = -1;

	if (take_turn(t, path) == 0)
		dir = later_open_above(t->lower, &arena, path);
	if (dir >= 0)
		mkdirat(dir, path_name(path), 0755);
	give_turn(t);
	close_ptr(&dir);
}

static void take_dir(const struct taking *t, int upper, int lower, const char *name,
		     const char *path, int depth)
{
	_cleanup_close_ int up = -1, low = -1;
	bool chosen = !t->file || path_below(path, t->file) || !strcmp(path, t->file);
	struct stat st;

	if (apart_is_git(t->upper, t->lower, path) ||
	    fstatat(upper, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (chosen && S_ISCHR(st.st_mode) && st.st_rdev == 0)
		remove_empty(lower, name, 0);
	if (!S_ISDIR(st.st_mode))
		return;
	if (chosen)
		make_dir(t, path);
	up = openat(upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	low = openat(lower, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (up >= 0 && low >= 0)
		take_dirs(t, up, low, path, depth + 1);
}

/* The session's has none of these. */
static void remove_hidden(int upper, int lower)
{
	_cleanup_dir_ DIR *list = os_dir_open(lower, ".");
	const struct dirent *entry;
	struct stat st;

	while ((entry = os_dir_next(list)) != NULL)
		if (fstatat(upper, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			remove_empty(lower, entry->d_name, 0);
}

static void take_dirs(const struct taking *t, int upper, int lower, const char *path, int depth)
{
	_cleanup_dir_ DIR *list = os_dir_open(upper, ".");
	_cleanup_(arena_release) struct arena arena = { NULL };
	const struct dirent *entry;

	if (is_opaque_dir(upper) && (!t->file || path_below(path, t->file)))
		remove_hidden(upper, lower);
	while (depth < DEPTH_MAX && (entry = os_dir_next(list)) != NULL)
		take_dir(t, upper, lower, entry->d_name, path_join(&arena, path, entry->d_name),
			 depth);
}

/* ------------------------------------------------------------------ all of it */

int apart_accept(const struct apart *apart, const char *file, enum resolution resolution,
		 struct apply_report *report, struct err *err)
{
	_cleanup_close_ int held = apart_lock(apart, err);
	struct taking t = { apart, file, resolution, report, .upper = -1, .lower = -1, .turn = -1 };
	struct later_list list = { .v = NULL };
	bool left = false;
	int r = held < 0 ? held : begin(&t, err);

	if (r == 0)
		apart_changes(apart, NULL, &list);
	for (size_t i = 0; r == 0 && i < list.n; i++) {
		const char *name = list.v[i].path + strlen(apart->path) + 1;
		enum outcome outcome;

		if (file && strcmp(name, file) != 0 && !path_below(name, file))
			continue;
		outcome = take_change(&t, &list.v[i]);
		left |= outcome == OUTCOME_CONFLICT || outcome == OUTCOME_FAILED ||
			outcome == OUTCOME_REFUSED;
	}
	if (r == 0)
		take_dirs(&t, t.upper, t.lower, "", 0);
	later_list_release(&list);
	end(&t);
	if (r < 0 || ((file || left) && !apart_is_empty(apart)))
		return r;
	r = apart_remove_place(apart);
	return r < 0 ? err_errno(err, -r, "removing what was held of '%s'", apart->path) : 0;
}

void apart_give(const struct apart *apart, const struct protection *protection,
		struct later_list *list, size_t first)
{
	struct taking t = { apart, .upper = -1, .lower = -1, .turn = -1 };
	size_t n = first;
	struct err ignored; /* it stays held, then */
	bool ready = false;

	for (size_t i = first; i < list->n; i++) {
		struct later_change *change = &list->v[i];
		enum protect_level said = protection_said(protection, change->path);
		enum outcome outcome = OUTCOME_CONFLICT;

		if (said == PROTECT_ALLOW || said == PROTECT_REPORT) {
			ready = ready || begin(&t, &ignored) == 0;
			outcome = ready ? take_change(&t, change) : OUTCOME_FAILED;
		}
		if (outcome == OUTCOME_APPLIED || outcome == OUTCOME_MERGED)
			change->held = false;
		if (change->held || said != PROTECT_ALLOW)
			list->v[n++] = *change;
	}
	list->n = n;
	end(&t);
}
