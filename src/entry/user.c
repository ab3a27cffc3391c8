/* SPDX-License-Identifier: MIT */
/*
 * Becoming the user.
 *
 * Whose files are whose is decided by the project: where it belongs to the user's own number, root simply
 * becomes him. Where it belongs to who we are, whatever the user's number is - a virtual machine's shared
 * directory shows all as root's - a user namespace gives us his number and leaves us the owner: what he
 * makes is his inside, and whoever's the share belongs to outside.
 *
 * He also needs a name, for which /etc/passwd is written, or, where it cannot be, covered.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "entry/entry.h"
#include "os/fs.h"
#include "os/linux/caps.h"
#include "os/linux/kernel.h"
#include "os/linux/mount.h"
#include "os/proc.h"

enum { TABLE_MAX = 1 << 20 };

/* --- names --- */

/* A table of lines "NAME:x:ID:..." */
struct table {
	const char *path, *line;
	const char *name;
	unsigned id;
};

static bool line_is(const char *line, size_t len, const char *name, unsigned id)
{
	const char *colon = memchr(line, ':', len), *end = line + len;
	const char *number = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;

	if (!number)
		return false;
	return (strlen(name) == (size_t)(colon - line) &&
		!strncmp(line, name, (size_t)(colon - line))) ||
	       strtoul(number + 1, NULL, 10) == id;
}

/* The table with our line instead of those that have the name or the number. True: it was there. */
static bool make_table(const struct table *table, struct str *out)
{
	_cleanup_free_ char *text = NULL;
	bool there = false;
	size_t n;

	if (os_read_file_at(AT_FDCWD, table->path, TABLE_MAX, &text, &n) < 0)
		text = NULL;
	for (const char *line = text; line && *line; line += n) {
		size_t len = strcspn(line, "\n");

		n = len + (line[len] == '\n');
		there |= len == strlen(table->line) - 1 && !strncmp(line, table->line, len);
		if (!line_is(line, len, table->name, table->id))
			str_addf(out, "%.*s\n", (int)len, line);
	}
	str_add(out, table->line);
	return there;
}

/* For this process and its children alone: a file of a file system of our own. */
static int cover(const struct table *table, const struct str *text)
{
	_cleanup_close_ int fs = mount_new("tmpfs", NULL, 0, 0);
	_cleanup_close_ int file = fs < 0 ? -1
					  : openat(fs, "file", O_WRONLY | O_CREAT | O_CLOEXEC,
						   0644);
	_cleanup_close_ int clone = -1;
	int r = file < 0 ? -errno : os_write_all(file, text->s, text->len);

	if (r < 0)
		return fs < 0 ? fs : r;
	clone = mount_clone(fs, "file", MOUNT_RO);
	return clone < 0 ? clone : mount_attach(clone, AT_FDCWD, table->path);
}

static int write_table(const struct table *table, const struct str *text)
{
	_cleanup_close_ int fd = open(table->path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
				      0644);
	int r;

	if (fd < 0)
		return -errno;
	r = os_write_all(fd, text->s, text->len);
	return r == 0 && ftruncate(fd, (off_t)text->len) < 0 ? -errno : r;
}

typedef int put_fn(const struct table *table, const struct str *text);

static int name_user(const struct entry *entry, put_fn *put)
{
	_cleanup_str_ struct str user = { 0 }, group = { 0 };
	const struct table tables[] = { { "/etc/passwd", NULL, entry->user, entry->uid },
					{ "/etc/group", NULL, entry->user, entry->gid } };
	int r = 0;

	str_addf(&user, "%s:x:%u:%u::%s:%s\n", entry->user, entry->uid, entry->gid, entry->home,
		 access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
	str_addf(&group, "%s:x:%u:\n", entry->user, entry->gid);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(tables); i++) {
		struct table table = tables[i];
		_cleanup_str_ struct str text = { 0 };

		table.line = i ? group.s : user.s;
		if (!make_table(&table, &text))
			r = put(&table, &text);
	}
	return r;
}

/* True when somebody of that number is in the table already, under whatever name. */
static bool has_name(unsigned uid)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (os_read_file_at(AT_FDCWD, "/etc/passwd", TABLE_MAX, &text, &len) < 0)
		return false;
	for (const char *line = text; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (line_is(line, len, "", uid))
			return true;
	}
	return false;
}

/* --- numbers --- */

static int write_map(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : os_write_all(fd, text, strlen(text));
}

/* A user namespace in which our own number is the user's. */
static int enter_namespace(const struct entry *entry, struct err *err)
{
	char uids[64], gids[64];
	int r;

	snprintf(uids, sizeof(uids), "%u %u 1", entry->uid, geteuid());
	snprintf(gids, sizeof(gids), "%u %u 1", entry->gid, getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return err_errno(err, errno, "making a user namespace");
	r = write_map("/proc/self/uid_map", uids);
	if (r == 0)
		r = write_map("/proc/self/setgroups", "deny");
	if (r == 0)
		r = write_map("/proc/self/gid_map", gids);
	return r < 0 ? err_errno(err, -r, "mapping the user's numbers") : 0;
}

static int set_ids(const struct entry *entry, struct err *err)
{
	const gid_t gid = entry->gid;

	if (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(entry->uid, entry->uid, entry->uid) < 0)
		return err_errno(err, errno, "becoming user %u", entry->uid);
	return 0;
}

/* Whose the project is; where there is none, root's. */
static unsigned project_owner(void)
{
	struct stat st;

	return stat("/workspace", &st) < 0 ? 0 : st.st_uid;
}

bool entry_maps(const struct entry *entry)
{
	/* Root may be anybody, but not where a share makes everything root's. */
	return entry->uid != geteuid() && (geteuid() || project_owner() == 0);
}

static int own_home(const struct entry *entry, struct err *err)
{
	unsigned uid = entry->maps ? geteuid() : entry->uid;
	struct stat st;
	int r = os_mkdirs(entry->home, 0755, err);

	if (r < 0)
		return r;
	if (geteuid() == 0 && stat(entry->home, &st) == 0 && st.st_uid != uid &&
	    chown(entry->home, uid, entry->maps ? getegid() : entry->gid) < 0 &&
	    access(entry->home, W_OK) < 0)
		return err_errno(err, errno, "giving '%s' to the user", entry->home);
	return 0;
}

/* Without a name some programs do not work (ssh), most do. */
static void say_nameless(const struct entry *entry, int r)
{
	struct err err;

	err_errno(&err, -r, "user %u has no name here", entry->uid);
	err_hint(&err, "start the container with a writable /etc/passwd, or as a user that it has");
	entry_warn(&err);
}

/* In a namespace of ours every table can be covered; the rights for that go with it. */
static int be_inside(const struct entry *entry, const struct entry_binds *binds, struct err *err)
{
	int r = enter_namespace(entry, err);

	if (r < 0)
		return r;
	r = name_user(entry, cover);
	if (r < 0)
		say_nameless(entry, r);
	r = entry_binds_do(binds, err);
	return r < 0 ? r : caps_drop_all(err);
}

/* We are him; where nobody has written his name down, we do. */
static int be_named(const struct entry *entry, const struct entry_binds *binds, struct err *err)
{
	struct err ignored; /* the reason is said */
	int r = entry->uid == 0 || has_name(entry->uid) ? 0 : name_user(entry, write_table);

	if (binds->text)
		return be_inside(entry, binds, err);
	if (r < 0 && be_inside(entry, binds, &ignored) < 0)
		say_nameless(entry, r);
	return 0;
}

/* Root becomes him, for whom nothing is mounted before he is. */
static int be_other(const struct entry *entry, const struct entry_binds *binds, struct err *err)
{
	int r = name_user(entry, write_table);

	if (r < 0)
		say_nameless(entry, r);
	if (binds->text && unshare(CLONE_NEWNS) < 0)
		return err_errno(err, errno, "making a mount namespace");
	r = entry_binds_do(binds, err);
	return r < 0 ? r : set_ids(entry, err);
}

int entry_become(const struct entry *entry, const struct entry_binds *binds, struct err *err)
{
	int r = own_home(entry, err);

	if (r < 0)
		return r;
	if (entry->maps)
		r = be_inside(entry, binds, err);
	else if (entry->uid == geteuid())
		r = be_named(entry, binds, err);
	else
		r = be_other(entry, binds, err);
	if (r == 0 && geteuid() && os_no_new_privileges() < 0)
		r = err_errno(err, errno, "no_new_privs");
	return r;
}
