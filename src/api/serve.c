/* SPDX-License-Identifier: MIT */
/* The server itself: a socket, and workers that wait for clients. It reads nothing of theirs. */
#include "api/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "api/serve_wire.h"
#include "os/platform.h"
#include "os/proc.h"
#include "os/signals.h"
#include "os/socket.h"
#include "os/ticker.h"
#include "session/control.h"

#define RETRY_MS 500

/* --- the socket --- */

static int fail_path(const char *path, int code, const char *what, struct err *err)
{
	return err_errno(err, code, "%s '%s'", what, path);
}

/* Something stands there: a socket that nobody listens on may go. */
static int check_old(const char *path, const struct sockaddr_un *at, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : fail_path(path, errno, "looking at", err);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return fail_path(path, EEXIST, "listening on", err);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail_path(path, errno, "looking at", err);
	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 && errno == ECONNREFUSED)
		return 0;
	err_set(err, EADDRINUSE, "a server listens on '%s' already", path);
	return err_hint(err, "stop it, or choose another name");
}

/* Bound under another name first and moved: at no time is there a socket that nobody listens on. */
static int bind_beside(int fd, const char *path, const char *fresh, struct serve_id *ret_id,
		       struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	mode_t old = umask(0177);
	struct stat st;
	int r;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", fresh);
	r = bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ? -errno : 0;
	umask(old);
	if (r < 0)
		return fail_path(fresh, -r, "making", err);
	/* It may lie where commands write: never by a link, which may have taken the place of it since. */
	if (fchmodat(AT_FDCWD, fresh, CONTROL_MODE, AT_SYMLINK_NOFOLLOW) < 0 ||
	    listen(fd, SOMAXCONN) < 0 || lstat(fresh, &st) < 0 || rename(fresh, path) < 0) {
		r = fail_path(path, errno, "listening on", err);
		unlink(fresh);
		return r;
	}
	*ret_id = (struct serve_id){ st.st_dev, st.st_ino };
	return 0;
}

int serve_listen(const char *path, struct serve_id *ret_id, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char fresh[sizeof(at.sun_path)];
	int r;

	if (snprintf(fresh, sizeof(fresh), "%s.%d", path, (int)getpid()) >= (int)sizeof(fresh))
		return err_usage(err, "'%s' is too long for the name of a socket", path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail_path(path, errno, "listening on", err);
	r = check_old(path, &at, err);
	if (r == 0)
		r = bind_beside(fd, path, fresh, ret_id, err);
	return r < 0 ? r : take_fd(&fd);
}

void serve_unlink(const char *path, const struct serve_id *id)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == id->dev && st.st_ino == id->ino)
		unlink(path);
}

/* --- the workers --- */

struct worker {
	pid_t pid; /* 0: free */
	bool busy;
};

struct server {
	const struct serve_options *options;
	struct worker workers[SERVE_WORKERS];
	int taken[2]; /* a worker that has a client writes its pid */
	int signals;
	pid_t pid;
	int64_t rests; /* until then no worker is made: one ended before it had a client */
};

/* Out of the way of the numbers that a command's descriptors may have. */
static int move_up(int *fd, struct err *err)
{
	int up = fcntl(*fd, F_DUPFD_CLOEXEC, SERVE_FD_TOP);

	if (up < 0)
		return err_errno(err, errno, "starting the server");
	close(*fd);
	*fd = up;
	return 0;
}

static void drop_spare(struct engine_spare **spare)
{
	native_spare_free(*spare);
	*spare = NULL;
}

/* Without a descriptor or memory for the client: another worker would have none, either. What was begun for it
 * may have held them. */
static void rest(struct engine_spare **spare)
{
	drop_spare(spare);
	(void)poll(NULL, 0, RETRY_MS);
}

/* Until something is begun a look is enough. */
static int wait_ms(bool begun, const struct engine_spare *spare)
{
	if (!begun)
		return 0;
	return spare ? SERVE_IDLE_SECONDS * 1000 : -1;
}

/* Waits for a client, and has a sandbox begun for it meanwhile, as long as that is of use. One who waits already is
 * not to wait longer, but may be another worker's: then it is begun after all. Returns the client's connection, or
 * -errno. */
static int wait_for_client(const struct serve_options *options, struct engine_spare **spare)
{
	for (bool begun = false;;) {
		struct pollfd fds[] = {
			{ .fd = options->listener, .events = POLLIN },
			{ .fd = *spare ? native_spare_fd(*spare) : -1, .events = POLLPRI },
		};
		int fd, n = poll(fds, ARRAY_LEN(fds), wait_ms(begun, *spare));

		if (n == 0 && !begun) {
			*spare = exec_begin(SERVE_FD_TOP, false, options->lent);
			begun = true;
			continue;
		}
		if (n == 0 || (n > 0 && fds[1].revents))
			drop_spare(spare);
		if (n <= 0 || !fds[0].revents)
			continue;
		fd = accept4(options->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (os_is_exhausted(errno))
			rest(spare);
		else if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED)
			return -errno;
	}
}

_Noreturn static void work(const struct server *s)
{
	pid_t self = getpid();
	struct engine_spare *spare = NULL;
	struct err err;
	int fd;

	os_reset_signals();
	signal(SIGPIPE, SIG_IGN);
	os_die_with_parent(SIGKILL);
	if (getppid() != s->pid)
		_exit(0);
	close(s->signals);
	close(s->taken[0]);
	if (s->options->owner >= 0 && !s->options->held)
		close(s->options->owner);
	if (serve_close_own(&err) < 0)
		_exit(1);
	fd = wait_for_client(s->options, &spare);
	if (fd < 0 || write(s->taken[1], &self, sizeof(self)) < 0)
		_exit(1);
	close(s->taken[1]);
	close(s->options->listener);
	serve_command(s->options, fd, spare);
}

static struct worker *find(struct server *s, pid_t pid)
{
	for (size_t i = 0; i < SERVE_WORKERS; i++)
		if (s->workers[i].pid == pid)
			return &s->workers[i];
	return NULL;
}

static size_t count_spare(const struct server *s)
{
	size_t n = 0;

	for (size_t i = 0; i < SERVE_WORKERS; i++)
		n += s->workers[i].pid && !s->workers[i].busy;
	return n;
}

/* Where there is no room for another process, it is tried again in a while. */
static void add_spare(struct server *s)
{
	for (size_t n = count_spare(s); n < SERVE_SPARE && os_seconds() >= s->rests; n++) {
		struct worker *worker = find(s, 0);
		pid_t pid = worker ? fork() : -1;

		if (pid == 0)
			work(s);
		if (pid < 0)
			return;
		*worker = (struct worker){ .pid = pid };
	}
}

static void on_taken(struct server *s)
{
	struct worker *worker;
	pid_t pid;

	while (read(s->taken[0], &pid, sizeof(pid)) == sizeof(pid))
		if ((worker = find(s, pid)))
			worker->busy = true;
}

static void reap(struct server *s)
{
	struct worker *worker;
	pid_t pid;

	on_taken(s); /* what one said before its end */
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		worker = find(s, pid);
		if (worker && !worker->busy)
			s->rests = os_seconds() + 1;
		if (worker)
			*worker = (struct worker){ 0 };
	}
}

/* True: it is to end. */
static bool on_signal(struct server *s)
{
	int signal_no = os_signals_next(s->signals);

	if (!signal_no)
		return false;
	if (signal_no != SIGCHLD)
		return true;
	reap(s);
	return false;
}

static void end_all(struct server *s)
{
	for (size_t i = 0; i < SERVE_WORKERS; i++)
		if (s->workers[i].pid)
			kill(s->workers[i].pid, SIGKILL);
	/* Theirs die with them, and are ours then. */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static int watch(struct server *s, struct err *err)
{
	static const int wanted[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Who dies with a worker is reaped here, also where the system's own init reaps nobody. */
	os_adopt_orphans();
	s->signals = os_signals_open(&set);
	if (s->signals < 0 || pipe2(s->taken, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_errno(err, errno, "starting the server");
	return move_up(&s->signals, err) < 0 || move_up(&s->taken[0], err) < 0 ||
			       move_up(&s->taken[1], err) < 0
		       ? -err->code
		       : 0;
}

int serve_run(struct serve_options *options, struct err *err)
{
	struct server s = { .options = options, .signals = -1, .pid = getpid() };
	struct pollfd fds[3];
	int r = move_up(&options->listener, err);

	(void)os_platform(); /* which system this is no client's environment says */
	/* A client that another worker has taken is not waited for. */
	if (r == 0 && fcntl(options->listener, F_SETFL, O_NONBLOCK) < 0)
		r = err_errno(err, errno, "starting the server");
	if (r == 0 && options->owner >= 0)
		r = move_up(&options->owner, err);
	if (r == 0)
		r = watch(&s, err);
	if (r < 0)
		return r;
	fds[0] = (struct pollfd){ .fd = s.signals, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = s.taken[0], .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = options->owner, .events = POLLIN };
	for (;;) {
		add_spare(&s);
		if (poll(fds, ARRAY_LEN(fds), count_spare(&s) == SERVE_SPARE ? -1 : RETRY_MS) < 0 &&
		    errno != EINTR)
			break;
		if (fds[2].revents || ((fds[0].revents & POLLIN) && on_signal(&s)))
			break;
		if (fds[1].revents)
			on_taken(&s);
	}
	end_all(&s);
	close(options->listener);
	close(s.signals);
	close(s.taken[0]);
	close(s.taken[1]);
	return 0;
}
