/* SPDX-License-Identifier: MIT */
/* The supervisor's side of lending. */
#include "engine/native/lend.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "engine/control.h"
#include "guard/broker.h"
#include "os/linux/kernel.h"
#include "os/linux/userns.h"
#include "os/proc.h"

static void drop_spaces(struct lender *l)
{
	while (l->n_spaces)
		close(l->spaces[--l->n_spaces]);
}

static void reap(struct lender *l)
{
	(void)os_await(l->pid);
	l->pid = 0;
}

static void listen_again(struct lender *l)
{
	struct err err;

	drop_spaces(l);
	if (loop_add(l->loop, &l->door, LOOP_IN, &err) < 0)
		sandbox_warn(l->sandbox, &err); /* nobody is heard any more */
}

/* Nothing could be lent: whoever waits at the door is not to wait for ever, and not to bring us back
 * at once. */
static void turn_away(struct lender *l)
{
	int fd;

	while ((fd = accept4(l->door.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		close(fd);
	listen_again(l);
}

static void give_up(struct lender *l, const struct err *err)
{
	sandbox_warn(l->sandbox, err);
	turn_away(l);
}

/* --- who asks for changes of files --- */

struct asker {
	struct asker *next;
	struct notify notify;
	struct broker *broker;
};

static int on_ask(void *ctx, const struct seccomp_notif *call)
{
	struct asker *asker = ctx;

	return broker_call_lent(asker->broker, &asker->notify, call);
}

/* Those that are gone, or all. */
static void drop_askers(struct lender *l, bool all)
{
	for (struct asker **at = &l->askers, *asker; (asker = *at);) {
		if (!all && !asker->notify.over) {
			at = &asker->next;
			continue;
		}
		*at = asker->next;
		broker_forget(asker->broker, &asker->notify);
		notify_stop(&asker->notify);
		free(asker);
	}
}

/* One that is not answered can change nothing. */
static void add_asker(struct lender *l, int listener)
{
	struct broker *broker = l->sandbox->broker;
	struct asker *asker = broker && listener >= 0 ? calloc(1, sizeof(*asker)) : NULL;
	struct err err;

	drop_askers(l, false);
	if (!asker) {
		if (listener >= 0)
			close(listener);
		return;
	}
	*asker = (struct asker){ .next = l->askers, .broker = broker };
	l->askers = asker;
	if (notify_start_other(&asker->notify, l->loop, listener, on_ask, asker, &err) == 0)
		return;
	sandbox_warn(l->sandbox, &err);
	asker->notify.over = true;
	drop_askers(l, false);
}

/* --- the lent process --- */

static void end_lent(struct lender *l)
{
	drop_askers(l, true);
	loop_remove(l->loop, &l->lent);
	close(take_fd(&l->lent.fd));
	reap(l);
	if (l->ready)
		listen_again(l);
	else
		turn_away(l);
}

union lent_message {
	struct control control;
	struct err why;
};

/* What came, and how long it is. */
static ssize_t receive(int from, union lent_message *ret, int *ret_fd)
{
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights;
	struct msghdr header = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = rights.space,
		.msg_controllen = sizeof(rights.space),
	};
	ssize_t n = recvmsg(from, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *cmsg = n > 0 ? CMSG_FIRSTHDR(&header) : NULL;

	*ret_fd = -1;
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS && cmsg->cmsg_len >= CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(*ret_fd));
	return n;
}

/* It says that it is ready, or why it is not; then who asks, until its end. */
static int on_lent(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct lender *l = container_of(source, struct lender, lent);
	union lent_message message;
	struct err *why = &message.why;
	_cleanup_close_ int fd = -1;
	ssize_t n = receive(source->fd, &message, &fd);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == sizeof(message.control)) {
		l->ready = true;
		if (message.control.type == CONTROL_ASKS)
			add_asker(l, take_fd(&fd));
		return 0;
	}
	if (n == sizeof(*why)) {
		why->msg[sizeof(why->msg) - 1] = why->hint[sizeof(why->hint) - 1] = '\0';
		sandbox_warn(l->sandbox, why);
	}
	end_lent(l);
	return 0;
}

/* Every descriptor goes to its place; they are moved out of the way of each other first. */
static int place(const struct lender *l, int owner)
{
	int fds[LENT_FIRST_SPACE + LENT_SPACES + 1 - LENT_LISTENER], n = 0;

	fds[n++] = l->door.fd;
	fds[n++] = owner;
	for (size_t i = 0; i < l->n_spaces; i++)
		fds[n++] = l->spaces[i];
	for (int i = 0; i < n; i++)
		if ((fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64)) < 0)
			return -errno;
	for (int i = 0; i < n; i++)
		if (dup2(fds[i], LENT_LISTENER + i) < 0)
			return -errno;
	os_close_all_but(LENT_LISTENER + n, NULL, 0);
	return 0;
}

static int close_standard(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return -errno;
	return 0;
}

/* In the child, which leaves nothing of the supervisor's memory behind: another program starts, without
 * its environment, in the sandbox's control group and under its limits. */
_Noreturn static void become_lent(const struct lender *l, int owner, pid_t parent)
{
	const struct sandbox *sandbox = l->sandbox;
	const struct plan *plan = sandbox->plan;
	char number[8];
	char *const words[] = { (char *)LENT_NAME,
				number,
				(char *)(plan_is_brokered(plan) ? LENT_HELD : "-"),
				(char *)(plan_reads(plan) == FILE_READS_ASKED ? LENT_READS : "-"),
				(char *)(plan_has_image(plan) ? LENT_IMAGE : "-"),
				(char *)(plan->nested ? LENT_NESTED : NULL),
				NULL };
	struct err err;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(EXIT_WRAPIX);
	os_reset_signals();
	/* The supervisor says when we are in the group, where it puts us there. */
	r = recv(owner, number, 1, 0) == 1 ? cgroup_join(&sandbox->cgroup, &err)
					   : err_set(&err, EPIPE, "the supervisor is gone");
	if (r == 0)
		r = rlimits_apply(&plan->cgroup, sandbox->limits_by, &plan->limits, &err);
	if (r == 0 && (setsid() < 0 || close_standard() < 0 || place(l, owner) < 0))
		r = err_errno(&err, errno, "lending a process");
	snprintf(number, sizeof(number), "%zu", l->n_spaces);
	if (r == 0) {
		execve("/proc/self/exe", words, (char *[]){ NULL });
		owner = LENT_OWNER;
		err_errno(&err, errno, "lending a process");
	}
	lent_tell(owner, &err);
	_exit(EXIT_WRAPIX);
}

/* A manager that lets nobody into a scope (systemd before 238) makes another one with the same limits, which nobody watches. */
static int enter_group(struct lender *l, struct err *err)
{
	struct cgroup own = l->sandbox->cgroup;

	if (cgroup_follow(&own, l->pid, err) == 0)
		return 0;
	snprintf(own.name, sizeof(own.name), "%.40s-exec%u", l->sandbox->cgroup.name,
		 ++l->n_started);
	return cgroup_enter(&own, l->pid, err);
}

static int start(struct lender *l, struct err *err)
{
	pid_t parent = getpid();
	int owner[2], pidfd = -1, r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, owner) < 0)
		return err_errno(err, errno, "lending a process");
	l->pid = userns_clone(0, cgroup_fd(&l->sandbox->cgroup), &pidfd);
	if (l->pid == 0)
		become_lent(l, owner[1], parent);
	close(owner[1]);
	if (l->pid < 0) {
		err_errno(err, -l->pid, "lending a process");
		close(owner[0]);
		l->pid = 0;
		return -err->code;
	}
	close(pidfd);
	drop_spaces(l);
	l->ready = false;
	l->lent = (struct loop_source){ .fd = owner[0], .on_event = on_lent };
	r = enter_group(l, err);
	if (r == 0)
		r = loop_add(l->loop, &l->lent, LOOP_IN, err);
	if (r == 0) {
		(void)send(l->lent.fd, "", 1, MSG_NOSIGNAL); /* its end tells of a failure */
		return 0;
	}
	close(take_fd(&l->lent.fd));
	kill(l->pid, SIGKILL);
	reap(l);
	return r;
}

/* --- the door --- */

/* The namespaces are there: all of them, but for a network that is the host's, where we are. */
void lender_take(struct lender *l, int kind, int fd)
{
	int userns;
	struct err err;

	if (!l->loop || l->lent.fd >= 0 || (kind && l->n_spaces > LENT_SPACES)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (!l->n_spaces && fd >= 0) {
		userns = ioctl(fd, NS_GET_USERNS);
		if (userns >= 0)
			l->spaces[l->n_spaces++] = userns;
	}
	if (kind == LENT_SPACE_NET && l->sandbox->plan->net == NET_HOST)
		close(take_fd(&fd));
	if (fd >= 0)
		l->spaces[l->n_spaces++] = fd;
	if (kind)
		return;
	if (l->n_spaces != LENT_SPACES + (l->sandbox->plan->net != NET_HOST))
		err_set(&err, ESRCH,
			"lending a process: the sandbox's namespaces are not to be had");
	else if (start(l, &err) == 0)
		return;
	give_up(l, &err);
}

/* Whatever became of the network: what is inside of the lent process finds out by itself. */
static void on_network(void *ctx)
{
	struct lender *l = ctx;
	struct err err;

	if (control_send(l->sandbox->control, CONTROL_LEND, 0, -1) == 0)
		return;
	err_set(&err, EPIPE, "lending a process: the sandbox is ending");
	give_up(l, &err);
}

static int on_door(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct lender *l = container_of(source, struct lender, door);

	loop_remove(l->loop, source); /* until the lent process has ended, it is its */
	network_raise(l->network, on_network, l);
	return 0;
}

int lender_start(struct lender *l, struct loop *loop, struct sandbox *sandbox,
		 struct network *network, struct err *err)
{
	if (sandbox->door < 0)
		return 0;
	l->loop = loop;
	l->sandbox = sandbox;
	l->network = network;
	l->door = (struct loop_source){ .fd = take_fd(&sandbox->door), .on_event = on_door };
	return loop_add(loop, &l->door, LOOP_IN, err);
}

void lender_stop(struct lender *l)
{
	if (!l->loop)
		return;
	loop_remove(l->loop, &l->door);
	loop_remove(l->loop, &l->lent);
	close(take_fd(&l->door.fd));
	if (l->lent.fd >= 0)
		close(take_fd(&l->lent.fd)); /* the lent process ends, and its commands */
	drop_askers(l, true);
	drop_spaces(l);
	reap(l);
	l->loop = NULL;
}
