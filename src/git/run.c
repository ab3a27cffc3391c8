/* SPDX-License-Identifier: MIT */
/* Running git, on the host's repository or confined. */
#include "git/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "os/linux/userns.h"
#include "os/proc.h"
#include "os/quiet_git.h"
#include "spec/gitkeys.h"

enum { DEFAULT_SECONDS = 10, EXIT_ANOTHER = 124, REASON_MAX = 300 };
#define CONFINED_MEMORY ((rlim_t)8 << 30)

/* The last is for one whose work need not outlast a crash. */
static const struct git_setting settings[] = {
	{ "core.untrackedCache", "false" },
	{ "core.pager", "cat" },
	{ "pack.threads", "1" },
	{ "pack.window", "0" }, /* objects go from hand to hand: to make them small costs more */
	{ "pack.compression", "1" },
	{ "log.showSignature", "false" },
	{ "core.packedGitLimit", "2g" }, /* less than a confined one may have */
	{ "core.fsync", "none" },
};

static const char *const fixed_env[] = {
	"PATH=/usr/bin:/bin",
	"HOME=/",
	"LC_ALL=C",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_COMMITTER_NAME=wrapix", /* in reflogs */
	"GIT_COMMITTER_EMAIL=wrapix@localhost",
};

/* Nothing that must outlast a crash: it would be done again. */
static bool is_for_now(const struct git_run *run)
{
	return run->confined && !run->finish;
}

static char **make_env(struct arena *a, const struct git_run *run)
{
	struct strv env = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(fixed_env); i++)
		strv_add(a, &env, fixed_env[i]);
	quiet_git_add_env(a, &env, "none");
	quiet_git_add_settings(a, &env, settings, ARRAY_LEN(settings) - !is_for_now(run));
	strv_addf(a, &env, "GIT_DIR=%s", run->host ? "." : run->gitdir);
	/* Whatever the configuration says: no file is looked at. And git goes elsewhere only for its sake. */
	strv_addf(a, &env, "GIT_WORK_TREE=%s", run->host ? "." : "/");
	if (run->objects)
		strv_addf(a, &env, "GIT_OBJECT_DIRECTORY=%s", run->objects);
	if (run->index)
		strv_addf(a, &env, "GIT_INDEX_FILE=%s", run->index);
	if (run->alternates)
		strv_addf(a, &env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s", run->alternates);
	return env.v;
}

static char **make_argv(struct arena *a, const struct git_run *run)
{
	struct strv argv = { 0 };

	strv_add(a, &argv, run->program);
	for (size_t i = 0; run->args[i]; i++)
		strv_add(a, &argv, run->args[i]);
	return argv.v;
}

/* The places that a program of the system's needs; those that are not here are passed over. */
static const char *const system_places[] = {
	"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/nix/store", "/gnu/store"
};

static int restrict_files(struct arena *a, const struct git_run *run, struct err *err)
{
	struct landlock_rule rules[ARRAY_LEN(system_places) + GIT_READS_MAX + 4];
	const char *program = path_parent(a, run->program);
	size_t n = 0;

	/* Without a rule about it everything may be read. */
	for (size_t i = 0; !run->reads_all && i < ARRAY_LEN(system_places); i++)
		if (access(system_places[i], F_OK) == 0)
			rules[n++] = (struct landlock_rule){ system_places[i], LANDLOCK_READ };
	for (size_t i = 0; !run->reads_all && i < run->n_reads; i++)
		rules[n++] = (struct landlock_rule){ run->reads[i].path, LANDLOCK_READ,
						     run->reads[i].plain };
	if (!run->reads_all) {
		rules[n++] = (struct landlock_rule){ program, LANDLOCK_READ };
		rules[n++] = (struct landlock_rule){ "/dev/urandom", LANDLOCK_READ };
	}
	rules[n++] = (struct landlock_rule){ "/dev/null", LANDLOCK_DEV };
	if (run->writes)
		rules[n++] = (struct landlock_rule){ run->writes, LANDLOCK_WRITE,
						     run->host != NULL };
	return landlock_restrict(landlock_abi(), rules, n, err);
}

static int confine(struct arena *a, const struct git_run *run, uid_t uid, gid_t gid)
{
	const struct rlimit none = { 0, 0 }, memory = { CONFINED_MEMORY, CONFINED_MEMORY };
	struct err err;

	if (!landlock_handles_files(landlock_abi()))
		return -ENOSYS;
	/* A supervisor is not dumpable, and then even its own maps are not its to write. */
	if (os_set_dumpable(1) < 0 || userns_map_self(uid, gid, &err) < 0 ||
	    os_no_new_privileges() < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ||
	    setrlimit(RLIMIT_AS, &memory) < 0 || restrict_files(a, run, &err) < 0 ||
	    seccomp_load(0, NULL, &err) < 0)
		return -EPERM;
	return 0;
}

static int enter(const struct git_run *run)
{
	_cleanup_close_ int fd = run->host ? git_open_host(run->host, run->gitdir) : -1;

	if (!run->host)
		return chdir("/");
	if (fd < 0 && errno == ESTALE)
		_exit(EXIT_ANOTHER);
	return fd < 0 ? -1 : fchdir(fd);
}

/* 0 stands for none given; the standard descriptors are never handed on. */
_Noreturn static void child(const struct git_run *run, const int fds[3], uid_t uid, gid_t gid)
{
	const rlim_t most = run->out > 0 || run->writes ? GIT_PACK_MAX : GIT_OUTPUT_MAX;
	const struct rlimit output = { most, most };
	struct arena a = { 0 };
	char **argv = make_argv(&a, run), **env = make_env(&a, run);
	int null = open("/dev/null", O_RDWR);

	if (run->finish)
		setsid();
	else
		os_die_with_parent(SIGKILL);
	os_reset_signals();
	if (null < 0 || enter(run) < 0)
		_exit(125);
	for (int i = 0; i < 3; i++)
		dup2(fds[i] > 0 ? fds[i] : null, i);
	os_close_all_but(3, &run->turn, run->turn > 2);
	if (run->turn > 2)
		fcntl(run->turn, F_SETFD, 0);
	umask(022);
	if (run->confined &&
	    (setrlimit(RLIMIT_FSIZE, &output) < 0 || confine(&a, run, uid, gid) < 0))
		_exit(125);
	execve(argv[0], argv, env);
	_exit(127);
}

static int await(pid_t pid, int pidfd, unsigned seconds)
{
	struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };
	int status, ready;

	do
		ready = poll(&poll_fd, 1, (int)seconds * 1000);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		os_pidfd_kill(pidfd, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (ready <= 0)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EPIPE;
}

static int collect(int fd, struct str *ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : os_read_fd(fd, GIT_OUTPUT_MAX, &text, &len);

	if (r == 0)
		str_addn(ret, text, len);
	return r;
}

/* said: where its errors go, or -1. */
static int start(const struct git_run *run, struct str *ret, int said)
{
	const uint64_t spaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;
	_cleanup_close_ int in = run->input ? os_memory_file("git", run->input, run->input_len)
					    : -1;
	_cleanup_close_ int out = os_memory_file("git", NULL, 0), pidfd = -1;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	pid_t pid;
	int r;

	if (out < 0 || (run->input && in < 0))
		return -errno;
	if (run->on_step)
		run->on_step(run->args[0]);
	pid = userns_clone(run->confined ? spaces : 0, -1, &pidfd);
	if (pid < 0)
		return pid;
	if (pid == 0)
		child(run,
		      (int[]){ run->input ? in : run->in, run->out > 0 ? run->out : out, said },
		      uid, gid);
	r = await(pid, pidfd, run->seconds ? run->seconds : DEFAULT_SECONDS);
	if (r >= 0 && ret && run->out <= 0) {
		int failed = collect(out, ret);

		r = failed < 0 ? failed : r;
	}
	return r;
}

static int note_and_start(const struct git_run *run, struct str *ret, int said)
{
	int r = run->changes ? git_locks_note(run->store, !run->finish, run->changes) : 0;

	if (r == 0)
		r = start(run, ret, said);
	if (run->changes && r != -EPIPE && r != -ETIMEDOUT)
		git_locks_forget(run->store, !run->finish);
	return r;
}

int git_run(const struct git_run *run, struct str *ret)
{
	struct err ignored;
	int r = run->host ? git_check_plain(run->host, run->gitdir, &ignored) : 0;

	return r < 0 ? r : note_and_start(run, ret, -1);
}

int git_do(const struct git_run *run, struct str *ret, struct err *err)
{
	_cleanup_close_ int said = os_said_open(); /* without it the reason is not known */
	_cleanup_str_ struct str line = { 0 };
	int r = run->host ? git_check_plain(run->host, run->gitdir, err) : 0;

	if (r < 0)
		return r;
	r = note_and_start(run, ret, said);
	if (r == -EPIPE)
		return err_set(err, EAGAIN, "'git %s' was killed in '%s'", run->args[0],
			       run->gitdir);
	if (r < 0)
		return err_errno(err, -r, "running 'git %s'", run->args[0]);
	if (r == EXIT_ANOTHER)
		return err_set(err, ESTALE,
			       "'%s' is not the repository that the session began with",
			       run->gitdir);
	if (r == 125 && run->confined)
		return err_set(err, EPERM, "git could not be confined (Landlock is needed)");
	if (r == 0)
		return 0;
	return os_said_line(said, true, &line)
		       ? err_set(err, EIO, "'git %s' failed in '%s': %.*s", run->args[0],
				 run->gitdir, REASON_MAX, line.s)
		       : err_set(err, EIO, "'git %s' failed in '%s'", run->args[0], run->gitdir);
}

/* What was opened at that place is, or has in it, the git directory that is known. */
static bool is_known(const struct git_store *store, int fd, const char *place)
{
	const char *below = path_below(store->real, place);

	return !below || git_has_identity(fd, below, store->identity);
}

int git_open_host(const struct git_store *store, const char *dir)
{
	const char *below = path_below(dir, store->common);
	const char *top = below ? store->common : dir;
	_cleanup_close_ int fd = os_open_plain(top);
	int r;

	if (fd < 0)
		return -1;
	if (!is_known(store, fd, top)) {
		errno = ESTALE;
		return -1;
	}
	if (!below || !*below)
		return take_fd(&fd);
	r = os_openat2(fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
		       git_is_strict(store) ? RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS : 0);
	if (r < 0)
		errno = -r;
	return r < 0 ? -1 : r;
}

char *git_objects(struct git_store *store)
{
	return path_join(&store->arena, store->common, "objects");
}

/* A list by colons, so one that holds such is quoted. */
static void add_alternate(struct str *out, const char *path)
{
	bool quoted = strpbrk(path, ":\"\\") != NULL;

	str_add(out, out->len ? ":" : "");
	str_add(out, quoted ? "\"" : "");
	for (const char *p = path; *p; p++)
		str_addf(out, "%s%c", quoted && strchr("\"\\", *p) ? "\\" : "", *p);
	str_add(out, quoted ? "\"" : "");
}

char *git_alternate(struct git_store *store)
{
	_cleanup_str_ struct str out = { 0 };

	add_alternate(&out, git_objects(store));
	return arena_strdup(&store->arena, out.s);
}

void git_lend(struct git_store *store, const char *objects)
{
	strv_add(&store->arena, &store->lent, objects);
	for (size_t i = 0; i < store->n_parts; i++)
		store->parts[i].lent = store->lent;
}

/* What the session may have borrowed from. */
static void add_lent(struct git_run *run, struct git_store *store)
{
	_cleanup_str_ struct str out = { 0 };

	if (!store->lent.len)
		return;
	add_alternate(&out, git_objects(store));
	for (size_t i = 0; i < store->lent.len && run->n_reads < GIT_READS_MAX - 1; i++) {
		if (access(store->lent.v[i], F_OK) < 0)
			continue; /* it was moved or removed since */
		run->reads[run->n_reads++] = (struct git_read){ store->lent.v[i], true };
		add_alternate(&out, store->lent.v[i]);
	}
	run->alternates = arena_strdup(&store->arena, out.s);
}

/* A configuration may have others from anywhere, and git must read those; no command gets such a key into one. */
static bool includes(const struct git_store *store)
{
	_cleanup_close_ int dir = git_open_host(store, store->common);
	_cleanup_free_ char *text = NULL;
	struct arena a = { 0 };
	struct gitkeys keys = { 0 };
	bool found = false;
	size_t len;

	if (dir >= 0 && git_read_file(dir, "config", GITKEYS_MAX, &text, &len) == 0 &&
	    gitkeys_parse(&a, text, len, &keys) == 0)
		for (size_t i = 0; i < keys.n; i++)
			found |= str_starts(keys.keys[i].name, "include");
	arena_release(&a);
	return found;
}

/* What single commands work in may be of a command's making, objects, links and all: git looks at nothing else, and
 * writes there alone. */
static void keep_in(struct git_run *run, struct git_store *store)
{
	if (!store->lasting || !path_is_below(store->real, store->common))
		return;
	run->confined = true;
	run->reads_all = includes(store);
	git_may_read(run, store);
	run->reads[run->n_reads++] = (struct git_read){ store->common, true };
}

struct git_run git_on_host(struct git_store *store, const char *const *args)
{
	struct git_run run = {
		.program = store->program,
		.args = args,
		.gitdir = store->real,
		.host = store,
		.on_step = store->on_step,
	};

	keep_in(&run, store);
	return run;
}

struct git_run git_on_host_write(struct git_store *store, const char *const *args)
{
	struct git_run run = git_on_host(store, args);

	run.writes = run.confined ? store->common : NULL;
	run.finish = true;
	run.turn = store->turn;
	return run;
}

void git_may_read(struct git_run *run, struct git_store *store)
{
	run->reads[run->n_reads++] = (struct git_read){ git_objects(store), git_is_strict(store) };
	for (size_t i = 0; i < store->borrowed.len && run->n_reads < GIT_READS_MAX - 2; i++)
		run->reads[run->n_reads++] = (struct git_read){ store->borrowed.v[i],
								git_is_strict(store) };
}

struct git_run git_in_private(struct git_store *store, const char *const *args, bool write)
{
	struct git_run run = {
		.program = store->program,
		.args = args,
		.gitdir = store->private,
		.alternates = git_alternate(store),
		.confined = true,
		.writes = write ? git_shared(store) : NULL,
		.reads_all = store->lasting && includes(store),
		.on_step = store->on_step,
	};

	git_may_read(&run, store);
	run.reads[run.n_reads++] = (struct git_read){ .path = git_shared(store) };
	add_lent(&run, store);
	return run;
}

struct git_run git_change(struct git_store *store, bool inwards, const char *const *args,
			  const char *changes)
{
	struct git_run run = inwards ? git_in_private(store, args, true)
				     : git_on_host_write(store, args);

	run.turn = store->turn;
	run.changes = inwards && store->tree ? NULL
					     : changes; /* a work tree's are another's, too */
	run.store = store;
	return run;
}
