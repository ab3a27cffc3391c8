/* SPDX-License-Identifier: MIT */
/*
 * The git directory of a command: the working directory's repository has a private one for all commands
 * (git/lasting.h), which stands in the host's place. The broker makes every change in it, by the same
 * rules as elsewhere.
 *
 * Not for a repository in which the settings say more than the default does about single files: what
 * they allow or deny is then done to these files, and judged by content (guard/broker_git.c).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/exec_priv.h"
#include "api/repository.h"
#include "base/path.h"
#include "git/lasting.h"
#include "os/fs.h"
#include "os/linux/landlock.h"

enum { LINE_LEN = 4096 };

/* ------------------------------------------------------------------ whether there can be one */

/* The settings leave git's own names as they are. */
static bool settings_fit(const struct srt_config *config)
{
	for (size_t i = 0; i < config->protect_remove.len; i++)
		if (str_starts(config->protect_remove.v[i], ".git"))
			return false;
	return !config->allow_git_config;
}

static bool may_write(struct exec *x, const char *dir, const char *name)
{
	return file_rules_write(&x->exec_spec.files, path_join(&x->arena, dir, name)).allowed;
}

/* No rule is about something in the directory, and all of it is a command's to change. */
static bool rules_fit(struct exec *x, const char *dir, const char *common)
{
	static const char *const names[] = { "HEAD", "index", "refs/heads/main", "objects/00/0" };
	const struct file_rules *files = &x->exec_spec.files;

	for (size_t i = 0; i < files->n; i++) {
		const struct file_rule *rule = &files->rules[i];

		if (rule->path && rule->kind != FILE_ALLOW_WRITE &&
		    path_is_below(rule->path, common) && !rule->glob)
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!may_write(x, dir, names[i]) ||
		    !file_rules_read(files, path_join(&x->arena, dir, names[i])).allowed)
			return false;
	return true;
}

/* A linked work tree in the project: a command that works in both would see two repositories. */
static bool has_tree_inside(struct exec *x, const struct git_about *about)
{
	char *path = path_join(&x->arena, about->common, "worktrees");
	DIR *list = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (list && !found && (entry = readdir(list)) != NULL) {
		char *dir = path_join(&x->arena, path, entry->d_name);
		_cleanup_free_ char *text = NULL;

		if (entry->d_name[0] == '.' || !strcmp(dir, about->real) ||
		    os_read_file_at(AT_FDCWD, path_join(&x->arena, dir, "gitdir"), LINE_LEN, &text,
				    NULL) < 0)
			continue;
		text[strcspn(text, "\n")] = '\0';
		found = path_is_below(path_join(&x->arena, dir, text), about->top);
	}
	if (list)
		closedir(list);
	return found;
}

static bool is_own(const char *dir)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* NULL, or why not. */
static const char *obstacle(struct exec *x, const struct git_about *about)
{
	const struct project_facts *project = &x->host.project;

	if (x->plan.engine != ENGINE_NATIVE || x->request.asks || x->host.inside)
		return "the sandbox around has one";
	if (x->exec_spec.files.disabled)
		return "no rules";
	if (project->lacks_git)
		return "there is no git on this machine";
	if (!landlock_handles_files(x->host.landlock_abi))
		return "Landlock is missing";
	if (project->borrowed.len)
		return "it borrows objects from another repository";
	if (!is_own(about->real))
		return "it is not the user's own";
	if (!settings_fit(&x->config) || !rules_fit(x, about->real, about->common))
		return "the settings have rules for it";
	return has_tree_inside(x, about) ? "a work tree of it lies in the project" : NULL;
}

/* ------------------------------------------------------------------ mounting it */

static void add_private(struct exec *x, const char *path, int fd)
{
	struct engine_private *private = arena_grow(&x->arena, (void *)&x->git.private,
						    &x->git.n_private, sizeof(*private));

	*private = (struct engine_private){ path, fd };
}

static void add_bind(struct exec *x, const char *dest, const char *src)
{
	plan_add(&x->plan, OP_BIND, arena_strdup(&x->plan.arena, dest),
		 arena_strdup(&x->plan.arena, src), OPF_RO | OPF_DIR);
}

/* In place of the host's, which is called so, with the host's objects to read. */
static int add_mount(struct exec *x, const struct git_store *store)
{
	struct arena *a = &x->arena;
	char *lfs = path_join(a, store->common, "lfs/objects");
	int fd = open(store->private, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	add_private(x, store->real, fd);
	add_bind(x, store->real, store->private);
	add_bind(x, path_join(a, store->real, GIT_HOST "/objects"),
		 path_join(a, store->common, "objects"));
	if (access(lfs, F_OK) == 0)
		add_bind(x, path_join(a, store->real, GIT_HOST "/lfs/objects"), lfs);
	return 0;
}

static int mount_all(struct exec *x)
{
	const struct git_store *store = &x->git.store;
	int r;

	/* Of a linked work tree's repository nothing else is changed. */
	if (strcmp(store->real, store->common) != 0)
		add_private(x, store->common, -1);
	r = add_mount(x, store);
	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		r = add_mount(x, &store->parts[i]);
	return r;
}

static void close_all(struct exec *x)
{
	for (size_t i = 0; i < x->git.n_private; i++)
		close_ptr(&x->git.private[i].fd);
	x->git.n_private = 0;
	git_close(&x->git.store);
	x->git.on = false;
}

static struct git_about describe(struct exec *x)
{
	static const struct strv none;
	const struct project_facts *project = &x->host.project;
	bool plain = project->git == GIT_PLAIN;
	char *real = plain ? path_join(&x->arena, project->top, ".git") : project->gitdir;

	return (struct git_about){
		.state_home = x->host.state_home,
		.project = project->top,
		.top = project->top,
		.real = real,
		.common = plain ? real : project->commondir,
		.borrowed = &none,
		.lasting = true,
	};
}

static void take_modules(struct exec *x, struct git_about *about)
{
	const struct project_facts *project = &x->host.project;
	char *modules = path_join(&x->arena, about->real, "modules");
	struct plan_module *list = NULL;

	for (size_t i = 0; i < project->modules.len; i++) {
		struct plan_module *module = arena_grow(&x->arena, (void *)&list, &about->n_modules,
							sizeof(*module));

		module->gitdir = project->modules.v[i].path;
		module->name = arena_strdup(&x->arena, path_below(module->gitdir, modules));
		module->where = project->modules.v[i].target;
	}
	about->modules = list;
}

/* There is one, and something is wrong with it: the host's own is read, and not written. */
static void seal(struct exec *x, const struct git_about *about, const char *why)
{
	close_all(x);
	add_private(x, about->common, -1);
	if (!path_is_below(about->real, about->common))
		add_private(x, about->real, -1);
	exec_say(x, x->hooks.on_warning,
		 arena_printf(&x->arena,
			      "the repository is read-only: its private git directory '%s' cannot "
			      "be used: %s",
			      about->id, why));
}

/* NULL, or why there is none. */
static const char *begin(struct exec *x, struct git_about *about, char id[GIT_LASTING_ID])
{
	const char *why = obstacle(x, about);
	struct err err;

	if (why)
		return why;
	git_lasting_id(about->real, id);
	about->id = id;
	about->program = repository_program(&x->arena, about->project);
	if (!about->program)
		return "there is no git on this machine";
	take_modules(x, about);
	if (git_lasting_begin(&x->git.store, about, &err) < 0)
		why = arena_strdup(&x->arena, err.msg);
	else if (mount_all(x) < 0)
		why = "it cannot be mounted";
	x->git.on = !why;
	if (!why || !git_lasting_exists(about))
		return why;
	seal(x, about, why);
	return NULL;
}

/* Copies of repositories are there, whatever may be read of those themselves. It is a mount and no rule: no opening
 * is asked about because of it. */
static void hide_state(struct exec *x)
{
	const char *state = x->place.state;

	if (x->plan.engine == ENGINE_NATIVE && !x->host.inside && x->plan.files &&
	    !x->exec_spec.files.disabled && file_rules_read(x->plan.files, state).allowed)
		plan_add(&x->plan, OP_DENY, arena_strdup(&x->plan.arena, state), NULL,
			 OPF_DIR | OPF_OPTIONAL);
}

void exec_git_begin(struct exec *x)
{
	char id[GIT_LASTING_ID];
	struct git_about about;
	const char *why;

	hide_state(x);
	if (x->host.project.git == GIT_NONE)
		return;
	about = describe(x);
	why = begin(x, &about, id);
	if (!why)
		return;
	exec_say(x, x->hooks.on_debug,
		 arena_printf(&x->arena, "git's files are judged by content: %s", why));
	close_all(x);
}

/* ------------------------------------------------------------------ while it runs, and after */

static void on_failure(void *ctx, const char *text)
{
	const struct exec *x = ctx;

	exec_say(x, x->hooks.on_debug, text); /* it is published at the end */
}

void exec_git_change(void *ctx)
{
	struct exec *x = ctx;
	struct err ignored;

	if (!x->git.on || x->git.changed)
		return;
	x->git.changed = true;
	git_lasting_change(&x->git.store);
	if (x->loop)
		git_watch_start(&x->git.watch, x->loop, &x->git.store, on_failure, x, &ignored);
}

void exec_git_unwatch(struct exec *x)
{
	git_watch_stop(&x->git.watch);
}

void exec_git_end(struct exec *x)
{
	struct git_report report = { 0 };
	struct strv says = { 0 };
	struct err err;

	if (!x->git.on)
		return;
	if (x->git.changed && git_lasting_end(&x->git.store, &report, &err) < 0)
		strv_addf(&x->arena, &says,
			  "what the command did in git could not be taken over: %s; it is kept, "
			  "and the next command tries again",
			  err.msg);
	else if (report.n_held)
		repository_tell(&x->git.store, &report, &x->arena, &says);
	for (size_t i = 0; i < says.len; i++)
		exec_say(x, x->hooks.on_warning, says.v[i]);
	git_report_release(&report);
	close_all(x);
}
