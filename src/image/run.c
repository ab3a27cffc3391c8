/* SPDX-License-Identifier: MIT */
/* Running other programs. Their output is a file in memory, for it may be long. */
#include "image/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/path.h"
#include "image/interrupt.h"
#include "os/fs.h"
#include "os/proc.h"

enum { OUTPUT_MAX = 64 << 20, TELL_MS = 200 };

static struct {
	void (*on_wait)(void *ctx);
	void *ctx;
} tell;

void run_tell(void (*on_wait)(void *ctx), void *ctx)
{
	tell.on_wait = on_wait;
	tell.ctx = ctx;
}

/* Its wait status, at its end, which a signal that ends us asks it for: it clears up behind itself. */
static int await(pid_t pid)
{
	_cleanup_close_ int fd = os_pidfd_open(pid);
	struct pollfd end = { .fd = fd, .events = POLLIN };

	while (fd >= 0 && poll(&end, 1, TELL_MS) <= 0) {
		if (interrupt_waits()) {
			kill(pid, SIGTERM);
			break;
		}
		if (tell.on_wait)
			tell.on_wait(tell.ctx);
	}
	return os_await(pid);
}

char *run_find(struct arena *arena, const char *name, const char *how_to_get, struct err *err)
{
	char *program = os_find_program(arena, name, getenv("PATH"), NULL);

	if (!program) {
		err_set(err, ENOENT, "there is no '%s' on this machine", name);
		err_hint(err, "%s", how_to_get);
	}
	return program;
}

_Noreturn static void be_program(const struct strv *argv, int out, int log, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	os_die_with_parent(SIGTERM);
	if (getppid() != parent)
		_exit(127);
	os_reset_signals();
	setenv("SOURCE_DATE_EPOCH", "1", 1);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	os_close_all_but(3, NULL, 0);
	execv(argv->v[0], argv->v);
	_exit(127);
}

int run_program(struct arena *arena, const struct strv *argv, int log, char **ret_output,
		struct err *err)
{
	_cleanup_close_ int output = ret_output ? memfd_create("output", MFD_CLOEXEC) : -1;
	_cleanup_free_ char *text = NULL;
	int status = 0, r = interrupt_check(err);
	pid_t pid, self = getpid();
	size_t len;

	if (r < 0)
		return r;
	if (ret_output && output < 0)
		return err_errno(err, errno, "memfd_create");
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_program(argv, ret_output ? output : log, log, self);
	if (pid < 0)
		return err_errno(err, errno, "fork");
	status = await(pid);
	if (status)
		return err_set(err, EIO, "%s failed (status %d)", path_name(argv->v[0]),
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	if (!ret_output)
		return 0;
	if (lseek(output, 0, SEEK_SET) == 0)
		r = os_read_fd(output, OUTPUT_MAX, &text, &len);
	*ret_output = arena_strdup(arena, text ? text : "");
	return r < 0 ? err_errno(err, -r, "reading what %s printed", path_name(argv->v[0])) : 0;
}
