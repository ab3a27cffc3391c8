/* SPDX-License-Identifier: MIT */
/*
 * Commits by git's own plumbing: a tree is written from an index of our own, so that what the user has
 * staged meanwhile is neither taken along nor lost, and the branch moves by one compare-and-swap.
 */
#include "ralph/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"

enum { OUTPUT_MAX = 64 << 20, INDEX_MAX = 1 << 30 };

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The user's environment without what would lead git elsewhere. */
static void add_environment(struct arena *arena, struct strv *env, const char *index, bool push)
{
	for (char **e = environ; *e; e++)
		if (!str_starts(*e, "GIT_") || (push && str_starts(*e, "GIT_SSH")) ||
		    str_starts(*e, "GIT_AUTHOR_") || str_starts(*e, "GIT_COMMITTER_") ||
		    str_starts(*e, "GIT_CONFIG_"))
			strv_add(arena, env, *e);
	strv_add(arena, env, "GIT_TERMINAL_PROMPT=0");
	strv_add(arena, env, "GIT_EDITOR=false");
	if (index)
		strv_addf(arena, env, "GIT_INDEX_FILE=%s", index);
}

static int memory_file(const char *text, size_t len)
{
	int fd = memfd_create("git", MFD_CLOEXEC);

	if (fd >= 0 && len && (os_write_all(fd, text, len) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		close_ptr(&fd);
	return fd;
}

static int run(const struct work *work, struct arena *arena, const char *const *args,
	       const char *index, int in, int out, bool push)
{
	struct strv argv = { 0 }, env = { 0 };
	struct os_command command = { .cwd = work->site.top, .in = in, .out = out };
	char *git = os_find_program(arena, "git", getenv("PATH"), work->site.top);
	int status;

	if (!git)
		return -ENOENT;
	strv_add(arena, &argv, git);
	if (!push) {
		strv_add(arena, &argv, "-c");
		strv_add(arena, &argv, "core.hooksPath=/dev/null");
	}
	for (; *args; args++)
		strv_add(arena, &argv, *args);
	add_environment(arena, &env, index, push);
	command.argv = argv.v;
	command.env = env.v;
	status = os_run(&command);
	if (status < 0)
		return status;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int git_ask(const struct work *work, struct arena *arena, const char *const *args,
	    const char *index, const char *input, size_t input_len, char **ret)
{
	_cleanup_close_ int in = input ? memory_file(input, input_len) : -1;
	_cleanup_close_ int out = memory_file(NULL, 0);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int status = out < 0 || (input && in < 0) ? -EIO
						  : run(work, arena, args, index, in, out, false);

	if (ret)
		*ret = NULL;
	if (status < 0 || !ret)
		return status;
	if (fstat(out, &st) < 0 || st.st_size > OUTPUT_MAX)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text || lseek(out, 0, SEEK_SET) < 0 ||
	    os_read_full(out, text, (size_t)st.st_size) != st.st_size)
		return -EIO;
	while (st.st_size && text[st.st_size - 1] == '\n')
		st.st_size--;
	*ret = arena_strndup(arena, text, (size_t)st.st_size);
	return status;
}

static int failed(int status, const char *what, struct err *err)
{
	if (status == -ENOENT)
		return err_set(err, ENOENT, "git is not installed");
	if (status < 0)
		return err_errno(err, -status, "%s", what);
	return err_set(err, EIO, "%s: git ended with status %d", what, status);
}

static void add_paths(struct str *out, char *const *paths, size_t n)
{
	str_add(out, "");
	for (size_t i = 0; i < n; i++)
		str_addn(out, paths[i], strlen(paths[i]) + 1);
}

char *git_submodules(const struct work *work, struct arena *arena)
{
	struct stat st;
	char *links = NULL;

	if (lstat(path_join(arena, work->site.top, ".gitmodules"), &st) < 0 ||
	    git_ask(work, arena,
		    ARGS("config", "-f", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$"),
		    NULL, NULL, 0, &links) != 0)
		return NULL;
	return links;
}

/* Lines of "submodule.NAME.path PATH". */
bool git_is_in_submodule(const char *links, const char *path)
{
	while (links && *links) {
		const char *link = links + strcspn(links, " \n");
		size_t len;

		link += *link == ' ';
		len = strcspn(link, "\n");
		if (len && !strncmp(path, link, len) && path[len] == '/')
			return true;
		links = link + len + (link[len] == '\n');
	}
	return false;
}

int git_ignored(const struct work *work, char *const *paths, size_t n, const char *more,
		bool *ret_ignored, struct err *err)
{
	_cleanup_str_ struct str list = { 0 };
	struct arena arena = { 0 };
	const char *extra = more ? arena_printf(&arena, "core.excludesFile=%s", more)
				 : "core.quotePath=true";
	char *out = NULL, *links = git_submodules(work, &arena);
	int status;

	/* Of a submodule's files git does not want to speak. */
	str_add(&list, "");
	for (size_t i = 0; i < n; i++)
		if (!git_is_in_submodule(links, paths[i]))
			add_paths(&list, &paths[i], 1);
	status = git_ask(work, &arena, ARGS("-c", extra, "check-ignore", "-z", "--stdin"), NULL,
			 list.s, list.len, &out);
	/* The answers come in the order of the questions. */
	for (size_t i = 0; out && status == 0 && *out && i < n; i++) {
		ret_ignored[i] = !strcmp(out, paths[i]);
		if (ret_ignored[i])
			out += strlen(out) + 1;
	}
	arena_release(&arena);
	return status < 0 || status > 1 ? failed(status, "asking which files are ignored", err) : 0;
}

int git_check(const struct work *work, struct err *err)
{
	struct arena arena = { 0 };
	char *who;
	int status = git_ask(work, &arena, ARGS("var", "GIT_COMMITTER_IDENT"), NULL, NULL, 0, &who);

	arena_release(&arena);
	if (status == 0)
		return 0;
	if (status < 0)
		return failed(status, "asking git who you are", err);
	err_usage(err, "git does not know who you are, so no step could be committed");
	return err_hint(err,
			"git config --global user.name and user.email say it; \"commit\": false "
			"makes no commits");
}

bool git_has(const struct work *work, const char *commit)
{
	struct arena arena = { 0 };
	int status = git_ask(work, &arena, ARGS("merge-base", "--is-ancestor", commit, "HEAD"),
			     NULL, NULL, 0, NULL);

	arena_release(&arena);
	return status == 0;
}

/*
 * Writes the tree of HEAD with the paths over it. The index is ours; after a commit it holds what HEAD
 * holds, and a file beside it says so, for the next time.
 */
static int write_tree(const struct work *work, struct arena *arena, const struct str *list,
		      const char *head, char **ret, struct err *err)
{
	char *index = work_file(work, arena, "index");
	_cleanup_free_ char *known = NULL;
	size_t len;
	int status = 0;
	bool fits = head &&
		    os_read_file_at(AT_FDCWD, work_file(work, arena, "index.head"), 128, &known,
				    &len) == 0 &&
		    !strcmp(known, head);

	/* One that a killed git had locked is of no use to anybody. */
	unlink(arena_printf(arena, "%s.lock", index));
	unlink(work_file(work, arena, "index.head"));
	if (!fits)
		unlink(index);
	if (!fits && head)
		status = git_ask(work, arena, ARGS("read-tree", head), index, NULL, 0, NULL);
	if (status == 0)
		status = git_ask(work, arena,
				 ARGS("update-index", "--add", "--remove", "-z", "--stdin"), index,
				 list->s, list->len, NULL);
	if (status == 0)
		status = git_ask(work, arena, ARGS("write-tree"), index, NULL, 0, ret);
	return status ? failed(status, "writing a tree", err) : 0;
}

static int make_commit(const struct work *work, struct arena *arena, const char *tree,
		       const char *head, const char *message, char **ret, struct err *err)
{
	int status = head ? git_ask(work, arena, ARGS("commit-tree", tree, "-p", head), NULL,
				    message, strlen(message), ret)
			  : git_ask(work, arena, ARGS("commit-tree", tree), NULL, message,
				    strlen(message), ret);

	if (status == 128) {
		err_set(err, EINVAL, "git makes no commit here");
		return err_hint(err,
				"git config --global user.name and user.email say who you are");
	}
	return status ? failed(status, "making a commit", err) : 0;
}

/* "ralph PID": a lock of ours, whose holder may be dead. */
static bool is_stale_lock(const char *lock)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int pid;

	return os_read_file_at(AT_FDCWD, lock, 64, &text, &len) == 0 &&
	       sscanf(text, "ralph %d", &pid) == 1 && pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

/* git's own protocol: who makes index.lock may replace the index. 0, or -EAGAIN for another try. */
static int replace_index(const char *index, const char *new, const char *lock,
			 const struct stat *was)
{
	struct stat now = { 0 };
	char mark[32];
	int r, fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) {
		if (errno == EEXIST && is_stale_lock(lock))
			unlink(lock);
		return -EAGAIN;
	}
	snprintf(mark, sizeof(mark), "ralph %d\n", (int)getpid());
	r = os_write_all(fd, mark, strlen(mark));
	close(fd);
	(void)stat(index, &now); /* none is as good as another one */
	if (r == 0 && (now.st_ino != was->st_ino || now.st_size != was->st_size ||
		       now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
		       now.st_mtim.tv_nsec != was->st_mtim.tv_nsec))
		r = -EAGAIN; /* somebody else was faster */
	if (r == 0 && rename(new, index) < 0)
		r = -errno;
	unlink(lock);
	return r;
}

/* One try: a copy of the index is brought up to date, and put in its place. */
static int refresh_once(const struct work *work, struct arena *arena, const char *index,
			const struct str *list)
{
	char *new = arena_printf(arena, "%s.ralph", index);
	_cleanup_free_ char *text = NULL;
	struct stat was = { 0 };
	_cleanup_close_ int from = open(index, O_RDONLY | O_CLOEXEC), to = -1;
	size_t len = 0;
	int r = 0;

	unlink(new);
	unlink(arena_printf(arena, "%s.lock", new)); /* of a git that was killed */
	if (from >= 0 && fstat(from, &was) == 0)
		r = os_read_fd(from, INDEX_MAX, &text, &len);
	to = r < 0 || from < 0 ? -1 : open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (r == 0 && to >= 0)
		r = os_write_all(to, text, len);
	if (r == 0 &&
	    git_ask(work, arena, ARGS("update-index", "--add", "--remove", "-z", "--stdin"), new,
		    list->s, list->len, NULL) != 0)
		r = -EIO;
	if (r == 0)
		r = replace_index(index, new, arena_printf(arena, "%s.lock", index), &was);
	unlink(new);
	return r;
}

/* The user's own index sees these paths as committed; the rest of it stays. Where somebody else has the
 * index for long, an editor of a commit, it is left to the user. */
void git_refresh(const struct work *work, char *const *paths, size_t n)
{
	_cleanup_str_ struct str list = { 0 };
	struct arena arena = { 0 };
	char *index = NULL;
	int r = git_ask(work, &arena, ARGS("rev-parse", "--git-path", "index"), NULL, NULL, 0,
			&index);

	add_paths(&list, paths, n);
	if (r == 0) {
		index = path_join(&arena, work->site.top, index);
		r = -EAGAIN;
	}
	for (int i = 0; r == -EAGAIN && i < 20; i++) {
		if (i)
			poll(NULL, 0, 100);
		r = refresh_once(work, &arena, index, &list);
	}
	if (r)
		work_say(work,
			 "git's index is in use, so it shows the files of this commit as changed; "
			 "'git reset -q' brings it up to date (remove .git/index.lock when no git "
			 "runs)");
	arena_release(&arena);
}

static bool git_moved(const struct work *work, struct arena *arena, const char *from)
{
	char *head = NULL;
	int status = git_ask(work, arena, ARGS("rev-parse", "--verify", "--quiet", "HEAD"), NULL,
			     NULL, 0, &head);

	return from ? status || strcmp(head, from) != 0 : !status;
}

/* The locks of HEAD and its branch are held for a moment; one that stays is of a git that was killed. */
static void break_stale_locks(const struct work *work, struct arena *arena)
{
	enum { STALE_SECONDS = 5 };
	const char *names[2] = { "HEAD" };
	char *branch, *path;
	struct stat st;

	if (git_ask(work, arena, ARGS("symbolic-ref", "--quiet", "HEAD"), NULL, NULL, 0, &branch) ==
	    0)
		names[1] = branch;
	for (size_t i = 0; i < ARRAY_LEN(names) && names[i]; i++) {
		const char *lock = arena_printf(arena, "%s.lock", names[i]);

		if (git_ask(work, arena, ARGS("rev-parse", "--git-path", lock), NULL, NULL, 0,
			    &path) != 0)
			continue;
		path = path_join(arena, work->site.top, path);
		if (lstat(path, &st) == 0 && time(NULL) - st.st_mtime >= STALE_SECONDS)
			unlink(path);
	}
}

static int move_branch(const struct work *work, struct arena *arena, const char *to,
		       const char *from)
{
	static const char none[] = "0000000000000000000000000000000000000000";
	int status = 1;

	for (int i = 0; status && i < 16; i++) {
		if (i) {
			break_stale_locks(work, arena);
			poll(NULL, 0, 500);
		}
		status = git_ask(
			work, arena,
			ARGS("update-ref", "-m", "ralph: a step", "HEAD", to, from ? from : none),
			NULL, NULL, 0, NULL);
		if (status == 0 || !i)
			continue;
		/* Somebody else has moved it: no lock, and no use in waiting. */
		if (git_moved(work, arena, from))
			break;
	}
	return status;
}

int git_commit(const struct work *work, struct arena *arena, char *const *paths, size_t n,
	       const char *message, int (*before)(void *ctx, const char *id, struct err *err),
	       void *ctx, char **ret, struct err *err)
{
	_cleanup_str_ struct str list = { 0 };
	char *head = NULL, *tree = NULL, *had = NULL;
	struct err ignored;
	int r, status;

	*ret = NULL;
	add_paths(&list, paths, n);
	/* An unborn branch has neither. */
	status = git_ask(work, arena, ARGS("rev-parse", "HEAD", "HEAD^{tree}"), NULL, NULL, 0,
			 &head);
	had = status == 0 ? strchr(head, '\n') : NULL;
	if (had)
		*had++ = '\0';
	else
		head = NULL;
	r = write_tree(work, arena, &list, head, &tree, err);
	if (r == 0 && had && !strcmp(had, tree))
		return 0;
	if (r == 0)
		r = make_commit(work, arena, tree, head, message, ret, err);
	if (r == 0)
		r = before(ctx, *ret, err);
	if (r < 0)
		return r;
	status = move_branch(work, arena, *ret, head);
	if (status)
		return failed(status, "moving the branch", err);
	(void)work_write(work, "index.head", *ret, strlen(*ret),
			 &ignored); /* else it is read again */
	git_refresh(work, paths, n);
	return 0;
}

int git_push(const struct work *work, struct err *err)
{
	struct arena arena = { 0 };
	int status = run(work, &arena, ARGS("push", "--quiet"), NULL, -1, -1, true);

	arena_release(&arena);
	if (status == 0)
		return 0;
	failed(status, "pushing", err);
	return err_hint(err, "'git push' says why; the commits are there");
}
