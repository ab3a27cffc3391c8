/* SPDX-License-Identifier: MIT */
/* What is asked about changes that were found. */
#include <stdlib.h>
#include <string.h>

#include "cow/changes.h"

static const char *const conflict_texts[] = {
	[CONFLICT_CHANGED] = "you changed it meanwhile",
	[CONFLICT_GONE] = "you removed it meanwhile",
	[CONFLICT_APPEARED] = "you made one of the same name meanwhile",
	[CONFLICT_ABOVE] = "you changed a directory above it meanwhile",
};

const char *conflict_text(enum conflict conflict)
{
	return conflict_texts[conflict];
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

static bool lies_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

bool change_is_open(const struct change *change)
{
	const struct node *old = change->from ? &change->from_node : &change->old;

	return change->status != CHANGE_IGNORED && node_exists(&change->new) &&
	       !S_ISLNK(change->new.mode) && (change->new.mode &S_IWOTH) &&
	       !(node_same_kind(old, &change->new) && (old->mode & S_IWOTH));
}

bool change_has_mode(const struct change *change)
{
	const struct node *old = change->from ? &change->from_node : &change->old;

	return change->status != CHANGE_IGNORED && node_exists(old) &&
	       node_same_kind(old, &change->new) && !S_ISLNK(old->mode) &&
	       ((old->mode ^ change->new.mode) & 0777);
}

bool change_is_implied(const struct changes *changes, size_t i)
{
	const struct change *change = &changes->v[i];
	mode_t mode = change->status == CHANGE_DELETED ? change->old.mode : change->new.mode;

	if (!S_ISDIR(mode) || change_is_open(change) ||
	    (change->status != CHANGE_ADDED && change->status != CHANGE_DELETED))
		return false;
	for (size_t k = i + 1; k < changes->n; k++) {
		const struct change *other = &changes->v[k];

		/* What sorts between a directory and what is in it begins with its name. */
		if (strncmp(other->path, change->path, strlen(change->path)) != 0)
			break;
		if (lies_below(other->path, change->path))
			return true;
	}
	return change->emptied;
}

const struct change *changes_at(const struct changes *changes, const char *path)
{
	struct change key = { .path = path };

	return changes->n ? bsearch(&key, changes->v, changes->n, sizeof(key), by_path) : NULL;
}

bool change_is_chosen(const struct change *change, char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(paths[i], ".") || !strcmp(change->path, paths[i]) ||
		    lies_below(change->path, paths[i]) ||
		    (change->from &&
		     (!strcmp(change->from, paths[i]) || lies_below(change->from, paths[i]))))
			return true;
	return n == 0;
}
