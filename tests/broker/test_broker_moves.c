/* SPDX-License-Identifier: MIT */
/*
 * Callers that go from directory to directory: a relative path begins where its caller is when it calls, whoever took it
 * there. The broker remembers where that is, and hears only that somebody is about to go, not that it has arrived.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "brokered.h"
#include "lib/tap.h"

enum { ROUNDS = 300, STACK = 1 << 16 };

static atomic_int asked, gone;

static bool make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool make_some(int n)
{
	char name[32];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "some%d", i);
		if (!make(name))
			return false;
	}
	return true;
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static const char *place(int round)
{
	return round % 2 ? "../one" : "../two";
}

/* Goes when it is asked to, and says when it has got there. */
static int goer(_unused_ void *ctx)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_load(&asked) <= i)
			sched_yield();
		if (chdir(place(i)) < 0)
			return 1;
		atomic_store(&gone, i + 1);
	}
	return 0;
}

static void *go_as_thread(void *ctx)
{
	(void)goer(ctx);
	return NULL;
}

/* Makes files all the while, and one more when the other has got there: how often that was in another place. */
static int follow(void)
{
	char name[32], path[64];
	int missed = 0;

	for (int i = 0; i < ROUNDS; i++) {
		atomic_store(&asked, i + 1);
		while (atomic_load(&gone) <= i)
			if (!make("busy"))
				return -1;
		snprintf(name, sizeof(name), "after%d", i);
		snprintf(path, sizeof(path), "%s/%s", place(i), name);
		missed += !make(name) || !is_there(path);
	}
	return missed;
}

static bool enter_one(void)
{
	return mkdir("one", 0700) == 0 && mkdir("two", 0700) == 0 && chdir("one") == 0;
}

static int beside_a_thread(_unused_ void *ctx)
{
	pthread_t thread;
	int missed;

	if (!enter_one() || pthread_create(&thread, NULL, go_as_thread, NULL) != 0)
		return 1;
	missed = follow();
	pthread_join(thread, NULL);
	return missed == 0 ? 0 : 2;
}

/* A process of its own that goes for both. */
static int beside_a_process(_unused_ void *ctx)
{
	static _Alignas(64) char stack[STACK];
	pid_t child;
	int missed, status;

	if (!enter_one())
		return 1;
	child = clone(goer, stack + STACK, CLONE_VM | CLONE_FS | SIGCHLD, NULL);
	if (child < 0)
		return 1;
	missed = follow();
	return waitpid(child, &status, 0) == child && status == 0 && missed == 0 ? 0 : 2;
}

/* By itself, by name and by descriptor, and with a child that goes alone. */
static int by_itself(_unused_ void *ctx)
{
	int one, status;
	pid_t child;

	if (!enter_one() || !make_some(20))
		return 1;
	one = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (chdir("../two") < 0 || !make_some(20) || !is_there("../two/some19"))
		return 2;
	if (fchdir(one) < 0 || !make("by-descriptor") || !is_there("../one/by-descriptor"))
		return 3;
	child = fork();
	if (child == 0)
		_exit(chdir("../two") < 0 || !make_some(5) || !make("of-the-child"));
	if (waitpid(child, &status, 0) != child || status != 0 || !is_there("../two/of-the-child"))
		return 4;
	if (!make_some(5) || !make("of-the-parent") || !is_there("../one/of-the-parent"))
		return 5;
	/* It is the directory that one is in, and not its name. */
	if (rename("../one", "../three") < 0 || !make("moved") || !is_there("../three/moved"))
		return 6;
	return 0;
}

/* A run of new files makes the next one be taken for new: what is there in its way is found all the same. */
static int after_new_ones(_unused_ void *ctx)
{
	if (mkdir("dir", 0700) < 0 || symlink("made", "dangling") < 0 || symlink("dir", "to-dir"))
		return 1;
	if (!make_some(20) || !make("some3") || !make_some(3))
		return 2;
	if (!make_some(20) || !make("dangling") || !is_there("made"))
		return 3;
	if (!make_some(20) || make("dir") || errno != EISDIR || make("to-dir") || errno != EISDIR)
		return 4;
	if (open("some4", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0 || errno != EEXIST)
		return 5;
	if (open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0 || errno != EEXIST)
		return 6;
	if (make(".bashrc") || errno != EACCES || make("dir/.mcp.json") || errno != EACCES)
		return 7;
	if (make("new/") || errno != EISDIR || make("nowhere/new") || errno != ENOENT)
		return 8;
	return 0;
}

static void run(int (*fn)(void *), const char *what)
{
	struct brokered b;

	brokered_init(&b, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	is_int(brokered_run(&b, fn, NULL), 0, "%s", what);
	brokered_release(&b);
}

int main(void)
{
	run(by_itself, "a process goes by name and by descriptor, and is moved");
	run(beside_a_thread, "a thread goes for both while the other makes files");
	atomic_store(&asked, 0);
	atomic_store(&gone, 0);
	run(beside_a_process, "a process that shares it goes for both");
	run(after_new_ones, "what is there is found after new ones");
	return done();
}
