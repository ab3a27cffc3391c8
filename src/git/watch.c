/* SPDX-License-Identifier: MIT */
/* Publishing while the sandbox runs. */
#include "git/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "git/priv.h"
#include "os/dir.h"
#include "os/linux/files.h"
#include "os/proc.h"
#include "os/timer.h"

/* A command of a moment is not watched: the kernel takes 15 ms to end a watch. */
enum { FIRST_MS = 100, DEBOUNCE_MS = 60, MAX_WATCHES = 512, MAX_DEPTH = 6 };

/* Names are made and renamed, never written in place. A link is not followed. */
#define EVENTS                                                                               \
	(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR | \
	 IN_DONT_FOLLOW)

/* The directory and those below it: branches may have slashes in their names. */
static void watch_tree(int fd, int at, const char *path, int depth, int *left)
{
	_cleanup_close_ int dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char name[64];
	struct dirent *entry;
	_cleanup_dir_ DIR *list = NULL;

	if (dir < 0 || (*left)-- <= 0)
		return;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", dir);
	inotify_add_watch(fd, name, EVENTS & ~(uint32_t)IN_DONT_FOLLOW);
	list = depth ? os_dir_open(dir, ".") : NULL;
	while ((entry = os_dir_next(list)) != NULL)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			watch_tree(fd, dir, entry->d_name, depth - 1, left);
}

static void watch_one(int fd, const struct git_store *store, int *left)
{
	const char *const tops[] = { store->private, store->real, store->common };

	for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
		_cleanup_close_ int top = open(tops[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		watch_tree(fd, top, ".", 0, left);
		watch_tree(fd, top, "refs", MAX_DEPTH, left);
	}
}

static void watch_all(struct git_watch *watch)
{
	const struct git_store *store = watch->store;
	int left = MAX_WATCHES;

	watch_one(watch->notes.fd, store, &left);
	for (size_t i = 0; i < store->n_parts; i++)
		watch_one(watch->notes.fd, &store->parts[i], &left);
}

static void set_timer(struct git_watch *watch, unsigned ms)
{
	(void)os_timer_set(watch->timer.fd, ms, 0);
}

static int on_note(struct loop_source *source, uint32_t events, struct err *err)
{
	struct git_watch *watch = container_of(source, struct git_watch, notes);
	char buf[16384];

	(void)events;
	(void)err;
	while (read(source->fd, buf, sizeof(buf)) > 0)
		;
	if (!watch->dirty && !watch->pid)
		set_timer(watch, DEBOUNCE_MS);
	watch->dirty = true;
	return 0;
}

static void become_worker(const struct git_store *store, int out, pid_t parent)
{
	struct arena a = { 0 };
	int *fds = arena_alloc(&a, (store->n_parts + 2) * sizeof(*fds));
	size_t n = 0;

	fds[n++] = out;
	fds[n++] = store->dir;
	for (size_t i = 0; i < store->n_parts; i++)
		fds[n++] = store->parts[i].dir;
	os_become_worker(parent, fds, n);
	arena_release(&a);
}

/* A copy of the supervisor that must hold nothing of it. Says what failed by its pipe. */
_Noreturn static void publish(struct git_watch *watch, int out, pid_t parent)
{
	struct git_report report = { 0 };
	struct err err;

	become_worker(watch->store, out, parent);
	if (git_publish(watch->store, false, &report, &err) < 0)
		(void)!write(out, err.msg, strlen(err.msg));
	_exit(0);
}

static int on_timer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct git_watch *watch = container_of(source, struct git_watch, timer);
	pid_t parent = getpid();
	int fds[2];

	(void)events;
	(void)os_timer_take(source->fd);
	if (watch->pid)
		return 0;
	if (!watch->on)
		watch_all(watch);
	watch->on = true;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return 0; /* the next change tries again */
	watch->dirty = false;
	watch->pid = fork();
	if (watch->pid == 0)
		publish(watch, fds[1], parent);
	close(fds[1]);
	if (watch->pid < 0) {
		watch->pid = 0;
		close(fds[0]);
		return 0;
	}
	watch->child.fd = fds[0];
	return loop_add(watch->loop, &watch->child, LOOP_IN, err);
}

static void reap(struct git_watch *watch)
{
	char text[768];
	ssize_t n = read(watch->child.fd, text, sizeof(text) - 1);

	if (n > 0) {
		text[n] = '\0';
		watch->on_failure(watch->ctx, text);
	}
	(void)os_await(watch->pid);
	watch->pid = 0;
	close(watch->child.fd);
	watch->child.fd = -1;
}

/* The pipe is closed when the child ends, or has said why it failed. */
static int on_child(struct loop_source *source, uint32_t events, struct err *err)
{
	struct git_watch *watch = container_of(source, struct git_watch, child);

	(void)events;
	(void)err;
	loop_remove(watch->loop, source);
	reap(watch);
	watch_all(watch); /* new directories of references */
	if (watch->dirty)
		set_timer(watch, DEBOUNCE_MS);
	return 0;
}

int git_watch_start(struct git_watch *watch, struct loop *loop, struct git_store *store,
		    void (*on_failure)(void *ctx, const char *text), void *ctx, struct err *err)
{
	int r;

	*watch = (struct git_watch)GIT_WATCH_NONE;
	watch->store = store;
	watch->loop = loop;
	watch->on_failure = on_failure;
	watch->ctx = ctx;
	watch->notes = (struct loop_source){ inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_note };
	watch->timer = (struct loop_source){ os_timer_open(), on_timer };
	watch->child = (struct loop_source){ -1, on_child };
	if (watch->notes.fd < 0 || watch->timer.fd < 0)
		r = err_errno(err, errno, "watching the git directory");
	else
		r = loop_add(loop, &watch->notes, LOOP_IN, err);
	if (r == 0)
		r = loop_add(loop, &watch->timer, LOOP_IN, err);
	if (r < 0) {
		git_watch_stop(watch);
		return r;
	}
	set_timer(watch, FIRST_MS);
	return 0;
}

void git_watch_stop(struct git_watch *watch)
{
	struct loop_source *sources[] = { &watch->notes, &watch->timer, &watch->child };

	if (!watch->loop)
		return;
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (sources[i]->fd >= 0)
			loop_remove(watch->loop, sources[i]);
	if (watch->pid)
		reap(watch);
	for (size_t i = 0; i < 2; i++)
		if (sources[i]->fd >= 0)
			close(sources[i]->fd);
	*watch = (struct git_watch)GIT_WATCH_NONE;
}
