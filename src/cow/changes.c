/* SPDX-License-Identifier: MIT */
/*
 * The walk over what the sandbox wrote.
 *
 * overlayfs leaves in the upper directory: what was written or made; for what was removed a character
 * device 0:0; for a directory that was removed and made again the mark 'opaque'. The sandbox can make
 * neither of the marks itself. A copy instead of an overlay has no marks: there what is missing and
 * was there at the start was removed.
 *
 * What an attacker controls: every name, every kind of file, the depth, and all of it may change while
 * we look when the session still runs. Links are never followed, nothing is opened that could block.
 */
#include "cow/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "cow/paths.h"
#include "os/dir.h"
#include "os/linux/files.h"
#include "spec/gitnamed.h"

#define DEPTH_MAX 400 /* two descriptors each */

struct walk {
	struct changes *out;
	const struct cow *cow;
	struct manifest manifest, settled;
	struct gitnamed_list named;
	unsigned depth;
	char path[PATH_MAX];
	size_t len;
};

/* Two directories that belong together. */
struct place {
	int upper, lower; /* lower -1: there is none */
	bool hides;       /* what lies in lower and not in upper was removed */
	enum conflict above;
};

/* A link above what is named leads elsewhere; of a directory there each file has its own change. Whatever case the names
 * have: some file systems do not tell. */
static bool is_named(const struct walk *walk, const struct node *new)
{
	for (size_t i = 0; i < walk->named.n; i++) {
		const char *path = walk->named.v[i].path;
		size_t len = strlen(path), n = MIN(len, walk->len);

		if (strncasecmp(path, walk->path, n) != 0)
			continue;
		if (walk->len > len ? walk->path[len] == '/'
				    : !path[n] || (path[n] == '/' && !S_ISDIR(new->mode)))
			return true;
	}
	return false;
}

/* Who would execute it: by its name, by that of a link to it, or because git's configuration names it. */
static const char *class_of(const struct walk *walk, const struct node *new)
{
	char buf[PATH_MAX];
	const char *class = sensitive_class(aliases_obeyed(&walk->out->aliases, walk->path, buf),
					    NULL);

	return class || !is_named(walk, new) ? class : "git";
}

static struct change *add(struct walk *walk, enum change_status status, const struct node *old,
			  const struct node *new)
{
	struct changes *out = walk->out;
	struct change *change = arena_grow(&out->arena, &out->v, &out->n, sizeof(*change));

	*change = (struct change){
		.status = status,
		.path = arena_strdup(&out->arena, walk->path),
		.old = *old,
		.new = *new,
		.content = true,
		.sensitive = class_of(walk, new),
	};
	return change;
}

static void add_ignored(struct walk *walk, const struct node *new, const char *why)
{
	add(walk, CHANGE_IGNORED, &(struct node){ 0 }, new)->why = why;
}

/* What became of the project's side since the session began. */
static enum conflict judge(const struct walk *walk, const struct node *lower, struct node *ret_base,
			   bool *ret_unknown)
{
	const struct manifest_entry *entry = manifest_find(&walk->manifest, walk->path);
	const struct node nothing = { 0 }, *base = entry ? &entry->node : &nothing;

	*ret_base = *base;
	*ret_unknown = entry ? entry->late : !walk->manifest.complete;
	if (entry ? entry->late : !walk->manifest.complete)
		return node_exists(lower) && lower->ctime > walk->cow->started ? CONFLICT_CHANGED
									       : CONFLICT_NONE;
	if (S_ISDIR(base->mode) && S_ISDIR(lower->mode))
		return CONFLICT_NONE;
	if (node_is_same(base, lower))
		return CONFLICT_NONE;
	return !node_exists(base)    ? CONFLICT_APPEARED
	       : !node_exists(lower) ? CONFLICT_GONE
				     : CONFLICT_CHANGED;
}

static void add_judged(struct walk *walk, const struct place *place, enum change_status status,
		       const struct node *lower, const struct node *new, bool content)
{
	struct node base;
	bool unknown;
	enum conflict conflict = judge(walk, lower, &base, &unknown);
	struct change *change = add(walk, status, lower, new);

	change->base = base;

	change->content = content;
	change->late_base = unknown;
	change->conflict = conflict ? conflict : place->above;
}

static bool enter(struct walk *walk, const char *name, size_t *ret_len)
{
	size_t n = strlen(name), len = walk->len;

	*ret_len = len;
	if (len + n + 2 > sizeof(walk->path))
		return false;
	if (len)
		walk->path[len++] = '/';
	memcpy(walk->path + len, name, n + 1);
	walk->len = len + n;
	return true;
}

static void leave(struct walk *walk, size_t len)
{
	walk->len = len;
	walk->path[len] = '\0';
}

/* In a copy a file that the user made after the start is not one that the session removed, nor a pipe or a socket, of
 * which none is made. */
static bool was_there(const struct walk *walk, const struct node *lower)
{
	if (!walk->cow->copy)
		return true;
	return (S_ISDIR(lower->mode) || S_ISREG(lower->mode) || S_ISLNK(lower->mode)) &&
	       (!walk->manifest.complete || manifest_find(&walk->manifest, walk->path));
}

/* A directory of the user's that cannot be looked into stays, and hides nothing else; what fails in another way is a
 * failure of all. */
static int leave_out(struct walk *walk, const struct node *lower, const struct node *new, int r)
{
	if (r != -EACCES && r != -ELOOP && r != -ENAMETOOLONG)
		return r;
	add(walk, CHANGE_IGNORED, lower, new)->why = r == -EACCES ? "your directory cannot be read"
								  : "too deep";
	return 0;
}

static int open_lower(const struct place *place, const char *name)
{
	int dir = openat(place->lower, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0 || faccessat(dir, ".", X_OK, AT_EACCESS) == 0)
		return dir < 0 ? -errno : dir;
	close(dir);
	return -EACCES;
}

static int remove_lower(struct walk *walk, const struct place *place, const char *name);

static int remove_below(struct walk *walk, const struct place *place, const char *name)
{
	struct place below = { .upper = -1, .above = place->above };
	_cleanup_dir_ DIR *entries = NULL;
	struct dirent *entry;
	int r = 0;

	below.lower = open_lower(place, name);
	if (below.lower < 0)
		return below.lower;
	entries = walk->depth < DEPTH_MAX ? os_dir_open(below.lower, ".") : NULL;
	if (!entries)
		r = walk->depth < DEPTH_MAX ? -errno : -ELOOP;
	walk->depth++;
	while (r == 0 && (entry = os_dir_next(entries)))
		r = remove_lower(walk, &below, entry->d_name);
	walk->depth--;
	close(below.lower);
	return r;
}

/* Something of the project's that the session removed, with all that is in it. */
static int remove_lower(struct walk *walk, const struct place *place, const char *name)
{
	struct node lower;
	size_t len;
	int r;

	if (!enter(walk, name, &len))
		return -ENAMETOOLONG;
	r = node_at(place->lower, name, &lower);
	if (is_git_name(name)) {
		walk->out->git = true;
	} else if (r == 0 && node_exists(&lower) && was_there(walk, &lower)) {
		const struct node nothing = { 0 };

		if (S_ISDIR(lower.mode))
			r = remove_below(walk, place, name);
		if (r == 0)
			add_judged(walk, place, CHANGE_DELETED, &lower, &nothing, true);
		else
			r = leave_out(walk, &lower, &nothing, r);
	}
	leave(walk, len);
	return r;
}

bool is_opaque_dir(int dir)
{
	char value[2];

	return fgetxattr(dir, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y';
}

static int look(struct walk *walk, const struct place *place, const char *name);

/* What lies in the project and was not made again. */
static int remove_others(struct walk *walk, const struct place *place)
{
	_cleanup_dir_ DIR *entries = os_dir_open(place->lower, ".");
	struct dirent *entry;
	int r = entries ? 0 : -errno;

	while (r == 0 && (entry = os_dir_next(entries))) {
		struct stat st;

		if (fstatat(place->upper, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			r = remove_lower(walk, place, entry->d_name);
	}
	return r;
}

static int look_below(struct walk *walk, const struct place *place)
{
	_cleanup_dir_ DIR *entries = os_dir_open(place->upper, ".");
	struct dirent *entry;
	int r = entries ? 0 : -errno;

	walk->depth++;
	while (r == 0 && (entry = os_dir_next(entries)))
		r = look(walk, place, entry->d_name);
	if (r == 0 && place->hides && place->lower >= 0)
		r = remove_others(walk, place);
	walk->depth--;
	return r;
}

/* Its descriptor, or -errno. What cannot be entered later, when something in it is shown or staged, is none to look in:
 * one such directory is left out, and hides nothing else. */
static int open_upper(const struct walk *walk, const struct place *place, const char *name)
{
	int dir = walk->depth < DEPTH_MAX ? node_open_dir(place->upper, name) : -ELOOP;

	if (dir < 0 || faccessat(dir, ".", R_OK | X_OK, AT_EACCESS) == 0)
		return dir;
	close(dir);
	return -EACCES;
}

/* A copy has the times of what it was copied from, whatever the user made of that since. */
static bool is_untouched(const struct walk *walk, const struct node *lower, const struct node *new)
{
	const struct manifest_entry *entry = manifest_find(&walk->manifest, walk->path);
	const struct node *old = entry && !entry->late ? &entry->node : lower;

	return walk->cow->copy && node_same_kind(old, new) && !((old->mode ^ new->mode) & 0777) &&
	       (S_ISDIR(new->mode) || (old->size == new->size && old->mtime == new->mtime));
}

/* A directory that the session made, or has changed something in. */
static int look_at_dir(struct walk *walk, const struct place *place, const char *name,
		       const struct node *lower, const struct node *new)
{
	struct node base;
	struct place below = { .lower = -1, .above = place->above };
	bool was_dir = S_ISDIR(lower->mode), unknown;
	size_t at;
	int r;

	below.upper = open_upper(walk, place, name);
	if (below.upper < 0) {
		add_ignored(walk, new,
			    below.upper == -ELOOP ? "too deep" : "its directory cannot be read");
		return 0;
	}
	below.hides = place->hides || is_opaque_dir(below.upper);
	if (was_dir)
		below.lower = open_lower(place, name);
	if (was_dir && below.lower < 0) {
		close(below.upper);
		return leave_out(walk, lower, new, below.lower);
	}
	if (!was_dir) {
		if (judge(walk, lower, &base, &unknown))
			below.above = CONFLICT_ABOVE;
		add_judged(walk, place, node_exists(lower) ? CHANGE_TYPE : CHANGE_ADDED, lower, new,
			   true);
	} else if ((lower->mode ^ new->mode) & 0777) {
		add_judged(walk, place, CHANGE_MODIFIED, lower, new, false);
	}
	at = walk->out->n;
	r = look_below(walk, &below);
	/* One that was copied and that the user has removed meanwhile, with no change in it. */
	if (!was_dir && walk->out->n == at && is_untouched(walk, lower, new))
		walk->out->n--;
	close(below.upper);
	if (below.lower >= 0)
		close(below.lower);
	return r;
}

/* It was merged or put beside, and has not changed since. */
static bool is_settled(const struct walk *walk, const struct node *new)
{
	const struct manifest_entry *entry = manifest_find(&walk->settled, walk->path);

	return entry && node_is_same(&entry->node, new);
}

static int look_at_file(struct walk *walk, const struct place *place, const char *name,
			const struct node *lower, const struct node *new)
{
	int same = 0;

	if (S_ISDIR(lower->mode)) {
		int r = remove_below(walk, place, name);

		if (r < 0)
			return leave_out(walk, lower, new, r);
	}
	if (is_untouched(walk, lower, new) || is_settled(walk, new))
		return 0;
	if (node_exists(lower))
		same = node_same_content(place->upper, name, new, place->lower, name, lower);
	if (same < 0) {
		add_ignored(walk, new, "it cannot be read");
		return 0;
	}
	if (same && (S_ISLNK(new->mode) || !((lower->mode ^ new->mode) & 0777)))
		return 0;
	add_judged(walk, place,
		   !node_exists(lower)          ? CHANGE_ADDED
		   : node_same_kind(lower, new) ? CHANGE_MODIFIED
						: CHANGE_TYPE,
		   lower, new, !same);
	return 0;
}

static bool is_whiteout(const struct walk *walk, int dir, const char *name, const struct node *node)
{
	struct stat st;

	return S_ISCHR(node->mode) && !walk->cow->copy &&
	       fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_rdev == makedev(0, 0);
}

static int look(struct walk *walk, const struct place *place, const char *name)
{
	struct node lower, new;
	size_t len;
	int r;

	if (!enter(walk, name, &len)) {
		add_ignored(walk, &(struct node){ 0 }, "something in it has too long a path");
		return 0;
	}
	r = node_at(place->upper, name, &new);
	if (r == 0)
		r = node_at(place->lower, name, &lower);
	if (is_git_name(name)) {
		walk->out->git |= !walk->cow->copy;
	} else if (r == 0 && is_whiteout(walk, place->upper, name, &new)) {
		leave(walk, len);
		return place->lower < 0 ? 0 : remove_lower(walk, place, name);
	} else if (r == 0 && S_ISDIR(new.mode)) {
		r = look_at_dir(walk, place, name, &lower, &new);
	} else if (r == 0 && (S_ISREG(new.mode) || S_ISLNK(new.mode))) {
		r = look_at_file(walk, place, name, &lower, &new);
	} else if (r == 0 && node_exists(&new)) {
		add_ignored(walk, &new, "it is neither a file nor a directory nor a link");
	}
	leave(walk, len);
	return r;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

/* Links that the project had. What the session makes has a line of its own. */
static void find_aliases(struct walk *walk)
{
	const struct cow *cow = walk->cow;

	for (size_t i = 0; i < walk->manifest.n; i++)
		if (S_ISLNK(walk->manifest.v[i].node.mode))
			aliases_take(&walk->out->aliases, &walk->out->arena, cow->root,
				     cow->project, walk->manifest.v[i].path);
}

int changes_find(struct changes *changes, struct cow *cow, struct err *err)
{
	struct place top = { .upper = cow->upper, .lower = cow->root, .hides = cow->copy };
	struct walk walk = { .out = changes, .cow = cow };
	int r;

	*changes = (struct changes){ 0 };
	r = manifest_load(&walk.manifest, cow, err);
	if (r == 0)
		r = manifest_load_settled(&walk.settled, cow, err);
	if (r == 0) {
		find_aliases(&walk);
		gitnamed_find_in(&changes->arena, cow->project, false, &walk.named);
		r = look_below(&walk, &top);
		if (r < 0)
			err_errno(err, -r, "looking at the changes of '%s' ('%s')", cow->id,
				  walk.path);
	}
	manifest_release(&walk.manifest);
	manifest_release(&walk.settled);
	if (r == 0 && changes->n)
		qsort(changes->v, changes->n, sizeof(*changes->v), by_path);
	if (r == 0)
		changes_find_renames(changes, cow);
	if (r < 0)
		changes_release(changes);
	return r;
}

void changes_release(struct changes *changes)
{
	arena_release(&changes->arena);
	*changes = (struct changes){ 0 };
}
