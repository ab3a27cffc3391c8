/* SPDX-License-Identifier: MIT */
/* A read-only process and its broker. */
#include "brokered.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"

#ifndef MOUNT_ATTR_RDONLY
#include <linux/mount.h>
#endif

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

void brokered_deny(struct brokered *b, enum file_rule_kind kind, const char *path)
{
	const struct file_rule_source source = {
		.kind = kind, .text = path, .path = path, .key = "test"
	};
	struct err err = { 0 };

	if (file_rules_add(&b->rules, &source, &err) < 0)
		die(err.msg);
}

void brokered_allow(struct brokered *b, const char *path)
{
	brokered_deny(b, FILE_ALLOW_WRITE, path);
}

void brokered_init(struct brokered *b, const char *base)
{
	struct strv none = { 0 };
	struct err err = { 0 };
	char path[200], real[PATH_MAX];

	*b = (struct brokered){ .flags = SECCOMP_NOTIFY_FILES };
	snprintf(path, sizeof(path), "%s/broker-XXXXXX", base);
	if (!mkdtemp(path) || !realpath(path, real) || strlen(real) >= sizeof(b->dir))
		die("making a directory");
	memcpy(b->dir, real, strlen(real) + 1);
	file_rules_init(&b->rules, "/nonexistent-home", b->dir);
	brokered_allow(b, b->dir);
	if (file_rules_protect(&b->rules, &none, &none, false, &err) < 0)
		die(err.msg);
}

void brokered_release(struct brokered *b)
{
	char *name = strrchr(b->dir, '/');
	int fd;

	*name = '\0';
	fd = open(*b->dir ? b->dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	os_remove_tree(fd, name + 1);
	close(fd);
	file_rules_release(&b->rules);
}

static void send_fds(int sock, int a, int b)
{
	char space[CMSG_SPACE(2 * sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(2 * sizeof(int)) };
	memcpy(CMSG_DATA(c), (int[]){ a, b }, 2 * sizeof(int));
	if (sendmsg(sock, &msg, 0) != 1)
		_exit(99);
}

static bool receive_fds(int sock, int fds[2])
{
	char space[CMSG_SPACE(2 * sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
		return false;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), 2 * sizeof(int));
	return true;
}

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool fine = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return fine;
}

/* In the child: its own namespaces with everything read-only, then the filter. */
static void enter(struct brokered *b, int sock)
{
	struct mount_attr ro = { .attr_set = MOUNT_ATTR_RDONLY };
	unsigned uid = geteuid(), gid = getegid();
	struct err err = { 0 };
	char map[64];
	int listener, root;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		_exit(98);
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!write_to("/proc/self/setgroups", "deny") || !write_to("/proc/self/uid_map", map))
		_exit(97);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	if (!write_to("/proc/self/gid_map", map))
		_exit(96);
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		_exit(95);
	if (b->flags &&
	    syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &ro, sizeof(ro)) < 0)
		_exit(95);
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || chdir(b->dir) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(94);
	/* exec drops the capabilities of a sandbox; here there is no exec. */
	for (int cap = 0; cap < 41; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	uint32_t none[6] = { 0 };

	if (syscall(SYS_capset, &header, none) < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		_exit(93);
	if (!b->flags)
		return;
	if (seccomp_load(b->flags, &listener, &err) < 0)
		_exit(92);
	send_fds(sock, listener, root);
	close(listener);
	close(root);
	close(sock);
}

static void on_denied(void *ctx, const struct broker_denial *denial)
{
	struct brokered *b = ctx;

	b->denials++;
	if (b->on_denied)
		b->on_denied(b, denial);
	snprintf(b->last_path, sizeof(b->last_path), "%s", denial->path);
	snprintf(b->last_rule, sizeof(b->last_rule), "%s", denial->rule ? denial->rule->text : "");
	snprintf(b->last_reason, sizeof(b->last_reason), "%s",
		 denial->reason ? denial->reason : "");
}

struct ending {
	struct loop *loop;
	struct loop_source source;
};

static int on_end(struct loop_source *source, uint32_t events, struct err *err)
{
	struct ending *ending = container_of(source, struct ending, source);

	(void)events;
	(void)err;
	ending->loop->done = true;
	return 0;
}

static void serve(struct brokered *b, pid_t child, int fds[2])
{
	const struct broker_hooks hooks = { .on_denied = on_denied, .ctx = b };
	const struct broker_view view = { .reads = file_rules_reads(&b->rules) };
	struct broker *broker;
	struct notify notify;
	struct loop loop;
	struct ending ending = { .loop = &loop };
	struct err err = { 0 };

	ending.source = (struct loop_source){ .fd = os_pidfd_open(child), .on_event = on_end };
	if (broker_new(&broker, &b->rules, &view, &hooks, &err) < 0 || loop_init(&loop, &err) < 0 ||
	    notify_start(&notify, &loop, fds[0], broker_call, broker, &err) < 0 ||
	    loop_add(&loop, &ending.source, LOOP_IN, &err) < 0)
		die(err.msg);
	broker_enter(broker, &notify, fds[1], false);
	while (!loop.done && loop_run(&loop, b->on_tick ? 1 : -1, &err) >= 0)
		if (b->on_tick)
			b->on_tick(b);
	broker_free(broker);
	notify_stop(&notify);
	close(ending.source.fd);
	loop_release(&loop);
}

int brokered_run(struct brokered *b, int (*fn)(void *ctx), void *ctx)
{
	int socks[2], fds[2], status = -1;
	pid_t child;

	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		die("socketpair");
	child = fork();
	if (child == 0) {
		close(socks[0]);
		enter(b, socks[1]);
		_exit(fn(ctx));
	}
	close(socks[1]);
	if (b->flags && receive_fds(socks[0], fds))
		serve(b, child, fds);
	close(socks[0]);
	waitpid(child, &status, 0);
	return status;
}
