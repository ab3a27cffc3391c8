/* SPDX-License-Identifier: MIT */
/* The public face: spec -> host -> plan -> session -> engine, in that order and nothing else. */
#include "wrapix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "api/identity.h"
#include "api/image.h"
#include "api/later.h"
#include "api/observer.h"
#include "base/path.h"
#include "base/str.h"
#include "engine/engine.h"
#include "keys/agent.h"
#include "os/platform.h"
#include "os/proc.h"
#include "session/events.h"
#include "session/session.h"
#include "session/turn.h"
#include "spec/agent.h"

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

int api_check_trust(struct spec *spec, const struct project_config *project, struct err *err)
{
	if (!spec->config_dir)
		return 0;
	return trust_check(project, spec->config_dir,
			   api_base_dir(&spec->arena, "XDG_STATE_HOME", ".local/state"), err);
}

/* The image that packages ask for: made once. */
static int make_image(struct wrapix_spec *spec, struct err *err)
{
	if (!spec->spec.packages.len || !spec->make_image || image_is_there(&spec->spec))
		return 0;
	return spec->make_image(&spec->spec, err);
}

/* Everything that the user and the project ask for. */
static int load_spec(struct wrapix_spec *spec, bool here, struct wrapix_plan *plan,
		     struct strv *says, struct err *err)
{
	struct project_config project = { 0 };
	int r = 0;

	if (here && !spec->spec.as_root)
		r = identity_become_owner(spec->spec.dir, err);
	plan->claude = spec->claude;
	if (r == 0 && spec->claude)
		r = run_claude_load(spec->claude, &spec->spec, says, err);
	if (r == 0)
		r = spec_load_layers(&spec->spec, &project, err);
	for (size_t i = 0; r == 0 && config_around_holds(&spec->spec) && i < spec->spec.around.len;
	     i++)
		strv_addf(&spec->spec.arena, says, "what '%s' limits holds here, too",
			  spec->spec.around.v[i]);
	if (r == 0)
		r = agent_add_memory(&spec->spec, err);
	if (r == 0 && here && spec_is_filtered(&spec->spec))
		r = api_add_registries(&spec->spec, says, err);
	if (r == 0)
		r = api_check_rules(&spec->spec, err);
	/* A plan may be looked at before it is trusted; it is the run that is refused. */
	if (r == 0 && here && api_check_trust(&spec->spec, &project, &plan->untrusted) < 0)
		plan->is_untrusted = true;
	project_config_release(&project);
	return r;
}

/* What takes long and can begin, or has to be there, before the host is looked at. */
static int prepare(struct wrapix_spec *spec, bool here, struct wrapix_plan *plan, struct err *err)
{
	int r = 0;

	if (spec->will_run && !plan->is_untrusted)
		credentials_prefetch(&plan->prefetch, &spec->spec,
				     api_base_dir(&spec->spec.arena, "XDG_CONFIG_HOME", ".config"));
	if (here && spec->will_run && !plan->is_untrusted)
		r = make_image(spec, err);
	if (r == 0 && here)
		spec->spec.engine = host_engine(&spec->spec, os_platform());
	if (r == 0 && spec->will_run && spec->spec.engine == ENGINE_APPLE)
		r = apple_check(err);
	return r;
}

static int look_here(struct spec *spec, struct host *host, struct err *err)
{
	int r = host_probe(spec, environ, host, err);

	if (r < 0)
		return r;
	repository_choose(spec, host);
	repository_protect(spec, host);
	later_close(spec, host->project.dir);
	return 0;
}

static int assume(struct spec *spec, const char *json, size_t len, struct host *host,
		  struct err *err)
{
	int r = host_load(json, len, host, err);

	if (r < 0)
		return r;
	spec->engine = host_engine(spec, host->platform);
	/* The file was read here, and counts for the project there. */
	if (spec->config_dir)
		spec->config_dir = host->project.dir;
	host_assume_mounts(spec, host);
	host_assume_agent(spec, host);
	return 0;
}

/* From the layers of configuration to the plan; host_json NULL: this machine. */
static int make_plan(struct wrapix_spec *spec, const char *host_json, size_t len,
		     struct wrapix_plan *plan, struct err *err)
{
	struct strv says = { 0 };
	int r = load_spec(spec, !host_json, plan, &says, err);

	if (r == 0)
		r = prepare(spec, !host_json, plan, err);
	if (r == 0)
		r = host_json ? assume(&spec->spec, host_json, len, &plan->host, err)
			      : look_here(&spec->spec, &plan->host, err);
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

/* Lines that a part of the session has for the user. */
static void tell(const struct observer *observer, struct strv *says)
{
	for (size_t i = 0; i < says->len; i++)
		observer_emit(observer, WRAPIX_NOTE, 0, says->v[i]);
	*says = (struct strv){ 0 };
}

/* The parts that stand outside the sandbox and last as long as it, in the order of their need. */
static int begin_parts(struct observer *observer, struct arena *arena, struct strv *says,
		       struct err *err)
{
	const struct plan *plan = &observer->plan->plan;
	const struct host *host = &observer->plan->host;
	int r = workspace_begin(&observer->workspace, plan, host, observer->id, err);

	if (r == 0) /* what is left of a run that was killed becomes the repository's business */
		r = gated_begin(&observer->gated, plan, host, observer->id, arena, says, err);
	if (r == 0)
		r = repository_begin(&observer->repository, plan, host, observer->id, arena, says,
				     err);
	tell(observer, says);
	if (r < 0) {
		gated_end(&observer->gated, arena, says);
		workspace_end(&observer->workspace, true, arena, says);
	}
	return r;
}

static void open_log(struct observer *observer, struct arena *arena)
{
	const struct wrapix_plan *plan = observer->plan;
	struct event_log_hooks hooks = observer_log_hooks(observer);
	struct session_info about = observer_describe(observer, arena);
	struct fix_place place = {
		.dialect = FIX_RUN,
		.file = path_join(arena, plan->plan.project, "wrapix.json"),
		.home = plan->host.home,
		.cwd = plan->plan.project,
	};

	if (plan->claude) {
		place.dialect = FIX_CLAUDE;
		place.file = plan->claude->policy.local;
		place.hosts_lock = plan->claude->policy.hosts_lock;
		place.paths_lock = plan->claude->policy.paths_lock;
		run_claude_begin(plan->claude, &plan->plan, &observer->log, observer_warn,
				 observer);
	}
	event_log_init(&observer->log, plan->host.state_home, &about, &place, &hooks);
}

static int (*const engines[])(const struct plan *, const struct engine_session *,
			      const struct engine_hooks *, int *, struct err *) = {
	[ENGINE_NATIVE] = native_run,
	[ENGINE_PODMAN] = podman_run,
	[ENGINE_APPLE] = apple_run,
};

/* The engine, between the beginning and the end of what is kept of the session. */
static int run(struct observer *observer, struct engine_hooks *hooks, int *ret_status,
	       struct err *err)
{
	const struct wrapix_plan *plan = observer->plan;
	struct doorbell_hooks bell_hooks = observer_message_hooks(observer);
	struct engine_session session = { .id = observer->id };
	struct strv says = { 0 };
	struct arena arena = { 0 };
	_cleanup_(image_let_go) struct image_use image;
	int r = image_hold(&plan->host, observer->id, &image, err);

	if (r == 0)
		r = begin_parts(observer, &arena, &says, err);
	if (r < 0) {
		arena_release(&arena);
		return r;
	}
	session.layers = workspace_layers(&observer->workspace);
	session.image_changes = image.dir[0] ? image.dir : NULL;
	session.gate = observer->gated.meta;
	session.turn = turn_path(&arena, path_join(&arena, plan->host.state_home, "wrapix"));
	session.carried = observer->gated.carried;
	session.n_carried = observer->gated.n_carried;
	open_log(observer, &arena);
	if (messages_make(&observer->messages, &plan->plan, &plan->host, observer->id, &bell_hooks,
			  &observer->no_messages) == 0)
		observer->no_messages.code = 0;
	messages_tell(&observer->messages, &observer->credentials.plan);
	r = engines[plan->plan.engine](&observer->credentials.plan, &session, hooks, ret_status,
				       err);
	session_remove(&observer->session);
	repository_end(&observer->repository, &arena, &says);
	gated_end(&observer->gated, &arena, &says);
	messages_remove(&observer->messages);
	event_log_close(&observer->log, r < 0 ? -1 : os_exit_code(*ret_status));
	workspace_end(&observer->workspace, r < 0, &arena, &says);
	tell(observer, &says);
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
		.gated = GATED_NONE,
	};
	struct engine_hooks hooks = observer_hooks(&observer);
	struct credential_hooks credential_hooks = observer_credential_hooks(&observer);
	struct err err;
	int status = 0, r;

	if (plan->is_untrusted)
		return api_fail(&plan->untrusted, error);
	for (size_t i = 0; i < plan->plan.says.len; i++)
		observer_emit(&observer, WRAPIX_NOTE, 0, plan->plan.says.v[i]);
	for (size_t i = 0; i < plan->plan.weaker.len; i++)
		observer_emit(&observer, WRAPIX_WARNING, 0, plan->plan.weaker.v[i]);
	if (plan->plan.resume)
		snprintf(observer.id, sizeof(observer.id), "%s", plan->plan.resume);
	else
		session_new_id(observer.id);
	r = credentials_begin(&observer.credentials, &plan->plan,
			      (struct prefetch *)&plan->prefetch, plan->host.config_home,
			      &credential_hooks, &err);
	if (r == 0)
		r = run(&observer, &hooks, &status, &err);
	credentials_end(&observer.credentials);
	observer_release(&observer);
	if (r < 0)
		return api_fail(&err, error);
	*ret_status = os_exit_code(status);
	return 0;
}
