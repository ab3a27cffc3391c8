/* SPDX-License-Identifier: MIT */
/*
 * Definitions of agents: the built-in ones, which are data/agents/ put into the program, and the user's
 * own in ~/.config/wrapix/agents/, which come before those of the same name. One table of keys reads both.
 */
#include <errno.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/path.h"
#include "spec/agent.h"
#include "spec/config.h"
#include "spec/widen.h"

#define DEFAULT_AGENT "claude"

extern const struct embedded builtin_agents[]; /* generated from data/agents/ */

struct definition {
	struct arena *arena;
	struct agent *agent;
};

const char *agent_wanted(const struct spec *spec)
{
	enum layer layer;

	if (spec->agent &&
	    !(spec->agentless && spec_layer(spec, "agent", &layer) && layer == LAYER_PROJECT))
		return spec->agent;
	return spec->cmd ? NULL : DEFAULT_AGENT;
}

/* --- kinds of values --- */

static int read_string(const struct definition *d, const struct json_at *at,
		       struct json_object *value, void *to, struct err *err)
{
	const char *text;
	int r = json_get_string(at, value, &text, err);

	if (r == 0)
		*(char **)to = arena_strdup(d->arena, text);
	return r;
}

static int read_bool(const struct definition *d, const struct json_at *at,
		     struct json_object *value, void *to, struct err *err)
{
	(void)d;
	return json_get_bool(at, value, to, err);
}

static int read_list(const struct definition *d, const struct json_at *at,
		     struct json_object *value, void *to, struct err *err)
{
	return json_get_strings(d->arena, at, value, to, err);
}

static int read_env(const struct definition *d, const struct json_at *at, struct json_object *value,
		    void *to, struct err *err)
{
	struct agent *agent = d->agent;
	int r = json_check_type(at, value, json_type_object, err);

	(void)to;
	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		struct env_fact *env = arena_grow(d->arena, &agent->env, &agent->n_env,
						  sizeof(*env));

		env->name = arena_strdup(d->arena, name);
		r = read_string(d, JSON_KEY(at, name), entry, &env->value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* An object is a JSON file, a string the text of any other. */
static int read_file(const struct definition *d, const struct json_at *at, const char *path,
		     struct json_object *value, struct staged_file *ret, struct err *err)
{
	const char *below = path[0] == '~' ? path + 1 : path;

	if (below[0] != '/' || strcmp(path_join(d->arena, "/", below), below) != 0)
		return err_usage(err, "'%s' is no clean path that begins with '/' or '~/'", path);
	if (json_object_is_type(value, json_type_string))
		ret->content = arena_strdup(d->arena, json_object_get_string(value));
	else if (json_object_is_type(value, json_type_object))
		ret->content = arena_printf(
			d->arena, "%s\n",
			json_object_to_json_string_ext(
				value, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		return json_err_type(at, value, "an object or a string", err);
	ret->path = arena_strdup(d->arena, path);
	return 0;
}

static int read_files(const struct definition *d, const struct json_at *at,
		      struct json_object *value, void *to, struct err *err)
{
	struct staged_files *files = to;
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, path, entry)
	{
		struct staged_file *file = arena_grow(d->arena, &files->v, &files->len,
						      sizeof(*file));

		r = read_file(d, JSON_KEY(at, path), path, entry, file, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_credentials(const struct definition *d, const struct json_at *at,
			    struct json_object *value, void *to, struct err *err)
{
	struct agent *agent = d->agent;
	int r = json_check_type(at, value, json_type_object, err);

	(void)to;
	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		const struct json_at *place = JSON_KEY(at, name);
		struct credential *c = arena_grow(d->arena, &agent->credentials,
						  &agent->n_credentials, sizeof(*c));
		struct json_object *files;

		c->name = arena_strdup(d->arena, name);
		r = json_check_type(place, entry, json_type_object, err);
		if (r == 0 && json_object_object_get_ex(entry, "files", &files)) {
			r = read_files(d, JSON_KEY(place, "files"), files, &c->files, err);
			json_object_object_del(entry, "files");
		}
		if (r == 0)
			r = credential_read(d->arena, place, entry, c, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the table --- */

static const struct {
	const char *key;
	int (*read)(const struct definition *d, const struct json_at *at, struct json_object *value,
		    void *to, struct err *err);
	size_t offset;
} rows[] = {
	{ "name", read_string, offsetof(struct agent, name) },
	{ "program", read_string, offsetof(struct agent, program) },
	{ "npm", read_string, offsetof(struct agent, package) },
	{ "args", read_list, offsetof(struct agent, args) },
	{ "sessions", read_list, offsetof(struct agent, sessions) },
	{ "headless", read_list, offsetof(struct agent, headless) },
	{ "dialect", read_string, offsetof(struct agent, dialect) },
	{ "ask", read_string, offsetof(struct agent, ask) },
	{ "model", read_string, offsetof(struct agent, model) },
	{ "budget", read_string, offsetof(struct agent, budget) },
	{ "settings", read_string, offsetof(struct agent, settings) },
	{ "memory", read_list, offsetof(struct agent, memory) },
	{ "prompt", read_string, offsetof(struct agent, prompt) },
	{ "notifies", read_bool, offsetof(struct agent, notifies) },
	{ "env", read_env, 0 },
	{ "domains", read_list, offsetof(struct agent, domains) },
	{ "credentials", read_credentials, 0 },
	{ "approveKeyFrom", read_string, offsetof(struct agent, approve_key) },
	{ "themeFrom", read_list, offsetof(struct agent, theme_from) },
	{ "files", read_files, offsetof(struct agent, files) },
};

static int read_member(const struct definition *d, const char *key, struct json_object *value,
		       struct err *err)
{
	const char *words[ARRAY_LEN(rows)];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!strcmp(rows[i].key, key))
			return rows[i].read(d, JSON_KEY(NULL, key), value,
					    (char *)d->agent + rows[i].offset, err);
		words[i] = rows[i].key;
	}
	return json_err_key(JSON_KEY(NULL, key), words, ARRAY_LEN(words), err);
}

int agent_read(struct arena *arena, const char *name, const char *text, size_t len,
	       const char *origin, struct agent *ret, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	struct agent agent = { 0 };
	const struct definition d = { arena, &agent };
	int r = json_parse(text, len, origin, &root, err);

	if (r < 0)
		return r;
	r = json_check_type(NULL, root, json_type_object, err);
	if (r == 0) {
		json_object_object_foreach(root, key, value)
		{
			r = read_member(&d, key, value, err);
			if (r < 0)
				break;
		}
	}
	if (r == 0 && (!agent.name || strcmp(agent.name, name) != 0))
		r = err_usage(err, "its name must be \"%s\", as the file's is", name);
	if (r == 0 && (!agent.program || !*agent.program))
		r = err_usage(err, "it has no program");
	if (r < 0)
		return err_wrap(err, "%s", origin);
	*ret = agent;
	return 1;
}

int agent_load(struct arena *arena, const char *name, const char *config_home, struct agent *ret,
	       struct err *err)
{
	_cleanup_free_ char *text = NULL;
	char *path;
	size_t len;
	int r;

	if (config_home && name[0] != '.' && !strchr(name, '/')) {
		path = arena_printf(arena, "%s/wrapix/agents/%s.json", config_home, name);
		r = config_read(path, &text, &len, err);
		if (r < 0)
			return r;
		if (text)
			return agent_read(arena, name, text, len, path, ret, err);
	}
	for (const struct embedded *e = builtin_agents; e->name; e++)
		if (!strcmp(e->name, name))
			return agent_read(arena, name, e->data, e->len, e->name, ret, err);
	return 0;
}

void agent_add_names(struct str *out)
{
	for (const struct embedded *e = builtin_agents; e->name; e++)
		str_addf(out, "%s%s", e == builtin_agents ? "" : ", ", e->name);
}

bool agent_is_built_in(const char *name)
{
	for (const struct embedded *e = builtin_agents; e->name; e++)
		if (!strcmp(e->name, name))
			return true;
	return false;
}

int spec_load_agent(struct spec *spec, const char *config_home, struct project_config *project,
		    struct err *err)
{
	const char *wanted = agent_wanted(spec);
	struct agent *agent = arena_alloc(&spec->arena, sizeof(*agent));
	int r = wanted ? agent_load(&spec->arena, wanted, config_home, agent, err) : 0;

	if (!wanted || r < 0)
		return r;
	spec->definition = r > 0 ? agent : NULL;
	widen_agent(project, spec);
	for (size_t i = 0; r > 0 && i < agent->domains.len; i++)
		if (spec_add_rule(spec, agent->domains.v[i], false, LAYER_PROFILE, err) < 0)
			return err_wrap(err, "agent '%s'", wanted);
	return 0;
}
