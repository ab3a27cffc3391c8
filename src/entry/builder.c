/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of a builder: users and places, then nix-daemon, then sshd - so that whoever is greeted by sshd
 * finds a daemon - and then only reaping, until it is told to stop, one of the two ends, or nobody has
 * been here for a while.
 *
 * The order matters to who waits outside: sshd's greeting is the sign that all is ready. What builds run
 * here is hostile to nobody but to other builds: each has a user of its own, and none of ours.
 */
#include "entry/builder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "entry/builder_priv.h"
#include "entry/entry.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/timer.h"

enum { DAEMON_WAIT_MS = 30000, POLL_MS = 10, END_MS = 5000 };

/* --- the two programs --- */

/* Where it is, by BUILDER_PATH: sshd starts itself again by its own name and wants it absolute. */
static int find_program(const char *name, char ret[4096], struct err *err)
{
	for (const char *p = BUILDER_PATH; *p; p += *p == ':') {
		size_t len = strcspn(p, ":");

		snprintf(ret, 4096, "%.*s/%s", (int)len, p, name);
		if (access(ret, X_OK) == 0)
			return 0;
		p += len;
	}
	err_set(err, ENOENT, "there is no '%s' in this builder", name);
	return err_hint(err, "its image needs Nix and openssh's server");
}

static pid_t start(const char *name, char *const *rest, int in, struct err *err)
{
	char path[4096], *argv[8] = { path };
	pid_t pid;
	sigset_t none;

	if (find_program(name, path, err) < 0)
		return -err->code;
	for (size_t i = 0; rest[i] && i + 2 < ARRAY_LEN(argv); i++)
		argv[i + 1] = rest[i];
	fflush(stderr);
	pid = fork();
	if (pid < 0)
		return err_errno(err, errno, "fork");
	if (pid > 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(in, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(path, argv);
	err_errno(err, errno, "executing '%s'", path);
	entry_say("", err);
	_exit(EXIT_NOEXEC);
}

/* It listens: the flag that it accepts, beside its name. To connect would be a client that says nothing. */
static bool daemon_listens(void)
{
	_cleanup_free_ char *text = NULL;
	const char *line;

	if (os_read_file_at(AT_FDCWD, "/proc/net/unix", 1 << 20, &text, NULL) < 0)
		return false;
	line = strstr(text, " " BUILDER_SOCKET "\n");
	while (line && line > text && line[-1] != '\n')
		line--;
	return line && strstr(line, " 00010000 ") &&
	       strstr(line, " 00010000 ") < strchr(line, '\n');
}

static int start_daemon(int null, pid_t *ret, struct err *err)
{
	int64_t end = os_now_ms() + DAEMON_WAIT_MS;

	unlink(BUILDER_SOCKET);
	*ret = start("nix-daemon", (char *[]){ NULL }, null, err);
	if (*ret < 0)
		return (int)*ret;
	while (!daemon_listens()) {
		if (waitpid(*ret, NULL, WNOHANG) == *ret)
			return err_set(err, EIO, "nix-daemon ended before it could be asked");
		if (os_now_ms() > end)
			return err_set(err, ETIMEDOUT, "nix-daemon does not answer");
		poll(NULL, 0, POLL_MS);
	}
	return 0;
}

/* Paths that came with the image and that the store's database does not know yet. */
static int take_registration(struct err *err)
{
	_cleanup_close_ int file = open(BUILDER_REGISTRATION, O_RDONLY | O_CLOEXEC);
	int status = 0;
	pid_t pid;

	if (file < 0)
		return errno == ENOENT
			       ? 0
			       : err_errno(err, errno, "opening '%s'", BUILDER_REGISTRATION);
	pid = start("nix-store", (char *[]){ (char *)"--load-db", NULL }, file, err);
	if (pid < 0)
		return (int)pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		return err_set(err, EIO, "nix-store --load-db failed (status %d)", status);
	if (unlink(BUILDER_REGISTRATION) < 0)
		return err_errno(err, errno, "removing '%s'", BUILDER_REGISTRATION);
	return 0;
}

/* --- is anybody here? --- */

/* Of a line of /proc/PID/stat: the parent, and how much the children used that have ended. */
static bool read_stat(int proc, const char *pid, long *ret_parent, unsigned long *ret_used)
{
	_cleanup_free_ char *text = NULL;
	char path[32], *rest;

	snprintf(path, sizeof(path), "%.16s/stat", pid);
	if (os_read_file_at(proc, path, 4096, &text, NULL) < 0)
		return false;
	rest = strrchr(text, ')');
	return rest &&
	       sscanf(rest, ") %*c %ld %*d %*d %*d %*d %*u %*u %lu", ret_parent, ret_used) == 2;
}

/* A session is a child of sshd's; one that came and went since has left its mark. */
static bool is_busy(pid_t sshd, unsigned long *mark)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned long used, marked = *mark;
	long parent;
	bool busy = false;

	while (!busy && (entry = os_dir_next(proc)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
		    read_stat(dirfd(proc), entry->d_name, &parent, &used)) {
			busy = parent == sshd;
			if (atol(entry->d_name) == sshd)
				*mark = used;
		}
	return busy || *mark != marked;
}

/* --- until the end --- */

struct watched {
	pid_t nix, sshd;
	int64_t idle_ms, last; /* 0: for ever */
	unsigned long mark;
};

/* The one of the two that ended, or 0. */
static pid_t reap(const struct watched *w)
{
	pid_t pid, ended = 0;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		if (pid == w->nix || pid == w->sshd)
			ended = pid;
	return ended;
}

/* Why it ends: 0 for a good reason. Every signal is blocked, and taken here. */
static int watch(struct watched *w, struct err *err)
{
	int64_t tick = MAX(MIN(w->idle_ms / 8, (int64_t)15000), (int64_t)100);
	const struct timespec pause = { tick / 1000, tick % 1000 * 1000000 };
	sigset_t all;

	sigfillset(&all);
	w->last = os_now_ms();
	for (;;) {
		siginfo_t info;
		int signal_no = w->idle_ms ? sigtimedwait(&all, &info, &pause)
					   : sigwaitinfo(&all, &info);
		pid_t ended;

		if (signal_no == SIGTERM || signal_no == SIGINT || signal_no == SIGHUP)
			return 0;
		ended = reap(w);
		if (ended)
			return err_set(err, EIO, "%s ended",
				       ended == w->sshd ? "sshd" : "nix-daemon");
		if (!w->idle_ms)
			continue;
		if (is_busy(w->sshd, &w->mark))
			w->last = os_now_ms();
		if (os_now_ms() - w->last >= w->idle_ms) {
			err_set(err, ETIME, "nobody was here for %lld s: the end",
				(long long)w->idle_ms / 1000);
			entry_say("", err);
			return 0;
		}
	}
}

/* What is registered is on the disk; a build that is under way is begun again by who asked for it. */
static void finish(const struct watched *w)
{
	int64_t end = os_now_ms() + END_MS;

	if (w->sshd > 0)
		kill(w->sshd, SIGTERM);
	if (w->nix > 0)
		kill(w->nix, SIGTERM);
	while (w->nix > 0 && waitpid(w->nix, NULL, WNOHANG) == 0 && os_now_ms() < end)
		poll(NULL, 0, POLL_MS);
	sync();
}

static int run(struct watched *w, struct err *err)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int r;

	if (null < 0)
		return err_errno(err, errno, "opening '/dev/null'");
	r = builder_prepare(&w->idle_ms, err);
	if (r == 0)
		r = take_registration(err);
	if (r == 0)
		r = start_daemon(null, &w->nix, err);
	if (r == 0) {
		w->sshd = start("sshd",
				(char *[]){ (char *)"-D", (char *)"-e", (char *)"-f",
					    (char *)BUILDER_RUN "/sshd_config", NULL },
				null, err);
		r = w->sshd < 0 ? (int)w->sshd : watch(w, err);
	}
	finish(w);
	return r;
}

int entry_builder(void)
{
	struct watched w = { 0 };
	struct err err = { 0 };

	os_set_dumpable(0);
	setenv("PATH", BUILDER_PATH, 1);
	setenv("HOME", "/root", 1);
	setenv("NIX_CONF_DIR", BUILDER_RUN, 1);
	setenv("NIX_DAEMON_SOCKET_PATH", BUILDER_SOCKET, 1);
	setenv("TMPDIR", BUILDER_BUILD_DIR, 1);
	if (run(&w, &err) == 0)
		return 0;
	entry_say("", &err);
	return EXIT_WRAPIX;
}
