/* SPDX-License-Identifier: MIT */
/*
 * Which values of a project's wrapix.json widen what the sandbox gets.
 *
 * A cloned repository is hostile, so the question for each value is: does the sandbox, or whoever
 * wrote the file, get something that neither the defaults nor the user's own configuration give?
 * When in doubt it widens: the price is one look and one 'wrapix trust'.
 */
#include "spec/widen.h"

#include <fnmatch.h>
#include <string.h>

#include "base/json.h"
#include "spec/agent.h"

static void note(struct project_config *project, const char *key, const char *shown)
{
	struct arena *a = &project->arena;
	struct widening *w = arena_grow(a, &project->widenings, &project->n_widenings, sizeof(*w));

	*w = (struct widening){ arena_strdup(a, key), arena_strdup(a, shown), NULL };
}

/* Kept apart: nobody is asked for it alone. */
static void note_other(struct project_config *project, const char *key, const char *shown,
		       const char *when)
{
	struct arena *a = &project->arena;
	struct widening *w = arena_grow(a, &project->others, &project->n_others, sizeof(*w));

	*w = (struct widening){ arena_strdup(a, key), arena_strdup(a, shown), when };
}

/* By the user, or by a file around the project's. */
static bool is_settled(enum layer layer)
{
	return layer == LAYER_USER || layer == LAYER_AROUND;
}

/* Not by the project, whose other keys are laid already. */
static bool says(const struct spec *spec, const char *key)
{
	enum layer layer;

	return spec_layer(spec, key, &layer) && layer != LAYER_PROJECT;
}

/* Every one. What leads out of the project is another's. What stays in it is a second door to what is read-only, held,
 * watched, private or not to be read in the workspace: nobody stands there, and a link on the way says nothing. And what
 * it covers, in the home or elsewhere, is taken for the user's, the agent's or the system's. */
void widen_mount(struct project_config *project, const char *place, const struct mount_spec *mount)
{
	_cleanup_str_ struct str shown = { 0 };

	json_add_string(&shown, mount->src);
	str_add(&shown, " at ");
	json_add_string(&shown, mount->dest);
	str_add(&shown, mount->rw ? ", read-write" : ", read-only");
	note(project, place, shown.s);
}

/* Where the agent sends the user's key and words, and what is loaded into it before it starts. Other
 * variables reach only programs of the project, which the sandbox runs anyway. */
static const char *const steering[] = {
	"ANTHROPIC_*",    "CLAUDE_*",     "OPENAI_*",    "CODEX_*",     "GEMINI_*",
	"GOOGLE_*",       "AWS_*",        "AZURE_*",     "*_URL",       "*_HOST",
	"*_ENDPOINT*",    "*_API_KEY",    "*_TOKEN",     "*_PROXY",     "SSL*",
	"*_CA_*",         "NODE_OPTIONS", "NODE_PATH",   "NODE_TLS_*",  "LD_*",
	"GLIBC_*",        "PATH",         "BASH_ENV",    "ENV",         "GIT_*",
	"SSH_*",          "XDG_*",        "WRAPIX*",     "OPENCODE_*",  "BUN_*",
	"OPENSSL_*",      "GCONV_PATH",   "PYTHONP*",    "PYTHONHOME",  "PYTHONSTARTUP",
	"PYTHONUSERBASE", "PERL5*",       "RUBYOPT",     "RUBYLIB",     "*JAVA*_OPTIONS",
	"DENO_*",         "NPM_CONFIG_*", "*_API_BASE",  "SHELL",       "ZDOTDIR",
	"LOCPATH",        "HOSTALIASES",  "LOCALDOMAIN", "RES_OPTIONS", "NODE_COMPILE*",
};

static bool steers(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(steering); i++)
		if (!fnmatch(steering[i], name, FNM_CASEFOLD))
			return true;
	return false;
}

void widen_env(struct project_config *project, const struct spec *spec, const char *name,
	       const char *value)
{
	_cleanup_str_ struct str key = { 0 }, shown = { 0 };
	const struct env_spec *own = spec_find_env(spec, name);

	if (value && !steers(name) && !(own && own->layer == LAYER_USER))
		return;
	str_add(&key, "env.");
	str_add_escaped(&key, name);
	if (value)
		json_add_string(&shown, value);
	else
		str_add(&shown, "the value it has outside");
	note(project, key.s, shown.s);
}

/* The rules for scalars: 'now' is what holds without the project, 'want' holds the project's value.
 * users: the user's own configuration, or a file around the project's, has set the key. */

static bool network_widens(const struct spec *now, const struct spec *want, bool users)
{
	static const int rank[] = {
		[NET_UNSET] = 2, [NET_NONE] = 0, [NET_FILTERED] = 1, [NET_OPEN] = 2, [NET_HOST] = 3
	};

	return rank[want->net] > rank[users ? now->net : NET_UNSET];
}

/* Naming a host is asking for a filter, by a flag and in the user's own file. */
static bool user_names_hosts(const struct spec *spec)
{
	for (size_t i = 0; i < spec->n_rules; i++)
		if (is_settled(spec->rules[i].layer) || spec->rules[i].layer == LAYER_FLAG)
			return true;
	return false;
}

static bool user_filters(const struct spec *spec)
{
	return user_names_hosts(spec) || (spec->net == NET_FILTERED && says(spec, "network"));
}

static bool user_allows(const struct spec *spec, const char *text)
{
	for (size_t i = 0; i < spec->n_rules; i++)
		if (spec->rules[i].layer != LAYER_PROJECT && !spec->rules[i].deny &&
		    !strcmp(spec->rules[i].text, text))
			return true;
	return false;
}

/* Without a filter of the user's the project only tightens: everything was open. */
void widen_rule(struct project_config *project, const struct spec *spec, const char *place,
		const char *text)
{
	_cleanup_str_ struct str shown = { 0 };

	json_add_string(&shown, text);
	if (user_allows(spec, text))
		return;
	if (user_filters(spec))
		note(project, place, shown.s);
	else
		note_other(project, place, shown.s, "beyond the hosts that you name yourself");
}

void widen_port(struct project_config *project, const char *place, const char *text)
{
	_cleanup_str_ struct str shown = { 0 };

	json_add_string(&shown, text);
	note(project, place, shown.s);
}

void widen_credential(struct project_config *project, const char *place, const char *shown)
{
	note(project, place, shown);
}

void widen_profile(struct project_config *project, const char *place, const char *name)
{
	_cleanup_str_ struct str shown = { 0 };

	json_add_string(&shown, name);
	note(project, place, shown.s);
}

static bool agent_widens(const struct spec *now, const struct spec *want, bool users)
{
	return strchr(want->agent, '/') || (users && strcmp(now->agent, want->agent));
}

/* One that is no more than a program of the system's has nothing that a command could get; of one without a definition
 * nobody knows. */
static bool has_something(const struct agent *agent)
{
	return !agent || agent->n_credentials || agent->n_env || agent->files.len ||
	       agent->domains.len || agent->sessions.len || agent->memory.len;
}

/* Who starts an agent gives it what it has; who starts a command gives that nothing, but of an agent of his choice. */
void widen_agent(struct project_config *project, const struct spec *spec)
{
	_cleanup_str_ struct str shown = { 0 };
	enum layer layer;

	if (!spec_layer(spec, "agent", &layer) || layer != LAYER_PROJECT ||
	    !has_something(spec->definition))
		return;
	for (size_t i = 0; i < project->n_widenings; i++)
		if (!strcmp(project->widenings[i].key, "agent"))
			return;
	json_add_string(&shown, spec->agent);
	if (spec->cmd)
		note(project, "agent", shown.s);
	else
		note_other(project, "agent", shown.s,
			   "whose credentials commands that you name get, too");
}

/* A profile mounts caches of the user's tools, which the tools outside trust. */
static bool profile_widens(const struct spec *now, const struct spec *want, bool users)
{
	return !(users && !strcmp(now->profile, want->profile)) &&
	       !config_profile_is_bare(want->profile, NULL);
}

/* Under podman no supervisor stands between: nothing is held, and the image's programs are not the host's. */
static bool engine_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users ? now->engine != want->engine : want->engine == ENGINE_PODMAN;
}

/* The user wants a kernel between. */
static bool runtime_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->runtime == RUNTIME_KRUN && want->runtime != RUNTIME_KRUN;
}

static bool home_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->home != want->home && want->home != HOME_FRESH;
}

/* The user wants to look first. */
static bool workspace_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->workspace == WORKSPACE_COW && want->workspace != WORKSPACE_COW;
}

/* The host's git would obey what is written there. */
static bool git_widens(const struct spec *now, const struct spec *want, bool users)
{
	return want->git == GIT_MODE_DIRECT && !(users && now->git == GIT_MODE_DIRECT);
}

/* Of directories, which can be held. */
static unsigned protection(const struct spec *spec, enum protect_class class)
{
	enum protect_level level = spec->protect.levels[class];

	return level == PROTECT_UNSET ? protect_default(class, true) : level;
}

/* Less is told or refused than the user wants, or than without a word of his. */
static bool protect_widens(const struct spec *now, const struct spec *want, _unused_ bool users)
{
	for (size_t i = 0; i < PROTECT_CLASSES; i++)
		if (want->protect.levels[i] && protection(want, i) < protection(now, i))
			return true;
	return false;
}

/* What a path would be held to without this depends on its name, which is not looked at here. */
void widen_protect(struct project_config *project, const struct spec *spec, const char *place,
		   const char *path, const char *level)
{
	_cleanup_str_ struct str shown = { 0 };
	struct spec want = { .dir = NULL };
	struct err ignored; /* what is wrong is reported when it is laid over the spec */
	unsigned least = PROTECT_HOLD;
	bool valid, widens;

	for (size_t i = 0; i < PROTECT_CLASSES; i++)
		if (says(spec, arena_printf(&want.arena, "protect.%s", protect_class_name(i))))
			least = MAX(least, (unsigned)spec->protect.levels[i]);
	for (size_t i = 0; i < spec->protect.n_paths; i++)
		if (spec->protect.paths[i].layer != LAYER_PROJECT)
			least = MAX(least, (unsigned)spec->protect.paths[i].level);
	valid = spec_protect_path(&want, path, level, LAYER_PROJECT, &ignored) == 0;
	widens = valid && want.protect.paths[0].level < least;
	arena_release(&want.arena);
	json_add_string(&shown, level);
	if (widens)
		note(project, place, shown.s);
	else if (valid && strcmp(level, "ro") != 0)
		note_other(project, place, shown.s, "where you keep others as they are");
}

static bool nested_widens(const struct spec *now, const struct spec *want, bool users)
{
	return want->allow_nested && !(users && now->allow_nested);
}

/* Who may push with the user's key, whether it can be read, and whether the user is asked. */
static bool deploy_key_widens(const struct spec *now, const struct spec *want, bool users)
{
	return !(users && !strcmp(now->deploy_key, want->deploy_key));
}

static bool key_mode_widens(const struct spec *now, const struct spec *want, bool users)
{
	return want->deploy_key_mode == KEY_MODE_FILE &&
	       !(users && now->deploy_key_mode == KEY_MODE_FILE);
}

static bool key_confirm_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->deploy_key_confirm && !want->deploy_key_confirm;
}

/* What the user has written for his own agents. */
static bool memory_widens(const struct spec *now, const struct spec *want, bool users)
{
	return want->agent_memory && !(users && now->agent_memory);
}

static bool only_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->only && !want->only;
}

/* The default limits keep the machine usable whatever runs inside (a fork bomb, a full tmpfs), so a
 * project that lifts them takes a protection away. They depend on the machine; these are on the low
 * side of them. Processors' time harms nobody for long. */
static bool limits_widen(const struct spec *now, const struct spec *want, bool users)
{
	static const struct limits usual = {
		.cpus = 1e9, .memory = 4ULL << 30, .pids = 4096, .disk = 4ULL << 30
	};
	const struct limits *a = users ? &now->limits : &usual, *b = &want->limits;

	return b->cpus > a->cpus || b->memory > a->memory || b->pids > a->pids || b->disk > a->disk;
}

/* The user wants to be told. */
static bool asks_for_messages(const struct spec *now)
{
	const struct notify_spec *notify = &now->notify;

	return (notify->mode == NOTIFY_ON && says(now, "notify")) ||
	       (notify->violations && says(now, "notify.violations")) ||
	       (notify->always && says(now, "notify.always")) ||
	       (notify->waiting == WAITING_ON && says(now, "notify.waiting"));
}

/* ... also when an agent without hooks waits. */
static bool asks_for_waiting(const struct spec *now)
{
	if (says(now, "notify.waiting"))
		return now->notify.waiting != WAITING_OFF;
	return (now->notify.mode == NOTIFY_ON && says(now, "notify")) ||
	       (now->notify.always && says(now, "notify.always"));
}

static bool notify_widens(const struct spec *now, const struct spec *want, _unused_ bool users)
{
	bool off = now->notify.mode == NOTIFY_OFF && says(now, "notify");

	return want->notify.mode == NOTIFY_OFF && !off && asks_for_messages(now);
}

static bool violations_widen(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->notify.violations && !want->notify.violations;
}

static bool always_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users && now->notify.always && !want->notify.always;
}

static bool waiting_widens(const struct spec *now, const struct spec *want, bool users)
{
	static const int rank[] = { [WAITING_OFF] = 0, [WAITING_AUTO] = 1, [WAITING_ON] = 2 };

	return users ? rank[want->notify.waiting] < rank[now->notify.waiting]
		     : want->notify.waiting == WAITING_OFF && asks_for_waiting(now);
}

/* The user's quiet times are the user's; the project may name some where there are none, and nothing is asked for. */
static bool quiet_widens(const struct spec *now, const struct spec *want, bool users)
{
	return users ? strcmp(now->notify.quiet, want->notify.quiet) != 0 : asks_for_messages(now);
}

/* Later than the user wants to be told, and never before long. */
static bool idle_widens(const struct spec *now, const struct spec *want, bool users)
{
	uint64_t own = now->notify.idle ? now->notify.idle : NOTIFY_IDLE_SECONDS;

	return want->notify.idle > own && (users || asks_for_waiting(now));
}

/* No messages, now, at some time of day, or before long. */
static bool is_silence(const char *key, const char *value)
{
	return !strcmp(key, "notify.quiet") || !strcmp(key, "notify.idle") ||
	       (!strcmp(value, "off") &&
		(!strcmp(key, "notify") || !strcmp(key, "notify.waiting")));
}

/* Programs that the user takes for the system's. */
static bool image_widens(const struct spec *now, const struct spec *want, bool users)
{
	return !users || strcmp(now->image, want->image);
}

static const struct {
	const char *key;
	bool (*widens)(const struct spec *now, const struct spec *want, bool users);
} rules[] = {
	{ "network", network_widens },
	{ "agent", agent_widens },
	{ "profile", profile_widens },
	{ "engine", engine_widens },
	{ "runtime", runtime_widens },
	{ "home", home_widens },
	{ "allowNested", nested_widens },
	{ "deployKey", deploy_key_widens },
	{ "deployKeyMode", key_mode_widens },
	{ "deployKeyConfirm", key_confirm_widens },
	{ "workspace", workspace_widens },
	{ "image", image_widens },
	{ "agentMemory", memory_widens },
	{ "git", git_widens },
	{ "protect.git", protect_widens },
	{ "protect.shell", protect_widens },
	{ "protect.editor", protect_widens },
	{ "protect.agent", protect_widens },
	{ "protect.build", protect_widens },
	{ "protect.ci", protect_widens },
	{ "only", only_widens },
	{ "cpus", limits_widen },
	{ "memory", limits_widen },
	{ "pids", limits_widen },
	{ "disk", limits_widen },
	{ "notify", notify_widens },
	{ "notify.violations", violations_widen },
	{ "notify.always", always_widens },
	{ "notify.waiting", waiting_widens },
	{ "notify.quiet", quiet_widens },
	{ "notify.idle", idle_widens },
};

/* What is no more than the default says is a riddle without the file that leaves less. */
static void add_around(struct str *shown, const struct spec *spec)
{
	str_add(shown, ", and less is left by");
	for (size_t i = 0; i < spec->around.len; i++) {
		str_add(shown, i ? ", " : " ");
		str_add_escaped(shown, spec->around.v[i]);
	}
}

void widen_scalar(struct project_config *project, const struct spec *spec, const char *place,
		  const char *key, const char *value)
{
	_cleanup_str_ struct str shown = { 0 };
	struct spec want = { .dir = NULL };
	enum layer layer = LAYER_BUILTIN;
	bool widens = false;
	struct err ignored; /* a value that is wrong is reported when it is laid over the spec */

	/* What a flag says holds anyway. */
	if (spec_layer(spec, key, &layer) && layer > LAYER_PROJECT)
		return;
	if (!strcmp(key, "profile") && !(layer == LAYER_USER && !strcmp(spec->profile, value)))
		project->chose_profile = true;
	if (spec_set(&want, key, value, LAYER_PROJECT, &ignored) == 0)
		for (size_t i = 0; i < ARRAY_LEN(rules); i++)
			if (!strcmp(rules[i].key, key))
				widens = rules[i].widens(spec, &want, is_settled(layer));
	arena_release(&want.arena);
	json_add_string(&shown, value);
	if (!widens && is_silence(key, value))
		note_other(project, place, shown.s, "where you ask for messages yourself");
	if (!widens)
		return;
	if (layer == LAYER_AROUND)
		add_around(&shown, spec);
	note(project, place, shown.s);
}
