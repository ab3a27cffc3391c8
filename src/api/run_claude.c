/* SPDX-License-Identifier: MIT */
/* Claude Code's settings for a session; see run_claude.h. */
#include "api/run_claude.h"

#include <errno.h>
#include <string.h>

#include "api/explain.h"
#include "base/path.h"
#include "spec/project.h"

/* One reading of the files. */
struct claude_rules {
	struct srt_config config;
	struct spec spec; /* hosts alone are taken from it */
	struct exec_spec exec;
};

static void free_rules(struct claude_rules *rules)
{
	if (!rules)
		return;
	file_rules_release(&rules->exec.files);
	spec_release(&rules->spec);
	srt_config_release(&rules->config);
	free(rules);
}

struct run_claude *run_claude_new(const struct claude_where *where)
{
	struct run_claude *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->watch = (struct config_watch)CONFIG_WATCH_NONE;
	claude_policy_init(&c->policy, where);
	c->place = (struct srt_place){
		.home = c->policy.where.home,
		.cwd = c->policy.where.dir,
		.git_dir = project_git_dir(&c->arena, c->policy.where.dir, c->policy.where.home),
	};
	return c;
}

void run_claude_free(struct run_claude *c)
{
	if (!c)
		return;
	free_rules(c->first);
	free_rules(c->later);
	claude_policy_release(&c->policy);
	arena_release(&c->arena);
	free(c);
}

const struct srt_config *run_claude_config(const struct run_claude *c)
{
	const struct claude_rules *last = c->applied ? c->applied : c->later;

	return last ? &last->config : &c->first->config;
}

/* --- reading --- */

/* What decides about the next start; a mount says it too, which the supervisor does not see. */
static int protect_own(const struct run_claude *c, struct file_rules *rules, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->own.len; i++)
		r = file_rules_add(rules,
				   &(struct file_rule_source){
					   .kind = FILE_DENY_WRITE,
					   .text = c->own.v[i],
					   .path = path_join(&arena, c->place.cwd, c->own.v[i]),
					   .key = "wrapix",
					   .literal = true,
				   },
				   err);
	return r;
}

/* Takes the configuration over. */
static int make_rules(const struct run_claude *c, struct srt_config *config,
		      struct claude_rules **ret, struct strv *says, struct arena *arena,
		      struct err *err)
{
	struct claude_rules *rules = calloc(1, sizeof(*rules));
	struct srt_notes notes = { .arena = arena };
	int r;

	if (!rules) {
		srt_config_release(config);
		return err_errno(err, ENOMEM, "reading Claude Code's settings");
	}
	rules->config = *config;
	spec_init(&rules->spec);
	r = srt_to_spec(&rules->config, &c->place, &rules->spec, &rules->exec, &notes, err);
	if (r == 0 && !rules->exec.files.disabled)
		r = protect_own(c, &rules->exec.files, err);
	if (r < 0) {
		free_rules(rules);
		return r;
	}
	for (size_t i = 0; i < rules->config.warnings.len; i++)
		strv_add(arena, says, rules->config.warnings.v[i]);
	for (size_t i = 0; i < notes.lines.len; i++)
		strv_add(arena, says, notes.lines.v[i]);
	*ret = rules;
	return 0;
}

static int add_hosts(const struct claude_rules *rules, struct spec *spec, struct err *err)
{
	enum layer layer;
	bool named = spec_layer(spec, "network", &layer) && layer == LAYER_FLAG;
	int r = 0;

	if (named && spec->net == NET_NONE)
		return 0; /* less than the settings allow */
	for (size_t i = 0; r == 0 && i < rules->spec.n_rules; i++)
		r = spec_add_rule(spec, rules->spec.rules[i].text, rules->spec.rules[i].deny,
				  LAYER_FLAG, err);
	for (size_t i = 0; r == 0 && i < rules->spec.n_ports; i++) {
		char port[8];

		snprintf(port, sizeof(port), "%u", rules->spec.ports[i].host);
		r = spec_add_host_port(spec, port, LAYER_FLAG, err);
	}
	return r == 0 && !named ? spec_set(spec, "network", "filtered", LAYER_FLAG, err) : r;
}

static int add_nesting(const struct claude_rules *rules, struct spec *spec, struct err *err)
{
	return rules->config.nested_userns ? spec_set(spec, "allowNested", "true", LAYER_FLAG, err)
					   : 0;
}

int run_claude_load(struct run_claude *c, struct spec *spec, struct strv *says, struct err *err)
{
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config;
	int r;

	config_watch_mark(&c->watch);
	r = claude_policy_load(&c->policy, &config, false, &why);
	if (r < 0) {
		const char *text = why.s ? srt_plain(why.s) : NULL;
		size_t first = text ? strcspn(text, "\n") : 0;

		err_usage(err, "%.*s", (int)first, text ? text : "");
		return text && text[first] ? err_hint(err, "%s", text + first + 1) : -err->code;
	}
	strv_add(&c->arena, &c->own, "wrapix.json");
	strv_add(&c->arena, &c->own, ".wrapix");
	for (size_t i = 0; i < spec->read_only.len; i++)
		strv_add(&c->arena, &c->own, spec->read_only.v[i]);
	r = make_rules(c, &config, &c->first, says, &spec->arena, err);
	if (r == 0)
		r = add_hosts(c->first, spec, err);
	if (r == 0)
		r = add_nesting(c->first, spec, err);
	if (r == 0)
		spec->held = &c->first->exec;
	return r;
}

/* --- changes --- */

/* Of a list what is not in 'less', each entry of which takes one away. */
static void subtract(struct arena *arena, const struct strv *list, const struct claude_rules *less,
		     bool deny, struct strv *ret)
{
	_cleanup_free_ bool *used = calloc(less->spec.n_rules + 1, sizeof(*used));

	for (size_t i = 0; used && i < list->len; i++) {
		bool taken = false;

		for (size_t k = 0; k < less->spec.n_rules && !taken; k++) {
			const struct rule_spec *rule = &less->spec.rules[k];

			taken = !used[k] && rule->deny == deny && !strcmp(rule->text, list->v[i]);
			used[k] |= taken;
		}
		if (!taken)
			strv_add(arena, ret, list->v[i]);
	}
}

void run_claude_begin(struct run_claude *c, const struct plan *plan, struct event_log *log,
		      void (*on_warning)(void *ctx, const char *text), void *ctx)
{
	subtract(&c->arena, &plan->allow, c->first, false, &c->allow);
	subtract(&c->arena, &plan->deny, c->first, true, &c->deny);
	c->plan = plan;
	c->log = log;
	c->on_warning = on_warning;
	c->ctx = ctx;
}

void run_claude_added(struct run_claude *c, bool deny, const char *rule)
{
	struct said_rule *said;

	for (size_t i = 0; i < c->n_said; i++)
		if (!strcmp(c->said[i].text, rule)) {
			c->said[i].deny = deny;
			return;
		}
	said = arena_grow(&c->arena, &c->said, &c->n_said, sizeof(*said));
	*said = (struct said_rule){ arena_strdup(&c->arena, rule), deny };
}

/* While a program has the screen there is no place for a line but in the log. */
static void say_warning(struct run_claude *c, const char *text)
{
	event_log_text(c->log, "warning", text);
	if (!plan_has_tty(c->plan))
		c->on_warning(c->ctx, text);
}

static bool is_said(const struct run_claude *c, const char *text, bool deny)
{
	for (size_t i = 0; i < c->n_said; i++)
		if (c->said[i].deny == deny && !strcmp(c->said[i].text, text))
			return true;
	return false;
}

/* The hosts by anybody else: what was said last about one counts. */
static void join(const struct run_claude *c, bool deny, struct arena *arena, struct strv *to)
{
	const struct strv *from = deny ? &c->deny : &c->allow;

	for (size_t i = 0; i < from->len; i++)
		if (!is_said(c, from->v[i], !deny))
			strv_add(arena, to, from->v[i]);
	for (size_t i = 0; i < c->n_said; i++)
		if (c->said[i].deny == deny && !strv_has(from, c->said[i].text))
			strv_add(arena, to, c->said[i].text);
}

static int apply(struct run_claude *c, struct claude_rules *rules, struct err *err)
{
	struct engine_rules all = { .denied_resolved = rules->exec.denied_resolved };
	struct arena *arena = &rules->spec.arena;

	if (rules->exec.files.disabled != c->first->exec.files.disabled)
		return err_set(err, EINVAL,
			       "filesystem.disabled cannot change while the session runs");
	join(c, false, arena, &all.allow);
	join(c, true, arena, &all.deny);
	for (size_t i = 0; i < rules->spec.n_rules; i++)
		strv_add(arena, rules->spec.rules[i].deny ? &all.deny : &all.allow,
			 rules->spec.rules[i].text);
	all.files = rules->exec.files.disabled ? NULL : &rules->exec.files;
	return engine_set_rules(c->live, &all, err);
}

/* What the kernel was not told to ask about at the start, nobody is asked about. */
static void warn_unheld(struct run_claude *c, const struct file_rules *rules,
			const struct file_rules *old)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct file_rule *rule = &rules->rules[i];
		bool read = rule->kind == FILE_DENY_READ;
		char text[384];

		if ((!read && rule->kind != FILE_DENY_WRITE) || file_rules_have(old, rule) ||
		    (c->plan->files && read && c->plan->ask_reads) ||
		    !plan_rule_concerns(c->plan, rules, rule, read || !c->plan->files ? 0 : OPF_RO))
			continue;
		snprintf(text, sizeof(text), "%.200s: '%.128s' counts from the next session on",
			 rule->origin ? rule->origin : rule->key, rule->text);
		say_warning(c, text);
	}
}

static void on_file(void *ctx)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct run_claude *c = ctx;
	struct claude_rules *old = c->later ? c->later : c->first, *rules = NULL;
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config;
	struct strv says = { 0 };
	struct err err = { 0 };
	int r = claude_policy_load(&c->policy, &config, true, &why);

	if (r == -ENOENT)
		return; /* somebody edits it */
	if (r == 0)
		r = make_rules(c, &config, &rules, &says, &arena, &err);
	else
		err_set(&err, EINVAL, "%.*s", (int)strcspn(why.s, "\n"), why.s);
	if (r == 0) {
		known(rules);
		c->applied = rules; /* what ends now ends by these */
		r = apply(c, rules, &err);
		c->applied = NULL;
		if (r < 0)
			free_rules(rules);
	}
	if (r < 0 || !rules) {
		err_wrap(&err, "the settings stay as they were");
		say_warning(c, err.msg);
		return;
	}
	explain_change(c->log, &(struct settings_rules){ &old->config, &old->exec.files },
		       &(struct settings_rules){ &rules->config, &rules->exec.files });
	warn_unheld(c, &rules->exec.files, &old->exec.files);
	free_rules(c->later); /* nothing refers to it any more */
	c->later = rules;
}

void run_claude_loop(struct run_claude *c, struct loop *loop)
{
	c->loop = loop;
	if (!loop)
		config_watch_stop(&c->watch);
}

void run_claude_live(struct run_claude *c, struct engine_live *live)
{
	const struct config_watch_hooks hooks = { .on_file = on_file, .ctx = c };
	struct err err;

	c->live = live;
	if (live &&
	    config_watch_start(&c->watch, c->loop, -1, &c->policy.watched, &hooks, &err) < 0)
		say_warning(c, err.msg);
}
