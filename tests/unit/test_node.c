/* SPDX-License-Identifier: MIT */
/* A file or directory that is opened up for a moment, while another process puts a link in its place. */
#include "cow/node.h"

#include <fcntl.h>
#include <unistd.h>

#include "lib/tap.h"

static const char *swapped; /* by the next look at that name */

/* The C library's: here the link comes between the look and what is done next. */
int fstatat(int dir, const char *name, struct stat *st, int flags)
{
	struct statx x;

	if (statx(dir, name, flags, STATX_BASIC_STATS, &x) < 0)
		return -1;
	*st = (struct stat){ .st_mode = x.stx_mode, .st_uid = x.stx_uid };
	if (swapped && !strcmp(name, swapped)) {
		swapped = NULL;
		if (rename(name, "away") < 0 || symlink("victim", name) < 0)
			abort();
	}
	return 0;
}

static mode_t mode_of(const char *name)
{
	struct statx x;

	return statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_MODE, &x) < 0 ? 0
									      : x.stx_mode & 07777;
}

static void make(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || fchmod(fd, mode) < 0)
		abort();
	close(fd);
}

static void test_opened_up(void)
{
	int fd;

	make("shut", 0200);
	fd = node_open(AT_FDCWD, "shut");
	ok(fd >= 0 && mode_of("shut") == 0200, "a file of ours that we may not read is opened");
	close(fd);
	if (mkdir("dir", 0300) < 0)
		abort();
	fd = node_open_dir(AT_FDCWD, "dir");
	ok(fd >= 0 && mode_of("dir") == 0300, "... and a directory");
	close(fd);
}

static void test_swapped(void)
{
	swapped = "shut";
	ok(node_open(AT_FDCWD, "shut") < 0,
	   "a link that takes the place of a file is not followed");
	is_int(mode_of("victim"), 0640, "... nor is what it leads to changed");
	if (unlink("away") < 0)
		abort();
	swapped = "dir";
	ok(node_open_dir(AT_FDCWD, "dir") < 0, "... in the place of a directory, too");
	is_int(mode_of("victim"), 0640, "... nor then");
}

int main(void)
{
	char top[] = "/tmp/wrapix-test-node.XXXXXX";

	/* Root may read what it likes. */
	if (!mkdtemp(top) || chdir(top) < 0 ||
	    (geteuid() == 0 &&
	     (chown(top, 65534, 65534) < 0 || setgid(65534) < 0 || setuid(65534) < 0)))
		return 1;
	make("victim", 0640);
	test_opened_up();
	test_swapped();
	ok(!unlink("shut") && !unlink("dir") && !rmdir("away") && !unlink("victim") && !chdir("/"),
	   "nothing else is there");
	(void)rmdir(top); /* with a sticky directory around it that may be root's alone */
	return done();
}
