/* SPDX-License-Identifier: MIT */
/*
 * Starting a sandbox, in the supervisor: everything that can be decided is decided and everything
 * that can fail early fails before the child exists; then one clone3, and the child does the rest. It sends the
 * descriptors that the plan makes it send and nothing else; the command runs when the status pipe closes without a word.
 *
 * What an attacker controls: what stands in the project and in other sources of the user's while it is started
 * (compared in root_ops.c with what was noted here), and after that the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/guards.h"
#include "engine/keys.h"
#include "engine/native/lend.h"
#include "engine/native/native.h"
#include "engine/relays.h"
#include "net/uplink.h"
#include "os/fs.h"
#include "os/linux/userns.h"
#include "os/proc.h"
#include "os/socket.h"
#include "spec/exec.h"

/* What the user's sources are now; the system's own directories need no check. */
static int identify_sources(const struct plan *plan, struct source_id *sources, struct err *err)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (!(op->flags & OPF_CHECK))
			continue;
		if ((op->flags & OPF_MAKE) && os_mkdirs(op->src, 0700, err) < 0)
			return -err->code;
		/* The plan judged this very path; a link that stands there now was not judged. */
		fd = os_openat2(AT_FDCWD, op->src, O_PATH, 0, RESOLVE_NO_SYMLINKS);
		if (fd < 0 || fstat(fd, &st) < 0) {
			err_errno(err, fd < 0 ? -fd : errno, "mounting '%s' on '%s'", op->src,
				  op->dest);
			return fd == -EACCES && plan->uid == 0
				       ? err_hint(err, "leave --as-root away: root inside has no "
						       "right to pass other people's directories")
				       : -err->code;
		}
		sources[i] = (struct source_id){ .dev = st.st_dev, .ino = st.st_ino };
	}
	return 0;
}

/* Descriptors 0 to 2 and those that are passed go inside as they are; a directory would be a door to
 * the host's files, past every mount of ours, and a socket one to the host's network and sockets. NULL: it
 * may go. */
static const char *why_not_inside(const struct plan *plan, int fd)
{
	int family = 0;
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return "a directory, and would lead past the file rules";
	if (os_socket_roams(fd, &family) && (family == AF_UNIX || plan->net != NET_HOST))
		return "a socket that could be made to reach others than its peer";
	return NULL;
}

/* Of the 3 + n_pass_fds that go inside. */
static int descriptor(const struct plan *plan, size_t i)
{
	return i < 3 ? (int)i : plan->pass_fds[i - 3];
}

static int check_descriptors(const struct plan *plan, struct err *err)
{
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };
	const char *why = NULL;

	for (size_t i = 0; i < 3 + plan->n_pass_fds && !why; i++) {
		int fd = descriptor(plan, i);
		char number[32];

		snprintf(number, sizeof(number), "descriptor %d", fd);
		why = why_not_inside(plan, fd);
		if (why)
			err_usage(err, "%s is %s", i < 3 ? names[i] : number, why);
	}
	return why ? err_hint(err, "a pipe is none: 'cat | wrapix ...', '... | cat'") : 0;
}

/* A file that was given to be read can be opened again to be written, by its name in /proc; Landlock
 * forbids that, but not where namespaces are allowed inside, whose mounts it would forbid as well. */
static void warn_of_files(const struct sandbox *sandbox)
{
	const struct plan *plan = sandbox->plan;
	struct err err;

	if (!plan->nested || !plan_is_brokered(plan))
		return;
	for (size_t i = 0; i < 3 + plan->n_pass_fds; i++) {
		int fd = descriptor(plan, i);
		struct stat st;

		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
			continue;
		err_set(&err, EPERM,
			"allowNestedUserNamespaces: the file on descriptor %d can be opened again "
			"to be written; a pipe cannot",
			fd);
		sandbox_warn(sandbox, &err);
	}
}

static bool needs_go(const struct plan *plan)
{
	return plan->eager_net || plan->limits_by == CGROUP_SYSTEMD || plan_has_ports(plan) ||
	       plan_has_key_agent(plan) || plan->n_relays;
}

/* The command line and the environment of the supervisor lie in the child's memory too, and
 * /proc/1/cmdline shows the first to everybody: the strings between argv[0] and the program's file
 * name are overwritten. */
static void wipe_strings(void)
{
	char *start = program_invocation_name;
	char *end = (char *)getauxval(AT_EXECFN);
	static const char name[] = "wrapix-init";

	if (end <= start || end - start > 8L * 1024 * 1024)
		return; /* a program that moved its strings itself; nothing of ours is in them */
	explicit_bzero(start, (size_t)(end - start));
	if (end - start > (ptrdiff_t)sizeof(name))
		memcpy(start, name, sizeof(name));
	environ = NULL;
}

void child_close_others(const struct child *child)
{
	const struct plan *plan = child->plan;
	int keep[EXEC_PASS_MAX + 2] = { child->control, child->status };
	size_t n = 2;

	for (size_t i = 0; i < MIN(plan->n_pass_fds, (size_t)EXEC_PASS_MAX); i++)
		keep[n++] = plan->pass_fds[i];
	os_close_all_but(3, keep, n);
}

/* In the child: keeps what it needs of the supervisor's descriptors, and nothing else. */
_Noreturn static void child_main(struct child *child)
{
	struct err err;

	if (cgroup_join(child->cgroup, &err) < 0)
		init_fail(child, &err);
	child_close_others(child);
	wipe_strings();
	init_main(child);
}

/* The network takes the kernel half a millisecond: the child makes that one, and the others, itself,
 * and we go on meanwhile. */
int sandbox_clone(struct sandbox *sandbox, struct child *child, struct err *err)
{
	int control[2], status[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return err_errno(err, errno, "starting the sandbox");
	if (pipe2(status, O_CLOEXEC) < 0) {
		close(control[0]);
		close(control[1]);
		return err_errno(err, errno, "starting the sandbox");
	}
	child->control = control[1];
	child->status = status[1];
	child->cgroup = &sandbox->cgroup;
	child->namespaces = CLONE_NEWIPC | CLONE_NEWUTS |
			    (child->plan->net == NET_HOST ? 0 : CLONE_NEWNET) |
			    (child->limits_by == CGROUP_NONE ? CLONE_NEWCGROUP : 0);
	sandbox->pid = userns_clone(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID,
				    cgroup_fd(&sandbox->cgroup), &sandbox->pidfd);
	if (sandbox->pid == 0)
		child_main(child);
	close(control[1]);
	close(status[1]);
	sandbox->control = control[0];
	sandbox->status = status[0];
	return sandbox->pid < 0 ? userns_explain(-sandbox->pid, err) : 0;
}

/* So that the command finds its ports when it starts. */
static int enter_ports(struct sandbox *sandbox, struct err *err)
{
	const struct plan *plan = sandbox->plan;
	struct control message;

	if (!plan_has_ports(plan) && !plan->n_relays)
		return 0;
	if (control_receive(sandbox->control, &message, &sandbox->netns) < 0 ||
	    message.type != CONTROL_NETNS)
		return 0; /* it failed; the status pipe says how */
	if (plan_has_ports(plan) &&
	    ports_enter(&sandbox->ports, plan->ports, plan->n_ports, sandbox->netns, err) < 0)
		return -err->code;
	return relays_enter(sandbox, err);
}

/* The child is mapped: limits and network, while it builds its mounts. */
static int give_go(struct sandbox *sandbox, struct err *err)
{
	const struct plan *plan = sandbox->plan;
	struct control message;
	int r;

	if (control_receive(sandbox->control, &message, NULL) < 0)
		return 0; /* it failed; the status pipe says how */
	r = cgroup_enter(&sandbox->cgroup, sandbox->pid, err);
	if (r < 0 && !plan->limits.asked) {
		sandbox_warn(sandbox, err);
		r = 0;
	}
	if (r == 0 && plan->eager_net)
		r = uplink_start(&sandbox->uplink, plan->uplinks, plan->n_uplinks, sandbox->pid,
				 err);
	if (r == 0)
		r = enter_ports(sandbox, err);
	if (r == 0)
		r = keys_load(sandbox, err);
	if (r == 0)
		control_send(sandbox->control, CONTROL_GO, 0, -1);
	return r;
}

/* One that is held, by the number of its operation; false: it is not. */
static bool take_tree(struct sandbox *sandbox, int op, int *fd)
{
	const struct plan *plan = sandbox->plan;

	if (op < 0 || (size_t)op >= plan->n_ops || !(plan->ops[op].flags & OPF_HELD) ||
	    sandbox->n_trees == TREES_MAX)
		return false;
	sandbox->trees[sandbox->n_trees++] = (struct held_tree){ &plan->ops[op], take_fd(fd) };
	return true;
}

/* Takes the descriptors that the plan makes the child send, in any order. A child that fails sends
 * another message or none, and the status pipe says why. */
static void receive_descriptors(struct sandbox *sandbox)
{
	const struct plan *plan = sandbox->plan;
	struct {
		bool expected;
		enum control_type type;
		int *ret_fd;
	} due[] = {
		{ plan_is_lazy(plan) && sandbox->netns < 0, CONTROL_NETNS, &sandbox->netns },
		{ plan->gate, CONTROL_MNTNS, &sandbox->mntns },
		{ plan->gate, CONTROL_GATE, &sandbox->gate_store },
		{ plan_has_key_agent(plan), CONTROL_AGENT, &sandbox->agent },
		{ plan->door, CONTROL_DOOR, &sandbox->door },
		{ plan_has_view(plan), CONTROL_VIEW, &sandbox->view },
		{ plan_has_tty(plan), CONTROL_PTY, &sandbox->pty_master },
		{ plan_has_listener(plan), CONTROL_LISTENER, &sandbox->listener },
	};
	size_t left = plan_count_held(plan);

	for (size_t i = 0; i < ARRAY_LEN(due); i++)
		left += due[i].expected;
	while (left-- > 0) {
		_cleanup_close_ int fd = -1;
		struct control message;
		size_t i = 0;

		if (control_receive(sandbox->control, &message, &fd) < 0 || fd < 0)
			return;
		if (message.type == CONTROL_TREE && take_tree(sandbox, message.value, &fd))
			continue;
		while (i < ARRAY_LEN(due) && !(due[i].expected && due[i].type == message.type))
			i++;
		if (i == ARRAY_LEN(due))
			return;
		*due[i].ret_fd = take_fd(&fd);
		due[i].expected = false;
	}
}

/* Until the command runs, or the error why it does not. What was sent meanwhile has waited for us: to
 * be woken for each message would cost the sender more than the message. */
static int await_exec(struct sandbox *sandbox, struct err *err)
{
	struct err reported;
	ssize_t n;
	int r = needs_go(sandbox->plan) ? give_go(sandbox, err) : 0;

	if (r < 0)
		return r;
	do {
		n = read(sandbox->status, &reported, sizeof(reported));
	} while (n < 0 && errno == EINTR);
	if (n == 0) {
		receive_descriptors(sandbox);
		return 0;
	}
	if (n != sizeof(reported)) {
		err_set(err, EIO, "the sandbox failed without saying why");
		return err_hint(err, "'wrapix doctor' tries each thing that a sandbox needs");
	}
	*err = reported;
	return -err->code;
}

static void clean(struct sandbox *sandbox)
{
	if (sandbox->pid > 0) {
		os_pidfd_kill(sandbox->pidfd, SIGKILL);
		(void)os_await(sandbox->pid);
	}
	uplink_stop(&sandbox->uplink);
	sandbox_release(sandbox);
	cgroup_remove(&sandbox->cgroup);
	cgroup_sweep(&sandbox->plan->cgroup); /* what a killed wrapix left, when nobody waits */
}

/* A limit that the user named must hold. The defaults are a comfort: when their group cannot be
 * made the rlimits stand alone, and that is said. */
static int make_group(struct sandbox *sandbox, const char *id, struct err *err)
{
	const struct plan *plan = sandbox->plan;
	int r = cgroup_create(&sandbox->cgroup, &plan->cgroup, plan->limits_by, id, &plan->limits,
			      err);

	sandbox->limits_by = plan->limits_by;
	if (r == 0 || plan->limits.asked)
		return r;
	sandbox_warn(sandbox, err);
	cgroup_remove(&sandbox->cgroup);
	sandbox->limits_by = CGROUP_NONE;
	return cgroup_create(&sandbox->cgroup, &plan->cgroup, CGROUP_NONE, id, &plan->limits, err);
}

/* A builder's range, which only programs with a right of their own can map. */
static int map_ids(const struct sandbox *sandbox, struct err *err)
{
	const struct plan_ids *ids = &sandbox->plan->ids;
	int r;

	if (!ids->count)
		return 0;
	r = userns_map_range(ids->newuidmap, sandbox->pid, ids->uid, ids->first_uid, ids->count,
			     err);
	if (r == 0)
		r = userns_map_range(ids->newgidmap, sandbox->pid, ids->gid, ids->first_gid,
				     ids->count, err);
	if (r == 0)
		control_send(sandbox->control, CONTROL_IDS, 0, -1);
	return r;
}

/* A child of our own; it does not outlive what it is given here but for its own copies. */
static int start_child(struct sandbox *sandbox, const struct engine_session *session,
		       struct err *err)
{
	const struct plan *plan = sandbox->plan;
	_cleanup_free_ struct source_id *sources = calloc(plan->n_ops, sizeof(*sources));
	struct child child = {
		.plan = plan,
		.seccomp = plan_seccomp(plan),
		.id = session->id,
		.sources = sources,
		.pty_slave = -1,
		.layers = session->layers,
		.image_changes = session->image_changes,
		.carried = session->carried,
		.n_carried = session->n_carried,
		.limits_by = sandbox->limits_by,
		.wait_for_go = needs_go(plan),
	};
	int r = sources ? identify_sources(plan, sources, err)
			: err_errno(err, ENOMEM, "starting the sandbox");

	if (r == 0)
		r = sandbox_clone(sandbox, &child, err);
	return r == 0 ? map_ids(sandbox, err) : r;
}

/* Everything up to the command's exec. */
static int start_command(struct sandbox *sandbox, const struct engine_session *session,
			 struct err *err)
{
	const struct plan *plan = sandbox->plan;
	int r = check_descriptors(plan, err);

	if (r == 0)
		r = ports_bind(&sandbox->ports, plan->ports, plan->n_ports, err);
	if (r == 0)
		r = make_group(sandbox, session->id, err);
	if (r == 0 && !spare_use(session->spare, sandbox))
		r = start_child(sandbox, session, err);
	native_spare_free(session->spare);
	sandbox->first = sandbox->pid;
	if (r == 0)
		r = guards_prepare(sandbox, err);
	return r == 0 ? await_exec(sandbox, err) : r;
}

int native_run(const struct plan *plan, const struct engine_session *session,
	       const struct engine_hooks *hooks, int *ret_status, struct err *err)
{
	struct sandbox sandbox = {
		.plan = plan,
		.hooks = hooks,
		.link = &native_link,
		.gate_meta = session->gate,
		.private = session->private,
		.n_private = session->n_private,
		.turn = session->turn,
		.carried = session->carried,
		.n_carried = session->n_carried,
		SANDBOX_NONE,
	};
	struct lender lender = LENDER_NONE;
	int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	sigset_t held, old;
	int r;

	/* Signals that arrive while we start are delivered when the command can have them. */
	supervised_signals(&held);
	sigprocmask(SIG_BLOCK, &held, &old);
	sandbox.ports.automatic = plan->publish_auto;
	sandbox.lender = &lender;
	r = start_command(&sandbox, session, err);
	if (r == 0 && session->asks)
		r = lent_ask(session->asks, session->asks_reads, err);
	/* A group can be removed, and a terminal is at its end, when PID 1 is gone. */
	sandbox.leaves = session->ret_left && !session->asks && !plan_has_tty(plan) &&
			 sandbox.limits_by == CGROUP_NONE;
	if (r == 0) {
		warn_of_files(&sandbox);
		if (!session->asks)
			prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		r = supervise(&sandbox, ret_status, err);
	}
	if (r == 0 && session->ret_left && sandbox.pid > 0) {
		*session->ret_left = sandbox.pid;
		sandbox.pid = 0;
	}
	clean(&sandbox);
	if (!session->asks)
		prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
