/* SPDX-License-Identifier: MIT */
/*
 * Attaching pasta (or slirp4netns) on the first network socket, from inside the supervisor's loop.
 *
 * They take their target by pid and must be able to look at it. PID 1 of the sandbox cannot be
 * looked at, and no other process inside is ours to rely on: so a keeper, a child of the supervisor
 * that joins the sandbox's user and network namespaces and waits, lends its pid until they hold
 * the namespaces themselves. It is in none of the sandbox's other namespaces: nothing inside sees it.
 *
 * When none of them succeeds (a laptop without any network, say), who asks is refused, and it is tried
 * again for whoever asks later. So it is when the one that was attached ends (the kernel was short of memory
 * and chose it, say): its interface went with it, and the next socket attaches another.
 */
#include "net/lazy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/path.h"
#include "os/linux/kernel.h"
#include "os/proc.h"
#include "os/start.h"
#include "os/ticker.h"

#define WAITING_MAX 4096
#define RETRY_SECONDS 2

static int join_namespaces(int netns)
{
	_cleanup_close_ int userns = ioctl(netns, NS_GET_USERNS);

	if (userns < 0 || setns(userns, CLONE_NEWUSER) < 0 || setns(netns, CLONE_NEWNET) < 0)
		return -errno;
	return 0;
}

/* Forks the keeper and waits until it has joined. */
static int start_keeper(struct lazy_net *net, struct err *err)
{
	pid_t parent = getpid();
	int fds[2], code = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return os_err_start(err, errno, "what keeps the network");
	net->keeper = fork();
	if (net->keeper == 0) {
		os_die_with_parent(SIGKILL);
		code = getppid() == parent ? join_namespaces(net->netns) : -ESRCH;
		if (code == 0)
			uplink_prepare();
		os_set_dumpable(1); /* its /proc/PID/ns is opened */
		/* One that did not join is of no use, and nobody may be left to end it. */
		if (write(fds[1], &code, sizeof(code)) < 0 || code < 0)
			_exit(1);
		os_close_all_but(0, NULL, 0);
		for (;;)
			pause();
	}
	close(fds[1]);
	if (net->keeper < 0 || read(fds[0], &code, sizeof(code)) != sizeof(code))
		code = -errno;
	close(fds[0]);
	return code < 0 ? err_errno(err, -code, "joining the sandbox's network namespace") : 0;
}

static void stop_keeper(struct lazy_net *net)
{
	if (net->keeper <= 0)
		return;
	kill(net->keeper, SIGKILL);
	(void)os_await(net->keeper);
	net->keeper = 0;
}

static void unwatch(struct lazy_net *net)
{
	loop_remove(net->loop, &net->ready);
	loop_remove(net->loop, &net->dead);
	net->ready.fd = net->dead.fd = -1;
}

static void settle(struct lazy_net *net, bool up)
{
	net->state = up ? LAZY_UP : LAZY_DOWN;
	net->retry = os_seconds() + RETRY_SECONDS;
	for (size_t i = 0; i < net->n_waiting; i++)
		net->hooks.answer(net->hooks.ctx, net->waiting[i], up);
	free(net->waiting);
	net->waiting = NULL;
	net->n_waiting = 0;
}

static int begin(struct lazy_net *net, struct err *err);

static void tell_failure(struct lazy_net *net, const struct err *err)
{
	struct err told = *err;

	if (net->at + 1 < net->n_argvs)
		err_set(&told, err->code,
			"%s; trying %s, through which services of this host that listen on all "
			"its addresses can be reached",
			err->msg, path_name(net->argvs[net->at + 1].v[0]));
	if (!(net->told & 1u << net->at))
		net->hooks.failed(net->hooks.ctx, &told);
	net->told |= 1u << net->at;
}

static void give_up(struct lazy_net *net)
{
	unwatch(net);
	stop_keeper(net);
	uplink_stop(&net->uplink);
	settle(net, false);
}

/* It was attached and has ended. One that ends at once, again and again, is started no oftener than one that fails. */
static int on_lost(struct lazy_net *net)
{
	struct err err;

	uplink_explain_end(&net->uplink, &err);
	err_hint(
		&err,
		"connections that it carried are lost; the next socket attaches the network again");
	if (!net->told_lost)
		net->hooks.failed(net->hooks.ctx, &err);
	net->told_lost = true;
	unwatch(net);
	uplink_stop(&net->uplink);
	net->state = LAZY_DOWN;
	return 0;
}

/* The program is ready, or has ended. */
static int on_uplink(struct lazy_net *net)
{
	struct err err;

	if (net->state == LAZY_UP)
		return on_lost(net);
	loop_remove(net->loop, &net->ready);
	net->ready.fd = -1;
	if (uplink_finish(&net->uplink, &err) == 0) {
		stop_keeper(net);
		settle(net, true);
		return 0;
	}
	unwatch(net);
	tell_failure(net, &err);
	net->at++;
	if (net->at < net->n_argvs && begin(net, &err) == 0)
		return 0;
	if (net->at < net->n_argvs)
		tell_failure(net, &err);
	give_up(net);
	return 0;
}

static int on_ready(struct loop_source *source, uint32_t events, struct err *err)
{
	(void)events;
	(void)err;
	return on_uplink(container_of(source, struct lazy_net, ready));
}

static int on_dead(struct loop_source *source, uint32_t events, struct err *err)
{
	(void)events;
	(void)err;
	return on_uplink(container_of(source, struct lazy_net, dead));
}

static int begin(struct lazy_net *net, struct err *err)
{
	int r = net->keeper > 0 ? 0 : start_keeper(net, err);

	if (r == 0)
		r = uplink_begin(&net->uplink, &net->argvs[net->at], net->keeper, err);
	if (r < 0)
		return r;
	net->ready = (struct loop_source){ .fd = net->uplink.ready, .on_event = on_ready };
	net->dead = (struct loop_source){ .fd = net->uplink.pidfd, .on_event = on_dead };
	r = loop_add(net->loop, &net->ready, LOOP_IN, err);
	return r == 0 ? loop_add(net->loop, &net->dead, LOOP_IN, err) : r;
}

void lazy_net_start(struct lazy_net *net, struct loop *loop, const struct strv *argvs, size_t n,
		    int netns, const struct lazy_net_hooks *hooks)
{
	*net = (struct lazy_net){
		.loop = loop,
		.argvs = argvs,
		.n_argvs = n,
		.netns = netns,
		.hooks = *hooks,
		.ready.fd = -1,
		.dead.fd = -1,
	};
}

static enum lazy_answer enqueue(struct lazy_net *net, uint64_t id)
{
	size_t n = net->n_waiting;

	if (n >= WAITING_MAX)
		return LAZY_REFUSE;
	if ((n & (n - 1)) == 0) {
		uint64_t *bigger = realloc(net->waiting, (n ? 2 * n : 1) * sizeof(*bigger));

		if (!bigger)
			return LAZY_REFUSE;
		net->waiting = bigger;
	}
	net->waiting[net->n_waiting++] = id;
	return LAZY_WAIT;
}

enum lazy_answer lazy_net_ask(struct lazy_net *net, uint64_t id)
{
	struct err err;

	if (net->state == LAZY_UP)
		return LAZY_GO_ON;
	if (net->state == LAZY_DOWN && os_seconds() < net->retry)
		return LAZY_REFUSE;
	if (net->state != LAZY_ATTACHING) {
		net->at = 0;
		if (begin(net, &err) < 0) {
			tell_failure(net, &err);
			give_up(net);
			return LAZY_REFUSE;
		}
		net->state = LAZY_ATTACHING;
	}
	return enqueue(net, id);
}

void lazy_net_stop(struct lazy_net *net)
{
	unwatch(net);
	stop_keeper(net);
	uplink_stop(&net->uplink);
	free(net->waiting);
	if (net->netns >= 0)
		close(net->netns);
	*net = (struct lazy_net){ .netns = -1, .ready.fd = -1, .dead.fd = -1 };
}
