/* SPDX-License-Identifier: MIT */
/*
 * The session's door.
 *
 * The directory is the user's alone (0700), so the kernel keeps others out; who comes through is
 * asked again, because a directory's mode can be changed. Nothing here waits for a client: a reply
 * that does not fit into the socket ends the connection, and so does a newcomer when all places are
 * taken: the oldest has to go, after it was heard.
 *
 * What an attacker controls: nothing, unless he is the same user; then the bytes of requests.
 */
#include "session/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "os/fs.h"
#include "os/proc.h"
#include "os/socket.h"
#include "session/request.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define PATIENCE_SECONDS 10
#define REPLY_MAX 16384
#define BACKLOG 16
#define DOOR_STEPS 500 /* of 10 ms */
#define OPEN_STEPS 100 /* from its name to its being open */

/* By way of the descriptor: the real path may be longer than a socket's may be. */
static struct sockaddr_un address_in(int dir_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/control", dir_fd);
	return address;
}

int control_listen(int dir_fd, struct err *err)
{
	const struct sockaddr_un address = address_in(dir_fd);
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchmodat(dir_fd, "control", CONTROL_MODE, 0) < 0 || listen(fd, BACKLOG) < 0)
		return err_errno(err, errno, "the session's control socket");
	return take_fd(&fd);
}

/* --- the server --- */

/* "NSpid:\t42\n" has a number for each pid namespace below ours that the process is in. Every sandbox
 * has one of its own. Anybody's may be read, also a supervisor's, which nobody may trace. */
static bool in_our_namespace(pid_t pid)
{
	_cleanup_free_ char *status = NULL;
	const char *line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (os_read_file_at(AT_FDCWD, path, 65536, &status, NULL) < 0)
		return false;
	line = strstr(status, "\nNSpid:\t");
	if (!line)
		return false;
	line += strlen("\nNSpid:\t");
	return line[strspn(line, "0123456789")] == '\n';
}

/* The pid cannot have become another process's while it is looked at, where the kernel gives the peer
 * itself (6.5). */
static bool is_outside(int fd, pid_t pid)
{
	_cleanup_close_ int pidfd = -1;
	socklen_t len = sizeof(pidfd);

	if (pid <= 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) < 0)
		pidfd = os_pidfd_open(pid);
	return pidfd >= 0 && in_our_namespace(pid) &&
	       poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, 0) == 0;
}

bool control_may_ask(int fd)
{
	uid_t uid;
	pid_t pid;

	return os_peer(fd, &uid, &pid) && uid == geteuid() && is_outside(fd, pid);
}

bool control_may_ask_lent(int fd)
{
	uid_t uid;
	pid_t pid;

	return os_peer(fd, &uid, &pid) && uid == geteuid() && pid == 0;
}

static bool answer(int fd, const struct str *reply)
{
	return send(fd, reply->s, reply->len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)reply->len;
}

/* The last word on a connection. What the client has sent is taken away first: an end with unread
 * bytes would be a reset, and take our word with it. */
static void answer_error(int fd, const char *text)
{
	_cleanup_str_ struct str reply = { 0 };
	struct err err;
	char byte;

	shutdown(fd, SHUT_RD);
	while (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT) > 0)
		;
	err_set(&err, EPROTO, "%s", text);
	reply_add(&reply, &err);
	(void)answer(fd, &reply); /* the connection ends in any case */
}

static void drop(struct control_client *client)
{
	if (client->source.fd < 0)
		return;
	loop_remove(client->server->loop, &client->source);
	close(take_fd(&client->source.fd));
}

/* Hears one request, if there is one; false: the connection is of no more use. */
static bool serve(struct control_client *client)
{
	const struct control_server *server = client->server;
	_cleanup_free_ char *request = malloc(CONTROL_MAX + 1);
	_cleanup_str_ struct str reply = { 0 };
	int fd = client->source.fd;
	ssize_t n;

	if (!request)
		return false;
	n = recv(fd, request, CONTROL_MAX, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	if (n > CONTROL_MAX) {
		answer_error(fd, "the request is too long");
		return false;
	}
	request[n] = '\0';
	server->fn(server->ctx, request, (size_t)n, &reply);
	return answer(fd, &reply);
}

static int on_client(struct loop_source *source, uint32_t events, struct err *err)
{
	struct control_client *client = container_of(source, struct control_client, source);

	(void)events;
	(void)err;
	if (!serve(client))
		drop(client);
	return 0;
}

static void admit(struct control_server *server, int fd)
{
	struct control_client *client = &server->clients[server->next];
	struct err ignored; /* without memory there is no conversation */

	server->next = (server->next + 1) % CONTROL_CLIENTS;
	if (client->source.fd >= 0)
		(void)serve(client); /* it may have said something just now */
	drop(client);
	client->source = (struct loop_source){ .fd = fd, .on_event = on_client };
	if (loop_add(server->loop, &client->source, LOOP_IN, &ignored) < 0)
		close(take_fd(&client->source.fd));
}

static void on_connection(struct listener *listener, int fd)
{
	if (control_may_ask(fd)) {
		admit(container_of(listener, struct control_server, listener), fd);
		return;
	}
	answer_error(fd, "only the user's own processes outside of sandboxes may ask");
	close(fd);
}

int control_server_start(struct control_server *server, struct loop *loop, int listener,
			 control_fn *fn, void *ctx, struct err *err)
{
	int r;

	*server = (struct control_server){
		.loop = loop,
		.listener = LISTENER(listener, on_connection),
		.fn = fn,
		.ctx = ctx,
	};
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		server->clients[i] = (struct control_client){ .server = server,
							      .source = { .fd = -1 } };
	r = listener_start(&server->listener, loop, err);
	if (r < 0)
		control_server_stop(server);
	return r;
}

void control_server_stop(struct control_server *server)
{
	if (!server->loop)
		return;
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		drop(&server->clients[i]);
	listener_stop(&server->listener);
	close(server->listener.source.fd);
	*server = (struct control_server){ .loop = NULL };
}

/* --- the client --- */

static int explain(int code, struct err *err)
{
	switch (code) {
	case EAGAIN:
		err_set(err, ETIMEDOUT, "the session does not answer");
		return err_hint(err, "is it stopped? 'fg' in its terminal lets it go on");
	case ENOENT:
	case ECONNREFUSED:
	case ECONNRESET:
	case EPIPE:
		return err_set(err, code, "the session has ended");
	case EMSGSIZE:
		return err_usage(err, "too many rules at once");
	default:
		return err_errno(err, code, "talking to the session");
	}
}

/* The door of a session that has just begun opens within a second: it would cost a short command more
 * than it is worth. For a moment it is there and not open, as that of a killed one is for ever. */
static int connect_to(int fd, int dir_fd)
{
	const struct sockaddr_un address = address_in(dir_fd);
	const struct timespec step = { .tv_nsec = 10000000 };
	int refused = 0;

	for (int i = 0; i < DOOR_STEPS; i++) {
		if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
			return 0;
		if (errno == ECONNREFUSED ? refused++ == OPEN_STEPS : errno != ENOENT)
			return -errno;
		if (faccessat(dir_fd, "meta", F_OK, 0) < 0)
			return -errno;
		nanosleep(&step, NULL);
	}
	return -ENOENT;
}

int control_call(int dir_fd, const struct str *request, struct str *reply, struct err *err)
{
	const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char buffer[REPLY_MAX];
	ssize_t n;
	int r;

	if (request->len > CONTROL_MAX)
		return explain(EMSGSIZE, err);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return explain(errno, err);
	r = connect_to(fd, dir_fd);
	if (r < 0)
		return explain(-r, err);
	/* A refusal may have been sent, and the door shut, before we have said a word: it is read
	 * all the same. */
	if (send(fd, request->s, request->len, MSG_NOSIGNAL) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		return explain(errno, err);
	n = recv(fd, buffer, sizeof(buffer), 0);
	if (n <= 0)
		return explain(n < 0 ? errno : EPIPE, err);
	str_addn(reply, buffer, (size_t)n);
	return 0;
}
