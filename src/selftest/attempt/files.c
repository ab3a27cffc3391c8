/* SPDX-License-Identifier: MIT */
/* Files of the user's outside the project, by every name that might lead there. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define UP "../../../../../../../../../../../../../../../../../../../../../../../../.."

static int below(const char *prefix)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s%s", prefix, fact("secret"));
	return read_secret(path);
}

static int absolute(void)
{
	return read_secret(fact("secret"));
}

static int dotdot(void)
{
	return below(UP);
}

static int dotdot_of_cwd(void)
{
	return below("/proc/self/cwd/" UP);
}

static int self_root(void)
{
	return below("/proc/self/root");
}

static int thread_root(void)
{
	return below("/proc/thread-self/root");
}

static int init_root(void)
{
	return below(proc_path(inside ? 1 : fact_number("pid"), "root"));
}

static int through_process(long pid)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%ld/root%s", pid, fact("secret"));
	if (read_secret(path) == WORKED)
		return WORKED;
	(void)snprintf(path, sizeof(path), "/proc/%ld/cwd/%s%s", pid, UP, fact("secret"));
	return read_secret(path);
}

static int any_root(void)
{
	return for_each_process(through_process);
}

/* A runtime that forgets to leave the host's directory leaves a process in it. */
static int above_directory_of(long pid)
{
	return read_secret(proc_path(pid, "cwd/../secret/key"));
}

static int any_directory(void)
{
	return for_each_process(above_directory_of);
}

static int absolute_link(void)
{
	return read_secret("link-absolute");
}

static int relative_link(void)
{
	return read_secret("link-relative");
}

static int link_to_directory(void)
{
	return read_secret("link-directory/key");
}

/* A link that is made by the sandbox itself, through a magic link of /proc. */
static int magic_link(void)
{
	char target[PATH_MAX];
	int r;

	(void)snprintf(target, sizeof(target), "/proc/self/root%s", fact("secret"));
	(void)unlink("link-magic");
	if (symlink(target, "link-magic") < 0)
		return unable("symlink: %m");
	r = read_secret("link-magic");
	(void)unlink("link-magic");
	return r;
}

/* The runner leaves 9 open on the secret and 8 on its directory. */
static int inherited_file(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		char byte;

		if (pread(fd, &byte, 1, 0) == 1) {
			int copy = dup(fd);

			(void)lseek(copy, 0, SEEK_SET);
			if (read_secret_fd(copy) == WORKED)
				return WORKED;
		}
	}
	return -EBADF;
}

static int inherited_directory(void)
{
	for (int fd = 0; fd < 1024; fd++)
		if (read_secret_at(fd, "key") == WORKED)
			return WORKED;
	return -EBADF;
}

static int above_inherited_directory(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		int r = fd == 1 || fd == 2 ? -EBADF : read_secret_at(fd, "../secret/key");

		if (r == WORKED)
			return WORKED;
	}
	return -EBADF;
}

/* Any descriptor beyond the standard three is one that somebody forgot. */
static int leftover_descriptor(void)
{
	struct stat st;

	for (int fd = 3; fd < 4096; fd++)
		if (fstat(fd, &st) == 0)
			return WORKED;
	return -EBADF;
}

/* Pipes are left alone: what is read from one is missed by whoever it was meant for, and outside of the sandbox
 * that may be anybody of this user's. */
static int through_descriptors_of(long pid)
{
	char path[PATH_MAX];
	struct stat st;

	for (int fd = 0; fd < 64; fd++) {
		(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && read_secret(path) == WORKED)
			return WORKED;
		(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%d/key", pid, fd);
		if (read_secret(path) == WORKED)
			return WORKED;
	}
	return -ENOENT;
}

static int any_descriptor(void)
{
	return for_each_process(through_descriptors_of);
}

static int hard_link(void)
{
	int r;

	(void)unlink("hard-link");
	if (link(fact("secret"), "hard-link") < 0)
		return -errno;
	r = read_secret("hard-link");
	(void)unlink("hard-link");
	return r;
}

/* Moves the secret into the project and back. */
static int rename_in(void)
{
	const char *secret = fact("secret");
	int r;

	if (rename(secret, "moved") < 0)
		return -errno;
	r = read_secret("moved");
	if (rename("moved", secret) < 0)
		return unable("moving the secret back: %m");
	return r;
}

static int handle_of_secret(void)
{
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = { .head = { .handle_type = (int)fact_number("handle_type") } };
	const char *hex = fact("handle");
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (; hex[0] && hex[1]; hex += 2)
		(void)sscanf(hex, "%2hhx", &handle.bytes[handle.head.handle_bytes++]);
	return read_secret_fd(open_by_handle_at(here, &handle.head, O_RDONLY | O_CLOEXEC));
}

/* What is visible and read-only: the mount 'shown', which belongs to the user. */
static const char *shown(const char *name)
{
	static char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", inside ? "/shown" : fact("shown"), name);
	return path;
}

static int write_shown(void)
{
	return write_text(shown("file"), "x");
}

static int create_shown(void)
{
	int fd = open(shown("new"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	(void)unlink(shown("new"));
	return WORKED;
}

static int truncate_shown(void)
{
	return outcome(truncate(shown("file"), 1));
}

static int chmod_shown(void)
{
	return outcome(chmod(shown("file"), 0600));
}

static int touch_shown(void)
{
	return outcome(utimensat(AT_FDCWD, shown("file"), NULL, 0));
}

static int xattr_shown(void)
{
	return outcome(setxattr(shown("file"), "user.wrapix", "x", 1, 0));
}

static int unlink_shown(void)
{
	int fd;

	if (unlink(shown("file")) < 0)
		return -errno;
	fd = open(shown("file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	return WORKED;
}

static int reopen_shown(void)
{
	int fd = open(shown("file"), O_RDONLY | O_CLOEXEC);
	char path[64];

	if (fd < 0)
		return unable("the mount is not there: %m");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return write_text(path, "x");
}

static int map_shown(void)
{
	int fd = open(shown("file"), O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fd = open(shown("file"), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return unable("the mount is not there: %m");
	return mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -errno
										      : WORKED;
}

static int link_shown(void)
{
	int r;

	if (link(shown("file"), "linked") < 0)
		return -errno;
	r = write_text("linked", "x");
	(void)unlink("linked");
	return r;
}

static int lease_shown(void)
{
	return lease_file(shown("file"));
}

static int flag_shown(void)
{
	return flag_file(shown("file"));
}

static int empty_shown(void)
{
	return empty_file(shown("file"));
}

static int chmod_shown_link(void)
{
	return chmod_link(shown("file"));
}

static int above_shown(void)
{
	return read_secret(shown("../secret/key"));
}

/* The system's files, which only root could write outside. */
static int create_in(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/.wrapix-escape-%d", dir, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	(void)unlink(path);
	return WORKED;
}

static int write_usr(void)
{
	return create_in("/usr");
}

static int write_usr_lib(void)
{
	return create_in("/usr/lib");
}

static int write_etc(void)
{
	return create_in("/etc");
}

static int write_certificates(void)
{
	return create_in("/etc/ssl/certs");
}

static int write_top(void)
{
	return create_in("/");
}

/* The owner needs no capability to change a mode. */
static int chmod_usr(void)
{
	struct stat st;

	if (stat("/usr/bin/env", &st) < 0)
		return unable("/usr/bin/env: %m");
	return outcome(chmod("/usr/bin/env", st.st_mode & 07777));
}

static int append_passwd(void)
{
	int fd = open("/etc/passwd", O_WRONLY | O_APPEND | O_CLOEXEC);

	return outcome(fd);
}

/* The host's, not the sandbox's: they must not even be there. */
static int read_shadow(void)
{
	return outcome(open("/etc/shadow", O_RDONLY | O_CLOEXEC));
}

static int list_root_home(void)
{
	return outcome(open("/root/.", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int see_home(void)
{
	struct stat st;

	return outcome(stat(fact("base"), &st));
}

static int see_tmp(void)
{
	struct stat st;

	return outcome(lstat(fact("sock_tmp"), &st));
}

const struct attempt file_attempts[] = {
	{ "secret-by-path", absolute, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "secret-by-dotdot", dotdot, PLAIN, IN_ALL },
	{ "secret-by-cwd-dotdot", dotdot_of_cwd, PLAIN, IN_ALL },
	{ "secret-by-self-root", self_root, PLAIN, IN_ALL },
	{ "secret-by-thread-root", thread_root, PLAIN, IN_ALL },
	{ "secret-by-init-root", init_root, PLAIN, IN_ALL },
	{ "secret-by-any-root", any_root, PLAIN, IN_ALL | IN_HOST },
	{ "secret-by-any-working-directory", any_directory, PLAIN, IN_ALL | IN_HOST },
	{ "secret-by-absolute-link", absolute_link, PLAIN, IN_ALL },
	{ "secret-by-relative-link", relative_link, PLAIN, IN_ALL },
	{ "secret-by-linked-directory", link_to_directory, PLAIN, IN_ALL },
	{ "secret-by-magic-link", magic_link, PLAIN, IN_ALL },
	{ "secret-by-inherited-file", inherited_file, PLAIN, IN_ALL },
	{ "secret-by-inherited-directory", inherited_directory, PLAIN, IN_ALL },
	{ "secret-above-inherited-directory", above_inherited_directory, PLAIN, IN_ALL },
	{ "leftover-descriptor", leftover_descriptor, PLAIN, IN_ALL | IN_OPEN | IN_HOST },
	{ "secret-by-any-descriptor", any_descriptor, PLAIN, IN_ALL },
	{ "secret-by-hard-link", hard_link, PLAIN, IN_ALL },
	{ "secret-by-rename", rename_in, PLAIN, IN_ALL },
	{ "secret-by-file-handle", handle_of_secret, ROOT, IN_ALL },
	{ "secret-above-mount", above_shown, PLAIN, IN_ALL },
	{ "home-visible", see_home, PLAIN, IN_ALL },
	{ "host-tmp-visible", see_tmp, PLAIN, IN_ALL },
	{ "readonly-mount-write", write_shown, PLAIN, IN_ALL },
	{ "readonly-mount-create", create_shown, PLAIN, IN_ALL },
	{ "readonly-mount-truncate", truncate_shown, PLAIN, IN_ALL },
	{ "readonly-mount-chmod", chmod_shown, PLAIN, IN_ALL },
	{ "readonly-mount-touch", touch_shown, PLAIN, IN_ALL },
	{ "readonly-mount-xattr", xattr_shown, PLAIN, IN_ALL },
	{ "readonly-mount-unlink", unlink_shown, PLAIN, IN_ALL },
	{ "readonly-mount-reopen", reopen_shown, PLAIN, IN_ALL },
	{ "readonly-mount-mmap", map_shown, PLAIN, IN_ALL },
	{ "readonly-mount-lease", lease_shown, PLAIN, IN_ALL },
	{ "readonly-mount-flags", flag_shown, PLAIN, IN_ALL },
	{ "readonly-mount-empty-by-reading", empty_shown, PLAIN, IN_ALL },
	{ "readonly-mount-chmod-by-magic-link", chmod_shown_link, PLAIN, IN_ALL },
	{ "readonly-mount-link", link_shown, PLAIN, IN_ALL },
	{ "system-write-usr", write_usr, ROOT, IN_ALL },
	{ "system-write-usr-lib", write_usr_lib, ROOT, IN_ALL },
	{ "system-write-etc", write_etc, ROOT, IN_ALL },
	{ "system-write-certificates", write_certificates, ROOT, IN_ALL },
	{ "system-write-top", write_top, ROOT, IN_ALL },
	{ "system-chmod-usr", chmod_usr, ROOT, IN_ALL },
	{ "system-append-passwd", append_passwd, ROOT, IN_ALL },
	{ "system-read-shadow", read_shadow, ROOT, IN_ALL },
	{ "system-list-root", list_root_home, ROOT, IN_ALL },
	{ 0 },
};
