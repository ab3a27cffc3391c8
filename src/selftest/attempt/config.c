/* SPDX-License-Identifier: MIT */
/*
 * The project's wrapix.json and .wrapix, which decide about the next start: not for the sandbox to
 * change, by any name and any call. What a control changes it puts back.
 */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CONFIG "wrapix.json"
#define DIRECTORY ".wrapix"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static int make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : outcome(write(fd, "{}", 2));

	close(fd);
	return r;
}

static int write_it(void)
{
	return write_text(CONFIG, "{}");
}

static int truncate_it(void)
{
	return outcome(truncate(CONFIG, 2));
}

static int chmod_it(void)
{
	return outcome(chmod(CONFIG, 0644));
}

static int reopen_it(void)
{
	int fd = open(CONFIG, O_RDONLY | O_CLOEXEC);
	char path[64];

	if (fd < 0)
		return unable("it is not there: %m");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return write_text(path, "{}");
}

static int map_it(void)
{
	int fd = open(CONFIG, O_RDWR | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	memcpy(map, "{}", 2);
	return WORKED;
}

static int rename_away(void)
{
	return rename(CONFIG, "away") < 0 ? -errno : outcome(rename("away", CONFIG));
}

static int rename_over(void)
{
	return make("other") < 0 ? unable("other: %m") : outcome(rename("other", CONFIG));
}

static int exchange(void)
{
	if (make("other") < 0)
		return unable("other: %m");
	return outcome(
		syscall(SYS_renameat2, AT_FDCWD, "other", AT_FDCWD, CONFIG, RENAME_EXCHANGE));
}

static int unlink_it(void)
{
	return unlink(CONFIG) < 0 ? -errno : make(CONFIG);
}

static int link_it(void)
{
	int r;

	(void)unlink("linked");
	if (link(CONFIG, "linked") < 0)
		return -errno;
	r = write_text("linked", "{}");
	(void)unlink("linked");
	return r;
}

static int lease_it(void)
{
	return lease_file(CONFIG);
}

static int flag_it(void)
{
	return flag_file(CONFIG);
}

static int touch_it(void)
{
	return touch_file(CONFIG);
}

static int empty_it(void)
{
	int r = empty_file(CONFIG);

	return r == WORKED ? write_it() : r;
}

static int chmod_its_link(void)
{
	return chmod_link(CONFIG);
}

static int chmod_it_newer(void)
{
	return chmod_newer(CONFIG);
}

static int xattr_it_newer(void)
{
	return xattr_newer(CONFIG);
}

static int flag_it_newer(void)
{
	return flag_newer(CONFIG);
}

/* By the directory's descriptor: the cover is on the path, and must be on this one too. */
static int by_directory(void)
{
	int dir = open("/proc/self/cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return outcome(openat(dir, CONFIG, O_WRONLY | O_CLOEXEC));
}

static int create_below(void)
{
	int r = make(DIRECTORY "/new");

	(void)unlink(DIRECTORY "/new");
	return r;
}

static int write_below(void)
{
	return write_text(DIRECTORY "/state", "x");
}

static int rename_directory(void)
{
	return rename(DIRECTORY, "away.d") < 0 ? -errno : outcome(rename("away.d", DIRECTORY));
}

static int exchange_directory(void)
{
	if (mkdir("other.d", 0700) < 0 && errno != EEXIST)
		return unable("other.d: %m");
	if (syscall(SYS_renameat2, AT_FDCWD, "other.d", AT_FDCWD, DIRECTORY, RENAME_EXCHANGE) < 0)
		return -errno;
	return outcome(
		syscall(SYS_renameat2, AT_FDCWD, "other.d", AT_FDCWD, DIRECTORY, RENAME_EXCHANGE));
}

static int move_out_of_directory(void)
{
	return rename(DIRECTORY "/state", "state") < 0
		       ? -errno
		       : outcome(rename("state", DIRECTORY "/state"));
}

static int rename_workspace(void)
{
	char here[4096], away[4200];

	if (!getcwd(here, sizeof(here)))
		return unable("getcwd: %m");
	(void)snprintf(away, sizeof(away), "%s.away", here);
	return rename(here, away) < 0 ? -errno : outcome(rename(away, here));
}

const struct attempt config_attempts[] = {
	{ "config-write", write_it, PLAIN, IN_ALL },
	{ "config-truncate", truncate_it, PLAIN, IN_ALL },
	{ "config-chmod", chmod_it, PLAIN, IN_ALL },
	{ "config-reopen", reopen_it, PLAIN, IN_ALL },
	{ "config-mmap", map_it, PLAIN, IN_ALL },
	{ "config-rename-away", rename_away, PLAIN, IN_ALL },
	{ "config-rename-over", rename_over, PLAIN, IN_ALL },
	{ "config-exchange", exchange, PLAIN, IN_ALL },
	{ "config-unlink", unlink_it, PLAIN, IN_ALL },
	{ "config-hard-link", link_it, PLAIN, IN_ALL },
	{ "config-lease", lease_it, PLAIN, IN_ALL },
	{ "config-flags", flag_it, PLAIN, IN_ALL },
	{ "config-touch", touch_it, PLAIN, IN_ALL },
	{ "config-empty-by-reading", empty_it, PLAIN, IN_ALL },
	{ "config-chmod-by-magic-link", chmod_its_link, PLAIN, IN_ALL },
	{ "config-chmod-newer", chmod_it_newer, PLAIN, IN_ALL },
	{ "config-xattr-newer", xattr_it_newer, PLAIN, IN_ALL },
	{ "config-flags-newer", flag_it_newer, PLAIN, IN_ALL },
	{ "config-by-directory", by_directory, PLAIN, IN_ALL },
	{ "config-dir-create", create_below, PLAIN, IN_ALL },
	{ "config-dir-write", write_below, PLAIN, IN_ALL },
	{ "config-dir-rename", rename_directory, PLAIN, IN_ALL },
	{ "config-dir-exchange", exchange_directory, PLAIN, IN_ALL },
	{ "config-dir-move-out", move_out_of_directory, PLAIN, IN_ALL },
	{ "workspace-rename", rename_workspace, PLAIN, IN_ALL },
	{ 0 },
};
