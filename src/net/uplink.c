/* SPDX-License-Identifier: MIT */
/*
 * Attaching pasta or slirp4netns to a network namespace.
 *
 * Readiness: pasta writes its pid file when its interface is configured, slirp4netns a digit to its
 * ready-fd. Either is a pipe of ours, so the moment is an event and nothing lies on a disk. Death: PDEATHSIG holds through pasta's entering of our user namespace
 * (joining a namespace that one owns gains nothing in the kernel's eyes), and --foreground keeps it
 * one process. What it prints is kept for the case that it fails.
 *
 * The end: the kernel takes some 40 ms to take the interface of a killed one down, and it is its
 * child until then. Where orphans are known to be reaped nobody waits for that.
 */
#include "net/uplink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "os/linux/netif.h"
#include "os/proc.h"
#include "os/start.h"

#define READY_TIMEOUT_MS 10000
#define DYING_MAX 16
#define READY_FD 3 /* as the plan tells slirp4netns */

/* Its descriptors: pasta says that it is ready on the standard output, because newer ones close all
 * others; slirp4netns on another one, because it prints there as well. */
_Noreturn static void exec_uplink(char **words, int ready, int output, pid_t parent)
{
	bool prints = !strcmp(path_name(words[0]), "slirp4netns");
	int null = open("/dev/null", O_RDWR);
	int high = fcntl(ready, F_DUPFD, READY_FD + 1); /* nobody else's place */

	os_reset_signals(); /* pasta refuses to start with SIGPIPE ignored */
	os_die_with_parent(SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(output, STDERR_FILENO);
	dup2(prints ? output : high, STDOUT_FILENO);
	if (prints)
		dup2(high, READY_FD);
	os_close_all_but(prints ? READY_FD + 1 : READY_FD, NULL, 0);
	execv(words[0], words);
	_exit(127);
}

static int spawn(struct uplink *p, const struct strv *argv, pid_t target, struct err *err)
{
	struct arena arena = { 0 };
	struct strv words = { 0 };
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return os_err_start(err, errno, p->program);
	for (size_t i = 0; i < argv->len; i++)
		if (strcmp(argv->v[i], "PID"))
			strv_add(&arena, &words, argv->v[i]);
		else
			strv_addf(&arena, &words, "%d", (int)target);
	known(words.v);
	p->pid = fork();
	if (p->pid == 0)
		exec_uplink(words.v, fds[1], p->output, parent);
	close(fds[1]);
	p->ready = fds[0];
	arena_release(&arena);
	if (p->pid < 0) {
		p->pid = 0;
		return os_err_start(err, errno, p->program);
	}
	p->pidfd = os_pidfd_open(p->pid);
	return p->pidfd < 0 ? os_err_start(err, -p->pidfd, p->program) : 0;
}

void uplink_prepare(void)
{
	netif_set("/proc/sys/net/ipv6/conf/all/accept_dad", "0");
	netif_set("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
}

int uplink_begin(struct uplink *p, const struct strv *argv, pid_t target, struct err *err)
{
	int r;

	/* What it prints: a pipe would need a reader for as long as it lives; a plain file would grow. */
	*p = (struct uplink){
		.pidfd = -1, .ready = -1, .output = os_said_open(), .program = path_name(argv->v[0])
	};
	r = p->output < 0 ? os_err_start(err, errno, p->program) : spawn(p, argv, target, err);
	if (r < 0)
		uplink_stop(p);
	return r;
}

/* The last line that it printed. */
static int explain(const struct uplink *p, struct err *err)
{
	_cleanup_str_ struct str line = { 0 };
	bool said = os_said_line(p->output, true, &line);

	err_set(err, EIO, "%s could not attach the network: %s", p->program,
		said ? line.s : "it ended without a word");
	return err_hint(err,
			"'wrapix doctor' looks closer; --network none starts without a network");
}

void uplink_explain_end(const struct uplink *p, struct err *err)
{
	_cleanup_str_ struct str line = { 0 };
	bool said = os_said_line(p->output, true, &line);

	err_set(err, EIO, "%s has ended, and the sandbox's network with it%s%s", p->program,
		said ? ": " : "", said ? line.s : "");
}

int uplink_finish(struct uplink *p, struct err *err)
{
	char byte;
	int r = read(p->ready, &byte, 1) == 1 ? 0 : explain(p, err);

	close(p->ready);
	p->ready = -1;
	if (r < 0)
		uplink_stop(p);
	return r;
}

static int start_one(struct uplink *p, const struct strv *argv, pid_t target, struct err *err)
{
	struct pollfd fds[2];
	int n, r = uplink_begin(p, argv, target, err);

	if (r < 0)
		return r;
	fds[0] = (struct pollfd){ .fd = p->ready, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = p->pidfd, .events = POLLIN };
	do {
		n = poll(fds, ARRAY_LEN(fds), READY_TIMEOUT_MS);
	} while (n < 0 && errno == EINTR);
	return uplink_finish(p, err);
}

int uplink_start(struct uplink *p, const struct strv *argvs, size_t n, pid_t target,
		 struct err *err)
{
	int r = err_set(err, ENOENT, "there is no program for the open network");

	for (size_t i = 0; r < 0 && i < n; i++)
		r = start_one(p, &argvs[i], target, err);
	return r;
}

/* Killed and not yet waited for. */
static struct {
	pid_t v[DYING_MAX];
	size_t n;
} dying;

static void reap_dying(void)
{
	size_t left = 0;

	for (size_t i = 0; i < dying.n; i++)
		if (waitpid(dying.v[i], NULL, WNOHANG) == 0)
			dying.v[left++] = dying.v[i];
	dying.n = left;
}

/* Whether init looks like one that waits for orphans: systemd and the small ones of containers catch,
 * block or ignore SIGCHLD; a plain program as PID 1 does nothing, and zombies would stay. */
static bool orphans_are_reaped(void)
{
	static const char *const sets[] = { "\nSigBlk:\t", "\nSigIgn:\t", "\nSigCgt:\t" };
	_cleanup_free_ char *status = NULL;
	unsigned long long mask = 0;

	if (os_read_file_at(AT_FDCWD, "/proc/1/status", 65536, &status, NULL) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		const char *set = strstr(status, sets[i]);

		mask |= set ? strtoull(set + strlen(sets[i]), NULL, 16) : 0;
	}
	return mask & 1ULL << (SIGCHLD - 1);
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	reap_dying();
	if (waitpid(pid, NULL, WNOHANG) != 0)
		return;
	if (dying.n < DYING_MAX && orphans_are_reaped()) {
		dying.v[dying.n++] = pid;
		return;
	}
	(void)os_await(pid);
}

void uplink_stop(struct uplink *p)
{
	if (p->pid > 0)
		end_process(p->pid);
	for (size_t i = 0; i < 3; i++) {
		int fd = (int[]){ p->pidfd, p->ready, p->output }[i];

		if (fd > 0)
			close(fd);
	}
	*p = (struct uplink){ .pidfd = -1, .ready = -1, .output = -1 };
}
