/* SPDX-License-Identifier: MIT */
/*
 * The lent process, from its first instruction to its last right.
 *
 * It was started outside, by the supervisor, in the sandbox's control group. It joins the sandbox's
 * namespaces and becomes PID 1 of a pid namespace beside the sandbox's own, whose /proc shows its own
 * processes alone.
 *
 * The kernel lets no /proc be mounted by those who see none that is whole. So there is a whole one in
 * its mount namespace, covered by another with the sandbox's restrictions, where no path leads.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "engine/control.h"
#include "engine/native/lend.h"
#include "os/fs.h"
#include "os/linux/caps.h"
#include "os/linux/landlock.h"
#include "os/linux/mount.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"
#include "os/socket.h"

void lent_tell(int owner, const struct err *err)
{
	/* The supervisor is gone when this fails; then there is nobody to tell. */
	if (err)
		(void)send(owner, err, sizeof(*err), MSG_NOSIGNAL);
	else
		(void)control_send(owner, CONTROL_READY, 0, -1);
}

int lent_ask(int owner, bool reads, struct err *err)
{
	_cleanup_close_ int listener = -1;
	int r = seccomp_load_notify(SECCOMP_NOTIFY_FILES | (reads ? SECCOMP_NOTIFY_READS : 0),
				    &listener, err);

	if (r < 0)
		return r;
	os_open_settings_by(NULL, NULL);
	/* Who answers must be able to read what we ask for; nobody else sees us, or may (stay_inside()). */
	r = prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? -errno
						   : control_send(owner, CONTROL_ASKS, 0, listener);
	return r < 0 ? err_errno(err, -r, "asking the sandbox's supervisor") : 0;
}

/* What is done by asking: a file is opened by these flags, or a directory made with those above it. */
struct deed {
	int owner, flags;
	const char *path;
	bool makes;
	mode_t mode;
};

_Noreturn static void do_asking(const struct deed *deed, int to, pid_t parent)
{
	struct err err;
	int r;

	os_die_with_parent(SIGKILL);
	if (getppid() != parent || lent_ask(deed->owner, !deed->makes, &err) < 0)
		_exit(EXIT_WRAPIX);
	r = deed->makes ? os_mkdirs(deed->path, deed->mode, &err)
			: os_open_settings(deed->path, deed->flags);
	(void)control_send(to, CONTROL_OPENED, MIN(r, 0), deed->makes ? -1 : r);
	_exit(0);
}

/* A filter stays, and whoever has one that asks cannot start a command with another: so it is a child's. *ret_fd is -1
 * unless a descriptor came. */
static int have_done(const struct deed *deed, int *ret_fd)
{
	struct control answer = { .value = -EIO };
	pid_t pid, self = getpid();
	int pair[2], r = 0;

	*ret_fd = -1;
	if (os_message_pair(pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		do_asking(deed, pair[1], self);
	if (pid < 0)
		r = -errno;
	close(pair[1]);
	if (r == 0)
		r = control_receive(pair[0], &answer, ret_fd);
	close(pair[0]);
	if (pid > 0)
		(void)os_await(pid);
	return r < 0 ? r : answer.value;
}

int lent_open(void *owner, const char *path, int flags)
{
	int fd, r = have_done(&(struct deed){ .owner = *(const int *)owner,
					      .path = path,
					      .flags = flags },
			      &fd);

	return fd >= 0 ? fd : MIN(r, -1);
}

int lent_mkdirs(int owner, const char *path, mode_t mode, struct err *err)
{
	int fd, r = have_done(
			&(struct deed){ .owner = owner, .path = path, .makes = true, .mode = mode },
			&fd);

	return r < 0 ? err_errno(err, -r, "creating '%s'", path) : 0;
}

static int join(int n_spaces, struct err *err)
{
	for (int fd = LENT_FIRST_SPACE; fd < LENT_FIRST_SPACE + n_spaces; fd++) {
		if (setns(fd, 0) < 0)
			return err_errno(err, errno, "lending a process: joining a namespace");
		close(fd);
	}
	/* Joining a user namespace is a change of rights, which makes both forgotten. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_errno(err, errno, "lending a process");
	return 0;
}

/* Returns in the child, PID 1 of the new namespace; the parent stays until it has ended. */
static int enter_pids(struct err *err)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		return err_errno(err, errno, "lending a process: namespaces");
	pid = fork();
	if (pid < 0)
		return err_errno(err, errno, "lending a process: fork");
	if (pid == 0) {
		return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0
			       ? err_errno(err, errno, "lending a process")
			       : 0;
	}
	os_close_all_but(0, NULL, 0);
	(void)os_await(pid);
	_exit(0);
}

/* Nobody but root may write here, who must not do so for a sandbox. */
static int protect_proc(void)
{
	static const char *const paths[] = { "/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
					     "/proc/sysrq-trigger" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(paths); i++) {
		_cleanup_close_ int fd = mount_clone(AT_FDCWD, paths[i], MOUNT_RO);

		if (fd >= 0)
			r = mount_attach(fd, AT_FDCWD, paths[i]);
		else if (fd != -ENOENT)
			r = fd;
	}
	return r;
}

static int mount_proc(struct err *err)
{
	_cleanup_close_ int cover = mount_new("tmpfs", NULL, 0, 0);
	_cleanup_close_ int whole = mount_new("proc", NULL, 0, MOUNT_NOEXEC);
	_cleanup_close_ int seen = mount_new("proc", NULL, 0, MOUNT_NOEXEC);
	int r = cover < 0 ? cover : whole < 0 ? whole : seen < 0 ? seen : 0;

	if (r == 0 && mkdirat(cover, "proc", 0700) < 0)
		r = -errno;
	if (r == 0)
		r = mount_attach(cover, AT_FDCWD, "/proc");
	if (r == 0)
		r = mount_attach(whole, cover, "proc");
	if (r == 0)
		r = mount_attach(seen, AT_FDCWD, "/proc");
	if (r == 0)
		r = protect_proc();
	return r < 0 ? err_errno(err, -r, "lending a process: /proc") : 0;
}

/* A pidfd comes to who asks for it with each of our lines, and who asks others must be open to them (lent_ask()): so
 * we keep a right that nobody inside has, for where no Landlock stands between. What holds for the sandbox's processes
 * holds for who connects in their place: what lies outside by an abstract name is out of reach, also where the network
 * is the host's. */
static int stay_inside(struct err *err)
{
	int r = geteuid() == 0 ? caps_keep_map_root(err) : caps_keep_token(err);

	if (r == 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0))
		r = err_errno(err, errno, "lending a process");
	return r == 0 ? landlock_restrict(landlock_abi(), NULL, 0, err) : r;
}

int lent_enter(int n_spaces, bool image, struct err *err)
{
	int r = keyring_leave(err);

	tzset(); /* the host's */
	if (r == 0 && !os_pin_names() && image)
		r = err_set(
			err, ENOTSUP,
			"lending a process: the C library would load its modules from the image");
	if (r == 0)
		r = join(n_spaces, err);
	prctl(PR_SET_NAME, LENT_NAME, 0, 0, 0); /* it was started by another one */
	if (r == 0)
		r = enter_pids(err);
	if (r == 0)
		r = mount_proc(err);
	if (r == 0 && chdir("/") < 0)
		r = err_errno(err, errno, "lending a process: /");
	return r == 0 ? stay_inside(err) : r;
}
