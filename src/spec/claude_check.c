/* SPDX-License-Identifier: MIT */
/* What becomes of a command: each part against the rules, in the order of claude_check.h. */
#include "spec/claude_check.h"

#include <string.h>

#include "base/path.h"
#include "spec/glob.h"

struct check {
	struct arena *arena;
	const struct claude_settings *settings;
	struct shell_script script;
	bool split; /* the command could be taken apart */
	const char *command;
	struct claude_verdict *verdict;
};

const char *claude_answer_name(enum claude_answer answer)
{
	static const char *const names[] = {
		[CLAUDE_ALLOW] = "allow",
		[CLAUDE_ASK] = "ask",
		[CLAUDE_DENY] = "deny",
		[CLAUDE_EXCLUDED] = "excluded",
	};

	return names[answer];
}

static bool next_rule(struct check *c, const char *list, const char *tool, struct claude_rule *rule)
{
	const struct claude_value *v = rule->value;

	while ((v = claude_each(c->settings, v, list))) {
		if (claude_rule_parse(c->arena, v->string, rule) && !strcmp(rule->tool, tool)) {
			rule->value = v;
			return true;
		}
	}
	return false;
}

static void decide(struct check *c, enum claude_answer answer, const struct claude_value *rule,
		   const char *part, const char *why)
{
	c->verdict->answer = answer;
	c->verdict->rule = rule;
	c->verdict->part = part;
	c->verdict->why = why;
}

static bool covers_any(const char *what, const struct strv *forms)
{
	for (size_t i = 0; i < forms->len; i++)
		if (claude_rule_covers(what, forms->v[i]))
			return true;
	return false;
}

/* A deny or ask rule against every part, or against the text as a whole. */
static bool against_list(struct check *c, const char *list, enum claude_answer answer,
			 const char *why, bool *ret_opaque)
{
	struct claude_rule rule = { 0 };

	while (next_rule(c, list, "Bash", &rule)) {
		bool whole = !rule.what || claude_rule_covers(rule.what, c->command);

		for (size_t i = 0; !whole && i < c->script.n_parts; i++) {
			struct strv forms = { 0 };

			claude_forms(c->arena, &c->script.parts[i], 0, &forms, ret_opaque);
			if (!covers_any(rule.what, &forms))
				continue;
			decide(c, answer, rule.value, c->script.parts[i].raw, why);
			return true;
		}
		if (whole) {
			decide(c, answer, rule.value, NULL, why);
			return true;
		}
	}
	return false;
}

/* --- files that redirections name --- */

static bool is_harmless_target(const struct shell_word *target)
{
	static const char *const names[] = { "/dev/null", "/dev/stdout", "/dev/stderr",
					     "/dev/tty" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!target->dynamic && !strcmp(target->plain, names[i]))
			return true;
	return false;
}

static bool rule_covers_path(struct check *c, const struct claude_rule *rule, const char *list,
			     enum claude_effect wanted, const char *path)
{
	const struct glob *glob;
	const char *pattern;
	struct err err;

	if (claude_rule_effect(c->arena, rule, list, &c->settings->place, &pattern) != wanted)
		return false;
	glob = glob_compile(c->arena, pattern, 0, &err);
	return !glob || glob_cover(glob, path) >= 0;
}

static bool denied_file(struct check *c, const struct shell_redirect *redirect, const char *tool,
			enum claude_effect effect)
{
	const char *plain = redirect->target.plain, *path;
	struct claude_rule rule = { 0 };

	path = plain[0] == '~' ? claude_path(c->arena, plain, CLAUDE_PROJECT, &c->settings->place)
			       : path_join(c->arena, c->settings->place.cwd, plain);
	while (next_rule(c, "permissions.deny", tool, &rule)) {
		if (!rule_covers_path(c, &rule, "deny", effect, path))
			continue;
		decide(c, CLAUDE_DENY, rule.value, arena_strdup(c->arena, redirect->target.raw),
		       "a deny rule covers the file of a redirection");
		return true;
	}
	return false;
}

static bool denied_redirect(struct check *c)
{
	for (size_t i = 0; i < c->script.n_parts; i++) {
		const struct shell_part *part = &c->script.parts[i];

		for (size_t k = 0; k < part->n_redirects; k++) {
			const struct shell_redirect *r = &part->redirects[k];

			if (r->kind == SHELL_WRITE &&
			    denied_file(c, r, "Edit", CLAUDE_EFFECT_DENY_WRITE))
				return true;
			if (r->kind == SHELL_READ &&
			    denied_file(c, r, "Read", CLAUDE_EFFECT_DENY_READ))
				return true;
		}
	}
	return false;
}

/* --- allowing --- */

static const struct claude_value *allow_rule(struct check *c, const struct shell_part *part)
{
	const char *form = claude_allow_form(c->arena, part);
	struct claude_rule rule = { 0 };

	while (next_rule(c, "permissions.allow", "Bash", &rule))
		if (!rule.what || (form && claude_rule_covers(rule.what, form)))
			return rule.value;
	return NULL;
}

static bool writes_file(const struct shell_part *part)
{
	for (size_t k = 0; k < part->n_redirects; k++)
		if (part->redirects[k].kind == SHELL_WRITE &&
		    !is_harmless_target(&part->redirects[k].target))
			return true;
	return false;
}

/* Every part that runs something is covered; *ret is the rule of the first. */
static bool all_allowed(struct check *c, const struct claude_value **ret, const char **ret_missing)
{
	*ret = NULL;
	for (size_t i = 0; i < c->script.n_parts; i++) {
		const struct shell_part *part = &c->script.parts[i];
		const struct claude_value *rule = allow_rule(c, part);
		bool nothing = !part->n_words && !writes_file(part);

		*ret_missing = part->raw;
		if (!nothing && (!rule || (writes_file(part) && strcmp(rule->string, "Bash") &&
					   strcmp(rule->string, "Bash(*)"))))
			return false;
		*ret = *ret ? *ret : rule;
	}
	return c->split && c->script.n_parts > 0;
}

/* --- exclusion --- */

/* An entry for wrapix itself tells Claude Code's own sandbox to leave it alone; it takes nothing out
 * of ours. */
static bool is_ours(const char *form)
{
	_cleanup_str_ struct str first = { 0 };

	str_addn(&first, form, strcspn(form, " "));
	return !strcmp(path_name(first.s), "wrapix") || !strcmp(path_name(first.s), "srt");
}

static const struct claude_value *excluded_by(struct check *c, const struct shell_part *part)
{
	const char *form = claude_allow_form(c->arena, part);
	struct claude_rule rule;

	if (!form || part->n_redirects || part->substituted || is_ours(form) ||
	    !strcmp(part->words[0].plain, "cd"))
		return NULL;
	for (const struct claude_value *v = NULL;
	     (v = claude_each(c->settings, v, "sandbox.excludedCommands"));) {
		const char *what = v->string;

		if (str_starts(what, "Bash(") && claude_rule_parse(c->arena, what, &rule))
			what = rule.what ? rule.what : "*";
		if (claude_rule_covers(what, form))
			return v;
	}
	return NULL;
}

static const struct claude_value *excluded(struct check *c)
{
	const struct claude_value *first = NULL;

	if (!c->split || c->script.substitution || c->script.here)
		return NULL;
	for (size_t i = 0; i < c->script.n_parts; i++) {
		const struct claude_value *v = excluded_by(c, &c->script.parts[i]);

		if (!v)
			return NULL;
		first = first ? first : v;
	}
	return first;
}

/* --- the order --- */

static bool has_rules(struct check *c, const char *list)
{
	struct claude_rule rule = { 0 };

	return next_rule(c, list, "Bash", &rule);
}

/* What denies or asks, wherever the command would run. True when it is decided. */
static bool refused(struct check *c, const struct err *err)
{
	bool opaque = !c->split;

	if (against_list(c, "permissions.deny", CLAUDE_DENY, "a deny rule covers it", &opaque) ||
	    denied_redirect(c) ||
	    against_list(c, "permissions.ask", CLAUDE_ASK, "an ask rule covers it", &opaque)) {
		c->verdict->by_rule = true;
		return true;
	}
	if (!c->split) {
		decide(c, CLAUDE_ASK, NULL, NULL,
		       arena_printf(c->arena, "it cannot be taken apart (%s)", err->msg));
		return true;
	}
	if (opaque && (has_rules(c, "permissions.deny") || has_rules(c, "permissions.ask"))) {
		decide(c, CLAUDE_ASK, NULL, NULL,
		       "what it runs is known only when it runs, and there are deny or ask rules");
		return true;
	}
	return false;
}

static void by_allow_rules(struct check *c)
{
	const struct claude_value *rule;
	const char *missing = NULL;

	if (all_allowed(c, &rule, &missing)) {
		decide(c, CLAUDE_ALLOW, rule, NULL, "allow rules cover it");
		c->verdict->by_rule = true;
	} else {
		decide(c, CLAUDE_ASK, NULL, missing, "no rule allows it");
	}
}

/* Where a sandbox is wanted; c->verdict->sandboxed is still true. */
static void in_sandbox(struct check *c, const struct claude_question *question)
{
	const struct claude_value *outside = claude_get(c->settings,
							"sandbox.allowUnsandboxedCommands");
	const struct claude_value *v = excluded(c);
	const struct claude_value *rule;
	const char *missing;

	if (v) {
		c->verdict->sandboxed = false;
		c->verdict->allowed = all_allowed(c, &rule, &missing);
		decide(c, CLAUDE_EXCLUDED, v, NULL,
		       "every part of it is excluded from the sandbox");
	} else if (question->outside && (!outside || outside->truth)) {
		c->verdict->sandboxed = false;
		decide(c, CLAUDE_ASK, outside, NULL, "it asks to run outside the sandbox");
	} else if (claude_mode(c->settings) == CLAUDE_AUTO_ALLOW) {
		decide(c, CLAUDE_ALLOW, claude_get(c->settings, "sandbox.autoAllowBashIfSandboxed"),
		       NULL, "it runs in the sandbox");
	} else {
		by_allow_rules(c);
	}
}

void claude_check(struct arena *arena, const struct claude_settings *settings,
		  const struct claude_question *question, struct claude_verdict *ret)
{
	struct check c = {
		.arena = arena, .settings = settings, .verdict = ret, .command = question->command
	};
	struct err err = { 0 };

	*ret = (struct claude_verdict){ .sandboxed = claude_mode(settings) != CLAUDE_DISABLED };
	c.split = shell_split(arena, question->command, &c.script, &err) == 0;
	for (size_t i = 0; i < c.script.n_parts; i++)
		if (c.script.parts[i].n_words)
			strv_add(arena, &ret->parts, c.script.parts[i].raw);
	if (refused(&c, &err))
		return;
	if (ret->sandboxed)
		in_sandbox(&c, question);
	else
		by_allow_rules(&c);
}
