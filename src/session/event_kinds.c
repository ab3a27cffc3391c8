/* SPDX-License-Identifier: MIT */
/* What happens, as lines for the event log: one function a kind. */
#include <signal.h>
#include <string.h>

#include "net/filter.h"
#include "session/events.h"

/* Not with %f: a program that uses the library may have a locale with another point. */
static void add_seconds(struct str *out, const char *key, double seconds)
{
	uint64_t ms = (uint64_t)(seconds * 1000 + 0.5);

	json_add_key(out, key);
	str_addf(out, "%llu.%03llu", (unsigned long long)(ms / 1000),
		 (unsigned long long)(ms % 1000));
}

static const char *act_name(const struct net_event *event)
{
	return !event->port ? "lookup" : event->reason == NET_UDP ? "send" : "connect";
}

static void add_traffic(struct str *body, const struct net_event *event)
{
	json_add_count(body, "sent", event->sent);
	json_add_count(body, "received", event->received);
	add_seconds(body, "seconds", event->seconds);
}

/* A rule that was added while the session runs. */
static void add_rule(struct event_log *log, bool denies, const char *rule)
{
	_cleanup_str_ struct str body = { 0 };

	json_add_member(&body, "type", "rule");
	json_add_member(&body, "effect", denies ? "deny" : "allow");
	json_add_member(&body, "rule", rule);
	event_log_members(log, body.s, false, NULL);
}

/* What would allow it, once for all that are the same. */
struct fix_request {
	const struct event_log *log;
	const struct denial *denial;
};

static void add_fix(void *ctx, struct str *body)
{
	const struct fix_request *request = ctx;
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct fix fix;

	fix_make(&arena, request->denial, &request->log->place, &fix);
	json_add_key(body, "fix");
	fix_add_json(body, &fix);
}

void event_log_denial(struct event_log *log, const struct denial *denial, const char *more,
		      const struct owner *owner)
{
	struct fix_request request = { log, denial };
	struct event_more fix = { add_fix, &request, denial->times };
	_cleanup_str_ struct str body = { 0 };

	denial_texts_make(&log->texts, denial);
	if (more && *more)
		str_addf(&body, "%s,%s", log->texts.members.s, more);
	event_log_refusal(log, body.len ? body.s : log->texts.members.s, &fix, owner);
}

void event_network_denial(struct denial *ret, const struct net_event *event)
{
	*ret = (struct denial){
		.what = act_name(event),
		.name = event->name,
		.address = event->address,
		.port = event->port,
		.reason = net_reason_name(event->reason),
		.rule = event->rule,
	};
}

void event_log_network_denial(struct event_log *log, const struct denial *denial,
			      const struct net_event *event)
{
	_cleanup_str_ struct str more = { 0 };

	if (event->seconds > 0)
		add_traffic(&more, event);
	event_log_denial(log, denial, more.s, event->owner);
}

static void add_denied(struct event_log *log, const struct net_event *event)
{
	struct denial denial;

	event_network_denial(&denial, event);
	event_log_network_denial(log, &denial, event);
}

static void add_ended(struct event_log *log, const struct net_event *event)
{
	_cleanup_str_ struct str body = { 0 };

	json_add_member(&body, "type", "connection");
	json_add_member(&body, "name", event->name);
	json_add_member(&body, "address", event->address);
	if (event->port)
		json_add_count(&body, "port", event->port);
	json_add_member(&body, "rule", event->rule);
	add_traffic(&body, event);
	event_log_members(log, body.s, false, event->owner);
}

void event_log_network(struct event_log *log, const struct net_event *event)
{
	switch (event->type) {
	case NET_EVENT_ALLOW_RULE:
	case NET_EVENT_DENY_RULE:
		add_rule(log, event->type == NET_EVENT_DENY_RULE, event->rule);
		break;
	case NET_EVENT_DENIED:
		add_denied(log, event);
		break;
	case NET_EVENT_ENDED:
		add_ended(log, event);
		break;
	}
}

void event_log_text(struct event_log *log, const char *type, const char *text)
{
	_cleanup_str_ struct str body = { 0 };

	json_add_member(&body, "type", type);
	json_add_member(&body, "text", text);
	event_log_members(log, body.s, false, NULL);
}

/* Of the limits that the command had from its user (ulimit) the kernel tells of two, by a signal. */
void event_log_exit(struct event_log *log, int status)
{
	static const struct {
		int signal_no;
		const char *text;
	} limits[] = {
		{ SIGXCPU, "processor time (ulimit -t): the command was ended by SIGXCPU" },
		{ SIGXFSZ, "the length of a file (ulimit -f): the command was ended by SIGXFSZ" },
	};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (status == 128 + limits[i].signal_no)
			event_log_text(log, "limit", limits[i].text);
}
