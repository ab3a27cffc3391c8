/* SPDX-License-Identifier: MIT */
/* The environment inside: built from nothing; the host's variables come in only by name. */
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"

#define PATH_INSIDE "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Where the variable stands; env.len: nowhere. */
static size_t find_env(const struct plan *plan, const char *name)
{
	size_t len = strlen(name), i = 0;

	while (i < plan->env.len &&
	       (strncmp(plan->env.v[i], name, len) || plan->env.v[i][len] != '='))
		i++;
	return i;
}

/* Sets name, over an earlier value. */
void plan_setenv(struct plan *plan, const char *name, const char *value)
{
	char *entry = arena_printf(&plan->arena, "%s=%s", name, value);
	size_t i = find_env(plan, name);

	if (i < plan->env.len)
		plan->env.v[i] = entry;
	else
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

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* What the image says, under all that is said elsewhere. podman's is wrapix-init's to lay. */
static void add_images(struct plan *plan, const struct host *host)
{
	static const char *const not [] = { "PATH", "HOSTNAME", "container" };

	for (size_t i = 0; i < host->n_image_env; i++)
		if (!is_one_of(host->image_env[i].name, not, ARRAY_LEN(not )))
			plan_setenv(plan, host->image_env[i].name, host->image_env[i].value);
}

static void add_images_path(struct plan *plan, const struct host *host)
{
	const char *ours = plan->env.v[find_env(plan, "PATH")] + strlen("PATH=");

	for (size_t i = 0; i < host->n_image_env; i++)
		if (!strcmp(host->image_env[i].name, "PATH"))
			plan_setenv(plan, "PATH",
				    path_list_add(&plan->arena, ours, host->image_env[i].value));
}

/* host->env holds what the allow-list and the spec name, so all of the allow-list comes in here;
 * a variable that only the spec names is added, or overridden, below. */
void plan_env(struct plan *plan, const struct spec *spec, const struct host *host)
{
	bool images = plan->engine == ENGINE_NATIVE && host->image_root;

	if (images)
		add_images(plan, host);
	add_builtin(plan, host);
	if (images)
		add_images_path(plan, host);
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
