/* SPDX-License-Identifier: MIT */
/* The user's own index after a commit of ours: it sees the paths as committed, and all else in it stays. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/fs.h"
#include "ralph/git.h"

enum { INDEX_MAX = 1 << 30 };
#define OURS "ralph" /* what a lock of ours begins with */

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Of ours, and nobody holds it: that ralph was killed. */
static bool is_stale_lock(const char *lock)
{
	_cleanup_close_ int fd = open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[sizeof(OURS)] = "";

	return fd >= 0 && os_read_full(fd, text, sizeof(text) - 1) >= 0 && str_starts(text, OURS) &&
	       flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* It comes into being with our word in it, and held: whenever we are killed, it can be told whose it was. */
static int take_lock(struct arena *arena, const char *lock)
{
	const char *mark = arena_printf(arena, "%s.ralph", lock);
	int fd, r = 0;

	unlink(mark);
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = -errno;
	if (r == 0)
		r = os_write_all(fd, OURS, strlen(OURS));
	if (r == 0)
		r = os_move_new(AT_FDCWD, mark, AT_FDCWD, lock);
	if (r == 0)
		return fd;
	close_ptr(&fd);
	unlink(mark);
	if (r == -EEXIST && is_stale_lock(lock))
		unlink(lock);
	return r == -EEXIST ? -EAGAIN : r;
}

/* git's own protocol: who makes index.lock may replace the index. 0, or -EAGAIN for another try. */
static int replace_index(struct arena *arena, const char *index, const char *new,
			 const struct stat *was)
{
	const char *lock = arena_printf(arena, "%s.lock", index);
	_cleanup_close_ int fd = take_lock(arena, lock);
	struct stat now = { 0 };
	int r = 0;

	if (fd < 0)
		return fd;
	(void)stat(index, &now); /* none is as good as another one */
	if (now.st_ino != was->st_ino || now.st_size != was->st_size ||
	    now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != was->st_mtim.tv_nsec)
		r = -EAGAIN; /* somebody else was faster */
	if (r == 0 && rename(new, index) < 0)
		r = -errno;
	unlink(lock);
	return r;
}

/* The copy, by git. One that was killed is asked again. */
static int update_copy(const struct work *work, struct arena *arena, const char *new,
		       const struct str *list)
{
	int status = git_ask(
		work, arena,
		ARGS("update-index", "--add", "--remove", "--replace", "-z", "--stdin"), new,
		list->s, list->len, NULL);

	unlink(arena_printf(arena, "%s.lock", new)); /* of one that was killed */
	return status == -EINTR ? -EAGAIN : status ? -EIO : 0;
}

/* One try: a copy of the index is brought up to date, and put in its place. */
static int refresh_once(const struct work *work, struct arena *arena, const char *index,
			const struct str *list)
{
	char *new = arena_printf(arena, "%s.ralph", index);
	_cleanup_free_ char *text = NULL;
	struct stat was = { 0 };
	_cleanup_close_ int from = open(index, O_RDONLY | O_CLOEXEC), to = -1;
	size_t len = 0;
	int r = 0;

	unlink(new);
	unlink(arena_printf(arena, "%s.lock", new));
	if (from >= 0 && fstat(from, &was) == 0)
		r = os_read_fd(from, INDEX_MAX, &text, &len);
	to = r < 0 || from < 0 ? -1 : open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (r == 0 && to >= 0)
		r = os_write_all(to, text, len);
	if (r == 0)
		r = update_copy(work, arena, new, list);
	if (r == 0)
		r = replace_index(arena, index, new, &was);
	unlink(new);
	return r;
}

static char *index_path(const struct work *work, struct arena *arena)
{
	char *git = path_join(arena, work->site.top, ".git"), *index = NULL;
	struct stat st;

	if (lstat(git, &st) == 0 && S_ISDIR(st.st_mode))
		return path_join(arena, git, "index");
	return git_ask(work, arena, ARGS("rev-parse", "--git-path", "index"), NULL, NULL, 0,
		       &index) == 0
		       ? path_join(arena, work->site.top, index)
		       : NULL;
}

/* The user's own index sees these paths as committed; the rest of it stays. Where somebody else has the
 * index for long, an editor of a commit, it is left to the user. */
void git_refresh(const struct work *work, char *const *paths, size_t n)
{
	_cleanup_str_ struct str list = { 0 };
	struct arena arena = { 0 };
	char *index = index_path(work, &arena);
	int r = index ? -EAGAIN : -ENOENT;

	git_add_paths(&list, paths, n);
	for (int i = 0; r == -EAGAIN && i < 20; i++) {
		if (i)
			poll(NULL, 0, 100);
		r = refresh_once(work, &arena, index, &list);
	}
	if (r)
		work_say(work,
			 "git's index is in use, so it shows the files of this commit as changed; "
			 "'git reset -q' brings it up to date (remove .git/index.lock when no git "
			 "runs)");
	arena_release(&arena);
}
