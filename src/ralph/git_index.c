/* SPDX-License-Identifier: MIT */
/* The user's own index after a commit of ours: it sees the paths as committed, and all else in it stays. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/fs.h"
#include "ralph/git.h"

enum { INDEX_MAX = 1 << 30 };

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* "ralph PID": a lock of ours, whose holder may be dead. */
static bool is_stale_lock(const char *lock)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int pid;

	return os_read_file_at(AT_FDCWD, lock, 64, &text, &len) == 0 &&
	       sscanf(text, "ralph %d", &pid) == 1 && pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

/* git's own protocol: who makes index.lock may replace the index. 0, or -EAGAIN for another try. */
static int replace_index(const char *index, const char *new, const char *lock,
			 const struct stat *was)
{
	struct stat now = { 0 };
	char mark[32];
	int r, fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) {
		if (errno == EEXIST && is_stale_lock(lock))
			unlink(lock);
		return -EAGAIN;
	}
	snprintf(mark, sizeof(mark), "ralph %d\n", (int)getpid());
	r = os_write_all(fd, mark, strlen(mark));
	close(fd);
	(void)stat(index, &now); /* none is as good as another one */
	if (r == 0 && (now.st_ino != was->st_ino || now.st_size != was->st_size ||
		       now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
		       now.st_mtim.tv_nsec != was->st_mtim.tv_nsec))
		r = -EAGAIN; /* somebody else was faster */
	if (r == 0 && rename(new, index) < 0)
		r = -errno;
	unlink(lock);
	return r;
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
	unlink(arena_printf(arena, "%s.lock", new)); /* of a git that was killed */
	if (from >= 0 && fstat(from, &was) == 0)
		r = os_read_fd(from, INDEX_MAX, &text, &len);
	to = r < 0 || from < 0 ? -1 : open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (r == 0 && to >= 0)
		r = os_write_all(to, text, len);
	if (r == 0 &&
	    git_ask(work, arena, ARGS("update-index", "--add", "--remove", "-z", "--stdin"), new,
		    list->s, list->len, NULL) != 0)
		r = -EIO;
	if (r == 0)
		r = replace_index(index, new, arena_printf(arena, "%s.lock", index), &was);
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
