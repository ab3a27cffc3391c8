/* SPDX-License-Identifier: MIT */
/*
 * Questions to the supervisor: one process loads the filter and answers, its child asks by making
 * sockets. The child reports each result through a pipe, so that nothing waits by the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/seccomp.h>

#include "lib/tap.h"
#include "os/linux/seccomp.h"

/* What the child does, in order; a question is answered by 'answer'. */
enum answer { NOT_ASKED, GO_ON, FAIL_EACCES, GO_ON_AFTER_SIGNAL };

static const struct {
	const char *what;
	int family, type, protocol;
	enum answer answer;
	int want; /* errno */
} steps[] = {
	{ "AF_UNIX is not asked about", AF_UNIX, SOCK_STREAM, 0, NOT_ASKED, 0 },
	{ "AF_INET is, and goes on", AF_INET, SOCK_STREAM, 0, GO_ON, 0 },
	{ "AF_INET6 is, and gets the supervisor's errno", AF_INET6, SOCK_DGRAM, 0, FAIL_EACCES,
	  EACCES },
	{ "NETLINK_ROUTE is", AF_NETLINK, SOCK_RAW, 0, GO_ON, 0 },
	{ "other netlink is refused unasked", AF_NETLINK, SOCK_RAW, 15, NOT_ASKED,
	  EPROTONOSUPPORT },
	{ "MPTCP is refused unasked", AF_INET, SOCK_STREAM, 262, NOT_ASKED, EPROTONOSUPPORT },
	{ "AF_VSOCK is refused unasked", 40, SOCK_STREAM, 0, NOT_ASKED, EAFNOSUPPORT },
	{ "a signal does not break off a question", AF_INET, SOCK_DGRAM, 0, GO_ON_AFTER_SIGNAL, 0 },
};

static void on_signal(int signal_no)
{
	(void)signal_no;
}

/* The child: makes every socket when told, and writes its errno. */
_Noreturn static void ask(int in, int out)
{
	struct sigaction sa = { .sa_handler = on_signal };
	char go;

	sigaction(SIGUSR1, &sa, NULL);
	for (size_t i = 0; i < ARRAY_LEN(steps) + 1 && read(in, &go, 1) == 1; i++) {
		size_t step = i < ARRAY_LEN(steps) ? i
						   : 1; /* at last once more, without listener */
		int fd = socket(steps[step].family, steps[step].type, steps[step].protocol);
		int result = fd < 0 ? errno : 0;

		if (write(out, &result, sizeof(result)) != sizeof(result))
			_exit(1);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

static void answer(int listener, pid_t child, enum answer how, const char *what)
{
	struct seccomp_notif n = { 0 };
	struct seccomp_notif_resp resp = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0) {
		ok(false, "%s: receiving: %s", what, strerror(errno));
		return;
	}
	ok(n.data.nr == SYS_socket && n.pid == (unsigned)child, "%s: the question names the call",
	   what);
	if (how == GO_ON_AFTER_SIGNAL)
		kill(child, SIGUSR1);
	resp.id = n.id;
	if (how == FAIL_EACCES)
		resp.error = -EACCES;
	else
		resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ok(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) == 0, "%s: the answer arrives", what);
}

static int step(int in, int out, int listener, pid_t child, size_t i)
{
	int result = -1;

	if (write(out, "", 1) != 1)
		return -1;
	if (steps[i].answer != NOT_ASKED)
		answer(listener, child, steps[i].answer, steps[i].what);
	if (read(in, &result, sizeof(result)) != sizeof(result))
		return -1;
	return result;
}

static void supervise(unsigned flags)
{
	struct err err = { 0 };
	int to[2], from[2], listener = -1, result = -1, status;
	pid_t child;

	if (!is_int(seccomp_load(flags, &listener, &err), 0, "%s loads", seccomp_describe(flags)))
		return diag("%s", err.msg);
	ok(listener >= 0 && (fcntl(listener, F_GETFD) & FD_CLOEXEC), "the listener closes on exec");
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return (void)ok(false, "pipe");
	child = fork();
	if (child == 0) {
		close(listener);
		ask(to[0], from[1]);
	}
	close(from[1]);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (steps[i].answer == GO_ON_AFTER_SIGNAL &&
		    !(seccomp_features() & SECCOMP_HAS_WAIT_KILLABLE)) {
			skip(steps[i].what, "the kernel is older than 5.19");
			continue;
		}
		is_int(step(from[0], to[1], listener, child, i), steps[i].want, "%s: result",
		       steps[i].what);
	}
	close(listener);
	ok(write(to[1], "", 1) == 1 && read(from[0], &result, sizeof(result)) == sizeof(result) &&
		   result == ENOSYS,
	   "without a listener a question is refused");
	close(to[1]);
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends well");
}

/* What the supervisor refuses in the filter's place, and what it is asked when it is gone. */
static void refuse(unsigned flags)
{
	struct err err = { 0 };
	struct seccomp_notif n = { 0 };
	struct seccomp_notif_resp resp = { 0 };
	int listener = -1, status;
	pid_t child;

	if (!is_int(seccomp_load(flags, &listener, &err), 0, "%s loads", seccomp_describe(flags)))
		return diag("%s", err.msg);
	child = fork();
	if (child == 0) {
		close(listener);
		_exit(socket(40, SOCK_STREAM, 0) < 0 ? errno : 0);
	}
	ok(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0 && n.data.nr == SYS_socket,
	   "AF_VSOCK is asked about");
	is_int(seccomp_judge(flags & SECCOMP_NESTED, &n.data), EAFNOSUPPORT,
	       "and judged as before");
	resp.id = n.id;
	resp.error = -EAFNOSUPPORT;
	ok(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) == 0, "the answer arrives");
	waitpid(child, &status, 0);
	is_int(WEXITSTATUS(status), EAFNOSUPPORT, "the caller sees the same errno");
	is_int(socket(AF_UNIX, SOCK_STREAM, 0) >= 0, true, "what is allowed is not asked about");
	child = fork();
	if (child == 0) {
		close(listener);
		alarm(10);
		/* The parent's listener is closed below: with the last one nobody answers. */
		_exit(syscall(SYS_keyctl, 0, 0, 0, 0, 0) < 0 ? errno : 0);
	}
	close(listener);
	waitpid(child, &status, 0);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, ENOSYS,
	       "without a listener it is refused as well");
}

/* A second listener in the tree would take questions away from the first. */
static void check_second_listener(unsigned flags)
{
	struct err err = { 0 };
	int first = -1, second = -1;

	is_int(seccomp_load(flags, &first, &err), 0, "the first listener");
	is_int(seccomp_load(flags, &second, &err), -EBUSY, "a second one is refused");
	is_int(second, -1, "and is not written");
	ok(*err.hint != '\0', "with a hint");
}

/* Each in a process of its own, because a filter stays; TAP numbers go on through the count. */
static void in_child(void (*what)(unsigned), unsigned flags)
{
	int pipes[2], counts[2] = { tap_count, tap_failed };
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		exit(EXIT_FAILURE);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(1);
		what(flags);
		counts[0] = tap_count;
		counts[1] = tap_failed;
		if (write(pipes[1], counts, sizeof(counts)) != sizeof(counts))
			_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	if (read(pipes[0], counts, sizeof(counts)) != sizeof(counts))
		counts[1]++; /* it died: the plan is then wrong too */
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	tap_count = counts[0];
	tap_failed = counts[1];
}

int main(void)
{
	if (!(seccomp_features() & SECCOMP_HAS_NOTIFY)) {
		skip("questions to the supervisor", "the kernel is older than 5.0");
		return done();
	}
	in_child(supervise, SECCOMP_NOTIFY_NET);
	in_child(supervise, SECCOMP_NOTIFY_NET | SECCOMP_NESTED);
	in_child(refuse, SECCOMP_NOTIFY_REFUSED);
	in_child(refuse, SECCOMP_NESTED | SECCOMP_NOTIFY_REFUSED | SECCOMP_NOTIFY_NET);
	in_child(check_second_listener, SECCOMP_NOTIFY_NET);
	return done();
}
