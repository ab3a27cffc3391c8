/* SPDX-License-Identifier: MIT */
/*
 * The directory of a self test: BASE/project is what the sandbox works on, BASE/secret what it must
 * not see, BASE/shown what it may read. The victim holds the same secret and answers with it. A
 * lock on BASE tells the next self test whether somebody is still at work there.
 */
#include "selftest/scene.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"

#define PREFIX "selftest."

enum { PATIENCE_MS = 180000, MAX_OUTPUT = 1 << 20, SECRET_DIR_FD = 8, SECRET_FILE_FD = 9 };

extern char **environ;

static int find_programs(struct scene *scene, struct err *err)
{
	char *self = os_realpath(&scene->arena, "/proc/self/exe");
	char *here = self ? path_parent(&scene->arena, self) : NULL;
	const char *const places[] = {
		here ? path_join(&scene->arena, here, "../selftest/attempt/wrapix-attempt") : "",
		WRAPIX_LIBEXECDIR "/wrapix-attempt",
		here ? path_join(&scene->arena, here, "../libexec/wrapix/wrapix-attempt") : "",
	};

	scene->self = self;
	for (size_t i = 0; self && i < ARRAY_LEN(places); i++)
		if (access(places[i], X_OK) == 0) {
			scene->attempt = os_realpath(&scene->arena, places[i]);
			return 0;
		}
	err_errno(err, errno, "looking for '%s'", places[1]);
	return err_hint(err, "in a clone 'make' builds it; 'make install' installs it with wrapix");
}

/* What was killed half-way left its directory, and nobody holds its lock. */
static void sweep(int top_fd)
{
	_cleanup_dir_ DIR *dir = os_dir_open(top_fd, ".");
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		_cleanup_close_ int fd = -1;

		if (!str_starts(entry->d_name, PREFIX))
			continue;
		fd = openat(top_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			os_remove_tree(top_fd, entry->d_name);
	}
}

static char *random_word(struct arena *arena, const char *prefix)
{
	unsigned char bytes[12];
	struct str s = { 0 };
	char *word;

	if (getentropy(bytes, sizeof(bytes)) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(bytes); i++)
		str_addf(&s, "%02x", bytes[i]);
	word = arena_printf(arena, "%s-%d-%s", prefix, (int)getpid(), s.s);
	str_release(&s);
	return word;
}

static int make_base(struct scene *scene, const char *dir, struct err *err)
{
	int r = os_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	scene->top_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scene->token = random_word(&scene->arena, "wx");
	scene->argument = random_word(&scene->arena, "arg");
	if (scene->top_fd < 0 || !scene->token || !scene->argument)
		return err_errno(err, errno, "opening '%s'", dir);
	sweep(scene->top_fd);
	scene->base = arena_printf(&scene->arena, "%s/" PREFIX "XXXXXX", dir);
	if (!mkdtemp(scene->base)) {
		r = err_errno(err, errno, "making '%s'", scene->base);
		scene->base = NULL;
		return r;
	}
	scene->lock_fd = open(scene->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scene->lock_fd < 0 || flock(scene->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return err_errno(err, errno, "locking '%s'", scene->base);
	scene->project = path_join(&scene->arena, scene->base, "project");
	return 0;
}

static int write_file(struct scene *scene, const char *name, mode_t mode, const char *text,
		      struct err *err)
{
	int r = os_write_new(scene->lock_fd, name, text, strlen(text), mode);

	return r < 0 ? err_errno(err, -r, "writing '%s/%s'", scene->base, name) : 0;
}

static int copy_attempt(struct scene *scene, struct err *err)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r = os_read_file_at(AT_FDCWD, scene->attempt, 16 << 20, &bytes, &len);

	if (r < 0)
		return err_errno(err, -r, "reading '%s'", scene->attempt);
	r = os_write_new(scene->lock_fd, "project/attempt", bytes, len, 0700);
	return r < 0 ? err_errno(err, -r, "copying '%s'", scene->attempt) : 0;
}

static int furnish(struct scene *scene, struct err *err)
{
	static const char *const dirs[] = { "secret", "shown", "project", "project/.wrapix",
					    "log",    "run",   "keyhome" };
	const struct {
		const char *target, *name;
	} links[] = {
		{ path_join(&scene->arena, scene->base, "secret/key"), "project/link-absolute" },
		{ "../secret/key", "project/link-relative" },
		{ "../secret", "project/link-directory" },
		{ path_join(&scene->arena, scene->base, "agent.sock"), "project/link-socket" },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdirat(scene->lock_fd, dirs[i], 0700) < 0)
			return err_errno(err, errno, "making '%s/%s'", scene->base, dirs[i]);
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (symlinkat(links[i].target, scene->lock_fd, links[i].name) < 0)
			return err_errno(err, errno, "making '%s'", links[i].name);
	if ((r = write_file(scene, "secret/key", 0600, scene->token, err)) < 0 ||
	    (r = write_file(scene, "shown/file", 0644, "shown\n", err)) < 0 ||
	    (r = write_file(scene, "project/wrapix.json", 0644, "{}\n", err)) < 0 ||
	    (r = write_file(scene, "project/.wrapix/state", 0644, "state\n", err)) < 0)
		return r;
	return copy_attempt(scene, err);
}

static bool sets_any(const char *variable, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(variable, names[i]) && variable[strlen(names[i])] == '=')
			return true;
	return false;
}

/* What a desktop's and a cloud user's environment holds, with the secret where a token would be. */
static void make_environment(struct scene *scene)
{
	const char *run = getenv("XDG_RUNTIME_DIR"), *socket;
	static const char *const tokens[] = { "WX_SECRET", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY",
					      "OPENAI_API_KEY" };
	static const char *const doors[] = { "SSH_AUTH_SOCK", "DOCKER_HOST" };

	for (char **v = environ; *v; v++)
		if (!sets_any(*v, tokens, ARRAY_LEN(tokens)) &&
		    !sets_any(*v, doors, ARRAY_LEN(doors)) && !str_starts(*v, "XDG_STATE_HOME="))
			strv_add(&scene->arena, &scene->env, *v);
	socket = path_join(&scene->arena, scene->base, "agent.sock");
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
		strv_addf(&scene->arena, &scene->env, "%s=%s", tokens[i], scene->token);
	for (size_t i = 0; i < ARRAY_LEN(doors); i++)
		strv_addf(&scene->arena, &scene->env, "%s=%s", doors[i], socket);
	strv_addf(&scene->arena, &scene->env, "WX_RUN=%s",
		  run && access(run, W_OK) == 0 ? run
						: path_join(&scene->arena, scene->base, "run"));
	strv_add(&scene->arena, &scene->env, "WX_LENIENT=1");
	/* Sessions, their logs and layers go with the directory. */
	strv_addf(&scene->arena, &scene->env, "XDG_STATE_HOME=%s/state", scene->base);
}

static void open_at(int number, const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd >= 0 && fd != number) {
		dup2(fd, number);
		close(fd);
	}
}

/* In the child. */
_Noreturn static void become(struct scene *scene, char *const *argv, int in, const int out[2],
			     pid_t parent)
{
	os_die_with_parent(SIGKILL);
	if (getppid() != parent || chdir(scene->project) < 0)
		_exit(127);
	os_reset_signals();
	dup2(in, STDIN_FILENO);
	dup2(out[0], STDOUT_FILENO);
	dup2(out[1], STDERR_FILENO);
	os_close_all_but(3, NULL, 0);
	open_at(SECRET_DIR_FD, "../secret", O_RDONLY | O_DIRECTORY);
	open_at(SECRET_FILE_FD, "../secret/key", O_RDONLY);
	execve(argv[0], argv, scene->env.v);
	_exit(127);
}

static int start_victim(struct scene *scene, struct err *err)
{
	char *argv[] = { scene->attempt, (char *)"--victim", scene->base,
			 scene->project, scene->argument,    NULL };
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	pid_t parent = getpid();
	char said[64] = "";

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	scene->victim = fork();
	if (scene->victim == 0)
		become(scene, argv, in[0], (int[]){ out[1], STDERR_FILENO }, parent);
	close(in[0]);
	close(out[1]);
	scene->victim_in = in[1];
	if (scene->victim < 0 || os_read_full(out[0], said, 6) != 6 || strcmp(said, "ready\n"))
		said[0] = '\0';
	close(out[0]);
	return said[0] ? 0 : err_set(err, EIO, "the victim of the self test did not start");
}

int scene_make(struct scene *scene, const char *dir, struct err *err)
{
	int r;

	*scene = (struct scene){ .top_fd = -1, .lock_fd = -1, .victim_in = -1, .victim = -1 };
	if ((r = find_programs(scene, err)) < 0 || (r = make_base(scene, dir, err)) < 0 ||
	    (r = furnish(scene, err)) < 0)
		return r;
	make_environment(scene);
	return start_victim(scene, err);
}

void scene_remove(struct scene *scene)
{
	if (scene->victim_in >= 0)
		close(scene->victim_in);
	(void)os_await(scene->victim);
	if (scene->base)
		os_remove_tree(scene->top_fd, strrchr(scene->base, '/') + 1);
	close_ptr(&scene->lock_fd);
	close_ptr(&scene->top_fd);
	arena_release(&scene->arena);
}

static int log_file(struct scene *scene, const char *name)
{
	return openat(scene->lock_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

int scene_run(struct scene *scene, char *const *argv)
{
	_cleanup_close_ int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int out = log_file(scene, "log/out"), err = log_file(scene, "log/err");
	_cleanup_close_ int pidfd = -1;
	struct pollfd poller = { .events = POLLIN };
	pid_t parent = getpid(), pid = in < 0 || out < 0 || err < 0 ? -1 : fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(scene, argv, in, (int[]){ out, err }, parent);
	pidfd = os_pidfd_open(pid);
	poller.fd = pidfd;
	if (pidfd >= 0 && poll(&poller, 1, PATIENCE_MS) == 0)
		kill(pid, SIGKILL);
	return os_await(pid);
}

char *scene_read(struct scene *scene, const char *name)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (os_read_file_at(scene->lock_fd, name, MAX_OUTPUT, &text, &len) < 0)
		return arena_strdup(&scene->arena, "");
	return arena_strndup(&scene->arena, text, len);
}
