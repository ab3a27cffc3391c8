/* SPDX-License-Identifier: MIT */
/*
 * Probes by really doing: each forks a child into the namespaces concerned, lets it try, and takes
 * its struct err back through a pipe.
 */
#include "engine/native/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "net/nft.h"
#include "net/uplink.h"
#include "os/fs.h"
#include "os/linux/mount.h"
#include "os/linux/seccomp.h"
#include "os/linux/userns.h"
#include "os/proc.h"

typedef int attempt_fn(struct err *err);

static int wait_for(pid_t pid, int fd, struct err *err)
{
	struct err reported;
	ssize_t n = read(fd, &reported, sizeof(reported));
	int status;

	close(fd);
	status = os_await(pid);
	if (n == sizeof(reported)) {
		*err = reported;
		return -err->code;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, EIO, "the attempt was killed (status %d)", status);
}

static int try_in(uint64_t namespaces, attempt_fn *attempt, struct err *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int fds[2], pidfd;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	pid = userns_clone(namespaces, -1, &pidfd);
	if (pid == 0) {
		int r = namespaces & CLONE_NEWUSER ? userns_map_self(uid, gid, err) : 0;

		if (r == 0 && attempt)
			r = attempt(err);
		if (r < 0)
			(void)os_write_all(fds[1], err, sizeof(*err)); /* the status says it too */
		_exit(r < 0);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return userns_explain(-pid, err);
	}
	close(pidfd);
	return wait_for(pid, fds[0], err);
}

int probe_userns(struct err *err)
{
	return try_in(CLONE_NEWUSER, NULL, err);
}

static int try_mounts(struct err *err)
{
	_cleanup_close_ int root = mount_new("tmpfs", NULL, 0, 0);
	_cleanup_close_ int proc = -1, usr = -1;
	int r;

	if (root < 0)
		return err_errno(err, -root, "mounting a tmpfs");
	r = mount_attach(root, AT_FDCWD, "/");
	if (r < 0)
		return err_errno(err, -r, "attaching a mount");
	usr = mount_clone(AT_FDCWD, "/usr", MOUNT_RO | MOUNT_RECURSIVE);
	if (usr < 0)
		return err_errno(err, -usr, "cloning the mount of /usr");
	proc = mount_new("proc", NULL, 0, MOUNT_NOEXEC);
	if (proc < 0) {
		err_errno(err, -proc, "mounting /proc");
		return err_hint(err, "this host's /proc is masked (a container?): podman run "
				     "--security-opt unmask=ALL");
	}
	return 0;
}

int probe_mounts(struct err *err)
{
	return try_in(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
			      CLONE_NEWCGROUP | CLONE_NEWNET,
		      try_mounts, err);
}

static int try_seccomp(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, errno, "setting no_new_privs");
	return seccomp_load(0, NULL, err);
}

int probe_seccomp(struct err *err)
{
	return try_in(0, try_seccomp, err);
}

_Noreturn static void wait_for_ever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		pause();
}

/* A child that waits in user and network namespaces of its own. */
struct tenant {
	pid_t pid;
	int pidfd;
};

static int tenant_start(struct tenant *tenant, struct err *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int mapped[2];
	char byte;

	if (pipe2(mapped, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	tenant->pid = userns_clone(CLONE_NEWUSER | CLONE_NEWNET, -1, &tenant->pidfd);
	if (tenant->pid == 0) {
		if (userns_map_self(uid, gid, err) < 0 || write(mapped[1], "", 1) < 0)
			_exit(1);
		wait_for_ever();
	}
	close(mapped[1]);
	if (tenant->pid < 0) {
		close(mapped[0]);
		return userns_explain(-tenant->pid, err);
	}
	if (read(mapped[0], &byte, 1) != 1) {
		close(mapped[0]);
		return err_set(err, EPERM, "the user namespace could not be mapped");
	}
	close(mapped[0]);
	return 0;
}

static void tenant_stop(struct tenant *tenant)
{
	if (tenant->pid <= 0)
		return;
	kill(tenant->pid, SIGKILL);
	(void)os_await(tenant->pid);
	close(tenant->pidfd);
}

int probe_uplink(const struct strv *argv, struct err *err)
{
	struct uplink uplink = { 0 };
	struct tenant tenant = { 0 };
	int r = tenant_start(&tenant, err);

	if (r == 0)
		r = uplink_start(&uplink, argv, 1, tenant.pid, err);
	uplink_stop(&uplink);
	tenant_stop(&tenant);
	return r;
}

int probe_filter(const char **ret_tier, struct err *err)
{
	const struct nft_options options = { .best = TIER_QUEUE };
	_cleanup_close_ int netns = -1;
	struct ns_sockets sockets;
	struct tenant tenant = { 0 };
	enum net_tier tier = TIER_QUEUE;
	char path[64];
	bool ipv6;
	int r = tenant_start(&tenant, err);

	if (r == 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)tenant.pid);
		netns = open(path, O_RDONLY | O_CLOEXEC);
		r = netns < 0 ? err_errno(err, errno, "opening '%s'", path)
			      : nsconf_open(netns, &sockets, err);
	}
	if (r == 0) {
		r = nsconf_routes(&sockets, &ipv6, err);
		if (r == 0)
			r = nft_apply(&sockets, &options, &tier, err);
		nsconf_close(&sockets);
	}
	tenant_stop(&tenant);
	if (r == 0)
		*ret_tier = net_tier_name(tier);
	return r;
}
