/* SPDX-License-Identifier: MIT */
/*
 * What a process gets that makes namespaces: without --allow-nested it must not even be able to;
 * with it, its power must end at what it made itself. In the control the attempt is in namespaces
 * of its own already and has put up the cover that it then takes down.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data);
int umount2(const char *target, int flags);

#define MNT_DETACH 2

static int child_with(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : outcome(waitpid((pid_t)pid, NULL, 0));
}

static int unshare_user(void)
{
	return outcome(unshare(CLONE_NEWUSER));
}

static int clone_user(void)
{
	return child_with(CLONE_NEWUSER);
}

/* The flags are in memory, where a filter cannot look. */
static int clone3_user(void)
{
	struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : outcome(waitpid((pid_t)pid, NULL, 0));
}

static int unshare_mount(void)
{
	return outcome(unshare(CLONE_NEWNS));
}

static int unshare_network(void)
{
	return outcome(unshare(CLONE_NEWNET));
}

static int unshare_pid(void)
{
	return outcome(unshare(CLONE_NEWPID));
}

static int map(const char *file, const char *text)
{
	return write_text(file, text);
}

/* Inside: root of a user and a mount namespace within the sandbox. */
static int enter(unsigned long more)
{
	char line[64];
	uid_t uid = geteuid();

	if (!inside)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | (int)more) < 0)
		return unable("namespaces: %m");
	(void)snprintf(line, sizeof(line), "0 %u 1", uid);
	return map("/proc/self/uid_map", line) == WORKED ? 0 : unable("uid_map: %m");
}

static int cover(void)
{
	return inside || mount("/dev/null", "wrapix.json", NULL, MS_BIND, NULL) == 0
		       ? 0
		       : unable("a cover: %m");
}

static int uncover(void)
{
	if (enter(0) || cover())
		return UNABLE;
	return outcome(umount2("wrapix.json", MNT_DETACH));
}

/* A copy of the project's mount alone would leave the cover behind. */
static int bind_without_cover(void)
{
	if (enter(0) || cover())
		return UNABLE;
	if (mkdir("m", 0700) < 0 && errno != EEXIST)
		return unable("mkdir: %m");
	if (mount(".", "m", NULL, MS_BIND, NULL) < 0)
		return -errno;
	return write_text("m/wrapix.json", "{}");
}

static int tree_without_cover(void)
{
	int fd;

	if (enter(0) || cover())
		return UNABLE;
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE);
	return fd < 0 ? -errno : outcome(openat(fd, "wrapix.json", O_WRONLY | O_CLOEXEC));
}

static int move_the_cover(void)
{
	int fd;

	if (enter(0) || cover())
		return UNABLE;
	fd = open("elsewhere", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	return outcome(mount("wrapix.json", "elsewhere", NULL, MS_MOVE, NULL));
}

static int make_writable(void)
{
	const char *place = inside ? "/shown" : fact("shown");

	if (enter(0))
		return UNABLE;
	if (!inside && (mount(place, place, NULL, MS_BIND, NULL) < 0 ||
			mount(NULL, place, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0))
		return unable("a read-only mount: %m");
	if (mount(NULL, place, NULL, MS_BIND | MS_REMOUNT, NULL) < 0)
		return -errno;
	return outcome(faccessat(AT_FDCWD, place, W_OK, 0));
}

static int set_writable(void)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };
	const char *place = inside ? "/shown" : fact("shown");

	if (enter(0))
		return UNABLE;
	if (!inside && (mount(place, place, NULL, MS_BIND, NULL) < 0 ||
			mount(NULL, place, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0))
		return unable("a read-only mount: %m");
	return outcome(
		syscall(SYS_mount_setattr, AT_FDCWD, place, AT_RECURSIVE, &attr, sizeof(attr)));
}

static int make_devices_work(void)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID };

	if (enter(0))
		return UNABLE;
	if (!inside && (mkdir("m", 0700), mount("x", "m", "tmpfs", MS_NODEV | MS_NOSUID, NULL)) < 0)
		return unable("a mount: %m");
	return outcome(syscall(SYS_mount_setattr, AT_FDCWD, inside ? "/workspace" : "m", 0, &attr,
			       sizeof(attr)));
}

/* Out of a chroot: the working directory stays outside and climbs. The control starts in such a
 * jail; inside, the top that is reached must be the sandbox's own. */
static int climb_out(void)
{
	const char *secret = fact("secret");

	if (enter(0) || (mkdir("m", 0700) < 0 && errno != EEXIST))
		return UNABLE;
	if ((!inside && chroot(".") < 0) || chroot("m") < 0)
		return unable("chroot: %m");
	for (int i = 0; i < 64; i++)
		if (chdir("..") < 0)
			return -errno;
	return chroot(".") < 0 ? -errno : outcome(access(secret, R_OK));
}

/* The control's /proc shows the victim. */
static int see_victim(void)
{
	char name[32] = "", path[64];
	int fd;

	if (inside && enter(CLONE_NEWPID))
		return UNABLE;
	if (inside) {
		pid_t pid = fork();
		int status;

		if (pid > 0)
			return waitpid(pid, &status, 0) > 0 && WIFEXITED(status)
				       ? -WEXITSTATUS(status)
				       : unable("no child");
		if ((mkdir("m", 0700) < 0 && errno != EEXIST) ||
		    mount("x", "m", "proc", 0, NULL) < 0)
			_exit(254); /* the new proc is what nesting is for */
	}
	(void)snprintf(path, sizeof(path), "%s/%ld/comm", inside ? "m" : "/proc",
		       fact_number("pid"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		ignore(read(fd, name, sizeof(name) - 1));
	if (inside)
		_exit(strncmp(name, "wx-victim", 9) ? ESRCH : 0);
	return strncmp(name, "wx-victim", 9) ? -ESRCH : WORKED;
}

static int sysctl(void)
{
	return enter(0) ? UNABLE
			: outcome(open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
}

static int make_disk(void)
{
	int r;

	if (enter(0))
		return UNABLE;
	r = outcome(mknod("node", S_IFBLK | 0600, 8 << 8));
	(void)unlink("node");
	return r;
}

/* A file of the machine's root, in the project. */
static int override_permissions(void)
{
	return enter(0) ? UNABLE : read_secret("root-file");
}

static int give_away(void)
{
	int fd, r;

	if (enter(0))
		return UNABLE;
	fd = open("mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	r = outcome(fchown(fd, inside ? 1 : 12345, (gid_t)-1));
	(void)unlink("mine");
	return r;
}

/* Uid 0 of the sandbox's own parent, which it was not given. */
static int map_other_uid(void)
{
	int go[2], status;
	char path[64], c = 0;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return unable("pipe: %m");
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		c = (char)(unshare(CLONE_NEWUSER) < 0);
		(void)kill(getpid(), SIGSTOP);
		ignore(read(go[0], &c, 1));
		_exit(0);
	}
	if (waitpid(pid, &status, WUNTRACED) < 0 || !WIFSTOPPED(status))
		return unable("no child");
	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	status = map(path, "0 0 1");
	kill(pid, SIGKILL);
	return status;
}

/* The namespaces of a process that was not made here. The control takes one of its own. */
static int join(int kind)
{
	pid_t pid = 1;
	int fd;

	if (!inside) {
		pid = fork();
		if (pid == 0) {
			(void)unshare(CLONE_NEWUTS);
			(void)kill(getpid(), SIGSTOP);
			_exit(0);
		}
		(void)waitpid(pid, NULL, WUNTRACED);
	} else if (enter(0)) {
		return UNABLE;
	}
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	kind = (int)outcome(setns(fd, kind));
	if (pid != 1)
		kill(pid, SIGKILL);
	return kind;
}

static int join_mounts_of_init(void)
{
	return join(CLONE_NEWNS);
}

static int join_host_name_of_init(void)
{
	return join(CLONE_NEWUTS);
}

static int join_network_of_init(void)
{
	return join(CLONE_NEWNET);
}

const struct attempt nested_attempts[] = {
	{ "namespace-unshare-user", unshare_user, PLAIN, IN_NONE | IN_ROOT | IN_OPEN },
	{ "namespace-clone-user", clone_user, PLAIN, IN_NONE | IN_ROOT | IN_OPEN },
	{ "namespace-clone3-user", clone3_user, PLAIN, IN_NONE | IN_ROOT | IN_OPEN },
	{ "namespace-unshare-mount", unshare_mount, USERNS, IN_ALL },
	{ "namespace-unshare-network", unshare_network, USERNS, IN_ALL },
	{ "namespace-unshare-pid", unshare_pid, USERNS, IN_ALL },
	{ "nested-uncover-config", uncover, USERNS, IN_NESTED },
	{ "nested-bind-without-cover", bind_without_cover, USERNS, IN_NESTED },
	{ "nested-tree-without-cover", tree_without_cover, USERNS, IN_NESTED },
	{ "nested-move-cover", move_the_cover, USERNS, IN_NESTED },
	{ "nested-remount-writable", make_writable, USERNS, IN_NESTED },
	{ "nested-setattr-writable", set_writable, USERNS, IN_NESTED },
	{ "nested-setattr-devices", make_devices_work, USERNS, IN_NESTED },
	{ "nested-climb-out", climb_out, USERNS, IN_NESTED },
	{ "nested-proc-of-host", see_victim, PLAIN, IN_NESTED },
	{ "nested-sysctl", sysctl, ROOT, IN_NESTED },
	{ "nested-make-disk", make_disk, ROOT, IN_NESTED },
	{ "nested-override-permissions", override_permissions, ROOT, IN_NESTED },
	{ "nested-chown", give_away, ROOT, IN_NESTED },
	{ "nested-map-other-uid", map_other_uid, ROOT, IN_NESTED },
	{ "nested-join-mounts-of-init", join_mounts_of_init, USERNS, IN_NESTED },
	{ "nested-join-uts-of-init", join_host_name_of_init, USERNS, IN_NESTED },
	{ "nested-join-network-of-init", join_network_of_init, USERNS, IN_NESTED },
	{ 0 },
};
