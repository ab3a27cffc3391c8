/* SPDX-License-Identifier: MIT */
/* The environment inside: built from nothing; the host's variables come in only by name. */
#include <string.h>

#include "plan/plan.h"

#define PATH_INSIDE "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Sets name, over an earlier value. */
void plan_setenv(struct plan *plan, const char *name, const char *value)
{
	size_t len = strlen(name);
	char *entry = arena_printf(&plan->arena, "%s=%s", name, value);

	for (size_t i = 0; i < plan->env.len; i++)
		if (!strncmp(plan->env.v[i], name, len) && plan->env.v[i][len] == '=') {
			plan->env.v[i] = entry;
			return;
		}
	strv_add(&plan->arena, &plan->env, entry);
}

static void add_builtin(struct plan *plan, const struct host *host)
{
	struct arena *a = &plan->arena;
	const char *nix = path_facts_find(&host->extra, "/run/current-system")
				  ? ":/run/current-system/sw/bin"
				  : "";

	plan_setenv(plan, "PATH",
		    arena_printf(a, "%s/bin:" HOME_INSIDE "/.local/bin:%s%s", AGENT_INSIDE,
				 PATH_INSIDE, nix));
	plan_setenv(plan, "HOME", HOME_INSIDE);
	plan_setenv(plan, "USER", host->user);
	plan_setenv(plan, "LOGNAME", host->user);
	plan_setenv(plan, "SHELL", host->tools.shell);
	plan_setenv(plan, "PWD", plan->cwd);
	plan_setenv(plan, "TMPDIR", "/tmp");
	plan_setenv(plan, "XDG_RUNTIME_DIR", arena_printf(a, "/run/user/%u", host->uid));
	plan_setenv(plan, "WRAPIX", "1");
}

/* host->env holds what the allow-list and the spec name, so all of the allow-list comes in here;
 * a variable that only the spec names is added, or overridden, below. */
void plan_env(struct plan *plan, const struct spec *spec, const struct host *host)
{
	add_builtin(plan, host);
	for (size_t i = 0; i < host->n_env; i++)
		if (host_env_allowed(host->env[i].name))
			plan_setenv(plan, host->env[i].name, host->env[i].value);
	for (size_t i = 0; i < spec->n_env; i++) {
		const char *value = spec->env[i].value ? spec->env[i].value
						       : host_env(host, spec->env[i].name);

		if (value)
			plan_setenv(plan, spec->env[i].name, value);
	}
}
