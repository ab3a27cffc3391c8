/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of the sandbox. It builds the root, forks the command, gives up everything, and then only
 * reaps, delivers the supervisor's signals, and reports how the command ended. When it ends the
 * kernel kills every process of the pid namespace, so background servers live as long as it does.
 *
 * It is a copy of the supervisor, so what that knew is wiped or out of reach before the command
 * exists: not dumpable (no ptrace, no /proc/1/mem or environ), the words of the command line and
 * the environment overwritten, no descriptor but the control socket, no capability, the filter on.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "engine/command.h"
#include "engine/native/native.h"
#include "engine/native/order.h"
#include "engine/native/root.h"
#include "net/uplink.h"
#include "os/fs.h"
#include "os/linux/caps.h"
#include "os/linux/netif.h"
#include "os/linux/seccomp.h"
#include "os/linux/userns.h"
#include "os/proc.h"
#include "os/tty.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

_Noreturn void init_fail(const struct child *child, const struct err *err)
{
	/* The supervisor is gone when this fails; there is nobody to tell. */
	(void)os_write_all(child->status, err, sizeof(*err));
	_exit(EXIT_WRAPIX);
}

int child_send(const struct child *child, enum control_type type, int value, int fd,
	       struct err *err)
{
	return control_send(child->control, type, value, fd) < 0
		       ? err_set(err, EPIPE, "the supervisor is gone")
		       : 0;
}

/* Lets ping work without privileges (which it says itself where it cannot) and dev servers have ports
 * below 1024, in this namespace only. Older kernels lack the second. */
static void set_up_network(const struct plan *plan)
{
	char gids[32];

	snprintf(gids, sizeof(gids), "%u %u", plan->gid, plan->gid);
	netif_set("/proc/sys/net/ipv4/ping_group_range", gids);
	netif_set("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
	if (plan->eager_net)
		uplink_prepare();
}

/* A range of ids is the supervisor's to map, by programs that may. Then we are root, and in no group. */
static int map_ids(struct child *child, struct err *err)
{
	const struct plan *plan = child->plan;
	struct control message;

	if (!plan->ids.count)
		return userns_map_self(plan->uid, plan->gid, err);
	if (control_receive(child->control, &message, NULL) < 0 || message.type != CONTROL_IDS)
		return err_set(err, EPIPE, "the supervisor is gone");
	return setgroups(0, NULL) < 0 ? err_errno(err, errno, "leaving the user's groups") : 0;
}

static int set_up_namespaces(struct child *child, struct err *err)
{
	const struct plan *plan = child->plan;
	int r = map_ids(child, err);

	if (r == 0)
		userns_leave_quota();
	if (r == 0 && unshare((int)child->namespaces) < 0)
		return userns_explain(errno, err);
	if (r == 0 && plan->net != NET_HOST) {
		r = netif_loopback_up(err);
		set_up_network(plan);
	}
	if (r == 0 && child->wait_for_go)
		r = child_send(child, CONTROL_MAPPED, 0, -1, err);
	if (r == 0 && plan->hostname && sethostname(plan->hostname, strlen(plan->hostname)) < 0)
		return err_errno(err, errno, "setting the host name");
	return r;
}

/* A session of the sandbox's own, and a terminal for it, made in its own devpts; the supervisor gets
 * the master. Signals are blocked in here, so a hangup is for the command's group alone. */
static int make_pty(struct child *child, struct err *err)
{
	const bool *tty = child->plan->tty;
	_cleanup_close_ int master = -1;
	int unlock = 0;

	/* Away from the user's terminal in any case. */
	if (setsid() < 0)
		return err_errno(err, errno, "setsid");
	if (!tty[0] && !tty[1] && !tty[2])
		return 0;
	master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return err_errno(err, errno, "making a terminal");
	child->pty_slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (child->pty_slave < 0 || ioctl(child->pty_slave, TIOCSCTTY, 0) < 0)
		return err_errno(err, errno, "opening the terminal");
	/* Here, before the command can set its own. Where the user's terminal stays cooked, line
	 * ends are turned there and not twice. */
	tty_copy_settings(tty[0] ? 0 : tty[1] ? 1 : 2, child->pty_slave, tty[0]);
	return child_send(child, CONTROL_PTY, 0, master, err);
}

static int send_opened(const struct child *child, enum control_type type, const char *path,
		       int flags, struct err *err)
{
	_cleanup_close_ int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? err_errno(err, errno, "opening '%s'", path)
		      : child_send(child, type, 0, fd, err);
}

/* The supervisor attaches the network to this namespace when it is first used, and has ports in it. */
static int send_netns(const struct child *child, struct err *err)
{
	return plan_needs_netns(child->plan)
		       ? send_opened(child, CONTROL_NETNS, "/proc/self/ns/net", O_RDONLY, err)
		       : 0;
}

/* The supervisor mounts what it makes private while the command runs. */
static int send_mntns(const struct child *child, struct err *err)
{
	return child->plan->gate
		       ? send_opened(child, CONTROL_MNTNS, "/proc/self/ns/mnt", O_RDONLY, err)
		       : 0;
}

/* The supervisor resolves paths as the command does. */
static int send_view(const struct child *child, struct err *err)
{
	return child->order || plan_has_view(child->plan)
		       ? send_opened(child, CONTROL_VIEW, "/", O_PATH | O_DIRECTORY, err)
		       : 0;
}

static int wait_for_go(struct child *child, struct err *err)
{
	struct control message;

	if (child->wait_for_go &&
	    (control_receive(child->control, &message, NULL) < 0 || message.type != CONTROL_GO))
		return err_set(err, EPIPE, "the supervisor is gone");
	/* Only now are we in our group: the namespace's root is to be that one. */
	if (child->limits_by != CGROUP_NONE && unshare(CLONE_NEWCGROUP) < 0)
		return err_errno(err, errno, "making a cgroup namespace");
	return 0;
}

/* For us and for the command that we are about to fork. From here on nothing inside may look at
 * us; the command inherits that until its exec. */
static int give_up_privileges(const struct child *child, struct err *err)
{
	int r = keyring_leave(err);

	if (r == 0)
		r = child->plan->ids.count ? caps_keep_root(err) : caps_drop_all(err);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "setting no_new_privs");
	if (r == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_errno(err, errno, "PR_SET_DUMPABLE");
	return r == 0 && !(child->seccomp & SECCOMP_NOTIFY) ? seccomp_load_base(child->seccomp, err)
							    : r;
}

/* Where the command's filter asks the supervisor: nobody does that for us. */
static int confine_self(const struct child *child, struct err *err)
{
	unsigned flags = child->seccomp;

	/* What a builder's root keeps is the command's. */
	if (child->plan->ids.count && caps_drop_own(err) < 0)
		return -err->code;
	if (!(flags & SECCOMP_NOTIFY))
		return 0;
	return seccomp_load_base(flags & ~(unsigned)SECCOMP_NOTIFY, err);
}

/* Whoever loses its parent becomes our child: where we have none there is nobody. */
static bool is_alone(void)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
	} while (pid > 0);
	return pid < 0 && errno == ECHILD;
}

/* Takes in every child that ended; true when the command itself did. */
static bool reap(pid_t command, int control)
{
	int status;

	while (reap_command(command, &status)) {
		if (control_send_pause(control, status))
			continue;
		control_send(control, is_alone() ? CONTROL_EXITED_LAST : CONTROL_EXITED, status,
			     -1);
		return true;
	}
	return false;
}

/* A process that the supervisor lends joins these. Nobody else inside may open them: we are not to be
 * looked at, but by ourselves. The user namespace is asked of the others. */
static void send_namespaces(int control)
{
	static const char *const names[] = { "mnt", "ipc", "uts", "cgroup", "net" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_close_ int fd = -1;
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			control_send(control, CONTROL_SPACE, (int)i + 1, fd);
	}
	control_send(control, CONTROL_SPACE, 0, -1);
}

/* systemd removes a scope with its last process, and what the kernel counted in it: the supervisor looks first. */
_Noreturn static void leave(const struct child *child, int control)
{
	struct control message = { 0 };

	while (child->limits_by == CGROUP_SYSTEMD && message.type != CONTROL_LEAVE &&
	       control_receive(control, &message, NULL) == 0)
		;
	_exit(0);
}

_Noreturn static void reap_and_forward(const struct child *child, pid_t command, int control,
				       int signals)
{
	struct pollfd fds[] = {
		{ .fd = control, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};

	for (;;) {
		struct signalfd_siginfo info;
		struct control message;

		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			_exit(EXIT_WRAPIX);
		if ((fds[1].revents & POLLIN) && read(signals, &info, sizeof(info)) > 0 &&
		    reap(command, control))
			leave(child, control);
		if (!fds[0].revents)
			continue;
		if (control_receive(control, &message, NULL) < 0)
			_exit(EXIT_WRAPIX); /* the supervisor is gone, and the sandbox goes with it */
		if (message.type == CONTROL_SIGNAL)
			signal_command(command, message.value);
		else if (message.type == CONTROL_LEND)
			send_namespaces(control);
	}
}

/* What needs nothing of the command, and may be done long before there is one. */
static int begin(struct child *child, struct root *root, struct err *err)
{
	int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);

	/* A supervisor that was lent is one that nobody may look at, and its child must write its own
	 * uid_map. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "PR_SET_PDEATHSIG");
	if (set_up_namespaces(child, err) < 0 || send_netns(child, err) < 0 ||
	    send_mntns(child, err) < 0)
		return -err->code;
	if (prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0) < 0)
		return err_errno(err, errno, "PR_SET_DUMPABLE");
	return root_begin(root, child, err);
}

/* The rest of it, for the command that there is now. */
static int complete(struct child *child, struct root *root, struct err *err)
{
	int r = root_complete(root, err);

	if (r == 0 && child->order)
		r = order_place(child, err);
	return r < 0 || send_view(child, err) < 0 || make_pty(child, err) < 0 ||
			       wait_for_go(child, err) < 0 || give_up_privileges(child, err) < 0
		       ? -err->code
		       : 0;
}

_Noreturn void init_main(struct child *child)
{
	struct err err = { 0 };
	struct root root;
	sigset_t all;
	pid_t command;
	int signals;

	if (begin(child, &root, &err) < 0 || (child->ahead && order_take(child, &err) < 0) ||
	    complete(child, &root, &err) < 0)
		init_fail(child, &err);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	os_keep_children(); /* a program that uses the library may ignore it */
	/* A copy of us would cost as much as all that is left to do: the command's process has our
	 * memory until its exec, and we stand still. */
	command = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
	if (command < 0)
		init_fail(child, (err_errno(&err, errno, "starting the command"), &err));
	if (command == 0)
		target_main(child); /* NOLINT(clang-analyzer-unix.Vfork) */
	if (confine_self(child, &err) < 0)
		init_fail(child, &err);
	signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		init_fail(child, (err_errno(&err, errno, "signalfd"), &err));
	os_close_all_but(0, (int[]){ child->control, signals }, 2);
	reap_and_forward(child, command, child->control, signals);
}
