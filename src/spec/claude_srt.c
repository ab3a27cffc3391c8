/* SPDX-License-Identifier: MIT */
/*
 * Claude Code's settings as the SandboxRuntimeConfig they amount to. Each value stands on a line of
 * its own, so that a line of the text leads back to the file and line it came from.
 */
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "spec/claude.h"

struct writer {
	struct claude_settings *settings;
	struct claude_srt *out;
	bool first; /* nothing stands in this list or object yet */
};

static void end_line(struct writer *w, const struct claude_value *from)
{
	struct claude_srt *out = w->out;

	*(const struct claude_value **)arena_grow(&w->settings->arena, &out->lines, &out->n_lines,
						  sizeof(from)) = from;
	str_add(&out->text, "\n");
}

/* Closes the line before with its comma, and begins one. */
static void begin_item(struct writer *w, unsigned depth)
{
	if (!w->first) {
		w->out->text.len--; /* the newline, which was noted already */
		str_add(&w->out->text, ",\n");
	}
	w->first = false;
	for (unsigned i = 0; i < depth; i++)
		str_add(&w->out->text, "  ");
}

static void open_item(struct writer *w, unsigned depth, const char *key, const char *bracket)
{
	begin_item(w, depth);
	json_add_string(&w->out->text, key);
	str_addf(&w->out->text, ": %s", bracket);
	end_line(w, NULL);
	w->first = true;
}

static void close_item(struct writer *w, unsigned depth, const char *bracket)
{
	for (unsigned i = 0; i < depth; i++)
		str_add(&w->out->text, "  ");
	str_add(&w->out->text, bracket);
	end_line(w, NULL);
	w->first = false;
}

static void add_string(struct writer *w, const char *string, const struct claude_value *from)
{
	begin_item(w, 3);
	json_add_string(&w->out->text, string);
	end_line(w, from);
}

/* What permission rules of this effect add. */
static void add_rules(struct writer *w, const char *list, enum claude_effect wanted)
{
	_cleanup_str_ struct str name = { 0 };
	const struct claude_value *v = NULL;

	str_addf(&name, "permissions.%s", list);
	while ((v = claude_each(w->settings, v, name.s))) {
		struct claude_rule rule;
		const char *to;

		if (!claude_rule_parse(&w->settings->arena, v->string, &rule))
			continue;
		rule.value = v;
		if (claude_rule_effect(&w->settings->arena, &rule, list, &w->settings->place,
				       &to) == wanted)
			add_string(w, to, v);
	}
}

static void add_paths(struct writer *w, const char *name)
{
	const struct claude_value *v = NULL;

	while ((v = claude_each(w->settings, v, name)))
		add_string(
			w,
			claude_path(&w->settings->arena, v->string, v->scope, &w->settings->place),
			v);
}

static void add_strings(struct writer *w, const char *name)
{
	const struct claude_value *v = NULL;

	while ((v = claude_each(w->settings, v, name)))
		add_string(w, v->string, v);
}

/* Scalars and whole objects as they stand; entries of lists likewise. */
static void add_scalar(struct writer *w, unsigned depth, const char *name)
{
	const struct claude_value *v = claude_get(w->settings, name);
	const char *last = strrchr(name, '.');

	if (!v)
		return;
	begin_item(w, depth);
	json_add_string(&w->out->text, last ? last + 1 : name);
	str_add(&w->out->text, ": ");
	str_add(&w->out->text, v->json);
	end_line(w, v);
}

static void add_entries(struct writer *w, const char *name)
{
	const struct claude_value *v = claude_get(w->settings, name);

	if (!v)
		return;
	open_item(w, 2, strrchr(name, '.') + 1, "[");
	for (; v; v = claude_each(w->settings, v, name)) {
		begin_item(w, 3);
		str_add(&w->out->text, v->json);
		end_line(w, v);
	}
	close_item(w, 2, "]");
}

static void add_network(struct writer *w)
{
	open_item(w, 1, "network", "{");
	open_item(w, 2, "allowedDomains", "[");
	add_strings(w, "sandbox.network.allowedDomains");
	add_rules(w, "allow", CLAUDE_EFFECT_ALLOW_DOMAIN);
	close_item(w, 2, "]");
	open_item(w, 2, "deniedDomains", "[");
	add_strings(w, "sandbox.network.deniedDomains");
	add_rules(w, "deny", CLAUDE_EFFECT_DENY_DOMAIN);
	close_item(w, 2, "]");
	if (claude_get(w->settings, "sandbox.network.allowUnixSockets")) {
		open_item(w, 2, "allowUnixSockets", "[");
		add_paths(w, "sandbox.network.allowUnixSockets");
		close_item(w, 2, "]");
	}
	add_scalar(w, 2, "sandbox.network.strictAllowlist");
	add_scalar(w, 2, "sandbox.network.allowAllUnixSockets");
	add_scalar(w, 2, "sandbox.network.httpProxyPort");
	add_scalar(w, 2, "sandbox.network.socksProxyPort");
	add_scalar(w, 2, "sandbox.network.tlsTerminate");
	close_item(w, 1, "}");
}

/* Files that decide what is allowed are never writable from inside: the settings, and the record of the folders whose
 * settings count in full. */
static void add_own_files(struct writer *w)
{
	static const char *const names[] = { "settings.json", "settings.local.json",
					     "skills",        "hooks",
					     "agents",        "commands" };
	const struct claude_place *place = &w->settings->place;
	struct arena *arena = &w->settings->arena;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		add_string(w, arena_printf(arena, "%s/.claude/%s", place->project, names[i]), NULL);
		if (strcmp(place->config, path_join(arena, place->project, ".claude")))
			add_string(w, path_join(arena, place->config, names[i]), NULL);
	}
	add_string(w, path_join(arena, place->home, CLAUDE_RECORD), NULL);
	add_string(w, path_join(arena, place->config, CLAUDE_RECORD), NULL);
	add_string(w, "/etc/claude-code", NULL);
}

static void add_filesystem(struct writer *w)
{
	open_item(w, 1, "filesystem", "{");
	open_item(w, 2, "denyRead", "[");
	add_paths(w, "sandbox.filesystem.denyRead");
	add_rules(w, "deny", CLAUDE_EFFECT_DENY_READ);
	close_item(w, 2, "]");
	open_item(w, 2, "allowRead", "[");
	add_paths(w, "sandbox.filesystem.allowRead");
	close_item(w, 2, "]");
	open_item(w, 2, "allowWrite", "[");
	add_string(w, w->settings->place.cwd, NULL);
	add_paths(w, "sandbox.filesystem.allowWrite");
	add_paths(w, "permissions.additionalDirectories");
	add_rules(w, "allow", CLAUDE_EFFECT_ALLOW_WRITE);
	close_item(w, 2, "]");
	open_item(w, 2, "denyWrite", "[");
	add_paths(w, "sandbox.filesystem.denyWrite");
	add_rules(w, "deny", CLAUDE_EFFECT_DENY_WRITE);
	add_own_files(w);
	close_item(w, 2, "]");
	add_scalar(w, 2, "sandbox.filesystem.disabled");
	close_item(w, 1, "}");
}

static void add_credentials(struct writer *w)
{
	static const char *const names[] = { "sandbox.credentials.files",
					     "sandbox.credentials.envVars",
					     "sandbox.credentials.awsPairs",
					     "sandbox.credentials.sigv4",
					     "sandbox.credentials.allowPlaintextInject" };
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		any = any || claude_get(w->settings, names[i]);
	if (!any)
		return;
	open_item(w, 1, "credentials", "{");
	for (size_t i = 0; i < 3; i++)
		add_entries(w, names[i]);
	add_scalar(w, 2, names[3]);
	add_scalar(w, 2, names[4]);
	close_item(w, 1, "}");
}

static void add_ignored(struct writer *w)
{
	const struct claude_value *v = claude_get(w->settings, "sandbox.ignoreViolations");

	if (!v)
		return;
	open_item(w, 1, "ignoreViolations", "{");
	for (; v; v = claude_each(w->settings, v, "sandbox.ignoreViolations")) {
		begin_item(w, 2);
		json_add_string(&w->out->text, v->name + strlen("sandbox.ignoreViolations."));
		str_add(&w->out->text, ": ");
		str_add(&w->out->text, v->json);
		end_line(w, v);
	}
	close_item(w, 1, "}");
}

void claude_to_srt(struct claude_settings *settings, struct claude_srt *ret)
{
	struct writer w = { .settings = settings, .out = ret, .first = true };

	*ret = (struct claude_srt){ .n_lines = 0 };
	str_add(&ret->text, "{");
	end_line(&w, NULL);
	add_network(&w);
	add_filesystem(&w);
	add_credentials(&w);
	add_ignored(&w);
	add_scalar(&w, 1, "sandbox.enableWeakerNestedSandbox");
	add_scalar(&w, 1, "sandbox.allowNestedUserNamespaces");
	str_add(&ret->text, "}");
	end_line(&w, NULL);
}

void claude_srt_release(struct claude_srt *srt)
{
	str_release(&srt->text);
	*srt = (struct claude_srt){ .n_lines = 0 };
}
