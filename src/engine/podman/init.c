/* SPDX-License-Identifier: MIT */
/*
 * wrapix-init: PID 1 of a podman sandbox, a static program that an image need not have.
 *
 * podman has made the namespaces, the mounts and the coarse filter. This does what podman cannot: the
 * environment comes from a file that is gone before the command starts, our files get into the private
 * places, Landlock and the exact filter are laid on; then it reaps, delivers the supervisor's signals and
 * reports how the command ended. It ends when the supervisor does, and the kernel ends the rest.
 *
 *	wrapix-init --filter=NAME [--machine=UID:GID] -- COMMAND...
 *	wrapix-init --hook	before there is a container: hook.c
 *
 * In a virtual machine (machine.c) it is neither PID 1 nor the user, whom it becomes; messages are files,
 * and what goes wrong is told on standard error.
 *
 * Everything it reads was written by the supervisor; what stands in a kept home was not, and no name is
 * followed or replaced there.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/util.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/podman/hook.h"
#include "engine/podman/stage.h"
#include "entry/tree.h"
#include "os/fs.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"
#include "os/signals.h"
#include "os/tty.h"

#define STAGE "/opt/wrapix/init"
#define MAX_FILE (16u << 20)

#define LOOK_MS 50

static int to = -1, from = -1;
static bool machine;
static unsigned heard; /* messages, in a machine */

static void send_message(enum stage_type type, int value, const struct err *err)
{
	struct stage_message message = { .type = type, .value = value };

	if (machine)
		return;
	if (err)
		message.err = *err;
	while (write(from, &message, sizeof(message)) < 0 && errno == EINTR)
		; /* without a reader the other FIFO ends too, and so do we */
}

_Noreturn static void fail(const struct err *err)
{
	send_message(STAGE_FAILED, 0, err);
	if (machine) {
		fputs("wrapix: ", stderr);
		fputs(err->msg, stderr);
		fputs("\n", stderr);
	}
	_exit(machine && err->exit ? err->exit : EXIT_WRAPIX);
}

/* --- what the supervisor left for us --- */

static int read_staged(const char *name, char **ret, size_t *ret_len, struct err *err)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), STAGE "/%s", name);
	r = os_read_file_at(AT_FDCWD, path, MAX_FILE, ret, ret_len);
	return r < 0 ? err_errno(err, -r, "reading '%s'", path) : 0;
}

/* Ours over the image's; what podman adds of its own says nothing true about the session. */
static int take_environment(struct err *err)
{
	struct arena arena = { 0 };
	const char *images = arena_strdup(&arena, getenv("PATH"));
	char *data = NULL;
	size_t len = 0;
	int r = read_staged("env", &data, &len, err);

	if (r < 0)
		return r;
	unsetenv("HOSTNAME");
	unsetenv("container");
	unsetenv("HOME");
	for (size_t at = 0; at < len; at += strlen(data + at) + 1) {
		char *p = data + at, *equals = strchr(p, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (!strcmp(p, "PATH"))
			setenv(p, path_list_add(&arena, equals + 1, images), 1);
		else
			setenv(p, equals + 1, 1);
		*equals = '=';
	}
	explicit_bzero(data, len);
	free(data);
	arena_release(&arena);
	return 0;
}

static int make_tree(struct err *err)
{
	const struct tree as_is = TREE_AS_IS;

	return tree_copy_to(&as_is, STAGE "/tree", "/", err);
}

/* --- the command --- */

static int enter_landlock(struct err *err)
{
	struct landlock_rule *rules;
	size_t len = 0, n = 0;
	char *data = NULL;
	int r = read_staged("rules", &data, &len, err);

	rules = calloc(len + 1, sizeof(*rules)); /* each takes more than one byte */
	if (!rules)
		return err_errno(err, ENOMEM, "rules for Landlock");
	for (char *p = data; r == 0 && p < data + len; p += strlen(p) + 1) {
		const char *class = strchr(STAGE_CLASSES, *p);

		if (!class || !*p)
			return err_set(err, EINVAL, "the rules for Landlock cannot be read");
		rules[n++] = (struct landlock_rule){ p + 1,
						     (enum landlock_class)(class - STAGE_CLASSES) };
	}
	return r == 0 ? landlock_restrict(landlock_abi(), rules, n, err) : r;
}

/* Where some calls are questions to the supervisor it has the listener before the command runs. */
static int load_filter(unsigned filter, int parent, struct err *err)
{
	_cleanup_close_ int listener = -1;
	struct control message;
	int r = seccomp_load(filter, &listener, err);

	if (machine && (r == -ENOSYS || r == -EINVAL))
		return 0; /* its kernel has none */
	if (r < 0 || !(filter & SECCOMP_NOTIFY))
		return r;
	if (control_send(parent, CONTROL_LISTENER, 0, listener) < 0 ||
	    control_receive(parent, &message, NULL) < 0)
		return err_set(err, EPIPE, "the supervisor is gone");
	return 0;
}

_Noreturn static void run_command(char **argv, unsigned filter, int status, int parent)
{
	struct err err = { 0 };
	sigset_t none;
	int r;

	setpgid(0, 0);
	if (isatty(0))
		tcsetpgrp(0, getpid()); /* SIGTTOU is blocked */
	r = enter_landlock(&err);
	if (r == 0)
		r = load_filter(filter, parent, &err);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL); /* podman's client ignores it (client.c) */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (r == 0) {
		err_errno(&err, exec_command(argv, environ), "executing '%s'", argv[0]);
		err.exit = err.code == ENOENT || err.code == ENOTDIR ? EXIT_NOTFOUND : EXIT_NOEXEC;
	}
	if (write(status, &err, sizeof(err)) < 0)
		_exit(EXIT_WRAPIX);
	_exit(err.exit);
}

/* The pipe closes with the exec, or brings the reason why there was none. */
static void await_exec(int status)
{
	struct err err;
	ssize_t n;

	do {
		n = read(status, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(status);
	if (n == sizeof(err))
		fail(&err);
	send_message(STAGE_STARTED, 0, NULL);
}

/* In a machine: the next message, if it is there. A name that is not there is never remembered, so that
 * each look is one at the host's directory. */
static bool find_message(struct stage_message *ret)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), STAGE "/" STAGE_SAY, heard);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, ret, sizeof(*ret)) != sizeof(*ret))
		return false;
	heard++;
	return true;
}

/* Waits for a message; without the supervisor there is nothing left to do. */
static void receive(struct stage_message *ret)
{
	struct pollfd fd = { .fd = to, .events = POLLIN };

	while (machine) {
		if (find_message(ret))
			return;
		poll(NULL, 0, LOOK_MS);
	}
	for (;;) {
		ssize_t n = read(to, ret, sizeof(*ret));

		if (n == sizeof(*ret))
			return;
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			_exit(EXIT_WRAPIX);
		poll(&fd, 1, -1);
	}
}

/* The supervisor takes it out of this process by its number. */
static void lend_listener(int child)
{
	struct stage_message answer;
	struct control message;
	int listener = -1;

	if (control_receive(child, &message, &listener) < 0 || listener < 0)
		return; /* it failed; the status pipe says how */
	send_message(STAGE_LISTENER, listener, NULL);
	do {
		receive(&answer);
	} while (answer.type != STAGE_GO);
	close(listener);
	control_send(child, CONTROL_GO, 0, -1);
}

static pid_t start_command(char **argv, unsigned filter)
{
	struct err err;
	int status[2], pair[2];
	pid_t pid;

	if (pipe2(status, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		fail((err_errno(&err, errno, "starting '%s'", argv[0]), &err));
	pid = fork();
	if (pid < 0)
		fail((err_errno(&err, errno, "starting '%s'", argv[0]), &err));
	if (pid == 0)
		run_command(argv, filter, status[1], pair[1]);
	close(status[1]);
	close(pair[1]);
	if (filter & SECCOMP_NOTIFY)
		lend_listener(pair[0]);
	close(pair[0]);
	await_exec(status[0]);
	return pid;
}

/* --- PID 1 --- */

static void reap(pid_t command)
{
	int status;

	while (reap_command(command, &status)) {
		if (WIFSTOPPED(status)) {
			send_message(STAGE_STOPPED, WSTOPSIG(status), NULL);
			continue;
		}
		if (WIFCONTINUED(status)) {
			send_message(STAGE_CONTINUED, 0, NULL);
			continue;
		}
		send_message(STAGE_EXITED, status, NULL);
		_exit(os_exit_code(status));
	}
}

_Noreturn static void reap_and_forward(pid_t command, int signals)
{
	struct pollfd fds[] = {
		{ .fd = to, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};

	for (;;) {
		struct stage_message message;

		poll(fds, ARRAY_LEN(fds), machine ? LOOK_MS : -1);
		while (os_signals_next(signals))
			; /* children that ended; what else is sent to us from inside is not ours */
		reap(command);
		if (machine ? !find_message(&message) : !fds[0].revents)
			continue;
		if (!machine)
			receive(&message);
		if (message.type == STAGE_SIGNAL)
			signal_command(command, message.value);
	}
}

static void open_fifos(void)
{
	to = open(STAGE "/to", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	from = open(STAGE "/from", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (to < 0 || from < 0) {
		fputs("wrapix-init: the supervisor is gone\n", stderr);
		_exit(EXIT_WRAPIX);
	}
}

/* A machine's first program is its root, and the user's processes outlive their parents. */
static void become(uid_t uid, gid_t gid)
{
	struct err err;

	if (os_adopt_orphans() < 0)
		fail((err_errno(&err, errno, "PR_SET_CHILD_SUBREAPER"), &err));
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
			       setresuid(uid, uid, uid) < 0))
		fail((err_errno(&err, errno, "becoming user %u", uid), &err));
	if (os_no_new_privileges() < 0)
		fail((err_errno(&err, errno, "PR_SET_NO_NEW_PRIVS"), &err));
}

static void prepare(void)
{
	struct stage_message message;
	struct err err;

	if (os_set_dumpable(0) < 0)
		fail((err_errno(&err, errno, "PR_SET_DUMPABLE"), &err));
	if (take_environment(&err) < 0)
		fail(&err);
	send_message(STAGE_HELLO, 0, NULL);
	do {
		receive(&message);
	} while (message.type != STAGE_GO); /* a signal before the start is for nobody yet */
	umask(0);                           /* not before: a kept home was read-only (writable.c) */
	if (make_tree(&err) < 0)
		fail(&err);
	umask(022);
	/* podman sets it too, at a time of its own; the command may look first. */
	tty_set_size(0, message.value);
}

/* --filter=NAME, as seccomp_describe() names it. */
static bool find_filter(const char *word, unsigned *ret)
{
	static const char option[] = "--filter=";

	return word && !strncmp(word, option, strlen(option)) &&
	       seccomp_find(word + strlen(option), ret);
}

/* "--filter=NAME [--machine=UID:GID] -- COMMAND..."; NULL: it is not that. */
static char **read_words(char **argv, unsigned *ret_filter, uid_t *ret_uid, gid_t *ret_gid)
{
	if (!find_filter(*++argv, ret_filter))
		return NULL;
	argv++;
	machine = *argv && sscanf(*argv, "--machine=%u:%u", ret_uid, ret_gid) == 2;
	argv += machine;
	return *argv && !strcmp(*argv, "--") && argv[1] ? argv + 1 : NULL;
}

/* podman passes on what is said. */
static int hook(void)
{
	struct err err;

	if (hook_answer(&err) == 0)
		return 0;
	fputs("wrapix-init: ", stderr);
	fputs(err.msg, stderr);
	fputs("\n", stderr);
	return EXIT_WRAPIX;
}

int main(_unused_ int argc, char **argv)
{
	char **words;
	unsigned filter;
	struct err err;
	sigset_t all;
	pid_t command;
	int signals;
	uid_t uid;
	gid_t gid;

	if (argv[1] && !strcmp(argv[1], "--hook"))
		return hook();
	words = read_words(argv, &filter, &uid, &gid);
	if (!words || (getpid() != 1 && !machine)) {
		fputs("wrapix-init: this is PID 1 of a sandbox; 'wrapix run --engine podman' "
		      "starts it\n",
		      stderr);
		return EXIT_USAGE;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (machine)
		become(uid, gid);
	else
		open_fifos();
	prepare();
	command = start_command(words, filter);
	signals = os_signals_open(&all);
	if (signals < 0)
		fail((err_errno(&err, errno, "watching signals"), &err));
	if (seccomp_load_base(0, &err) < 0 && !machine)
		fail(&err);
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	reap_and_forward(command, signals);
}
