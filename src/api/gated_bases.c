/* SPDX-License-Identifier: MIT */
/*
 * What the host had in a directory when a session began to work on a view of it: 'wrapix git accept' tells by it what
 * the user changed meanwhile. It is looked at once, before the view is made, and written down as notes are
 * (later_file.c). For the next session what was changed in the view keeps its base, all else is looked at again.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/gated_priv.h"
#include "api/later_priv.h"
#include "os/fs.h"

static void open_file(struct later *bases, int meta)
{
	int fd = bases->file ? -1
			     : openat(meta, APART_BASES,
				      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		bases->file = MAX(fcntl(fd, F_DUPFD_CLOEXEC, 3), 0);
	close_ptr(&fd);
}

/* Whatever is in it. */
static void look(struct later *bases, const char *project, const char *path)
{
	_cleanup_close_ int root = os_open_plain(project);
	_cleanup_close_ int above = root < 0 ? -1 : later_open_above(root, &bases->arena, path);
	struct protect_path all = { path, strlen(path), PROTECT_HOLD, 0 };

	bases->brief = true;
	bases->protection = (struct protection){ .paths = &all, .n_paths = 1 };
	if (above >= 0)
		later_look_at(bases, above, path);
	bases->protection = (struct protection){ .n_paths = 0 };
}

void gated_keep_base(struct gated *gated, const char *path, size_t n)
{
	char *dir = arena_strndup(&gated->arena, path, n);

	if (strv_has(&gated->based, dir))
		return;
	strv_add(&gated->arena, &gated->based, dir);
	open_file(&gated->bases, gated->meta);
	look(&gated->bases, gated->project, dir);
}

void apart_carry_base(const struct apart *apart, int from, int to)
{
	struct later old = { .v = NULL }, new = { .v = NULL };
	struct later_list list = { .v = NULL };

	later_read(&old, from, APART_BASES);
	open_file(&new, to);
	apart_changes(apart, NULL, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct later_file *was = later_find(&old, list.v[i].path);
		struct later_file *file = later_is_noted(&new, list.v[i].path)
						  ? NULL
						  : later_add(&new, list.v[i].path, NULL);

		if (file && was)
			*file = *was;
		if (file)
			later_write(&new, file);
	}
	look(&new, apart->project, apart->path);
	later_list_release(&list);
	later_release(&new);
	later_release(&old);
}
