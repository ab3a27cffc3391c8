/* SPDX-License-Identifier: MIT */
/*
 * Names: made, moved, linked, removed. Of each name the directory is found first and then judged with the name; what a
 * rename or a link brings there is judged as well, and the deed is done on the two directories that were judged. Where
 * one of the two is not ours the caller sees two file systems, as it would with mounts: who copies then is judged by that.
 *
 * What an attacker controls: both paths, all links on the way, and what stands under the names until the broker's turn.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "guard/broker_priv.h"
#include "guard/caller.h"
#include "os/linux/brief.h"
#include "os/linux/files.h"

/* The place for a new name, with the caller's umask in force when 0 is returned. */
static int new_place(struct request *r, struct place *p, enum git_act act)
{
	int e = place_get(r, p, 0);

	if (e == OUTSIDE)
		return place_outside(r, p, true);
	if (e < 0)
		return e;
	if (p->is_anchor || p->object >= 0)
		return OUTSIDE; /* '.', '..', '/': the kernel knows what to say */
	e = place_stat(p);
	if (e == 0 && p->exists)
		e = -EEXIST;
	if (e == 0)
		e = judge(r, p, act);
	if (e == 0)
		e = task_take_umask(r);
	return e != 0 ? e : request_check(r);
}

int do_mkdir(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	int e = new_place(r, &p, GIT_MKDIR);

	if (e != 0)
		return e;
	if (gate_makes(r, &p))
		return gate_mkdir(r, &p, (mode_t)request_arg(r, r->row->arg));
	e = request_result(mkdirat(p.dir, p.name, (mode_t)request_arg(r, r->row->arg)));
	if (e == NOTIFY_DONE)
		git_made_dir(r, &p);
	return e;
}

int do_mknod(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	int e = new_place(r, &p, GIT_CREATE);

	if (e != 0)
		return e;
	return request_result(mknodat(p.dir, p.name,
				      plain_mode((mode_t)request_arg(r, r->row->arg)),
				      (dev_t)request_arg(r, r->row->arg + 1)));
}

/* A link with this text is about to stand there; the name itself was judged. */
static int judge_link(struct request *r, struct place *p, const char *text)
{
	struct file_verdict v = file_rules_symlink(r->b->rules, p->path);

	return v.allowed ? git_judge_link(r, p, text) : request_denied(r, p->path, v.rule, NULL);
}

/* The link 'from' is about to stand at 'to' as well, or instead. */
static int judge_same_link(struct request *r, const struct place *from, struct place *to)
{
	char text[PATH_MAX];
	ssize_t n;

	if (!S_ISLNK(from->st.st_mode) || from->slash)
		return 0; /* the kernel moves no link whose name ends in a slash */
	n = readlinkat(from->dir, from->name, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return judge_link(r, to, text);
}

int do_symlink(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	char target[PATH_MAX];
	int e = request_read_path(r, r->row->arg, target);

	if (e == 0)
		e = -ENOENT;
	if (e > 0)
		e = new_place(r, &p, GIT_CREATE);
	if (e == 0)
		e = judge_link(r, &p, target);
	return e != 0 ? e : request_result(symlinkat(target, p.dir, p.name));
}

int do_unlink(struct request *r)
{
	int flags = r->row->flags < 0 ? r->row->fixed : (int)request_arg(r, r->row->flags);
	_cleanup_place_ struct place p = PLACE_NONE;
	int e = place_get(r, &p, 0);

	if (e == OUTSIDE)
		return place_outside(r, &p, false);
	if (e < 0)
		return e;
	if (p.is_anchor || p.object >= 0)
		return OUTSIDE;
	e = place_stat(&p);
	if (e == 0 && !p.exists)
		e = -ENOENT;
	if (e == 0)
		e = judge(r, &p, GIT_REMOVE);
	if (e == 0)
		e = request_check(r);
	if (e == 0)
		e = request_result(unlinkat(p.dir, p.name, flags));
	if (e == NOTIFY_DONE && S_ISSOCK(p.st.st_mode))
		id_ring_drop(&r->b->bound, p.st.st_dev, p.st.st_ino);
	return e;
}

/* ------------------------------------------------------------------ two names */

/* The last component's place in the text, when both paths go the same way up to there. */
static const char *same_way(const char *a, const char *b)
{
	const char *last = strrchr(a, '/');
	size_t n = last ? (size_t)(last - a) + 1 : 0;

	return !*a || (last && !last[1]) || strncmp(a, b, n) ? NULL : b + n;
}

/* The second path of rename and link, whose first one was 'path' and led to 'from'. */
static int second_place(struct request *r, struct place *from, const char *path, struct place *to)
{
	int dirfd = request_dir(r, r->row->dir2), e;
	char second[PATH_MAX];
	const char *name;

	e = request_read_path(r, r->row->path2, second);
	if (e < 0)
		return e;
	name = dirfd == request_dir(r, r->row->dir) ? same_way(path, second) : NULL;
	if (name && place_beside(from, name, to) == 0)
		return 0;
	e = place_keep(from);
	if (e == 0)
		e = place_find(r, dirfd, second, 0, to);
	return e != 0 ? e : place_map(r, to);
}

/* One of the two is not ours: two file systems, as far as the caller can see. What is read-only of them is told of. */
static int tell_across(struct request *r, struct place *from, struct place *to, bool to_outside)
{
	if (to_outside)
		(void)place_outside(r, to, !to->exists);
	else
		(void)place_outside(r, from, false);
	return -EXDEV;
}

static int rename_across(struct request *r, struct place *from, struct place *to, bool to_outside,
			 unsigned flags)
{
	int e = place_stat(from);

	if (e < 0 || !from->exists)
		return e < 0 ? e : -ENOENT;
	if (place_stat(to) < 0 || (to->exists && (flags & RENAME_NOREPLACE)))
		return -EXDEV; /* nobody would do it: mv asks so whether it is a directory */
	return tell_across(r, from, to, to_outside);
}

/* The same of a link to a file that exists. Where there really are two file systems nobody would make it. */
static int link_across(struct request *r, struct place *from, struct place *to, bool to_outside)
{
	struct stat dir;

	if (place_stat(to) < 0 || to->exists || to->view < 0 || fstat(to->view, &dir) < 0 ||
	    dir.st_dev != from->st.st_dev)
		return -EXDEV;
	return tell_across(r, from, to, to_outside);
}

/* Neither is ours, and the kernel says what it thinks of that. What is read-only of the two is told of. */
static int rename_outside(struct request *r, struct place *from, struct place *to, unsigned flags)
{
	if (place_is_readonly(from->view, "."))
		return place_outside(r, from, false);
	(void)rename_across(r, from, to, true, flags);
	return OUTSIDE;
}

static int link_outside(struct request *r, struct place *from, struct place *to)
{
	if (place_is_readonly(to->view, "."))
		return place_outside(r, to, true);
	(void)link_across(r, from, to, false);
	return OUTSIDE;
}

/* The path of the two that may not be written: what leaves what is writable, or comes into it. */
static int move_apart(struct request *r, const struct place *from, const struct place *to)
{
	bool from_writable = file_rules_write(r->b->rules, from->path).allowed;

	return from_writable ? request_apart(r, to->path, !to->exists)
			     : request_apart(r, from->path, false);
}

/* What a rename brings to a name, beyond the rules. */
static int judge_arrival(struct request *r, struct place *from, struct place *to)
{
	int e = git_judge_name(r, to, GIT_REPLACE);

	if (S_ISDIR(from->st.st_mode)) {
		tasks_forget_directories(r->b); /* they may be in it */
		lately_forget(r->b);
	}
	if (e == 0 && S_ISDIR(from->st.st_mode))
		e = git_judge_dir(r, from, to);
	return e != 0 ? e : judge_same_link(r, from, to);
}

static int judge_move(struct request *r, struct place *from, struct place *to, unsigned flags)
{
	struct file_verdict v;
	int e;

	hooked_look_in(r, from);
	hooked_look_in(r, to);
	v = file_rules_move(r->b->rules, from->path, to->path, S_ISDIR(from->st.st_mode));
	if (v.allowed && (flags & RENAME_EXCHANGE))
		v = file_rules_move(r->b->rules, to->path, from->path, S_ISDIR(to->st.st_mode));
	if (!v.allowed && !v.rule)
		return move_apart(r, from, to);
	e = flags & (RENAME_EXCHANGE | RENAME_WHITEOUT)
		    ? 0
		    : git_replace(r, from, to, v.allowed ? NULL : v.rule);
	if (e != 0)
		return e;
	if (!v.allowed)
		return request_denied(r,
				      v.rule == file_rules_write(r->b->rules, from->path).rule
					      ? from->path
					      : to->path,
				      v.rule, NULL);
	e = r->b->gate ? gate_judge(r, from, GIT_LEAVE) : private_judge(r, from);
	if (e == 0)
		e = judge_arrival(r, from, to);
	return e == 0 && (flags & RENAME_EXCHANGE) ? judge_arrival(r, to, from) : e;
}

/* The way to the old name comes first, then the one to the new name, then the names. */
static int first_error(struct place *from, const struct place *to, int e)
{
	if (from->view >= 0 && faccessat(from->view, ".", F_OK, AT_EACCESS) < 0)
		return -errno;
	return e == -ENAMETOOLONG && to->view >= 0 && place_stat(from) == 0 && !from->exists
		       ? -ENOENT
		       : e;
}

int do_rename(struct request *r)
{
	unsigned flags = r->row->flags < 0 ? 0 : (unsigned)request_arg(r, r->row->flags);
	_cleanup_place_ struct place from = PLACE_NONE, to = PLACE_NONE;
	char path[PATH_MAX];
	int e = request_read_path(r, r->row->path, path), e2;

	if (e >= 0)
		e = place_find(r, request_dir(r, r->row->dir), path, 0, &from);
	if (e == 0)
		e = place_map(r, &from);
	if (e < 0 && from.view < 0)
		return e;
	e2 = second_place(r, &from, path, &to);
	if (e2 < 0 || e < 0)
		return first_error(&from, &to, e2 < 0 ? e2 : e);
	if (from.is_anchor || from.object >= 0 || to.is_anchor || to.object >= 0)
		return OUTSIDE;
	if (e == OUTSIDE && e2 == OUTSIDE)
		return rename_outside(r, &from, &to, flags);
	if (e == OUTSIDE || e2 == OUTSIDE)
		return rename_across(r, &from, &to, e2 == OUTSIDE, flags);
	e = place_stat(&from);
	e2 = place_stat(&to);
	if (e == 0 && (e2 == -EACCES || e2 == -ENOTDIR || from.exists))
		e = e2;
	else if (e == 0)
		e = -ENOENT;
	if (e == 0 && to.exists && (flags & RENAME_NOREPLACE))
		e = -EEXIST;
	if (e == 0)
		e = judge_move(r, &from, &to, flags);
	if (e == 0)
		e = request_check(r);
	if (e != 0)
		return e;
	private_lend(r, &from, &to);
	e = request_result(renameat2(from.dir, from.name, to.dir, to.name, flags));
	if (e == NOTIFY_DONE && to.exists && S_ISSOCK(to.st.st_mode) && !(flags & RENAME_EXCHANGE))
		id_ring_drop(&r->b->bound, to.st.st_dev, to.st.st_ino);
	if (e == NOTIFY_DONE)
		repository_moved(r, from.path, to.path, flags & RENAME_EXCHANGE);
	return e;
}

/* A file that never had a name, and that the caller got from us. */
static int link_nameless(struct request *r, struct place *from, struct place *to)
{
	char path[32];
	int e = judge(r, to, GIT_CREATE);

	if (e == 0)
		e = request_check(r);
	if (e != 0)
		return e;
	return request_result(linkat(AT_FDCWD, fd_path(from->object, path), to->dir, to->name,
				     AT_SYMLINK_FOLLOW));
}

static int link_from(struct request *r, struct place *from, int flags, char path[PATH_MAX])
{
	int dirfd = request_dir(r, r->row->dir), fd;
	int e = request_read_path(r, r->row->path, path);

	if (e < 0)
		return e;
	if (!*path && (flags & AT_EMPTY_PATH)) {
		fd = walk_start(r, dirfd);
		return fd < 0 ? fd : place_of(r, fd, from);
	}
	e = place_find(r, dirfd, path,
		       ends_in_slash(path) || (flags & AT_SYMLINK_FOLLOW) ? FOLLOW : 0, from);
	if (e == 0)
		e = place_stat(from);
	if (e == 0 && from->slash && from->exists && !S_ISDIR(from->st.st_mode))
		e = -ENOTDIR;
	if (flags & AT_SYMLINK_FOLLOW)
		*path = '\0'; /* where it led, the text does not say */
	return e != 0 ? e : place_map(r, from);
}

int do_link(struct request *r)
{
	int flags = r->row->flags < 0 ? 0 : (int)request_arg(r, r->row->flags);
	_cleanup_place_ struct place from = PLACE_NONE, to = PLACE_NONE;
	struct file_verdict v;
	char path[PATH_MAX];
	int e = link_from(r, &from, flags, path), e2;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (e < 0)
		return e;
	e2 = place_stat(&from);
	if (e2 == 0 && !from.exists)
		return -ENOENT;
	if (e2 == 0)
		e2 = second_place(r, &from, path, &to);
	if (e2 < 0)
		return e2;
	if (to.is_anchor || to.object >= 0)
		return -EEXIST;
	if (e2 == OUTSIDE)
		return e == OUTSIDE ? link_outside(r, &from, &to)
				    : link_across(r, &from, &to, true);
	if (from.object >= 0 && from.st.st_nlink == 0 && S_ISREG(from.st.st_mode))
		return link_nameless(r, &from, &to);
	if (e == OUTSIDE || from.is_anchor)
		return link_across(r, &from, &to, false);
	e = place_is_same(&from) ? place_stat(&to) : -EXDEV;
	if (e == 0 && to.exists)
		e = -EEXIST;
	if (e < 0)
		return e;
	v = file_rules_move(r->b->rules, from.path, to.path, false);
	if (!v.allowed)
		return v.rule ? request_denied(r, to.path, v.rule, NULL)
			      : move_apart(r, &from, &to);
	e = git_judge_name(r, &from, GIT_CREATE);
	if (e == 0)
		e = git_judge_name(r, &to, GIT_CREATE);
	if (e == 0)
		e = judge_same_link(r, &from, &to);
	if (e == 0)
		e = request_check(r);
	return e != 0 ? e : request_result(linkat(from.dir, from.name, to.dir, to.name, 0));
}

/* ------------------------------------------------------------------ sockets */

/* What the caller calls its socket. */
struct wanted {
	struct sockaddr_un name;
	size_t len;
};

static int bind_at(struct request *r, int socket_fd, struct place *p, const struct wanted *wanted)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	_cleanup_close_ int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), file = -1;
	size_t n = strlen(p->name);
	struct file_id id;
	int e;

	/* Relative, because a path through /proc might not fit. The caller finds the last component
	 * where it asks for the socket's name. */
	if (n >= sizeof(name.sun_path) || here < 0 || fchdir(p->dir) < 0)
		return -EACCES;
	memcpy(name.sun_path, p->name, n);
	e = request_result(bind(socket_fd, (struct sockaddr *)&name,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1)));
	if (fchdir(here) < 0)
		abort(); /* relative paths of ours would mean something else from now on */
	if (e == NOTIFY_DONE)
		file = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0)
		return e;
	id = file_id_at(file, "");
	if (id.born)
		id_ring_add(&r->b->bound, id);
	if (r->b->hooks.on_bound)
		r->b->hooks.on_bound(r->b->hooks.ctx, socket_fd, file, &wanted->name, wanted->len);
	return e;
}

/* Where the caller wants its socket's name; OUTSIDE when it is no name of a file. */
static int bind_place(struct request *r, struct place *p, struct wanted *wanted)
{
	struct sockaddr_un *name = &wanted->name;
	char path[sizeof(name->sun_path) + 1];
	int e;

	*wanted = (struct wanted){ .len = request_arg(r, 2) };
	if (wanted->len <= offsetof(struct sockaddr_un, sun_path) || wanted->len > sizeof(*name))
		return OUTSIDE;
	if (request_read(r, r->row->arg, name, wanted->len) < 0)
		return -EFAULT;
	if (name->sun_family != AF_UNIX || !name->sun_path[0])
		return OUTSIDE;
	snprintf(path, sizeof(path), "%.*s", (int)sizeof(name->sun_path), name->sun_path);
	e = place_find(r, AT_FDCWD, path, 0, p);
	if (e == 0)
		e = place_map(r, p);
	if (e != 0)
		return e == OUTSIDE ? place_outside(r, p, true) : e;
	if (p->is_anchor || p->object >= 0)
		return -EADDRINUSE;
	e = place_stat(p);
	return e == 0 && p->exists ? -EADDRINUSE : e;
}

int do_bind(struct request *r)
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int pidfd = -1;
	_cleanup_brief_close_ int fd = -1;
	struct wanted wanted;
	int e = bind_place(r, &p, &wanted);

	if (e == 0)
		e = judge(r, &p, GIT_CREATE);
	if (e == 0)
		e = task_take_umask(r);
	if (e != 0)
		return e;
	pidfd = caller_open(r->notif);
	fd = pidfd < 0 ? pidfd : caller_get_fd(pidfd, (int)request_arg(r, 0));
	e = fd < 0 ? fd : request_check(r);
	return e != 0 ? e : bind_at(r, fd, &p, &wanted);
}
