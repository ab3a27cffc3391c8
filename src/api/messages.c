/* SPDX-License-Identifier: MIT */
/* Puts the plan's wishes, and where the user is, together for notify/. */
#include "api/messages.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "session/events.h"

#define COPY(field, text) snprintf(field, sizeof(field), "%s", (text) ? (text) : "")

/* Where the user is, and what the plan says about messages. */
static void look_around(const struct plan *plan, const char *id, struct place *place)
{
	const struct notify_spec *wishes = &plan->notify;
	const char *tty = NULL;

	for (int fd = 0; fd < 3 && !tty; fd++)
		tty = plan->tty[fd] ? ttyname(fd) : NULL;
	place_look(place, environ);
	COPY(place->id, id);
	COPY(place->name, plan->name);
	COPY(place->dir, plan->project);
	COPY(place->tty, tty);
	COPY(place->quiet, wishes->quiet);
	COPY(place->sound, wishes->sound);
	COPY(place->webhook, wishes->webhook);
	place->always = wishes->always;
}

static int make_porch(struct messages *m, const char *id, struct err *err)
{
	const struct plan_apple *apple = &m->plan->apple;
	_cleanup_(arena_release) struct arena arena = { NULL };

	if (m->plan->engine != ENGINE_APPLE || apple->notify != APPLE_NOTIFY_TCP)
		return 0;
	if (!apple->gateway)
		return err_set(err, ENETUNREACH,
			       "messages to you will not be shown: container "
			       "does not say its network's gateway");
	if (porch_make(&m->porch, apple->gateway,
		       arena_printf(&arena, "%s/wrapix/notify/%s/notify.sock", m->host->runtime_dir,
				    id),
		       err) < 0)
		return err_wrap(err, "messages to you will not be shown");
	return 0;
}

int messages_make(struct messages *m, const struct plan *plan, const struct host *host,
		  const char *id, const struct doorbell_hooks *hooks, struct err *err)
{
	struct place place = { .id = "" };

	m->plan = plan;
	m->host = host;
	if (!plan->notifyd)
		return 0;
	look_around(plan, id, &place);
	if (doorbell_make(&m->bell, host->runtime_dir, plan->notifyd, &place, hooks, err) < 0)
		return err_wrap(err, "messages to you will not be shown");
	return make_porch(m, id, err);
}

void messages_tell(const struct messages *m, struct plan *plan)
{
	if (!m->porch.port)
		return;
	plan_setenv(plan, "WRAPIX_NOTIFY_TCP",
		    arena_printf(&plan->arena, "%s:%u", m->porch.address, m->porch.port));
	plan_setenv(plan, "WRAPIX_NOTIFY_TOKEN", m->porch.token);
}

void messages_watch(struct messages *m, struct loop *loop)
{
	struct err err;

	m->loop = loop;
	if (loop) {
		doorbell_watch(&m->bell, loop);
		if (porch_watch(&m->porch, loop, &err) < 0)
			m->bell.hooks.on_failure(m->bell.hooks.ctx, &err);
		return;
	}
	porch_close(&m->porch);
	watcher_stop(&m->watcher);
	doorbell_unwatch(&m->bell);
}

void messages_started(struct messages *m, pid_t init)
{
	const struct plan *plan = m->plan;
	const char *title = m->host->agent.name ? m->host->agent.name : plan->argv.v[0];
	struct err err;

	if (!m->bell.loop || !plan_has_tty(plan))
		return;
	if (watcher_start(&m->watcher, m->loop, &m->bell, init, plan->notify_idle, path_name(title),
			  &err) < 0)
		m->bell.hooks.on_failure(m->bell.hooks.ctx, &err);
}

void messages_bytes(struct messages *m, bool from_user, const char *bytes, size_t len)
{
	watcher_bytes(&m->watcher, from_user, bytes, len);
}

void messages_refused(struct messages *m, const char *line)
{
	_cleanup_json_ struct json_object *event = NULL;
	_cleanup_str_ struct str text = { 0 };
	struct denial denial;
	int64_t count;

	if (!m->bell.loop || !m->plan->notify.violations ||
	    event_parse(line, strlen(line), &event) < 0 || !denial_read(event, &denial))
		return;
	count = json_object_get_int64(json_object_object_get(event, "count"));
	denial_add_act(&text, &denial, m->host->home);
	str_add(&text, ": ");
	denial_add_why(&text, &denial);
	if (count > 1)
		str_addf(&text, " (%lld times)", (long long)count);
	doorbell_say(&m->bell, "refused", "Refused", text.s);
}

void messages_later(struct messages *m, size_t n, size_t held)
{
	_cleanup_str_ struct str text = { 0 };

	if (!n || !m->plan || !m->plan->notify.violations)
		return;
	str_addf(&text, "%zu file%s that run%s later %s changed", n, n == 1 ? "" : "s",
		 n == 1 ? "s" : "", n == 1 ? "was" : "were");
	if (held)
		str_addf(&text, "; %zu %s held until you accept: wrapix git held", held,
			 held == 1 ? "is" : "are");
	doorbell_say_last(&m->bell, "later", "Files that run later", text.s);
}

void messages_remove(struct messages *m)
{
	porch_close(&m->porch);
	doorbell_remove(&m->bell);
}
