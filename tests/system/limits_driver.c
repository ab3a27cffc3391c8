/* SPDX-License-Identifier: MIT */
/*
 * The smallest sandbox that has limits: 'limits_driver run [--memory N] [--pids N] [--cpus N]
 * [--allow-nested] [--patient] [--verbose] -- CMD...' takes these options as wrapix does and gives
 * CMD a user, pid and cgroup namespace and the limits. For kernels on which a test wants the real
 * control groups and nothing else of wrapix: tests/system/limits_uml.sh. --verbose says on standard
 * error how each limit is held; without a command it only sweeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "os/linux/cgroup_watch.h"
#include "os/linux/userns.h"

static _Noreturn void fail(const struct err *err)
{
	fprintf(stderr, "limits_driver: %s\n", err->msg);
	_exit(EXIT_WRAPIX);
}

static uint64_t parse_bytes(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	return value << (*end == 'G' ? 30 : *end == 'M' ? 20 : 0);
}

/* Returns the command, NULL when there is none. */
static char **parse(char **argv, struct cgroup_limits *limits, bool *verbose)
{
	for (argv += 2; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strcmp(*argv, "--allow-nested") == 0) {
			limits->nested = true;
		} else if (strcmp(*argv, "--patient") == 0) {
			limits->patient = true;
		} else if (strcmp(*argv, "--verbose") == 0) {
			*verbose = true;
		} else if (strcmp(*argv, "--memory") == 0 && argv[1]) {
			limits->memory = parse_bytes(*++argv);
			limits->asked |= LIMIT_BIT(LIMIT_MEMORY);
		} else if (strcmp(*argv, "--pids") == 0 && argv[1]) {
			limits->pids = parse_bytes(*++argv);
			limits->asked |= LIMIT_BIT(LIMIT_PIDS);
		} else if (strcmp(*argv, "--cpus") == 0 && argv[1]) {
			limits->cpus = strtod(*++argv, NULL);
			limits->asked |= LIMIT_BIT(LIMIT_CPUS);
		} else {
			fprintf(stderr, "limits_driver: unknown option %s\n", *argv);
			exit(EXIT_USAGE);
		}
	}
	return *argv && argv[1] ? argv + 1 : NULL;
}

static void describe(const struct cgroup_facts *facts, const struct cgroup_limits *limits)
{
	char text[1024];

	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		cgroup_describe(facts, limits, limit, text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	cgroup_fix(facts, text, sizeof(text));
	if (text[0])
		fprintf(stderr, "fix: %s\n", text);
}

struct job {
	struct cgroup_facts facts;
	struct cgroup_limits limits;
	enum cgroup_kind kind;
	struct cgroup cg;
	gid_t gid;
	int go[2];
	char **argv;
};

/* PID 1 of the sandbox. */
static _Noreturn void init_main(struct job *job)
{
	struct err err = { 0 };
	pid_t pid, ended;
	char byte;
	int status = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(job->go[1]);
	if (userns_map_self(job->facts.uid, job->gid, &err) < 0 || cgroup_join(&job->cg, &err) < 0)
		fail(&err);
	cgroup_close(&job->cg);
	if (read(job->go[0], &byte, 1) != 1)
		_exit(EXIT_WRAPIX);
	if (unshare(CLONE_NEWCGROUP) < 0)
		_exit(EXIT_WRAPIX);
	pid = fork();
	if (pid == 0) {
		if (rlimits_apply(&job->facts, job->kind, &job->limits, &err) < 0)
			fail(&err);
		execvp(job->argv[0], job->argv);
		_exit(EXIT_NOTFOUND);
	}
	do
		ended = wait(&status);
	while (ended != pid);
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static int run(struct job *job)
{
	char id[32];
	struct err err = { 0 };
	struct cgroup_watch watch;
	struct cgroup_counts counts;
	int status = 0, pidfd = -1;
	pid_t pid;

	(void)snprintf(id, sizeof(id), "t%d", (int)getpid());
	if (pipe2(job->go, O_CLOEXEC) < 0 ||
	    cgroup_create(&job->cg, &job->facts, job->kind, id, &job->limits, &err) < 0)
		fail(&err);
	pid = userns_clone(CLONE_NEWUSER | CLONE_NEWPID, cgroup_fd(&job->cg), &pidfd);
	if (pid == 0)
		init_main(job);
	if (pid < 0) {
		fprintf(stderr, "limits_driver: clone: %s\n", strerror(-pid));
		cgroup_remove(&job->cg);
		return EXIT_WRAPIX;
	}
	if (cgroup_enter(&job->cg, pid, &err) < 0)
		fail(&err); /* and PDEATHSIG ends the child */
	if (write(job->go[1], "g", 1) != 1)
		return EXIT_WRAPIX;
	cgroup_watch_own(&watch, &job->cg, pid);
	waitpid(pid, &status, 0);
	cgroup_watch_counts(&watch, &counts);
	cgroup_watch_stop(&watch);
	fprintf(stderr, "hits %d\n",
		(counts.of[LIMIT_MEMORY] > 0) | (counts.of[LIMIT_PIDS] > 0) << 1);
	cgroup_remove(&job->cg);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Counts what happens to a command in the group that we are in, as of one that podman made. */
static int watch(char **argv)
{
	struct cgroup_watch watch;
	struct cgroup_counts counts;
	int status = 0;
	pid_t pid;

	cgroup_watch_of(&watch, getpid());
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(EXIT_NOTFOUND);
	}
	waitpid(pid, &status, 0);
	cgroup_watch_counts(&watch, &counts);
	cgroup_watch_stop(&watch);
	fprintf(stderr, "hits %d\n",
		(counts.of[LIMIT_MEMORY] > 0) | (counts.of[LIMIT_PIDS] > 0) << 1);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct job job = { .gid = getgid() };
	bool verbose = false;

	if (argc > 2 && !strcmp(argv[1], "watch"))
		return watch(argv + 2);
	if (argc < 2 || strcmp(argv[1], "run") != 0)
		return EXIT_USAGE;
	job.argv = parse(argv, &job.limits, &verbose);
	cgroup_probe(&job.facts);
	cgroup_limits_default(&job.limits, &job.facts);
	job.kind = cgroup_choose(&job.facts, &job.limits);
	if (verbose)
		describe(&job.facts, &job.limits);
	cgroup_sweep(&job.facts);
	return job.argv ? run(&job) : 0;
}
