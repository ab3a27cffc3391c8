/* SPDX-License-Identifier: MIT */
/*
 * Which steps a choice of changes needs, and what becomes of those that meet changes of the user's.
 *
 * Never taken over, whatever is asked: anything in '.git', anything that would be part of a directory
 * that git takes for a repository (HEAD with objects and refs, or with commondir), special files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/apply.h"
#include "cow/base.h"
#include "cow/copy.h"
#include "cow/show.h"
#include "cow/way.h"
#include "os/fs.h"

struct resolver {
	struct cow *cow;
	const struct changes *changes;
	const struct apply_options *options;
	struct journal *journal;
	struct apply_report *report;
	int dir;
	unsigned n_merged;
	bool *taken;          /* for each change */
	const char *last_dir; /* the last one that was looked at for a repository... */
	bool last_is_repo;    /* ...and what was found */
};

static struct step *add_step(struct resolver *r, enum step_kind kind, const char *path,
			     const struct node *pre, const struct node *post, const char *source)
{
	struct journal *j = r->journal;
	struct step *step = arena_grow(&j->arena, &j->steps, &j->n_steps, sizeof(*step));

	*step = (struct step){
		.kind = kind,
		.path = arena_strdup(&j->arena, path),
		.pre = *pre,
		.post = *post,
		.source = arena_strdup(&j->arena, source),
	};
	/* Bits that give rights are never taken over; those of a directory that is there stay. */
	step->post.mode &= S_IFMT | 0777;
	if (S_ISDIR(pre->mode))
		step->post.mode |= pre->mode & 07000;
	return step;
}

bool resolve_has_name(int root, const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	_cleanup_close_ int fd = -1;
	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path))
		return false;
	fd = os_openat2(root, path, O_PATH | O_DIRECTORY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	/* A mark for a removed file is not one. */
	return fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISCHR(st.st_mode);
}

static const char *const repository_names[] = { "HEAD", "objects", "refs", "commondir" };

/* A directory that git takes for a repository: HEAD with objects and refs, or with commondir. With
 * 'both' what the session would add counts too, whether or not it is taken over now, so that two
 * halves that come one after the other are caught. */
static bool is_repository(const struct resolver *r, const char *dir, bool both)
{
	bool has[ARRAY_LEN(repository_names)] = { false };

	for (size_t i = 0; i < ARRAY_LEN(has); i++)
		has[i] = resolve_has_name(r->cow->root, dir, repository_names[i]) ||
			 (both && resolve_has_name(r->cow->upper, dir, repository_names[i]));
	return has[0] && ((has[1] && has[2]) || has[3]);
}

/* The name that leads on from dir to path is one that makes a repository. */
static bool makes_repository(const char *path, const char *dir)
{
	const char *name = strcmp(dir, ".") ? path + strlen(dir) + 1 : path;
	size_t n = strcspn(name, "/");

	for (size_t i = 0; i < ARRAY_LEN(repository_names); i++)
		if (n == strlen(repository_names[i]) && !strncasecmp(name, repository_names[i], n))
			return true;
	return false;
}

/* The same directory is asked about again and again. */
static bool is_known_repository(struct resolver *r, struct arena *arena, const char *dir)
{
	if (!r->last_dir || strcmp(r->last_dir, dir) != 0) {
		r->last_dir = arena_strdup(arena, dir);
		r->last_is_repo = is_repository(r, dir, false);
	}
	return r->last_is_repo;
}

/* True when a directory on the way is a repository, or becomes one by this change. */
static bool is_in_repository(struct resolver *r, struct arena *arena, const char *path)
{
	const char *dir = strchr(path, '/') ? path_parent(arena, path) : ".";

	for (;; dir = strchr(dir, '/') ? path_parent(arena, dir) : ".") {
		if (makes_repository(path, dir) ? is_repository(r, dir, true)
						: is_known_repository(r, arena, dir))
			return true;
		if (!strcmp(dir, "."))
			return false;
	}
}

static int copy_out(int root, const char *path, int dir, const char *name)
{
	_cleanup_close_ int from = -1, to = -1, parent = node_open_parent(root, path);

	from = parent < 0 ? parent : node_open(parent, path_name(path));
	unlinkat(dir, name, 0); /* with the attributes of the last one */
	to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (from < 0 || to < 0)
		return -EIO;
	copy_xattrs(from, to);
	return copy_content(from, to);
}

static void copy_attributes(int dir, const char *name, int to)
{
	_cleanup_close_ int from = node_open(dir, name);

	copy_xattrs(from, to);
}

/* Of the owner, the group and the others each: what the user gave or took stays. */
static mode_t merged_mode(const struct change *change)
{
	mode_t ours = change->old.mode, mode = change->new.mode &S_IFMT;

	for (mode_t whose = S_IRWXU; whose; whose >>= 3)
		mode |= whose & ((ours ^ change->base.mode) & whose ? ours : change->new.mode);
	return mode;
}

/* A file in the journal's directory with both sides' changes, or NULL. */
static const char *merge(struct resolver *r, const struct change *change)
{
	struct arena *a = &r->journal->arena;
	_cleanup_close_ int base = -1, out = -1;
	char *name = arena_printf(a, "merged.%u", r->n_merged);
	char *at = arena_printf(a, "%s/%s/apply/%u", r->cow->base, r->cow->id, r->journal->number);
	int k;

	if (change->conflict != CONFLICT_CHANGED || change->late_base || change->from ||
	    !S_ISREG(change->old.mode) || !S_ISREG(change->new.mode) || !change->content ||
	    change->old.size > SHOW_MAX || change->new.size > SHOW_MAX)
		return NULL;
	base = openat(r->dir, "base", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	out = openat(r->dir, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* The content was kept a moment after the first look: it may be what the user made of it. */
	if (base < 0 || out < 0 || !base_is(r->cow, change->path, &change->base) ||
	    base_read(r->cow, change->path, base) < 0 ||
	    copy_out(r->cow->root, change->path, r->dir, "ours") < 0 ||
	    copy_out(r->cow->upper, change->path, r->dir, "theirs") < 0)
		return NULL;
	k = base_merge(r->cow, arena_printf(a, "%s/ours", at), arena_printf(a, "%s/base", at),
		       arena_printf(a, "%s/theirs", at), out);
	if (k != 1)
		return NULL;
	copy_attributes(r->dir, "ours", out);
	r->n_merged++;
	return name;
}

/* This version of the session's is dealt with, though the project holds another. */
static void settled(struct resolver *r, const struct change *change)
{
	struct journal *j = r->journal;
	struct manifest_entry *entry = arena_grow(&j->arena, &j->settled, &j->n_settled,
						  sizeof(*entry));

	*entry = (struct manifest_entry){ .path = change->path, .node = change->new };
}

/* What became of it: of those that 'wrapix diff' lists and counts. A new directory goes the way of what is in it; one
 * that was to go and stays is worth a word. */
static void tell(struct resolver *r, enum outcome outcome, const struct change *change,
		 const char *text)
{
	bool goes = outcome == OUTCOME_APPLIED || change->status == CHANGE_ADDED;

	if (!goes || !change_is_implied(r->changes, (size_t)(change - r->changes->v)))
		apply_report_add(r->report, outcome, change->path, text);
}

/* Puts the session's version beside the user's. */
static void put_beside(struct resolver *r, const struct change *change)
{
	char *path = arena_printf(&r->journal->arena, "%s.wrapix-%s", change->path, r->cow->id);
	const struct node nothing = { 0 };

	if (!S_ISREG(change->new.mode) && !S_ISLNK(change->new.mode)) {
		tell(r, OUTCOME_CONFLICT, change, conflict_text(change->conflict));
		return;
	}
	add_step(r, STEP_ADD, path, &nothing, &change->new, change->path);
	settled(r, change);
	tell(r, OUTCOME_BESIDE, change, path);
}

/* True when the change is to be made all the same; merged: with this content. */
static bool settle(struct resolver *r, const struct change *change, const char **merged)
{
	switch (r->options->resolution) {
	case CONFLICTS_THEIRS:
		return true;
	case CONFLICTS_OURS:
		tell(r, OUTCOME_KEPT, change, NULL);
		return false;
	case CONFLICTS_BOTH:
		*merged = merge(r, change);
		if (!*merged)
			put_beside(r, change);
		break;
	default:
		*merged = merge(r, change);
		if (!*merged)
			tell(r, OUTCOME_CONFLICT, change, conflict_text(change->conflict));
	}
	if (*merged) {
		tell(r, OUTCOME_MERGED, change, NULL);
		settled(r, change);
	}
	return *merged != NULL;
}

static void add_steps(struct resolver *r, const struct change *change, const char *merged)
{
	const struct node nothing = { 0 }, *old = &change->old, *new = &change->new;
	struct step *step = NULL;
	bool dirs = S_ISDIR(old->mode) || S_ISDIR(new->mode);

	if (change->from)
		add_step(r, STEP_REMOVE, change->from, &change->from_node, &nothing, NULL);
	if (!node_exists(new)) {
		add_step(r, STEP_REMOVE, change->path, old, &nothing, NULL);
	} else if (!node_exists(old)) {
		step = add_step(r, STEP_ADD, change->path, &nothing, new, change->path);
	} else if (!change->content) {
		add_step(r, STEP_MODE, change->path, old, old, NULL)->post.mode =
			(old->mode & (S_IFMT | (S_ISDIR(old->mode) ? 07000 : 0))) |
			(new->mode & 0777);
	} else if (dirs) {
		add_step(r, STEP_REMOVE, change->path, old, &nothing, NULL);
		step = add_step(r, STEP_ADD, change->path, &nothing, new, change->path);
	} else {
		step = add_step(r, STEP_REPLACE, change->path, old, new, change->path);
	}
	if (step && merged) {
		step->merged = merged;
		step->post.mode = merged_mode(change);
	}
	/* A directory must be open to us until everything is in it. */
	if (step && S_ISDIR(new->mode) && (new->mode & 0700) != 0700) {
		struct node open = step->post;

		open.mode |= 0700;
		add_step(r, STEP_MODE, change->path, &open, &open, NULL)->post.mode =
			step->post.mode;
		r->journal->steps[r->journal->n_steps - 2].post.mode = open.mode;
	}
}

/* Where a link leads is looked at in the project with all that the session made: other links of its may be on the way. */
static void remark(struct resolver *r, const struct change *change)
{
	const int roots[] = { r->cow->upper, r->cow->root };
	const struct way_view view = { roots, ARRAY_LEN(roots), r->cow->project };
	char target[PATH_MAX];

	if (!change->from && S_ISREG(change->new.mode) && (change->new.mode & 07000))
		apply_report_add(r->report, OUTCOME_REMARK, change->path,
				 "without its set-user-id, set-group-id or sticky bit");
	if (change_is_open(change))
		apply_report_add(r->report, OUTCOME_REMARK, change->path,
				 "everybody on this machine may write it");
	if (S_ISLNK(change->new.mode) && !way_find(&view, change->path, target))
		apply_report_add(r->report, OUTCOME_REMARK, change->path,
				 "it is a link that leaves the project");
}

/* The directories that a chosen change needs and that the session made. */
static void take_parents(struct resolver *r, struct arena *arena, const char *path)
{
	while (strchr(path, '/')) {
		const struct change *above;

		path = path_parent(arena, path);
		above = changes_at(r->changes, path);
		if (above && S_ISDIR(above->new.mode) && above->status != CHANGE_MODIFIED)
			r->taken[above - r->changes->v] = true;
	}
}

static bool is_wanted(const struct apply_options *options, const struct change *change)
{
	for (size_t i = 0; options->exact && i < options->n_paths; i++)
		if (!strcmp(options->paths[i], change->path))
			return true;
	return !options->exact && change_is_chosen(change, options->paths, options->n_paths);
}

static void choose(struct resolver *r, struct arena *arena)
{
	for (size_t i = 0; i < r->changes->n; i++) {
		const struct change *change = &r->changes->v[i];

		if (!is_wanted(r->options, change))
			continue;
		r->taken[i] = true;
		if (r->options->n_paths)
			take_parents(r, arena, change->path);
	}
}

/* Whatever was decided about what the user made: once it is taken back it is to be decided again. */
static void note_base(struct resolver *r, const struct change *change, size_t first)
{
	struct journal *j = r->journal;
	struct manifest_entry *base = arena_alloc(&j->arena, sizeof(*base));

	*base = (struct manifest_entry){ change->path, change->base, change->late_base };
	for (size_t i = first; i < j->n_steps; i++)
		j->steps[i].base = base;
}

static void resolve_one(struct resolver *r, struct arena *arena, const struct change *change)
{
	size_t first = r->journal->n_steps;
	const char *merged = NULL;

	if (change->status == CHANGE_IGNORED) {
		tell(r, OUTCOME_REFUSED, change, change->why);
		return;
	}
	/* Ours, while an apply is at work; a session that makes one means no good. */
	if (str_starts(change->path, APPLY_DIR)) {
		tell(r, OUTCOME_REFUSED, change, "the name is wrapix's own");
		return;
	}
	if (is_in_repository(r, arena, change->path)) {
		tell(r, OUTCOME_REFUSED, change,
		     "git would take a directory with it for a repository, and run "
		     "what that says");
		return;
	}
	if (change->sensitive && !r->options->sensitive && node_exists(&change->new)) {
		tell(r, OUTCOME_HELD, change, change->sensitive);
		return;
	}
	if (change->conflict && !settle(r, change, &merged))
		return;
	add_steps(r, change, merged);
	if (change->conflict)
		note_base(r, change, first);
	if (!merged)
		tell(r, OUTCOME_APPLIED, change, NULL);
	remark(r, change);
}

int resolve_changes(struct cow *cow, const struct changes *changes,
		    const struct apply_options *options, struct journal *journal, int dir,
		    struct apply_report *report, struct err *err)
{
	struct arena arena = { 0 };
	struct resolver r = {
		.cow = cow,
		.changes = changes,
		.options = options,
		.journal = journal,
		.report = report,
		.dir = dir,
		.taken = calloc(changes->n + 1, sizeof(bool)),
	};

	if (!r.taken)
		return err_errno(err, ENOMEM, "choosing the changes");
	choose(&r, &arena);
	for (size_t i = 0; i < changes->n; i++)
		if (r.taken[i])
			resolve_one(&r, &arena, &changes->v[i]);
	journal_sort(journal);
	free(r.taken);
	arena_release(&arena);
	return 0;
}

bool resolve_is_repository(struct cow *cow, const char *path)
{
	struct resolver r = { .cow = cow };
	struct arena arena = { 0 };
	bool found = is_in_repository(&r, &arena, path);

	arena_release(&arena);
	return found;
}

bool resolve_makes_repository(const struct cow *cow, const char *path)
{
	bool has[ARRAY_LEN(repository_names)] = { false }, found = false;
	struct arena arena = { 0 };
	const char *dir = path;

	do {
		const char *name = path;

		dir = strchr(dir, '/') ? path_parent(&arena, dir) : ".";
		if (strcmp(dir, ".") != 0)
			name += strlen(dir) + 1;
		has[0] = true;
		for (size_t i = 0; i < ARRAY_LEN(has) && has[0]; i++) { /* HEAD is seldom there */
			size_t n = strlen(repository_names[i]);

			has[i] = (strcspn(name, "/") == n &&
				  !strncasecmp(name, repository_names[i], n)) ||
				 resolve_has_name(cow->root, dir, repository_names[i]);
		}
		found = has[0] && ((has[1] && has[2]) || has[3]);
	} while (!found && strcmp(dir, ".") != 0);
	arena_release(&arena);
	return found;
}
