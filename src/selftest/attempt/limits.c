/* SPDX-License-Identifier: MIT */
/* More than the sandbox was given: --disk 16M --pids 64 --memory 128M. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, DISK = 24, PROCESSES = 150, MEMORY = 256 };

static int fill(const char *dir, int mib)
{
	static char block[MIB];
	char path[PATH_MAX];
	int fd, r = WORKED;

	(void)snprintf(path, sizeof(path), "%s/wrapix-escape-fill", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return unable("%s: %m", path);
	for (int i = 0; i < mib && r == WORKED; i++) {
		ssize_t n = write(fd, block, MIB);

		r = n < 0 ? -errno : n < MIB ? -ENOSPC : WORKED;
	}
	close(fd);
	return r;
}

static void empty(const char *dir)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/wrapix-escape-fill", dir);
	(void)unlink(path);
}

static int fill_alone(const char *dir)
{
	int r = fill(dir, DISK);

	empty(dir);
	return r;
}

static int fill_tmp(void)
{
	return fill_alone("/tmp");
}

static int fill_var_tmp(void)
{
	return fill_alone("/var/tmp");
}

static int fill_shm(void)
{
	return fill_alone("/dev/shm");
}

static int fill_home(void)
{
	return fill_alone(inside ? getenv("HOME") : fact("base"));
}

static int fill_run(void)
{
	return fill_alone(inside ? getenv("XDG_RUNTIME_DIR") : fact("base"));
}

/* A third in each place: the sum counts. */
static int fill_together(void)
{
	static const char *const dirs[] = { "/tmp", "/var/tmp", "/dev/shm" };
	int r = WORKED;

	for (size_t i = 0; i < ARRAY_LEN(dirs) && r == WORKED; i++)
		r = fill(dirs[i], DISK / (int)ARRAY_LEN(dirs));
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		empty(dirs[i]);
	return r;
}

static int fork_bomb(void)
{
	pid_t pids[PROCESSES];
	int n, r = WORKED;

	for (n = 0; n < PROCESSES && r == WORKED; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			for (;;)
				(void)pause();
		r = outcome(pids[n]);
	}
	for (int i = 0; i < n; i++)
		if (pids[i] > 0) {
			kill(pids[i], SIGKILL);
			(void)waitpid(pids[i], NULL, 0);
		}
	return r;
}

static int eat_memory(void)
{
	char *bytes = mmap(NULL, (size_t)MEMORY * MIB, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < (size_t)MEMORY * MIB; i += 4096)
		bytes[i] = 1;
	return WORKED;
}

/* A control group ends the process; the limit of a process refuses the memory. */
static int much_memory(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(eat_memory() == WORKED ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return unable("no child");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? WORKED : -ENOMEM;
}

/* More of inotify's instances, which are counted for the user, than leave a quarter to everybody else. */
static int watch_everything(void)
{
	FILE *f = fopen("/proc/sys/fs/inotify/max_user_instances", "re");
	struct rlimit files;
	long most = 0;

	if (!f || fscanf(f, "%ld", &most) != 1 || most < 8)
		return unable("no number of instances");
	(void)fclose(f);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	for (long n = most - most / 4 + 1; n > 0; n--)
		if (inotify_init1(IN_CLOEXEC) < 0)
			return -errno;
	return WORKED;
}

const struct attempt limit_attempts[] = {
	{ "limit-fill-tmp", fill_tmp, PLAIN, IN_SMALL },
	{ "limit-fill-var-tmp", fill_var_tmp, PLAIN, IN_SMALL },
	{ "limit-fill-shm", fill_shm, PLAIN, IN_SMALL },
	{ "limit-fill-home", fill_home, PLAIN, IN_SMALL },
	{ "limit-fill-run", fill_run, PLAIN, IN_SMALL },
	{ "limit-fill-together", fill_together, PLAIN, IN_SMALL },
	{ "limit-fork-bomb", fork_bomb, PLAIN, IN_SMALL },
	{ "limit-memory", much_memory, PLAIN, IN_SMALL },
	{ "limit-inotify", watch_everything, PLAIN, IN_SMALL },
	{ 0 },
};
