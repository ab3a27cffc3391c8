/* SPDX-License-Identifier: MIT */
/*
 * Landlock for who has nothing else: the process that unpacks images, and git that may read everything, may write in
 * one directory, and no broker stands beside it. Really entered in a child, which then tries.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tap.h"
#include "os/linux/landlock.h"
#include "os/proc.h"

static char dir[] = "/tmp/landlock-XXXXXX";

static int cut_by_open(const char *path)
{
	return open(path, O_RDONLY | O_TRUNC | O_CLOEXEC);
}

static int cut_by_truncate(const char *path)
{
	return truncate(path, 0);
}

static int write_to(const char *path)
{
	return open(path, O_WRONLY | O_CLOEXEC);
}

static int read_from(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ok(fd >= 0 && write(fd, "text", 4) == 4, "%s has content", path + strlen(dir));
	close(fd);
}

/* The call's errno, or 0; confined to what is below 'in'. */
static int try(int (*fn)(const char *), const char *in, const char *path)
{
	const struct landlock_rule rules[] = { { in, LANDLOCK_WRITE } };
	int status = 0;
	pid_t pid = fork();
	struct err err;

	if (pid == 0) {
		if (os_no_new_privileges() < 0 ||
		    landlock_restrict(landlock_abi(), rules, 1, &err) < 0)
			_exit(255);
		_exit(fn(path) < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	const struct {
		const char *what;
		int (*fn)(const char *);
		int abi, outside;
	} calls[] = {
		{ "reading", read_from, 2, 0 },
		{ "writing", write_to, 2, EACCES },
		{ "truncate", cut_by_truncate, 3, EACCES },
		{ "O_RDONLY|O_TRUNC", cut_by_open, 3, EACCES },
	};
	char in[64], inside[80], outside[64];
	struct stat st;

	if (!mkdtemp(dir))
		return 1;
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(inside, sizeof(inside), "%s/file", in);
	snprintf(outside, sizeof(outside), "%s/file", dir);
	ok(mkdir(in, 0700) == 0, "a directory to write in");
	put(inside);
	put(outside);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (landlock_abi() < calls[i].abi) {
			skip(calls[i].what, "this kernel's Landlock does not know it");
			continue;
		}
		is_int(try(calls[i].fn, in, outside), calls[i].outside, "%s outside",
		       calls[i].what);
		is_int(try(calls[i].fn, in, inside), 0, "%s inside", calls[i].what);
	}
	ok(landlock_abi() < 3 || (stat(outside, &st) == 0 && st.st_size == 4),
	   "the file outside is as it was");
	unlink(inside);
	unlink(outside);
	rmdir(in);
	rmdir(dir);
	return done();
}
