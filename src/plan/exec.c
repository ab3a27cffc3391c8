/* SPDX-License-Identifier: MIT */
/*
 * The plan of 'wrapix exec': the host's own tree at its own paths, read-only as a whole, with a few
 * things laid over it. What may be changed is nothing that a mount says: the supervisor does it, by
 * the file rules (guard/broker.h). So the number of mounts does not depend on what lies in the tree,
 * and nothing has to exist, or be made, to be protected.
 *
 * What may not be read is covered where it exists: by an own directory or file that nobody may open,
 * or, where something in it may be read all the same, by one that can be passed through and not
 * listed.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"
#include "spec/exec.h"

#define MEMORY "/dev/shm"
#define TMP_INSIDE MEMORY "/tmp" /* private, and needs no place on the host to stand on */

static const struct {
	const char *dest, *target; /* a link; else a device of the host's */
} nodes[] = {
	{ "/dev/null", NULL },
	{ "/dev/zero", NULL },
	{ "/dev/full", NULL },
	{ "/dev/random", NULL },
	{ "/dev/urandom", NULL },
	{ "/dev/tty", NULL },
	{ "/dev/fd", "/proc/self/fd" },
	{ "/dev/stdin", "/proc/self/fd/0" },
	{ "/dev/stdout", "/proc/self/fd/1" },
	{ "/dev/stderr", "/proc/self/fd/2" },
	{ "/dev/ptmx", "pts/ptmx" },
};

/* Keys are not files, but these list them. */
static const char *const key_files[] = { "/proc/keys", "/proc/key-users" };

static void add_dev(struct plan *plan)
{
	plan_add(plan, OP_SCRATCH, "/dev", NULL, OPF_RO)->mode = 0755;
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
		if (nodes[i].target)
			plan_add(plan, OP_LINK, nodes[i].dest, nodes[i].target, 0);
		else
			plan_add(plan, OP_BIND, nodes[i].dest, nodes[i].dest,
				 OPF_DEV | OPF_RO | OPF_OPTIONAL);
	plan_add(plan, OP_DEVPTS, "/dev/pts", NULL, 0);
	plan_add(plan, OP_SCRATCH, MEMORY, NULL, 0)->mode = 01777;
	plan_add(plan, OP_DIR, TMP_INSIDE, NULL, 0)->mode = 0700;
}

static void add_masks(struct plan *plan, const struct host *host)
{
	for (size_t i = 0; i < host->masks.len; i++) {
		const struct path_fact *fact = &host->masks.v[i];

		plan_add(plan, fact->target ? OP_READONLY : OP_HIDE, fact->path, NULL,
			 fact->kind == PATH_DIR ? OPF_DIR : 0);
	}
}

/* Everybody but root is kept from what is dangerous in /proc by its owner and mode; what a sandbox around
 * hides stays hidden. A sandbox inside could mount no /proc of its own over a masked one. */
static void add_proc(struct plan *plan, const struct exec_spec *exec, const struct host *host)
{
	if (exec->host_proc) {
		strv_add(&plan->arena, &plan->weaker,
			 "enableWeakerNestedSandbox: /proc is the host's, and shows its processes");
		return;
	}
	plan_add(plan, OP_PROC, "/proc", NULL, 0);
	if (plan->nested)
		return;
	for (size_t i = 0; host->uid && i < ARRAY_LEN(key_files); i++)
		plan_add(plan, OP_HIDE, key_files[i], NULL, OPF_OPTIONAL);
	if (!host->uid || host->inside)
		add_masks(plan, host);
}

/* A place where reading begins or ends to be allowed. */
struct point {
	const struct path_fact *fact;
	bool allowed, holed; /* holed: something below it is allowed again */
};

struct points {
	struct plan *plan;
	struct point *v;
	size_t n;
	struct path_map by_path;
	struct path_map passed; /* directories that have their OP_PASS */
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct point *)a)->fact->path, ((const struct point *)b)->fact->path);
}

/* The nearest point above; NULL: all above may be read. */
static struct point *above(const struct points *points, const struct point *point)
{
	const char *path = point->fact->path;
	void **found = NULL;

	for (size_t n = strlen(path); !found && (n = path_parent_len(path, n)) > 0;)
		found = path_map_find(&points->by_path, path, n);
	return found ? *found : NULL;
}

/* It can be passed, and nothing else. */
static void add_pass(struct points *points, const char *dir)
{
	void **passed = path_map_add(&points->passed, dir, strlen(dir));

	if (!*passed)
		*passed = plan_add(points->plan, OP_PASS, dir, NULL, OPF_DIR);
}

/* The way from a cover to what may be read in it. The cover may be of a point further up than the nearest one: what is denied in
 * something denied has none of its own. */
static void add_way(struct points *points, const char *path)
{
	struct arena *arena = &points->plan->arena;
	struct strv dirs = { 0 };

	for (char *dir = path_parent(arena, path);
	     strcmp(dir, "/") && !path_map_find(&points->passed, dir, strlen(dir));
	     dir = path_parent(arena, dir))
		strv_add(arena, &dirs, dir);
	while (dirs.len-- > 0)
		add_pass(points, dirs.v[dirs.len]);
}

static void add_point(struct points *points, const struct point *point)
{
	const struct path_fact *fact = point->fact;
	const struct point *outer = above(points, point);
	unsigned dir = fact->kind == PATH_DIR ? OPF_DIR : 0;

	if (point->allowed && outer && !outer->allowed) {
		add_way(points, fact->path);
		plan_add(points->plan, OP_BIND, fact->path, fact->path,
			 OPF_RO | dir | (dir ? OPF_RECURSIVE : 0) | OPF_OPTIONAL);
	} else if (!point->allowed && (!outer || outer->allowed)) {
		if (point->holed)
			add_pass(points, fact->path);
		else
			plan_add(points->plan, OP_DENY, fact->path, NULL, dir | OPF_OPTIONAL);
	}
}

/* Each path once, what lies above before what lies below. */
static void sort_points(struct points *points)
{
	size_t n = 0;

	qsort(points->v, points->n, sizeof(*points->v), by_path);
	for (size_t i = 0; i < points->n; i++) {
		const char *path = points->v[i].fact->path;
		void **known = path_map_add(&points->by_path, path, strlen(path));

		if (*known)
			continue;
		points->v[n] = points->v[i];
		*known = &points->v[n++];
	}
	points->n = n;
}

static void add_points(struct points *points)
{
	sort_points(points);
	for (size_t i = 0; i < points->n; i++)
		for (struct point *p = points->v[i].allowed ? above(points, &points->v[i]) : NULL;
		     p; p = above(points, p))
			p->holed = true;
	for (size_t i = 0; i < points->n; i++)
		add_point(points, &points->v[i]);
}

static int add_denials(struct plan *plan, const struct file_rules *files, const struct host *host,
		       struct err *err)
{
	_cleanup_free_ struct point *v = calloc(host->points.len + 1, sizeof(*v));
	struct points points = { .plan = plan, .v = v };

	if (!v)
		return err_errno(err, ENOMEM, "planning");
	for (size_t i = 0; i < host->points.len; i++) {
		const struct path_fact *fact = &host->points.v[i];

		if (fact->kind != PATH_ABSENT && strcmp(fact->path, "/"))
			v[points.n++] = (struct point){
				.fact = fact,
				.allowed = file_rules_read(files, fact->path).allowed,
			};
	}
	add_points(&points);
	path_map_release(&points.by_path);
	path_map_release(&points.passed);
	return 0;
}

static bool is_unset(const struct exec_spec *exec, const char *name)
{
	return strv_has(&exec->unset_env, name);
}

static void add_env(struct plan *plan, const struct spec *spec, const struct host *host)
{
	const struct exec_spec *exec = spec->exec;
	const char *tmp = exec->tmpdir ? exec->tmpdir : TMP_INSIDE;

	for (size_t i = 0; i < host->n_env; i++)
		if (!is_unset(exec, host->env[i].name))
			strv_addf(&plan->arena, &plan->env, "%s=%s", host->env[i].name,
				  host->env[i].value);
	plan_setenv(plan, "TMPDIR", tmp);
	if (!host_env(host, "TMUX_TMPDIR")) /* its own default is in /tmp */
		plan_setenv(plan, "TMUX_TMPDIR", tmp);
	if (!host_env(host, "PWD"))
		plan_setenv(plan, "PWD", plan->cwd);
	plan_setenv(plan, "SANDBOX_RUNTIME", "1");
	for (size_t i = 0; i < spec->n_env; i++)
		if (spec->env[i].value)
			plan_setenv(plan, spec->env[i].name, spec->env[i].value);
}

/* The command's questions for names go to an address that the filter answers for. */
static void add_resolver(struct plan *plan, const struct host *host)
{
	if (host->resolv_path && plan->net == NET_FILTERED)
		plan_add(plan, OP_COVER, host->resolv_path, plan_resolver(plan, host), OPF_OPTIONAL)
			->mode = 0444;
}

static int check(const struct plan *plan, const struct host *host, struct err *err)
{
	if (plan->nested && host->uid == 0) {
		err_set(err, EPERM,
			"allowNestedUserNamespaces as root would leave /proc/sys writable");
		return err_hint(err, "run it as an ordinary user");
	}
	if (plan_has_listener(plan) && !host->seccomp_notify) {
		err_set(err, EOPNOTSUPP, "file rules by name need seccomp notifications%s",
			host->inside ? ", and the outer sandbox has them already" : "");
		return err_hint(err, host->inside ? "the outer sandbox holds this command as well: "
						    "run it without 'wrapix exec' or srt"
						  : "Linux 5.14 or newer");
	}
	return 0;
}

static unsigned tree_flags(const struct exec_spec *exec)
{
	return OPF_DIR | OPF_RECURSIVE | (exec->files.disabled ? 0 : OPF_RO);
}

/* What every command has: nothing of it depends on where it runs or on which rules there are. */
void plan_exec_root(struct plan *plan, const struct exec_spec *exec, const struct host *host)
{
	plan_add(plan, OP_ROOT, "/", "/", tree_flags(exec));
	add_proc(plan, exec, host);
	add_dev(plan);
}

/* A command's memory is its own. A project that lies in the host's is there all the same, with the directories around
 * it, which may be its repository: what the command made in it would be gone with the command otherwise. */
static void add_project(struct plan *plan, const struct exec_spec *exec, const struct host *host)
{
	const char *project = host->project.dir, *below = path_below(project, MEMORY);
	char *top;

	if (!below || !*below)
		return;
	top = arena_printf(&plan->arena, MEMORY "/%.*s", (int)strcspn(below, "/"), below);
	plan_add(plan, OP_BIND, !strcmp(top, TMP_INSIDE) ? project : top,
		 !strcmp(top, TMP_INSIDE) ? project : top, tree_flags(exec));
}

/* The operations that make the host's tree one with rules; where the system has a language for rules of
 * its own there are none. */
static int add_tree(struct plan *plan, const struct exec_spec *exec, const struct host *host,
		    struct err *err)
{
	int r = check(plan, host, err);

	if (r < 0)
		return r;
	plan_exec_root(plan, exec, host);
	add_project(plan, exec, host);
	add_resolver(plan, host);
	return exec->files.disabled ? 0 : add_denials(plan, &exec->files, host, err);
}

int plan_exec(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err)
{
	const struct exec_spec *exec = spec->exec;

	plan->exec = exec;
	plan->files = &exec->files;
	plan->guard_unix = !exec->all_unix_sockets;
	plan->unix_sockets = exec->unix_sockets;
	plan->denied_resolved = exec->denied_resolved;
	plan->pass_fds = exec->pass_fds;
	plan->n_pass_fds = exec->n_pass_fds;
	plan->hostname = NULL;
	plan->project = plan->cwd = arena_strdup(&plan->arena, host->project.dir);
	if (plan->engine != ENGINE_SEATBELT && add_tree(plan, exec, host, err) < 0)
		return -err->code;
	add_env(plan, spec, host);
	for (char **word = spec->cmd; word && *word; word++)
		strv_add(&plan->arena, &plan->argv, *word);
	return plan_reach(plan, spec, host, err);
}
