/* SPDX-License-Identifier: MIT */
/*
 * The library's server of commands: a child of the caller's with what it needs loaded, which has the
 * processes ready that each command takes (api/serve.h). The caller talks to it as any other program
 * does, over a socket without a name in the file system. It ends when the caller's end of a pipe is
 * closed, so also when the caller is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "api/api.h"
#include "api/serve.h"
#include "api/serve_conn.h"
#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/socket.h"

struct wrapix_server {
	pid_t pid;
	pid_t starter; /* who made its socket, and by whom it is known */
	int owner;     /* its end is the server's */
	struct sockaddr_un at;
	socklen_t at_len;
};

_Noreturn static void child(int listener, int owner, const char *settings)
{
	struct serve_options options = { .listener = listener,
					 .owner = owner,
					 .settings = settings };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err err;

	/* Nothing of the caller's stays open here: somebody may wait for its end. */
	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			_exit(EXIT_WRAPIX);
	os_close_all_but(3, (int[]){ listener, owner }, 2);
	os_reset_signals();
	_exit(serve_run(&options, &err) < 0 ? EXIT_WRAPIX : 0);
}

/* The kernel chooses a name of its own; who may ask is looked at with every connection. */
static int listen_unnamed(struct wrapix_server *server, struct err *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	server->at.sun_family = AF_UNIX;
	server->at_len = sizeof(server->at);
	if (fd >= 0 &&
	    bind(fd, (const struct sockaddr *)&server->at, sizeof(server->at.sun_family)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&server->at, &server->at_len) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return take_fd(&fd);
	return err_errno(err, errno, "a socket for the server");
}

static int start(struct wrapix_server *server, const char *settings, struct err *err)
{
	_cleanup_close_ int listener = listen_unnamed(server, err);
	int owner[2];

	if (listener < 0)
		return listener;
	server->starter = getpid();
	if (pipe2(owner, O_CLOEXEC) < 0)
		return err_errno(err, errno, "starting a server");
	server->pid = fork();
	if (server->pid == 0) {
		close(owner[1]);
		child(listener, owner[0], settings);
	}
	close(owner[0]);
	server->owner = owner[1];
	return server->pid < 0 ? err_errno(err, errno, "starting a server") : 0;
}

static struct wrapix_server *server_new(void)
{
	struct wrapix_server *server = calloc(1, sizeof(*server));

	if (server)
		server->owner = -1;
	return server;
}

int wrapix_server_start(const char *settings, struct wrapix_server **ret,
			struct wrapix_error *error)
{
	struct wrapix_server *server = server_new();
	struct arena arena = { 0 };
	struct err err;
	char *here = settings ? os_realpath(&arena, ".") : NULL, *path = NULL;
	int r;

	if (here) /* by its name: the links that it goes through are kept, too */
		path = path_at(&arena, here, settings);
	if (!server)
		r = err_errno(&err, ENOMEM, "starting a server");
	else if (settings && (!path || access(path, F_OK) < 0))
		r = err_usage(&err, "'%s': %s", settings, strerror(errno));
	else
		r = start(server, path, &err);
	arena_release(&arena);
	if (r == 0) {
		*ret = server;
		return 0;
	}
	wrapix_server_stop(server);
	return api_fail(&err, error);
}

void wrapix_server_stop(struct wrapix_server *server)
{
	if (!server)
		return;
	close_ptr(&server->owner);
	(void)os_await(server->pid);
	free(server);
}

/* --- a command --- */

static int fill(struct arena *arena, const struct wrapix_command *command, struct serve_request *q,
		struct err *err)
{
	char *const *env = command->env ? (char *const *)command->env : environ;

	*q = (struct serve_request){
		.command = command->line,
		.cwd = command->dir,
		.has_env = true,
		.settings = command->settings,
		.text = command->settings_json,
		.control = -1,
		.umask = -1, /* the server's, which it has of us: to ask for ours is to change it */
		.fds = { 0, 1, 2 },
		.n_fds = 3,
	};
	for (const char *const *word = command->argv; word && *word; word++)
		strv_add(arena, &q->argv, *word);
	for (; env && *env; env++)
		if (strchr(*env, '=') > *env)
			strv_add(arena, &q->env, *env);
	if (!q->cwd)
		q->cwd = os_realpath(arena, ".");
	return q->cwd ? 0 : err_errno(err, errno, "the working directory");
}

/* When the server was killed anybody may have its name, and would have the environment and the descriptors. */
static int check_server(const struct wrapix_server *server, int fd, struct err *err)
{
	uid_t uid;
	pid_t pid;

	if (os_peer(fd, &uid, &pid) && uid == geteuid() && pid == server->starter)
		return 0;
	return err_set(err, EPIPE, "the server has ended, and somebody else has its name");
}

static int ask(const struct wrapix_server *server, struct serve_conn *conn,
	       const struct wrapix_command *command, struct err *err)
{
	static const int own[] = { 0, 1, 2 };
	_cleanup_str_ struct str line = { 0 };
	struct arena arena = { 0 };
	struct serve_request request;
	int r = fill(&arena, command, &request, err);

	if (r == 0)
		serve_request_add(&line, &request);
	arena_release(&arena);
	if (r < 0)
		return r;
	if (line.len > SERVE_LINE_MAX)
		return err_usage(err, "the command and its environment are too long");
	conn->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (conn->fd < 0 ||
	    connect(conn->fd, (const struct sockaddr *)&server->at, server->at_len) < 0)
		return err_errno(err, errno, "asking the server");
	if (check_server(server, conn->fd, err) < 0)
		return -err->code;
	r = serve_conn_send(conn, line.s, line.len, command->fds ? command->fds : own, 3);
	return r < 0 ? err_errno(err, -r, "asking the server") : 0;
}

/* 1: the exit status; 0: there is more to come. */
static int hear(const struct serve_line *line, const char *text, wrapix_event_fn *fn, void *ctx,
		struct err *err)
{
	static const enum wrapix_event_type types[] = {
		[SERVE_WARNING] = WRAPIX_WARNING,
		[SERVE_DENY] = WRAPIX_VIOLATION,
		[SERVE_STOPPED] = WRAPIX_STOPPED,
		[SERVE_EXIT] = WRAPIX_EXITED,
		[SERVE_OTHER] = 0,
	};

	if (line->kind == SERVE_ERROR) {
		err_set(err, ECANCELED, "%s", line->text ? line->text : "the server refused");
		if (line->hint)
			err_hint(err, "%s", line->hint);
	} else if (fn && types[line->kind] && !err->code) {
		fn(ctx, &(struct wrapix_event){ types[line->kind], line->number,
						line->kind == SERVE_DENY ? text : line->text });
	}
	return line->kind == SERVE_EXIT;
}

/* To the last line; ret_status is its status in any case. */
static int listen_to(struct serve_conn *conn, wrapix_event_fn *fn, void *ctx, int *ret_status,
		     struct err *err)
{
	struct err refused = { 0 };

	for (int done = 0; !done;) {
		struct arena arena = { 0 };
		struct serve_line line = { 0 };
		size_t len;
		char *text = serve_conn_wait(conn, &len, -1, err);

		if (!text)
			return err->code ? -err->code
					 : err_set(err, EPIPE, "the server ended the command");
		if (serve_line_parse(&arena, text, len, &line, err) < 0)
			done = -err->code;
		else
			done = hear(&line, text, fn, ctx, &refused);
		*ret_status = line.number;
		arena_release(&arena);
		if (done < 0)
			return done;
	}
	if (!refused.code)
		return 0;
	*err = refused;
	err->exit = *ret_status;
	return -err->code;
}

int wrapix_server_exec(struct wrapix_server *server, const struct wrapix_command *command,
		       wrapix_event_fn *on_event, void *ctx, int *ret_status,
		       struct wrapix_error *error)
{
	struct serve_conn conn = SERVE_CONN_NONE;
	struct err err = { 0 };
	int status = 0, r = ask(server, &conn, command, &err);

	if (r == 0)
		r = listen_to(&conn, on_event, ctx, &status, &err);
	serve_conn_close(&conn);
	if (r < 0)
		return api_fail(&err, error);
	*ret_status = status;
	return 0;
}
