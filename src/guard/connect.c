/* SPDX-License-Identifier: MIT */
/*
 * Connecting in the caller's place, without ever waiting for it.
 *
 * A socket that blocks is made non-blocking for the moment of the call alone. When the connection is
 * then under way, the caller stays in its call, the loop watches our duplicate, and a second connect
 * on it gives the very result (and leaves the socket in the very state) that the caller's own would
 * have. What else ends a waiting connect is looked for a few times a second: a signal that the
 * caller has a handler for, its SO_SNDTIMEO, its death; and a UNIX listener whose queue is full is
 * tried again.
 */
#include "guard/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/time.h>

#include "guard/caller.h"
#include "guard/connect_priv.h"
#include "guard/datagram.h"
#include "net/nsconf.h"
#include "os/fs.h"
#include "os/linux/brief.h"
#include "os/linux/kernel.h"
#include "os/linux/packets.h"
#include "os/timer.h"

#define PENDING_MAX 256
#define TICK_MS 20

struct pending_connect {
	struct loop_source source; /* fd: of job */
	struct connect_guard *guard;
	bool used;
	struct seccomp_notif call;
	struct connect_job job;
	int64_t deadline; /* 0: none */
};

static void job_release(struct connect_job *job)
{
	brief_close_ptr(&job->socket);
	close_ptr(&job->file);
}

static int connect_to(const struct connect_job *job)
{
	struct sockaddr_un by_file = { .sun_family = AF_UNIX };
	const struct sockaddr *address = (const struct sockaddr *)&job->address;
	socklen_t len = job->len;

	if (job->file >= 0) {
		len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				  (size_t)snprintf(by_file.sun_path, sizeof(by_file.sun_path),
						   "/proc/self/fd/%d", job->file));
		address = (const struct sockaddr *)&by_file;
	}
	return connect(job->socket, address, len) < 0 ? -errno : 0;
}

int connect_once(const struct connect_job *job)
{
	struct brief brief;
	int r;

	brief_begin(&brief);
	r = connect_to(job);
	brief_end(&brief);
	return r;
}

/* Datagram sockets never wait, and need no change of flags. */
static bool may_wait(const struct connect_job *job)
{
	return job->type == SOCK_STREAM || job->type == SOCK_SEQPACKET;
}

/* *ret_blocking: the caller would wait for what is under way. */
static int connect_now(const struct connect_job *job, bool *ret_blocking)
{
	int flags = fcntl(job->socket, F_GETFL), r;

	*ret_blocking = flags >= 0 && !(flags & O_NONBLOCK) && may_wait(job);
	if (!*ret_blocking)
		return connect_once(job);
	fcntl(job->socket, F_SETFL, flags | O_NONBLOCK);
	r = connect_once(job);
	fcntl(job->socket, F_SETFL, flags);
	return r;
}

static bool is_under_way(const struct connect_job *job, int r)
{
	return r == -EINPROGRESS || r == -EALREADY || r == -EINTR ||
	       (r == -EAGAIN && job->domain == AF_UNIX);
}

static int set_timer(struct connect_guard *g, bool on)
{
	return os_timer_set(g->timer.fd, on ? TICK_MS : 0, on ? TICK_MS : 0);
}

static void settle(struct pending_connect *p, int answer)
{
	struct connect_guard *g = p->guard;

	loop_remove(g->loop, &p->source);
	notify_answer(g->notify, p->call.id, answer ? answer : NOTIFY_DONE);
	job_release(&p->job);
	p->used = false;
	if (--g->n_pending == 0)
		set_timer(g, false);
}

static void try_again(struct pending_connect *p)
{
	bool blocking;
	int r = connect_now(&p->job, &blocking);

	if (!is_under_way(&p->job, r))
		settle(p, r);
}

static int on_ready(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	try_again(container_of(source, struct pending_connect, source));
	return 0;
}

static int on_tick(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct connect_guard *g = container_of(source, struct connect_guard, timer);
	int64_t now = os_now_ms();

	if (!os_timer_take(source->fd))
		return 0;
	for (size_t i = 0; i < PENDING_MAX; i++) {
		struct pending_connect *p = &g->pending[i];

		if (!p->used)
			continue;
		if (!notify_is_valid(g->notify, p->call.id))
			settle(p, -EINTR); /* nobody waits for it any more */
		else if (caller_is_interrupted(&p->call))
			settle(p, -ERESTARTSYS);
		else if (p->deadline && now >= p->deadline)
			settle(p, p->job.domain == AF_UNIX ? -EAGAIN : -EINPROGRESS);
		else if (p->job.domain == AF_UNIX)
			try_again(p);
	}
	return 0;
}

int64_t connect_deadline(int socket, int option)
{
	struct timeval limit = { 0 };
	socklen_t len = sizeof(limit);

	if (getsockopt(socket, SOL_SOCKET, option, &limit, &len) < 0 ||
	    (!limit.tv_sec && !limit.tv_usec))
		return 0;
	return os_now_ms() + (int64_t)limit.tv_sec * 1000 + limit.tv_usec / 1000 + 1;
}

/* Takes the job over. */
static int wait_for(struct connect_guard *g, const struct seccomp_notif *call,
		    struct connect_job *job)
{
	struct pending_connect *p = g->pending;
	struct err err;

	if (!p)
		p = g->pending = calloc(PENDING_MAX, sizeof(*p));
	for (size_t i = 0; p && i < PENDING_MAX && p->used; i++)
		p++;
	if (!p || p == g->pending + PENDING_MAX)
		return -ENOBUFS;
	*p = (struct pending_connect){
		.source = { .fd = job->socket, .on_event = on_ready },
		.guard = g,
		.used = true,
		.call = *call,
		.job = *job,
		.deadline = connect_deadline(job->socket, SO_SNDTIMEO),
	};
	if (job->domain != AF_UNIX && loop_add(g->loop, &p->source, LOOP_OUT, &err) < 0) {
		p->used = false;
		return -ENOBUFS;
	}
	if (g->n_pending++ == 0)
		set_timer(g, true);
	*job = (struct connect_job){ .socket = -1, .file = -1 };
	return NOTIFY_LATER;
}

/* Copies what the call names, in the order in which the kernel finds fault with it. */
static int take_job(const struct seccomp_notif *call, struct connect_job *job)
{
	_cleanup_close_ int pidfd = caller_open(call);
	int len = (int)call->data.args[2];
	socklen_t size = sizeof(int);

	job->socket = pidfd < 0 ? pidfd : caller_get_fd(pidfd, (int)call->data.args[0]);
	if (job->socket < 0)
		return job->socket;
	if (len < 0 || (size_t)len > sizeof(job->address))
		return -EINVAL;
	job->len = (socklen_t)len;
	if (len && caller_read(call, call->data.args[1], &job->address, (size_t)len) < 0)
		return -EFAULT;
	if (getsockopt(job->socket, SOL_SOCKET, SO_DOMAIN, &job->domain, &size) < 0 ||
	    getsockopt(job->socket, SOL_SOCKET, SO_TYPE, &job->type, &size) < 0)
		return -errno; /* EBADF, ENOTSOCK */
	return 0;
}

/* We have rights over the sandbox's network that the caller has not. */
static bool is_beyond_caller(const struct connect_job *job)
{
	const struct sockaddr_nl *nl = (const struct sockaddr_nl *)&job->address;

	return job->domain == AF_NETLINK && job->address.ss_family == AF_NETLINK &&
	       (nl->nl_pid || nl->nl_groups);
}

static int do_connect(struct connect_guard *g, const struct seccomp_notif *call)
{
	struct connect_job job = { .socket = -1, .file = -1 };
	bool blocking = false;
	int r = take_job(call, &job);

	if (r == 0 && is_beyond_caller(&job))
		r = -EPERM;
	if (r == 0 && job.domain == AF_UNIX) {
		r = datagram_connect(g, call, &job);
		if (r != NOTIFY_CONTINUE) {
			job_release(&job);
			return r;
		}
	}
	if (r == 0 && job_has_path(&job))
		r = unix_path_judge(g, call, &job);
	if (r == 0 && !notify_is_valid(g->notify, call->id))
		r = -EINTR;
	if (r == 0) {
		r = connect_now(&job, &blocking);
		if (blocking && is_under_way(&job, r))
			r = wait_for(g, call, &job);
		else if (r == 0)
			r = NOTIFY_DONE;
	}
	job_release(&job);
	return r;
}

static int add_fd(struct connect_guard *g, uint64_t id, int fd, bool cloexec)
{
	struct seccomp_notif_addfd add = {
		.id = id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};
	int r = notify_ask(g->notify, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	return r < 0 ? -errno : r;
}

int connect_make_pair(const struct seccomp_notif *call, int flags, int ret_fds[2])
{
	int type = SOCK_SEQPACKET | (flags & SOCK_NONBLOCK);
	_cleanup_close_ int netns = -1;
	struct stat own, its;
	char path[64];
	struct err err;

	snprintf(path, sizeof(path), "/proc/%u/ns/net", call->pid);
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0 || fstat(netns, &its) < 0 || stat("/proc/self/ns/net", &own) < 0)
		return -errno;
	if (!os_same_file(&own, &its))
		return nsconf_pair(netns, type, ret_fds, &err) < 0 ? -EACCES : 0;
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}

/* socketpair(AF_UNIX, SOCK_DGRAM): a pair that keeps messages apart and names nobody. */
static int make_pair(struct connect_guard *g, const struct seccomp_notif *call)
{
	int flags = (int)call->data.args[1] & (SOCK_CLOEXEC | SOCK_NONBLOCK);
	int fds[2] = { -1, -1 }, inside[2], r;

	if (call->data.args[2] > AF_UNIX)
		return -EPROTONOSUPPORT;
	r = connect_make_pair(call, flags, fds);
	if (r < 0)
		return r;
	for (int i = 0; i < 2; i++)
		inside[i] = add_fd(g, call->id, fds[i], flags & SOCK_CLOEXEC);
	close(fds[0]);
	close(fds[1]);
	if (inside[0] < 0 || inside[1] < 0)
		return inside[0] < 0 ? inside[0] : inside[1];
	return caller_write(call, call->data.args[3], inside, sizeof(inside)) < 0 ? -EFAULT
										  : NOTIFY_DONE;
}

int connect_guard_call(void *ctx, const struct seccomp_notif *call)
{
	struct connect_guard *g = ctx;
	bool native = call->data.arch == seccomp_notify_connect.calls[0].arch;
	const char *name = seccomp_call_name(&seccomp_notify_connect, call->data.arch,
					     (uint32_t)call->data.nr);

	if (!name)
		return -ENOSYS;
	if (!strcmp(name, "connect"))
		return do_connect(g, call);
	if (!strcmp(name, "socketpair"))
		return make_pair(g, call);
	if (!strcmp(name, "bind"))
		return unix_bind_call(g, call);
	if (strcmp(name, "socket") != 0)
		return native ? datagram_message(g, call, name) : NOTIFY_CONTINUE;
	if ((int)call->data.args[0] != AF_UNIX)
		return NOTIFY_CONTINUE; /* another guest's question */
	if (native)
		return datagram_socket(g, call);
	g->hooks.denied(g->hooks.ctx, (pid_t)call->pid, "socket", NULL);
	return -EACCES;
}

int connect_guard_start(struct connect_guard *g, struct loop *loop, struct notify *notify,
			const struct strv *allowed, int view, const struct connect_hooks *hooks,
			struct err *err)
{
	*g = (struct connect_guard){
		.loop = loop,
		.notify = notify,
		.allowed = allowed,
		.view = view,
		.hooks = *hooks,
		.timer = { .fd = os_timer_open(), .on_event = on_tick },
	};
	if (g->timer.fd < 0)
		return err_errno(err, errno, "a timer");
	return loop_add(loop, &g->timer, LOOP_IN, err);
}

void connect_guard_stop(struct connect_guard *g)
{
	if (!g->loop)
		return;
	for (size_t i = 0; g->pending && i < PENDING_MAX; i++)
		if (g->pending[i].used)
			settle(&g->pending[i], -EINTR);
	datagrams_stop(g);
	unix_bind_stop(g);
	loop_remove(g->loop, &g->timer);
	close_ptr(&g->timer.fd);
	free(g->pending);
	*g = (struct connect_guard){ .timer.fd = -1 };
}
