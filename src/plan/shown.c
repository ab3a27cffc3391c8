/* SPDX-License-Identifier: MIT */
/* What both prints of a plan show, in words. */
#include "plan/shown.h"

#include <string.h>

#include "base/str.h"
#include "os/linux/landlock.h"

static const char *const op_names[] = {
	[OP_DIR] = "dir",           [OP_FILE] = "file",       [OP_LINK] = "link",
	[OP_BIND] = "bind",         [OP_SCRATCH] = "scratch", [OP_PROC] = "proc",
	[OP_DEVPTS] = "devpts",     [OP_COVER] = "cover",     [OP_HIDE] = "hide",
	[OP_READONLY] = "readonly", [OP_SOCKET] = "socket",   [OP_ROOT] = "root",
	[OP_DENY] = "deny",         [OP_PASS] = "pass",       [OP_COW] = "cow",
	[OP_IMAGE] = "image",
};

static const char *const access_names[] = {
	[ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_DEV] = "devices"
};

const char *op_name(enum op_kind kind)
{
	return op_names[kind];
}

const char *access_name(enum access_class class)
{
	return access_names[class];
}

/* Values that say nothing secret; all others print as their name. */
static const char *const plain_env[] = {
	"PATH",   "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "XDG_RUNTIME_DIR",
	"WRAPIX", "TERM", "LANG",
};

static bool is_plain(const char *entry)
{
	for (size_t i = 0; i < ARRAY_LEN(plain_env); i++) {
		size_t len = strlen(plain_env[i]);

		if (!strncmp(entry, plain_env[i], len) && entry[len] == '=')
			return true;
	}
	return false;
}

char *env_shown(struct arena *arena, const char *entry)
{
	return is_plain(entry) ? arena_strdup(arena, entry)
			       : arena_strndup(arena, entry, strcspn(entry, "="));
}

bool op_has_content(const struct op *op)
{
	return op->kind == OP_FILE || op->kind == OP_COVER;
}

bool op_is_private(const struct op *op)
{
	return op_has_content(op) && op->mode == 0600;
}

struct strv ports_shown(struct arena *a, const struct plan *plan, bool into)
{
	struct strv shown = { 0 };

	for (size_t i = 0; i < plan->n_ports; i++) {
		const struct port_spec *port = &plan->ports[i];
		bool v6 = strchr(port->address, ':') != NULL;

		if (port->into != into)
			continue;
		if (into)
			strv_addf(a, &shown, "%u", port->host);
		else
			strv_addf(a, &shown, "%s%s%s:%u:%u", v6 ? "[" : "", port->address,
				  v6 ? "]" : "", port->host, port->inside);
	}
	if (!into && plan->publish_auto)
		strv_add(a, &shown, "auto");
	return shown;
}

struct strv keys_shown(struct arena *a, const struct plan_keys *keys)
{
	struct strv shown = { 0 };

	strv_add(a, &shown, keys->name);
	strv_add(a, &shown, keys->agent ? "agent" : "file");
	if (keys->deploy)
		strv_add(a, &shown, "deploy");
	if (keys->signing)
		strv_add(a, &shown, "signing");
	if (keys->asker)
		strv_add(a, &shown, "confirm");
	return shown;
}

struct strv credentials_shown(struct arena *a, const struct plan *plan)
{
	struct strv shown = { 0 };

	for (size_t i = 0; i < plan->n_credentials; i++) {
		const struct plan_credential *c = &plan->credentials[i];

		if (c->port)
			strv_addf(a, &shown, "%s brokered for https://%s:%u%s at 127.0.0.1:%u",
				  c->about.name, c->upstream.host, c->upstream.port,
				  c->upstream.prefix, c->port);
		else if (!c->is_set)
			strv_addf(a, &shown, "%s from the store%s", c->about.name,
				  c->named ? "" : ", if it is there");
	}
	return shown;
}

void shown_add_words(struct str *out, const char *title, const struct strv *words)
{
	for (size_t i = 0; i < words->len; i++) {
		_cleanup_str_ struct str word = { 0 };

		str_add_shell(&word, words->v[i]);
		str_addf(out, "%-9s ", title);
		str_add_escaped(out, word.s);
		str_add(out, "\n");
	}
}

void shown_add_lines(struct str *out, const char *title, const struct strv *lines)
{
	for (size_t i = 0; i < lines->len; i++)
		str_addf(out, "%-9s %s\n", title, lines->v[i]);
}

const char *plan_filter_name(const struct plan *plan)
{
	return plan->engine == ENGINE_APPLE ? "proxy" : filter_tier_name(plan->filter_tier);
}

size_t plan_rules_in_force(const struct plan *plan)
{
	return landlock_handles_files(plan->landlock_abi) ? plan->n_rules : 0;
}
