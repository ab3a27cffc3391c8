/* SPDX-License-Identifier: MIT */
/*
 * wrapix exec inside of wrapix run. The outer sandbox's supervisor lends a process that runs the command
 * (engine/native/lend.h); here is what the user and his shell see of it: the terminal's bytes, signals
 * and stops, and everything that is said. When we end, so does the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "api/exec.h"
#include "api/serve_conn.h"
#include "cli/exec_say.h"
#include "engine/sandbox.h"
#include "engine/terminal.h"
#include "os/fs.h"
#include "os/signals.h"

struct visit {
	struct speaker *s;
	struct loop loop;
	struct serve_conn conn;
	struct loop_source source, signals;
	struct terminal terminal;
	bool has_terminal;
	bool ended; /* there is a status */
	int status;
	struct err refused;  /* why there is no command; code 0: there was one */
	struct str settings; /* what is wrong with the settings */
	struct str change;   /* that would allow what was refused last */
};

/* --- to the lent process --- */

static void send_signal(struct visit *v, int signal_no)
{
	char line[32];
	int len = snprintf(line, sizeof(line), "{\"signal\":%d}\n", signal_no);

	/* Where it fails the other side is gone, which the loop notices. */
	(void)serve_conn_send(&v->conn, line, (size_t)len, NULL, 0);
}

static void suspend(struct visit *v)
{
	if (v->has_terminal)
		terminal_suspend(&v->terminal);
	raise(SIGSTOP);
	if (v->has_terminal)
		terminal_resume(&v->terminal);
	send_signal(v, SIGCONT);
}

static int on_signal(struct loop_source *source, uint32_t events, struct err *err)
{
	struct visit *v = container_of(source, struct visit, signals);
	int signal_no = os_signals_next(source->fd);

	(void)events;
	(void)err;
	if (!signal_no)
		return 0;
	switch (signal_no) {
	case SIGWINCH:
		if (v->has_terminal)
			terminal_resize(&v->terminal);
		break;
	case SIGCONT:
		if (v->has_terminal)
			terminal_resume(&v->terminal);
		break;
	case SIGTTIN:
	case SIGTTOU:
		break;
	default:
		send_signal(v, signal_no);
	}
	return 0;
}

/* --- from it --- */

static void take_denied(struct visit *v, const struct serve_line *line)
{
	bool again;

	if (!line->line)
		return;
	if (line->text) { /* else it is as the last time */
		v->change.len = 0;
		str_add(&v->change, line->hint ? line->hint : "");
	}
	if (!speaker_counts(v->s, line->line, &again))
		speaker_denied(v->s, again, line->line, line->text ? line->text : line->line,
			       v->change.len ? v->change.s : NULL);
}

static int take_terminal(struct visit *v, struct err *err)
{
	const bool tty[3] = { isatty(0), isatty(1), isatty(2) };

	if (v->has_terminal || v->conn.n_fds != 1)
		return err_set(err, EPROTO, "the terminal did not come");
	v->conn.n_fds = 0;
	v->has_terminal = true;
	return terminal_start(&v->terminal, &v->loop, v->conn.fds[0], tty, err);
}

static void take_error(struct visit *v, const struct serve_line *line)
{
	const char *text = line->text ? line->text : "the command was refused";

	if (line->number)
		str_add(&v->settings, text);
	err_set(&v->refused, ECANCELED, "%s", text);
	if (line->hint)
		err_hint(&v->refused, "%s", line->hint);
}

static int take_line(struct visit *v, const struct serve_line *line, const char *text,
		     struct err *err)
{
	const char *said = line->text ? line->text : "";

	switch (line->kind) {
	case SERVE_WARNING:
		speaker_warning(v->s, said);
		break;
	case SERVE_WEAKER:
		speaker_weaker(v->s, said);
		break;
	case SERVE_DEBUG:
		speaker_debug(v->s, said);
		break;
	case SERVE_DENY:
		speaker_event(v->s, text);
		break;
	case SERVE_DENIED:
		take_denied(v, line);
		break;
	case SERVE_LOGGED:
		snprintf(v->s->denials.log, sizeof(v->s->denials.log), "%s", said);
		break;
	case SERVE_SETTINGS:
		speaker_settings(v->s, line->number, line->text);
		break;
	case SERVE_TERMINAL:
		return take_terminal(v, err);
	case SERVE_STOPPED:
		suspend(v);
		break;
	case SERVE_ERROR:
		take_error(v, line);
		break;
	case SERVE_EXIT:
		v->status = line->number;
		v->ended = v->loop.done = true;
		break;
	case SERVE_OUTPUT:
	case SERVE_OTHER:
		break;
	}
	return 0;
}

static int on_conn(struct loop_source *source, uint32_t events, struct err *err)
{
	struct visit *v = container_of(source, struct visit, source);
	int r = serve_conn_fill(&v->conn, MSG_DONTWAIT);
	char *text;
	size_t len;

	(void)events;
	while (r > 0 && !v->ended && (text = serve_conn_line(&v->conn, &len))) {
		struct arena arena = { 0 };
		struct serve_line line;
		int code = serve_line_parse(&arena, text, len, &line, err);

		if (code == 0)
			code = take_line(v, &line, text, err);
		arena_release(&arena);
		if (code < 0)
			return code;
	}
	if (r > 0 || r == -EAGAIN || v->ended)
		return 0;
	return err_set(err, EPIPE, "the outer sandbox ended the command");
}

/* --- the request --- */

static int fill(struct arena *arena, const struct speaker *s, const struct exec_request *request,
		struct serve_request *q, struct err *err)
{
	const struct exec_args *args = s->args;
	mode_t mask = umask(0);

	umask(mask);
	*q = (struct serve_request){
		.command = args->string && *args->string ? args->string : NULL,
		.cwd = os_realpath(arena, "."),
		.has_env = true,
		.settings = args->settings,
		.umask = (int)mask,
		.srt = args->srt,
		.dashed = args->dashed,
		.fds = { 0, 1, 2 },
		.n_fds = 3,
		.terminal = isatty(0) || isatty(1) || isatty(2),
		.control = args->control_fd,
		.from = args->from,
		.project = args->project,
		.report = request->report,
		.unseen = request->unseen_reads,
		.debug = s->debug,
		.detail = true,
	};
	for (char **word = q->command ? NULL : args->words; word && *word; word++)
		strv_add(arena, &q->argv, *word);
	for (char **entry = environ; entry && *entry; entry++)
		if (strchr(*entry, '=') > *entry)
			strv_add(arena, &q->env, *entry);
	for (size_t i = 0; i < args->n_pass_fds; i++)
		q->fds[q->n_fds++] = args->pass_fds[i];
	if (args->control_fd >= 0)
		q->fds[q->n_fds++] = args->control_fd;
	for (size_t i = 3; i < q->n_fds; i++)
		if (q->fds[i] >= SERVE_FD_TOP)
			return err_usage(err,
					 "descriptor %d: inside of a sandbox only those below "
					 "%d can be passed",
					 q->fds[i], SERVE_FD_TOP);
	return q->cwd ? 0 : err_errno(err, errno, "the working directory");
}

static int ask(struct visit *v, const struct exec_request *request, struct err *err)
{
	_cleanup_str_ struct str line = { 0 };
	struct arena arena = { 0 };
	struct serve_request q;
	int r = fill(&arena, v->s, request, &q, err);

	if (r == 0)
		serve_request_add(&line, &q);
	arena_release(&arena);
	if (r == 0 && line.len > SERVE_LINE_MAX)
		return err_usage(err, "the command and its environment are too long");
	if (r == 0)
		r = serve_conn_send(&v->conn, line.s, line.len, q.fds, q.n_fds);
	if (r == -EPIPE)
		return 0; /* it has answered before it had heard us */
	return r < 0 && !err->code ? err_errno(err, -r, "asking the outer sandbox") : r;
}

/* --- all of it --- */

/* Outside there is no such socket; for a command that runs in this way already it is out of reach. */
int exec_knock(void)
{
	const struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = EXEC_DOOR_INSIDE };
	_cleanup_close_ int fd = -1;

	if (getenv("SANDBOX_RUNTIME") || access(at.sun_path, F_OK) < 0)
		return -ENOENT;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	return take_fd(&fd);
}

static int watch(struct visit *v, struct err *err)
{
	sigset_t set;
	int r = loop_init(&v->loop, err);

	supervised_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	v->source = (struct loop_source){ .fd = v->conn.fd, .on_event = on_conn };
	v->signals = (struct loop_source){
		.fd = os_signals_open(&set),
		.on_event = on_signal,
	};
	if (r == 0 && v->signals.fd < 0)
		return err_errno(err, errno, "watching signals");
	if (r == 0)
		r = loop_add(&v->loop, &v->source, LOOP_IN, err);
	return r == 0 ? loop_add(&v->loop, &v->signals, LOOP_IN, err) : r;
}

static int tell(struct visit *v, struct err *err)
{
	if (v->settings.len)
		return speaker_fail_settings(v->s, v->settings.s);
	if (!v->refused.code && v->ended)
		return v->status;
	if (v->refused.code && v->ended)
		v->refused.exit = v->status;
	return speaker_fail(v->s, v->refused.code ? &v->refused : err);
}

int exec_inside(struct speaker *s, const struct exec_request *request, int door)
{
	static struct visit v = { .conn = SERVE_CONN_NONE, .loop.fd = -1, .signals.fd = -1 };
	struct err err = { 0 };
	int status, r;

	v.s = s;
	v.conn.fd = door;
	signal(SIGPIPE, SIG_IGN);
	r = watch(&v, &err);
	if (r == 0)
		r = ask(&v, request, &err);
	if (r == 0)
		(void)loop_run(&v.loop, -1, &err); /* 'ended' says whether it was to the end */
	if (v.has_terminal)
		terminal_stop(&v.terminal);
	status = tell(&v, &err);
	if (v.signals.fd >= 0)
		close(v.signals.fd);
	loop_release(&v.loop);
	serve_conn_close(&v.conn);
	str_release(&v.settings);
	str_release(&v.change);
	return status;
}
