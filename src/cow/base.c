/* SPDX-License-Identifier: MIT */
/* The project's content when the session began, and merging with it: all by the user's own git. */
#include "cow/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/copy.h"
#include "cow/manifest.h"
#include "cow/show.h"
#include "os/fs.h"
#include "os/proc.h"

/* Nothing of the user's runs because of us, and nothing goes out. */
static const char *const settings[][2] = {
	{ "core.hooksPath", "/dev/null" },       { "core.fsmonitor", "false" },
	{ "core.alternateRefsCommand", "true" }, { "gc.auto", "0" },
	{ "maintenance.auto", "false" },         { "submodule.recurse", "false" },
	{ "protocol.allow", "never" },           { "core.untrackedCache", "false" },
	{ "core.splitIndex", "false" },          { "advice.addEmbeddedRepo", "false" },
};

static void add_environment(struct arena *a, struct strv *env, const struct cow *cow)
{
	static const char *const passed[] = { "PATH", "HOME", "XDG_CONFIG_HOME", "LANG", "USER" };

	for (size_t i = 0; i < ARRAY_LEN(passed); i++)
		if (getenv(passed[i]))
			strv_addf(a, env, "%s=%s", passed[i], getenv(passed[i]));
	strv_addf(a, env, "GIT_CONFIG_COUNT=%zu", ARRAY_LEN(settings));
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		strv_addf(a, env, "GIT_CONFIG_KEY_%zu=%s", i, settings[i][0]);
		strv_addf(a, env, "GIT_CONFIG_VALUE_%zu=%s", i, settings[i][1]);
	}
	if (cow->git_top)
		strv_addf(a, env, "GIT_CEILING_DIRECTORIES=%s", path_parent(a, cow->git_top));
	strv_add(a, env, "GIT_NO_LAZY_FETCH=1");
	strv_add(a, env, "GIT_NO_REPLACE_OBJECTS=1");
	strv_add(a, env, "GIT_TERMINAL_PROMPT=0");
	strv_add(a, env, "GIT_ASKPASS=/bin/false");
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

enum { LEFT_OUT_MAX = 500 }; /* git compares each with each of its paths */

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static int worked(int status)
{
	return status < 0 ? status : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* The path of something in the repository's git directory, absolute. */
static char *git_path(struct arena *arena, const struct cow *cow, const char *name)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = openat(cow->dir, "base", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	size_t len;

	if (fd < 0 ||
	    worked(base_git(cow, ARGS("rev-parse", "--git-path", name), NULL, -1, fd)) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0 || os_read_fd(fd, PATH_MAX, &text, &len) < 0 || len < 2)
		return NULL;
	text[len - 1] = '\0';
	return strchr(text, '\n') ? NULL : path_join(arena, cow->project, text);
}

/* The variables that lead git to the session's store. */
static char *const *store_env(struct arena *arena, const struct cow *cow)
{
	struct strv env = { 0 };

	strv_addf(arena, &env, "GIT_INDEX_FILE=%s/%s/base/index", cow->base, cow->id);
	strv_addf(arena, &env, "GIT_OBJECT_DIRECTORY=%s/%s/base/objects", cow->base, cow->id);
	return env.v;
}

static int make_store(struct arena *arena, const struct cow *cow, int base)
{
	char *objects = git_path(arena, cow, "objects"), *index = git_path(arena, cow, "index");
	_cleanup_close_ int fd = -1;
	char *borrowed;
	struct err err;

	if (!objects || !index)
		return -ENOENT;
	borrowed = arena_printf(arena, "%s\n", objects);
	if (mkdirat(base, "objects", 0700) < 0 || mkdirat(base, "objects/info", 0700) < 0)
		return -errno;
	fd = openat(base, "objects/info/alternates", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || os_write_all(fd, borrowed, strlen(borrowed)) < 0)
		return -EIO;
	/* A repository without a commit has none. */
	if (access(index, F_OK) == 0 && copy_tree(AT_FDCWD, index, base, "index", &err) < 0)
		return -err.code;
	return 0;
}

/* Files that nobody would merge are not kept: which, as git reads it from a file. False: there are none. */
static bool write_paths(const struct cow *cow, int base)
{
	_cleanup_str_ struct str text = { 0 };
	struct manifest manifest;
	struct err err;
	size_t left_out = 0;
	int r = manifest_load(&manifest, cow, &err);

	str_addn(&text, ".", sizeof("."));
	for (size_t i = 0; r == 0 && i < manifest.n && left_out < LEFT_OUT_MAX; i++) {
		const struct manifest_entry *entry = &manifest.v[i];

		if (!S_ISREG(entry->node.mode) || entry->node.size <= SHOW_MAX)
			continue;
		str_addf(&text, ":(exclude,literal)%s", entry->path);
		str_addn(&text, "", 1);
		left_out++;
	}
	manifest_release(&manifest);
	return left_out && os_write_file_soon(base, "paths", text.s, text.len, 0600, &err) == 0;
}

int base_write(const struct cow *cow, struct err *err)
{
	_cleanup_close_ int base = -1, tree = -1;
	struct arena arena = { 0 };
	char *const *env = store_env(&arena, cow);
	char *paths = NULL;
	int r;

	if (!cow->git_top)
		return 0;
	if (mkdirat(cow->dir, "base", 0700) < 0)
		return errno == EEXIST ? 0 : err_errno(err, errno, "creating 'base'");
	base = openat(cow->dir, "base", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = make_store(&arena, cow, base);
	if (r == 0 && write_paths(cow, base))
		paths = arena_printf(&arena, "--pathspec-from-file=%s/%s/base/paths", cow->base,
				     cow->id);
	if (r == 0)
		r = worked(base_git(
			cow,
			paths ? ARGS("add", "-A", "--ignore-errors", "--pathspec-file-nul", paths)
			      : ARGS("add", "-A", "--ignore-errors", "--", "."),
			env, -1, -1));
	tree = openat(base, "tree.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (r == 0 || r == -EIO) /* a file that cannot be read is no reason to know none */
		r = worked(base_git(cow, ARGS("write-tree"), env, -1, tree));
	if (r == 0 && renameat(base, "tree.new", base, "tree") < 0)
		r = -errno;
	arena_release(&arena);
	return r < 0 && r != -ENOENT ? err_errno(err, -r, "keeping the project's content") : 0;
}

/* "  mtime: SECONDS:NANOSECONDS" and "  size: BYTES" of the index that the content was kept with. */
bool base_is(const struct cow *cow, const char *path, const struct node *node)
{
	_cleanup_close_ int out = openat(cow->dir, "base", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
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
