/* SPDX-License-Identifier: MIT */
/* The project's content when the session began, and merging with it: all by the user's own git. */
#include "cow/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/copy.h"
#include "cow/show.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/quiet_git.h"

#define EXCLUDES_MAX ((size_t)4 << 20)

/* Nor does git keep what it would have to find again in an index of ours. */
static const struct git_setting settings[] = {
	{ "core.untrackedCache", "false" },
	{ "core.splitIndex", "false" },
};

static void add_environment(struct arena *a, struct strv *env, const struct cow *cow)
{
	static const char *const passed[] = { "PATH", "HOME", "XDG_CONFIG_HOME", "LANG", "USER" };

	for (size_t i = 0; i < ARRAY_LEN(passed); i++)
		if (getenv(passed[i]))
			strv_addf(a, env, "%s=%s", passed[i], getenv(passed[i]));
	quiet_git_add_settings(a, env, settings, ARRAY_LEN(settings));
	quiet_git_add_env(a, env, "none");
	if (cow->git_top)
		strv_addf(a, env, "GIT_CEILING_DIRECTORIES=%s", path_parent(a, cow->git_top));
	strv_add(a, env, "GIT_NO_REPLACE_OBJECTS=1");
	strv_add(a, env, "GIT_OPTIONAL_LOCKS=0");
}

static int run_git(const struct cow *cow, const char *const *args, char *const *extra,
		   struct os_command command)
{
	struct arena arena = { 0 };
	struct strv argv = { 0 }, env = { 0 };
	char *git = os_find_program(&arena, "git", getenv("PATH"), cow->project);
	int r = -ENOENT;

	if (git) {
		strv_add(&arena, &argv, git);
		for (; *args; args++)
			strv_add(&arena, &argv, *args);
		add_environment(&arena, &env, cow);
		for (; extra && *extra; extra++)
			strv_add(&arena, &env, *extra);
		command.cwd = cow->project;
		command.argv = argv.v;
		command.env = env.v;
		r = os_run(&command);
	}
	arena_release(&arena);
	return r;
}

int base_git(const struct cow *cow, const char *const *args, char *const *extra, int in, int out)
{
	return run_git(cow, args, extra, (struct os_command){ .in = in, .out = out });
}

int base_ask(const struct cow *cow, const char *const *args, int in, int out, int most,
	     struct err *err)
{
	_cleanup_close_ int said = os_said_open(); /* without it the reason is not known */
	_cleanup_str_ struct str line = { 0 };
	int status = run_git(cow, args, NULL,
			     (struct os_command){ .in = in, .out = out, .said = said });

	if (status == -ENOENT)
		return err_set(err, ENOENT, "git is not installed");
	if (status < 0)
		return err_errno(err, -status, "running 'git %s'", args[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= most)
		return WEXITSTATUS(status);
	return os_said_line(said, false, &line)
		       ? err_set(err, EIO, "'git %s' failed: %s", args[0], line.s)
		       : err_set(err, EIO, "'git %s' failed", args[0]);
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static int worked(int status)
{
	return status < 0 ? status : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/*
 * The variables that lead git to the session's own repository, over the project's files. No configuration counts there
 * but the few lines that we wrote: neither the repository's nor the user's can name a filter or another program.
 */
static char *const *store_env(struct arena *arena, const struct cow *cow)
{
	struct strv env = { 0 };

	strv_addf(arena, &env, "GIT_DIR=%s/%s/base", cow->base, cow->id);
	strv_addf(arena, &env, "GIT_WORK_TREE=%s", cow->git_top ? cow->git_top : cow->project);
	strv_add(arena, &env, "GIT_CONFIG_NOSYSTEM=1");
	strv_add(arena, &env, "GIT_CONFIG_GLOBAL=/dev/null");
	strv_add(arena, &env, "GIT_ATTR_NOSYSTEM=1");
	return env.v;
}

static int scratch(const struct cow *cow)
{
	int fd = openat(cow->dir, "base", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* What git says, as text; NULL when it fails. */
static char *say(const struct cow *cow, const char *const *args, size_t max)
{
	_cleanup_close_ int fd = scratch(cow);
	char *text = NULL;
	size_t len;

	if (fd < 0 || worked(base_git(cow, args, NULL, -1, fd)) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    os_read_fd(fd, max, &text, &len) < 0)
		return NULL;
	return text;
}

/* Where things are in the repository, absolute. */
struct origin {
	char *format, *objects, *index, *exclude;
};

static bool find_origin(struct arena *arena, const struct cow *cow, struct origin *ret)
{
	_cleanup_free_ char *text = say(cow,
					ARGS("rev-parse", "--show-object-format", "--git-path",
					     "objects", "--git-path", "index", "--git-path",
					     "info/exclude"),
					4 * PATH_MAX);
	char **parts[] = { &ret->format, &ret->objects, &ret->index, &ret->exclude };
	char *line = text, *end;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++, line = end + 1) {
		end = line ? strchr(line, '\n') : NULL;
		if (!end)
			return false;
		*end = '\0';
		*parts[i] = i ? path_join(arena, cow->project, line) : arena_strdup(arena, line);
	}
	return !*line; /* a name with a newline in it is none of ours */
}

static int write_text(int base, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(base, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : os_write_all(fd, text, strlen(text));
}

static void add_file(struct str *out, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (*path && os_read_file_at(AT_FDCWD, path, EXCLUDES_MAX, &text, &len) == 0)
		str_addf(out, "%s\n", text);
}

/* What is ignored here, by the user's file and the repository's; a default one git finds by itself. */
static int write_exclude(const struct cow *cow, const struct origin *origin, int base)
{
	_cleanup_free_ char *file = say(
		cow, ARGS("config", "--type=path", "--get", "core.excludesFile"), PATH_MAX);
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "");
	if (file) {
		file[strcspn(file, "\n")] = '\0';
		add_file(&out, file);
	}
	add_file(&out, origin->exclude);
	return write_text(base, "info/exclude", out.s);
}

/* An index may be a few entries over one that it shares, which lies beside it. */
static int copy_index(struct arena *arena, const struct origin *origin, int base)
{
	const char *parent = path_parent(arena, origin->index);
	_cleanup_dir_ DIR *dir = os_dir_open(AT_FDCWD, parent);
	struct dirent *entry;
	struct err err;
	int r = 0;

	/* A repository without a commit has none. */
	if (access(origin->index, F_OK) == 0)
		r = copy_tree(AT_FDCWD, origin->index, base, "index", &err);
	while (r == 0 && dir && (entry = os_dir_next(dir)))
		if (str_starts(entry->d_name, "sharedindex."))
			r = copy_tree(AT_FDCWD, path_join(arena, parent, entry->d_name), base,
				      entry->d_name, &err);
	return r < 0 ? -err.code : 0;
}

/* A repository of the session's own: its objects are the project's and what is added. */
static int make_store(struct arena *arena, const struct cow *cow, int base)
{
	static const char *const dirs[] = { "objects", "objects/info", "refs", "info" };
	struct origin origin;
	bool sha1;
	int r = 0;

	if (!find_origin(arena, cow, &origin))
		return -ENOENT;
	sha1 = !strcmp(origin.format, "sha1");
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdirat(base, dirs[i], 0700) < 0)
			return -errno;
	const char *const files[][2] = {
		{ "objects/info/alternates", arena_printf(arena, "%s\n", origin.objects) },
		{ "config", sha1 ? "[core]\n\trepositoryformatversion = 0\n"
				 : arena_printf(arena,
						"[core]\n\trepositoryformatversion = 1\n"
						"[extensions]\n\tobjectFormat = %s\n",
						origin.format) },
		/* Above all that the project's own attributes say: content is kept as it is. */
		{ "info/attributes", "* -filter -text -ident -working-tree-encoding\n" },
		{ "HEAD", "ref: refs/heads/none\n" },
	};
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++)
		r = write_text(base, files[i][0], files[i][1]);
	if (r == 0)
		r = write_exclude(cow, &origin, base);
	return r < 0 ? r : copy_index(arena, &origin, base);
}

/* Only what somebody may merge is kept: a regular file that is not too large. A repository has a '/' at its end. */
static bool is_kept(int root, const char *path)
{
	char parent[PATH_MAX];
	const char *name = strrchr(path, '/');
	struct stat st;
	_cleanup_close_ int dir = -1;

	if (snprintf(parent, sizeof(parent), "%.*s", name ? (int)(name - path) : 1,
		     name ? path : ".") >= (int)sizeof(parent))
		return false;
	name = name ? name + 1 : path;
	dir = os_openat2(root, parent, O_PATH | O_DIRECTORY, 0,
			 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return dir >= 0 && *name && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && st.st_size <= (off_t)SHOW_MAX &&
	       faccessat(dir, name, R_OK, 0) == 0;
}

/* Those of the listed paths that are kept, as git takes them. The number of them or -errno. */
static int choose(const struct cow *cow, int listed, int chosen)
{
	_cleanup_close_ int root = os_openat2(AT_FDCWD, cow->project, O_PATH | O_DIRECTORY, 0,
					      RESOLVE_NO_SYMLINKS);
	FILE *in = root < 0 ? NULL : fdopen(listed, "r"), *out = NULL;
	int copy = in ? fcntl(chosen, F_DUPFD_CLOEXEC, 3) : -1, n = 0;
	char *path = NULL;
	size_t room = 0;
	ssize_t len;

	if (!in)
		close(listed);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	while (out && (len = getdelim(&path, &room, '\0', in)) > 0)
		if (is_kept(root, path) && fwrite(path, 1, (size_t)len, out) == (size_t)len)
			n++;
	free(path);
	if (in)
		fclose(in);
	if (!out || fclose(out) != 0 || lseek(chosen, 0, SEEK_SET) < 0)
		return -EIO;
	return n;
}

/*
 * What differs from the index, and what is not in it. Not by 'git add': that asks each submodule how it is, by a git
 * that obeys the submodule's own configuration. What is gone stays in the index, and has a time that nobody asks for.
 */
static int take_changed(const struct cow *cow, char *const *env)
{
	_cleanup_close_ int chosen = scratch(cow);
	int listed = scratch(cow), n;
	int r = chosen < 0 || listed < 0 ? -EIO : 0;

	if (r == 0)
		r = worked(base_git(cow, ARGS("ls-files", "-z", "-m", "-o", "--exclude-standard"),
				    env, -1, listed));
	if (r < 0 || lseek(listed, 0, SEEK_SET) < 0) {
		if (listed >= 0)
			close(listed);
		return -EIO;
	}
	n = choose(cow, listed, chosen);
	return n <= 0 ? n
		      : worked(base_git(cow,
					ARGS("update-index", "-z", "--add", "--remove", "--replace",
					     "--stdin"),
					env, chosen, -1));
}

int base_write(const struct cow *cow, struct err *err)
{
	_cleanup_close_ int base = -1, tree = -1;
	struct arena arena = { 0 };
	char *const *env = store_env(&arena, cow);
	int r;

	if (!cow->git_top)
		return 0;
	if (mkdirat(cow->dir, "base", 0700) < 0)
		return errno == EEXIST ? 0 : err_errno(err, errno, "creating 'base'");
	base = openat(cow->dir, "base", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = make_store(&arena, cow, base);
	if (r == 0)
		r = take_changed(cow, env);
	tree = openat(base, "tree.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (r == 0 || r == -EIO) /* a file that cannot be read is no reason to know none */
		r = worked(base_git(cow, ARGS("write-tree", "--missing-ok"), env, -1, tree));
	if (r == 0 && renameat(base, "tree.new", base, "tree") < 0)
		r = -errno;
	arena_release(&arena);
	return r < 0 && r != -ENOENT ? err_errno(err, -r, "keeping the project's content") : 0;
}

/* "  mtime: SECONDS:NANOSECONDS" and "  size: BYTES" of the index that the content was kept with. */
bool base_is(const struct cow *cow, const char *path, const struct node *node)
{
	_cleanup_close_ int out = scratch(cow);
	_cleanup_free_ char *text = NULL;
	struct arena arena = { 0 };
	long long seconds = -1, nanoseconds = 0, size = -1;
	const char *at;
	size_t len;
	bool known = out >= 0 &&
		     worked(base_git(cow,
				     ARGS("--literal-pathspecs", "ls-files", "--debug", "--", path),
				     store_env(&arena, cow), -1, out)) == 0 &&
		     lseek(out, 0, SEEK_SET) == 0 && os_read_fd(out, 65536, &text, &len) == 0;

	arena_release(&arena);
	if (!known)
		return false;
	at = strstr(text, "\n  mtime: ");
	if (at && sscanf(at, "\n  mtime: %lld:%lld", &seconds, &nanoseconds) != 2)
		return false;
	at = strstr(text, "\n  size: ");
	if (at && sscanf(at, "\n  size: %lld", &size) != 1)
		return false;
	return size == (long long)node->size && seconds == node->mtime / 1000000000 &&
	       (!nanoseconds || nanoseconds == node->mtime % 1000000000);
}

int base_read(const struct cow *cow, const char *path, int out)
{
	_cleanup_free_ char *tree = NULL;
	struct arena arena = { 0 };
	const char *below = cow->git_top ? path_below(cow->project, cow->git_top) : NULL;
	char *name;
	size_t len;
	int r;

	if (!below || os_read_file_at(cow->dir, "base/tree", 128, &tree, &len) < 0 || len < 41)
		return -ENOENT;
	tree[strcspn(tree, "\n")] = '\0';
	name = arena_printf(&arena, "%s:%s%s%s", tree, below, *below ? "/" : "", path);
	r = worked(base_git(cow, ARGS("cat-file", "blob", name), store_env(&arena, cow), -1, out));
	arena_release(&arena);
	return r < 0 ? -ENOENT : 0;
}

int base_merge(const struct cow *cow, const char *ours, const char *base, const char *theirs,
	       int out)
{
	int status = base_git(cow, ARGS("merge-file", "-p", "-q", ours, base, theirs), NULL, -1,
			      out);

	if (status < 0)
		return status;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
