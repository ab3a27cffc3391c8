/* SPDX-License-Identifier: MIT */
/* The project around the working directory, and the directories that belong to it. */
#include "ralph/site.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/api.h"
#include "api/identity.h"
#include "base/path.h"
#include "base/sha256.h"
#include "os/fs.h"

static bool has(struct arena *arena, const char *dir, const char *name)
{
	struct stat st;

	return lstat(path_join(arena, dir, name), &st) == 0;
}

/* The nearest repository; else the nearest directory with something of ours; else here. */
static char *find_top(struct site *site, char *here)
{
	static const char *const marks[] = { ".git", ".wrapix/ralph", "wrapix.json" };
	struct arena *a = &site->arena;

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		for (char *dir = here; strcmp(dir, "/") != 0; dir = path_parent(a, dir))
			if (has(a, dir, marks[i])) {
				site->git = i == 0;
				return dir;
			}
	return here;
}

/* The directory's name for people, and a hash for everything else. */
static char *make_key(struct site *site)
{
	char sum[SHA256_HEX], name[24];
	const char *base = path_name(site->top);
	size_t n = 0;

	for (; *base && n + 1 < sizeof(name); base++)
		name[n++] = (char)(strchr("/ .", *base) || (unsigned char)*base < 0x21 ||
						   (unsigned char)*base > 0x7e
					   ? '_'
					   : *base);
	name[n] = '\0';
	sha256_hex(site->top, strlen(site->top), sum);
	sum[16] = '\0';
	return arena_printf(&site->arena, "%s-%s", name, sum);
}

static int refuse(const struct site *site, const char *home, struct err *err)
{
	if (strcmp(site->top, "/") != 0 && (!home || strcmp(site->top, home) != 0))
		return 0;
	err_usage(err, "'%s' is no project", site->top);
	return err_hint(err, "go into a directory of its own first, best one with 'git init'");
}

int site_find(struct site *site, struct err *err)
{
	static const char *const dirs[] = { "specs", "logs", "patches", "run" };
	struct arena *a = &site->arena;
	char *here, *home;
	int r = identity_become_owner(".", err);

	if (r < 0)
		return r;
	here = os_here(a, err);
	if (!here)
		return -err->code;
	site->top = find_top(site, here);
	home = getenv("HOME") ? os_realpath(a, getenv("HOME")) : NULL;
	r = refuse(site, home, err);
	site->state_home = api_base_dir(a, "XDG_STATE_HOME", ".local/state");
	site->state = arena_printf(a, "%s/wrapix/ralph/%s", site->state_home, make_key(site));
	site->db = arena_printf(a, "%s.db", site->state);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(dirs); i++)
		r = os_mkdirs(path_join(a, site->state, dirs[i]), 0700, err);
	return r;
}

void site_release(struct site *site)
{
	arena_release(&site->arena);
}

int site_open_dir(const struct site *site, const char *path, bool make, struct err *err)
{
	_cleanup_close_ int dir = open(site->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : 0;

	while (r == 0 && *path) {
		char name[256];
		size_t n = strcspn(path, "/");
		int next;

		if (!n || n >= sizeof(name)) {
			path += !n;
			r = n ? -ENAMETOOLONG : 0;
			continue;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		if (make && mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
			r = -errno;
		next = r < 0 ? -1
			     : openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (r == 0 && next < 0)
			r = -errno;
		if (next >= 0) {
			close(dir);
			dir = next;
		}
		path += n;
	}
	if (r < 0)
		return err_errno(err, -r, "opening '%s' in '%s'", path, site->top);
	return take_fd(&dir);
}

int site_lock(const struct site *site, const char *name, bool wait, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct arena arena = { 0 };
	_cleanup_close_ int fd = open(path_join(&arena, site->state, name),
				      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? -errno : 0;

	arena_release(&arena);
	if (r < 0)
		return err_errno(err, -r, "opening the lock '%s'", name);
	while (fcntl(fd, wait ? F_SETLKW : F_SETLK, &lock) < 0) {
		struct flock other = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EACCES)
			return err_errno(err, errno, "taking the lock '%s'", name);
		if (fcntl(fd, F_GETLK, &other) == 0 && other.l_type != F_UNLCK)
			return err_set(err, EBUSY, "another ralph works on it (pid %d)",
				       (int)other.l_pid);
		return err_set(err, EBUSY, "another ralph works on it");
	}
	return take_fd(&fd);
}
