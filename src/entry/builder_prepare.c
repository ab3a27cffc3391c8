/* SPDX-License-Identifier: MIT */
/*
 * A builder's users and places. An image may have some of them, our own engine has none: what is there
 * stays. Everything is root's but the home of who logs in; builds have users of their own.
 */
#include "entry/builder_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "entry/builder.h"
#include "os/fs.h"

enum { FILE_MAX = 1 << 20, BUILD_USERS = 32, BUILD_ID = 30000, LOGIN_ID = 29999, SSHD_ID = 74 };

#define LOGIN "builder"
#define LOGIN_HOME "/home/builder"

static const struct {
	const char *name;
	unsigned mode;
} staged[] = {
	{ "sshd_config", 0644 },
	{ "nix.conf", 0644 },
	{ "authorized_keys", 0644 },
	{ "host_ed25519", 0600 },
};

static const struct {
	const char *path;
	unsigned mode, uid, gid;
} dirs[] = {
	{ "/root", 0700, 0, 0 },
	{ "/home", 0755, 0, 0 },
	{ LOGIN_HOME, 0700, LOGIN_ID, LOGIN_ID },
	{ "/var", 0755, 0, 0 },
	{ "/var/empty", 0755, 0, 0 },
	{ "/run/sshd", 0755, 0, 0 },
	{ "/run/nix", 0755, 0, 0 },
	{ BUILDER_RUN, 0755, 0, 0 },
	{ "/nix/store", 01775, 0, BUILD_ID },
	{ "/nix/var", 0755, 0, 0 },
	{ "/nix/var/nix", 0755, 0, 0 },
	{ BUILDER_BUILD_DIR, 0755, 0, 0 },
};

static int make_dir(const char *path, unsigned mode, unsigned uid, unsigned gid, struct err *err)
{
	_cleanup_close_ int fd = -1;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return err_errno(err, errno, "making '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", path);
	/* A shared directory of another machine's shows all as root's, and keeps it so. */
	if (fchown(fd, uid, gid) < 0 && errno != EPERM)
		return err_errno(err, errno, "giving '%s' away", path);
	if (fchmod(fd, mode) < 0 && errno != EPERM)
		return err_errno(err, errno, "setting the mode of '%s'", path);
	return 0;
}

static int make_dirs(struct err *err)
{
	_cleanup_close_ int var = -1;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(dirs); i++) {
		/* Builds of one that was killed: nobody goes on with them. */
		if (!strcmp(dirs[i].path, BUILDER_BUILD_DIR)) {
			var = open("/nix/var/nix", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			os_remove_tree(var, strrchr(BUILDER_BUILD_DIR, '/') + 1);
		}
		r = make_dir(dirs[i].path, dirs[i].mode, dirs[i].uid, dirs[i].gid, err);
	}
	return r;
}

static int take_stage(struct err *err)
{
	_cleanup_close_ int from = open(BUILDER_STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int to = open(BUILDER_RUN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (from < 0 || to < 0)
		return err_errno(err, errno, "opening '%s'",
				 from < 0 ? BUILDER_STAGE : BUILDER_RUN);
	for (size_t i = 0; i < ARRAY_LEN(staged); i++) {
		_cleanup_free_ char *text = NULL;
		size_t len;
		int r = os_read_file_at(from, staged[i].name, FILE_MAX, &text, &len);

		if (r < 0)
			return err_errno(err, -r, "reading '" BUILDER_STAGE "/%s'", staged[i].name);
		r = os_write_file_atomic(to, staged[i].name, text, len, staged[i].mode, err);
		explicit_bzero(text, len);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- users --- */

/* True when the list has a line of that name. */
static bool has_line(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, name, len) && p[len] == ':')
			return true;
	}
	return false;
}

static void add_line(struct str *more, const char *list, const char *name, const char *fmt, ...)
	_printf_(4, 5);
static void add_line(struct str *more, const char *list, const char *name, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (has_line(list, name))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	str_addf(more, "%s:%s\n", name, line);
}

static int append(const char *path, const char *list, const struct str *more, struct err *err)
{
	_cleanup_close_ int fd = -1;
	size_t len = strlen(list);

	if (!more->len)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || (len && list[len - 1] != '\n' && os_write_all(fd, "\n", 1) < 0) ||
	    os_write_all(fd, more->s, more->len) < 0)
		return err_errno(err, errno, "writing '%s'", path);
	return 0;
}

static int read_list(const char *path, char **ret, struct err *err)
{
	int r = os_read_file_at(AT_FDCWD, path, FILE_MAX, ret, NULL);

	if (r == -ENOENT) {
		*ret = strdup("");
		r = *ret ? 0 : -ENOMEM;
	}
	return r < 0 ? err_errno(err, -r, "reading '%s'", path) : 0;
}

static int make_users(struct err *err)
{
	_cleanup_free_ char *users = NULL, *groups = NULL;
	_cleanup_str_ struct str more_users = { 0 }, more_groups = { 0 }, members = { 0 };
	int r = read_list("/etc/passwd", &users, err);

	if (r == 0)
		r = read_list("/etc/group", &groups, err);
	if (r < 0)
		return r;
	add_line(&more_users, users, "root", "*:0:0:root:/root:/bin/sh");
	add_line(&more_users, users, "sshd", "*:%d:%d::/run/sshd:/usr/sbin/nologin", SSHD_ID,
		 SSHD_ID);
	add_line(&more_users, users, LOGIN, "*:%d:%d::" LOGIN_HOME ":/bin/sh", LOGIN_ID, LOGIN_ID);
	add_line(&more_users, users, "nobody", "*:65534:65534::/nonexistent:/usr/sbin/nologin");
	for (int i = 1; i <= BUILD_USERS; i++) {
		char name[24];

		snprintf(name, sizeof(name), BUILDER_BUILD_GROUP "%d", i);
		add_line(&more_users, users, name, "*:%d:%d::/var/empty:/usr/sbin/nologin",
			 BUILD_ID + i, BUILD_ID);
		str_addf(&members, "%s%s", i > 1 ? "," : "", name);
	}
	add_line(&more_groups, groups, "root", "x:0:");
	add_line(&more_groups, groups, "sshd", "x:%d:", SSHD_ID);
	add_line(&more_groups, groups, LOGIN, "x:%d:", LOGIN_ID);
	add_line(&more_groups, groups, "nogroup", "x:65534:");
	add_line(&more_groups, groups, BUILDER_BUILD_GROUP, "x:%d:%s", BUILD_ID, members.s);
	r = append("/etc/passwd", users, &more_users, err);
	return r == 0 ? append("/etc/group", groups, &more_groups, err) : r;
}

static int read_idle(int64_t *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = os_read_file_at(AT_FDCWD, BUILDER_STAGE "/idle", 32, &text, NULL);

	if (r < 0)
		return err_errno(err, -r, "reading '" BUILDER_STAGE "/idle'");
	*ret = strtoll(text, NULL, 10) * 1000;
	return 0;
}

int builder_prepare(int64_t *ret_idle_ms, struct err *err)
{
	int r = make_users(err);

	if (r == 0)
		r = make_dirs(err);
	if (r == 0)
		r = take_stage(err);
	return r == 0 ? read_idle(ret_idle_ms, err) : r;
}
