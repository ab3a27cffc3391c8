/* SPDX-License-Identifier: MIT */
/*
 * A builder in our own engine. A child of ours becomes its supervisor: in a session of its own, with the
 * log for a voice, and a record lock on 'alive' for as long as it lives - the kernel names the holder, so
 * that nobody is taken for it whose number it happens to have. The plan is plan/builder.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "api/api.h"
#include "base/path.h"
#include "base/str.h"
#include "builder/machine.h"
#include "entry/builder.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/builder.h"

enum { STOP_MS = 15000 };

static char *alive_path(struct builder *b)
{
	return path_join(&b->arena, b->state, "alive");
}

/* --- the supervisor --- */

static void log_line(const char *text)
{
	char line[1024], stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int n;

	strftime(stamp, sizeof(stamp), "%F %T", localtime_r(&now, &tm));
	n = snprintf(line, sizeof(line), "%s wrapix: %s\n", stamp, text);
	/* Without a log there is nobody to tell. */
	(void)os_write_all(STDERR_FILENO, line, MIN((size_t)n, sizeof(line) - 1));
}

/* What holds less here than it sounds is said to who starts it; that it is a tier of its own is not news. */
static void tell(int report, const char *text)
{
	struct err note = { 0 };

	if (str_starts(text, "builder: "))
		return;
	snprintf(note.msg, sizeof(note.msg), "%s", text);
	(void)os_write_all(report, &note, sizeof(note)); /* who starts it may be gone */
}

static void on_event(void *ctx, const struct wrapix_event *event)
{
	if (event->type == WRAPIX_WARNING)
		tell(*(int *)ctx, event->text);
	if (event->text && event->type != WRAPIX_LOGGED)
		log_line(event->text);
	if (event->type == WRAPIX_STARTED)
		log_line("the builder starts");
	if (event->type == WRAPIX_EXITED)
		log_line("the builder has ended");
}

static int make_plan(struct builder *b, const struct builder_root *root, struct wrapix_plan *plan,
		     struct err *err)
{
	const struct builder_spec wishes = { .nix = b->nix, .stage = builder_stage(b) };
	struct spec spec;
	int r;

	spec_init(&spec);
	spec.builder = &wishes;
	spec.dir = b->nix;
	spec.engine = ENGINE_NATIVE;
	spec.net = b->settings.net;
	spec.image = root->image;
	spec.limits.cpus = (double)b->settings.cores;
	spec.limits.memory = b->settings.memory;
	r = spec_add_publish(&spec,
			     arena_printf(&spec.arena, "127.0.0.1:%llu:%d",
					  (unsigned long long)b->settings.port, BUILDER_SSHD_PORT),
			     LAYER_FLAG, err);
	if (r == 0)
		r = host_probe(&spec, environ, &plan->host, err);
	if (r == 0)
		r = plan_make(&spec, &plan->host, &plan->plan, err);
	spec_release(&spec);
	return r;
}

/* The lock, for as long as we live. It goes with the process, not with its children. */
static int hold_alive(struct builder *b, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(alive_path(b), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0)
		return err_errno(err, errno, "taking '%s'", alive_path(b));
	return 0;
}

_Noreturn static void supervise(struct builder *b, const struct builder_root *root, int report)
{
	struct wrapix_plan plan = { 0 };
	struct wrapix_error error;
	struct err err = { 0 };
	int status, r;

	/* Who started us reads until the greeting; what is to be told later goes to the log alone. */
	signal(SIGPIPE, SIG_IGN);
	r = hold_alive(b, &err);
	if (r == 0)
		r = make_plan(b, root, &plan, &err);
	if (r == 0 && wrapix_plan_run(&plan, on_event, &report, &status, &error) < 0) {
		r = err_set(&err, error.code, "%s", error.message);
		err_hint(&err, "%s", error.hint);
	}
	if (r < 0) {
		log_line(err.msg);
		/* The one that started us may be gone. */
		(void)os_write_all(report, &err, sizeof(err));
	}
	_exit(r < 0 ? EXIT_WRAPIX : 0);
}

/* --- whoever starts and stops it --- */

static int open_log(struct builder *b, struct err *err)
{
	char *path = builder_log(b);
	int fd;

	/* The last one's is kept beside it. */
	rename(path, arena_printf(&b->arena, "%s.1", path));
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? err_errno(err, errno, "opening '%s'", path) : fd;
}

static int start_native(struct builder *b, const struct builder_root *root, int *ret_watch,
			struct err *err)
{
	_cleanup_close_ int log = open_log(b, err), null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int report[2];
	pid_t pid;

	if (log < 0)
		return log;
	if (null < 0 || pipe2(report, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setsid();
		os_reset_signals();
		dup2(null, STDIN_FILENO);
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		os_close_all_but(3, &report[1], 1);
		if (chdir("/") < 0)
			_exit(EXIT_WRAPIX);
		supervise(b, root, report[1]);
	}
	close(report[1]);
	*ret_watch = report[0];
	return pid < 0 ? err_errno(err, errno, "fork") : 0;
}

static int alive_native(struct builder *b, bool *ret_alive, pid_t *ret_pid, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd = open(alive_path(b), O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	*ret_alive = false;
	*ret_pid = 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : err_errno(err, errno, "opening '%s'", alive_path(b));
	if (fcntl(fd, F_GETLK, &lock) < 0)
		return err_errno(err, errno, "looking at '%s'", alive_path(b));
	*ret_alive = lock.l_type != F_UNLCK;
	*ret_pid = *ret_alive ? lock.l_pid : 0;
	return 0;
}

/* Kindly first: nix-daemon finishes what it writes. Its end takes everything inside with it. */
static int stop_native(struct builder *b, struct err *err)
{
	_cleanup_close_ int process = -1;
	struct pollfd end = { .events = POLLIN };
	bool alive;
	pid_t pid, again;

	if (alive_native(b, &alive, &pid, err) < 0)
		return -err->code;
	if (!alive)
		return 0;
	process = os_pidfd_open(pid);
	/* The same one still: then the descriptor is its own. */
	if (process < 0 || alive_native(b, &alive, &again, err) < 0 || !alive || again != pid)
		return process == -ESRCH || !alive ? 0 : err_set(err, EAGAIN, "it has changed");
	end.fd = process;
	os_pidfd_kill(process, SIGTERM);
	if (poll(&end, 1, STOP_MS) == 1)
		return 0;
	os_pidfd_kill(process, SIGKILL);
	return poll(&end, 1, STOP_MS) == 1 ? 0
					   : err_set(err, ETIMEDOUT, "the builder does not end");
}

const struct builder_kind builder_native = {
	.engine = ENGINE_NATIVE,
	.patience = 60,
	.listen = "127.0.0.1",
	.start = start_native,
	.alive = alive_native,
	.stop = stop_native,
};
