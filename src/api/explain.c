/* SPDX-License-Identifier: MIT */
/* Refusals and changes, by the settings they come from; see explain.h. */
#include "api/explain.h"

#include <fcntl.h>
#include <string.h>

#include "base/json_span.h"
#include "base/str.h"
#include "os/fs.h"

enum { CHANGES_SHOWN = 64 }; /* rules on each side */

static bool is_denied(const struct denial *denial)
{
	const char *reason = denial->reason ? denial->reason : "";

	return denial->rule &&
	       (!strcmp(reason, "denied-name") || !strcmp(reason, "denied-address"));
}

void explain_host_by_plan(struct denial *denial, const struct plan *plan)
{
	for (size_t i = 0; is_denied(denial) && i < MIN(plan->deny.len, plan->deny_at.len); i++)
		if (!strcmp(plan->deny.v[i], denial->rule) && *plan->deny_at.v[i]) {
			denial->origin = plan->deny_at.v[i];
			denial->key = "network.deny";
			return;
		}
}

/* "FILE:LINE" of a limit that the file sets; NULL: it does not. */
static const char *find_limit(struct arena *arena, const char *file, const char *name)
{
	_cleanup_json_doc_ struct json_doc doc = { .text = NULL };
	_cleanup_free_ char *text = NULL;
	const struct json_span *limits, *limit;
	struct err ignored; /* a file that cannot be read says nothing */
	size_t len = 0;

	if (!file || os_read_file_at(AT_FDCWD, file, JSON_MAX_SIZE, &text, &len) < 0 ||
	    json_doc_parse(&doc, text, len, JSON_MAX_SIZE, file, &ignored) < 0)
		return NULL;
	limits = json_span_get(&doc, json_doc_top(&doc), "limits");
	limit = limits ? json_span_get(&doc, limits, name) : NULL;
	return limit ? arena_printf(arena, "%s:%u", file, limit->line) : NULL;
}

void explain_limit(struct denial *denial, struct limit_places *places, const struct plan *plan,
		   const char *file)
{
	const bool asked[] = {
		[DENIAL_MEMORY] = plan->limits.asked & LIMIT_BIT(LIMIT_MEMORY),
		[DENIAL_PROCESSES] = plan->limits.asked & LIMIT_BIT(LIMIT_PIDS),
		[DENIAL_DISK] = plan->scratch_asked,
	};
	enum denial_limit limit;

	if (!denial_find_limit(denial, &limit))
		return;
	if (!places->of[limit].known && asked[limit])
		places->of[limit].origin = find_limit(&places->arena, file,
						      denial->key + strlen("limits."));
	places->of[limit].known = true;
	denial->origin = places->of[limit].origin;
	denial->text = asked[limit] ? NULL : "which is the default here";
}

void explain_host(struct denial *denial, const struct srt_config *config, struct arena *arena)
{
	const struct srt_denied *at;

	denial->text = srt_reason(config, denial->rule);
	if (!is_denied(denial))
		return;
	at = srt_denied_at(config, denial->rule, arena, &denial->origin);
	denial->key = at ? at->key : NULL;
	if (at && at->shown)
		denial->rule = at->shown;
}

/* --- changes --- */

/* Two lists as one event: "old" or "new". */
struct side {
	struct str rules;
	size_t n, more;
};

static void add_rule(struct side *side, const char *key, const char *rule, const char *origin)
{
	if (side->n + side->more >= CHANGES_SHOWN) {
		side->more++;
		return;
	}
	str_add(&side->rules, side->n++ ? ",{" : "{");
	json_add_member(&side->rules, "key", key);
	json_add_member(&side->rules, "rule", rule);
	json_add_member(&side->rules, "origin", origin);
	str_add(&side->rules, "}");
}

static void add_hosts(struct side *side, const char *key, const struct strv *list,
		      const struct strv *other)
{
	for (size_t i = 0; i < list->len; i++)
		if (!strv_has(other, list->v[i]))
			add_rule(side, key, list->v[i], NULL);
}

static bool has_rule(const struct file_rules *rules, const struct file_rule *rule)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->rules[i].kind == rule->kind &&
		    !strcmp(rules->rules[i].text, rule->text) && rules->rules[i].firm == rule->firm)
			return true;
	return false;
}

/* What the one has and the other has not. */
static void compare(struct side *side, const struct settings_rules *one,
		    const struct settings_rules *other)
{
	add_hosts(side, "network.allowedDomains", &one->config->allowed, &other->config->allowed);
	add_hosts(side, "network.deniedDomains", &one->config->denied, &other->config->denied);
	for (size_t i = 0; i < one->files->n; i++) {
		const struct file_rule *rule = &one->files->rules[i];

		if (!has_rule(other->files, rule))
			add_rule(side, rule->key ? rule->key : file_rule_kind_name(rule->kind),
				 rule->text, rule->origin);
	}
}

static void add_side(struct str *body, const char *key, const struct side *side)
{
	json_add_key(body, key);
	str_addf(body, "[%s]", side->n ? side->rules.s : "");
}

void explain_change(struct event_log *log, const struct settings_rules *old,
		    const struct settings_rules *now)
{
	struct side gone = { .n = 0 }, come = { .n = 0 };
	_cleanup_str_ struct str body = { 0 };

	compare(&gone, old, now);
	compare(&come, now, old);
	if (gone.n || come.n) {
		json_add_member(&body, "type", "settings");
		add_side(&body, "old", &gone);
		add_side(&body, "new", &come);
		if (gone.more + come.more)
			json_add_count(&body, "more", gone.more + come.more);
		event_log_members(log, body.s, false, NULL);
	}
	str_release(&gone.rules);
	str_release(&come.rules);
}
