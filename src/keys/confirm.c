/* SPDX-License-Identifier: MIT */
/* Asking the user. The question holds words of the sandbox's; whoever makes it escapes them. */
#include "keys/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/path.h"
#include "os/proc.h"
#include "os/start.h"

#define YES "allow"

static bool prints_answer(const char *program)
{
	return !strcmp(path_name(program), "wrapix-notify");
}

/* out: where its standard output goes; -1: nowhere. */
_Noreturn static void ask(const char *program, const char *question, int out)
{
	int null;

	os_reset_signals();
	os_die_with_parent(SIGTERM);
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(out < 0 ? null : out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	os_close_all_but(3, NULL, 0);
	setenv("SSH_ASKPASS_PROMPT", "confirm", 1);
	if (out < 0)
		execl(program, program, question, NULL);
	else
		execl(program, program, "--wait", "--urgency", "critical", "--action", YES "=Allow",
		      "--action", "refuse=Refuse", "--", "wrapix", question, NULL);
	_exit(127);
}

static bool said_yes(int fd)
{
	char text[sizeof(YES) + 1];
	ssize_t n = read(fd, text, sizeof(text));

	return n == sizeof(YES) && !memcmp(text, YES "\n", sizeof(YES));
}

/* The program has ended, or is to. */
static bool take_answer(struct confirm *confirm)
{
	bool yes;
	int status;

	loop_remove(confirm->loop, &confirm->source);
	close(take_fd(&confirm->source.fd));
	status = os_await(confirm->pid);
	confirm->pid = 0;
	ticker_run(&confirm->ticker, false);
	yes = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (confirm->said >= 0) {
		yes = yes && said_yes(confirm->said);
		close(take_fd(&confirm->said));
	}
	return yes;
}

static int on_end(struct loop_source *source, uint32_t events, struct err *err)
{
	struct confirm *confirm = container_of(source, struct confirm, source);

	(void)events;
	(void)err;
	confirm->on_answer(confirm->ctx, take_answer(confirm));
	return 0;
}

static void on_tick(struct ticker *ticker)
{
	struct confirm *confirm = container_of(ticker, struct confirm, ticker);

	if (confirm->pid && os_seconds() >= confirm->deadline)
		os_pidfd_kill(confirm->source.fd, SIGKILL);
}

int confirm_start(struct confirm *confirm, struct loop *loop,
		  void (*on_answer)(void *ctx, bool yes), void *ctx, struct err *err)
{
	*confirm = (struct confirm){
		.source = { .fd = -1, .on_event = on_end },
		.said = -1,
		.on_answer = on_answer,
		.ctx = ctx,
	};
	if (ticker_start(&confirm->ticker, loop, on_tick, err) < 0)
		return -err->code;
	confirm->loop = loop;
	return 0;
}

int confirm_ask(struct confirm *confirm, const char *program, const char *question, struct err *err)
{
	_cleanup_close_ int in = -1, out = -1;
	int fd, ends[2];
	pid_t pid;

	if (prints_answer(program)) {
		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
			return os_err_start(err, errno, program);
		in = ends[0];
		out = ends[1];
	}
	pid = fork();
	if (pid < 0)
		return os_err_start(err, errno, program);
	if (pid == 0)
		ask(program, question, out);
	confirm->pid = pid;
	confirm->said = take_fd(&in);
	fd = os_pidfd_open(pid);
	confirm->source.fd = fd;
	if (fd >= 0 && loop_add(confirm->loop, &confirm->source, LOOP_IN, err) == 0) {
		confirm->deadline = os_seconds() + CONFIRM_SECONDS;
		ticker_run(&confirm->ticker, true);
		return 0;
	}
	if (fd < 0)
		os_err_start(err, -fd, program);
	kill(pid, SIGKILL);
	take_answer(confirm);
	return -err->code;
}

void confirm_cancel(struct confirm *confirm)
{
	if (!confirm->pid)
		return;
	os_pidfd_kill(confirm->source.fd, SIGKILL);
	take_answer(confirm);
}

void confirm_stop(struct confirm *confirm)
{
	if (!confirm->loop)
		return;
	confirm_cancel(confirm);
	ticker_stop(&confirm->ticker);
	confirm->loop = NULL;
}
