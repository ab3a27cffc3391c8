/* SPDX-License-Identifier: MIT */
/* The socket: takes a question, answers it, closes. */
#include "ralph/door.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ralph/wire.h"

static void drop(struct door_conn *conn)
{
	loop_remove(conn->door->loop, &conn->source);
	close_ptr(&conn->source.fd);
	conn->source.fd = -1;
	str_release(&conn->question);
}

/* A client that does not read its answer does not get it: we wait for nobody. */
static void answer(struct door_conn *conn)
{
	_cleanup_str_ struct str text = { 0 }, whole = { 0 };
	int status = door_answer(conn->door, conn->question.s ? conn->question.s : "",
				 conn->question.len, &text);
	int room = WIRE_MAX * 2;

	str_addf(&whole, "%d\n", status);
	str_addn(&whole, text.s ? text.s : "", text.len);
	setsockopt(conn->source.fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	(void)send(conn->source.fd, whole.s, whole.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	drop(conn);
}

static int on_question(struct loop_source *source, _unused_ uint32_t events,
		       _unused_ struct err *err)
{
	struct door_conn *conn = container_of(source, struct door_conn, source);
	char buf[16384];
	ssize_t n = recv(source->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 || conn->question.len + (size_t)MAX(n, 0) > WIRE_MAX)
		drop(conn);
	else if (n == 0)
		answer(conn);
	else
		str_addn(&conn->question, buf, (size_t)n);
	return 0;
}

static void on_call(struct listener *listener, int fd)
{
	struct door *door = container_of(listener, struct door, listener);
	struct err ignored; /* the client hears nothing, and says so */

	for (size_t i = 0; fd >= 0 && i < DOOR_CONNS; i++) {
		struct door_conn *conn = &door->conns[i];

		if (conn->source.fd >= 0)
			continue;
		*conn = (struct door_conn){ .door = door,
					    .source = { .fd = fd, .on_event = on_question } };
		fd = -1;
		if (loop_add(door->loop, &conn->source, LOOP_IN, &ignored) < 0)
			drop(conn);
	}
	close_ptr(&fd);
}

int door_open(struct door *door, struct loop *loop, const char *dir, struct err *err)
{
	_cleanup_close_ int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	door->loop = loop;
	for (size_t i = 0; i < DOOR_CONNS; i++)
		door->conns[i].source.fd = -1;
	door->listener = (struct listener)LISTENER(fd, on_call);
	/* The state directory's own path may be longer than a socket's address. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/door", dir_fd);
	unlinkat(dir_fd, "door", 0);
	if (dir_fd < 0 || fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, DOOR_CONNS) < 0) {
		err_errno(err, errno, "listening in '%s'", dir);
		close_ptr(&fd);
		door->listener.source.fd = -1;
		return -err->code;
	}
	return listener_start(&door->listener, loop, err);
}

void door_close(struct door *door)
{
	if (!door->loop)
		return;
	for (size_t i = 0; i < DOOR_CONNS; i++)
		if (door->conns[i].source.fd >= 0)
			drop(&door->conns[i]);
	listener_stop(&door->listener);
	close_ptr(&door->listener.source.fd);
	door->loop = NULL;
}
