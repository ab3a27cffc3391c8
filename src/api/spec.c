/* SPDX-License-Identifier: MIT */
/* The public face of a spec: what the flags of 'wrapix run' set, by name. */
#include <fcntl.h>
#include <string.h>

#include "api/api.h"
#include "base/path.h"
#include "os/fs.h"
#include "spec/agent.h"
#include "spec/host.h"
#include "spec/project.h"
#include "wrapix.h"

struct wrapix_spec *wrapix_spec_new(const char *dir)
{
	struct wrapix_spec *spec = calloc(1, sizeof(*spec));

	if (!spec)
		return NULL;
	spec_init(&spec->spec);
	if (dir)
		spec->spec.dir = arena_strdup(&spec->spec.arena, dir);
	return spec;
}

void wrapix_spec_free(struct wrapix_spec *spec)
{
	if (!spec)
		return;
	run_claude_free(spec->claude);
	spec_release(&spec->spec);
	free(spec);
}

int wrapix_spec_set(struct wrapix_spec *spec, const char *key, const char *value,
		    struct wrapix_error *error)
{
	struct err err;

	return spec_set(&spec->spec, key, value, LAYER_FLAG, &err) < 0 ? api_fail(&err, error) : 0;
}

int wrapix_spec_load(struct wrapix_spec *spec, const char *file, struct wrapix_error *error)
{
	struct err err;

	return config_load_file(&spec->spec, file, &err) < 0 ? api_fail(&err, error) : 0;
}

int wrapix_spec_add_mount(struct wrapix_spec *spec, const char *mount, struct wrapix_error *error)
{
	struct err err;

	if (spec_add_mount_string(&spec->spec, mount, LAYER_FLAG, &err) < 0)
		return api_fail(&err, error);
	return 0;
}

int wrapix_spec_add_env(struct wrapix_spec *spec, const char *env, struct wrapix_error *error)
{
	struct err err;

	return spec_add_env_string(&spec->spec, env, LAYER_FLAG, &err) < 0 ? api_fail(&err, error)
									   : 0;
}

int wrapix_spec_add_rule(struct wrapix_spec *spec, const char *host, int deny,
			 struct wrapix_error *error)
{
	struct err err;

	return spec_add_rule(&spec->spec, host, deny, LAYER_FLAG, &err) < 0 ? api_fail(&err, error)
									    : 0;
}

int wrapix_spec_add_publish(struct wrapix_spec *spec, const char *port, struct wrapix_error *error)
{
	struct err err;

	return spec_add_publish(&spec->spec, port, LAYER_FLAG, &err) < 0 ? api_fail(&err, error)
									 : 0;
}

int wrapix_spec_add_host_port(struct wrapix_spec *spec, const char *port,
			      struct wrapix_error *error)
{
	struct err err;

	return spec_add_host_port(&spec->spec, port, LAYER_FLAG, &err) < 0 ? api_fail(&err, error)
									   : 0;
}

int wrapix_spec_add_credential(struct wrapix_spec *spec, const char *credential,
			       struct wrapix_error *error)
{
	struct err err;

	return spec_add_credential_string(&spec->spec, credential, LAYER_FLAG, &err) < 0
		       ? api_fail(&err, error)
		       : 0;
}

void wrapix_spec_set_will_run(struct wrapix_spec *spec)
{
	spec->will_run = true;
}

void wrapix_spec_set_dir(struct wrapix_spec *spec, const char *dir)
{
	spec->spec.dir = arena_strdup(&spec->spec.arena, dir);
}

void wrapix_spec_set_command(struct wrapix_spec *spec, const char *const *argv)
{
	struct strv copy = { 0 };

	for (; argv && *argv; argv++)
		strv_add(&spec->spec.arena, &copy, *argv);
	spec->spec.cmd = copy.v;
}

char *api_base_dir(struct arena *arena, const char *variable, const char *below_home)
{
	const char *value = getenv(variable);

	if (value && value[0] == '/')
		return arena_strdup(arena, value);
	return path_join(arena, user_home(arena), below_home);
}

/* Hosts that are named around a project are of no account where its network is not the filtered one: by a file that is
 * trusted, or by a flag. */
static void drop_hosts_around(struct spec *spec)
{
	size_t n = 0;

	if (spec->net == NET_UNSET || spec->net == NET_FILTERED)
		return;
	for (size_t i = 0; i < spec->n_rules; i++)
		if (spec->rules[i].layer != LAYER_AROUND)
			spec->rules[n++] = spec->rules[i];
	spec->n_rules = n;
}

/* The files of the directories around the project's own from the outside in, then that. */
static int load_files(struct spec *spec, const char *real, struct project_config *ret_project,
		      struct err *err)
{
	_cleanup_close_ int dir = -1;
	struct strv around = { 0 };
	int r = 0;

	project_dirs_around(&spec->arena, real, spec->config_dir, &around);
	for (size_t i = around.len; r == 0 && i-- > 0;) {
		spec->below = path_below(real, around.v[i]);
		r = config_load_around(spec, around.v[i], err);
	}
	if (spec->config_dir)
		dir = open(spec->config_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	spec->below = dir >= 0 ? path_below(real, spec->config_dir) : NULL;
	if (r == 0 && dir >= 0)
		r = config_load_project(spec, dir, spec->config_dir, ret_project, err);
	spec->below = NULL;
	if (r == 0)
		drop_hosts_around(spec);
	return r;
}

int spec_load_layers(struct spec *spec, struct project_config *ret_project, struct err *err)
{
	struct arena *a = &spec->arena;
	char *config_home = api_base_dir(a, "XDG_CONFIG_HOME", ".config");
	char *real = os_realpath(a, spec->dir);
	int r = config_load_user(spec, config_home, err);

	*ret_project = (struct project_config){ 0 };
	/* A directory that cannot be opened is the probe's to explain. */
	spec->config_dir = real ? project_config_dir(a, real) : NULL;
	if (r == 0 && real)
		r = load_files(spec, real, ret_project, err);
	/* A project's own counts when somebody names it. */
	if (r == 0)
		r = config_load_profile(spec, spec->profile ? spec->profile : "base", config_home,
					spec->profile ? ret_project : NULL, err);
	if (r == 0)
		r = spec_load_agent(spec, config_home, ret_project, err);
	return r == 0 ? spec_derive_image(spec, err) : r;
}

int api_load_profile(struct spec *spec, const char *name, struct project_config *ret_project,
		     struct err *err)
{
	struct arena *a = &spec->arena;
	char *config_home = api_base_dir(a, "XDG_CONFIG_HOME", ".config");
	char *real = os_realpath(a, spec->dir ? spec->dir : ".");
	_cleanup_close_ int dir = -1;
	struct spec scratch; /* the project's other wishes are for a run */
	int r = 0;

	*ret_project = (struct project_config){ 0 };
	spec->config_dir = real ? project_config_dir(a, real) : NULL;
	if (spec->config_dir)
		dir = open(spec->config_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	spec_init(&scratch);
	if (dir >= 0)
		r = config_load_project(&scratch, dir, spec->config_dir, ret_project, err);
	spec_release(&scratch);
	ret_project->n_widenings = 0;
	return r < 0 ? r : config_load_profile(spec, name, config_home, ret_project, err);
}

int wrapix_spec_add_protect(struct wrapix_spec *spec, const char *text, struct wrapix_error *error)
{
	struct err err;

	return spec_add_protect(&spec->spec, text, LAYER_FLAG, &err) < 0 ? api_fail(&err, error)
									 : 0;
}

int wrapix_spec_add_package(struct wrapix_spec *spec, const char *package,
			    struct wrapix_error *error)
{
	struct err err;

	return spec_add_package(&spec->spec, package, &err) < 0 ? api_fail(&err, error) : 0;
}
