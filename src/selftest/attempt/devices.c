/* SPDX-License-Identifier: MIT */
/* Devices and the kernel's own files: /dev, /proc, /sys. */
#include "selftest/attempt/attempt.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int open_rw(const char *path)
{
	return outcome(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

static int open_write(const char *path)
{
	return outcome(open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

static int open_read(const char *path)
{
	return outcome(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

static int tun(void)
{
	return open_rw("/dev/net/tun");
}

static int kmsg(void)
{
	return open_write("/dev/kmsg");
}

/* What every program may have; pts and shm are the sandbox's own. */
static bool harmless(const char *name)
{
	static const char *const names[] = { "null",  "zero",   "full",  "random", "urandom",
					     "tty",   "ptmx",   "pts",   "shm",    "fd",
					     "stdin", "stdout", "stderr" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return name[0] == '.';
}

/* WORKED when a device below dir that is none of the harmless ones can be opened. */
static int other_device(int dir_fd, int depth)
{
	DIR *dir = fdopendir(dir_fd);
	struct dirent *entry;
	int r = -ENOENT;

	while (dir && r != WORKED && (entry = readdir(dir))) {
		struct stat st;

		if (harmless(entry->d_name) ||
		    fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < 4)
			r = other_device(openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY),
					 depth + 1);
		/* Only the right is asked for: opening a device can act on it. */
		else if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
			r = outcome(faccessat(dir_fd, entry->d_name, R_OK, AT_EACCESS));
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

static int any_device(void)
{
	return other_device(open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
}

static int make_node(mode_t kind, dev_t device)
{
	int r = outcome(mknod("node", kind | 0600, device));

	(void)unlink("node");
	return r;
}

static int make_disk(void)
{
	return make_node(S_IFBLK, makedev(8, 0));
}

static int make_memory(void)
{
	return make_node(S_IFCHR, makedev(1, 1));
}

/* A node that the machine's root left in the project must not work either. */
static int use_node(void)
{
	return open_read("node-zero");
}

static int chmod_same(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	return outcome(chmod(path, st.st_mode & 07777));
}

/* The node is the host's own; the owner needs no capability to change its mode. */
static int chmod_device(void)
{
	return chmod_same("/dev/null");
}

/* The mode of such a file is shared by all mounts of proc. */
static int chmod_proc(void)
{
	return chmod_same("/proc/version");
}

static int core_pattern(void)
{
	return open_write("/proc/sys/kernel/core_pattern");
}

static int sysctl_net(void)
{
	return open_write("/proc/sys/net/ipv4/ip_forward");
}

static int set_sysctl(void)
{
	char value[64];
	int fd = open("/proc/sys/kernel/panic", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, value, sizeof(value) - 1);

	if (n < 0)
		return unable("/proc/sys/kernel/panic: %m");
	value[n] = '\0';
	return write_text("/proc/sys/kernel/panic", value);
}

static bool is_process(const char *name)
{
	return isdigit((unsigned char)name[0]) || !strcmp(name, "self") ||
	       !strcmp(name, "thread-self") || !strcmp(name, "net") || !strcmp(name, "mounts");
}

/* Everybody may open these; what is written is checked, or harmless (pressure: to be woken up). */
static bool open_to_all(const char *name)
{
	return !strcmp(name, "pressure") || !strcmp(name, "ns_last_pid");
}

static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static int writable_below(int dir_fd, bool top, int depth)
{
	DIR *dir = fdopendir(dir_fd);
	struct dirent *entry;
	int r = -ENOENT;

	while (dir && r != WORKED && (entry = readdir(dir))) {
		int fd;

		if (entry->d_name[0] == '.' || (top && is_process(entry->d_name)) ||
		    open_to_all(entry->d_name))
			continue;
		if (entry->d_type == DT_DIR && depth < 6)
			r = writable_below(openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY),
					   false, depth + 1);
		if (entry->d_type != DT_REG)
			continue;
		fd = openat(dir_fd, entry->d_name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && is_null(fd)) { /* a mask of podman's */
			close(fd);
			continue;
		}
		r = outcome(fd);
		if (fd < 0)
			continue;
		printf("(%s) ", entry->d_name);
		close(fd);
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

static int any_proc_file(void)
{
	return writable_below(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), true, 0);
}

static int any_sys_file(void)
{
	int fd = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : writable_below(fd, false, 0);
}

static int read_some(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char byte;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, &byte, 1);
	return n < 0 ? -errno : n == 0 ? -ENODATA : WORKED;
}

static int read_kmsg(void)
{
	return read_some("/proc/kmsg");
}

static int read_keys(void)
{
	return read_some("/proc/keys");
}

static int read_timers(void)
{
	return read_some("/proc/timer_list");
}

static int read_symbols(void)
{
	return read_some("/proc/kallsyms");
}

static int see(const char *path)
{
	return outcome(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int see_sys_kernel(void)
{
	return see("/sys/kernel");
}

static int see_sys_class(void)
{
	return see("/sys/class/net");
}

static int see_sys_block(void)
{
	return see("/sys/block");
}

/* An empty directory shows nothing. */
static int see_cgroups(void)
{
	DIR *dir = opendir("/sys/fs/cgroup");
	int r = -errno;

	if (!dir)
		return r;
	r = -ENOENT;
	for (struct dirent *entry; r < 0 && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			r = WORKED;
	(void)closedir(dir);
	return r;
}

const struct attempt device_attempts[] = {
	{ "device-tun", tun, PLAIN, IN_ALL | IN_OPEN },
	{ "device-kmsg", kmsg, ROOT, IN_ALL },
	{ "device-any", any_device, PLAIN, IN_ALL | IN_OPEN },
	{ "device-make-disk", make_disk, ROOT, IN_ALL },
	{ "device-make-memory", make_memory, ROOT, IN_ALL },
	{ "device-planted-node", use_node, ROOT, IN_ALL },
	{ "device-chmod", chmod_device, ROOT, IN_ALL },
	{ "proc-chmod", chmod_proc, ROOT, IN_ALL },
	{ "proc-core-pattern", core_pattern, ROOT, IN_ALL },
	{ "proc-sysctl-net", sysctl_net, ROOT, IN_ALL },
	{ "proc-sysctl-write", set_sysctl, ROOT, IN_ALL },
	{ "proc-any-writable", any_proc_file, ROOT, IN_ALL },
	{ "proc-read-kmsg", read_kmsg, ROOT, IN_ALL },
	{ "proc-read-keys", read_keys, PLAIN, IN_NONE | IN_ROOT },
	{ "proc-read-timers", read_timers, ROOT, IN_ALL },
	{ "proc-read-symbols", read_symbols, PLAIN, IN_NONE | IN_ROOT },
	{ "sys-any-writable", any_sys_file, ROOT, IN_ALL },
	{ "sys-kernel-visible", see_sys_kernel, PLAIN, IN_ALL },
	{ "sys-class-visible", see_sys_class, PLAIN, IN_ALL },
	{ "sys-block-visible", see_sys_block, PLAIN, IN_ALL },
	{ "sys-cgroup-visible", see_cgroups, PLAIN, IN_ALL },
	{ 0 },
};
