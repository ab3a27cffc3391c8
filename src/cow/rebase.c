/* SPDX-License-Identifier: MIT */
/*
 * A session brought up to date. Its view lies over the project as it is, so only files that both sides
 * changed are behind: those are merged as an apply would do it, and the result takes the place of the
 * session's own version. An apply afterwards finds the user's changes on both sides, and merges again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cow/apply.h"
#include "os/fs.h"

/* Nobody has the view mounted: the session is locked. */
static int replace(const struct cow *cow, int dir, const struct step *step, struct err *err)
{
	_cleanup_close_ int parent = node_open_parent(cow->upper, step->path);
	int r = parent < 0 ? parent : 0;

	if (r == 0 && (fchmodat(dir, step->merged, step->post.mode & 0777, 0) < 0 ||
		       renameat(dir, step->merged, parent, path_name(step->path)) < 0))
		r = -errno;
	return r < 0 ? err_errno(err, -r, "merging '%s'", step->path) : 0;
}

int apply_rebase(struct cow *cow, const struct changes *changes,
		 const struct apply_options *options, struct apply_report *report, struct err *err)
{
	struct journal journal = { .number = journal_last(cow) + 1 };
	_cleanup_close_ int dir = journal_open_dir(cow, journal.number, true);
	char name[32];
	int r = dir < 0 ? err_errno(err, -dir, "making a directory for the merge")
			: resolve_changes(cow, changes, options, &journal, dir, report, err);

	for (size_t i = 0; r == 0 && i < journal.n_steps; i++)
		if (journal.steps[i].merged)
			r = replace(cow, dir, &journal.steps[i], err);
	snprintf(name, sizeof(name), "apply/%u", journal.number);
	os_remove_tree(cow->dir, name);
	journal_release(&journal);
	return r;
}
