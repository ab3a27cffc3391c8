/* SPDX-License-Identifier: MIT */
/*
 * bind(2) of UNIX sockets, as far as it is not the broker's.
 *
 * What the sandbox bound itself it may connect to, so that it must be known which files these are. The
 * broker knows of those that it made, by when they were born. Where there is none ('filesystem.disabled'), and each is
 * bound here, and where the file system does not say, the file is held: as long as it is, no socket of the host's can
 * get its number. The name of a stand-in for a datagram socket must be known in any case.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guard/caller.h"
#include "guard/connect_priv.h"
#include "guard/datagram.h"
#include "os/linux/brief.h"
#include "os/linux/kernel.h"

#ifndef SIOCUNIXFILE
#define SIOCUNIXFILE 0x89e0 /* linux/un.h, which is not to be had beside sys/un.h */
#endif

enum { HELD_MAX = 64 };

struct bound {
	size_t next;
	struct {
		int fd;
		dev_t dev;
		ino_t ino;
	} files[HELD_MAX];
};

bool unix_was_bound(const struct connect_guard *g, const struct stat *st)
{
	for (size_t i = 0; g->bound && i < MIN(g->bound->next, (size_t)HELD_MAX); i++)
		if (g->bound->files[i].dev == st->st_dev && g->bound->files[i].ino == st->st_ino)
			return true;
	return false;
}

void unix_bind_stop(struct connect_guard *g)
{
	for (size_t i = 0; g->bound && i < MIN(g->bound->next, (size_t)HELD_MAX); i++)
		close(g->bound->files[i].fd);
	free(g->bound);
	g->bound = NULL;
}

void unix_hold(struct connect_guard *g, int fd, const struct stat *st)
{
	size_t i;

	if (!g->bound)
		g->bound = calloc(1, sizeof(*g->bound));
	if (!g->bound) {
		close(fd);
		return;
	}
	i = g->bound->next++ % HELD_MAX;
	if (g->bound->next > HELD_MAX)
		close(g->bound->files[i].fd);
	g->bound->files[i].fd = fd;
	g->bound->files[i].dev = st->st_dev;
	g->bound->files[i].ino = st->st_ino;
}

/* The file is there: whose it is must be known. By its name it may be another's by now. */
static void note(struct connect_guard *g, int socket, const struct sockaddr_un *un, size_t len)
{
	int fd = ioctl(socket, SIOCUNIXFILE);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		close(fd);
		return;
	}
	datagram_bound(g, socket, &st, un, len);
	if (g->hooks.bound)
		close(fd);
	else
		unix_hold(g, fd, &st);
}

/* In the caller's view, where the mounts say what can be written. */
static int bind_file(struct connect_guard *g, const struct seccomp_notif *call, int socket,
		     const struct sockaddr_un *un, size_t len)
{
	char path[sizeof(un->sun_path) + 2], *slash;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	_cleanup_close_ int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), dir = -1;
	const char *last;
	mode_t mask;
	int r;

	snprintf(path, sizeof(path), "%.*s", (int)(len - offsetof(struct sockaddr_un, sun_path)),
		 un->sun_path);
	slash = strrchr(path, '/');
	last = slash ? slash + 1 : path;
	memcpy(name.sun_path, last, MIN(strlen(last) + 1, sizeof(name.sun_path)));
	if (slash)
		*slash = '\0';
	dir = unix_path_open(call, !slash ? "." : *path ? path : "/");
	if (dir < 0 || here < 0 || !name.sun_path[0])
		return dir < 0 ? dir : -ENOENT;
	if (!notify_is_valid(g->notify, call->id) || fchdir(dir) < 0)
		return -ENOTDIR;
	mask = umask(caller_umask(call));
	r = bind(socket, (struct sockaddr *)&name, sizeof(name)) < 0 ? -errno : NOTIFY_DONE;
	umask(mask);
	if (r == NOTIFY_DONE)
		note(g, socket, un, len);
	if (fchdir(here) < 0)
		abort(); /* relative paths of ours would mean something else from now on */
	return r;
}

static bool is_unix(int socket)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

int unix_bind_call(struct connect_guard *g, const struct seccomp_notif *call)
{
	struct sockaddr_un un = { 0 };
	uint64_t len = call->data.args[2];
	_cleanup_close_ int pidfd = -1;
	_cleanup_brief_close_ int fd = -1;
	bool has_path;

	if (len < sizeof(sa_family_t) || len > sizeof(un) ||
	    caller_read(call, call->data.args[1], &un, len) < 0)
		return NOTIFY_CONTINUE; /* the kernel says what is wrong with it */
	has_path = un.sun_family == AF_UNIX && len > sizeof(sa_family_t) && un.sun_path[0];
	if (has_path ? g->hooks.bound && !g->datagrams : !g->datagrams)
		return NOTIFY_CONTINUE;
	pidfd = caller_open(call);
	fd = pidfd < 0 ? pidfd : caller_get_fd(pidfd, (int)call->data.args[0]);
	if (fd < 0 || !is_unix(fd))
		return NOTIFY_CONTINUE;
	if (!has_path)
		return datagram_bind(g, fd, &un, len);
	return g->hooks.bound && !datagram_is(g, fd) ? NOTIFY_CONTINUE
						     : bind_file(g, call, fd, &un, len);
}
