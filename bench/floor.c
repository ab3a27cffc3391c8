/* SPDX-License-Identifier: MIT */
/* floor DIR COMMAND...: runs the command under the barest supervisor that there can be, with no rules and no sandbox: what
 * opens to read is looked at and goes on, what makes or writes a file gets it from here. How much of what wrapix costs is
 * the kernel's part is the difference to the same command alone. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET_FLAGS _IOW('!', 4, __u64) /* Linux 6.6: 1, wake each other on one processor */
#define WAIT_KILLABLE (1UL << 5)

/* Sends the descriptor, or takes one where it is -1. */
static int pass(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	if (fd < 0) {
		if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
			return -1;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
		return fd;
	}
	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return (int)sendmsg(socket, &message, 0);
}

static int run(int socket, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	int listener;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE, &program);
	if (listener < 0 || pass(socket, listener) != 1) {
		perror("floor: the listener");
		return 1;
	}
	execv(argv[0], argv);
	perror(argv[0]);
	return 127;
}

static void give(int listener, const struct seccomp_notif *call, const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, (mode_t)call->data.args[3]);
	struct seccomp_notif_addfd add = { .id = call->id,
					   .srcfd = (unsigned)fd,
					   .flags = SECCOMP_ADDFD_FLAG_SEND };

	ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	close(fd);
}

static void look(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd >= 0)
		close(fd);
}

static void answer(int listener, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp response = { .id = call->id,
					       .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	size_t page = 4096 - call->data.args[1] % 4096;
	char path[256] = "";
	struct iovec here = { path, page < sizeof(path) - 1 ? page : sizeof(path) - 1 };
	struct iovec there = { (void *)call->data.args[1], here.iov_len };
	int flags = (int)call->data.args[2];

	(void)process_vm_readv((pid_t)call->pid, &here, 1, &there, 1, 0);
	if (flags & (O_ACCMODE | O_CREAT)) {
		give(listener, call, path, flags);
		return;
	}
	look(path);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int argc, char **argv)
{
	struct pollfd wait = { .events = POLLIN };
	int ends[2], status;
	pid_t child;

	if (argc < 3 || chdir(argv[1]) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return 2;
	child = fork();
	if (child == 0)
		_exit(run(ends[0], argv + 2));
	wait.fd = pass(ends[1], -1);
	(void)ioctl(wait.fd, SET_FLAGS, 1UL);
	while (poll(&wait, 1, -1) == 1 && (wait.revents & POLLIN)) {
		struct seccomp_notif call = { 0 };

		if (ioctl(wait.fd, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0)
			answer(wait.fd, &call);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
