/* SPDX-License-Identifier: MIT */
/* Removing a tree: as deep as somebody made it, with few descriptors, and with directories that are closed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tap.h"
#include "os/fs.h"

enum { DEPTH = 400, DESCRIPTORS = 100 };

/* As many directories in each other, each with a file; some of them nobody may read. */
static bool make_deep(int top)
{
	int fd = dup(top), next;

	for (int i = 0; fd >= 0 && i < DEPTH; i++) {
		close(openat(fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		next = mkdirat(fd, "d", 0700) < 0
			       ? -1
			       : openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (i % 50 == 49)
			fchmod(fd, 0);
		close(fd);
		fd = next;
	}
	return fd >= 0 && close(fd) == 0;
}

int main(void)
{
	const struct rlimit few = { DESCRIPTORS, DESCRIPTORS };
	char path[] = "/tmp/wrapix-test-remove.XXXXXX";
	int top = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	ok(setrlimit(RLIMIT_NOFILE, &few) == 0, "few descriptors");
	ok(top >= 0 && make_deep(top), "a tree that is deeper");
	ok(mkdirat(top, ".deep-0", 0700) == 0 && mkdirat(top, ".deep-0/x", 0700) == 0 &&
		   symlinkat("/nonexistent", top, ".deep-1") == 0,
	   "with names that are wanted on the way");
	is_int(os_remove_tree(AT_FDCWD, path), 0, "it is removed");
	ok(access(path, F_OK) < 0 && errno == ENOENT, "and gone");
	is_int(os_remove_tree(AT_FDCWD, path), 0, "what is not there is no error");
	close(top);
	return done();
}
