/* SPDX-License-Identifier: MIT */
/*
 * Commits by git's own plumbing: a tree is written from an index of our own, so that what the user has
 * staged meanwhile is neither taken along nor lost, and the branch moves by one compare-and-swap.
 */
#include "ralph/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/quiet_git.h"

enum { OUTPUT_MAX = 64 << 20 };

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct call {
	const char *const *args;
	const char *index;
	const char *tree;  /* another work tree than the project; NULL: that */
	int in, out, keep; /* as os_command's */
	bool push;
};

/* The user's environment without what would lead git elsewhere. A push is the user's own: it goes where, and by the
 * programs, that the configuration says. */
static void add_environment(struct arena *arena, struct strv *env, bool push)
{
	for (char **e = environ; *e; e++)
		if (!str_starts(*e, "GIT_") ||
		    (push &&
		     (str_starts(*e, "GIT_SSH") || str_starts(*e, "GIT_ALLOW_PROTOCOL="))) ||
		    str_starts(*e, "GIT_AUTHOR_") || str_starts(*e, "GIT_COMMITTER_") ||
		    str_starts(*e, "GIT_CONFIG_"))
			strv_add(arena, env, *e);
	if (push)
		strv_add(arena, env, "GIT_TERMINAL_PROMPT=0");
	else
		quiet_git_add_env(arena, env, "none");
	strv_add(arena, env, "GIT_EDITOR=false");
}

static void add_places(const struct work *work, struct arena *arena, struct strv *env,
		       const struct call *call)
{
	if (call->index)
		strv_addf(arena, env, "GIT_INDEX_FILE=%s", call->index);
	if (!call->tree)
		return;
	strv_addf(arena, env, "GIT_DIR=%s", path_join(arena, work->site.top, ".git"));
	strv_addf(arena, env, "GIT_WORK_TREE=%s", call->tree);
}

static int run(const struct work *work, struct arena *arena, const struct call *call)
{
	struct strv argv = { 0 }, env = { 0 };
	struct os_command command = {
		.cwd = call->tree ? call->tree : work->site.top,
		.in = call->in,
		.out = call->out,
		.keep = call->keep,
	};
	char *git = os_find_program(arena, "git", getenv("PATH"), work->site.top);
	int status;

	if (!git)
		return -ENOENT;
	strv_add(arena, &argv, git);
	if (!call->push)
		quiet_git_add_words(arena, &argv);
	for (const char *const *arg = call->args; *arg; arg++)
		strv_add(arena, &argv, *arg);
	add_environment(arena, &env, call->push);
	add_places(work, arena, &env, call);
	command.argv = argv.v;
	command.env = env.v;
	status = os_run(&command);
	if (status < 0)
		return status;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int git_tell(const struct work *work, struct arena *arena, const char *const *args, int keep)
{
	return run(work, arena, &(struct call){ .args = args, .in = -1, .out = -1, .keep = keep });
}

static int ask(const struct work *work, struct arena *arena, struct call *call, const char *input,
	       size_t input_len, char **ret)
{
	_cleanup_close_ int in = input ? os_memory_file("git", input, input_len) : -1;
	_cleanup_close_ int out = os_memory_file("git", NULL, 0);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int status;

	call->in = in;
	call->out = out;
	status = out < 0 || (input && in < 0) ? -EIO : run(work, arena, call);
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

int git_ask(const struct work *work, struct arena *arena, const char *const *args,
	    const char *index, const char *input, size_t input_len, char **ret)
{
	return ask(work, arena, &(struct call){ .args = args, .index = index }, input, input_len,
		   ret);
}

int git_ask_in(const struct work *work, struct arena *arena, const char *tree,
	       const char *const *args, const struct str *input, char **ret)
{
	return ask(work, arena, &(struct call){ .args = args, .tree = tree }, input->s, input->len,
		   ret);
}

int git_write(const struct work *work, struct arena *arena, const char *const *args, int out)
{
	return run(work, arena, &(struct call){ .args = args, .in = -1, .out = out });
}

int git_failed(int status, const char *what, struct err *err)
{
	if (status == -ENOENT)
		return err_set(err, ENOENT, "git is not installed");
	if (status < 0)
		return err_errno(err, -status, "%s", what);
	return err_set(err, EIO, "%s: git ended with status %d", what, status);
}

void git_add_paths(struct str *out, char *const *paths, size_t n)
{
	str_add(out, "");
	for (size_t i = 0; i < n; i++)
		str_addn(out, paths[i], strlen(paths[i]) + 1);
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
		return git_failed(status, "asking git who you are", err);
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

/* HEAD, and its tree. An unborn branch has neither. */
struct head {
	char *commit, *tree;
	bool in_index; /* ours holds it already */
};

static void split_head(struct head *head, char *text)
{
	char *tree = text ? strchr(text, '\n') : NULL;

	if (!tree)
		return;
	*tree++ = '\0';
	*head = (struct head){ text, tree, false };
}

/* What the last step left, without asking: when it is not so any more, the branch does not move. */
static bool recall_head(const struct work *work, struct arena *arena, struct head *head)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	*head = (struct head){ 0 };
	if (os_read_file_at(AT_FDCWD, work_file(work, arena, "index.head"), 256, &text, &len) == 0)
		split_head(head, arena_strdup(arena, text));
	head->in_index = head->commit;
	return head->in_index;
}

static void ask_head(const struct work *work, struct arena *arena, struct head *head)
{
	char *text = NULL;

	*head = (struct head){ 0 };
	if (git_ask(work, arena, ARGS("rev-parse", "HEAD", "HEAD^{tree}"), NULL, NULL, 0, &text) ==
	    0)
		split_head(head, text);
}

/*
 * Writes the tree of HEAD with the paths over it. The index is ours; after a commit it holds what HEAD
 * holds, and a file beside it says so, for the next time.
 */
static int write_tree(const struct work *work, struct arena *arena, const struct str *list,
		      const struct head *head, char **ret, struct err *err)
{
	char *index = work_file(work, arena, "index");
	int status = 0;

	/* One that a killed git had locked is of no use to anybody. */
	unlink(arena_printf(arena, "%s.lock", index));
	unlink(work_file(work, arena, "index.head"));
	if (!head->in_index)
		unlink(index);
	if (!head->in_index && head->commit)
		status = git_ask(work, arena, ARGS("read-tree", head->commit), index, NULL, 0,
				 NULL);
	if (status == 0)
		status = git_ask(
			work, arena,
			ARGS("update-index", "--add", "--remove", "--replace", "-z", "--stdin"),
			index, list->s, list->len, NULL);
	if (status == 0)
		/* A partial clone lacks objects of files that are not changed, and they are not fetched. */
		status = git_ask(work, arena, ARGS("write-tree", "--missing-ok"), index, NULL, 0,
				 ret);
	return status ? git_failed(status, "writing a tree", err) : 0;
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
	return status ? git_failed(status, "making a commit", err) : 0;
}

struct commit_job {
	const struct work *work;
	struct arena *arena;
	struct str list; /* of paths */
	const char *message;
	int (*before)(void *ctx, const char *id, struct err *err);
	void *ctx;
};

/* -ESTALE: HEAD is another one. */
static int commit_on(const struct commit_job *job, const struct head *head, char **ret,
		     struct err *err)
{
	const struct work *work = job->work;
	struct arena *a = job->arena;
	char *tree = NULL, *commit = NULL, *known;
	struct err ignored;
	int r = write_tree(work, a, &job->list, head, &tree, err);

	known(r < 0 || tree);
	if (r == 0 && head->tree && !strcmp(head->tree, tree))
		return head->in_index ? -ESTALE : 0;
	if (r == 0)
		r = make_commit(work, a, tree, head->commit, job->message, &commit, err);
	if (r == 0)
		r = job->before(job->ctx, commit, err);
	if (r < 0)
		return r;
	r = git_move_branch(work, a, commit, head->commit, err);
	if (r < 0)
		return r;
	known = arena_printf(a, "%s\n%s", commit, tree);
	(void)work_write_soon(work, "index.head", known, strlen(known),
			      &ignored); /* else it is read again */
	*ret = commit;
	return 0;
}

int git_commit(const struct work *work, struct arena *arena, char *const *paths, size_t n,
	       const char *message, int (*before)(void *ctx, const char *id, struct err *err),
	       void *ctx, char **ret, struct err *err)
{
	struct commit_job job = {
		.work = work, .arena = arena, .message = message, .before = before, .ctx = ctx
	};
	struct head head;
	int r = -ESTALE;

	*ret = NULL;
	git_add_paths(&job.list, paths, n);
	if (recall_head(work, arena, &head))
		r = commit_on(&job, &head, ret, err);
	if (r == -ESTALE) {
		ask_head(work, arena, &head);
		r = commit_on(&job, &head, ret, err);
	}
	if (r == 0 && *ret)
		git_refresh(work, paths, n);
	str_release(&job.list);
	return r;
}

int git_push(const struct work *work, struct err *err)
{
	struct arena arena = { 0 };
	struct call call = { .args = ARGS("push", "--quiet"), .in = -1, .out = -1, .push = true };
	int status = run(work, &arena, &call);

	arena_release(&arena);
	if (status == 0)
		return 0;
	git_failed(status, "pushing", err);
	return err_hint(err, "'git push' says why; the commits are there");
}
