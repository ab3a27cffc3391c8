/* SPDX-License-Identifier: MIT */
/* Agents on this machine: where their programs are, and what of the user's they get. */
#include "spec/agent.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_span.h"
#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"

#define THEME_FILE_MAX ((size_t)4 << 20)
#define THEME_MAX 32
#define AGENT_HOME "/opt/wrapix" /* AGENT_INSIDE of the plan */

void agent_pass_env(struct arena *arena, const struct spec *spec, struct strv *ret)
{
	struct credential *list;
	struct err ignored; /* the plan says it */
	size_t n = 0;

	if (credentials_resolve(arena, spec, spec->definition, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].mode == CREDENTIAL_ON)
			strv_add(arena, ret, list[i].name);
}

int agent_add_memory(struct spec *spec, struct err *err)
{
	const struct agent *agent = spec->definition;
	int r = 0;

	if (!spec->agent_memory || !agent)
		return 0;
	for (size_t i = 0; r == 0 && i < agent->memory.len; i++)
		r = spec_add_mount_string(spec,
					  arena_printf(&spec->arena, "%s:%s:ro,optional",
						       agent->memory.v[i], agent->memory.v[i]),
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

/* A word of letters and hyphens; whatever else stands there is not a theme. */
static bool is_theme(const char *text)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyz-";

	return *text && strlen(text) <= THEME_MAX && !text[strspn(text, chars)];
}

/* What the user has chosen outside; a file that cannot be read says nothing. */
static void probe_theme(const struct agent *agent, struct host *host)
{
	for (size_t i = 0; !host->agent.theme && i < agent->theme_from.len; i++) {
		_cleanup_json_doc_ struct json_doc doc = { 0 };
		_cleanup_free_ char *text = NULL;
		const struct json_span *theme;
		struct err ignored;
		size_t len;
		char *path = path_expand(&host->arena, agent->theme_from.v[i], host->home, NULL);

		if (os_read_file_at(AT_FDCWD, path, THEME_FILE_MAX, &text, &len) < 0 ||
		    json_doc_parse(&doc, text, len, THEME_FILE_MAX, path, &ignored) < 0)
			continue;
		theme = json_span_get(&doc, json_doc_top(&doc), "theme");
		if (theme && theme->string && is_theme(theme->string))
			host->agent.theme = arena_strdup(&host->arena, theme->string);
	}
}

void agent_probe(const struct spec *spec, const char *path_list, struct host *host)
{
	const char *wanted = agent_wanted(spec);
	struct agent_facts *facts = &host->agent;
	struct arena *a = &host->arena;
	const char *program = spec->definition ? spec->definition->program : wanted;
	char *found, *real;

	if (!wanted)
		return;
	facts->name = arena_strdup(a, wanted);
	if (spec->definition)
		probe_theme(spec->definition, host);
	if (!strcmp(program, "$SHELL")) {
		facts->program = host->tools.shell;
		return;
	}
	if (spec->engine == ENGINE_APPLE) { /* the image has it, on its own PATH */
		facts->program = arena_strdup(a, program);
		return;
	}
	found = find_program(a, program, path_list, host->data_home, host->project.top);
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
		facts->inner = arena_printf(a, "%s/bin/%s", AGENT_HOME, path_name(program));
	facts->program = path_join(a, facts->inner, path_below(real, facts->root));
}
