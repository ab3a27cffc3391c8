/* SPDX-License-Identifier: MIT */
/*
 * Credentials: which variables the sandbox gets, and for the brokered ones where the relay listens and
 * what it may be used for. No value is in a plan but those of the user's own environment.
 */
#include <errno.h>
#include <string.h>

#include "plan/parts.h"
#include "spec/agent.h"

#define FIRST_PORT 4777 /* inside, on the loopback */

char *plan_relay_url(struct plan *plan, const struct plan_credential *c)
{
	return arena_printf(&plan->arena, "http://127.0.0.1:%u%s", c->port, c->about.base_path);
}

/* One that leads to the host, or from there, is no relay's. */
static bool is_taken(const struct spec *spec, uint16_t port)
{
	for (size_t i = 0; i < spec->n_ports; i++)
		if (spec->ports[i].inside == port)
			return true;
	return false;
}

static uint16_t next_port(struct plan *plan, const struct spec *spec)
{
	uint16_t port = FIRST_PORT;

	for (size_t i = 0; i < plan->n_credentials; i++)
		port = MAX(port, (uint16_t)(plan->credentials[i].port + 1));
	while (is_taken(spec, port))
		port++;
	plan->n_relays++;
	return port;
}

static int broker(struct plan *plan, const struct spec *spec, const struct host *host,
		  struct plan_credential *p, struct err *err)
{
	const struct credential *c = &p->about;
	struct arena *a = &plan->arena;
	int r = upstream_parse(a, c->upstream, &p->upstream, err);

	if (r < 0)
		return r;
	if (!host->tools.relay)
		return err_set(err, ENOENT, "the program wrapix-relay is not installed");
	if (plan->net == NET_HOST) {
		err_usage(err, "a brokered credential needs a network of the sandbox's own");
		return err_hint(err, "choose another network than 'host'");
	}
	p->port = next_port(plan, spec);
	plan->relay = arena_strdup(a, host->tools.relay);
	plan_setenv(plan, c->name, CREDENTIAL_PLACEHOLDER);
	plan_setenv(plan, c->base_url, plan_relay_url(plan, p));
	/* Nobody else's credential goes there: there is one way, and it takes only ours. */
	if (plan->net == NET_FILTERED)
		strv_add(a, &plan->deny, p->upstream.host);
	return 0;
}

int plan_credentials(struct plan *plan, const struct spec *spec, const struct host *host,
		     const struct agent *agent, struct err *err)
{
	struct credential *list;
	size_t n = 0;
	int r = credentials_resolve(&plan->arena, spec, agent, &list, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		const char *value = host_env(host, list[i].name);
		struct plan_credential *p;

		/* A variable that the user has set by hand is that. */
		if (spec_find_env(spec, list[i].name))
			continue;
		p = arena_grow(&plan->arena, &plan->credentials, &plan->n_credentials, sizeof(*p));
		p->about = list[i];
		p->named = credential_is_named(spec, list[i].name);
		if (list[i].mode == CREDENTIAL_BROKERED) {
			r = broker(plan, spec, host, p, err);
		} else if (value) {
			p->is_set = true;
			plan_setenv(plan, list[i].name, value);
		}
	}
	return r;
}

/* In an environment, a value that came from the store. */
void plan_give_credential(struct plan *plan, char *entry)
{
	size_t len = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < plan->env.len; i++)
		if (!strncmp(plan->env.v[i], entry, len)) {
			plan->env.v[i] = entry;
			return;
		}
	strv_add(&plan->arena, &plan->env, "");
	plan->env.v[plan->env.len - 1] = entry;
}
