/* SPDX-License-Identifier: MIT */
/*
 * Runs several commands by turns and says how long each takes: race ROUNDS PAUSE_US FILE...
 *
 * A FILE holds one command, its words ended by NUL bytes; words 'N<PATH' at its start open PATH as
 * descriptor N, anew for each run. In every round each command runs once, in a new random order,
 * so that whatever else the machine does meets all of them alike; a whole block of runs of one and
 * then of the other would not compare. The pause lets the kernel finish what the last run left to
 * it (network namespaces are taken down in the background), so that nobody pays for somebody else.
 *
 * Output: a line of JSON for each command, times in microseconds. Where a command writes a stamp (a
 * struct timespec, see stamp.c) to its standard output, the time is told in two parts as well: until
 * the stamp and after it. A command that fails ends the race: its time would mean nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS_MAX = 16384, WARM_UP = 3 };

struct runner {
	const char *file;
	char *words[WORDS_MAX];
	char **argv;
	double *wall, *cpu, *before, *after;
	bool stamped;
};

_Noreturn static void die(const char *what, const char *which)
{
	fprintf(stderr, "race: %s '%s': %s\n", what, which, strerror(errno));
	exit(1);
}

static double microseconds(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) * 1e6 +
	       (double)(to->tv_nsec - from->tv_nsec) / 1e3;
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("memory for", "samples");
	return p;
}

static void load(struct runner *runner, const char *file, size_t rounds)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t n = 0;
	char *text, *end;

	if (fd < 0 || fstat(fd, &st) < 0)
		die("opening", file);
	text = allocate((size_t)st.st_size + 1, 1);
	if (read(fd, text, (size_t)st.st_size) != st.st_size)
		die("reading", file);
	close(fd);
	end = text + st.st_size;
	while (text < end && n < WORDS_MAX - 1) {
		runner->words[n++] = text;
		text += strlen(text) + 1;
	}
	runner->file = file;
	runner->argv = runner->words;
	while (*runner->argv && (*runner->argv)[0] >= '0' && (*runner->argv)[0] <= '9')
		runner->argv++;
	runner->wall = allocate(rounds, sizeof(double));
	runner->cpu = allocate(rounds, sizeof(double));
	runner->before = allocate(rounds, sizeof(double));
	runner->after = allocate(rounds, sizeof(double));
}

/* In the child: descriptors, then the command. */
_Noreturn static void become(const struct runner *runner, int out, int complaints)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(complaints, STDERR_FILENO);
	for (char *const *word = runner->words; word < runner->argv; word++) {
		char *path;
		long number = strtol(*word, &path, 10);
		int fd = open(path + 1, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || dup2(fd, (int)number) < 0)
			_exit(127);
	}
	execv(runner->argv[0], runner->argv);
	_exit(127);
}

static double cpu_time(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e6 +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

_Noreturn static void failed(const struct runner *runner, int status, int complaints)
{
	char text[2048];
	ssize_t n = read(complaints, text, sizeof(text));

	fprintf(stderr, "race: '%s' failed (wait status %#x):\n%.*s", runner->file, status,
		n > 0 ? (int)n : 0, text);
	exit(1);
}

static void run(struct runner *runner, size_t round, bool counts)
{
	struct timespec start, end, stamp[2];
	struct rusage usage;
	int out[2], err[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0 || pipe2(err, O_CLOEXEC | O_NONBLOCK) < 0)
		die("making a pipe for", runner->file);
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid = vfork();
	if (pid == 0)
		become(runner, out[1], err[1]);
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		die("running", runner->file);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (status)
		failed(runner, status, err[0]);
	n = read(out[0], stamp, sizeof(stamp)); /* more than one is not a stamp but a text */
	for (size_t i = 0; i < 2; i++) {
		close(out[i]);
		close(err[i]);
	}
	if (!counts)
		return;
	runner->wall[round] = microseconds(&start, &end);
	runner->cpu[round] = cpu_time(&usage);
	runner->stamped = n == sizeof(stamp[0]);
	if (runner->stamped) {
		runner->before[round] = microseconds(&start, stamp);
		runner->after[round] = microseconds(stamp, &end);
	}
}

static void shuffle(size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)random() % i, was = order[i - 1];

		order[i - 1] = order[j];
		order[j] = was;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *samples, size_t n)
{
	qsort(samples, n, sizeof(*samples), by_value);
	return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

static void report(struct runner *runner, size_t rounds)
{
	double wall = median(runner->wall, rounds);

	printf("{\"file\": \"%s\", \"runs\": %zu, \"median\": %.1f, \"p10\": %.1f, \"p90\": %.1f, "
	       "\"cpu\": %.1f",
	       runner->file, rounds, wall, runner->wall[rounds / 10], runner->wall[rounds * 9 / 10],
	       median(runner->cpu, rounds));
	if (runner->stamped)
		printf(", \"start\": %.1f, \"end\": %.1f", median(runner->before, rounds),
		       median(runner->after, rounds));
	printf("}\n");
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 3 ? (size_t)atol(argv[1]) : 0, n = (size_t)argc - 3;
	struct timespec pause = { 0 };
	struct runner *runners;
	size_t *order;

	if (!rounds) {
		fprintf(stderr, "usage: race ROUNDS PAUSE_US FILE...\n");
		return 2;
	}
	pause.tv_nsec = atol(argv[2]) * 1000;
	runners = allocate(n, sizeof(*runners));
	order = allocate(n, sizeof(*order));
	for (size_t i = 0; i < n; i++) {
		load(&runners[i], argv[i + 3], rounds);
		order[i] = i;
	}
	for (size_t round = 0; round < rounds + WARM_UP; round++) {
		shuffle(order, n);
		for (size_t i = 0; i < n; i++) {
			nanosleep(&pause, NULL);
			run(&runners[order[i]], round - WARM_UP, round >= WARM_UP);
		}
	}
	for (size_t i = 0; i < n; i++)
		report(&runners[i], rounds);
	return 0;
}
