/* SPDX-License-Identifier: MIT */
/*
 * The project at /workspace, its repository around it, and the mounts the user named.
 *
 * A project below the top of a repository keeps its place in it: the top stands at /workspace,
 * read-only but for the project and the git directory. A linked worktree or a submodule gets the
 * git directory it points to at its own path, because git writes absolute paths into its files.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"

/* Where the project itself stands inside. */
static char *project_inside(struct plan *plan, const struct spec *spec, const struct host *host)
{
	const struct project_facts *project = &host->project;

	if (spec->only || !strcmp(project->top, project->dir))
		return arena_strdup(&plan->arena, WORKSPACE_INSIDE);
	return path_join(&plan->arena, WORKSPACE_INSIDE, path_below(project->dir, project->top));
}

static const char *const system_dirs[] = {
	"/bin", "/boot", "/etc", "/lib", "/lib64",   "/opt",
	"/run", "/sbin", "/usr", "/var", "/usr/bin", "/usr/lib"
};

/* What wrapix itself obeys and remembers: trust, keys, what of a session is to be taken over, agents,
 * images, sockets. */
static bool holds_own(const struct host *host, const char *dir)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *const homes[] = { host->state_home, host->config_home, host->data_home,
				      host->cache_home, host->runtime_dir };

	for (size_t i = 0; i < ARRAY_LEN(homes); i++)
		if (homes[i] && path_is_below(path_join(&arena, homes[i], "wrapix"), dir))
			return true;
	for (size_t i = 0; i < host->own.len; i++)
		if (path_is_below(host->own.v[i].path, dir))
			return true;
	return path_is_below(arena_printf(&arena, HOST_SPARE, host->uid), dir);
}

static int refuse_own(const struct spec *spec, const struct host *host, struct err *err)
{
	const struct project_facts *project = &host->project;

	if (holds_own(host, project->dir)) {
		err_usage(err, "'%s' holds wrapix's own files, which decide about sandboxes",
			  project->dir);
		return err_hint(err, "cd into a project in it; --force mounts it all the same");
	}
	if (!spec->only && holds_own(host, project->top)) {
		err_usage(err,
			  "the repository '%s' holds wrapix's own files, which decide "
			  "about sandboxes",
			  project->top);
		return err_hint(err, "--only mounts the directory alone");
	}
	return 0;
}

/* A file that the user named decides about the next start as well; of wrapix.json the content is trusted. */
static int refuse_config(const struct spec *spec, const struct host *host, struct err *err)
{
	const char *tree = spec->only ? host->project.dir : host->project.top;

	for (size_t i = 0; i < spec->files.len; i++) {
		if (!path_is_below(spec->files.v[i], tree))
			continue;
		err_usage(err,
			  "'%s' lies in the project, where the sandbox could write it for the next "
			  "start",
			  spec->files.v[i]);
		return err_hint(err, "keep it elsewhere, or as wrapix.json, which 'wrapix trust' "
				     "knows by its content; --force takes it all the same");
	}
	return refuse_own(spec, host, err);
}

static int refuse_way(const struct spec *spec, const struct host *host, struct err *err)
{
	const struct project_facts *project = &host->project;

	if (!project->way)
		return refuse_config(spec, host, err);
	err_usage(
		err,
		"the way to the project goes by a link in another, '%s', that leaves it (to '%s')",
		project->way, project->dir);
	return err_hint(err,
			"who ran there can have made it; if it is yours, name the place that it "
			"leads to; --force takes it all the same");
}

static int refuse_broad(const struct spec *spec, const struct host *host, struct err *err)
{
	const char *dir = host->project.dir;

	/* The host's /proc leads everywhere: /proc/PID/root. */
	if (path_is_below(dir, "/proc") || path_is_below(dir, "/sys") || !strcmp(dir, "/dev"))
		return err_usage(err, "'%s' is not a directory of files", dir);
	if (spec->force)
		return 0;
	if (host_holds_home(host, dir)) {
		bool is_home = !strcmp(dir, host->home) ||
			       (host->passwd_home && !strcmp(dir, host->passwd_home));

		err_usage(err, "'%s' %s, with every key and password in it", dir,
			  is_home ? "is your home directory" : "holds your home directory");
		return err_hint(err, "cd into a project first; --force mounts it all the same");
	}
	for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
		if (!strcmp(dir, system_dirs[i])) {
			err_usage(err, "'%s' belongs to the system, not to a project", dir);
			return err_hint(err,
					"cd into a project first; --force mounts it all the same");
		}
	return refuse_way(spec, host, err);
}

#define TREE (OPF_DIR | OPF_RECURSIVE | OPF_CHECK)

/* Under what the supervisor writes lies what it makes private of it. */
static void add_direct(struct plan *plan, const struct host *host, const char *dest,
		       const char *src)
{
	if (plan->gate)
		plan_add(plan, OP_BIND, dest, path_join(&plan->arena, host->state_home, GATE_DIR),
			 OPF_DIR | OPF_SESSION | OPF_GATE);
	plan_add(plan, OP_BIND, dest, src, TREE | (plan_is_brokered(plan) ? OPF_RO | OPF_HELD : 0));
}

/* A tree of the user's to write in: itself, or a view of it. */
static void add_writable(struct plan *plan, const struct host *host, const char *dest,
			 const char *src, const char *layer)
{
	if (plan->cow_base)
		plan_add(plan, OP_COW, dest, src,
			 OPF_DIR | OPF_CHECK | (host->cow_overlay ? 0 : OPF_COPY))
			->layer = layer;
	else
		add_direct(plan, host, dest, src);
}

static void add_repository(struct plan *plan, const struct host *host)
{
	const struct project_facts *project = &host->project;

	plan_add(plan, OP_BIND, WORKSPACE_INSIDE, project->top, OPF_RO | TREE);
	add_writable(plan, host, plan->cwd, project->dir, LAYER_DIR_PROJECT);
	if (project->git == GIT_PLAIN && !plan->git_real && !plan->git_read_only)
		add_writable(plan, host, WORKSPACE_INSIDE "/.git",
			     path_join(&plan->arena, project->top, ".git"), LAYER_DIR_GIT);
	/* A view is a file system of its own, at which git would stop looking. */
	if (plan->cow_base)
		plan_setenv(plan, "GIT_DISCOVERY_ACROSS_FILESYSTEM", "1");
	strv_addf(&plan->arena, &plan->says,
		  "'%s' is part of the repository '%s': that stands at %s, read-only outside %s "
		  "(and writable in .git); --only mounts the directory alone",
		  project->dir, project->top, WORKSPACE_INSIDE, plan->cwd);
}

static void add_linked_git(struct plan *plan, const struct host *host)
{
	const struct project_facts *project = &host->project;

	if (plan->git_read_only)
		plan_add(plan, OP_BIND, project->commondir, project->commondir, OPF_RO | TREE);
	else
		add_writable(plan, host, project->commondir, project->commondir, LAYER_DIR_GIT);
	/* git's own files name the worktree by its path on the host. */
	if (!path_is_below(project->top, project->commondir))
		plan_add(plan, OP_LINK, project->top, WORKSPACE_INSIDE, 0);
	if (project->git_relative)
		plan_add(plan, OP_COVER, WORKSPACE_INSIDE "/.git",
			 arena_printf(&plan->arena, "gitdir: %s\n", project->gitdir), 0)
			->mode = 0444;
}

/* Where the changes of a copy-on-write session go, and what is weaker about it here. */
static void add_session(struct plan *plan, const struct spec *spec, const struct host *host)
{
	if (spec->workspace != WORKSPACE_COW)
		return;
	plan->cow_base = host->cow_base ? arena_strdup(&plan->arena, host->cow_base)
					: path_join(&plan->arena, host->state_home, "wrapix/cow");
	plan->resume = arena_strdup(&plan->arena, spec->resume);
	plan->cow_limit = spec->limits.disk;
	plan->move_dirs = host->cow_overlay && host->seccomp_notify && !plan_is_machine(plan);
	if (!host->cow_overlay)
		strv_addf(&plan->arena, &plan->says,
			  "overlayfs cannot be used here (it needs Linux 5.11, and a file system "
			  "with user attributes for '%s' or /var/tmp), so the project is copied, "
			  "which takes time and room",
			  plan->cow_base);
}

/* Read-only; a directory ends in '/'. */
static void close_paths(struct plan *plan, const struct strv *paths)
{
	for (size_t i = 0; i < paths->len; i++) {
		size_t len = strlen(paths->v[i]);

		plan_add(plan, OP_READONLY, path_join(&plan->arena, plan->cwd, paths->v[i]), NULL,
			 len && paths->v[i][len - 1] == '/' ? OPF_DIR : 0);
	}
}

int plan_workspace(struct plan *plan, const struct spec *spec, const struct host *host,
		   struct err *err)
{
	const struct project_facts *project = &host->project;
	int r = refuse_broad(spec, host, err);

	if (r < 0)
		return r;
	plan->project = arena_strdup(&plan->arena, project->dir);
	plan->cwd = project_inside(plan, spec, host);
	add_session(plan, spec, host);
	if (strcmp(plan->cwd, WORKSPACE_INSIDE))
		add_repository(plan, host);
	else
		add_writable(plan, host, WORKSPACE_INSIDE, project->dir, LAYER_DIR_PROJECT);
	if (plan->git_real)
		plan_private_git(plan, host);
	else if (project->git == GIT_LINKED && !spec->only)
		add_linked_git(plan, host);
	else if (plan->git_read_only)
		plan_add(plan, OP_READONLY, WORKSPACE_INSIDE "/.git", NULL, OPF_DIR);
	if (plan->engine == ENGINE_APPLE)
		plan_apple_git(plan, spec, host);
	if (project->note && !spec->only)
		strv_add(&plan->arena, &plan->says, project->note);
	/* What decides about the next start is not for the sandbox to write. */
	if (project->has_config)
		plan_add(plan, OP_READONLY, path_join(&plan->arena, plan->cwd, "wrapix.json"), NULL,
			 0);
	if (project->has_wrapix_dir)
		plan_add(plan, OP_READONLY, path_join(&plan->arena, plan->cwd, ".wrapix"), NULL,
			 OPF_DIR);
	close_paths(plan, &spec->read_only);
	if (!plan->gate)
		close_paths(plan, &spec->closed);
	return 0;
}

/* A source that a project's file names as its own and that leads elsewhere: nobody was asked. */
static bool leaves_by_link(struct plan *plan, const struct mount_spec *mount,
			   const struct path_fact *fact, const char *project)
{
	if (mount->layer != LAYER_PROJECT || strchr("/~$", mount->src[0]))
		return false;
	return path_is_below(path_join(&plan->arena, project, mount->src), project) &&
	       !path_is_below(fact->path, project);
}

/* The repository's own git directory, by a name or a link of the project's: passwords are in its configuration, and the
 * private one has none. */
static bool shows_git(struct plan *plan, const char *path, const struct project_facts *project)
{
	char *git = path_join(&plan->arena, project->top, ".git");

	return plan->git_real &&
	       (path_is_below(git, path) || path_is_below(path, git) ||
		path_is_below(plan->git_common, path) || path_is_below(path, plan->git_common));
}

/* True when writing at path reaches what the sandbox must not write in the project. */
static bool opens_protected(struct plan *plan, const char *path, const char *project)
{
	static const char *const names[] = { "wrapix.json", ".wrapix", ".git" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *name = path_join(&plan->arena, project, names[i]);

		if (path_is_below(name, path) || path_is_below(path, name))
			return true;
	}
	return false;
}

/* What the project's own file may not mount. */
static int refuse_door(struct plan *plan, const struct mount_spec *mount,
		       const struct path_fact *fact, const char *base,
		       const struct project_facts *project, struct err *err)
{
	if (mount->rw && opens_protected(plan, fact->path, base))
		err_set(err, EPERM,
			"mount source '%s' of the project's wrapix.json is a second door to what "
			"is read-only in it ('%s')",
			mount->src, fact->path);
	else if (shows_git(plan, fact->path, project))
		err_set(err, EPERM,
			"mount source '%s' of the project's wrapix.json shows the repository's own "
			"git directory ('%s'), whose passwords are not for the sandbox",
			mount->src, fact->path);
	else
		return 0;
	return err_hint(err, "name a directory beside it; --mount is your own word");
}

static int add_mount(struct plan *plan, const struct mount_spec *mount,
		     const struct path_fact *fact, const char *base,
		     const struct project_facts *project, struct err *err)
{
	unsigned flags = mount->rw ? 0 : OPF_RO;

	if (fact->kind == PATH_ABSENT) {
		if (mount->optional)
			return 0;
		err_set(err, ENOENT, "mount source '%s' (%s) does not exist", mount->src,
			fact->path);
		return err_hint(err, "create it, or add ',optional' to the mount");
	}
	if (leaves_by_link(plan, mount, fact, base)) {
		err_set(err, EXDEV,
			"mount source '%s' of the project's wrapix.json is a link that leaves "
			"the project (to '%s')",
			mount->src, fact->path);
		return err_hint(err, "name the place itself, or give it with --mount");
	}
	if (fact->target) {
		err_set(err, EXDEV,
			"mount source '%s' goes by a link in the project, '%s', that leaves it (to "
			"'%s')",
			mount->src, fact->target, fact->path);
		return err_hint(err, "who ran in the project can have made it; if it is yours, "
				     "name the place that it leads to");
	}
	if (mount->layer == LAYER_PROJECT && refuse_door(plan, mount, fact, base, project, err) < 0)
		return -err->code;
	plan_add(plan, OP_BIND, mount->dest, fact->path,
		 flags | OPF_CHECK | (fact->kind == PATH_DIR ? OPF_DIR | OPF_RECURSIVE : 0) |
			 (fact->kind == PATH_OTHER ? OPF_SOCKET : 0));
	return 0;
}

int plan_mounts(struct plan *plan, const struct spec *spec, const struct host *host,
		struct err *err)
{
	for (size_t i = 0; i < spec->n_mounts; i++) {
		const struct mount_spec *mount = &spec->mounts[i];
		const struct path_fact *fact = &host->mounts.v[i];
		int r = add_mount(plan, mount, fact, host_config_base(spec, host), &host->project,
				  err);

		if (r < 0)
			return r;
		if (!mount->rw || spec->force || !holds_own(host, fact->path))
			continue;
		err_usage(err,
			  "mount source '%s' holds wrapix's own files, which decide about "
			  "sandboxes ('%s')",
			  mount->src, fact->path);
		return err_hint(err, "mount a directory in it, or read-only; --force mounts it all "
				     "the same");
	}
	return 0;
}
