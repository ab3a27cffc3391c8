/* SPDX-License-Identifier: MIT */
/* What the engine tells, to everybody who wants to know; see observer.h. */
#include "api/observer.h"

#include <string.h>
#include <time.h>

#include "api/api.h"
#include "api/explain.h"
#include "base/str.h"
#include "keys/agent.h"
#include "net/filter.h"
#include "os/proc.h"

void observer_emit(const struct observer *observer, enum wrapix_event_type type, int number,
		   const char *text)
{
	if (observer->fn)
		observer->fn(observer->ctx, &(struct wrapix_event){ type, number, text });
}

/* With where it is written. */
static void log_limit(struct observer *observer, struct denial *denial, const struct owner *owner)
{
	explain_limit(denial, &observer->limits, &observer->plan->plan, observer->log.place.file);
	event_log_denial(&observer->log, denial, NULL, owner);
}

/* What the kernel counted, in words: "memory 64 MiB: cgroup v2 (whole sandbox); to allow it: ..." */
static void say_limit(const struct observer *observer, enum limit limit, enum denial_limit which)
{
	const struct plan *plan = &observer->plan->plan;
	_cleanup_(arena_release) struct arena arena = { NULL };
	char line[256], value[DENIAL_LIMIT_MAX];
	_cleanup_str_ struct str text = { 0 };
	struct denial denial;
	struct fix fix;

	denial_of_limit(&denial, which,
			limit == LIMIT_MEMORY ? plan->limits.memory : plan->limits.pids, value);
	fix_make(&arena, &denial, &observer->log.place, &fix);
	cgroup_describe(&plan->cgroup, &plan->limits, limit, line, sizeof(line));
	if (plan->engine == ENGINE_PODMAN)
		snprintf(line, sizeof(line), "%s %s: podman's container", denial.reason, value);
	str_add(&text, line);
	if (fix.key) {
		str_add(&text, "; to allow it: ");
		fix_add_text(&text, &fix);
	}
	observer_emit(observer, WRAPIX_LIMIT, (int)limit, text.s);
}

/* At the end: in between a program may have the screen. */
static void say_limits(const struct observer *observer)
{
	static const enum limit limits[] = {
		[DENIAL_MEMORY] = LIMIT_MEMORY, [DENIAL_PROCESSES] = LIMIT_PIDS
	};

	for (enum denial_limit which = 0; which < ARRAY_LEN(limits); which++)
		if (observer->limits_hit & 1U << which)
			say_limit(observer, limits[which], which);
}

static void on_failure(void *ctx, const struct err *err)
{
	struct observer *observer = ctx;
	char text[sizeof(err->msg) + sizeof(err->hint) + 16];

	snprintf(text, sizeof(text), "%s%s%s%s", err->msg, err->hint[0] ? " (" : "", err->hint,
		 err->hint[0] ? ")" : "");
	observer_emit(observer, WRAPIX_WARNING, 0, text);
	event_log_text(&observer->log, "warning", text);
}

static void on_note(void *ctx, const char *text)
{
	observer_emit(ctx, WRAPIX_NOTE, 0, text);
}

void observer_release(struct observer *observer)
{
	owners_release(&observer->owners);
	arena_release(&observer->limits.arena);
	str_release(&observer->refused);
	str_release(&observer->refused_text);
}

void observer_warn(void *ctx, const char *text)
{
	observer_emit(ctx, WRAPIX_WARNING, 0, text);
}

/* By ignoreViolations. */
static bool is_ignored(const struct observer *observer, const struct denial *denial)
{
	const struct run_claude *claude = observer->plan->claude;
	_cleanup_str_ struct str line = { 0 };

	if (!claude)
		return false;
	denial_add_line(&line, denial);
	return srt_ignores(run_claude_config(claude), observer->log.about.command, line.s);
}

/* What would allow it, where something does. */
static void add_change(struct str *text, const struct observer *observer,
		       const struct denial *denial)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct fix fix;

	fix_make(&arena, denial, &observer->log.place, &fix);
	if (fix.key) {
		str_add(text, "; to allow it: ");
		fix_add_text(text, &fix);
	}
	if (fix.risk)
		str_addf(text, " (careful: %s)", fix.risk);
}

/* "evil.example:443: not-allowed", with the rule that decided where there was one, where that is written, and what
 * would allow it. */
static void tell_host(struct observer *observer, const struct denial *denial)
{
	_cleanup_str_ struct str text = { 0 };

	str_add(&text, denial->name ? denial->name : denial->address);
	if (denial->port)
		str_addf(&text, ":%u", denial->port);
	str_addf(&text, ": %s", denial->reason);
	if (denial->rule)
		str_addf(&text, ", by rule %s", denial->rule);
	if (denial->origin)
		str_addf(&text, " at %s", denial->origin);
	add_change(&text, observer, denial);
	observer_emit(observer, WRAPIX_DENIED, denial->port, text.s);
}

/* Into the log, with what the settings have to do with it, and to the user. */
static void on_host_denied(struct observer *observer, const struct net_event *event)
{
	struct run_claude *claude = observer->plan->claude;
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct denial denial;

	event_network_denial(&denial, event);
	if (claude)
		explain_host(&denial, run_claude_config(claude), &arena);
	if (!denial.origin)
		explain_host_by_plan(&denial, &observer->plan->plan);
	if (is_ignored(observer, &denial))
		return;
	event_log_network_denial(&observer->log, &denial, event);
	tell_host(observer, &denial);
}

static void on_network(void *ctx, const struct net_event *event)
{
	struct observer *observer = ctx;
	bool denies = event->type == NET_EVENT_DENY_RULE;
	bool is_rule = denies || event->type == NET_EVENT_ALLOW_RULE;

	if (event->type == NET_EVENT_DENIED) {
		on_host_denied(observer, event);
		return;
	}
	if (is_rule && observer->plan->claude)
		run_claude_added(observer->plan->claude, denies, event->rule);
	event_log_network(&observer->log, event);
	if (is_rule)
		observer_emit(observer, WRAPIX_RULE, denies, event->rule);
}

/* What the user is told; a flood is one refusal again and again. */
static const char *refusal_text(struct observer *observer, const struct denial *denial)
{
	struct str *text = &observer->refused_text;
	_cleanup_str_ struct str key = { 0 };

	denial_add_members(&key, denial);
	if (observer->refused.s && !strcmp(observer->refused.s, key.s))
		return text->s;
	str_release(&observer->refused);
	str_release(text);
	observer->refused = key;
	key = *text = (struct str){ 0 };
	denial_add_act(text, denial, observer->plan->host.home);
	str_add(text, ": ");
	denial_add_why(text, denial);
	add_change(text, observer, denial);
	return text->s;
}

/* Without a network: a system call, a file, a UNIX socket. */
static void on_denied(void *ctx, const struct denial *denial, pid_t pid)
{
	struct observer *observer = ctx;
	struct denial limit = *denial;
	enum denial_limit which;
	struct owner *owner;
	bool is_limit;

	if (is_ignored(observer, denial))
		return;
	owner = pid ? owners_get(&observer->owners, pid, denial->site) : NULL;
	is_limit = denial_find_limit(denial, &which);
	if (is_limit) {
		log_limit(observer, &limit, denial->owner ? denial->owner : owner);
		denial = &limit;
	} else {
		event_log_denial(&observer->log, denial, NULL, owner);
	}
	owner_unref(owner);
	if (is_limit && !denial->predicted)
		observer->limits_hit |= 1U << which;
	else
		observer_emit(observer, WRAPIX_DENIED,
			      strcmp(denial->reason, "read-only") ? -1 : -2,
			      refusal_text(observer, denial));
}

static void on_key(void *ctx, const struct key_event *event)
{
	struct observer *observer = ctx;
	struct owner *owner = event->pid ? owner_of(event->pid) : NULL;
	_cleanup_str_ struct str members = { 0 };

	key_event_add(&members, event);
	event_log_members(&observer->log, members.s, event->denied, owner);
	owner_unref(owner);
}

static char *command_line(struct arena *arena, const struct strv *argv)
{
	_cleanup_str_ struct str line = { 0 };

	str_add_shell_words(&line, argv->v);
	return arena_strdup(arena, line.s ? line.s : "");
}

/* What is written down of the session. */
struct session_info observer_describe(struct observer *observer, struct arena *arena)
{
	const struct plan *plan = &observer->plan->plan;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (struct session_info){
		.id = observer->id,
		.name = plan->name,
		.dir = plan->project,
		.engine = (char *)engine_name(plan->engine),
		.network = (char *)net_mode_name(plan->net),
		.command = command_line(arena, &plan->argv),
		.started = now.tv_sec,
		.nanoseconds = now.tv_nsec,
	};
}

/* Without a place for it the sandbox runs all the same, unlisted and without messages to the user. */
static void record(struct observer *observer)
{
	struct err err;

	if (session_create(&observer->session, observer->plan->host.runtime_dir,
			   &observer->log.about, &err) < 0) {
		err_wrap(&err, "this session will not be listed by 'wrapix ps'");
		observer_emit(observer, WRAPIX_WARNING, 0, err.msg);
	} else if (observer->no_messages.code) {
		observer_emit(observer, WRAPIX_WARNING, 0, observer->no_messages.msg);
	}
}

static void on_log_opened(void *ctx)
{
	const struct observer *observer = ctx;

	observer_emit(observer, WRAPIX_LOGGED, 0, observer->id);
}

static void on_refused_line(void *ctx, const char *line)
{
	messages_refused(&((struct observer *)ctx)->messages, line);
}

static void on_log_failed(void *ctx, const struct err *err)
{
	observer_emit(ctx, WRAPIX_WARNING, 0, err->msg);
	observer_emit(ctx, WRAPIX_LOGGED, 0, "");
}

static void on_workspace_full(void *ctx, const char *text)
{
	struct observer *observer = ctx;

	observer_emit(observer, WRAPIX_LIMIT, 0, text);
	event_log_text(&observer->log, "limit", text);
}

static void on_repository_failed(void *ctx, const char *text)
{
	event_log_text(&((struct observer *)ctx)->log, "warning", text);
}

static int on_repository(void *ctx, const char *path, unsigned number)
{
	return gated_repository(&((struct observer *)ctx)->gated, path, number);
}

static enum protect_answer on_change(void *ctx, const struct protect_change *change,
				     const char **ret_reason, size_t *ret_held)
{
	return gated_change(&((struct observer *)ctx)->gated, change, ret_reason, ret_held);
}

/* Files that run later, at the end: all of them are in the log, and how many there are is worth a message. */
static void on_changes(void *ctx, const struct later_list *list)
{
	struct observer *observer = ctx;
	size_t n = 0, held = 0;

	for (size_t i = 0; i < list->n; i++) {
		_cleanup_str_ struct str members = { 0 };

		if (!list->v[i].fresh)
			continue;
		n++;
		held += list->v[i].held;
		later_add_members(&members, &list->v[i]);
		event_log_members(&observer->log, members.s, false, NULL);
	}
	messages_later(&observer->messages, n + list->more, held);
}

static void on_loop(void *ctx, struct loop *loop)
{
	struct observer *observer = ctx;

	event_log_watch(&observer->log, loop);
	messages_watch(&observer->messages, loop);
	if (observer->plan->claude)
		run_claude_loop(observer->plan->claude, loop);
	credentials_watch(&observer->credentials, loop);
	workspace_watch(&observer->workspace, loop, &observer->plan->plan, on_workspace_full,
			observer);
	repository_watch(&observer->repository, loop, on_repository_failed, observer);
	gated_watch(&observer->gated, loop, on_repository_failed, observer);
	observer->gated.on_changes = on_changes;
}

/* A line into the log: while the agent has the screen there is no place for it. */
static void on_messages_failed(void *ctx, const struct err *err)
{
	event_log_text(&((struct observer *)ctx)->log, "warning", err->msg);
}

static void on_terminal(void *ctx, bool from_user, const char *bytes, size_t len)
{
	messages_bytes(&((struct observer *)ctx)->messages, from_user, bytes, len);
}

static void on_relay_said(void *ctx, const char *name, const char *line)
{
	char text[320];

	snprintf(text, sizeof(text), "%s: %s", name, line);
	event_log_text(&((struct observer *)ctx)->log, "credential", text);
}

static int take_relay(void *ctx, size_t credential, int listener, struct err *err)
{
	return credentials_relay(&((struct observer *)ctx)->credentials, credential, listener, err);
}

static int take_control(void *ctx)
{
	struct observer *observer = ctx;
	struct err err;
	int fd;

	if (observer->session.sessions_fd < 0)
		return -1; /* which was said */
	fd = session_listen(&observer->session, &err);
	if (fd < 0)
		on_failure(observer, &err);
	return fd;
}

/* The registry is written while the command already runs, and cleared while the kernel still takes
 * the namespaces down: neither is waited for. */
static void on_engine_event(void *ctx, enum engine_event event, int value)
{
	static const enum wrapix_event_type types[] = {
		[EVENT_STARTED] = WRAPIX_STARTED,     [EVENT_STOPPED] = WRAPIX_STOPPED,
		[EVENT_CONTINUED] = WRAPIX_CONTINUED, [EVENT_EXITED] = WRAPIX_EXITED,
		[EVENT_QUIET] = WRAPIX_QUIET,
	};
	struct observer *observer = ctx;

	if (event == EVENT_STARTED) {
		credentials_started(&observer->credentials);
		workspace_started(&observer->workspace, value);
		gated_started(&observer->gated, value);
		repository_started(&observer->repository, value);
		record(observer);
		messages_started(&observer->messages, value);
	}
	if (event == EVENT_EXITED) {
		event_log_flush(&observer->log);
		session_remove(&observer->session);
		say_limits(observer);
	}
	observer_emit(observer, types[event], event == EVENT_EXITED ? os_exit_code(value) : value,
		      NULL);
}

static void on_live(void *ctx, struct engine_live *live)
{
	struct run_claude *claude = ((struct observer *)ctx)->plan->claude;

	if (claude)
		run_claude_live(claude, live);
}

static void on_peaks(void *ctx, const struct cgroup_peaks *peaks)
{
	event_log_peaks(&((struct observer *)ctx)->log, peaks);
}

struct engine_hooks observer_hooks(struct observer *observer)
{
	return (struct engine_hooks){
		.on_denied = on_denied,
		.on_repository = on_repository,
		.on_change = on_change,
		.on_network = on_network,
		.on_key = on_key,
		.take_control = take_control,
		.take_relay = take_relay,
		.on_failure = on_failure,
		.on_note = on_note,
		.on_event = on_engine_event,
		.on_loop = on_loop,
		.on_live = on_live,
		.on_peaks = on_peaks,
		.on_terminal = on_terminal,
		.ctx = observer,
	};
}

struct event_log_hooks observer_log_hooks(struct observer *observer)
{
	return (struct event_log_hooks){ .opened = on_log_opened,
					 .failed = on_log_failed,
					 .denied = on_refused_line,
					 .ctx = observer };
}

struct doorbell_hooks observer_message_hooks(struct observer *observer)
{
	return (struct doorbell_hooks){ on_messages_failed, observer };
}

struct credential_hooks observer_credential_hooks(struct observer *observer)
{
	return (struct credential_hooks){ on_failure, on_relay_said, observer };
}
