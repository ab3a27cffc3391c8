/* SPDX-License-Identifier: MIT */
/* What was refused: told to whoever runs the command, and into the log, where the same within a second
 * is counted. What ignoreViolations names goes nowhere. */
#include <string.h>

#include "api/api.h"
#include "api/exec_priv.h"
#include "api/explain.h"
#include "net/filter.h"

/* event: what the network said, or NULL. */
static void report(struct exec *x, const struct denial *denial, const struct owner *owner,
		   const struct net_event *event)
{
	struct denial_texts *texts = &x->log.texts;

	denial_texts_make(texts, denial);
	if (srt_ignores(exec_config(x), x->request.command, texts->line.s))
		return;
	if (event)
		event_log_network_denial(&x->log, denial, event);
	else
		event_log_denial(&x->log, denial, NULL, owner);
	if (x->hooks.on_denied)
		x->hooks.on_denied(x->hooks.ctx, denial, texts->line.s);
}

void exec_on_network(void *ctx, const struct net_event *event)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct exec *x = ctx;
	struct denial denial;

	if (event->type != NET_EVENT_DENIED) {
		event_log_network(&x->log, event);
		return;
	}
	event_network_denial(&denial, event);
	explain_host(&denial, exec_config(x), &arena);
	report(x, &denial, event->owner, event);
}

/* Of a process that may be gone by now: what the system's log said of it. */
static struct owner *named(const struct denial *denial, pid_t pid)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (owner) {
		owner->refs = 1;
		owner->pid = pid;
		snprintf(owner->comm, sizeof(owner->comm), "%s", denial->comm);
	}
	return owner;
}

void exec_on_denied(void *ctx, const struct denial *refused, pid_t pid)
{
	struct exec *x = ctx;
	struct denial denial = *refused;
	struct owner *owner = denial.comm ? named(&denial, pid)
			      : pid       ? owners_get(&x->owners, pid, denial.site)
					  : NULL;

	/* No rule would allow it. */
	if (!strcmp(denial.what, "write") && denial.path && !denial.rule) {
		const char *sealed = exec_git_sealed(x, denial.path);

		denial.reason = sealed ? sealed : denial.reason;
	}
	if (!strcmp(denial.what, "limit"))
		explain_limit(&denial, &x->limits, &x->plan, x->log.place.file);
	report(x, &denial, denial.owner ? denial.owner : owner, NULL);
	owner_unref(owner);
}

void exec_explain(const struct exec *x, const struct denial *denial, struct str *ret_text,
		  struct str *ret_change)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const struct fix_place place = exec_fix_place(x);
	struct fix fix;

	fix_make(&arena, denial, &place, &fix);
	denial_add_act(ret_text, denial, place.home);
	str_add(ret_text, ": ");
	denial_add_why(ret_text, denial);
	if (!fix.key)
		return;
	fix_add_text(ret_change, &fix);
	if (fix.risk)
		str_addf(ret_change, " (careful: %s)", fix.risk);
}

/* What the user's own configuration says about messages, asked for when there is something to tell. */
static void make_messages(struct exec *x)
{
	const struct doorbell_hooks hooks = { exec_on_failure, x };
	char *config_home = api_base_dir(&x->arena, "XDG_CONFIG_HOME", ".config");
	struct spec spec;
	struct err err;

	if (x->host.inside || !x->loop)
		return;
	spec_init(&spec);
	if (config_load_user(&spec, config_home, &err) < 0) {
		exec_on_failure(x, &err);
	} else if (spec.notify.violations && spec.notify.mode != NOTIFY_OFF) {
		host_probe_notify(&x->host);
		plan_take_notify(&x->plan, &spec, &x->host);
		if (messages_make(&x->messages, &x->plan, &x->host, x->id, &hooks, &err) < 0)
			exec_on_failure(x, &err);
		else
			messages_watch(&x->messages, x->loop);
	}
	spec_release(&spec);
}

void exec_on_line(void *ctx, const char *line)
{
	struct exec *x = ctx;

	if (!x->asked)
		make_messages(x);
	x->asked = true;
	if (x->messages.plan)
		messages_refused(&x->messages, line);
	if (x->hooks.on_line)
		x->hooks.on_line(x->hooks.ctx, line);
}
