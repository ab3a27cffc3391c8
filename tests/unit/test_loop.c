/* SPDX-License-Identifier: MIT */
/* The loop: the one source that is waited for without epoll has its turns, and so have the others. */
#include <fcntl.h>
#include <unistd.h>

#include "os/loop.h"
#include "lib/tap.h"

struct guest {
	struct loop *loop;
	struct loop_source source;
	int calls;
	uint32_t last;
};

static char order[16];
static size_t n_order;

/* Its pipe is never emptied: it is ready all the time. */
static int on_event(struct loop_source *source, uint32_t events, struct err *err)
{
	struct guest *guest = container_of(source, struct guest, source);

	(void)err;
	guest->calls++;
	guest->last = events;
	order[n_order++] = guest->loop->direct == source ? 'd' : 'e';
	if (n_order == 8 || (events & LOOP_HUP))
		guest->loop->done = true;
	return 0;
}

int main(void)
{
	struct guest direct = { 0 }, other = { 0 };
	int a[2], b[2];
	struct loop loop;
	struct err err;

	if (pipe2(a, O_CLOEXEC) < 0 || pipe2(b, O_CLOEXEC) < 0 || write(a[1], "x", 1) != 1 ||
	    write(b[1], "x", 1) != 1 || loop_init(&loop, &err) < 0)
		return 1;
	direct = (struct guest){ .loop = &loop, .source = { a[0], on_event } };
	other = (struct guest){ .loop = &loop, .source = { b[0], on_event } };
	loop_add_direct(&loop, &direct.source);
	is_int(loop_add(&loop, &other.source, LOOP_IN, &err), 0, "a source");
	is_int(loop_run(&loop, -1, &err), 0, "both are ready all the time");
	is_str(order, "dededede", "nobody is starved");
	is_int((long)direct.last, LOOP_IN, "the direct one is told what epoll would say");

	n_order = 0;
	loop.done = false;
	loop_remove(&loop, &direct.source);
	is_int(loop_run(&loop, -1, &err), 0, "the direct one is gone");
	is_str(order, "eeeeeeee", "the other one goes on");

	loop.done = false;
	loop_remove(&loop, &other.source);
	is_int(loop_run(&loop, 1, &err), 1, "a timeout without any");
	n_order = 0;
	loop_add_direct(&loop, &direct.source);
	close(a[1]);
	if (read(a[0], order, 1) != 1)
		return 1;
	is_int(loop_run(&loop, 1000, &err), 0, "the other end is gone");
	is_int((long)direct.last, LOOP_HUP, "and that is told");
	loop_remove(&loop, &direct.source);
	loop_add_direct(&loop, &direct.source);
	loop_remove(&loop, &direct.source);
	loop_release(&loop);
	return done();
}
