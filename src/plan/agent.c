/* SPDX-License-Identifier: MIT */
/* The command a sandbox runs: the user's, or the agent with its program, files and variables. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "plan/parts.h"
#include "spec/agent.h"

/* A value as it stands between the quotes of a JSON string. */
static void add_json(struct str *out, const char *value)
{
	_cleanup_str_ struct str quoted = { 0 };

	json_add_string(&quoted, value);
	str_addn(out, quoted.s + 1, quoted.len - 2);
}

struct holes {
	const char *cwd, *key_end, *theme, *base_url;
};

/* The text with its placeholders filled; a quoted string is written alike in JSON and in TOML. */
static char *fill(struct arena *arena, const char *text, const struct holes *values)
{
	const struct {
		const char *name, *value;
	} holes[] = { { "${CWD}", values->cwd },
		      { "${KEY_END}", values->key_end },
		      { "${THEME}", values->theme },
		      { "${BASE_URL}", values->base_url } };
	_cleanup_str_ struct str out = { 0 };

	while (*text) {
		size_t i = 0;

		while (i < ARRAY_LEN(holes) &&
		       (!holes[i].value || !str_starts(text, holes[i].name)))
			i++;
		if (i == ARRAY_LEN(holes)) {
			str_addn(&out, text++, 1);
			continue;
		}
		add_json(&out, holes[i].value);
		text += strlen(holes[i].name);
	}
	return arena_strdup(arena, out.s ? out.s : "");
}

/* The last characters of a key that the user let in, by which the agent knows it again. */
static const char *key_end(const struct plan *plan, const struct agent *agent)
{
	size_t len = agent->approve_key ? strlen(agent->approve_key) : 0;

	for (size_t i = 0; len && i < plan->env.len; i++) {
		const char *value = plan->env.v[i] + len + 1;

		if (strncmp(plan->env.v[i], agent->approve_key, len) || value[-1] != '=')
			continue;
		return strlen(value) > 20 ? value + strlen(value) - 20 : value;
	}
	return "";
}

/* The key comes later, from the store. */
static bool key_is_due(const struct plan *plan, const struct agent *agent)
{
	for (size_t i = 0; agent->approve_key && i < plan->n_credentials; i++) {
		const struct plan_credential *c = &plan->credentials[i];

		if (!c->is_set && !c->port && !strcmp(c->about.name, agent->approve_key))
			return true;
	}
	return false;
}

void plan_fill_key_end(struct plan *plan)
{
	const struct agent agent = { .approve_key = plan->key_due };

	for (size_t i = 0; plan->key_due && i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_FILE && strstr(plan->ops[i].src, "${KEY_END}"))
			plan->ops[i].src = fill(
				&plan->arena, plan->ops[i].src,
				&(struct holes){ .key_end = key_end(plan, &agent) });
}

static void stage(struct plan *plan, const struct staged_files *files, const struct holes *holes)
{
	struct arena *a = &plan->arena;

	for (size_t i = 0; i < files->len; i++) {
		const char *path = files->v[i].path;

		plan_add(plan, OP_FILE, path[0] == '~' ? path_join(a, HOME_INSIDE, path + 2) : path,
			 fill(a, files->v[i].content, holes), OPF_OPTIONAL)
			->mode = path[0] == '~' ? 0600 : 0644;
	}
}

/* What leads the agent to a credential: to the relay, or to its own place. */
static void add_credential_files(struct plan *plan, const struct plan_credential *c)
{
	struct arena *a = &plan->arena;
	const char *upstream = c->about.upstream;

	if (!c->port && !c->is_set && !c->named)
		return;
	stage(plan, &c->about.files,
	      &(struct holes){
		      .cwd = plan->cwd,
		      .base_url = c->port ? plan_relay_url(plan, c)
					  : arena_strndup(a, upstream, strlen(upstream) - 1),
	      });
}

static void add_files(struct plan *plan, const struct agent *agent, const struct agent_facts *facts)
{
	struct arena *a = &plan->arena;

	if (key_is_due(plan, agent))
		plan->key_due = arena_strdup(a, agent->approve_key);
	stage(plan, &agent->files,
	      &(struct holes){
		      .cwd = plan->cwd,
		      .key_end = plan->key_due ? NULL : key_end(plan, agent),
		      .theme = facts->theme ? facts->theme : "dark",
	      });
	for (size_t i = 0; i < plan->n_credentials; i++)
		if (plan->credentials[i].about.files.len)
			add_credential_files(plan, &plan->credentials[i]);
}

/* What the agent wrote down of its sessions, for the next one. A kept home has them anyway. */
static void add_sessions(struct plan *plan, const struct agent *agent, const struct spec *spec,
			 const struct host *host)
{
	struct arena *a = &plan->arena;

	for (size_t i = 0; spec->home != HOME_KEEP && i < agent->sessions.len; i++) {
		const char *inside = agent->sessions.v[i] + 2;

		plan_add(plan, OP_BIND, path_join(a, HOME_INSIDE, inside),
			 arena_printf(a, "%s/wrapix/agents/%s/%s/%s", host->state_home,
				      plan->home_key, agent->name, path_name(inside)),
			 OPF_DIR | OPF_MAKE | OPF_CHECK);
	}
}

static const char *const network_words[] = {
	[NET_OPEN] = "The network is open, but for services of the user's machine.",
	[NET_NONE] = "There is no network.",
	[NET_HOST] = "The network is the user's machine's own.",
	[NET_FILTERED] = "The network reaches some hosts only; the sandbox refuses the others.",
};

/* A word to the agent about where it is. */
static void add_prompt(struct plan *plan, const struct agent *agent)
{
	struct arena *a = &plan->arena;
	const char *path = agent->prompt;

	if (!path)
		return;
	plan_add(plan, OP_FILE, path[0] == '~' ? path_join(a, HOME_INSIDE, path + 2) : path,
		 arena_printf(
			 a,
			 "# The sandbox\n\n"
			 "You work in a sandbox that wrapix made. %s is the user's project, and "
			 "%s. Your home and /tmp are private and gone afterwards; the rest is "
			 "read-only, and you are not root. %s What is refused is refused on "
			 "purpose: do not look for ways around it, but tell the user, whom "
			 "`wrapix log` shows what it was%s.\n",
			 WORKSPACE_INSIDE,
			 plan->cow_base ? "the user reviews what you change there"
					: "what you change there is changed at once",
			 network_words[plan->net],
			 plan->net == NET_FILTERED ? " and `wrapix allow HOST` opens a host" : ""),
		 OPF_OPTIONAL)
		->mode = 0644;
}

static void add_env(struct plan *plan, const struct agent *agent, const struct spec *spec)
{
	for (size_t i = 0; i < agent->n_env; i++) {
		bool named = false;

		for (size_t j = 0; j < spec->n_env; j++)
			named |= !strcmp(spec->env[j].name, agent->env[i].name);
		if (!named)
			plan_setenv(plan, agent->env[i].name, agent->env[i].value);
	}
}

static void add_program(struct plan *plan, const struct agent *agent,
			const struct agent_facts *facts)
{
	struct arena *a = &plan->arena;
	const char *name = path_name(agent->program);
	bool dir = facts->root && strcmp(facts->program, facts->inner);

	if (facts->root)
		plan_add(plan, OP_BIND, facts->inner, facts->root,
			 OPF_RO | OPF_CHECK | (dir ? OPF_DIR | OPF_RECURSIVE : 0));
	if (dir)
		plan_add(plan, OP_LINK, arena_printf(a, "%s/bin/%s", AGENT_INSIDE, name),
			 facts->program, 0);
	if (facts->interpreter)
		plan_add(plan, OP_BIND,
			 arena_printf(a, "%s/bin/%s", AGENT_INSIDE, path_name(facts->interpreter)),
			 facts->interpreter, OPF_RO | OPF_CHECK);
}

static char *how_to_get(struct arena *a, const struct spec *spec, const struct agent *agent)
{
	_cleanup_str_ struct str names = { 0 };

	if (agent->package)
		return arena_printf(a, "npm install -g %s", agent->package);
	if (spec->definition)
		return arena_strdup(a, "install it first");
	agent_add_names(&names);
	return arena_printf(a, "wrapix knows %s; others are programs on PATH, or named by a path",
			    names.s);
}

static int without_agent(struct plan *plan, const struct spec *spec, const struct agent *agent,
			 const struct host *host, struct err *err)
{
	char *how = how_to_get(&plan->arena, spec, agent);

	if (spec->agent) {
		err_set(err, ENOENT, "the agent '%s' is not installed", spec->agent);
		err->exit = EXIT_NOTFOUND;
		return err_hint(err, "%s", how);
	}
	strv_add(&plan->arena, &plan->argv, host->tools.shell);
	strv_addf(&plan->arena, &plan->says,
		  "no agent is installed, so this is a shell; for %s: %s", agent->name, how);
	return plan_credentials(plan, spec, host, NULL, err);
}

int plan_agent(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err)
{
	const struct agent_facts *facts = &host->agent;
	struct agent agent = { .name = facts->name, .program = facts->name };
	int r;

	for (char **word = spec->cmd; word && *word; word++)
		strv_add(&plan->arena, &plan->argv, *word);
	if (!facts->name)
		return plan_credentials(plan, spec, host, NULL, err);
	if (spec->definition)
		agent = *spec->definition;
	if (!facts->program)
		return spec->cmd && !spec->agent ? 0 : without_agent(plan, spec, &agent, host, err);
	add_program(plan, &agent, facts);
	r = plan_credentials(plan, spec, host, &agent, err);
	if (r < 0)
		return r;
	add_env(plan, &agent, spec);
	add_sessions(plan, &agent, spec, host);
	add_files(plan, &agent, facts);
	add_prompt(plan, &agent);
	if (spec->cmd)
		return 0;
	strv_add(&plan->arena, &plan->argv, facts->program);
	for (char **word = spec->agent_args ? spec->agent_args : agent.args.v; word && *word;
	     word++)
		strv_add(&plan->arena, &plan->argv, *word);
	return 0;
}
