/* SPDX-License-Identifier: MIT */
/* A SandboxRuntimeConfig from its text; srt_schema.c has its shape. */
#include "spec/srt.h"

#include <errno.h>
#include <string.h>

#include "spec/srt_schema.h"

void srt_config_release(struct srt_config *config)
{
	arena_release(&config->arena);
	*config = (struct srt_config){ 0 };
}

/* A text whose shape was checked, and where it goes. */
struct reader {
	const struct json_doc *doc;
	struct srt_config *config;
};

static const struct json_span *find(const struct reader *r, const char *group, const char *key)
{
	const struct json_span *top = json_doc_top(r->doc);

	return json_span_get(r->doc, group ? json_span_get(r->doc, top, group) : top, key);
}

static bool is_true(const struct reader *r, const char *group, const char *key)
{
	const struct json_span *span = find(r, group, key);

	return span && span->kind == JSON_SPAN_TRUE;
}

static void read_list(const struct reader *r, const struct json_span *list, struct strv *out)
{
	for (const struct json_span *s = json_span_first(r->doc, list); s;
	     s = json_span_next(r->doc, s))
		strv_add(&r->config->arena, out, s->string);
}

static void read_denied(const struct reader *r, const struct json_span *list)
{
	struct srt_config *c = r->config;

	for (const struct json_span *s = json_span_first(r->doc, list); s;
	     s = json_span_next(r->doc, s)) {
		struct srt_denied *at = arena_grow(&c->arena, (void *)&c->denied_at,
						   &c->n_denied_at, sizeof(*at));

		*at = (struct srt_denied){ .key = arena_printf(&c->arena,
							       "network.deniedDomains[%zu]",
							       c->n_denied_at - 1),
					   .line = s->line };
		strv_add(&c->arena, &c->denied, s->string);
	}
}

static unsigned read_port(const struct reader *r, const char *key)
{
	const struct json_span *span = find(r, "network", key);

	return span ? (unsigned)srt_number(r->doc, span) : 0;
}

static char *read_string(const struct reader *r, const struct json_span *object, const char *key)
{
	const struct json_span *span = json_span_get(r->doc, object, key);

	return span ? arena_strdup(&r->config->arena, span->string) : NULL;
}

static void read_network(const struct reader *r)
{
	struct srt_config *c = r->config;
	const struct json_span *reasons = find(r, "network", "deniedDomainReasons");
	const struct json_span *parent = find(r, "network", "parentProxy");

	read_list(r, find(r, "network", "allowedDomains"), &c->allowed);
	read_denied(r, find(r, "network", "deniedDomains"));
	read_list(r, find(r, "network", "deniedResolvedAddresses"), &c->denied_resolved);
	read_list(r, find(r, "network", "allowUnixSockets"), &c->unix_sockets);
	for (const struct json_span *s = json_span_first(r->doc, reasons); s;
	     s = json_span_next(r->doc, s)) {
		struct srt_reason *reason = arena_grow(&c->arena, &c->reasons, &c->n_reasons,
						       sizeof(*reason));

		reason->entry = arena_strdup(&c->arena, s->key);
		reason->text = arena_strdup(&c->arena, s->string);
	}
	c->all_unix_sockets = is_true(r, "network", "allowAllUnixSockets");
	c->local_binding = is_true(r, "network", "allowLocalBinding");
	c->http_proxy_port = read_port(r, "httpProxyPort");
	c->socks_proxy_port = read_port(r, "socksProxyPort");
	c->parent_http = read_string(r, parent, "http");
	c->parent_https = read_string(r, parent, "https");
	c->parent_no_proxy = read_string(r, parent, "noProxy");
}

static void add_path(const struct reader *r, const struct json_span *span, enum file_rule_kind kind,
		     const char *key, size_t index)
{
	struct srt_config *c = r->config;
	struct srt_path *path = arena_grow(&c->arena, &c->paths, &c->n_paths, sizeof(*path));
	bool object = span->kind == JSON_SPAN_OBJECT;

	*path = (struct srt_path){
		.kind = kind,
		.text = object ? read_string(r, span, "path")
			       : arena_strdup(&c->arena, span->string),
		.key = arena_printf(&c->arena, "%s[%zu]", key, index),
		.line = span->line,
		.literal = object,
		.firm = object && !json_span_get(r->doc, span, "literal"), /* a credential */
	};
}

static void read_files(const struct reader *r)
{
	static const struct {
		const char *key;
		enum file_rule_kind kind;
	} lists[] = {
		{ "denyRead", FILE_DENY_READ },
		{ "allowRead", FILE_ALLOW_READ },
		{ "allowWrite", FILE_ALLOW_WRITE },
		{ "denyWrite", FILE_DENY_WRITE },
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct json_span *list = find(r, "filesystem", lists[i].key);
		const char *key = arena_printf(&r->config->arena, "filesystem.%s", lists[i].key);
		size_t n = 0;

		for (const struct json_span *s = json_span_first(r->doc, list); s;
		     s = json_span_next(r->doc, s))
			add_path(r, s, lists[i].kind, key, n++);
	}
	r->config->allow_git_config = is_true(r, "filesystem", "allowGitConfig");
	r->config->disabled = is_true(r, "filesystem", "disabled");
	read_list(r, find(r, "protect", "add"), &r->config->protect_add);
	read_list(r, find(r, "protect", "remove"), &r->config->protect_remove);
}

static void read_credentials(const struct reader *r, struct srt_findings *findings)
{
	struct srt_config *c = r->config;
	size_t n = 0;

	for (const struct json_span *s = json_span_first(r->doc, find(r, "credentials", "files"));
	     s; s = json_span_next(r->doc, s)) {
		if (!strcmp(json_span_get(r->doc, s, "mode")->string, "mask"))
			strv_addf(&c->arena, &findings->refused,
				  "credentials.files.%zu.mode \"mask\"", n);
		add_path(r, s, FILE_DENY_READ, "credentials.files", n++);
	}
	n = 0;
	for (const struct json_span *s = json_span_first(r->doc, find(r, "credentials", "envVars"));
	     s; s = json_span_next(r->doc, s), n++) {
		if (!strcmp(json_span_get(r->doc, s, "mode")->string, "mask"))
			strv_addf(&c->arena, &findings->refused,
				  "credentials.envVars.%zu.mode \"mask\"", n);
		strv_add(&c->arena, &c->unset_env, json_span_get(r->doc, s, "name")->string);
	}
}

static void read_rest(const struct reader *r)
{
	struct srt_config *c = r->config;
	const struct json_span *top = json_doc_top(r->doc);

	for (const struct json_span *s = json_span_first(r->doc, find(r, NULL, "ignoreViolations"));
	     s; s = json_span_next(r->doc, s)) {
		struct srt_ignore *ignore = arena_grow(&c->arena, &c->ignores, &c->n_ignores,
						       sizeof(*ignore));

		ignore->command = arena_strdup(&c->arena, s->key);
		read_list(r, s, &ignore->lines);
	}
	c->weaker_nested = is_true(r, NULL, "enableWeakerNestedSandbox");
	c->pty = is_true(r, NULL, "allowPty");
	c->nested_userns = is_true(r, NULL, "allowNestedUserNamespaces");
	read_list(r, find(r, "git", "safeDirectories"), &c->safe_directories);
	for (const struct json_span *s =
		     json_span_first(r->doc, json_span_get(r->doc, top, "limits"));
	     s; s = json_span_next(r->doc, s)) {
		strv_add(&c->arena, &c->limits, s->key);
		strv_add(&c->arena, &c->limits,
			 s->string ? s->string : json_span_text(&c->arena, r->doc, s, 0));
	}
}

static void note_findings(struct srt_config *c, const struct srt_findings *found)
{
	for (size_t i = 0; i < found->unknown.len; i++)
		strv_addf(&c->arena, &c->warnings, "%s: unknown key '%s'%s%s%s", c->origin,
			  found->unknown.v[i], found->nearest.v[i][0] ? "; did you mean '" : "",
			  found->nearest.v[i], found->nearest.v[i][0] ? "'?" : "");
	for (size_t i = 0; i < found->unused.len; i++)
		strv_addf(&c->arena, &c->unused, "%s: %s", found->unused.v[i], found->states.v[i]);
}

static int refuse(const struct srt_findings *found, struct str *why)
{
	str_add(why, "asks for ");
	for (size_t i = 0; i < found->refused.len; i++)
		str_addf(why, "%s%s", i ? ", " : "", found->refused.v[i]);
	str_add(why, ", which wrapix does not have yet.");
	return -EINVAL;
}

/* The message of a JSON error begins with the origin, which the caller says itself. */
static int not_json(const struct err *err, const char *origin, struct str *why)
{
	size_t len = strlen(origin);
	const char *msg = err->msg;

	if (!strncmp(msg, origin, len) && msg[len] == ':')
		msg += len + 1;
	str_addf(why, "is not valid JSON: %s", msg);
	return -EINVAL;
}

static int read_doc(const struct json_doc *doc, struct srt_config *c, struct str *why)
{
	struct srt_findings found = { .arena = &c->arena };
	const struct reader r = { doc, c };

	srt_check(doc, &found);
	if (!found.issues.len)
		srt_check_across(doc, &found);
	if (found.issues.len) {
		str_addf(why, "does not hold a valid config — %s", found.issues.s);
		str_release(&found.issues);
		return -EINVAL;
	}
	read_network(&r);
	read_files(&r);
	read_credentials(&r, &found);
	read_rest(&r);
	note_findings(c, &found);
	return found.refused.len ? refuse(&found, why) : 0;
}

int srt_parse(struct srt_config *ret, const char *text, size_t len, const char *origin,
	      struct str *ret_why)
{
	_cleanup_json_doc_ struct json_doc doc = { 0 };
	struct srt_config config = { 0 };
	struct err err;
	int r;

	if (json_doc_parse(&doc, text, len, SRT_MAX_TEXT, origin, &err) < 0)
		return not_json(&err, origin, ret_why);
	config.origin = arena_strdup(&config.arena, origin);
	r = read_doc(&doc, &config, ret_why);
	if (r < 0)
		srt_config_release(&config);
	else
		*ret = config;
	return r;
}

const char *srt_reason(const struct srt_config *config, const char *rule)
{
	for (size_t i = 0; rule && i < config->n_reasons; i++)
		if (!strcmp(config->reasons[i].entry, rule))
			return config->reasons[i].text;
	return NULL;
}

const struct srt_denied *srt_denied_at(const struct srt_config *config, const char *rule,
				       struct arena *arena, const char **ret_origin)
{
	for (size_t i = 0; rule && i < config->n_denied_at; i++) {
		const struct srt_denied *at = &config->denied_at[i];

		if (strcmp(config->denied.v[i], rule) != 0)
			continue;
		*ret_origin = at->origin ? at->origin
			      : config->origin
				      ? arena_printf(arena, "%s:%u", config->origin, at->line)
				      : NULL;
		return at;
	}
	return NULL;
}

bool srt_ignores(const struct srt_config *config, const char *command, const char *line)
{
	for (size_t i = 0; i < config->n_ignores; i++) {
		const struct srt_ignore *ignore = &config->ignores[i];

		if (strcmp(ignore->command, "*") != 0 && !strstr(command, ignore->command))
			continue;
		for (size_t j = 0; j < ignore->lines.len; j++)
			if (strstr(line, ignore->lines.v[j]))
				return true;
	}
	return false;
}
