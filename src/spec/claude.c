/* SPDX-License-Identifier: MIT */
/*
 * Claude Code's settings: every value of every file, and what becomes of it. Values are collected
 * from the strongest file to the weakest; then the locks are found; then each value meets the
 * reasons that take it away, in one order.
 */
#include "spec/claude.h"

#include <errno.h>
#include <string.h>

#include "base/json_span.h"
#include "spec/claude_keys.h"
#include "spec/srt_schema.h"

struct collect {
	struct claude_settings *settings;
	const struct claude_source *source;
	const struct json_doc *doc;
	struct err *err;
};

static struct claude_value *add_value(struct collect *c, const struct json_span *span,
				      const char *name)
{
	struct claude_settings *s = c->settings;
	struct claude_value *v = arena_grow(&s->arena, &s->values, &s->n, sizeof(*v));

	*v = (struct claude_value){
		.name = name,
		.scope = c->source->scope,
		.path = c->source->path,
		.line = span->line,
		.truth = span->kind == JSON_SPAN_TRUE,
		.string = span->string ? arena_strdup(&s->arena, span->string) : NULL,
	};
	return v;
}

static void add_known(struct collect *c, const struct json_span *span, const char *name,
		      const struct claude_key *key)
{
	struct claude_value *v = add_value(c, span, name);
	_cleanup_str_ struct str json = { 0 };

	json_span_add(&json, c->doc, span);
	v->key = key;
	v->json = arena_strdup(&c->settings->arena, json.s);
}

static int wrong_form(struct collect *c, const struct json_span *span, const char *name,
		      const char *want)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, c->source->path);
	err_usage(c->err, "%s:%u:%u: %s: must be %s, not %s", shown.s, span->line, span->column,
		  name, want, json_span_phrase(span));
	return err_hint(c->err, "mend the file; until then nothing is allowed by it");
}

static bool is_port(const struct collect *c, const struct json_span *span)
{
	const char *text = c->doc->text + span->start;
	char *end;
	long n = strtol(text, &end, 10);

	return span->kind == JSON_SPAN_NUMBER && end == c->doc->text + span->end && n > 0 &&
	       n < 65536;
}

/* What a key's value must look like; NULL when it does. */
static const char *want_scalar(const struct collect *c, const struct claude_key *key,
			       const struct json_span *span)
{
	switch (key->kind) {
	case CLAUDE_BOOL:
		return span->kind == JSON_SPAN_TRUE || span->kind == JSON_SPAN_FALSE
			       ? NULL
			       : "true or false";
	case CLAUDE_PORT:
		return is_port(c, span) ? NULL : "a port, 1 to 65535";
	case CLAUDE_TEXT:
		return span->kind == JSON_SPAN_STRING ? NULL : "a string";
	case CLAUDE_OBJECT:
	case CLAUDE_MAP:
		return span->kind == JSON_SPAN_OBJECT ? NULL : "an object";
	default:
		return span->kind == JSON_SPAN_ARRAY ? NULL : "a list";
	}
}

/* Each element or member is a value of its own. */
static int add_elements(struct collect *c, const struct claude_key *key,
			const struct json_span *span)
{
	struct arena *arena = &c->settings->arena;
	size_t i = 0;

	for (const struct json_span *e = json_span_first(c->doc, span); e;
	     e = json_span_next(c->doc, e), i++) {
		char *name = key->kind == CLAUDE_MAP
				     ? arena_printf(arena, "%s.%s", key->name, e->key)
				     : arena_printf(arena, "%s[%zu]", key->name, i);

		if (key->kind == CLAUDE_LIST && e->kind != JSON_SPAN_STRING)
			return wrong_form(c, e, name, "a string");
		if (key->kind == CLAUDE_MAP && e->kind != JSON_SPAN_ARRAY)
			return wrong_form(c, e, name, "a list");
		add_known(c, e, name, key);
	}
	return 0;
}

static int add_key(struct collect *c, const struct claude_key *key, const struct json_span *span)
{
	const char *want;

	if (span->kind == JSON_SPAN_NULL) /* as if it were not there */
		return 0;
	want = want_scalar(c, key, span);
	if (want)
		return wrong_form(c, span, key->name, want);
	if (key->kind == CLAUDE_LIST || key->kind == CLAUDE_ENTRIES || key->kind == CLAUDE_MAP)
		return add_elements(c, key, span);
	add_known(c, span, key->name, key);
	return 0;
}

/* True when keys stand below this name: it must be an object. */
static bool is_group(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; claude_key(i); i++)
		if (!strncmp(claude_key(i)->name, name, len) && claude_key(i)->name[len] == '.')
			return true;
	return false;
}

static int add_members(struct collect *c, const struct json_span *object, const char *prefix)
{
	struct arena *arena = &c->settings->arena;
	int r = 0;

	for (const struct json_span *m = json_span_first(c->doc, object); r == 0 && m;
	     m = json_span_next(c->doc, m)) {
		char *name = arena_printf(arena, "%s%s%s", prefix, *prefix ? "." : "", m->key);
		/* A name with a dot in it is one name, and none of Claude Code's. */
		bool single = !strchr(m->key, '.');
		const struct claude_key *key = single ? claude_key_find(name) : NULL;

		if (key)
			r = add_key(c, key, m);
		else if (!single || !is_group(name))
			add_value(c, m, name)->fate = *prefix || !single ? CLAUDE_UNKNOWN
									 : CLAUDE_NOT_POLICY;
		else if (m->kind != JSON_SPAN_OBJECT)
			r = m->kind == JSON_SPAN_NULL ? 0 : wrong_form(c, m, name, "an object");
		else
			r = add_members(c, m, name);
	}
	return r;
}

static int add_source(struct claude_settings *settings, const struct claude_source *source,
		      struct err *err)
{
	_cleanup_json_doc_ struct json_doc doc = { .spans = NULL };
	struct collect c = { .settings = settings, .source = source, .doc = &doc, .err = err };
	size_t blank = 0;
	int r;

	while (blank < source->len && strchr(" \t\r\n", source->text[blank]))
		blank++;
	if (blank == source->len)
		return 0; /* an empty file says nothing */
	r = json_doc_parse(&doc, source->text, source->len, CLAUDE_MAX_TEXT, source->path, err);
	if (r < 0)
		return err_hint(err, "mend the file; until then nothing is allowed by it");
	if (json_doc_top(&doc)->kind != JSON_SPAN_OBJECT)
		return wrong_form(&c, json_doc_top(&doc), "the settings", "an object");
	if (settings->n + doc.n_spans > CLAUDE_MAX_VALUES)
		return err_usage(err, "%s: too many values", source->path);
	return add_members(&c, json_doc_top(&doc), "");
}

/* --- locks --- */

static const struct claude_value *strongest(const struct claude_settings *s, const char *name,
					    enum claude_scope least)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->values[i].key && s->values[i].scope >= least &&
		    !strcmp(s->values[i].name, name))
			return &s->values[i];
	return NULL;
}

static const struct claude_value *managed_true(const struct claude_settings *s, const char *name)
{
	const struct claude_value *v = strongest(s, name, CLAUDE_MANAGED);

	return v && v->truth ? v : NULL;
}

static void find_locks(struct claude_settings *s)
{
	const struct claude_value *v = strongest(s, "sandbox.allowUnsandboxedCommands",
						 CLAUDE_FLAG);

	s->domains_lock = managed_true(s, "sandbox.network.allowManagedDomainsOnly");
	s->paths_lock = managed_true(s, "sandbox.filesystem.allowManagedReadPathsOnly");
	s->rules_lock = managed_true(s, "allowManagedPermissionRulesOnly");
	s->lock = v && !v->truth ? v : s->domains_lock;
}

/* --- fates --- */

static bool is_project(const struct claude_value *v)
{
	return v->scope == CLAUDE_PROJECT || v->scope == CLAUDE_LOCAL;
}

/* What the sandbox gets by an allow rule, judged like the key it amounts to. */
static unsigned rule_flags(struct claude_settings *s, const struct claude_value *v)
{
	struct claude_rule rule;
	const char *to;

	if (!claude_rule_parse(&s->arena, v->string, &rule))
		return 0;
	rule.value = v;
	switch (claude_rule_effect(&s->arena, &rule, "allow", &s->place, &to)) {
	case CLAUDE_EFFECT_ALLOW_WRITE:
		return KEY_LOCK;
	case CLAUDE_EFFECT_ALLOW_DOMAIN:
		return KEY_LOCK | KEY_DOMAINS;
	default:
		return 0;
	}
}

static const struct claude_value *locked_by(const struct claude_settings *s,
					    const struct claude_value *v, unsigned flags)
{
	bool allow_rule = !strncmp(v->name, "permissions.allow[", 18);

	if (v->scope != CLAUDE_MANAGED) {
		if (s->domains_lock && (flags & KEY_DOMAINS))
			return s->domains_lock;
		if (s->paths_lock && (flags & KEY_PATHS))
			return s->paths_lock;
		if (s->rules_lock && allow_rule)
			return s->rules_lock;
	}
	if (!is_project(v) || !s->lock)
		return NULL;
	return flags & KEY_LOCK || (flags & KEY_LOCK_TRUE && v->truth) ||
			       (flags & KEY_LOCK_FALSE && !v->truth)
		       ? s->lock
		       : NULL;
}

static bool needs_trust(const struct claude_value *v, unsigned flags)
{
	return flags & (KEY_LOCK | KEY_TRUST) ||
	       (flags & (KEY_LOCK_TRUE | KEY_TRUST_TRUE) && v->truth) ||
	       (flags & KEY_LOCK_FALSE && !v->truth);
}

/* What a stronger value that counts does to this one. */
static enum claude_fate against_stronger(const struct claude_settings *s, struct claude_value *v)
{
	bool list = v->key->kind == CLAUDE_LIST || v->key->kind == CLAUDE_ENTRIES;

	for (const struct claude_value *o = s->values; o < v; o++) {
		if (o->key != v->key || o->fate != CLAUDE_COUNTS)
			continue;
		if (list ? strcmp(o->json, v->json) != 0 : strcmp(o->name, v->name) != 0)
			continue;
		if (list && o->scope != v->scope && v->key->flags & KEY_BY_SCOPE)
			continue; /* the same text may mean another place */
		v->by = o;
		return list ? CLAUDE_REPEATED : CLAUDE_OVERRIDDEN;
	}
	return CLAUDE_COUNTS;
}

/* A host to allow that no filter could be given; what is wrong in one to deny ends the start. */
static bool is_bad_host(struct claude_settings *s, const struct claude_value *v)
{
	struct claude_rule rule = { .value = v };
	const char *host = NULL;

	if (!strcmp(v->key->name, "sandbox.network.allowedDomains"))
		host = v->string;
	else if (!strcmp(v->key->name, "permissions.allow") &&
		 claude_rule_parse(&s->arena, v->string, &rule)) {
		rule.value = v;
		if (claude_rule_effect(&s->arena, &rule, "allow", &s->place, &host) !=
		    CLAUDE_EFFECT_ALLOW_DOMAIN)
			host = NULL;
	}
	return host && srt_check_allowed(host);
}

static enum claude_fate judge(struct claude_settings *s, struct claude_value *v)
{
	unsigned flags = v->key->flags;
	struct claude_rule rule;

	if (flags & KEY_RULES && !claude_rule_parse(&s->arena, v->string, &rule)) {
		v->why = "not of the form Tool or Tool(what)";
		return CLAUDE_INVALID;
	}
	if (!strncmp(v->name, "permissions.allow[", 18))
		flags |= rule_flags(s, v);
	if (flags & KEY_MANAGED && v->scope != CLAUDE_MANAGED)
		return CLAUDE_MANAGED_ONLY;
	if (is_project(v) && (flags & KEY_NEVER || (flags & KEY_NEVER_TRUE && v->truth)))
		return CLAUDE_NOT_PROJECT;
	v->by = locked_by(s, v, flags);
	if (v->by)
		return CLAUDE_LOCKED;
	if (is_project(v) && !s->place.trusted && needs_trust(v, flags))
		return CLAUDE_UNTRUSTED;
	if (flags & KEY_NO_EFFECT)
		return CLAUDE_NO_EFFECT;
	if (is_bad_host(s, v)) {
		v->why = "no host that could be allowed";
		return CLAUDE_INVALID;
	}
	return against_stronger(s, v);
}

static void copy_place(struct arena *arena, struct claude_place *to,
		       const struct claude_place *from)
{
	to->home = arena_strdup(arena, from->home);
	to->config = arena_strdup(arena, from->config);
	to->project = arena_strdup(arena, from->project);
	to->cwd = arena_strdup(arena, from->cwd);
	to->flag_dir = arena_strdup(arena, from->flag_dir);
	to->trusted = from->trusted;
}

int claude_settings_parse(struct claude_settings *ret, const struct claude_source *sources,
			  size_t n, const struct claude_place *place, struct err *err)
{
	int r = 0;

	*ret = (struct claude_settings){ .n = 0 };
	copy_place(&ret->arena, &ret->place, place);
	for (int scope = CLAUDE_MANAGED; scope >= 0; scope--) {
		for (size_t i = n; r == 0 && i-- > 0;) {
			struct claude_source source = sources[i];

			source.path = arena_strdup(&ret->arena, source.path);
			if ((int)source.scope == scope)
				r = add_source(ret, &source, err);
		}
	}
	if (r < 0)
		return r;
	find_locks(ret);
	for (size_t i = 0; i < ret->n; i++)
		if (ret->values[i].key)
			ret->values[i].fate = judge(ret, &ret->values[i]);
	return 0;
}

void claude_settings_release(struct claude_settings *settings)
{
	arena_release(&settings->arena);
	*settings = (struct claude_settings){ .n = 0 };
}

/* --- asking --- */

const struct claude_value *claude_each(const struct claude_settings *settings,
				       const struct claude_value *after, const char *name)
{
	const struct claude_value *v = after ? after + 1 : settings->values;

	for (; v && v < settings->values + settings->n; v++)
		if (v->key && v->fate == CLAUDE_COUNTS && !strcmp(v->key->name, name))
			return v;
	return NULL;
}

const struct claude_value *claude_get(const struct claude_settings *settings, const char *name)
{
	return claude_each(settings, NULL, name);
}

bool claude_get_bool(const struct claude_settings *settings, const char *name, bool unset)
{
	const struct claude_value *v = claude_get(settings, name);

	return v ? v->truth : unset;
}

enum claude_mode claude_mode(const struct claude_settings *settings)
{
	if (!claude_get_bool(settings, "sandbox.enabled", false))
		return CLAUDE_DISABLED;
	return claude_get_bool(settings, "sandbox.autoAllowBashIfSandboxed", false)
		       ? CLAUDE_AUTO_ALLOW
		       : CLAUDE_REGULAR;
}
