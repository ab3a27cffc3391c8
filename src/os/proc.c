/* SPDX-License-Identifier: MIT */
/* Processes: signals, programs on PATH, and running them. */
#include "os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "os/start.h"

void os_reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old;
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		if (i == SIGKILL || i == SIGSTOP)
			continue;
		/* Asking is as dear as setting, but only the second one can fail for a reserved signal. */
		if (sigaction(i, NULL, &old) == 0 && old.sa_handler != SIG_DFL)
			sigaction(i, &dfl, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int os_await(pid_t pid)
{
	int status;

	if (pid <= 0) /* waitpid() would take any child for it */
		return -ECHILD;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

int os_await_errno(pid_t pid)
{
	int status = os_await(pid);

	if (status < 0)
		return status;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

void os_keep_children(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &dfl, NULL);
}

void os_become_worker(pid_t parent, const int *keep, size_t n)
{
	int null = open("/dev/null", O_RDWR);

	os_die_with_parent(SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	os_close_all_but(3, keep, n);
	setsid();
	os_reset_signals();
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Neither the directory nor what the file links to may lie there. */
static bool leads_below(struct arena *arena, const char *dir, const char *file, const char *except)
{
	char *real_dir = os_realpath(arena, dir), *real_file = os_realpath(arena, file);

	return !real_dir || !real_file || path_is_below(real_dir, except) ||
	       path_is_below(real_file, except);
}

char *os_find_program(struct arena *arena, const char *name, const char *path_list,
		      const char *except)
{
	const char *p = path_list ? path_list : OS_USUAL_PATH;

	if (strchr(name, '/'))
		return is_program(name) ? os_realpath(arena, name) : NULL;
	while (*p) {
		size_t len = strcspn(p, ":");
		char *dir = arena_strndup(arena, p, len), *file;

		p += len + (p[len] == ':');
		if (dir[0] != '/')
			continue;
		file = path_join(arena, dir, name);
		if (is_program(file) && !(except && leads_below(arena, dir, file, except)))
			return file;
	}
	return NULL;
}

enum { CAPTURE_SECONDS = 10 };
enum { DESCRIPTORS_USUAL = 1024, DESCRIPTORS_MAX = 1 << 20, DESCRIPTORS_BESIDE = 100 };

/* with_err: standard error is caught too. */
static pid_t spawn_captured(char *const argv[], const char *dir, int out, bool with_err,
			    unsigned seconds)
{
	pid_t pid = fork();
	int null;

	if (pid != 0)
		return pid;
	os_reset_signals();
	alarm(seconds);
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(with_err ? out : null, STDERR_FILENO);
	os_close_all_but(3, NULL, 0);
	if (chdir(dir) == 0)
		execv(argv[0], argv);
	_exit(127);
}

static int capture(char *const argv[], const char *dir, bool with_err, unsigned seconds, size_t max,
		   char **ret_output)
{
	char *out = NULL;
	size_t len = 0;
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = spawn_captured(argv, dir, fds[1], with_err, seconds);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -errno;
	}
	if (os_read_fd(fds[0], max, &out, &len) < 0)
		out = strdup("");
	close(fds[0]);
	status = os_await(pid);
	*ret_output = out;
	return status;
}

int os_capture(char *const argv[], const char *dir, size_t max, char **ret_output)
{
	return capture(argv, dir, false, CAPTURE_SECONDS, max, ret_output);
}

int os_capture_all(char *const argv[], unsigned seconds, size_t max, char **ret_output)
{
	return capture(argv, "/", true, seconds, max, ret_output);
}

_Noreturn static void run_command(const struct os_command *command, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	(void)os_die_with_parent(SIGKILL);
	if (getppid() != parent || null < 0 || chdir(command->cwd) < 0)
		_exit(127);
	os_reset_signals();
	dup2(command->in < 0 ? null : command->in, STDIN_FILENO);
	dup2(command->out < 0 ? null : command->out, STDOUT_FILENO);
	dup2(command->said > 0 ? command->said : null, STDERR_FILENO);
	os_close_all_but(3, &command->keep, command->keep > 2);
	if (command->keep > 2)
		fcntl(command->keep, F_SETFD, 0);
	execve(command->argv[0], command->argv, command->env);
	_exit(127);
}

int os_run(const struct os_command *command)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		run_command(command, parent);
	return os_await(pid);
}

/* What the process was started with, once it was raised; a clone has it, too. */
static rlim_t given_descriptors;

size_t os_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return DESCRIPTORS_USUAL;
	if (limit.rlim_cur < limit.rlim_max) {
		rlim_t before = limit.rlim_cur;

		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)DESCRIPTORS_MAX);
		if (limit.rlim_cur < before || setrlimit(RLIMIT_NOFILE, &limit) < 0)
			limit.rlim_cur = before;
		else
			given_descriptors = before;
	}
	return (size_t)MIN(limit.rlim_cur, (rlim_t)DESCRIPTORS_MAX);
}

int os_need_descriptors(size_t n)
{
	struct rlimit limit;

	if (n <=
	    DESCRIPTORS_BESIDE) /* what everybody has; where it is not, who opens one says so */
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && n + DESCRIPTORS_BESIDE <= limit.rlim_cur)
		return 0;
	return n + DESCRIPTORS_BESIDE <= os_raise_descriptors() ? 0 : -EMFILE;
}

void os_restore_descriptors(void)
{
	struct rlimit limit;

	if (!given_descriptors || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = given_descriptors;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* to less: nobody refuses that */
	given_descriptors = 0;
}

bool os_said_line(int fd, bool last, struct str *ret)
{
	char text[OS_SAID_MAX + 1] = "", *line = text, *next;
	size_t n;

	if (pread(fd, text, OS_SAID_MAX, 0) < 0)
		return false;
	for (n = strlen(text); n > 0 && text[n - 1] == '\n';)
		text[--n] = '\0';
	while (last && (next = strchr(line, '\n')) != NULL)
		line = next + 1;
	line[strcspn(line, "\n")] = '\0';
	str_add_escaped(ret, line);
	return *line;
}

int os_err_start(struct err *err, int code, const char *what)
{
	err_errno(err, code, "starting %s", what);
	return err->code == EAGAIN
		       ? err_hint(err, "there are as many processes as you may have: 'ulimit -u' "
				       "says how many, and so may a container or a service")
		       : -err->code;
}
