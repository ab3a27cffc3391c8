/* SPDX-License-Identifier: MIT */
/* wrapix-entry [COMMAND...], and 'wrapix-entry builder': the order of work. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "entry/builder.h"
#include "entry/entry.h"
#include "entry/link.h"
#include "entry/tree.h"
#include "os/fs.h"
#include "os/socket.h"
#include "os/tty.h"

#define WORKSPACE "/workspace"

enum { KEY_END_LEN = 20, ENV_MAX = 16 << 20 };

void entry_say(const char *level, const struct err *err)
{
	fprintf(stderr, "wrapix-entry: %s%s\n", level, err->msg);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
}

void entry_warn(const struct err *err)
{
	entry_say("warning: ", err);
}

/* --- what the engine left for us --- */

/* The directories where the image has its programs come after those that we are told of. */
static void set_path(const char *ours)
{
	const char *images = getenv("PATH");
	char *both = NULL;

	if (!images || asprintf(&both, "%s:%s", ours, images) < 0)
		both = NULL;
	setenv("PATH", both ? both : ours, 1);
	free(both);
}

static int take_environment(const char *stage, struct err *err)
{
	_cleanup_close_ int dir = open(stage, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *data = NULL;
	size_t len = 0;
	int r = dir < 0 ? -errno : os_read_file_at(dir, "env", ENV_MAX, &data, &len);

	if (r < 0 && !(r == -ENOENT && dir >= 0))
		return err_errno(err, -r, "reading '%s/env'", stage);
	for (char *p = data; p && p < data + len; p += strlen(p) + 1) {
		char *equals = strchr(p, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (!strcmp(p, "PATH"))
			set_path(equals + 1);
		else
			setenv(p, equals + 1, 1);
		*equals = '=';
	}
	if (data)
		explicit_bzero(data, len);
	free(data);
	return 0;
}

/* As whoever we are at the start, who alone may write everywhere. */
static int take_stage(const struct entry *entry, struct err *err)
{
	const char *stage = getenv("WRAPIX_STAGE");
	struct tree tree = TREE_AS_IS;
	char path[4096];

	if (!stage)
		return 0;
	if (stage[0] != '/' || snprintf(path, sizeof(path), "%s/tree", stage) >= (int)sizeof(path))
		return err_usage(err, "WRAPIX_STAGE must be an absolute path");
	if (geteuid() == 0 && !entry->maps)
		tree = (struct tree){ entry->uid, entry->gid, NULL, NULL };
	return tree_copy_to(&tree, path, "/", err);
}

/* --- the user's files --- */

/* What stands between quotes of JSON; a key of other characters is none that we know. */
static const char *key_end(char buffer[KEY_END_LEN + 1])
{
	_cleanup_free_ char *name = NULL;
	const char *value = NULL;
	size_t len;

	buffer[0] = '\0';
	if (os_read_file_at(AT_FDCWD, "/" ENTRY_KEY, 256, &name, &len) == 0) {
		name[strcspn(name, "\n")] = '\0';
		value = getenv(name);
	}
	if (!value || value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789-_.+=~")])
		return buffer;
	len = strlen(value);
	snprintf(buffer, KEY_END_LEN + 1, "%s",
		 len > KEY_END_LEN ? value + len - KEY_END_LEN : value);
	return buffer;
}

static void make_home(const struct entry *entry)
{
	char end[KEY_END_LEN + 1] = "";
	struct tree tree = { -1U, -1U, ENTRY_HOLE, key_end(end) };
	struct err err;

	/* An agent without its settings asks questions; one that does not start answers none. */
	if (tree_copy_to(&tree, "/" ENTRY_HOME, entry->home, &err) < 0)
		entry_warn(&err);
	if (entry_keys(entry, &err) < 0)
		entry_warn(&err);
}

/* --- who --- */

static bool read_number(const char *name, unsigned *ret)
{
	const char *text = getenv(name);
	char *end;
	unsigned long number;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || number >= -1U)
		return false;
	*ret = (unsigned)number;
	return true;
}

/* The one who is asked for; else, for root, whose the project is; else we are him already. */
static int find_user(struct entry *entry, struct err *err)
{
	const char *home = getenv("HOME"), *user = getenv("WRAPIX_USER");
	struct stat st;

	*entry = (struct entry){ .uid = geteuid(), .gid = getegid() };
	if (getenv("WRAPIX_UID")) {
		if (!read_number("WRAPIX_UID", &entry->uid))
			return err_usage(err, "WRAPIX_UID is not a number of a user");
		entry->gid = entry->uid;
		if (getenv("WRAPIX_GID") && !read_number("WRAPIX_GID", &entry->gid))
			return err_usage(err, "WRAPIX_GID is not a number of a group");
	} else if (entry->uid == 0 && stat(WORKSPACE, &st) == 0 && st.st_uid) {
		entry->uid = st.st_uid;
		entry->gid = st.st_gid;
	}
	entry->maps = entry_maps(entry);
	if (user && (!*user || *user == '-' || user[strcspn(user, ":/\n")]))
		return err_usage(err, "WRAPIX_USER is no user's name");
	entry->user = user ? user : "wrapix";
	entry->home = home && home[0] == '/' && home[1] ? home : "/home/wrapix";
	setenv("HOME", entry->home, 1);
	setenv("USER", entry->user, 1);
	setenv("LOGNAME", entry->user, 1);
	return 0;
}

/* Before anybody else runs here: the supervisor takes one connection and no other. */
static int connect_link(int *ret, struct err *err)
{
	const char *path = getenv("WRAPIX_LINK");

	struct link_message message = { LINK_HELLO, 0 };

	*ret = path ? os_connect_unix(path, 0) : -1;
	if (!path)
		return 0;
	if (*ret < 0)
		return err_errno(err, errno, "reaching the supervisor by '%s'", path);
	if (send(*ret, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message) ||
	    recv(*ret, &message, sizeof(message), MSG_WAITALL) != sizeof(message) ||
	    message.type != LINK_GO)
		return err_set(err, EPIPE, "the supervisor is gone");
	return 0;
}

/* Who, where, with what; in this order. */
static int become(struct entry *entry, struct err *err)
{
	const char *stage = getenv("WRAPIX_STAGE");
	struct entry_binds binds = { 0 };
	int r = find_user(entry, err);

	if (r == 0)
		r = take_stage(entry, err);
	if (r == 0 && stage)
		r = entry_binds_load(stage, &binds, err);
	if (r == 0)
		r = entry_forward(err);
	if (r == 0)
		r = entry_become(entry, &binds, err);
	free(binds.text);
	return r;
}

/* An engine that starts in '/' has not been told where the project is. */
static int enter_project(struct err *err)
{
	const char *cwd = getenv("WRAPIX_CWD");
	char here[4] = "";

	if (cwd)
		return chdir(cwd) < 0 ? err_errno(err, errno, "entering '%s'", cwd) : 0;
	if (getcwd(here, sizeof(here)) && !strcmp(here, "/") && chdir(WORKSPACE) < 0)
		return errno == ENOENT ? 0 : err_errno(err, errno, "entering '" WORKSPACE "'");
	return 0;
}

static void set_size(void)
{
	unsigned rows, columns;

	if (read_number("WRAPIX_ROWS", &rows) && read_number("WRAPIX_COLUMNS", &columns))
		tty_set_size(0, TTY_SIZE(rows, columns));
}

static int prepare(int *ret_link, struct err *err)
{
	static const char *const ours[] = { "WRAPIX_UID",   "WRAPIX_GID",  "WRAPIX_USER",
					    "WRAPIX_STAGE", "WRAPIX_LINK", "WRAPIX_FORWARD",
					    "WRAPIX_CWD",   "WRAPIX_ROWS", "WRAPIX_COLUMNS" };
	const char *stage = getenv("WRAPIX_STAGE");
	struct entry entry = { 0 };
	int r = stage ? take_environment(stage, err) : 0;

	if (r == 0)
		r = connect_link(ret_link, err);
	if (r == 0)
		r = become(&entry, err);
	if (r < 0)
		return r;
	known(entry.home);
	make_home(&entry);
	set_size();
	r = enter_project(err);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		unsetenv(ours[i]);
	return r;
}

int main(int argc, char **argv)
{
	static char *const shell[] = { (char *)"/bin/sh", NULL };
	struct err err = { 0 };
	sigset_t all;
	char *mark;
	int link = -1;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	umask(022);
	if (argc == 2 && !strcmp(argv[1], "builder"))
		return entry_builder();
	if (prepare(&link, &err) < 0) {
		entry_say("", &err);
		return EXIT_WRAPIX;
	}
	mark = getenv("WRAPIX_MARK");
	mark = mark ? strdup(mark) : NULL;
	unsetenv("WRAPIX_MARK");
	return entry_run(argc > 1 ? argv + 1 : (char **)shell, link, mark);
}
