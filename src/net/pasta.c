/* SPDX-License-Identifier: MIT */
/*
 * Attaching pasta to a network namespace.
 *
 * Readiness: pasta writes its pid file when its interface is configured; that file is a FIFO of
 * ours, so the moment is an event and not a poll. Death: PDEATHSIG holds through pasta's entering
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
#include <sys/stat.h>
#include <sys/wait.h>

#include "os/proc.h"

#define READY_TIMEOUT_MS 10000
#define OUTPUT_MAX 400

static int make_fifo(struct pasta *p, struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!runtime || strlen(runtime) > 32 || access(runtime, W_OK) < 0)
		runtime = "/tmp";
	snprintf(p->dir, sizeof(p->dir), "%s/wrapix-XXXXXX", runtime);
	if (!mkdtemp(p->dir)) {
		p->dir[0] = '\0';
		return err_errno(err, errno, "making a directory in '%s'", runtime);
	}
	snprintf(p->fifo, sizeof(p->fifo), "%s/ready", p->dir);
	if (mkfifo(p->fifo, 0600) == 0)
		p->ready = open(p->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return p->ready < 0 ? err_errno(err, errno, "making '%s'", p->fifo) : 0;
}

static void remove_fifo(struct pasta *p)
{
	if (p->ready >= 0)
		close(p->ready);
	p->ready = -1;
	if (!p->dir[0])
		return;
	unlink(p->fifo);
	rmdir(p->dir);
	p->dir[0] = '\0';
}

/* A pipe would need a reader for as long as pasta lives; a plain file would grow. */
static int make_output(struct pasta *p, struct err *err)
{
	p->output = memfd_create("pasta", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (p->output < 0 || ftruncate(p->output, OUTPUT_MAX) < 0 ||
	    fcntl(p->output, F_ADD_SEALS, F_SEAL_GROW) < 0)
		return err_errno(err, errno, "memfd");
	return 0;
}

_Noreturn static void exec_pasta(char **words, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	os_reset_signals(); /* pasta refuses to start with SIGPIPE ignored */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
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

	for (size_t i = 0; i < argv->len; i++)
		strv_add(&arena, &words, argv->v[i]);
	strv_add(&arena, &words, "--pid");
	strv_add(&arena, &words, p->fifo);
	strv_addf(&arena, &words, "%d", (int)target);
	p->pid = fork();
	if (p->pid == 0)
		exec_pasta(words.v, p->output, parent);
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
	r = make_fifo(p, err);
	if (r == 0)
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

	remove_fifo(p);
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
		close(p->pidfd);
		close(p->output);
		remove_fifo(p);
	}
	*p = (struct pasta){ .pidfd = -1, .ready = -1, .output = -1 };
}
