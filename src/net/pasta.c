/* SPDX-License-Identifier: MIT */
/*
 * Attaching pasta to a running namespace.
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

struct attachment {
	char dir[64], fifo[80];
	int ready;  /* read side of the FIFO */
	int output; /* what pasta prints: a small file in memory, which it may outlive */
	pid_t pid;
};

static int make_fifo(struct attachment *a, struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!runtime || strlen(runtime) > 32 || access(runtime, W_OK) < 0)
		runtime = "/tmp";
	snprintf(a->dir, sizeof(a->dir), "%s/wrapix-XXXXXX", runtime);
	if (!mkdtemp(a->dir))
		return err_errno(err, errno, "making a directory in '%s'", runtime);
	snprintf(a->fifo, sizeof(a->fifo), "%s/ready", a->dir);
	if (mkfifo(a->fifo, 0600) == 0)
		a->ready = open(a->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return a->ready < 0 ? err_errno(err, errno, "making '%s'", a->fifo) : 0;
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

/* A pipe would need a reader for as long as pasta lives; a file would grow. */
static int make_output(struct attachment *a, struct err *err)
{
	a->output = memfd_create("pasta", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (a->output < 0 || ftruncate(a->output, OUTPUT_MAX) < 0 ||
	    fcntl(a->output, F_ADD_SEALS, F_SEAL_GROW) < 0)
		return err_errno(err, errno, "memfd");
	return 0;
}

static int spawn(struct attachment *a, const struct strv *argv, pid_t target, struct err *err)
{
	struct arena arena = { 0 };
	struct strv words = { 0 };
	pid_t parent = getpid();

	for (size_t i = 0; i < argv->len; i++)
		strv_add(&arena, &words, argv->v[i]);
	strv_add(&arena, &words, "--pid");
	strv_add(&arena, &words, a->fifo);
	strv_addf(&arena, &words, "%d", (int)target);
	a->pid = fork();
	if (a->pid == 0)
		exec_pasta(words.v, a->output, parent);
	arena_release(&arena);
	return a->pid < 0 ? err_errno(err, errno, "fork") : 0;
}

/* The last line that pasta printed, for the error. */
static int explain(struct attachment *a, struct err *err)
{
	char text[OUTPUT_MAX + 1];
	ssize_t n = pread(a->output, text, OUTPUT_MAX, 0);
	char *line;

	text[MAX(n, 0)] = '\0';
	n = (ssize_t)strlen(text);
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	line = strrchr(text, '\n');
	err_set(err, EIO, "pasta could not attach the network: %s",
		*text ? (line ? line + 1 : text) : "it ended without a word");
	return err_hint(err,
			"'wrapix doctor' looks closer; --network none starts without a network");
}

static int wait_ready(struct attachment *a, struct err *err)
{
	int pidfd = os_pidfd_open(a->pid);
	struct pollfd fds[] = {
		{ .fd = a->ready, .events = POLLIN },
		{ .fd = pidfd, .events = POLLIN },
	};
	int n;

	do {
		n = poll(fds, ARRAY_LEN(fds), READY_TIMEOUT_MS);
	} while (n < 0 && errno == EINTR);
	if (pidfd >= 0)
		close(pidfd);
	if (n > 0 && (fds[0].revents & POLLIN))
		return 0;
	return explain(a, err);
}

static void clean(struct attachment *a)
{
	if (a->ready >= 0)
		close(a->ready);
	if (a->output >= 0)
		close(a->output);
	if (a->fifo[0])
		unlink(a->fifo);
	rmdir(a->dir);
}

int pasta_start(const struct strv *argv, pid_t pid, pid_t *ret_pasta, struct err *err)
{
	struct attachment a = { .ready = -1, .output = -1 };
	int r = make_fifo(&a, err);

	if (r == 0)
		r = make_output(&a, err);
	if (r == 0)
		r = spawn(&a, argv, pid, err);
	if (r == 0)
		r = wait_ready(&a, err);
	if (r < 0 && a.pid > 0)
		pasta_stop(a.pid);
	clean(&a);
	if (r == 0)
		*ret_pasta = a.pid;
	return r;
}

void pasta_stop(pid_t pasta)
{
	kill(pasta, SIGKILL);
	while (waitpid(pasta, NULL, 0) < 0 && errno == EINTR)
		;
}
