/* SPDX-License-Identifier: MIT */
/* A tar archive, compressed or not, as a source. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>

#include "image/interrupt.h"
#include "image/names.h"
#include "image/source.h"

static ssize_t read_tar(void *from, void *buffer, size_t len)
{
	la_ssize_t n = archive_read_data(from, buffer, len);

	return n < 0 ? -EIO : n;
}

static int take_entry(struct archive *tar, struct archive_entry *entry, source_fn *fn, void *ctx,
		      struct err *err)
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
	struct archive *tar = archive_read_new();
	struct archive_entry *entry;
	int r = 0, status = ARCHIVE_FATAL;

	if (!tar)
		return err_errno(err, ENOMEM, "reading '%s'", source->path);
	/* Names are bytes to us; libarchive turns those of pax headers through the locale. */
	setlocale(LC_CTYPE, "C.UTF-8");
	archive_read_support_filter_all(tar);
	archive_read_support_format_tar(tar);
	archive_read_support_format_empty(tar);
	if (archive_read_open_filename(tar, source->path, 65536) == ARCHIVE_OK)
		while (r == 0 && (status = archive_read_next_header(tar, &entry)) == ARCHIVE_OK)
			r = take_entry(tar, entry, fn, ctx, err);
	if (r == 0 && status != ARCHIVE_EOF)
		r = err_set(err, EBADMSG, "reading '%s': %s", source->path,
			    archive_error_string(tar) ?: "not an archive");
	archive_read_free(tar);
	return r;
}
