/* SPDX-License-Identifier: MIT */
/* What a task takes from this machine. */
#include "api/export.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/str.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/quiet_git.h"

extern char **environ;

char *const *api_git_env(struct arena *arena, const char *protocols)
{
	struct strv env = { 0 };

	for (char **e = environ; *e; e++)
		if (!str_starts(*e, "GIT_ALLOW_PROTOCOL="))
			strv_add(arena, &env, *e);
	quiet_git_add_env(arena, &env, protocols);
	return env.v;
}

static bool has_commit(char *git, const char *dir)
{
	_cleanup_free_ char *output = NULL;
	char *argv[] = { git,          (char *)"rev-parse",     (char *)"--verify",
			 (char *)"-q", (char *)"HEAD^{commit}", NULL };

	return os_capture(argv, dir, 4096, &output) == 0;
}

static int no_bundle(char *git, const char *dir, int said, struct err *err)
{
	_cleanup_str_ struct str line = { 0 };

	if (!has_commit(git, dir)) {
		err_set(err, ENOENT, "the project has no commit to begin with");
		return err_hint(err, "it goes there as a git bundle: commit something first");
	}
	err_set(err, EIO, "git makes no bundle of the project: %s",
		os_said_line(said, false, &line) ? line.s : "it does not say why");
	return err_hint(err,
			"in a partial clone 'git bundle create /dev/null HEAD' fetches what is "
			"missing; wrapix fetches nothing");
}

/* The branch that is checked out, or HEAD; in the arena. */
static char *branch_of(struct arena *arena, char *git, const char *dir)
{
	_cleanup_free_ char *output = NULL;
	char *argv[] = { git, (char *)"symbolic-ref", (char *)"-q", (char *)"HEAD", NULL };

	if (os_capture(argv, dir, 4096, &output) < 0 || !output || !*output)
		return arena_strdup(arena, "HEAD");
	output[strcspn(output, "\n")] = '\0';
	return arena_strdup(arena, output);
}

int api_bundle(struct arena *arena, const char *dir, struct err *err)
{
	char *git = os_find_program(arena, "git", getenv("PATH"), dir);
	_cleanup_close_ int fd = memfd_create("bundle", MFD_CLOEXEC), said = os_said_open();
	char *argv[] = { git, (char *)"bundle", (char *)"create", (char *)"-q", (char *)"-", NULL,
			 NULL };
	struct stat st;
	int status;

	if (fd < 0)
		return err_errno(err, errno, "memory for the bundle");
	if (!git) {
		err_set(err, ENOENT, "git is not installed");
		return err_hint(err, "the project goes there as a git bundle");
	}
	argv[5] = branch_of(arena, git, dir);
	status = os_run(&(struct os_command){ .argv = argv,
					      .env = api_git_env(arena, "none"),
					      .cwd = dir,
					      .in = -1,
					      .out = fd,
					      .said = said });
	if (status < 0)
		return err_errno(err, -status, "running git");
	if (status || fstat(fd, &st) < 0 || !st.st_size)
		return no_bundle(git, dir, said, err);
	return take_fd(&fd);
}

static int add_bundle(struct task *task, struct arena *arena, struct err *err)
{
	_cleanup_close_ int fd = api_bundle(arena, task->dir, err);
	_cleanup_str_ struct str text = { 0 };
	struct stat st;
	void *data;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "the bundle");
	task->bundle_is_large = (size_t)st.st_size > TASK_BUNDLE_MAX;
	if (task->bundle_is_large)
		return 0;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return err_errno(err, errno, "the bundle");
	base64_add(&text, data, (size_t)st.st_size);
	munmap(data, (size_t)st.st_size);
	task->bundle = arena_strdup(arena, text.s);
	return 0;
}

int api_task(struct wrapix_spec *spec, const struct task_wishes *wishes, enum task_use use,
	     struct task *ret, struct err *err)
{
	struct arena *a = &spec->spec.arena;
	struct project_config project = { 0 };
	struct strv says = { 0 };
	const char *home = getenv("HOME");
	struct task_place place = { .home = home ? home : "/", .uid = getuid(), .gid = getgid() };
	int r = spec_load_layers(&spec->spec, &project, err);

	/* Another engine asks nobody: what widens the sandbox is in the document, and counts there. */
	if (r == 0 && use != TASK_SHOWN)
		r = api_check_trust(&spec->spec, &project, err);
	project_config_release(&project);
	place.dir = os_realpath(a, spec->spec.dir);
	if (r == 0 && !place.dir)
		r = err_errno(err, errno, "'%s'", spec->spec.dir);
	if (r == 0 && spec_is_filtered(&spec->spec))
		r = api_add_registries(&spec->spec, &says, err);
	if (r == 0)
		r = api_check_rules(&spec->spec, err);
	if (r == 0)
		r = task_make(a, &spec->spec, &place, wishes, ret, err);
	if (r == 0 && use == TASK_CARRIED)
		r = add_bundle(ret, a, err);
	return r;
}
