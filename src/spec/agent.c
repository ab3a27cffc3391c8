/* SPDX-License-Identifier: MIT */
/* Definitions of agents, and where their programs are. */
#include "spec/agent.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"

#define DEFAULT_AGENT "claude"
#define AGENT_HOME "/opt/wrapix" /* AGENT_INSIDE of the plan */

extern const struct embedded builtin_agents[]; /* generated from data/agents/ */

const char *agent_wanted(const struct spec *spec)
{
	if (spec->agent)
		return spec->agent;
	return spec->cmd ? NULL : DEFAULT_AGENT;
}

static void load_list(struct arena *arena, struct json_object *list, struct strv *ret)
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		strv_add(arena, ret, json_object_get_string(json_object_array_get_idx(list, i)));
}

static void load_env(struct arena *arena, struct json_object *map, struct agent *agent)
{
	if (!map)
		return;
	json_object_object_foreach(map, name, value)
	{
		struct env_fact *env = arena_grow(arena, &agent->env, &agent->n_env, sizeof(*env));

		env->name = arena_strdup(arena, name);
		env->value = arena_strdup(arena, json_object_get_string(value));
	}
}

static void load_files(struct arena *arena, struct json_object *map, struct agent *agent)
{
	if (!map)
		return;
	json_object_object_foreach(map, path, value)
	{
		struct agent_file *file = arena_grow(arena, &agent->files, &agent->n_files,
						     sizeof(*file));
		const char *text = json_object_to_json_string_ext(
			value, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);

		file->path = arena_strdup(arena, path);
		file->content = arena_printf(arena, "%s\n", text);
	}
}

/* The table is ours: the unit tests read all of it. */
static void load_credentials(struct arena *arena, struct json_object *map, struct agent *agent)
{
	if (!map)
		return;
	json_object_object_foreach(map, name, value)
	{
		struct credential *c = arena_grow(arena, &agent->credentials, &agent->n_credentials,
						  sizeof(*c));
		struct err ignored;

		c->name = arena_strdup(arena, name);
		(void)credential_read(arena, NULL, value, c, &ignored);
	}
}

int agent_load(struct arena *arena, const char *name, struct agent *ret)
{
	for (const struct embedded *e = builtin_agents; e->name; e++) {
		_cleanup_json_ struct json_object *root = NULL;
		struct err err;
		struct agent agent = { 0 };

		if (strcmp(e->name, name) || json_parse(e->data, e->len, e->name, &root, &err) < 0)
			continue;
		agent.name = arena_strdup(arena, name);
#define GET(key) json_object_object_get(root, key)
		agent.program = arena_strdup(arena, json_object_get_string(GET("program")));
		agent.package = arena_strdup(arena, json_object_get_string(GET("npm")));
		agent.approve_key = arena_strdup(arena,
						 json_object_get_string(GET("approveKeyFrom")));
		agent.notifies = json_object_get_boolean(GET("notifies"));
		load_list(arena, GET("args"), &agent.args);
		load_list(arena, GET("sessions"), &agent.sessions);
		load_list(arena, GET("headless"), &agent.headless);
		agent.dialect = arena_strdup(arena, json_object_get_string(GET("dialect")));
		agent.ask = arena_strdup(arena, json_object_get_string(GET("ask")));
		agent.model = arena_strdup(arena, json_object_get_string(GET("model")));
		agent.budget = arena_strdup(arena, json_object_get_string(GET("budget")));
		agent.settings = arena_strdup(arena, json_object_get_string(GET("settings")));
		load_list(arena, GET("memory"), &agent.memory);
		agent.prompt = arena_strdup(arena, json_object_get_string(GET("prompt")));
		load_credentials(arena, GET("credentials"), &agent);
		load_env(arena, GET("env"), &agent);
		load_files(arena, GET("files"), &agent);
#undef GET
		*ret = agent;
		return 1;
	}
	return 0;
}

void agent_pass_env(struct arena *arena, const struct spec *spec, struct strv *ret)
{
	const char *wanted = agent_wanted(spec);
	struct agent agent;
	struct credential *list;
	struct err ignored; /* the plan says it */
	size_t n = 0;
	bool known = wanted && agent_load(arena, wanted, &agent);

	if (credentials_resolve(arena, spec, known ? &agent : NULL, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].mode == CREDENTIAL_ON)
			strv_add(arena, ret, list[i].name);
}

int agent_add_memory(struct spec *spec, struct err *err)
{
	const char *wanted = agent_wanted(spec);
	struct agent agent = { 0 };
	int r = 0;

	if (!spec->agent_memory || !wanted || !agent_load(&spec->arena, wanted, &agent))
		return 0;
	for (size_t i = 0; r == 0 && i < agent.memory.len; i++)
		r = spec_add_mount_string(spec,
					  arena_printf(&spec->arena, "%s:%s:ro,optional",
						       agent.memory.v[i], agent.memory.v[i]),
					  LAYER_BUILTIN, err);
	return r;
}

static bool visible_inside(const char *path)
{
	return path_is_below(path, "/usr") || path_is_below(path, "/nix/store") ||
	       path_is_below(path, "/bin");
}

char *agent_package_root(struct arena *a, const char *data_home, const char *path)
{
	char *own = arena_printf(a, "%s/wrapix/agents/node_modules", data_home);
	char *dir = path_parent(a, path);

	if (path_is_below(path, own))
		return own;

	while (strcmp(dir, "/")) {
		char *up = path_parent(a, dir);

		if (!strcmp(path_name(up), "node_modules") && path_name(dir)[0] != '@')
			return dir;
		if (path_name(up)[0] == '@' &&
		    !strcmp(path_name(path_parent(a, up)), "node_modules"))
			return dir;
		dir = up;
	}
	return arena_strdup(a, path);
}

/* "#!/usr/bin/env node": the interpreter's own program when it lives outside /usr. */
static void probe_interpreter(struct host *host, const char *program, const char *path_list)
{
	struct arena *a = &host->arena;
	_cleanup_close_ int fd = open(program, O_RDONLY | O_CLOEXEC);
	char line[256] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	char *word, *save = NULL, *found;

	if (n < 3 || strncmp(line, "#!", 2))
		return;
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	if (word && !strcmp(path_name(word), "env"))
		word = strtok_r(NULL, " \t", &save);
	found = word ? os_find_program(a, word, path_list, host->project.top) : NULL;
	found = found ? os_realpath(a, found) : NULL;
	if (found && !visible_inside(found))
		host->agent.interpreter = found;
}

static char *find_program(struct arena *a, const char *program, const char *path_list,
			  const char *data_home, const char *except)
{
	char *own = arena_printf(a, "%s/wrapix/agents/node_modules/.bin", data_home);
	char *found = os_find_program(a, program, path_list, except);

	return found ? found : os_find_program(a, program, own, NULL);
}

char *agent_find_installed(struct arena *arena, const char *program, const char *path_list,
			   const char *data_home, const char *except)
{
	char *found = find_program(arena, program, path_list, data_home, except);

	return found ? os_realpath(arena, found) : NULL;
}

void agent_probe(const struct spec *spec, const char *path_list, struct host *host)
{
	const char *wanted = agent_wanted(spec);
	struct agent_facts *facts = &host->agent;
	struct arena *a = &host->arena;
	struct agent agent = { 0 };
	char *found, *real;

	if (!wanted)
		return;
	facts->name = arena_strdup(a, wanted);
	if (!agent_load(a, wanted, &agent))
		agent.program = arena_strdup(a, wanted);
	if (!strcmp(agent.program, "$SHELL")) {
		facts->program = host->tools.shell;
		return;
	}
	found = find_program(a, agent.program, path_list, host->data_home, host->project.top);
	real = found ? os_realpath(a, found) : NULL;
	if (!real)
		return;
	probe_interpreter(host, real, path_list);
	if (visible_inside(real)) {
		facts->program = visible_inside(found) ? found : real;
		return;
	}
	facts->root = agent_package_root(a, host->data_home, real);
	/* Packages find each other in a directory of this name. */
	if (!strcmp(path_name(facts->root), "node_modules"))
		facts->inner = arena_strdup(a, AGENT_HOME "/agent/node_modules");
	else if (strcmp(facts->root, real))
		facts->inner = arena_strdup(a, AGENT_HOME "/agent");
	else
		facts->inner = arena_printf(a, "%s/bin/%s", AGENT_HOME, path_name(agent.program));
	facts->program = path_join(a, facts->inner, path_below(real, facts->root));
}
