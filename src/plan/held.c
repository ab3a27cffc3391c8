/* SPDX-License-Identifier: MIT */
/*
 * File rules in 'wrapix run': what of the project may be changed is not what the mounts say. The project
 * is read-only for the sandbox, and the supervisor changes it by the rules (guard/broker.h), as for
 * 'wrapix exec'; the rules speak of the host's names. Whatever else the sandbox may write, its home, its
 * own places, mounts that the user names, it writes itself: a rule about something in there is said to
 * be weaker.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "plan/parts.h"
#include "spec/exec.h"

/* The supervisor can be asked, and sees the same files. */
static bool can_hold(const struct plan *plan, const struct spec *spec, const struct host *host)
{
	return host->seccomp_notify && plan->engine == ENGINE_NATIVE &&
	       spec->workspace != WORKSPACE_COW;
}

/* The project, and nothing else: what is done to names in it is the gate's to say. */
static int make_rules(struct plan *plan, const struct host *host, struct err *err)
{
	const struct file_rule_source project = {
		.kind = FILE_ALLOW_WRITE,
		.text = host->project.dir,
		.path = host->project.dir,
		.key = "project",
		.literal = true,
	};

	plan->own_files = arena_alloc(&plan->arena, sizeof(*plan->own_files));
	file_rules_init(plan->own_files, host->home, host->project.dir);
	plan->files = plan->own_files;
	return file_rules_add(plan->own_files, &project, err);
}

static void copy_protection(struct plan *plan, const struct spec *spec)
{
	struct protection *protect = &plan->protect;

	*protect = spec->protect;
	protect->paths = arena_alloc(&plan->arena,
				     (spec->protect.n_paths + 1) * sizeof(*protect->paths));
	for (size_t i = 0; i < spec->protect.n_paths; i++) {
		protect->paths[i] = spec->protect.paths[i];
		protect->paths[i].path = arena_strdup(&plan->arena, spec->protect.paths[i].path);
	}
}

/* What somebody has said of them. */
static char *say_protection(struct plan *plan)
{
	const struct protection *protect = &plan->protect;
	_cleanup_str_ struct str said = { 0 };

	for (enum protect_class i = 0; i < PROTECT_CLASSES; i++)
		if (protect->levels[i])
			str_addf(&said, "%s%s %s", said.len ? ", " : "", protect_class_name(i),
				 protect_level_name(protect->levels[i]));
	for (size_t i = 0; i < protect->n_paths; i++)
		str_addf(&said, "%s./%s %s", said.len ? ", " : "", protect->paths[i].path,
			 protect_level_name(protect->paths[i].level));
	return said.len ? arena_strdup(&plan->arena, said.s) : NULL;
}

/* Without the supervisor's hand on the changes, what is there can be closed, and the rest told. */
static void say_weaker(struct plan *plan, const char *what, enum protect_level level)
{
	if (level == PROTECT_RO)
		strv_addf(&plan->arena, &plan->weaker,
			  "protect.%s is ro: without --git private files of that kind at the "
			  "top of the project are read-only, and new ones can be made",
			  what);
	else if (level == PROTECT_HOLD)
		strv_addf(&plan->arena, &plan->weaker,
			  "protect.%s is hold: without --git private changes are only reported",
			  what);
}

static void take_protection(struct plan *plan, const struct spec *spec)
{
	copy_protection(plan, spec);
	plan->protection = say_protection(plan);
	if (plan->gate || spec->workspace == WORKSPACE_COW)
		return;
	for (enum protect_class i = 0; i < PROTECT_CLASSES; i++)
		say_weaker(plan, protect_class_name(i), plan->protect.levels[i]);
	for (size_t i = 0; i < plan->protect.n_paths; i++)
		say_weaker(plan, plan->protect.paths[i].path, plan->protect.paths[i].level);
}

int plan_take_rules(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err)
{
	take_protection(plan, spec);
	if (spec->held)
		plan->denied_resolved = spec->held->denied_resolved;
	if (spec->held && !spec->held->files.disabled && can_hold(plan, spec, host))
		plan->files = &spec->held->files;
	else if (plan->gate)
		return make_rules(plan, host, err);
	return 0;
}

/* Something that the operation shows could be meant. */
static bool concerns(const struct file_rules *rules, const struct file_rule *rule,
		     const struct op *op)
{
	bool shows = op_shows_host(op) || op->kind == OP_COW;

	if (!shows || !rule->path)
		return false;
	if (path_is_below(rule->path, op->src))
		return true;
	if (!path_is_below(op->src, rule->path))
		return false;
	return rule->glob || rule->kind != FILE_DENY_READ ||
	       !file_rules_read(rules, op->src).allowed;
}

const struct op *plan_rule_concerns(const struct plan *plan, const struct file_rules *rules,
				    const struct file_rule *rule, unsigned without)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (!(plan->ops[i].flags & without) && concerns(rules, rule, &plan->ops[i]))
			return &plan->ops[i];
	return NULL;
}

static const char *where(const struct file_rule *rule)
{
	return rule->origin ? rule->origin : "Claude Code's settings";
}

static int refuse(const struct plan *plan, const struct spec *spec, const struct file_rule *rule,
		  struct err *err)
{
	const char *why = plan->files                        ? "where the sandbox may mount"
			  : spec->workspace == WORKSPACE_COW ? "with --workspace cow"
			  : plan->engine == ENGINE_PODMAN    ? "with --engine podman"
			  : plan->engine == ENGINE_APPLE     ? "with --engine apple"
							     : "without seccomp notifications";

	err_set(err, ENOTSUP, "%s: %s: 'run' cannot hold '%s' inside the project %s", where(rule),
		rule->key, rule->text, why);
	return err_hint(err, "wrapix exec holds it, also as a hook of Claude Code: see "
			     "wrapix-check(1)");
}

/* One that a settings file says, about what the supervisor decides or does not. */
static void note_rule(struct plan *plan, const struct file_rule *rule)
{
	const struct file_rules *rules = plan->files;
	const struct op *op;

	switch (rule->kind) {
	case FILE_DENY_READ:
		plan->ask_reads |= plan_rule_concerns(plan, rules, rule, 0) != NULL;
		break;
	case FILE_DENY_WRITE:
		op = plan_rule_concerns(plan, rules, rule, OPF_RO);
		if (op)
			strv_addf(&plan->arena, &plan->weaker,
				  "%s: %s: '%s' is not held in %s, which is mounted to be written",
				  where(rule), rule->key, rule->text, op->dest);
		break;
	case FILE_ALLOW_WRITE:
		if (rule->origin && !plan_rule_concerns(plan, rules, rule, 0))
			strv_addf(&plan->arena, &plan->says,
				  "%s: '%s' is not in the sandbox, which shows the project alone; "
				  "--mount puts it there",
				  where(rule), rule->text);
		break;
	default:
		break;
	}
}

/* The supervisor does not see the mounts: what one makes read-only a rule must refuse too. */
static int check_covers(const struct plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *cover = &plan->ops[i];

		for (size_t k = 0; cover->kind == OP_READONLY && k < i; k++) {
			_cleanup_(arena_release) struct arena arena = { NULL };
			const struct op *op = &plan->ops[k];
			const char *below = path_below(cover->dest, op->dest);

			if ((op->flags & OPF_HELD) && below &&
			    file_rules_write(plan->files, path_join(&arena, op->src, below))
				    .allowed)
				return err_set(err, EPERM,
					       "'%s' is to be read-only, and no rule says so",
					       cover->dest);
		}
	}
	return 0;
}

int plan_check_rules(struct plan *plan, const struct spec *spec, struct err *err)
{
	const struct file_rules *rules = spec->held ? &spec->held->files : NULL;

	if (!rules || rules->disabled)
		return 0;
	for (size_t i = 0; i < rules->n; i++) {
		const struct file_rule *rule = &rules->rules[i];
		bool denies = rule->kind == FILE_DENY_READ || rule->kind == FILE_DENY_WRITE;

		if (plan->files)
			note_rule(plan, rule);
		/* A mount inside would show the same file under a name that no rule knows. */
		if (plan->files
			    ? plan->nested && plan->ask_reads
			    : denies && rule->origin && plan_rule_concerns(plan, rules, rule, 0))
			return refuse(plan, spec, rule, err);
	}
	if (plan->files)
		return check_covers(plan, err);
	strv_add(&plan->arena, &plan->weaker,
		 "Claude Code's settings: names that are protected by default "
		 "(.git/hooks, .vscode, ...) can be written in the project here");
	return 0;
}
