/* SPDX-License-Identifier: MIT */
/* Looking at this machine: with the files it is cut into, all of this room that makes system calls. */
#include "spec/host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/linux/caps.h"
#include "os/linux/landlock.h"
#include "os/linux/overlay.h"
#include "os/linux/seccomp.h"
#include "os/platform.h"
#include "os/proc.h"
#include "spec/agent.h"
#include "spec/deploykey.h"
#include "spec/host_priv.h"
#include "spec/project.h"

/* Variables that come in without being named; a trailing '*' stands for any ending. */
static const char *const env_names[] = {
	"TERM",
	"COLORTERM",
	"TERM_PROGRAM",
	"TERM_PROGRAM_VERSION",
	"NO_COLOR",
	"FORCE_COLOR",
	"CLICOLOR",
	"CLICOLOR_FORCE",
	"COLUMNS",
	"LINES",
	"LANG",
	"LANGUAGE",
	"LC_*",
	"TZ",
	"GIT_AUTHOR_NAME",
	"GIT_AUTHOR_EMAIL",
	"GIT_COMMITTER_NAME",
	"GIT_COMMITTER_EMAIL",
	"WRAPIX_GIT_SIGN",
};

bool host_env_allowed(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(env_names); i++) {
		size_t len = strlen(env_names[i]);

		if (env_names[i][len - 1] == '*' ? !strncmp(name, env_names[i], len - 1)
						 : !strcmp(name, env_names[i]))
			return true;
	}
	return false;
}

const char *host_env(const struct host *host, const char *name)
{
	for (size_t i = 0; i < host->n_env; i++)
		if (!strcmp(host->env[i].name, name))
			return host->env[i].value;
	return NULL;
}

bool host_holds_home(const struct host *host, const char *dir)
{
	return path_is_below(host->home, dir) ||
	       (host->passwd_home && path_is_below(host->passwd_home, dir));
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct path_fact *)a)->path, ((const struct path_fact *)b)->path);
}

void path_facts_sort(struct path_facts *facts)
{
	if (facts->len)
		qsort(facts->v, facts->len, sizeof(*facts->v), by_path);
}

const struct path_fact *path_facts_find(const struct path_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->len; i++)
		if (!strcmp(facts->v[i].path, path))
			return &facts->v[i];
	return NULL;
}

static bool named(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_env; i++)
		if (!strcmp(spec->env[i].name, name))
			return true;
	return false;
}

static void probe_env(const struct spec *spec, char **environment, struct host *host)
{
	struct strv for_agent = { 0 };

	agent_pass_env(&host->arena, spec, &for_agent);
	for (; environment && *environment; environment++) {
		size_t len = strcspn(*environment, "=");
		char *name = arena_strndup(&host->arena, *environment, len);
		struct env_fact *fact;

		if (!(*environment)[len] ||
		    (!host_env_allowed(name) && !named(spec, name) && !strv_has(&for_agent, name)))
			continue;
		fact = arena_grow(&host->arena, &host->env, &host->n_env, sizeof(*fact));
		*fact = (struct env_fact){ name,
					   arena_strdup(&host->arena, *environment + len + 1) };
	}
}

const char *host_raw_env(char **environment, const char *name)
{
	size_t len = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, len) && (*environment)[len] == '=')
			return *environment + len + 1;
	return NULL;
}

struct passwd_line {
	char *user, *home, *shell;
};

/* The line of /etc/passwd, read by hand: getpwuid() would load every NSS module for it. */
static bool read_passwd(struct arena *arena, uid_t uid, struct passwd_line *ret)
{
	_cleanup_free_ char *text = NULL;
	char *line, *rest;

	if (os_read_file_at(AT_FDCWD, "/etc/passwd", 1 << 24, &text, NULL) < 0)
		return false;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		char *field[7];
		size_t n = 0;

		while (n < ARRAY_LEN(field) && (field[n] = strsep(&line, ":")))
			n++;
		if (n < ARRAY_LEN(field) || strtoul(field[2], NULL, 10) != uid || !*field[2])
			continue;
		*ret = (struct passwd_line){ arena_strdup(arena, field[0]),
					     arena_strdup(arena, field[5]),
					     arena_strdup(arena, field[6]) };
		return true;
	}
	return false;
}

/* As the database has the user, or a directory service. */
static void find_user(struct arena *arena, uid_t uid, struct passwd_line *ret)
{
	struct passwd *pw;

	if (read_passwd(arena, uid, ret))
		return;
	pw = os_has_names() ? getpwuid(uid) : NULL;
	*ret = (struct passwd_line){
		.user = pw ? arena_strdup(arena, pw->pw_name) : arena_printf(arena, "u%u", uid),
		.home = arena_strdup(arena, pw ? pw->pw_dir : "/"),
		.shell = arena_strdup(arena, pw ? pw->pw_shell : ""),
	};
}

const char *user_home(struct arena *arena)
{
	const char *home = getenv("HOME");
	struct passwd_line user;

	if (home && home[0] == '/')
		return home;
	find_user(arena, geteuid(), &user);
	return user.home;
}

/* Compared with canonical paths, so a link on the way (/home -> var/home) must not matter. */
static char *canonical(struct host *host, const char *path)
{
	char *real = os_realpath(&host->arena, path);

	return real ? real : path_join(&host->arena, "/", path);
}

/* The user by the database, and the home by $HOME. */
static void host_probe_identity(char **environment, struct host *host)
{
	const char *home = host_raw_env(environment, "HOME");
	struct passwd_line user;

	host->uid = geteuid();
	host->gid = getegid();
	find_user(&host->arena, host->uid, &user);
	host->user = user.user;
	host->tools.shell = user.shell;
	host->passwd_home = canonical(host, user.home);
	host->home = canonical(host, home && home[0] == '/' ? home : user.home);
}

static char *xdg_dir(struct host *host, char **environment, const char *name,
		     const char *below_home)
{
	const char *value = host_raw_env(environment, name);

	if (value && value[0] == '/')
		return path_join(&host->arena, "/", value);
	return path_join(&host->arena, host->home, below_home);
}

/* Where files of a running session go: gone with the login, and in memory on most systems. Nobody else writes there:
 * what the notification daemon reads of a session names a program of the user's. */
static char *runtime_dir(struct host *host, char **environment)
{
	const char *value = host_raw_env(environment, "XDG_RUNTIME_DIR");
	char *dir = value && value[0] == '/'
			    ? path_join(&host->arena, "/", value)
			    : arena_printf(&host->arena, "/run/user/%u", host->uid);
	struct stat st;

	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == host->uid &&
			       !(st.st_mode & 022)
		       ? dir
		       : host->state_home;
}

/* The user's shell where the sandbox has it too, else one that every system has. */
static void probe_shell(struct host *host)
{
	static const char *const shells[] = { "/bin/bash", "/bin/sh" };
	const char *shell = host->tools.shell;

	if (shell[0] == '/' && access(shell, X_OK) == 0 && !strstr(shell, "nologin") &&
	    !strstr(shell, "/false") &&
	    (path_is_below(shell, "/usr") || path_is_below(shell, "/bin") ||
	     path_is_below(shell, "/nix/store")))
		return;
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (access(shells[i], X_OK) == 0) {
			host->tools.shell = arena_strdup(&host->arena, shells[i]);
			return;
		}
}

/* A directory for copy-on-write sessions where the home cannot hold them: nobody else's. */
static bool make_own_dir(const char *path)
{
	return (mkdir(path, 0700) == 0 || errno == EEXIST) && os_is_own_dir(path);
}

void host_probe_cow(struct host *host, const char *resume)
{
	char *own = arena_printf(&host->arena, HOST_SPARE, host->uid);
	char *bases[] = { path_join(&host->arena, host->state_home, "wrapix/cow"),
			  path_join(&host->arena, own, "cow") };
	struct err ignored; /* the start says it with the same words */

	host->cow_base = bases[0];
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		if (i == 1 && !make_own_dir(own))
			return;
		/* One to go on with is where it is. */
		if (resume && access(path_join(&host->arena, bases[i], resume), F_OK))
			continue;
		host->cow_overlay = os_mkdirs(bases[i], 0700, &ignored) == 0 &&
				    overlay_probe(bases[i]);
		if (host->cow_overlay || resume)
			host->cow_base = bases[i];
		if (host->cow_overlay)
			return;
	}
	/* What was made only to look. */
	if (rmdir(bases[1]) == 0)
		(void)rmdir(own);
}

/* As the sandbox would find it: as root without root's rights over others' files. */
static int may_write(const struct host *host, const char *dir)
{
	struct err ignored;
	int status;
	pid_t pid;

	if (host->uid != 0)
		return faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0 ? errno : 0;
	pid = fork();
	if (pid == 0)
		_exit(caps_drop_all(&ignored) < 0 ||
				      faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0
			      ? errno
			      : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return EAGAIN;
	return WEXITSTATUS(status);
}

/* Where it is not there yet, the directory in which it would be made says so. */
static void probe_state(struct host *host)
{
	char *dir = path_join(&host->arena, host->state_home, "wrapix");
	struct statvfs fs;
	int e;

	while ((e = may_write(host, dir)) == ENOENT && strcmp(dir, "/") != 0)
		dir = path_parent(&host->arena, dir);
	if (!e && statvfs(dir, &fs) == 0 && fs.f_bavail == 0)
		e = ENOSPC;
	if (e)
		host->no_state = arena_printf(&host->arena, "'%s': %s", host->state_home,
					      strerror(e));
}

/* PID 1 of a sandbox of ours says so, and so does one that a supervisor lent to a sandbox. */
static bool is_inside(void)
{
	_cleanup_free_ char *name = NULL;

	return os_read_file_at(AT_FDCWD, "/proc/1/cmdline", 65536, &name, NULL) == 0 &&
	       (!strcmp(path_name(name), "wrapix-init") || !strcmp(name, "wrapix-lent"));
}

char *host_own_dir(struct arena *a, const char *home, struct strv *own)
{
	char *real = os_realpath(a, home), *path = path_join(a, real ? real : home, "wrapix");
	struct stat st;

	strv_add(a, own, path);
	/* All before the last name is resolved already. */
	real = real && lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? os_realpath(a, path) : NULL;
	if (real)
		strv_add(a, own, real);
	return path;
}

/* What lies where its name says is known by that. */
static void probe_own(struct host *host)
{
	const char *const homes[] = { host->state_home, host->config_home, host->data_home,
				      host->cache_home, host->runtime_dir };

	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		const char *said = path_join(&host->arena, homes[i], "wrapix");
		struct strv own = { 0 };

		host_own_dir(&host->arena, homes[i], &own);
		for (size_t k = 0; k < own.len; k++)
			if (strcmp(own.v[k], said) != 0)
				host_add_fact(host, &host->own, own.v[k], PATH_DIR, NULL);
	}
}

static void host_probe_dirs(char **environment, struct host *host)
{
	host->state_home = xdg_dir(host, environment, "XDG_STATE_HOME", ".local/state");
	host->config_home = xdg_dir(host, environment, "XDG_CONFIG_HOME", ".config");
	host->cache_home = xdg_dir(host, environment, "XDG_CACHE_HOME", ".cache");
	host->runtime_dir = runtime_dir(host, environment);
	host->data_home = xdg_dir(host, environment, "XDG_DATA_HOME", ".local/share");
}

void host_probe_kernel(struct host *host)
{
	host->landlock_abi = landlock_abi();
	host->inside = is_inside();
	/* A process tree has one listener, and ours is the outer sandbox's: but for a process that its
	 * supervisor lent, which is under no filter. */
	host->seccomp_notify = (!host->inside || !seccomp_is_on()) &&
			       (seccomp_features() & SECCOMP_HAS_NOTIFY);
	for (int fd = 0; fd < 3; fd++)
		host->tty[fd] = isatty(fd);
}

int host_wsl(void)
{
	_cleanup_free_ char *release = NULL;
	size_t len;

	if (os_read_file_at(AT_FDCWD, "/proc/sys/kernel/osrelease", 256, &release, &len) < 0)
		return 0;
	if (strcasestr(release, "microsoft-standard") || strstr(release, "WSL2"))
		return 2;
	return strstr(release, "-Microsoft") ? 1 : 0;
}

/* What 'run' needs to know beside who and where the user is. */
static int probe_session(const struct spec *spec, char **environment, struct host *host,
			 struct err *err)
{
	int r = 0;

	probe_own(host);
	probe_state(host);
	if (spec->workspace == WORKSPACE_COW)
		host_probe_cow(host, spec->resume);
	if (spec->engine == ENGINE_APPLE) /* the image's, whatever the user has here */
		host->tools.shell = arena_strdup(&host->arena, "/bin/sh");
	else
		probe_shell(host);
	host_probe_system(host);
	if (spec->engine == ENGINE_PODMAN || spec->engine == ENGINE_DOCKER)
		host_probe_podman(environment, host);
	if (spec->engine == ENGINE_APPLE)
		host_probe_apple(spec, environment, host);
	else
		r = host_probe_image(spec, host, err);
	if (r < 0)
		return r;
	probe_env(spec, environment, host);
	host_probe_network(spec, environment, host);
	host_probe_mounts(spec, host);
	host_probe_way(spec, host);
	agent_probe(spec, host_raw_env(environment, "PATH"), host);
	git_identity_probe(host);
	cgroup_probe(&host->cgroup);
	host_probe_notify(host);
	deploy_key_probe(spec, environment, host);
	host_probe_kernel(host);
	return 0;
}

int host_probe(const struct spec *spec, char **environment, struct host *ret, struct err *err)
{
	struct host host = { .platform = NULL };
	int r;

	if (host_wsl() == 1) {
		err_set(err, ENOSYS, "WSL 1 has no Linux kernel to make a sandbox with");
		return err_hint(err, "in Windows: wsl --set-version DISTRO 2");
	}
	host.platform = arena_strdup(&host.arena, os_platform());
	host_probe_identity(environment, &host);
	r = project_probe(spec, &host, err);
	if (r == 0) {
		host_probe_dirs(environment, &host);
		r = (spec->exec      ? host_probe_exec
		     : spec->builder ? host_probe_builder
				     : probe_session)(spec, environment, &host, err);
	}
	if (r < 0)
		host_release(&host);
	else
		*ret = host;
	return r;
}

void host_release(struct host *host)
{
	arena_release(&host->arena);
	*host = (struct host){ 0 };
}
