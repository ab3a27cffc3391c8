/* SPDX-License-Identifier: MIT */
/* Hostile archives: what libarchive may make of them. */
#include "image/foreign_tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>

#include "image/interrupt.h"
#include "image/unpack.h"

enum { FILTERS_MAX = 2 }; /* a compression, and the file itself */

int foreign_open(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return err_set(err, EINVAL, "'%s' is not a file", path);
}

uint64_t foreign_tar_used(const struct foreign_tar *foreign)
{
	la_int64_t used = archive_filter_bytes(foreign->tar, 0);

	return used < 0 ? 0 : (uint64_t)used;
}

/* Called for each block of the file, however much comes out of one. libarchive has words of its own for a failure. */
static la_ssize_t on_block(_unused_ struct archive *tar, void *ctx, const void **ret)
{
	struct foreign_tar *foreign = ctx;
	ssize_t n = -1;

	*ret = foreign->buffer;
	if (interrupt_waits()) {
		foreign->code = EINTR;
	} else if (foreign_tar_used(foreign) > foreign->most) {
		foreign->code = EDQUOT;
	} else {
		n = read(foreign->fd, foreign->buffer, sizeof(foreign->buffer));
		foreign->code = n < 0 ? errno : 0;
	}
	return n;
}

static void support(struct archive *tar, enum foreign_kind kind)
{
	archive_read_support_filter_gzip(tar);
	archive_read_support_filter_zstd(tar);
	archive_read_support_format_tar(tar);
	archive_read_support_format_empty(tar);
	if (kind == FOREIGN_LAYER)
		return;
	archive_read_support_filter_bzip2(tar);
	archive_read_support_filter_compress(tar);
	archive_read_support_filter_lzma(tar);
	archive_read_support_filter_xz(tar);
}

static int fail(struct foreign_tar *foreign, struct err *err)
{
	if (foreign->code == EINTR)
		return interrupt_check(err);
	if (foreign->code == EDQUOT)
		return unpack_too_big(err);
	if (foreign->code)
		return err_errno(err, foreign->code, "reading it");
	return err_set(err, EBADMSG, "%s", archive_error_string(foreign->tar) ?: "not an archive");
}

int foreign_tar_begin(struct foreign_tar *ret, enum foreign_kind kind, int fd, uint64_t most,
		      struct err *err)
{
	/* Names are bytes to us; libarchive turns those of pax headers through the locale. */
	setlocale(LC_CTYPE, "C.UTF-8");
	ret->tar = archive_read_new();
	ret->kind = kind;
	ret->fd = fd;
	ret->most = most;
	ret->code = 0;
	if (!ret->tar)
		return err_errno(err, ENOMEM, "reading an archive");
	support(ret->tar, kind);
	if (archive_read_open(ret->tar, ret, NULL, on_block, NULL) != ARCHIVE_OK)
		return fail(ret, err);
	if (archive_filter_count(ret->tar) > FILTERS_MAX)
		return err_set(err, EBADMSG, "it is compressed more than once");
	return 0;
}

int foreign_tar_next(struct foreign_tar *foreign, struct archive_entry **ret, struct err *err)
{
	int status = archive_read_next_header(foreign->tar, ret);
	int least = foreign->kind == FOREIGN_LAYER ? ARCHIVE_WARN : ARCHIVE_OK;

	if (status == ARCHIVE_EOF)
		return 0;
	return status >= least ? 1 : fail(foreign, err);
}

ssize_t foreign_tar_data(struct foreign_tar *foreign, void *buffer, size_t len)
{
	la_ssize_t n = archive_read_data(foreign->tar, buffer, len);

	if (n >= 0)
		return n;
	return foreign->code ? -foreign->code : -EBADMSG;
}

void foreign_tar_close(struct foreign_tar *foreign)
{
	archive_read_free(foreign->tar);
	foreign->tar = NULL;
}
