/* SPDX-License-Identifier: MIT */
/*
 * Somebody else's archive, read by libarchive in this process: a layer, or a file that was handed on. It is
 * compressed once at most, for what is compressed again and again is of any size; how much comes out of it is
 * bounded, whatever its headers say of their sizes; and a signal that waits (interrupt.h) is heard between
 * two blocks of it, also in the middle of an entry that nobody wants.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum foreign_kind {
	FOREIGN_LAYER, /* gzip, zstd or nothing; what libarchive warns of is taken */
	FOREIGN_FILE, /* whatever libarchive has a library for, and no program that it would look for */
};

struct archive;
struct archive_entry;

struct foreign_tar {
	struct archive *tar;
	enum foreign_kind kind;
	int fd;
	uint64_t most; /* bytes that may come out of it */
	int code;      /* why we ourselves ended it: EINTR, EDQUOT, or what read() said */
	char buffer[65536];
};

/* A file to be read: not a FIFO, which nobody may write to. */
int foreign_open(const char *path, struct err *err);
/* From where 'fd' stands; it stays the caller's. What fails needs a foreign_tar_close() too. */
int foreign_tar_begin(struct foreign_tar *ret, enum foreign_kind kind, int fd, uint64_t most,
		      struct err *err);
/* 1 and the next entry, 0 at the end. */
int foreign_tar_next(struct foreign_tar *foreign, struct archive_entry **ret, struct err *err);
/* Of the entry's content, as read() does; -errno. */
ssize_t foreign_tar_data(struct foreign_tar *foreign, void *buffer, size_t len);
/* Bytes that came out so far. */
uint64_t foreign_tar_used(const struct foreign_tar *foreign);
void foreign_tar_close(struct foreign_tar *foreign);
