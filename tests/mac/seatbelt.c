/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a command by the stand-in for sandbox-exec: asks the profile before files are opened, made and
 * removed and before connections are made, refuses with EPERM, and writes into MAC_LOG what macOS's log would
 * show. The log of a busy machine may be late; here who is refused waits until it has shown it.
 * No sandbox: for programs that are willing, in tests.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/sbpl.h"

static struct arena arena;
static struct node *profile;
static const char *tag = "";

__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("MAC_PROFILE");

	if (!text)
		return;
	profile = read_profile(&arena, &text);
	for (struct node *rule = profile; rule; rule = rule->next)
		if (rule->child->next && rule->child->next->atom &&
		    !strcmp(rule->child->next->atom, "default"))
			tag = rule->child->next->next->child->next->next->atom;
}

static int refuse(const char *operation, const char *target)
{
	static int (*real)(const char *, int, ...);
	const char *log = getenv("MAC_LOG");
	char text[8192];
	int n, fd = -1, told = -1;

	if (!real)
		real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	n = snprintf(text, sizeof(text),
		     "2026-11-15 10:00:00.000 E  kernel[0:1f] (Sandbox) Sandbox: %s(%d) deny(1) %s "
		     "%s\n%s\n",
		     program_invocation_short_name, getpid(), operation, target, tag);
	if (log) {
		char name[PATH_MAX];

		snprintf(name, sizeof(name), "%s.told", log);
		fd = real(log, O_WRONLY);
		told = real(name, O_RDONLY);
	}
	if (fd >= 0 && told >= 0) {
		char byte;

		(void)!write(fd, text, (size_t)n);
		(void)!read(told, &byte, 1);
	}
	if (fd >= 0)
		close(fd);
	if (told >= 0)
		close(told);
	errno = EPERM;
	return -1;
}

/* The path without links, also of a file that is not there yet. */
static bool resolve(int dir, const char *path, char out[PATH_MAX])
{
	char whole[PATH_MAX], parent[PATH_MAX], base[PATH_MAX];
	char *slash;

	if (path[0] == '/' || dir == AT_FDCWD) {
		snprintf(whole, sizeof(whole), "%s", path);
	} else {
		char link[64];
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
		n = readlink(link, base, sizeof(base) - 1);
		if (n < 0)
			return false;
		base[n] = '\0';
		if (snprintf(whole, sizeof(whole), "%s/%s", base, path) >= (int)sizeof(whole))
			return false;
	}
	if (realpath(whole, out))
		return true;
	slash = strrchr(whole, '/');
	snprintf(base, sizeof(base), "%s", slash ? slash + 1 : whole);
	if (slash)
		slash[slash == whole] = '\0';
	if (!realpath(slash ? whole : ".", parent))
		return false;
	return snprintf(out, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "", base) < PATH_MAX;
}

static bool refuses(const char *operation, int dir, const char *path)
{
	char full[PATH_MAX];
	int saved = errno;

	if (!profile || !resolve(dir, path, full) || !strncmp(full, "/proc/", 6)) {
		errno = saved;
		return false;
	}
	errno = saved;
	if (allows(profile, operation, full))
		return false;
	refuse(operation, full);
	return true;
}

static bool refuses_open(int dir, const char *path, int flags)
{
	struct stat st;

	if ((flags & O_ACCMODE) != O_WRONLY && !(flags & O_CREAT) &&
	    refuses("file-read-data", dir, path))
		return true;
	if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC)))
		return false;
	return refuses(fstatat(dir, path, &st, 0) ? "file-write-create" : "file-write-data", dir,
		       path);
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))
#define OPEN(fn)                                                                      \
	int fn(const char *path, int flags, ...);                                     \
	int fn(const char *path, int flags, ...)                                      \
	{                                                                             \
		va_list ap;                                                           \
		int mode;                                                             \
                                                                                      \
		va_start(ap, flags);                                                  \
		mode = va_arg(ap, int);                                               \
		va_end(ap);                                                           \
		if (refuses_open(AT_FDCWD, path, flags))                              \
			return -1;                                                    \
		return REAL(#fn, int (*)(const char *, int, ...))(path, flags, mode); \
	}
#define OPENAT(fn)                                                                              \
	int fn(int dir, const char *path, int flags, ...);                                      \
	int fn(int dir, const char *path, int flags, ...)                                       \
	{                                                                                       \
		va_list ap;                                                                     \
		int mode;                                                                       \
                                                                                                \
		va_start(ap, flags);                                                            \
		mode = va_arg(ap, int);                                                         \
		va_end(ap);                                                                     \
		if (refuses_open(dir, path, flags))                                             \
			return -1;                                                              \
		return REAL(#fn, int (*)(int, const char *, int, ...))(dir, path, flags, mode); \
	}
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int unlink(const char *path)
{
	return refuses("file-write-unlink", AT_FDCWD, path)
		       ? -1
		       : REAL("unlink", int (*)(const char *))(path);
}

int unlinkat(int dir, const char *path, int flags)
{
	return refuses("file-write-unlink", dir, path)
		       ? -1
		       : REAL("unlinkat", int (*)(int, const char *, int))(dir, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
	return refuses("file-write-create", AT_FDCWD, path)
		       ? -1
		       : REAL("mkdir", int (*)(const char *, mode_t))(path, mode);
}

/* (remote ip "localhost:4777"), (remote ip "localhost:*") */
static bool reaches(const char *where)
{
	bool allowed = false;

	for (struct node *rule = profile; rule; rule = rule->next) {
		struct node *word = rule->child->next;
		bool about = false, match = false, any = true;

		for (; word && word->atom; word = word->next)
			about |= covers(word->atom, "network-outbound");
		for (; about && word; word = word->next) {
			const char *value = word->child->next && word->child->next->next
						    ? word->child->next->next->atom
						    : NULL;
			size_t n = value ? strlen(value) : 0;

			any = false;
			match |= value && !strcmp(word->child->next->atom, "ip") &&
				 (!strcmp(value, where) ||
				  (value[n - 1] == '*' && !strncmp(value, where, n - 1)));
		}
		if (about && (any || match))
			allowed = !strcmp(rule->child->atom, "allow");
	}
	return allowed;
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
	char where[96], shown[64];

	if (profile && address->sa_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, shown, sizeof(shown));
		snprintf(where, sizeof(where), "%s:%u",
			 strncmp(shown, "127.", 4) ? shown : "localhost", ntohs(in->sin_port));
		snprintf(shown + strlen(shown), 8, ":%u", ntohs(in->sin_port));
		if (!reaches(where))
			return refuse("network-outbound", shown);
	}
	return REAL("connect", int (*)(int, const struct sockaddr *, socklen_t))(fd, address, len);
}
