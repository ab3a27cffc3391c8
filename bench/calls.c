/* SPDX-License-Identifier: MIT */
/* calls DIR ROUNDS [FILE]: how long system calls on files take here, as JSON in microseconds a call; the median of many
 * short turns each, since on a busy machine hardly any long one goes undisturbed. For the cost of rules by name: the same
 * in a sandbox and outside. FILE is one that a sandbox may not write. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 101, STEPS = 8 };

static void make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, "x", 1) != 1) {
		perror(name);
		exit(1);
	}
	close(fd);
}

static void move(const char *name)
{
	char other[64];

	snprintf(other, sizeof(other), "%s.new", name);
	if (rename(name, other) || rename(other, name)) {
		perror(name);
		exit(1);
	}
}

static void look(const char *name)
{
	struct stat st;

	if (stat(name, &st)) {
		perror(name);
		exit(1);
	}
}

static void read_open(const char *name)
{
	int fd = open(name, O_RDONLY);

	if (fd < 0) {
		perror(name);
		exit(1);
	}
	close(fd);
}

static void drop(const char *name)
{
	if (unlink(name)) {
		perror(name);
		exit(1);
	}
}

/* What a sandbox refuses, and may tell of. */
static void refuse(const char *name)
{
	(void)name;
	(void)unshare(CLONE_NEWUSER | 1); /* no flag of its: outside it is an error as well */
}

static const char *kept;

/* What a sandbox leaves to the mounts, and tells of. */
static void write_kept(const char *name)
{
	int fd = open(kept ? kept : name, O_WRONLY);

	if (fd >= 0)
		close(fd);
}

static const struct {
	const char *name;
	void (*fn)(const char *name);
	int calls; /* changing ones in a round */
} steps[STEPS] = {
	{ "create", make, 1 },    { "write", make, 1 },      { "rename", move, 2 },
	{ "stat", look, 1 },      { "read", read_open, 1 },  { "unlink", drop, 1 },
	{ "refused", refuse, 1 }, { "kept", write_kept, 1 },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static double times[STEPS][TURNS];
	int rounds = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 3 || chdir(argv[1]) || rounds < 1)
		return 2;
	kept = argc > 3 ? argv[3] : NULL;
	for (int turn = 0; turn < TURNS; turn++)
		for (int s = 0; s < STEPS; s++) {
			double begin = now();

			for (int i = 0; i < rounds; i++) {
				char name[32];

				snprintf(name, sizeof(name), "bench%d", i);
				steps[s].fn(name);
			}
			times[s][turn] = (now() - begin) / rounds / steps[s].calls;
		}
	for (int s = 0; s < STEPS; s++) {
		qsort(times[s], TURNS, sizeof(double), compare);
		printf("%s\"%s\": %.2f%s", s ? ", " : "{", steps[s].name, times[s][TURNS / 2],
		       s + 1 < STEPS ? "" : "}\n");
	}
	return 0;
}
