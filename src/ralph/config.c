/* SPDX-License-Identifier: MIT */
/* Reading the key "ralph": a table of keys, each with where it goes. */
#include "ralph/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api.h"
#include "base/json.h"
#include "base/path.h"
#include "cow/paths.h"
#include "os/fs.h"
#include "spec/config.h"
#include "spec/project.h"

const char *const phase_names[PHASE_COUNT] = { "plan", "ready", "step", "check", "judge" };
const char *const hook_names[HOOK_COUNT] = { "pre-loop", "pre-step", "post-step", "post-loop" };

struct key {
	const char *name;
	int (*read)(struct ralph_config *config, const struct key *key, const struct json_at *at,
		    struct json_object *value, struct err *err);
	size_t offset;
	int64_t min, max;
	bool limits; /* what is spent */
};

int parse_duration(const char *text, int64_t *ret, struct err *err)
{
	static const char units[] = "smhd";
	static const int64_t seconds[] = { 1, 60, 3600, 86400 };
	const char *unit;
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	unit = *end ? strchr(units, *end) : units;
	if (end == text || errno || n <= 0 || !unit || (*end && end[1]) || n > 100000000)
		return err_usage(err, "'%s' is no time; say it as '90s', '30m' or '2h'", text);
	*ret = n * seconds[unit - units];
	return 0;
}

static int read_string(struct ralph_config *config, const struct key *key, const struct json_at *at,
		       struct json_object *value, struct err *err)
{
	const char *text;
	int r = json_get_string(at, value, &text, err);

	if (r == 0 && !*text)
		return json_err_type(at, value, "a text", err);
	if (r == 0)
		*(char **)((char *)config + key->offset) = arena_strdup(&config->arena, text);
	return r;
}

/* A program of the host's is the user's to name. */
static int read_agent(struct ralph_config *config, const struct key *key, const struct json_at *at,
		      struct json_object *value, struct err *err)
{
	int r = read_string(config, key, at, value, err);

	if (r == 0 && config->from_project && strchr(config->agent, '/'))
		return json_err_type(
			at, value, "the name of an agent: a project's file names no program", err);
	return r;
}

/* The user's own holds in every project: a project's is one more, and not in its place. */
static int read_gate(struct ralph_config *config, const struct key *key, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	char *users = config->from_project ? config->gate : NULL;
	int r = read_string(config, key, at, value, err);

	config->users_gate = r == 0 && users && strcmp(users, config->gate) != 0 ? users : NULL;
	return r;
}

/* A path below the project. */
static int read_path(struct ralph_config *config, const struct key *key, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	int r = read_string(config, key, at, value, err);
	char **path = (char **)((char *)config + key->offset);

	if (r < 0)
		return r;
	*path = path_join(&config->arena, "", *path);
	if (!path_is_plain(*path) || is_in_git(*path))
		return json_err_type(at, value, "a path in the project", err);
	return 0;
}

static int read_bool(struct ralph_config *config, const struct key *key, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	return json_get_bool(at, value, (bool *)((char *)config + key->offset), err);
}

/* Where the user has a limit, the project's can only be a smaller one. */
static void limit(const struct ralph_config *config, const struct key *key, int64_t *to, int64_t n)
{
	if (!(config->from_project && key->limits && *to && *to < n))
		*to = n;
}

/* By the user's own git, with what it may: nothing that a project decides by itself. */
static int read_push(struct ralph_config *config, const struct key *key, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	bool users = config->push;
	int r = read_bool(config, key, at, value, err);

	config->push_asked = config->from_project && config->push && !users;
	return r;
}

static int read_int(struct ralph_config *config, const struct key *key, const struct json_at *at,
		    struct json_object *value, struct err *err)
{
	int64_t n = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
	char what[64];

	snprintf(what, sizeof(what), "a number from %lld to %lld", (long long)key->min,
		 (long long)key->max);
	if (n < key->min || n > key->max)
		return json_err_type(at, value, what, err);
	limit(config, key, (int64_t *)((char *)config + key->offset), n);
	return 0;
}

static int read_money(struct ralph_config *config, const struct key *key, const struct json_at *at,
		      struct json_object *value, struct err *err)
{
	double n = json_object_is_type(value, json_type_int) ||
				   json_object_is_type(value, json_type_double)
			   ? json_object_get_double(value)
			   : -1;
	double users;

	if (!(n > 0 && n < 1e6))
		return json_err_type(at, value, "a sum in dollars", err);
	memcpy(&users, (char *)config + key->offset, sizeof(users));
	if (!(config->from_project && users > 0 && users < n))
		memcpy((char *)config + key->offset, &n, sizeof(n));
	return 0;
}

static int read_time(struct ralph_config *config, const struct key *key, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	const char *text;
	int64_t seconds;
	int r = json_get_string(at, value, &text, err);

	if (r == 0 && parse_duration(text, &seconds, err) < 0)
		return json_err_type(at, value, "a time such as \"30m\"", err);
	if (r == 0)
		limit(config, key, (int64_t *)((char *)config + key->offset), seconds);
	return r;
}

static int read_protect(struct ralph_config *config, _unused_ const struct key *key,
			const struct json_at *at, struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_array, err);
	size_t n = r == 0 ? json_object_array_length(value) : 0;

	if (!config->from_project) /* what the user protects stays so */
		config->protect = (struct strv){ 0 };
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct json_object *entry = json_object_array_get_idx(value, i);
		const char *text;

		r = json_get_string(JSON_INDEX(at, i), entry, &text, err);
		if (r < 0)
			return r;
		text = path_join(&config->arena, "", text);
		if (!path_is_plain(text))
			return json_err_type(JSON_INDEX(at, i), entry, "a path in the project",
					     err);
		strv_add(&config->arena, &config->protect, text);
	}
	return r;
}

static int read_models(struct ralph_config *config, _unused_ const struct key *key,
		       const struct json_at *at, struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, name, model)
	{
		const char *text;
		size_t i = 0;

		while (i < PHASE_COUNT && strcmp(phase_names[i], name) != 0)
			i++;
		if (i == PHASE_COUNT)
			return json_err_key(JSON_KEY(at, name), phase_names, PHASE_COUNT, err);
		r = json_get_string(JSON_KEY(at, name), model, &text, err);
		if (r < 0)
			return r;
		if (!*text || *text == '-')
			return json_err_type(JSON_KEY(at, name), model, "the name of a model", err);
		config->models[i] = arena_strdup(&config->arena, text);
	}
	return 0;
}

static int read_failure(const struct json_at *at, struct json_object *value, enum hook_failure *ret,
			struct err *err)
{
	static const char *const words[] = { "block", "warn", "skip" };
	const char *text;
	int r = json_get_string(at, value, &text, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i], text)) {
			*ret = (enum hook_failure)i;
			return 0;
		}
	return r < 0 ? r : json_err_type(at, value, "\"block\", \"warn\" or \"skip\"", err);
}

/* "command", or { "run": "command", "onFailure": "warn" } */
static int read_hook(struct ralph_config *config, const struct json_at *at,
		     struct json_object *value, struct hook_config *hook, struct err *err)
{
	static const char *const words[] = { "run", "onFailure" };
	const char *text;
	int r;

	*hook = (struct hook_config){ 0 };
	if (json_object_is_type(value, json_type_string)) {
		hook->run = arena_strdup(&config->arena, json_object_get_string(value));
		return 0;
	}
	r = json_object_is_type(value, json_type_object)
		    ? 0
		    : json_err_type(at, value, "a command, or an object with \"run\"", err);
	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		const struct json_at *here = JSON_KEY(at, name);

		if (!strcmp(name, "run")) {
			r = json_get_string(here, entry, &text, err);
			if (r == 0)
				hook->run = arena_strdup(&config->arena, text);
		} else if (!strcmp(name, "onFailure")) {
			r = read_failure(here, entry, &hook->on_failure, err);
		} else {
			r = json_err_key(here, words, ARRAY_LEN(words), err);
		}
		if (r < 0)
			return r;
	}
	return hook->run ? 0 : json_err_type(at, value, "an object with \"run\"", err);
}

static int read_hooks(struct ralph_config *config, _unused_ const struct key *key,
		      const struct json_at *at, struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		size_t i = 0;

		while (i < HOOK_COUNT && strcmp(hook_names[i], name) != 0)
			i++;
		if (i == HOOK_COUNT)
			return json_err_key(JSON_KEY(at, name), hook_names, HOOK_COUNT, err);
		if (config->from_project)
			config->users_hooks[i] = config->hooks[i];
		r = read_hook(config, JSON_KEY(at, name), entry, &config->hooks[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

#define AT(field) offsetof(struct ralph_config, field)
static const struct key keys[] = {
	{ "agent", read_agent, AT(agent), 0, 0 },
	{ "attempts", read_int, AT(attempts), 1, 100 },
	{ "commit", read_bool, AT(commit), 0, 0 },
	{ "gate", read_gate, AT(gate), 0, 0 },
	{ "grace", read_time, AT(grace), 0, 0 },
	{ "hooks", read_hooks, 0, 0, 0 },
	{ "keepLogs", read_int, AT(keep_logs), 1, 100000 },
	{ "maxCost", read_money, AT(max_cost), 0, 0 },
	{ "maxSteps", read_int, AT(max_steps), 1, 100000, true },
	{ "maxTime", read_time, AT(max_time), 0, 0, true },
	{ "models", read_models, 0, 0, 0 },
	{ "parallel", read_int, AT(parallel), 1, 16 },
	{ "pinned", read_path, AT(pinned), 0, 0 },
	{ "protect", read_protect, 0, 0, 0 },
	{ "push", read_push, AT(push), 0, 0 },
	{ "silence", read_time, AT(silence), 0, 0 },
	{ "specs", read_path, AT(specs), 0, 0 },
	{ "stepCost", read_money, AT(step_cost), 0, 0 },
	{ "stepTime", read_time, AT(step_time), 0, 0, true },
};

int ralph_config_take(struct ralph_config *config, struct json_object *object, struct err *err)
{
	const struct json_at *top = JSON_KEY(NULL, "ralph");
	int r = json_check_type(top, object, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(object, name, value)
	{
		const char *words[ARRAY_LEN(keys)];
		const struct key *key = NULL;

		for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
			words[i] = keys[i].name;
			if (!strcmp(keys[i].name, name))
				key = &keys[i];
		}
		if (!key)
			return json_err_key(JSON_KEY(top, name), words, ARRAY_LEN(words), err);
		r = key->read(config, key, JSON_KEY(top, name), value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void ralph_config_init(struct ralph_config *config)
{
	*config = (struct ralph_config){
		.commit = true,
		.attempts = 3,
		.parallel = 1,
		.silence = 900,
		.grace = 10,
		.keep_logs = 200,
	};
	config->specs = arena_strdup(&config->arena, "specs");
	config->pinned = arena_strdup(&config->arena, "specs/README.md");
}

static int take_text(struct ralph_config *config, const char *path, const char *text, size_t len,
		     struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *object;
	int r;

	if (!text)
		return 0;
	r = json_parse(text, len, path, &root, err);
	if (r < 0 || !json_object_is_type(root, json_type_object) ||
	    !json_object_object_get_ex(root, "ralph", &object))
		return r;
	r = ralph_config_take(config, object, err);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Where a protected path is a link, or lies behind one: the links on the way, and what they lead to in the project. */
static void protect_behind(struct ralph_config *config, const char *top, const char *path)
{
	struct arena *a = &config->arena;
	const char *real_top = os_realpath(a, top), *real, *below;
	bool linked = false;

	for (const char *end = path; *end; end += *end == '/') {
		const char *part;
		struct stat st;

		end += strcspn(end, "/");
		part = arena_strndup(a, path, (size_t)(end - path));
		if (lstat(path_join(a, top, part), &st) < 0 || !S_ISLNK(st.st_mode))
			continue;
		linked = true;
		strv_add(a, &config->protect, part);
	}
	real = linked ? os_realpath(a, path_join(a, top, path)) : NULL;
	below = real && real_top ? path_below(real, real_top) : NULL;
	if (below && *below)
		strv_add(a, &config->protect, below);
}

static int take_users(struct ralph_config *config, struct err *err)
{
	struct arena *a = &config->arena;
	const char *path = path_join(a, api_base_dir(a, "XDG_CONFIG_HOME", ".config"),
				     "wrapix/config.json");
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = config_read(path, &text, &len, err);

	return r < 0 ? r : take_text(config, path, text, len, err);
}

/* Kept, for what runs outside is what was looked at. */
static int take_projects(struct ralph_config *config, const char *dir, struct err *err)
{
	struct arena *a = &config->arena;
	_cleanup_free_ char *text = NULL;
	int r = config_read_project(dir, &text, &config->len, err);

	if (r == 0 && text)
		config->text = arena_strndup(a, text, config->len);
	return r < 0 ? r
		     : take_text(config, path_join(a, dir, "wrapix.json"), config->text,
				 config->len, err);
}

int ralph_config_load(struct ralph_config *config, const struct site *site, struct err *err)
{
	char *dir;
	size_t n;
	int r;

	ralph_config_init(config);
	dir = project_config_dir(&config->arena, site->top);
	r = take_users(config, err);
	config->from_project = true;
	if (r == 0 && dir)
		r = take_projects(config, dir, err);
	n = config->protect.len;
	for (size_t i = 0; r == 0 && i < n; i++)
		protect_behind(config, site->top, config->protect.v[i]);
	return r;
}

const char *config_gate(const struct ralph_config *config, struct arena *arena)
{
	return config->users_gate
		       ? arena_printf(arena, "%s; then %s", config->users_gate, config->gate)
		       : config->gate;
}

void ralph_config_release(struct ralph_config *config)
{
	arena_release(&config->arena);
}

static int check_same(const struct ralph_config *config, const struct project_config *project,
		      struct err *err)
{
	if (config->text && project->bytes && project->len == config->len &&
	    !memcmp(config->text, project->bytes, config->len))
		return 0;
	return err_set(err, ESTALE, "the project's wrapix.json has changed meanwhile");
}

int ralph_config_is_trusted(const struct ralph_config *config, const struct site *site,
			    struct err *err)
{
	struct project_config project = { 0 };
	struct spec spec;
	int r;

	spec_init(&spec);
	spec.dir = arena_strdup(&spec.arena, site->top);
	r = spec_load_layers(&spec, &project, err);
	if (r == 0)
		r = trust_check_host(&project, spec.config_dir ? spec.config_dir : site->top,
				     site->state_home, err);
	if (r == 0)
		r = check_same(config, &project, err);
	project_config_release(&project);
	spec_release(&spec);
	return r;
}
