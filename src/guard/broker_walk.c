/* SPDX-License-Identifier: MIT */
/*
 * From a path to a directory, as the caller would get there: its root, its working directory, the
 * links and mounts of its own view. One openat2(2) does it nearly always. What that cannot say (a
 * '..' above the start, an absolute link on a relative way, /proc/self, which would be our own) is
 * walked here, a component at a time.
 *
 * Nothing depends on this being right but that calls do what they should: where the way led is
 * looked up again in the writable tree and compared, and the rules see that place.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/files.h"

#define O_DIR (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* One walk: where it is, and what of the path is left. */
struct walk {
	struct request *r;
	int at; /* O_PATH */
	int *links;
	char *rest; /* from 'next' on; as long as so many links can make it */
	size_t next;
};

int walk_start(struct request *r, int dirfd)
{
	char name[24] = "cwd";
	int fd;

	if (dirfd != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", dirfd);
	if (dirfd < 0 && dirfd != AT_FDCWD)
		return -EBADF;
	fd = task_open(r, name);
	return fd == -ENOENT && dirfd != AT_FDCWD ? -EBADF : fd;
}

bool in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static void move_to(struct walk *w, int fd)
{
	close_ptr(&w->at);
	w->at = fd;
}

/* Puts a link's text before the rest. */
static int push(struct walk *w, int link)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);
	size_t left;

	if (n < 0)
		return -errno;
	if (++*w->links > LINKS_MAX)
		return -ELOOP;
	left = strlen(w->rest + w->next);
	if ((size_t)n + left + 2 > BROKER_REST)
		return -ENAMETOOLONG;
	memmove(w->rest + n + 1, w->rest + w->next, left + 1);
	w->rest[n] = '/';
	memcpy(w->rest, text, (size_t)n);
	w->next = 0;
	if (n == 0 || text[0] != '/')
		return 0;
	move_to(w, openat(w->r->root, ".", O_DIR));
	return w->at < 0 ? -errno : 0;
}

/* "self" in a procfs, which would be us, or nobody: the caller's directory, by the number that it
 * has in its own namespace. */
static int open_self(struct walk *w, bool thread)
{
	char number[32], tid[32], name[80];

	if (task_number(w->r, false, number) < 0 || task_number(w->r, true, tid) < 0) {
		errno = ESRCH;
		return -1;
	}
	snprintf(name, sizeof(name), thread ? "%s/task/%s" : "%s", number, tid);
	return openat(w->at, name, O_DIR);
}

/* A link of procfs leads to a file and not to a name. */
static int follow_proc(struct walk *w, const char *name, int link)
{
	struct stat st;
	int fd;

	if (fstat(w->at, &st) < 0)
		return -errno;
	if (st.st_ino != PROC_ROOT_INO)
		fd = openat(w->at, name, O_PATH | O_CLOEXEC);
	else if (!strcmp(name, "self") || !strcmp(name, "thread-self"))
		fd = open_self(w, name[0] == 't');
	else
		return push(w, link);
	if (fd < 0)
		return -errno;
	if (++*w->links > LINKS_MAX) {
		close(fd);
		return -ELOOP;
	}
	move_to(w, fd);
	return 0;
}

static int step_up(struct walk *w)
{
	int fd;

	if (os_same_open(w->at, w->r->root))
		return 0;
	fd = openat(w->at, "..", O_DIR);
	if (fd < 0)
		return -errno;
	move_to(w, fd);
	return 0;
}

static int step(struct walk *w, const char *name)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!strcmp(name, ".."))
		return step_up(w);
	fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode)) {
		move_to(w, take_fd(&fd));
		return 0;
	}
	return in_proc(w->at) ? follow_proc(w, name, fd) : push(w, fd);
}

/* The next component into name, however long (the kernel says when it is too long); false at the
 * end. */
static bool next_name(struct walk *w, char name[PATH_MAX])
{
	size_t n;

	w->next += strspn(w->rest + w->next, "/");
	n = MIN(strcspn(w->rest + w->next, "/"), (size_t)PATH_MAX - 1);
	if (n == 0)
		return false;
	memcpy(name, w->rest + w->next, n);
	name[n] = '\0';
	w->next += n;
	return true;
}

static int walk_slowly(struct walk *w, int start)
{
	char name[PATH_MAX];
	struct stat st;
	int e = 0;

	w->at = openat(start, ".", O_DIR);
	if (w->at < 0)
		return -errno;
	while (e == 0 && next_name(w, name))
		e = step(w, name);
	if (e == 0 && (fstat(w->at, &st) < 0 || !S_ISDIR(st.st_mode)))
		e = -ENOTDIR;
	return e;
}

int walk_by_hand(struct request *r, int start, const char *path, int *links)
{
	struct walk w = { .r = r, .at = -1, .links = links, .rest = r->b->rest };
	size_t n = strlen(path);
	int e;

	if (n >= BROKER_REST)
		return -ENAMETOOLONG;
	memcpy(w.rest, path, n + 1);
	e = walk_slowly(&w, *path == '/' ? r->root : start);
	if (e < 0) {
		close_ptr(&w.at);
		return e;
	}
	return w.at;
}

int walk_dir(struct request *r, int start, const char *path, int *links)
{
	bool absolute = *path == '/';
	const char *below = path + strspn(path, "/");
	int fd = os_openat2(absolute ? r->root : start, *below ? below : ".", O_DIR, 0,
			    (absolute ? RESOLVE_IN_ROOT : RESOLVE_BENEATH) | RESOLVE_NO_MAGICLINKS);

	/* Whatever was wrong: the other way says it as the kernel would. */
	return fd >= 0 ? fd : walk_by_hand(r, start, path, links);
}
