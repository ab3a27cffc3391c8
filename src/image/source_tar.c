/* SPDX-License-Identifier: MIT */
/* A tar archive, compressed or not, as a source. */
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "image/foreign_tar.h"
#include "image/interrupt.h"
#include "image/names.h"
#include "image/source.h"

/* More than any machine has; a program that reads for ever is not waited for. */
#define MOST ((uint64_t)1 << 44)

static ssize_t read_tar(void *from, void *buffer, size_t len)
{
	return foreign_tar_data(from, buffer, len);
}

static int take_entry(struct foreign_tar *tar, struct archive_entry *entry, source_fn *fn,
		      void *ctx, struct err *err)
{
	char name[NAME_SIZE], target[NAME_SIZE];
	const char *given = archive_entry_pathname(entry), *link = archive_entry_hardlink(entry);

	if (interrupt_check(err) < 0)
		return -err->code;
	if (!name_clean(given, name) || (link && !name_clean(link, target)))
		return err_set(err, EBADMSG, "the archive has an entry '%s' that leaves its root",
			       given ?: "");
	if (!*name)
		return 0;
	archive_entry_set_pathname(entry, name);
	if (link)
		archive_entry_set_hardlink(entry, target);
	return fn(ctx, entry, read_tar, tar, err);
}

int source_visit_tar(const struct source *source, source_fn *fn, void *ctx, struct err *err)
{
	_cleanup_close_ int fd = foreign_open(source->path, err);
	struct archive_entry *entry;
	struct foreign_tar tar;
	int r, more;

	if (fd < 0)
		return fd;
	r = more = foreign_tar_begin(&tar, FOREIGN_FILE, fd, MOST, err);
	while (r == 0 && (more = foreign_tar_next(&tar, &entry, err)) > 0)
		r = take_entry(&tar, entry, fn, ctx, err);
	if (more < 0)
		r = err_wrap(err, "reading '%s'", source->path);
	foreign_tar_close(&tar);
	return r;
}
