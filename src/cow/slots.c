/* SPDX-License-Identifier: MIT */
/* The slots of an apply. */
#include "cow/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "cow/copy.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/files.h"

struct slot_name {
	char s[24];
};

static struct slot_name slot_name(size_t i)
{
	struct slot_name name;

	snprintf(name.s, sizeof(name.s), "%zu", i);
	return name;
}

static void outside_name(const struct slots *slots, char ret[64])
{
	snprintf(ret, 64, APPLY_DIR "%s", slots->cow->id);
}

void slots_init(struct slots *slots, const struct cow *cow, int journal)
{
	*slots = (struct slots){ .cow = cow, .journal = journal, .fd = -1 };
	slots->outside = !os_same_mount(cow->root, cow->dir);
}

void slots_release(struct slots *slots)
{
	if (slots->fd >= 0)
		close(slots->fd);
	slots->fd = -1;
}

static int open_at(int dir, const char *name, bool make)
{
	int fd;

	if (make && mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (make && fd >= 0)
		copy_inherits_nothing(fd);
	return fd < 0 ? -errno : fd;
}

static int open_slots(struct slots *slots, bool make, struct err *err)
{
	char name[64];

	slots_release(slots);
	outside_name(slots, name);
	slots->fd = slots->outside ? open_at(slots->cow->root, name, make)
				   : open_at(slots->journal, "slots", make);
	if (slots->fd >= 0)
		return 0;
	return err_errno(err, -slots->fd, "making room in '%s'",
			 slots->outside ? slots->cow->project : slots->cow->base);
}

int slots_make(struct slots *slots, struct err *err)
{
	return open_slots(slots, true, err);
}

/* When it is done the slots of another file system are in the session; there is nothing to open. */
int slots_open(struct slots *slots, struct err *err)
{
	int r = open_slots(slots, false, err);

	return r == -ENOENT && slots->outside ? 0 : r;
}

int slots_sync(struct slots *slots, struct err *err)
{
	/* In the session they lie beside the journal, which was written just now. */
	return slots->fd >= 0 && slots->outside && syncfs(slots->fd) < 0
		       ? err_errno(err, errno, "writing to the disk")
		       : 0;
}

static int remove_outside(struct slots *slots, struct err *err)
{
	char name[64];
	int r;

	outside_name(slots, name);
	if (slots->fd >= 0)
		open_up_tree(slots->fd);
	r = os_remove_tree(slots->cow->root, name);
	return r < 0 ? err_errno(err, -r, "removing '%s' in the project", name) : 0;
}

/* Copies those slots that hold what came out of the project; the others say by their absence that
 * nothing did, or that what was in them went out. */
static int copy_slots(struct slots *slots, const struct journal *journal, int from, int to,
		      struct err *err)
{
	for (size_t i = 0; i < journal->n_steps; i++) {
		const struct step *step = &journal->steps[i];
		struct slot_name name = slot_name(i);
		struct node node;
		int r = node_at(from, name.s, &node);

		if (r < 0)
			err_errno(err, -r, "looking at it");
		if (r == 0 && node_exists(&node) &&
		    (step->kind != STEP_REPLACE || slot_is_moved(slots, i, step)))
			r = copy_own(from, name.s, to, name.s, err);
		if (r < 0)
			return err_wrap(err, "keeping what was at '%s'", step->path);
	}
	return 0;
}

int slots_keep(struct slots *slots, const struct journal *journal, struct err *err)
{
	_cleanup_close_ int to = -1;
	int r;

	if (!slots->outside)
		return 0;
	if (slots->fd < 0)
		return 0; /* done before a crash */
	os_remove_tree(slots->journal, "slots");
	to = open_at(slots->journal, "slots", true);
	r = to < 0 ? err_errno(err, -to, "making room for what was replaced")
		   : copy_slots(slots, journal, slots->fd, to, err);
	if (r == 0 && syncfs(to) < 0)
		r = err_errno(err, errno, "writing to the disk");
	if (r < 0) /* a full disk has no room for an undo either */
		os_remove_tree(slots->journal, "slots");
	return r;
}

int slots_leave(struct slots *slots, struct err *err)
{
	int r = slots->outside ? remove_outside(slots, err) : 0;

	slots_release(slots);
	return r;
}

int slots_fetch(struct slots *slots, const struct journal *journal, struct err *err)
{
	_cleanup_close_ int from = -1;
	int r;

	if (!slots->outside || journal_state(slots->journal) != JOURNAL_DONE)
		return 0;
	r = remove_outside(slots, err); /* of an attempt that was killed */
	if (r == 0)
		r = slots_make(slots, err);
	from = open_at(slots->journal, "slots", false);
	if (r == 0 && from < 0)
		r = err_errno(err, -from, "opening what was replaced");
	for (size_t i = 0; r == 0 && i < journal->n_steps; i++) {
		struct slot_name name = slot_name(i);
		struct node node;

		r = node_at(from, name.s, &node);
		if (r == 0 && node_exists(&node))
			r = copy_own(from, name.s, slots->fd, name.s, err);
	}
	return r;
}

int slots_drop(struct slots *slots, struct err *err)
{
	int r = 0;

	if (slots->outside)
		r = remove_outside(slots, err);
	slots_release(slots);
	if (r == 0 && slots->journal >= 0) {
		_cleanup_close_ int fd = open_at(slots->journal, "slots", false);

		if (fd >= 0)
			open_up_tree(fd);
		os_remove_tree(slots->journal, "slots");
	}
	return r;
}

static struct timespec from_ns(int64_t ns)
{
	return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

static int stage_file(int from, int dir, const char *name, const struct step *step)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, from_ns(step->post.mtime) };
	_cleanup_close_ int to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = to < 0 ? -errno : copy_content(from, to);

	if (r == 0)
		copy_xattrs(from, to);
	if (r == 0 &&
	    (fchmod(to, step->post.mode & 0777) < 0 || (!step->merged && futimens(to, times) < 0)))
		r = -errno;
	return r;
}

static int stage_link(int from_dir, const char *from, int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, from, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, dir, name) < 0 ? -errno : 0;
}

static int stage_from(const struct step *step, int upper, int journal, int dir, const char *name)
{
	_cleanup_close_ int parent = -1, from = -1;

	if (S_ISDIR(step->post.mode))
		return mkdirat(dir, name, 0700) < 0 || fchmodat(dir, name, step->post.mode & 0777,
								AT_SYMLINK_NOFOLLOW) < 0
			       ? -errno
			       : 0;
	if (step->merged) {
		from = node_open(journal, step->merged);
		return from < 0 ? from : stage_file(from, dir, name, step);
	}
	parent = node_open_parent(upper, step->source);
	if (parent < 0)
		return parent;
	if (S_ISLNK(step->post.mode))
		return stage_link(parent, path_name(step->source), dir, name);
	from = node_open(parent, path_name(step->source));
	return from < 0 ? from : stage_file(from, dir, name, step);
}

/*
 * Who else may use a file is the user's word, never the session's: what replaces a file gets the access list of that, what
 * is new the one that its directory gives. Without it the bits of the mode that stand for the list's mask would be the
 * group's.
 */
static int stage_list(const struct slots *slots, const struct step *step, const char *name)
{
	_cleanup_close_ int dir = node_open_parent(slots->cow->root, step->path);
	struct arena arena = { 0 };
	const char *path = step->path;
	bool listed;

	while (dir < 0 && strchr(path, '/')) { /* it is new, too */
		path = path_parent(&arena, path);
		dir = node_open_parent(slots->cow->root, path);
	}
	arena_release(&arena);
	if (dir < 0 || S_ISLNK(step->post.mode))
		return 0;
	listed = step->kind == STEP_REPLACE && S_ISREG(step->pre.mode)
			 ? copy_access(dir, path_name(step->path), slots->fd, name)
			 : copy_inherited(dir, slots->fd, name);
	return listed && fchmodat(slots->fd, name, step->post.mode & 0777, AT_SYMLINK_NOFOLLOW) < 0
		       ? -errno
		       : 0;
}

int slot_stage(struct slots *slots, size_t i, struct step *step, int upper, int journal)
{
	struct slot_name name = slot_name(i);
	int r = stage_from(step, upper, journal, slots->fd, name.s);

	if (r == 0)
		r = stage_list(slots, step, name.s);
	return r < 0 ? r : node_at(slots->fd, name.s, &step->post);
}

bool slot_is_moved(const struct slots *slots, size_t i, const struct step *step)
{
	struct slot_name name = slot_name(i);
	struct node node;

	if (step->kind == STEP_MODE)
		return false; /* harmless to do again, and its place tells */
	if (node_at(slots->fd, name.s, &node) < 0)
		return false;
	switch (step->kind) {
	case STEP_ADD:
		return !node_exists(&node);
	case STEP_REPLACE:
		return node_exists(&node) && node.ino != step->post.ino;
	default:
		return node_exists(&node);
	}
}

/* What came out is what was expected; a directory must be empty besides. */
static bool is_expected(int dir, const char *name, const struct node *want)
{
	struct node node;

	return node_at(dir, name, &node) == 0 && node_is_same(&node, want) &&
	       (!S_ISDIR(node.mode) || os_dir_is_empty(dir, name));
}

/* One thing from here to there, where nothing is. */
static int move_one(int from, const char *from_name, int to, const char *to_name)
{
	int r = os_move_new(from, from_name, to, to_name);

	return r == -EEXIST ? -ESTALE : r;
}

/* Out of its place, and back again when it is not what was expected. */
static int take_out(int slots, const char *slot, const struct place_at *place,
		    const struct node *want)
{
	int r;

	if (S_ISDIR(want->mode) && !is_expected(place->dir, place->name, want))
		return faccessat(place->dir, place->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0
			       ? -ENOENT
			       : -ENOTEMPTY;
	r = move_one(place->dir, place->name, slots, slot);
	if (r < 0 || is_expected(slots, slot, want))
		return r;
	r = move_one(slots, slot, place->dir, place->name);
	return r < 0 ? r : -ESTALE;
}

static int exchange(int slots, const char *slot, const struct place_at *place)
{
	char old[32];

	if (renameat2(slots, slot, place->dir, place->name, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system without it: the old one gets a second name, then the new one takes the place. */
	snprintf(old, sizeof(old), "%s.old", slot);
	unlinkat(slots, old, 0);
	if (linkat(place->dir, place->name, slots, old, 0) < 0 ||
	    renameat(slots, slot, place->dir, place->name) < 0 ||
	    renameat(slots, old, slots, slot) < 0)
		return -errno;
	return 0;
}

static int swap(int slots, const char *slot, const struct place_at *place, const struct node *want)
{
	int r;

	/* Looked at before, too, so that a file that changed long ago is not moved at all. */
	if (!is_expected(place->dir, place->name, want))
		return -ESTALE;
	r = exchange(slots, slot, place);
	if (r < 0 || is_expected(slots, slot, want))
		return r;
	r = exchange(slots, slot, place);
	return r < 0 ? r : -ESTALE;
}

static int set_mode(const struct place_at *place, const struct node *from, const struct node *to)
{
	struct node node;
	int r = node_at(place->dir, place->name, &node);

	if (r < 0 || node.mode == to->mode)
		return r;
	if (node.mode != from->mode || S_ISLNK(node.mode))
		return -ESTALE;
	return fchmodat(place->dir, place->name, to->mode & 07777, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											    : 0;
}

int slot_move(struct slots *slots, size_t i, const struct step *step, const struct place_at *place,
	      bool back)
{
	struct slot_name name = slot_name(i);

	switch (step->kind) {
	case STEP_MODE:
		return set_mode(place, back ? &step->post : &step->pre,
				back ? &step->pre : &step->post);
	case STEP_REPLACE:
		return swap(slots->fd, name.s, place, back ? &step->post : &step->pre);
	case STEP_ADD:
		return back ? take_out(slots->fd, name.s, place, &step->post)
			    : move_one(slots->fd, name.s, place->dir, place->name);
	default:
		return back ? move_one(slots->fd, name.s, place->dir, place->name)
			    : take_out(slots->fd, name.s, place, &step->pre);
	}
}
