/* SPDX-License-Identifier: MIT */
/*
 * What an open file is called now, in the mount tree that it lies in. The link that /proc has of it says so of any.
 * A directory is asked by going there and back, which takes half as long; the kernel writes a word before what our own
 * root does not lead to, as it is with everything of the sandbox's. Not where the command makes its own file systems,
 * for one of them may keep us waiting at its door.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/broker_priv.h"
#include "os/linux/kernel.h"

/* 0: a pipe, a socket: it has no place. */
static int known_name(struct broker *b, char buf[PATH_MAX], int n)
{
	if (*buf != '/')
		return 0;
	return b->n_private ? private_name(b, buf, n) : n;
}

int place_path(struct broker *b, int fd, char buf[PATH_MAX])
{
	char name[16];
	ssize_t n;

	snprintf(name, sizeof(name), "%d", fd);
	n = readlinkat(b->own_fds, name, buf, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return known_name(b, buf, (int)n);
}

void place_settle(struct broker *b)
{
	/* Root acts without its capabilities, and might not come back. */
	b->home = b->has_caps ? -1 : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The length; -1: the other way is to be gone. The command may have closed the directory that we are at home in, which
 * is its own as well: so we see now and then that we can come back. */
static int ask_inside(struct broker *b, int fd, char buf[PATH_MAX])
{
	static const char away[] = "(unreachable)";
	size_t skip;
	long n;

	if (b->home < 0 || (clock_ticked(&b->home_at) && fchdir(b->home) < 0) || fchdir(fd) < 0)
		return -1;
	n = syscall(SYS_getcwd, buf, PATH_MAX);    /* the C library's refuses that word */
	if (fchdir(b->home) < 0 && chdir("/") < 0) /* somebody else closed it this very moment */
		abort();
	if (n <= 1)
		return -1; /* a directory that was removed, say */
	skip = strncmp(buf, away, strlen(away)) ? 0 : strlen(away);
	memmove(buf, buf + skip, (size_t)n - skip);
	return (int)((size_t)n - skip) - 1;
}

int place_dir_path(struct request *r, int fd, char buf[PATH_MAX], bool *ret_is_there)
{
	int n = r->nested ? -1 : ask_inside(r->b, fd, buf);

	*ret_is_there = n >= 0;
	return n < 0 ? place_path(r->b, fd, buf) : known_name(r->b, buf, n);
}
