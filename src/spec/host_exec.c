/* SPDX-License-Identifier: MIT */
/* The look at this machine that 'wrapix exec' needs: it runs for every command of an agent, so it is
 * short. */
#include <fcntl.h>
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/cgroup.h"
#include "spec/exec.h"
#include "spec/host_priv.h"

static void add_point(struct host *host, struct path_map *known, const char *path)
{
	void **there = path_map_add(known, path, strlen(path));
	struct stat st;

	if (*there)
		return;
	*there = host;
	host_add_fact(host, &host->points, path,
		      lstat(path, &st) < 0 ? PATH_ABSENT : path_kind_of(&st), NULL);
}

/* "/" cannot be covered; what stands in it can. */
static void add_top(struct host *host, struct path_map *known)
{
	_cleanup_dir_ DIR *dir = opendir("/");
	struct dirent *entry;

	while ((entry = os_dir_next(dir)))
		if (entry->d_name[0] != '.' && entry->d_type != DT_LNK)
			add_point(host, known, arena_printf(&host->arena, "/%s", entry->d_name));
}

/* Globs and what is not there yet are the supervisor's. */
static bool has_point(const struct file_rule *rule)
{
	return !rule->glob && !rule->absent && rule->path && rule->kind != FILE_DENY_WRITE &&
	       rule->kind != FILE_PROTECT;
}

static void probe_points(const struct file_rules *files, struct host *host)
{
	struct path_map known = { 0 };

	if (files->disabled || !files->denies_read)
		return;
	for (size_t i = 0; i < files->n; i++) {
		const struct file_rule *rule = &files->rules[i];

		if (has_point(rule) && !strcmp(rule->path, "/"))
			add_top(host, &known);
		else if (has_point(rule))
			add_point(host, &known, rule->path);
	}
	path_map_release(&known);
}

/* A name of the working directory that goes through links, as the user's shell has it in PWD. */
static bool is_cwd(const char *name, const struct host *host)
{
	struct stat st, cwd;

	return name[0] == '/' && !strstr(name, "/.") && !stat(name, &st) &&
	       !stat(host->project.dir, &cwd) && os_same_file(&st, &cwd);
}

static void probe_env(char **environment, struct host *host)
{
	for (; environment && *environment; environment++) {
		size_t len = strcspn(*environment, "=");
		struct env_fact *fact;

		if (!(*environment)[len])
			continue;
		if (!strncmp(*environment, "PWD=", 4) && !is_cwd(*environment + 4, host))
			continue;
		fact = arena_grow(&host->arena, &host->env, &host->n_env, sizeof(*fact));
		*fact = (struct env_fact){ arena_strndup(&host->arena, *environment, len),
					   arena_strdup(&host->arena, *environment + len + 1) };
	}
}

int host_probe_exec(const struct spec *spec, char **environment, struct host *host,
		    _unused_ struct err *err)
{
	static const char *const names[] = { "HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
					     "http_proxy", NULL }; /* sandbox-runtime's */

	host_probe_kernel(host);
	if (host->uid == 0 || host->inside)
		host_probe_masks(host);
	probe_env(environment, host);
	host_probe_proxy(names, environment, host);
	probe_points(&spec->exec->files, host);
	host->resolv_path = os_realpath(&host->arena, "/etc/resolv.conf");
	if (spec->limits.memory || spec->limits.pids || spec->limits.cpus > 0)
		cgroup_probe(&host->cgroup);
	return 0;
}
