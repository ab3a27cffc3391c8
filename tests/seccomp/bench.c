/* SPDX-License-Identifier: MIT */
/*
 * What the filters cost: the time to load one, and of some calls under it, beside the same calls
 * without. Each measurement is the best of many short rounds in a process of its own; the variants
 * take turns, so that a busy machine is unfair to all alike.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "os/linux/seccomp.h"

#define ROUNDS 200
#define CALLS 500
#define TURNS 8

static int zero_fd;

static void call_getpid(void)
{
	syscall(SYS_getpid);
}

static void call_read(void)
{
	char c;

	if (read(zero_fd, &c, 1) != 1)
		_exit(1);
}

static void call_openat(void)
{
	int fd = openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		_exit(1);
	close(fd);
}

static void call_ioctl(void)
{
	int n;

	ioctl(zero_fd, FIONREAD, &n);
}

static void call_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		_exit(1);
	close(fd);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{ "getpid", call_getpid },
	{ "read 1 byte", call_read },
	{ "openat, close", call_openat },
	{ "ioctl", call_ioctl },
	{ "socket UNIX, close", call_socket },
};

static const struct {
	const char *name;
	int flags; /* -1: no filter */
} filters[] = {
	{ "none", -1 },
	{ "default", 0 },
	{ "nested", SECCOMP_NESTED },
	{ "default+notify-net", SECCOMP_NOTIFY_NET },
};

struct result {
	double load; /* ns */
	double call[ARRAY_LEN(calls)];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_of_rounds(void (*call)(void))
{
	double best = 1e18;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now(), t;

		for (int j = 0; j < CALLS; j++)
			call();
		t = (now() - start) / CALLS;
		best = MIN(best, t);
	}
	return best;
}

_Noreturn static void measure(int flags, int out)
{
	struct result r = { 0 };
	struct err err = { 0 };
	double start;
	int listener;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(1);
	start = now();
	if (flags >= 0 && seccomp_load((unsigned)flags, &listener, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		_exit(1);
	}
	r.load = now() - start;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		r.call[i] = best_of_rounds(calls[i].call);
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

static bool take_turn(int flags, struct result *best)
{
	struct result r;
	int pipes[2];
	bool good;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return false;
	if (fork() == 0)
		measure(flags, pipes[1]);
	close(pipes[1]);
	good = read(pipes[0], &r, sizeof(r)) == sizeof(r);
	close(pipes[0]);
	wait(NULL);
	if (!good)
		return false;
	best->load = MIN(best->load, r.load);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		best->call[i] = MIN(best->call[i], r.call[i]);
	return true;
}

int main(void)
{
	struct result best[ARRAY_LEN(filters)];

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	memset(best, 0x7f, sizeof(best)); /* a very large number in every field */
	for (int turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < ARRAY_LEN(filters); i++)
			if (!take_turn(filters[i].flags, &best[i]))
				return EXIT_FAILURE;
	printf("%-20s %10s", "", "load us");
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		printf(" %20s", calls[i].name);
	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		printf("\n%-20s %10.1f", filters[i].name, best[i].load / 1e3);
		for (size_t j = 0; j < ARRAY_LEN(calls); j++)
			printf("   %8.1f ns x %.2f", best[i].call[j],
			       best[i].call[j] / best[0].call[j]);
	}
	putchar('\n');
	return EXIT_SUCCESS;
}
