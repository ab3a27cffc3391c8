/* SPDX-License-Identifier: MIT */
/* What was refused, as a line for a person, as JSON, and in the log. Names come from the sandbox and
 * are hostile: both forms are safe for a terminal. */
#include <string.h>
#include <time.h>

#include "api/exec_priv.h"
#include "base/json.h"
#include "net/filter.h"
#include "net/owner.h"

static void add_member(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	str_addf(out, "%s\"%s\":", out->len ? "," : "", key);
	json_add_string(out, value);
}

static void add_process(struct str *out, const struct owner *owner)
{
	const char *end;

	if (!owner)
		return;
	str_addf(out, ",\"process\":{\"pid\":%d", (int)owner->pid);
	add_member(out, "comm", owner->comm);
	str_add(out, ",\"argv\":[");
	end = owner->args + owner->len;
	for (const char *p = owner->args; p < end; p += strlen(p) + 1) {
		str_add(out, p > owner->args ? "," : "");
		json_add_string(out, p);
	}
	str_add(out, "]}");
}

static void add_time(struct str *out)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	str_add(out, "{\"t\":\"");
	event_time_add(out, (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000);
	str_add(out, "\",");
}

/* members: what the log and the JSON have in common. */
static void report(struct exec *x, const char *line, const char *members, const struct owner *owner)
{
	_cleanup_str_ struct str json = { 0 };

	if (srt_ignores(exec_config(x), x->request.command, line))
		return;
	event_log_members(&x->log, members, true, owner);
	if (!x->hooks.on_violation)
		return;
	add_time(&json);
	str_add(&json, members);
	add_process(&json, owner);
	str_add(&json, "}");
	x->hooks.on_violation(x->hooks.ctx, line, json.s);
}

/* "deny network-outbound evil.example:443 (not-allowed)". */
void exec_on_network(void *ctx, const struct net_event *event)
{
	struct exec *x = ctx;
	_cleanup_str_ struct str line = { 0 }, members = { 0 };
	const char *why = srt_reason(exec_config(x), event->rule);

	if (event->type != NET_EVENT_DENIED) {
		event_log_network(&x->log, event);
		return;
	}
	str_add(&line, "deny network-outbound ");
	str_add_escaped(&line, event->name ? event->name : event->address);
	if (event->port)
		str_addf(&line, ":%u", event->port);
	str_add(&line, " (");
	str_add_escaped(&line, why ? why : net_reason_name(event->reason));
	str_add(&line, ")");
	add_member(&members, "type", "deny");
	add_member(&members, "what", event->port ? "connect" : "lookup");
	add_member(&members, "name", event->name);
	add_member(&members, "address", event->address);
	if (event->port)
		str_addf(&members, ",\"port\":%u", event->port);
	add_member(&members, "reason", net_reason_name(event->reason));
	add_member(&members, "rule", event->rule);
	add_member(&members, "text", why);
	report(x, line.s, members.s, event->owner);
}

/* "deny file-write /w/.git/hooks/x (protect: .git/hooks)". */
void exec_on_denied(void *ctx, const struct access_event *event)
{
	struct exec *x = ctx;
	_cleanup_str_ struct str line = { 0 }, members = { 0 };
	bool connect = !strcmp(event->what, "connect");
	const char *cause = event->key ? event->key : event->reason;
	struct owner *owner = owner_of(event->pid);

	str_addf(&line, "deny %s%s ", connect ? "unix-" : "file-", event->what);
	str_add_escaped(&line, event->path ? event->path : event->call);
	str_addf(&line, " (%s", cause ? cause : "not in allowWrite");
	if (event->rule) {
		str_add(&line, ": ");
		str_add_escaped(&line, event->rule);
	}
	str_add(&line, ")");
	add_member(&members, "type", "deny");
	add_member(&members, "what", event->what);
	add_member(&members, "call", event->call);
	add_member(&members, "path", event->path);
	add_member(&members, "reason", event->reason);
	add_member(&members, "rule", event->rule);
	add_member(&members, "key", event->key);
	add_member(&members, "origin", event->origin);
	report(x, line.s, members.s, owner);
	owner_unref(owner);
}
