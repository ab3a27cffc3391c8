/* SPDX-License-Identifier: MIT */
/*
 * Repositories that a command of 'wrapix exec' comes to, beside that of its working directory: below it, in another
 * writable place. Each has a private git directory as that one has (git/lasting.h), which is mounted in the
 * sandbox while the command runs:
 *
 * - when somebody goes to a directory of such a repository, before a git there has read anything: what it
 *   finds is one repository from the beginning to the end;
 * - at the latest when something in the host's git directory is about to change, whoever does that and however
 *   it came there. The call is then done again, and means the private one.
 *
 * No walk looks for them. One that the command itself has made holds nothing of the host's: it is judged by content
 * (broker_git.c), until it gets a list of commands that the host's git would carry out ('git rebase').
 *
 * A child does the mounting. It takes the host's directories in a copy of the host's mounts, because the sandbox's own
 * show none of them, and then enters the sandbox's. What cannot be mounted is changed by nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/path.h"
#include "base/str.h"
#include "git/lasting.h"
#include "guard/broker_priv.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/linux/mount.h"
#include "os/proc.h"

enum { MOUNTS_EACH = 3 };

/* ------------------------------------------------------------------ mounting */

/* Detached mounts of one, and where they go. */
struct mounts {
	int fd[MOUNTS_EACH];
	char path[MOUNTS_EACH][PATH_MAX];
};

/* Below the repository nothing leads elsewhere: what was put there as a link may lead to what is denied. */
static int clone_plain(const char *path)
{
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0,
					    RESOLVE_NO_SYMLINKS);

	return fd < 0 ? fd : mount_clone(fd, "", MOUNT_RO);
}

/* In a copy of the host's mounts. */
static int take(const struct broker_gitdir *one, struct mounts *ret)
{
	const char *const from[MOUNTS_EACH] = { one->private, one->objects, one->lfs };
	const char *const below[MOUNTS_EACH] = { "", "/" GIT_HOST "/objects",
						 "/" GIT_HOST "/lfs/objects" };

	for (size_t i = 0; i < MOUNTS_EACH; i++) {
		ret->fd[i] = !from[i] ? -1
			     : i == 0 ? mount_clone(AT_FDCWD, from[i], MOUNT_RO)
				      : clone_plain(from[i]);
		if (from[i] && ret->fd[i] < 0)
			return ret->fd[i];
		snprintf(ret->path[i], PATH_MAX, "%s%s", one->path, below[i]);
	}
	return 0;
}

static int mount_all(const struct broker_gitdir *list, size_t n, int mntns)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct mounts *mounts = arena_alloc(&arena, n * sizeof(*mounts));
	_cleanup_close_ int userns = ioctl(mntns, NS_GET_USERNS);
	int r = 0;

	if (userns < 0 || setns(userns, CLONE_NEWUSER) < 0 || unshare(CLONE_NEWNS) < 0)
		return -errno;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = take(&list[i], &mounts[i]);
	if (r == 0 && setns(mntns, CLONE_NEWNS) < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < n; i++)
		for (size_t k = 0; r == 0 && k < MOUNTS_EACH; k++)
			if (mounts[i].fd[k] >= 0)
				r = mount_attach(mounts[i].fd[k], AT_FDCWD, mounts[i].path[k]);
	return r;
}

static int mount_in_child(struct request *r, const struct broker_gitdir *list, size_t n)
{
	_cleanup_close_ int mntns = openat(r->task->proc, "ns/mnt", O_RDONLY | O_CLOEXEC);
	pid_t parent = getpid(), pid = mntns < 0 ? -1 : fork();

	if (pid == 0) {
		os_die_with_parent(SIGKILL);
		_exit(getppid() == parent ? -mount_all(list, n, mntns) : ESRCH);
	}
	return pid < 0 ? -errno : os_await_errno(pid);
}

/* The sandbox sees it there. */
static bool is_seen(const struct broker *b, const struct broker_gitdir *one)
{
	struct stat st, seen;

	return stat(one->private, &st) == 0 &&
	       fstatat(b->view, one->path + 1, &seen, AT_SYMLINK_NOFOLLOW) == 0 &&
	       os_same_file(&st, &seen);
}

/* From here on the places mean these. */
static void add_all(struct request *r, const struct broker_gitdir *list, size_t n, bool mounted)
{
	for (size_t i = 0; i < n; i++) {
		int fd = -1;

		if (mounted && list[i].private && is_seen(r->b, &list[i]))
			fd = open(list[i].private, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		broker_add_private(r->b, list[i].path, fd, list[i].fixed);
	}
	seen_forget(r->b);
	tasks_forget_directories(r->b);
}

/* They are there already: it has several names. */
static bool has_all(const struct broker *b, const struct broker_gitdir *list, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < b->n_private; k++)
			found += !strcmp(b->anchors[k].path, list[i].path);
	return found >= n;
}

/* The first time it takes git; the turn is given back for that, and everything looked at anew. */
static size_t ask(struct request *r, const char *dir, const char *gitdir, bool made,
		  const struct broker_gitdir **ret, bool *ret_again)
{
	const struct broker_hooks *hooks = &r->b->hooks;
	const struct file_id id = file_id_at(AT_FDCWD, gitdir);
	bool known = id_ring_has(&r->b->by_content, id);
	size_t n;

	*ret_again = r->has_turn && !known;
	if (!known)
		turn_give(r);
	n = hooks->on_gitdir(hooks->ctx, dir, gitdir, made, ret);
	if (!known)
		id_ring_add(&r->b->by_content, id);
	return n;
}

/* 0: it is judged by content. AGAIN: it is private from now on. */
static int take_over(struct request *r, const char *dir, const char *gitdir, bool made)
{
	const struct broker_gitdir *list = NULL;
	bool again;
	size_t n;

	task_give_umask(r);
	n = ask(r, dir, gitdir, made, &list, &again);
	if (!n || has_all(r->b, list, n))
		return again ? AGAIN : 0;
	if (r->lent || covers_are_others(r))
		return request_denied(r, gitdir, NULL,
				      "a repository is made private for who has the command's own "
				      "mounts");
	add_all(r, list, n, mount_in_child(r, list, n) == 0);
	return AGAIN;
}

/* ------------------------------------------------------------------ moving them */

/* What lies below the one lies below the other now; the mounts have gone along. */
static bool rename_anchor(struct broker *b, struct anchor *a, const char *old, const char *new)
{
	if (!path_is_below(a->path, old))
		return false;
	a->path = path_join(&b->arena, new, path_below(a->path, old));
	a->inside = a->path;
	a->len = a->inside_len = strlen(a->path);
	return true;
}

void repository_moved(struct request *r, const char *old, const char *new, bool exchanged)
{
	const struct broker_hooks *hooks = &r->b->hooks;
	const struct broker_gitdir *none;
	bool found = false;

	for (size_t i = 0; i < r->b->n_private; i++) {
		struct anchor *a = &r->b->anchors[i];

		found |= rename_anchor(r->b, a, old, new) ||
			 (exchanged && rename_anchor(r->b, a, new, old));
	}
	if (!found)
		return;
	seen_forget(r->b);
	tasks_forget_directories(r->b);
	task_give_umask(r);
	if (hooks->on_gitdir)
		(void)hooks->on_gitdir(hooks->ctx, NULL, NULL, false, &none);
}

/* ------------------------------------------------------------------ finding them */

static bool asks(const struct request *r)
{
	return r->b->hooks.on_gitdir && !r->b->gate && !r->b->mapped;
}

/* Private already, or closed. */
static bool is_taken(const struct broker *b, const char *gitdir)
{
	for (size_t i = 0; i < b->n_private; i++)
		if (path_is_below(gitdir, b->anchors[i].path))
			return true;
	return false;
}

static bool is_made(struct request *r, const char *gitdir)
{
	return id_ring_has(&r->b->git_dirs, file_id_at(AT_FDCWD, gitdir));
}

static bool is_list(const struct place *p, size_t len)
{
	static const char *const names[] = { "rebase-merge", "rebase-apply", "sequencer" };
	size_t n = strcspn(p->name, "/");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (p->dir_len == len && strlen(names[i]) == n && !strncmp(p->name, names[i], n))
			return true;
	return false;
}

/* A directory that lies in no git directory is looked at once in a while: the host may make one of it. */
static size_t find_gitdir(struct request *r, const struct place *p)
{
	size_t n;

	if (lately_has(&r->b->plain, p->path, p->dir_len))
		return 0;
	n = git_dir_len(p);
	if (!n)
		lately_add(&r->b->plain, p->path, p->dir_len);
	return n;
}

int repository_judge(struct request *r, const struct place *p)
{
	char gitdir[PATH_MAX];
	size_t n = asks(r) && p->dir >= 0 ? find_gitdir(r, p) : 0;
	bool made;

	if (!n || n >= sizeof(gitdir))
		return 0;
	memcpy(gitdir, p->path, n);
	gitdir[n] = '\0';
	made = is_made(r, gitdir);
	if (made && !is_list(p, n))
		return 0;
	return take_over(r, NULL, gitdir, made);
}

/* The directory that the path leads to, as the host calls it. */
static bool find_target(struct request *r, char buf[PATH_MAX])
{
	_cleanup_place_ struct place p = PLACE_NONE;
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];

	if (request_read_path(r, r->row->path, path) < 0 ||
	    place_find(r, AT_FDCWD, path, FOLLOW, &p) != 0 || p.object >= 0)
		return false;
	p.name[strcspn(p.name, "/")] = '\0';
	fd = *p.name ? openat(p.view, p.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		     : fcntl(p.view, F_DUPFD_CLOEXEC, 0);
	return fd >= 0 && place_path(r->b, fd, buf) > 0;
}

/* What a .git that is a file leads to: the repository around, of a submodule or a linked work tree. */
static void follow_gitfile(char gitdir[PATH_MAX])
{
	_cleanup_(arena_release) struct arena a = { NULL };
	_cleanup_free_ char *text = NULL;
	char *target, *real, *around;

	if (os_read_file_at(AT_FDCWD, gitdir, PATH_MAX, &text, NULL) < 0 ||
	    !str_starts(text, "gitdir: "))
		return;
	text[strcspn(text, "\n")] = '\0';
	target = path_join(&a, path_parent(&a, gitdir), text + strlen("gitdir: "));
	real = os_realpath(&a, target);
	if (!real) /* it may be there in the private one alone */
		real = target;
	around = strstr(real, "/.git/");
	if (around)
		around[strlen("/.git")] = '\0';
	snprintf(gitdir, PATH_MAX, "%s", real);
}

/* The git directory of 'dir' or it itself; false: there is none. */
static bool has_git(const char *dir, char gitdir[PATH_MAX])
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (snprintf(gitdir, PATH_MAX, "%s/.git", dir) >= PATH_MAX)
		return false;
	if (lstat(gitdir, &st) == 0) {
		if (S_ISREG(st.st_mode))
			follow_gitfile(gitdir);
		return true;
	}
	if (snprintf(gitdir, PATH_MAX, "%s/HEAD", dir) >= PATH_MAX || lstat(gitdir, &st) < 0)
		return false;
	snprintf(gitdir, PATH_MAX, "%s", dir);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && git_is_dir(fd, NULL, 0);
}

/* It is known by its name, or has no files: else it takes its files to find it. */
static bool is_by_itself(const char *dir, const char *gitdir)
{
	return !strcmp(path_name(gitdir), ".git") || !strcmp(dir, gitdir);
}

void repository_entered(struct request *r)
{
	char dir[PATH_MAX], gitdir[PATH_MAX];

	if (!asks(r) || r->row->path < 0 || r->lent || covers_are_others(r) || !find_target(r, dir))
		return;
	for (; dir[1] && place_is_ours(r->b, dir); *strrchr(dir, '/') = '\0') {
		if (is_taken(r->b, dir))
			return;
		if (!has_git(dir, gitdir))
			continue;
		if (!is_taken(r->b, gitdir) && !is_made(r, gitdir))
			(void)take_over(r, is_by_itself(dir, gitdir) ? NULL : dir, gitdir, false);
		return;
	}
}
