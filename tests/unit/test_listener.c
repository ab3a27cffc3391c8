/* SPDX-License-Identifier: MIT */
/* A listener without a descriptor for who waits at it does not keep the loop busy, and takes him in when there is one. */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/tap.h"
#include "os/listener.h"

static struct loop loop;
static int (*on_event)(struct loop_source *source, uint32_t events, struct err *err);
static int tries, taken;

static int count(struct loop_source *source, uint32_t events, struct err *err)
{
	tries++;
	return on_event(source, events, err);
}

static void on_connection(struct listener *listener, int fd)
{
	(void)listener;
	taken++;
	close(fd);
	loop.done = true;
}

/* The socket that listens, and one that has called there. */
static int call(int *ret_caller)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(at);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*ret_caller = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at.sun_family)) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0 ||
	    connect(*ret_caller, (struct sockaddr *)&at, len) < 0)
		return -1;
	return fd;
}

int main(void)
{
	int caller, fd = call(&caller);
	struct listener listener = LISTENER(fd, on_connection), never = LISTENER(-1, NULL);
	struct rlimit limit, none;
	struct err err;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 || loop_init(&loop, &err) < 0)
		return 1;
	is_int(listener_start(&listener, &loop, &err), 0, "a listener");
	on_event = listener.source.on_event;
	listener.source.on_event = count;
	none = (struct rlimit){ 0, limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return 1;
	is_int(loop_run(&loop, 50, &err), 1, "somebody calls, and there is no descriptor");
	ok(tries > 0 && tries < 10, "it rests");
	is_int(taken, 0, "nobody was taken in");
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	is_int(loop_run(&loop, -1, &err), 0, "there are descriptors again");
	is_int(taken, 1, "who waited is taken in");
	listener_stop(&listener);
	listener_stop(&never);
	loop.done = false;
	is_int(loop_run(&loop, 1, &err), 1, "stopped");
	close(caller);
	close(fd);
	loop_release(&loop);
	return done();
}
