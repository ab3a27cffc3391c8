/* SPDX-License-Identifier: MIT */
/*
 * The conversation with somebody else's engine (export/on.h has its words): the container is held by a
 * client whose standard input is a pipe of ours, so that it goes when we go, killed or not. Each step is a
 * client of its own. What comes back is data of a stranger's: a bundle that git checks, in a branch that
 * nothing else has.
 */
#include "api/on.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/quiet_git.h"

#define READY_MS (60 * 1000)
/* Of a result: what is taken over, and what is brought back at all. */
#define RESULT_MAX ((off_t)1 << 30)
#define BACK_MAX ((off_t)8 << 30)

extern char **environ;

struct lease {
	struct arena *arena;
	struct on_place place;
	const struct task *task;
	const char *program; /* where the client is */
	const struct on_hooks *hooks;
	pid_t holder;
	int hold; /* its standard input */
};

static void say(const struct lease *l, const char *text)
{
	if (l->hooks && l->hooks->say)
		l->hooks->say(l->hooks->ctx, text);
}

/* --- clients --- */

/* Descriptors of a client; -1: /dev/null. */
struct client {
	int in, out, errors;
	bool ends_with_us; /* a client that is in the middle of something dies with us */
	bool capped;       /* no file gets more of it than BACK_MAX */
};

static _Noreturn void become(char *const *argv, const struct client *c)
{
	const struct rlimit most = { BACK_MAX, BACK_MAX };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (c->ends_with_us)
		os_die_with_parent(SIGKILL);
	if (c->capped && setrlimit(RLIMIT_FSIZE, &most) < 0)
		_exit(126);
	if (dup2(c->in < 0 ? null : c->in, 0) < 0 || dup2(c->out < 0 ? null : c->out, 1) < 0 ||
	    dup2(c->errors < 0 ? null : c->errors, 2) < 0)
		_exit(126);
	os_close_all_but(3, NULL, 0);
	os_reset_signals();
	execve(argv[0], argv, environ);
	_exit(127);
}

static pid_t start(const struct lease *l, struct strv *words, const struct client *c)
{
	pid_t pid;

	known(l->program);
	words->v[0] = (char *)l->program;
	pid = fork();
	if (pid == 0)
		become(words->v, c);
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = os_await(pid);

	return status < 0 ? status : os_exit_code(status);
}

static int run(const struct lease *l, struct strv *words, const struct client *c)
{
	pid_t pid = start(l, words, c);

	return pid < 0 ? -errno : wait_for(pid);
}

/* One whose errors are the message when it fails. */
static int run_step(const struct lease *l, struct strv *words, int in, int out, const char *what,
		    struct err *err)
{
	_cleanup_close_ int said = os_said_open();
	_cleanup_str_ struct str line = { 0 };
	int status = run(l, words, &(struct client){ in, out, said, true, true });

	if (status == 0)
		return 0;
	if (status < 0)
		return err_errno(err, -status, "running %s", on_program(&l->place));
	return err_set(err, EIO, "%s: %s", what,
		       os_said_line(said, false, &line) ? line.s : "it failed");
}

/* --- the container --- */

/* The first word of the container says that it is there. */
static int await_ready(const struct lease *l, int from, struct err *err)
{
	struct pollfd fd = { .fd = from, .events = POLLIN };
	char word[16];
	int n = poll(&fd, 1, READY_MS);

	if (n > 0 && read(from, word, sizeof(word)) > 0)
		return 0;
	err_set(err, n == 0 ? ETIMEDOUT : EIO, "the container '%s' %s", l->place.name,
		n == 0 ? "does not start" : "ended at once");
	return err_hint(err, "does the image '%s' have /bin/sh, and does %s reach its engine?",
			l->task->image, on_program(&l->place));
}

static int hold(struct lease *l, struct err *err)
{
	_cleanup_close_ int in = -1, out = -1, from = -1;
	struct strv words = { 0 };
	int a[2], b[2];

	if (pipe2(a, O_CLOEXEC) < 0)
		return err_errno(err, errno, "running %s", on_program(&l->place));
	in = a[0];
	l->hold = a[1];
	if (pipe2(b, O_CLOEXEC) < 0)
		return err_errno(err, errno, "running %s", on_program(&l->place));
	from = b[0];
	out = b[1];
	on_up_argv(l->arena, &l->place, l->task, &words);
	l->holder = start(l, &words, &(struct client){ in, out, 2, false, false });
	if (l->holder < 0)
		return err_errno(err, errno, "running %s", on_program(&l->place));
	close(take_fd(&out));
	/* kube's pod was waited for, and has said its word before anybody listened. */
	return l->place.kind == ON_KUBE ? 0 : await_ready(l, from, err);
}

static int check_image(const struct lease *l, struct err *err)
{
	struct strv words = { 0 };
	int status;

	on_image_argv(l->arena, &l->place, l->task, &words);
	if (!words.len)
		return 0;
	status = run(l, &words, &(struct client){ -1, -1, -1, true, false });
	if (status == 0)
		return 0;
	if (status != 1) {
		err_set(err, EIO, "podman does not reach '%s'", l->place.connection);
		return err_hint(err, "'podman system connection list' names what it knows, and "
				     "'podman --connection NAME info' says why");
	}
	err_set(err, ENOENT, "there is no image '%s' on '%s'", l->task->image, l->place.connection);
	return err_hint(err,
			"wrapix image build -o base.tar, then: podman --connection %s load -i "
			"base.tar; or --image-ref",
			l->place.connection);
}

/* What kubectl reads, in a file without a name. */
static int manifest_fd(const struct lease *l)
{
	_cleanup_str_ struct str text = { 0 };

	if (l->place.kind != ON_KUBE)
		return -1;
	on_manifest(&text, &l->place, l->task);
	return os_memory_file("manifest", text.s, text.len);
}

static int go_up(struct lease *l, struct err *err)
{
	_cleanup_close_ int manifest = manifest_fd(l);
	struct strv apply = { 0 }, wait = { 0 };
	int r = check_image(l, err);

	if (r == 0 && l->place.kind == ON_KUBE) {
		on_apply_argv(l->arena, &l->place, &apply);
		on_wait_argv(l->arena, &l->place, &wait);
		r = run_step(l, &apply, manifest, -1, "kubectl apply", err);
		if (r < 0)
			err_hint(err, "'kubectl config get-contexts' names the clusters, and "
				      "'kubectl --context NAME cluster-info' asks one");
		if (r == 0)
			r = run_step(l, &wait, -1, -1, "waiting for the pod", err);
	}
	return r < 0 ? r : hold(l, err);
}

static void go_down(struct lease *l)
{
	_cleanup_close_ int manifest = manifest_fd(l);
	struct strv words = { 0 };

	close_ptr(&l->hold);
	on_down_argv(l->arena, &l->place, &words);
	(void)run(l, &words, &(struct client){ manifest, -1, -1, false, false });
	if (l->holder > 0)
		(void)wait_for(l->holder);
}

/* --- in and out --- */

static int in_container(const struct lease *l, const char *script, int in, int out,
			const char *what, struct err *err)
{
	struct strv words = { 0 };

	on_exec_argv(l->arena, &l->place, false, &words);
	strv_add(l->arena, &words, "/bin/sh");
	strv_add(l->arena, &words, "-c");
	strv_add(l->arena, &words, script);
	return run_step(l, &words, in, out, what, err);
}

static int put(const struct lease *l, int bundle, struct err *err)
{
	_cleanup_close_ int script = os_memory_file("script", task_script(), strlen(task_script()));
	int r;

	if (script < 0 || lseek(bundle, 0, SEEK_SET) < 0)
		return err_errno(err, EIO, "the workspace");
	r = in_container(l, "cat >" TASK_IN "/" TASK_SCRIPT, script, -1,
			 "bringing the workspace in", err);
	return r < 0 ? r
		     : in_container(l, "cat >" TASK_IN "/" TASK_BUNDLE, bundle, -1,
				    "bringing the workspace in", err);
}

static int run_command(const struct lease *l, bool tty)
{
	struct strv words = { 0 };

	on_exec_argv(l->arena, &l->place, tty, &words);
	strv_add(l->arena, &words, "/bin/sh");
	strv_add(l->arena, &words, TASK_IN "/" TASK_SCRIPT);
	for (size_t i = 0; i < l->task->argv.len; i++)
		strv_add(l->arena, &words, l->task->argv.v[i]);
	return run(l, &words, &(struct client){ 0, 1, 2, true, false });
}

/* The file stays where git does not take it: nothing is lost. */
static int fetch(const struct lease *l, const char *file, struct err *err)
{
	char *git = os_find_program(l->arena, "git", getenv("PATH"), l->task->dir);
	char *branch = arena_printf(l->arena, "wrapix/%s", l->place.name);
	char *refs = arena_printf(l->arena, "refs/wrapix/result:refs/heads/%s", branch);
	const char *const words[] = { "-c",
				      "fetch.fsckObjects=true",
				      "fetch",
				      "--quiet",
				      "--no-tags",
				      "--no-recurse-submodules",
				      "--no-write-fetch-head",
				      "--upload-pack=git-upload-pack",
				      file,
				      refs };
	struct strv argv = { 0 };
	int status;

	strv_add(l->arena, &argv, git);
	quiet_git_add_words(l->arena, &argv);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		strv_add(l->arena, &argv, words[i]);
	status = os_run(&(struct os_command){ .argv = argv.v,
					      .env = api_git_env(l->arena, "file"),
					      .cwd = l->task->dir,
					      .in = -1,
					      .out = -1 });
	if (status) {
		err_set(err, EIO, "git does not take the result");
		return err_hint(err, "it is in '%s'", file);
	}
	unlink(file);
	say(l, arena_printf(l->arena, "the result is the branch %s: git merge %s", branch, branch));
	return 0;
}

/* What came is not all of it, and of no use. */
static int give_up(const char *file, off_t size, struct err *err)
{
	unlink(file);
	if (size < BACK_MAX)
		return -err->code;
	err_set(err, EFBIG, "the result is larger than 8 GiB, and was not brought back");
	return err_hint(err, "what is generated or downloaded does not belong into a commit");
}

static int get(const struct lease *l, struct err *err)
{
	char *dir = path_join(l->arena, api_base_dir(l->arena, "XDG_STATE_HOME", ".local/state"),
			      "wrapix/results");
	char *file = arena_printf(l->arena, "%s/%s.bundle", dir, l->place.name);
	_cleanup_close_ int fd = -1;
	struct stat st = { 0 };
	int r = os_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(err, errno, "writing '%s'", file);
	r = in_container(l,
			 "[ ! -e " TASK_OUT "/" TASK_RESULT " ] || cat " TASK_OUT "/" TASK_RESULT,
			 -1, fd, "bringing the result back", err);
	if (fstat(fd, &st) < 0 && r == 0)
		r = err_errno(err, errno, "reading '%s'", file);
	if (r < 0)
		return give_up(file, st.st_size, err);
	if (st.st_size > RESULT_MAX) {
		err_set(err, EFBIG, "the result is too large to be taken over unasked");
		return err_hint(err, "it is the bundle '%s': 'git fetch' takes it", file);
	}
	if (st.st_size)
		return fetch(l, file, err);
	unlink(file);
	say(l, "the command committed nothing");
	return 0;
}

/* --- the whole --- */

static int prepare(struct lease *l, const char *where, struct err *err)
{
	unsigned char noise[4];
	int r = on_parse(l->arena, where, &l->place, err);

	if (r == 0)
		r = on_check(&l->place, l->task, err);
	if (r < 0)
		return r;
	if (getentropy(noise, sizeof(noise)) < 0)
		return err_errno(err, errno, "a random name");
	snprintf(l->place.name, sizeof(l->place.name), "%s-%02x%02x%02x%02x", l->task->name,
		 noise[0], noise[1], noise[2], noise[3]);
	l->program = os_find_program(l->arena, on_program(&l->place), getenv("PATH"), l->task->dir);
	if (l->program)
		return 0;
	err_set(err, ENOENT, "%s is not installed", on_program(&l->place));
	return err_hint(err, "install it: --on talks to the engine through it");
}

int api_plan_on(struct wrapix_spec *spec, const char *where, const struct task_wishes *wishes,
		struct str *out, struct err *err)
{
	struct task task;
	struct lease l = { .arena = &spec->spec.arena, .task = &task, .hold = -1 };
	struct strv words = { 0 };
	int r = api_task(spec, wishes, TASK_SHOWN, &task, err);

	if (r == 0)
		r = prepare(&l, where, err);
	if (r < 0)
		return r;
	if (l.place.kind == ON_KUBE) {
		on_manifest(out, &l.place, &task);
		return 0;
	}
	on_up_argv(l.arena, &l.place, &task, &words);
	str_add_shell_words(out, words.v);
	str_add(out, "\n");
	return 0;
}

int api_run_on(struct wrapix_spec *spec, const char *where, const struct task_wishes *wishes,
	       bool tty, const struct on_hooks *hooks, int *ret_status, struct err *err)
{
	struct task task;
	struct lease l = { .arena = &spec->spec.arena, .task = &task, .hooks = hooks, .hold = -1 };
	_cleanup_close_ int bundle = -1;
	int r = api_task(spec, wishes, TASK_USED, &task, err);

	if (r == 0)
		r = prepare(&l, where, err);
	if (r < 0)
		return r;
	bundle = api_bundle(l.arena, task.dir, err);
	if (bundle < 0)
		return bundle;
	/* A key on the terminal is for the client that runs the command; what follows must still be done. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	r = go_up(&l, err);
	if (r == 0)
		r = put(&l, bundle, err);
	if (r == 0) {
		*ret_status = run_command(&l, tty);
		r = *ret_status < 0 ? err_errno(err, -*ret_status, "running %s", l.program)
				    : get(&l, err);
	}
	go_down(&l);
	return r;
}
