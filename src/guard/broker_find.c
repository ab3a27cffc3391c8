/* SPDX-License-Identifier: MIT */
/*
 * Places as the sandbox sees them: from a path to a directory and a name in it, through links as the caller would go.
 * Where that is in the tree that can be written is broker_place.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "guard/broker_priv.h"

bool ends_in_slash(const char *path)
{
	return *path && path[strlen(path) - 1] == '/';
}

/* Splits the last component off and goes to the directory before it. */
static int find_parent(struct request *r, int *start, char *path, int *links, struct place *p)
{
	size_t len = strlen(path), at;
	int e;

	p->slash = len > 0 && path[len - 1] == '/';
	while (len > 0 && path[len - 1] == '/')
		len--;
	for (at = len; at > 0 && path[at - 1] != '/'; at--)
		;
	if (len == at || !strncmp(path + at, ".", len - at) || !strncmp(path + at, "..", len - at))
		at = strlen(path); /* a directory itself */
	else
		path[len] = '\0';
	e = place_take_name(p, path + at, strlen(path + at));
	path[at] = '\0';
	p->view = at ? walk_dir(r, *start, path, links) : take_fd(start);
	if (p->view < 0 || e == 0)
		return MIN(p->view, 0);
	return faccessat(p->view, ".", F_OK, AT_EACCESS) < 0 ? -errno : e;
}

int place_stat(struct place *p)
{
	char name[NAME_MAX + 2];
	int e;

	if (p->object >= 0)
		e = fstat(p->object, &p->st);
	else
		e = fstatat(p->view, place_bare_name(p, name), &p->st,
			    AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
	p->exists = e == 0;
	p->looked = e == 0 || errno == ENOENT;
	return p->looked ? 0 : -errno;
}

/* The next name to look for; the link's directory becomes the start. */
static int read_link(struct place *p, char path[PATH_MAX], int *links)
{
	ssize_t n = readlinkat(p->view, p->name, path, PATH_MAX - 2);

	if (n < 0)
		return -errno;
	if (++*links > LINKS_MAX)
		return -ELOOP;
	if (n == 0)
		return -ENOENT;
	path[n] = '\0';
	if (p->slash && path[n - 1] != '/')
		memcpy(path + n, "/", 2);
	return 0;
}

static int set_root(struct request *r)
{
	if (!r->nested || r->own_root >= 0)
		return 0;
	r->own_root = task_open(r, "root");
	r->root = r->own_root;
	return r->own_root < 0 ? r->own_root : 0;
}

/* A link of procfs is a file and not a name. The way to it may have led through "self", which was
 * our own, so it is gone again, by hand. */
static int follow_proc(struct request *r, int start, const char *dir, int *links, struct place *p)
{
	int fd;

	if (*dir) {
		fd = walk_by_hand(r, start, dir, links);
		close_ptr(&p->view);
		p->view = fd;
	}
	if (p->view < 0)
		return p->view;
	fd = openat(p->view, p->name, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : place_of(r, fd, p);
}

int place_find(struct request *r, int dirfd, const char *given, int follow, struct place *p)
{
	_cleanup_close_ int start = -1;
	char path[PATH_MAX];
	int links = 0, e = set_root(r);

	if (e == 0 && !*given)
		e = -ENOENT;
	if (e < 0)
		return e;
	if (*given != '/') {
		start = walk_start(r, dirfd);
		if (start < 0)
			return start;
	}
	snprintf(path, sizeof(path), "%s", given);
	for (;;) {
		e = find_parent(r, &start, path, &links, p);
		if (e != 0 || !follow || !*p->name || (follow == FOLLOW_NEW && p->slash))
			break;
		e = place_stat(p);
		if (e < 0 || !p->exists || !S_ISLNK(p->st.st_mode))
			break;
		if (in_proc(p->view))
			return follow_proc(r, start, path, &links, p);
		e = read_link(p, path, &links);
		if (e < 0)
			break;
		close_ptr(&start);
		start = take_fd(&p->view);
	}
	return e;
}
