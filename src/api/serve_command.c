/* SPDX-License-Identifier: MIT */
/*
 * A worker with its client: from the line to the exit status. This process becomes the supervisor of
 * one command and ends with it, so the client's working directory, environment and descriptors are
 * simply its own from here on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "api/serve.h"
#include "api/serve_conn.h"
#include "os/timer.h"
#include "session/control.h"

#define PATIENCE_SECONDS 10 /* for the first line, all of it */
#define FAREWELL_SECONDS 30 /* for reading what is left at the end */

struct job {
	const struct serve_options *options;
	struct arena arena;
	struct serve_conn conn;
	struct loop_source source;
	struct loop *loop;
	struct exec exec;
	struct exec_request request;
	struct engine_spare *spare; /* until it is known what for */
	struct claude_where where;
	int pass[SERVE_FDS_MAX];
	bool detail, terminal;
	char said[512]; /* the last line about something refused */
};

static int64_t in_seconds(int n)
{
	return os_now_ms() + (int64_t)n * 1000;
}

/* --- to the client --- */

/* What cannot go at once goes when there is room, and the command does not wait for it. */
static void push(struct job *j, const struct str *line)
{
	struct err err;

	serve_conn_push(&j->conn, line->s, line->len);
	if (j->loop && j->conn.out.len &&
	    loop_change(j->loop, &j->source, LOOP_IN | LOOP_OUT | LOOP_RDHUP, &err) < 0)
		exec_kill(&j->exec);
}

static void say_line(struct job *j, const struct serve_line *line)
{
	_cleanup_str_ struct str text = { 0 };

	serve_line_add(&text, line);
	push(j, &text);
}

static void say(struct job *j, enum serve_kind kind, int number, const char *text, const char *hint)
{
	say_line(j, &(struct serve_line){
			    .kind = kind, .number = number, .text = text, .hint = hint });
}

static void on_warning(void *ctx, const char *text)
{
	say(ctx, SERVE_WARNING, 0, text, NULL);
}

static void on_weaker(void *ctx, const char *text)
{
	say(ctx, ((struct job *)ctx)->detail ? SERVE_WEAKER : SERVE_WARNING, 0, text, NULL);
}

static void on_debug(void *ctx, const char *text)
{
	const struct job *j = ctx;

	if (j->detail && j->request.debug)
		say(ctx, SERVE_DEBUG, 0, text, NULL);
}

/* The same again is not worked out again. */
static void on_denied(void *ctx, const struct denial *denial, const char *line)
{
	struct job *j = ctx;
	_cleanup_str_ struct str text = { 0 }, change = { 0 };
	bool again = !strncmp(j->said, line, sizeof(j->said) - 1);

	if (!j->detail)
		return;
	if (!again)
		exec_explain(&j->exec, denial, &text, &change);
	snprintf(j->said, sizeof(j->said), "%s", line);
	say_line(j, &(struct serve_line){
			    .kind = SERVE_DENIED, .line = line, .text = text.s, .hint = change.s });
}

/* The bytes of the command's terminal are the client's to carry. */
static void take_terminal(void *ctx, int master)
{
	static const char line[] = "{\"type\":\"terminal\"}\n";
	struct job *j = ctx;

	/* Where it fails the client is gone, and with it the command; or it does not read, and the command hangs up. */
	if (serve_conn_flush(&j->conn, in_seconds(PATIENCE_SECONDS)))
		(void)serve_conn_send(&j->conn, line, strlen(line), &master, 1);
	close(master);
}

static void on_line(void *ctx, const char *line)
{
	struct job *j = ctx;
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "%s\n", line);
	push(j, &out);
}

static void on_settings(void *ctx, bool control, const char *why)
{
	say(ctx, SERVE_SETTINGS, control && ((struct job *)ctx)->detail, why, NULL);
}

static void on_stopped(void *ctx, int signal_no)
{
	say(ctx, SERVE_STOPPED, signal_no, NULL, NULL);
}

/* The last words; the command is over, so it can wait for a client that reads slowly, but not for ever: others need a
 * worker. */
_Noreturn static void finish(struct job *j, int status)
{
	const int64_t until = in_seconds(FAREWELL_SECONDS);
	char text[64];

	native_spare_free(j->spare);
	native_spare_free(j->exec.spare);
	(void)serve_conn_flush(&j->conn, until);
	if (j->conn.lost) {
		snprintf(text, sizeof(text), "%llu lines were lost: nobody read them",
			 (unsigned long long)j->conn.lost);
		say(j, SERVE_WARNING, 0, text, NULL);
	}
	say(j, SERVE_EXIT, status, NULL, NULL);
	(void)serve_conn_flush(&j->conn, until);
	shutdown(j->conn.fd, SHUT_WR);
	exec_wait(&j->exec);
	_exit(0);
}

_Noreturn static void fail(struct job *j, const struct err *err)
{
	say(j, SERVE_ERROR, 0, err->msg, err->hint);
	finish(j, err->exit);
}

/* --- from the client --- */

static void take_message(struct job *j, const char *line, size_t len)
{
	struct serve_message message = { 0 };
	struct arena arena = { 0 };
	struct err err;

	/* Nothing of one that is not understood is done. */
	if (serve_message_parse(&arena, line, len, &message, &err) < 0)
		say(j, SERVE_WARNING, 0, err.msg, err.hint);
	else if (message.signal_no == SIGKILL)
		exec_kill(&j->exec);
	else if (message.signal_no)
		raise(message.signal_no); /* the supervisor's, and passed on as any other */
	if (message.text)
		exec_take_settings(&j->exec, message.text, strlen(message.text));
	arena_release(&arena);
}

/* Whoever asked is gone, and so is the reason for the command. */
static void lose_client(struct job *j)
{
	loop_remove(TAKE_PTR(j->loop), &j->source);
	exec_kill(&j->exec);
}

static int on_client(struct loop_source *source, uint32_t events, struct err *err)
{
	struct job *j = container_of(source, struct job, source);
	int r = serve_conn_fill(&j->conn, MSG_DONTWAIT);
	char *line;
	size_t len;

	if ((events & LOOP_OUT) && serve_conn_flush(&j->conn, 0))
		r = loop_change(j->loop, source, LOOP_IN | LOOP_RDHUP, err) < 0 ? -EIO : r;
	while ((r > 0 || r == -EAGAIN) && (line = serve_conn_line(&j->conn, &len)))
		take_message(j, line, len);
	if (j->conn.in.len - j->conn.taken > SERVE_LINE_MAX || j->conn.n_fds)
		r = -EMSGSIZE;
	if (r == 0 || (r < 0 && r != -EAGAIN))
		lose_client(j);
	return 0;
}

static void on_loop(void *ctx, struct loop *loop)
{
	struct job *j = ctx;
	struct err err;

	j->loop = loop;
	j->source = (struct loop_source){ .fd = j->conn.fd, .on_event = on_client };
	/* Without it nobody would notice that the client is gone. What it can write at once makes it look at what came
	 * together with the request. */
	if (loop && loop_add(loop, &j->source, LOOP_IN | LOOP_OUT | LOOP_RDHUP, &err) < 0)
		fail(j, &err);
}

/* --- the request --- */

static bool is_null(const struct stat *st)
{
	struct stat null;

	return stat("/dev/null", &null) == 0 && st->st_rdev == null.st_rdev;
}

/* Why nothing that somebody sends would be read from it; NULL: it would. */
static const char *find_fault(int fd)
{
	static const char other[] = "is no pipe, socket, terminal or file";
	int flags = fcntl(fd, F_GETFL), listens = 0;
	struct stat st;
	char byte;

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY || fstat(fd, &st) < 0)
		return "is not open for reading";
	switch (st.st_mode & S_IFMT) {
	case S_IFIFO:
		return NULL;
	case S_IFREG: /* or one of the kernel's that only looks like it */
		return pread(fd, &byte, 1, 0) < 0 ? "cannot be read" : NULL;
	case S_IFCHR:
		return isatty(fd) || is_null(&st) ? NULL : other;
	case S_IFSOCK:
		getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens,
			   &(socklen_t){ sizeof(listens) });
		return listens ? "is a socket that listens" : NULL;
	case S_IFDIR:
		return "is a directory";
	default:
		return other;
	}
}

/* A command that was to have other settings later, and cannot, is not run. */
static int take_control(struct job *j, int fd, struct err *err)
{
	const char *fault = find_fault(fd);

	j->request.control_fd = fd;
	return fault ? err_usage(err, "control: descriptor %d %s", fd, fault) : 0;
}

/* All of the client's descriptors go up first, so that none is overwritten on its way down. */
static int place_descriptors(struct job *j, const struct serve_request *q, struct err *err)
{
	for (size_t i = 0; i < q->n_fds; i++) {
		int up = fcntl(j->conn.fds[i], F_DUPFD_CLOEXEC, SERVE_FD_TOP);

		if (up < 0)
			return err_errno(err, errno, "taking the client's descriptors");
		close(j->conn.fds[i]);
		j->conn.fds[i] = up;
	}
	for (size_t i = 0; i < q->n_fds; i++) {
		if (dup2(j->conn.fds[i], q->fds[i]) < 0)
			return err_errno(err, errno, "descriptor %d", q->fds[i]);
		if (q->fds[i] == q->control && take_control(j, q->control, err) < 0)
			return -err->code;
		if (q->fds[i] != q->control && q->fds[i] > STDERR_FILENO)
			j->pass[j->request.n_pass_fds++] = q->fds[i];
		close(j->conn.fds[i]);
	}
	j->conn.n_fds = 0;
	j->request.pass_fds = j->pass;
	/* Its keys go to the foreground of a session that we are not in: it would wait for ever. */
	if (!q->terminal && isatty(STDIN_FILENO)) {
		err_usage(err, "standard input is a terminal, which a server cannot read");
		return err_hint(err, "give the command a pipe or /dev/null");
	}
	return 0;
}

/* A client that brought none gets the other ends. */
static int make_output(struct job *j, struct err *err)
{
	static const char line[] = "{\"type\":\"output\"}\n";
	int out[2], errors[2], r;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0 ||
	    dup2(out[1], STDOUT_FILENO) < 0 || dup2(errors[1], STDERR_FILENO) < 0)
		return err_errno(err, errno, "pipes");
	r = serve_conn_send(&j->conn, line, strlen(line), (int[]){ out[0], errors[0] }, 2);
	for (size_t i = 0; i < 2; i++) {
		close(out[i]);
		close(errors[i]);
	}
	return r < 0 ? err_errno(err, -r, "the client") : 0;
}

int serve_close_own(struct err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return err_errno(err, errno, "/dev/null");
	if (null > STDERR_FILENO) {
		close(null);
		return 0;
	}
	/* A server that was started without one of these three: the descriptor itself stays. */
	return fcntl(null, F_SETFD, 0) < 0 ? err_errno(err, errno, "/dev/null") : 0;
}

static int enter(struct job *j, struct serve_request *q, struct err *err)
{
	int r = q->n_fds ? place_descriptors(j, q, err) : make_output(j, err);

	if (r < 0)
		return r;
	if (q->cwd && chdir(q->cwd) < 0)
		return err_errno(err, errno, "entering '%s'", q->cwd);
	if (q->umask >= 0)
		umask((mode_t)q->umask);
	if (q->has_env) {
		strv_add(&j->arena, &q->env, "");
		q->env.v[--q->env.len] = NULL;
		environ = q->env.v;
	}
	return 0;
}

static int choose_settings(struct job *j, const struct serve_request *q, struct err *err)
{
	bool use = false;
	int r = 0;

	j->request.text = q->text;
	j->request.settings = q->settings ? q->settings : q->text ? NULL : j->options->settings;
	if (!q->text && !j->request.settings && !q->srt && j->options->choose)
		r = j->options->choose(q, &j->arena, &j->where, &use, err);
	if (use)
		j->request.claude = &j->where;
	return r;
}

static int take_request(struct job *j, struct err *err)
{
	struct serve_request *q = arena_alloc(&j->arena, sizeof(*q));
	char *line;
	size_t len;
	int r;

	line = serve_conn_wait(&j->conn, &len, in_seconds(PATIENCE_SECONDS), err);
	if (!line && !err->code)
		_exit(0); /* it has changed its mind */
	r = line ? serve_request_parse(&j->arena, line, len, j->conn.n_fds, q, err) : -err->code;
	if (r == 0)
		r = enter(j, q, err);
	if (r < 0)
		return r;
	j->detail = q->detail;
	j->terminal = q->terminal;
	j->request.report = q->report;
	j->request.unseen_reads = q->unseen;
	j->request.debug = q->debug;
	exec_choose_argv(&j->arena, &(struct exec_line){ q->command, q->argv.v, q->srt, q->dashed },
			 &j->request);
	return choose_settings(j, q, err);
}

/* Commands of a sandbox's are held in it: nothing may be wider than what holds it. */
static int check_lent(const struct job *j, struct err *err)
{
	if (!j->options->lent || j->options->nested || !j->exec.plan.nested)
		return 0;
	err_set(err, EPERM, "allowNestedUserNamespaces: the sandbox around allows none");
	return err_hint(err, "start it with --allow-nested");
}

_Noreturn static void run(struct job *j)
{
	const struct exec_hooks hooks = {
		.on_warning = on_warning,
		.on_unlogged = on_warning,
		.on_weaker = on_weaker,
		.on_denied = on_denied,
		.on_debug = on_debug,
		.on_unused = on_debug,
		.take_terminal = j->terminal ? take_terminal : NULL,
		.on_line = on_line,
		.on_settings = on_settings,
		.on_loop = on_loop,
		.on_stopped = on_stopped,
		.ctx = j,
	};
	_cleanup_str_ struct str why = { 0 };
	struct err err = { 0 };
	int status = 0, r;

	j->request.spare = TAKE_PTR(j->spare);
	r = exec_prepare(&j->exec, &j->request, &hooks, &why, &err);
	if (r == 0)
		r = check_lent(j, &err);
	if (r == 0)
		r = exec_run(&j->exec, &status, &err);
	if (j->detail && j->exec.logged)
		say(j, SERVE_LOGGED, 0, j->exec.id, NULL);
	if (r == 0)
		finish(j, status);
	if (why.len && j->detail) {
		say(j, SERVE_ERROR, 1, why.s, NULL);
		finish(j, EXIT_USAGE);
	}
	if (why.len)
		err_usage(&err, "%s", srt_plain(why.s));
	fail(j, &err);
}

_Noreturn void serve_command(const struct serve_options *options, int fd,
			     struct engine_spare *spare)
{
	static struct job job = { .conn = SERVE_CONN_NONE };
	const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	struct err err = { 0 };

	job.options = options;
	job.request.control_fd = -1;
	job.request.server = options->path;
	job.request.served = true;
	job.request.asks = options->held ? options->owner : 0;
	job.request.asks_reads = options->reads;
	job.spare = spare;
	job.conn.fd = fcntl(fd, F_DUPFD_CLOEXEC, SERVE_FD_TOP);
	close(fd);
	if (job.conn.fd < 0)
		_exit(1);
	if (!(options->lent ? control_may_ask_lent : control_may_ask)(job.conn.fd))
		fail(&job, (err_set(&err, EPERM,
				    "only processes of the same user, in no sandbox, may ask"),
			    &err));
	/* A line that comes with a descriptor is not kept for later. */
	setsockopt(job.conn.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (take_request(&job, &err) < 0)
		fail(&job, &err);
	run(&job);
}
