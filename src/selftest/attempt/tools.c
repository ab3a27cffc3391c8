/* SPDX-License-Identifier: MIT */
/* What the runner needs beside the attempts, in the same program because that is at hand anywhere. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* --give-capability FILE: makes it a program with a capability. */
static int give_capability(char **args)
{
	struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1 << CAP_NET_RAW,
	};

	return setxattr(args[0], "security.capability", &data, sizeof(data), 0) < 0;
}

/* --lock-holder FILE: the process that holds the lock of 'daemon-stays'; fails without one. */
static int lock_holder(char **args)
{
	struct flock lock = { .l_type = F_WRLCK };
	int fd = open(args[0], O_RDWR | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 1;
	printf("%d\n", (int)lock.l_pid);
	return 0;
}

/* --flip A B: swaps two names until it is killed. */
static int flip(char **args)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (bool first = true;; first = false) {
		if (syscall(SYS_renameat2, AT_FDCWD, args[0], AT_FDCWD, args[1],
			    2 /* RENAME_EXCHANGE */) < 0)
			return 1;
		if (first && (printf("flipping\n") < 0 || fflush(stdout)))
			return 1;
	}
}

/* --look-and-open PATH FILE: a program that looks at PATH first and opens PATHFILE then, again and
 * again, to show that the swapping beats it. */
static int look_and_open(char **args)
{
	char name[PATH_MAX];
	struct stat st;

	(void)snprintf(name, sizeof(name), "%s%s", args[0], args[1]);
	for (int i = 0; i < 1000000; i++)
		if (lstat(args[0], &st) == 0 && !S_ISLNK(st.st_mode) && access(name, R_OK) == 0 &&
		    read_secret(name) == WORKED)
			return 0;
	return 1;
}

/* --rights: succeeds when it was started with rights that its user does not have. */
static int rights(char **args)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	bool more = geteuid() != getuid();

	(void)args;
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "CapEff:", 7))
			more |= getuid() && strtoull(line + 7, NULL, 16);
	return f && more ? 0 : 1;
}

static const struct {
	const char *name;
	int min, max;
	int (*run)(char **args);
} all[] = {
	{ "--give-capability", 1, 1, give_capability },
	{ "--lock-holder", 1, 1, lock_holder },
	{ "--flip", 2, 2, flip },
	{ "--look-and-open", 2, 2, look_and_open },
	{ "--rights", 0, 0, rights },
	{ "--victim", 3, 3, be_victim },
	{ "--on-terminal", 2, INT_MAX, run_on_terminal },
};

bool run_tool(int n, char **args, int *ret_status)
{
	for (size_t i = 0; n > 0 && i < ARRAY_LEN(all); i++)
		if (n - 1 >= all[i].min && n - 1 <= all[i].max && !strcmp(args[0], all[i].name)) {
			*ret_status = all[i].run(args + 1);
			return true;
		}
	return false;
}
