/* SPDX-License-Identifier: MIT */
/* Processes, as far as the kernel has a way of its own with them. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/proc.h"

enum { MANY_FDS = 4096 };

/* Every number that a descriptor may have, where nobody tells which have one. */
static void close_one_by_one(unsigned int first, unsigned int last)
{
	struct rlimit limit = { .rlim_max = MANY_FDS };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	last = (unsigned int)MIN((rlim_t)last, MAX(limit.rlim_max, (rlim_t)MANY_FDS));
	last = MIN(last, 1U << 20);
	for (unsigned int fd = first; fd <= last; fd++)
		close((int)fd);
}

/* A kernel before 5.9, and a container that refuses the call, must leave nothing open either. */
static void close_between(unsigned int first, unsigned int last)
{
	struct dirent *entry;
	DIR *dir;

	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
	dir = opendir("/proc/self/fd");
	if (!dir) {
		close_one_by_one(first, last);
		return;
	}
	while ((entry = readdir(dir))) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && fd >= first && fd <= last &&
		    fd != (unsigned long)dirfd(dir))
			close((int)fd);
	}
	closedir(dir);
}

/* The next one to be kept; -1: there is none. */
static int lowest_from(int first, const int *keep, size_t n)
{
	int lowest = -1;

	for (size_t i = 0; i < n; i++)
		if (keep[i] >= first && (lowest < 0 || keep[i] < lowest))
			lowest = keep[i];
	return lowest;
}

void os_close_all_but(int first, const int *keep, size_t n)
{
	for (int next; (next = lowest_from(first, keep, n)) >= 0; first = next + 1)
		if (next > first)
			close_between((unsigned int)first, (unsigned int)next - 1);
	close_between((unsigned int)first, ~0U);
}

int os_pidfd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

int os_pidfd_kill(int pidfd, int signal_no)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal_no, NULL, 0) < 0 ? -errno : 0;
}

bool os_is_static(void)
{
	return getauxval(AT_BASE) == 0;
}

bool os_is_static_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(part))
		return false;
	for (size_t i = 0; i < head.e_phnum; i++)
		if (pread(fd, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) !=
			    sizeof(part) ||
		    part.p_type == PT_INTERP)
			return false;
	return true;
}

int os_die_with_parent(int signal_no)
{
	return prctl(PR_SET_PDEATHSIG, signal_no, 0, 0, 0);
}

int os_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

int os_set_dumpable(int dumpable)
{
	return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}

int os_no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int os_adopt_orphans(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int os_said_open(void)
{
	_cleanup_close_ int fd = memfd_create("said", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 || ftruncate(fd, OS_SAID_MAX) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0
		       ? -1
		       : take_fd(&fd);
}
