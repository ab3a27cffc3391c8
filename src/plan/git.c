/* SPDX-License-Identifier: MIT */
/*
 * Whose git directory the sandbox works in: one of the session's own (git/git.h), wherever that can be
 * had; then names that git obeys are made private in the project as well (guard/gate.h). Where it cannot
 * be had and nobody asked for it, the repository's own stands there, and that is said.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "os/linux/landlock.h"
#include "plan/parts.h"

/* The n-th private git directory at its place, with the host's objects to read. */
static void add_private(struct plan *plan, const struct host *host, size_t n, const char *dest,
			const char *common)
{
	struct arena *a = &plan->arena;

	plan_add(plan, OP_BIND, dest, path_join(a, host->state_home, GIT_PRIVATE_DIR),
		 OPF_DIR | OPF_SESSION)
		->layer = arena_printf(a, "%zu", n);
	plan_add(plan, OP_BIND, arena_printf(a, GIT_OBJECTS_INSIDE "/%zu/objects", n),
		 path_join(a, common, "objects"), OPF_RO | OPF_DIR | OPF_CHECK);
	plan_add(plan, OP_BIND, arena_printf(a, GIT_OBJECTS_INSIDE "/%zu/lfs/objects", n),
		 path_join(a, common, "lfs/objects"), OPF_RO | OPF_DIR | OPF_OPTIONAL);
}

static void add_gitfile(struct plan *plan, const char *tree, const char *gitdir)
{
	plan_add(plan, OP_COVER, path_join(&plan->arena, tree, ".git"),
		 arena_printf(&plan->arena, "gitdir: %s\n", gitdir), 0)
		->mode = 0444;
}

void plan_private_git(struct plan *plan, const struct host *host)
{
	const struct project_facts *project = &host->project;
	struct arena *a = &plan->arena;
	const char *main = project->git == GIT_PLAIN ? WORKSPACE_INSIDE "/.git" : GIT_DIR_INSIDE;

	add_private(plan, host, 0, main, plan->git_common);
	if (project->git != GIT_PLAIN)
		add_gitfile(plan, WORKSPACE_INSIDE, GIT_DIR_INSIDE);
	for (size_t i = 0; i < plan->n_git_modules; i++) {
		const struct plan_module *module = &plan->git_modules[i];
		char *dest = arena_printf(a, "%s/modules/%s", main, module->name);

		add_private(plan, host, i + 1, dest, module->gitdir);
		if (module->where)
			add_gitfile(plan, path_join(a, WORKSPACE_INSIDE, module->where), dest);
	}
	for (size_t i = 0; i < project->borrowed.len; i++)
		plan_add(plan, OP_BIND, project->borrowed.v[i].target, project->borrowed.v[i].path,
			 OPF_RO | OPF_DIR | OPF_CHECK);
}

/* The git directories that the session has private ones of. */
static void take_git_dirs(struct plan *plan, const struct project_facts *project)
{
	struct arena *a = &plan->arena;
	char *modules;

	plan->git_real = project->git == GIT_PLAIN ? path_join(a, project->top, ".git")
						   : arena_strdup(a, project->gitdir);
	plan->git_common = project->git == GIT_PLAIN ? plan->git_real
						     : arena_strdup(a, project->commondir);
	modules = path_join(a, plan->git_real, "modules");
	for (size_t i = 0; i < project->modules.len; i++) {
		struct plan_module *module = arena_grow(a, &plan->git_modules, &plan->n_git_modules,
							sizeof(*module));

		module->gitdir = arena_strdup(a, project->modules.v[i].path);
		module->name = arena_strdup(a, path_below(module->gitdir, modules));
		module->where = arena_strdup(a, project->modules.v[i].target);
	}
	for (size_t i = 0; i < project->borrowed.len; i++)
		strv_add(a, &plan->git_borrowed, project->borrowed.v[i].path);
}

/* ------------------------------------------------------------------ the choice */

/* What lies in DIR is inside, whatever is left out around it: its git directory, too, and so never as the host has it. */
bool plan_sees_git(const struct spec *spec, const struct project_facts *project)
{
	return project->git != GIT_NONE &&
	       (!spec->only || (project->git == GIT_PLAIN && !strcmp(project->top, project->dir)));
}

/* Why there can be none here; NULL: there can. */
static const char *obstacle(const struct plan *plan, const struct spec *spec,
			    const struct host *host)
{
	if (!landlock_handles_files(host->landlock_abi))
		return "Landlock (Linux 5.19), to check what the sandbox wrote";
	if (plan->engine == ENGINE_NATIVE && spec->workspace != WORKSPACE_COW &&
	    !host->seccomp_notify)
		return host->inside ? "seccomp notifications, and the outer sandbox has them"
				    : "seccomp notifications (Linux 5.19)";
	return NULL;
}

/* In a sandbox the outer one's holds, and a view of the project is nothing that the host's git sees. */
static void note_direct(struct plan *plan, const struct spec *spec, const struct host *host,
			const char *why)
{
	if (!host->inside && spec->workspace != WORKSPACE_COW)
		strv_addf(&plan->arena, &plan->weaker,
			  "%s: the host's git obeys what the sandbox writes into .git (hooks, "
			  "configuration)",
			  why);
}

static int refuse(const char *why, struct err *err)
{
	err_set(err, EOPNOTSUPP, "--git private needs %s", why);
	return err_hint(err, "--git direct mounts the repository's own .git");
}

/* Nothing could be taken over: what is there can be read. */
static void make_read_only(struct plan *plan, const struct spec *spec, const struct host *host)
{
	bool repository = plan_sees_git(spec, &host->project);

	plan->git_read_only = repository;
	if (!host->no_state) {
		strv_add(&plan->arena, &plan->says,
			 "there is no git on this machine, which would take over what is committed "
			 "inside: .git is read-only there");
		return;
	}
	plan->gate = false;
	strv_addf(&plan->arena, &plan->weaker,
		  "no git directory of the session's own can be made (%s): %srepositories that the "
		  "sandbox makes are obeyed by the host's git",
		  host->no_state, repository ? ".git is read-only inside, and " : "");
}

int plan_choose_git(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err)
{
	const struct project_facts *project = &host->project;
	bool direct = spec->workspace != WORKSPACE_COW, asked = spec->git == GIT_MODE_PRIVATE;
	const char *why = obstacle(plan, spec, host);

	if (plan->engine == ENGINE_APPLE) /* what git obeys is read-only there: plan_apple_git() */
		return asked ? refuse("Linux, to check what the sandbox wrote", err) : 0;
	if (spec->git == GIT_MODE_DIRECT) {
		note_direct(plan, spec, host, "--git direct");
		return 0;
	}
	if (asked && (why || host->no_state))
		return refuse(
			why ? why
			    : arena_printf(&plan->arena, "a place of its own (%s)", host->no_state),
			err);
	if (why) {
		note_direct(plan, spec, host,
			    arena_printf(&plan->arena,
					 "a git directory of the session's own needs %s", why));
		return 0;
	}
	if (host->no_state && !direct)
		return 0;
	plan->gate = plan->engine == ENGINE_NATIVE && direct;
	if (host->no_state || (project->lacks_git && (!spec->only || plan_sees_git(spec, project))))
		make_read_only(plan, spec, host);
	else if (plan_sees_git(spec, project))
		take_git_dirs(plan, project);
	return 0;
}
