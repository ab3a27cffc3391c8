/* SPDX-License-Identifier: MIT */
/* The public face: spec -> host -> plan -> session -> engine, in that order and nothing else. */
#include "wrapix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "api/api.h"
#include "api/credentials.h"
#include "api/identity.h"
#include "api/image.h"
#include "api/messages.h"
#include "api/repository.h"
#include "api/workspace.h"
#include "base/path.h"
#include "base/str.h"
#include "engine/engine.h"
#include "keys/agent.h"
#include "net/filter.h"
#include "os/fs.h"
#include "session/events.h"
#include "session/session.h"
#include "spec/agent.h"
#include "spec/project.h"

const char *wrapix_version(void)
{
	return WRAPIX_VERSION;
}

int api_fail(const struct err *err, struct wrapix_error *error)
{
	if (error) {
		*error = (struct wrapix_error){ .code = err->code, .exit_status = err->exit };
		snprintf(error->message, sizeof(error->message), "%s", err->msg);
		snprintf(error->hint, sizeof(error->hint), "%s", err->hint);
	}
	return -err->code;
}

static int check_trust(struct spec *spec, const struct project_config *project, struct err *err)
{
	if (!spec->config_dir)
		return 0;
	return trust_check(project, spec->config_dir,
			   api_base_dir(&spec->arena, "XDG_STATE_HOME", ".local/state"), err);
}

/* Everything from the layers of configuration to the plan; host_json NULL: this machine. */
static int make_plan(struct wrapix_spec *spec, const char *host_json, size_t len,
		     struct wrapix_plan *plan, struct err *err)
{
	struct project_config project = { 0 };
	struct strv says = { 0 };
	int r = 0;

	if (!host_json && !spec->spec.as_root)
		r = identity_become_owner(spec->spec.dir, err);
	if (r == 0)
		r = spec_load_layers(&spec->spec, &project, err);
	if (r == 0)
		r = agent_add_memory(&spec->spec, err);
	if (r == 0 && !host_json && spec_is_filtered(&spec->spec))
		r = api_add_registries(&spec->spec, &says, err);
	if (r == 0)
		r = api_check_rules(&spec->spec, err);
	/* A plan may be looked at before it is trusted; it is the run that is refused. */
	if (r == 0 && !host_json && check_trust(&spec->spec, &project, &plan->untrusted) < 0)
		plan->is_untrusted = true;
	project_config_release(&project);
	if (r == 0 && spec->will_run && !plan->is_untrusted)
		credentials_prefetch(&plan->prefetch, &spec->spec,
				     api_base_dir(&spec->spec.arena, "XDG_CONFIG_HOME", ".config"));
	if (r == 0)
		r = host_json ? host_load(host_json, len, &plan->host, err)
			      : host_probe(&spec->spec, environ, &plan->host, err);
	if (r == 0 && host_json) {
		/* The file was read here, and counts for the project there. */
		if (spec->spec.config_dir)
			spec->spec.config_dir = plan->host.project.dir;
		host_assume_mounts(&spec->spec, &plan->host);
		host_assume_agent(&spec->spec, &plan->host);
	}
	if (r == 0)
		r = plan_make(&spec->spec, &plan->host, &plan->plan, err);
	for (size_t i = 0; r == 0 && i < says.len; i++)
		strv_add(&plan->plan.arena, &plan->plan.says, says.v[i]);
	/* What an untrusted file asks for may be impossible, too: that is not the first thing to say. */
	if (r < 0 && plan->is_untrusted)
		*err = plan->untrusted;
	if (r == 0 && plan->is_untrusted)
		strv_add(&plan->plan.arena, &plan->plan.says,
			 "wrapix.json asks for more than the defaults and is not trusted yet: "
			 "'wrapix run' will stop, 'wrapix trust' shows what it is");
	return r < 0 ? -err->code : 0;
}

int wrapix_plan_make_for(struct wrapix_spec *spec, const char *host_json, size_t len,
			 struct wrapix_plan **ret, struct wrapix_error *error)
{
	struct wrapix_plan *plan = calloc(1, sizeof(*plan));
	struct err err;

	if (!plan)
		return api_fail((err_errno(&err, ENOMEM, "planning"), &err), error);
	if (make_plan(spec, host_json, len, plan, &err) < 0) {
		wrapix_plan_free(plan);
		return api_fail(&err, error);
	}
	*ret = plan;
	return 0;
}

int wrapix_plan_make(struct wrapix_spec *spec, struct wrapix_plan **ret, struct wrapix_error *error)
{
	return wrapix_plan_make_for(spec, NULL, 0, ret, error);
}

void wrapix_plan_free(struct wrapix_plan *plan)
{
	if (!plan)
		return;
	prefetch_cancel(&plan->prefetch);
	plan_release(&plan->plan);
	host_release(&plan->host);
	free(plan);
}

void wrapix_plan_print(const struct wrapix_plan *plan, enum wrapix_format format, FILE *out)
{
	switch (format) {
	case WRAPIX_JSON:
		plan_print_json(&plan->plan, out);
		break;
	case WRAPIX_FACTS:
		host_print_json(&plan->host, out);
		break;
	default:
		plan_print(&plan->plan, out);
	}
}

/* Passes the engine's events on as public ones, and keeps the registry. */
struct observer {
	const struct wrapix_plan *plan;
	wrapix_event_fn *fn;
	void *ctx;
	char id[SESSION_ID_MAX];
	struct session session;
	struct event_log log;
	struct messages messages;
	struct err no_messages; /* why there are none; code 0: there are */
	struct workspace workspace;
	struct credentials credentials;
	struct repository repository;
};

static void emit(const struct observer *observer, enum wrapix_event_type type, int number,
		 const char *text)
{
	if (observer->fn)
		observer->fn(observer->ctx, &(struct wrapix_event){ type, number, text });
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void on_limit(struct observer *observer, unsigned hits)
{
	const struct plan *plan = &observer->plan->plan;

	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		char line[256];

		if (!(hits & LIMIT_BIT(limit)))
			continue;
		cgroup_describe(&plan->cgroup, &plan->limits, limit, line, sizeof(line));
		emit(observer, WRAPIX_LIMIT, (int)limit, line);
		event_log_text(&observer->log, "limit", line);
	}
}

static void on_failure(void *ctx, const struct err *err)
{
	struct observer *observer = ctx;
	char text[sizeof(err->msg) + sizeof(err->hint) + 16];

	snprintf(text, sizeof(text), "%s%s%s%s", err->msg, err->hint[0] ? " (" : "", err->hint,
		 err->hint[0] ? ")" : "");
	emit(observer, WRAPIX_WARNING, 0, text);
	event_log_text(&observer->log, "warning", text);
}

static void on_note(void *ctx, const char *text)
{
	emit(ctx, WRAPIX_NOTE, 0, text);
}

/* "evil.example:443: not-allowed", with the rule that decided where there was one. */
static void on_network(void *ctx, const struct net_event *event)
{
	struct observer *observer = ctx;
	char text[NAME_SIZE + 128], port[8] = "";

	event_log_network(&observer->log, event);
	if (event->type == NET_EVENT_ALLOW_RULE || event->type == NET_EVENT_DENY_RULE)
		emit(observer, WRAPIX_RULE, event->type == NET_EVENT_DENY_RULE, event->rule);
	if (event->type != NET_EVENT_DENIED)
		return;
	if (event->port)
		snprintf(port, sizeof(port), ":%u", event->port);
	snprintf(text, sizeof(text), "%s%s: %s%s%s", event->name ? event->name : event->address,
		 port, net_reason_name(event->reason), event->rule ? ", by rule " : "",
		 event->rule ? event->rule : "");
	emit(observer, WRAPIX_DENIED, event->port, text);
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

	for (size_t i = 0; i < argv->len; i++) {
		str_add(&line, i ? " " : "");
		str_add_shell(&line, argv->v[i]);
	}
	return arena_strdup(arena, line.s ? line.s : "");
}

/* What is written down of the session. */
static struct session_info describe(struct observer *observer, struct arena *arena)
{
	const struct plan *plan = &observer->plan->plan;

	return (struct session_info){
		.id = observer->id,
		.name = plan->name,
		.dir = plan->project,
		.engine = (char *)engine_name(plan->engine),
		.network = (char *)net_mode_name(plan->net),
		.command = command_line(arena, &plan->argv),
		.started = time(NULL),
	};
}

/* Without a place for it the sandbox runs all the same, unlisted and without messages to the user. */
static void record(struct observer *observer)
{
	struct err err;

	if (session_create(&observer->session, observer->plan->host.runtime_dir,
			   &observer->log.about, &err) < 0) {
		err_wrap(&err, "this session will not be listed by 'wrapix ps'");
		emit(observer, WRAPIX_WARNING, 0, err.msg);
	} else if (observer->no_messages.code) {
		emit(observer, WRAPIX_WARNING, 0, observer->no_messages.msg);
	}
}

static void on_log_opened(void *ctx)
{
	const struct observer *observer = ctx;

	emit(observer, WRAPIX_LOGGED, 0, observer->id);
}

static void on_log_failed(void *ctx, const struct err *err)
{
	emit(ctx, WRAPIX_WARNING, 0, err->msg);
}

static void on_workspace_full(void *ctx, const char *text)
{
	struct observer *observer = ctx;

	emit(observer, WRAPIX_LIMIT, 0, text);
	event_log_text(&observer->log, "limit", text);
}

static void on_repository_failed(void *ctx, const char *text)
{
	event_log_text(&((struct observer *)ctx)->log, "warning", text);
}

static void on_loop(void *ctx, struct loop *loop)
{
	struct observer *observer = ctx;

	event_log_watch(&observer->log, loop);
	messages_watch(&observer->messages, loop);
	credentials_watch(&observer->credentials, loop);
	workspace_watch(&observer->workspace, loop, &observer->plan->plan, on_workspace_full,
			observer);
	repository_watch(&observer->repository, loop, on_repository_failed, observer);
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
		[EVENT_CONTINUED] = WRAPIX_CONTINUED, [EVENT_LIMIT] = WRAPIX_LIMIT,
		[EVENT_EXITED] = WRAPIX_EXITED,       [EVENT_QUIET] = WRAPIX_QUIET,
	};
	struct observer *observer = ctx;

	if (event == EVENT_STARTED) {
		credentials_started(&observer->credentials);
		workspace_started(&observer->workspace, value);
		record(observer);
		messages_started(&observer->messages, value);
	}
	if (event == EVENT_EXITED) {
		event_log_flush(&observer->log);
		session_remove(&observer->session);
	}
	if (event == EVENT_LIMIT)
		on_limit(observer, (unsigned)value);
	else
		emit(observer, types[event], event == EVENT_EXITED ? exit_status(value) : value,
		     NULL);
}

/* The engine, between the beginning and the end of what is kept of the session. */
static int run(struct observer *observer, struct engine_hooks *hooks, int *ret_status,
	       struct err *err)
{
	const struct wrapix_plan *plan = observer->plan;
	struct event_log_hooks log_hooks = { .opened = on_log_opened,
					     .failed = on_log_failed,
					     .ctx = observer };
	struct engine_session session = { .id = observer->id };
	struct strv says = { 0 };
	struct arena arena = { 0 };
	struct session_info about;
	struct fix_place place;
	_cleanup_close_ int image = -1;
	int r = image_hold(&plan->host, &image, err);

	if (r == 0)
		r = workspace_begin(&observer->workspace, &plan->plan, &plan->host, observer->id,
				    err);
	if (r == 0)
		r = repository_begin(&observer->repository, &plan->plan, &plan->host, observer->id,
				     &arena, &says, err);
	for (size_t i = 0; i < says.len; i++)
		emit(observer, WRAPIX_NOTE, 0, says.v[i]);
	says = (struct strv){ 0 };
	if (r < 0) {
		workspace_end(&observer->workspace, true, &arena, &says);
		arena_release(&arena);
		return r;
	}
	session.layers = workspace_layers(&observer->workspace);
	about = describe(observer, &arena);
	place = (struct fix_place){
		.dialect = FIX_RUN,
		.file = path_join(&arena, plan->plan.project, "wrapix.json"),
		.home = plan->host.home,
		.cwd = plan->plan.project,
	};
	event_log_init(&observer->log, plan->host.state_home, &about, &place, &log_hooks);
	if (messages_make(&observer->messages, plan, observer->id,
			  &(struct doorbell_hooks){ on_messages_failed, observer },
			  &observer->no_messages) == 0)
		observer->no_messages.code = 0;
	r = (plan->plan.engine == ENGINE_PODMAN ? podman_run : native_run)(
		&observer->credentials.plan, &session, hooks, ret_status, err);
	messages_remove(&observer->messages);
	event_log_close(&observer->log, r < 0 ? -1 : exit_status(*ret_status));
	session_remove(&observer->session);
	repository_end(&observer->repository, &arena, &says);
	workspace_end(&observer->workspace, r < 0, &arena, &says);
	for (size_t i = 0; i < says.len; i++)
		emit(observer, WRAPIX_NOTE, 0, says.v[i]);
	arena_release(&arena);
	return r;
}

int wrapix_plan_run(const struct wrapix_plan *plan, wrapix_event_fn *on_event, void *ctx,
		    int *ret_status, struct wrapix_error *error)
{
	struct observer observer = {
		.plan = plan,
		.fn = on_event,
		.ctx = ctx,
		.session = SESSION_NONE,
		.messages = MESSAGES_NONE,
		.workspace = WORKSPACE_NONE,
		.repository = REPOSITORY_NONE,
	};
	struct engine_hooks hooks = {
		.on_network = on_network,
		.on_key = on_key,
		.take_control = take_control,
		.take_relay = take_relay,
		.on_failure = on_failure,
		.on_note = on_note,
		.on_event = on_engine_event,
		.on_loop = on_loop,
		.on_terminal = on_terminal,
		.ctx = &observer,
	};
	struct err err;
	int status;

	if (plan->is_untrusted)
		return api_fail(&plan->untrusted, error);
	for (size_t i = 0; i < plan->plan.says.len; i++)
		emit(&observer, WRAPIX_NOTE, 0, plan->plan.says.v[i]);
	for (size_t i = 0; i < plan->plan.weaker.len; i++)
		emit(&observer, WRAPIX_WARNING, 0, plan->plan.weaker.v[i]);
	if (plan->plan.resume)
		snprintf(observer.id, sizeof(observer.id), "%s", plan->plan.resume);
	else
		session_new_id(observer.id);
	if (credentials_begin(&observer.credentials, &plan->plan,
			      (struct prefetch *)&plan->prefetch, plan->host.config_home,
			      &(struct credential_hooks){ on_failure, on_relay_said, &observer },
			      &err) < 0 ||
	    run(&observer, &hooks, &status, &err) < 0) {
		credentials_end(&observer.credentials);
		return api_fail(&err, error);
	}
	credentials_end(&observer.credentials);
	*ret_status = exit_status(status);
	return 0;
}
