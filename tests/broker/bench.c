/* SPDX-License-Identifier: MIT */
/*
 * What the broker costs: the same calls on a plain directory and on a brokered one, on tmpfs. Prints
 * microseconds a call, of the best batch: other work on the machine is not the broker's. Usage: bench_broker [CALLS [DIRECTORY]]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "brokered.h"
#include "net/owner.h"
#include "session/events.h"

#define BATCH 25

enum { CREATE, OPEN, RENAME, CHMOD, UNLINK, MKDIR, RMDIR, NULLDEV, READ, STAT, N_KINDS };

static const char *const names[N_KINDS] = {
	"create+write+close",
	"open for writing+close",
	"rename",
	"chmod",
	"unlink",
	"mkdir",
	"rmdir",
	"open /dev/null for writing",
	"open for reading+close",
	"stat",
};

static double (*times)[N_KINDS];
static int calls = 5000;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int one(int kind, int i)
{
	char a[64], b[64];
	struct stat st;
	int fd = -1;

	snprintf(a, sizeof(a), "src/lib/file%d", i);
	snprintf(b, sizeof(b), "src/lib/moved%d", i);
	switch (kind) {
	case CREATE:
		fd = open(a, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return write(fd, "x", 1) == 1 && close(fd) == 0 ? 0 : -1;
	case OPEN:
		fd = open(a, O_WRONLY | O_CLOEXEC);
		return close(fd);
	case RENAME:
		return rename(a, b);
	case CHMOD:
		return chmod(b, 0600);
	case UNLINK:
		return unlink(b);
	case MKDIR:
		return mkdir(a, 0777);
	case RMDIR:
		return rmdir(a);
	case NULLDEV:
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return close(fd);
	case READ:
		fd = open("src/lib", O_RDONLY | O_CLOEXEC);
		return close(fd);
	default:
		return stat("src/lib", &st);
	}
}

static int measure(void *ctx)
{
	double *result = ctx;

	if (mkdir("src", 0777) < 0 || mkdir("src/lib", 0777) < 0)
		return 1;
	for (int kind = 0; kind < N_KINDS; kind++) {
		result[kind] = 1e9;
		for (int i = 0; i < calls; i += BATCH) {
			double start = now();

			for (int k = 0; k < BATCH; k++)
				if (one(kind, i + k) < 0)
					return 2;
			result[kind] = MIN(result[kind], (now() - start) / BATCH);
		}
	}
	return 0;
}

/* --- what a report costs --- */

static struct event_log events;
static struct owners owners;

static void report(struct brokered *b, const struct broker_denial *refused)
{
	const struct denial denial = {
		.what = "write",
		.call = refused->call,
		.path = refused->path,
		.reason = "protect",
		.rule = refused->rule ? refused->rule->text : NULL,
		.key = refused->rule ? refused->rule->key : NULL,
	};
	struct owner *owner = owners_get(&owners, refused->pid, refused->site);

	(void)b;
	event_log_denial(&events, &denial, NULL, owner);
	owner_unref(owner);
}

static int measure_refusals(void *ctx)
{
	double *result = ctx;

	*result = 1e9;
	for (int i = 0; i < calls; i += BATCH) {
		double start = now();

		for (int k = 0; k < BATCH; k++)
			if (open(".mcp.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0666) >= 0)
				return 2;
		*result = MIN(*result, (now() - start) / BATCH);
	}
	return 0;
}

static void remove_log(const char *state)
{
	static const char *const below[] = { "/wrapix/log/benchaaa.jsonl", "/wrapix/log", "/wrapix",
					     "" };
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		snprintf(path, sizeof(path), "%s%s", state, below[i]);
		(void)remove(path);
	}
}

static int bench_reports(const char *base)
{
	const struct session_info about = { .id = (char *)"benchaaa", .name = (char *)"bench" };
	const struct fix_place place = { .dialect = FIX_SRT, .home = "/home/me", .cwd = "/" };
	const struct event_log_hooks none = { 0 };
	char state[] = "/tmp/bench-log.XXXXXX";

	if (!mkdtemp(state))
		return 1;
	event_log_init(&events, state, &about, &place, &none);
	for (int i = 0; i < 2; i++) {
		struct brokered b;
		int status;

		brokered_init(&b, base);
		b.on_denied = i ? report : NULL;
		status = brokered_run(&b, measure_refusals, times[i]);
		brokered_release(&b);
		if (status != 0)
			return 1;
	}
	event_log_close(&events, 0);
	owners_release(&owners);
	remove_log(state);
	printf("\n%-30s %8s %8s %8s\n", "", "silent", "reported", "more");
	printf("%-30s %8.1f %8.1f %8.1f\n", "open, refused", times[0][0], times[1][0],
	       times[1][0] - times[0][0]);
	return 0;
}

int main(int argc, char **argv)
{
	calls = argc > 1 ? (int)strtol(argv[1], NULL, 10) : calls;
	times = mmap(NULL, sizeof(*times) * 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	for (int i = 0; i < 2; i++) {
		struct brokered b;
		int status;

		brokered_init(&b, argc > 2 ? argv[2] : "/dev/shm");
		if (i == 0)
			b.flags = 0;
		status = brokered_run(&b, measure, times[i]);
		brokered_release(&b);
		if (status != 0)
			return 1;
	}
	printf("%-30s %8s %8s %8s\n", "", "direct", "broker", "more");
	for (int i = 0; i < N_KINDS; i++)
		printf("%-30s %8.1f %8.1f %8.1f\n", names[i], times[0][i], times[1][i],
		       times[1][i] - times[0][i]);
	return bench_reports(argc > 2 ? argv[2] : "/dev/shm");
}
