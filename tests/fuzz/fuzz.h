/* SPDX-License-Identifier: MIT */
/* What fuzz targets share: the function that each of them is, how a broken rule is told, a directory to write in. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/err.h"
#include "os/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check(bool holds)
{
	if (!holds)
		abort();
}

static inline void check_printable(const char *text)
{
	for (const char *p = text; *p; p++)
		check((unsigned char)*p >= 0x20 && *p != 0x7f);
}

/* A user's mistake is told as one, in words that a terminal takes. */
static inline void check_refusal(int r, const struct err *err)
{
	check(r == -EINVAL && err->exit == EXIT_USAGE && err->msg[0]);
	check_printable(err->msg);
	check_printable(err->hint);
}

/* A new directory, in memory where there is such a place: on a disk a target would wait more than it tries. */
enum { FUZZ_DIR_MAX = 32 };

static inline int fuzz_make_dir(char path[FUZZ_DIR_MAX])
{
	const char *memory = "/dev/shm";
	int dir;

	snprintf(path, FUZZ_DIR_MAX, "%s/wrapix-fuzz.XXXXXX",
		 access(memory, W_OK) == 0 ? memory : "/tmp");
	check(mkdtemp(path) != NULL);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(dir >= 0);
	return dir;
}

/* A directory that is there as long as the program, with these in it; what is in them changes. */
static char fuzz_top[FUZZ_DIR_MAX];

static inline void fuzz_forget_top(void)
{
	os_remove_tree(AT_FDCWD, fuzz_top);
}

static inline int fuzz_open_top(const char *const *dirs, size_t n)
{
	int top = fuzz_make_dir(fuzz_top);

	check(atexit(fuzz_forget_top) == 0);
	for (size_t i = 0; i < n; i++)
		check(mkdirat(top, dirs[i], 0700) == 0);
	return top;
}

static inline void fuzz_write(int dir, const char *path, const void *data, size_t size)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	check(fd >= 0 && os_write_all(fd, data, size) == 0);
	close(fd);
}
