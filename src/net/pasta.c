/* SPDX-License-Identifier: MIT */
/*
 * Attaching pasta to a network namespace.
 *
 * Readiness: pasta writes its pid file when its interface is configured. That file is a pipe of
 * ours, its own standard output by name, so the moment is an event and nothing lies on a disk. Death: PDEATHSIG holds through pasta's entering
 * of our user namespace (joining a namespace that one owns gains nothing in the kernel's eyes), and
 * --foreground keeps it one process. What it prints is kept for the case that it fails.
 */
#include "net/pasta.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "os/proc.h"

#define READY_TIMEOUT_MS 10000
#define OUTPUT_MAX 400

/* What it prints: a pipe would need a reader for as long as it lives; a plain file would grow. */
static int make_output(struct pasta *p, struct err *err)
{
	p->output = memfd_create("pasta", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (p->output < 0 || ftruncate(p->output, OUTPUT_MAX) < 0 ||
	    fcntl(p->output, F_ADD_SEALS, F_SEAL_GROW) < 0)
		return err_errno(err, errno, "memfd");
	return 0;
}

_Noreturn static void exec_pasta(char **words, int ready, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	os_reset_signals(); /* pasta refuses to start with SIGPIPE ignored */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(ready, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	os_close_all_but(3, NULL, 0);
	execv(words[0], words);
	_exit(127);
}

static int spawn(struct pasta *p, const struct strv *argv, pid_t target, struct err *err)
{
	struct arena arena = { 0 };
	struct strv words = { 0 };
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	for (size_t i = 0; i < argv->len; i++)
		strv_add(&arena, &words, argv->v[i]);
	strv_add(&arena, &words, "--pid");
	strv_add(&arena, &words, "/proc/self/fd/1");
	strv_addf(&arena, &words, "%d", (int)target);
	p->pid = fork();
	if (p->pid == 0)
		exec_pasta(words.v, fds[1], p->output, parent);
	close(fds[1]);
	p->ready = fds[0];
	arena_release(&arena);
	if (p->pid < 0) {
		p->pid = 0;
		return err_errno(err, errno, "fork");
	}
	p->pidfd = os_pidfd_open(p->pid);
	return p->pidfd < 0 ? err_errno(err, -p->pidfd, "pidfd_open") : 0;
}

int pasta_begin(struct pasta *p, const struct strv *argv, pid_t target, struct err *err)
{
	int r;

	*p = (struct pasta){ .pidfd = -1, .ready = -1, .output = -1 };
	r = make_output(p, err);
	if (r == 0)
		r = spawn(p, argv, target, err);
	if (r < 0)
		pasta_stop(p);
	return r;
}

/* The last line that pasta printed. */
static int explain(const struct pasta *p, struct err *err)
{
	char text[OUTPUT_MAX + 1] = "";
	ssize_t n = pread(p->output, text, OUTPUT_MAX, 0);
	char *line;

	n = n > 0 ? (ssize_t)strlen(text) : 0;
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	line = strrchr(text, '\n');
	err_set(err, EIO, "pasta could not attach the network: %s",
		*text ? (line ? line + 1 : text) : "it ended without a word");
	return err_hint(err,
			"'wrapix doctor' looks closer; --network none starts without a network");
}

int pasta_finish(struct pasta *p, struct err *err)
{
	char byte;
	int r = read(p->ready, &byte, 1) == 1 ? 0 : explain(p, err);

	close(p->ready);
	p->ready = -1;
	if (r < 0)
		pasta_stop(p);
	return r;
}

int pasta_start(struct pasta *p, const struct strv *argv, pid_t target, struct err *err)
{
	struct pollfd fds[2];
	int n, r = pasta_begin(p, argv, target, err);

	if (r < 0)
		return r;
	fds[0] = (struct pollfd){ .fd = p->ready, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = p->pidfd, .events = POLLIN };
	do {
		n = poll(fds, ARRAY_LEN(fds), READY_TIMEOUT_MS);
	} while (n < 0 && errno == EINTR);
	return pasta_finish(p, err);
}

void pasta_stop(struct pasta *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < 3; i++) {
		int fd = (int[]){ p->pidfd, p->ready, p->output }[i];

		if (fd > 0)
			close(fd);
	}
	*p = (struct pasta){ .pidfd = -1, .ready = -1, .output = -1 };
}
