/* SPDX-License-Identifier: MIT */
/* From a spec to a task. */
#include "export/task.h"

#include <ctype.h>
#include <string.h>

#include "base/embed.h"
#include "base/path.h"
#include "net/policy.h"
#include "spec/agent.h"

#define LABEL_MAX 40 /* of 63: the forms add words of theirs */

extern const struct embedded builtin_task_script[]; /* generated from data/export/ */

const char *task_script(void)
{
	return builtin_task_script[0].data;
}

const struct form task_forms[FORM_COUNT] = {
	[FORM_KUBE] = { "kube", "kubectl apply -f FILE", task_kube },
	[FORM_QUADLET] = { "quadlet",
			   "put it into ~/.config/containers/systemd, then: systemctl --user "
			   "daemon-reload",
			   task_quadlet },
	[FORM_COMPOSE] = { "compose", "podman compose run --rm wrapix", task_compose },
	[FORM_DEVCONTAINER] = { "devcontainer", "put it into .devcontainer of the project",
				task_devcontainer },
	[FORM_OCI] = { "oci", "put it beside rootfs/ as config.json, then: crun run NAME",
		       task_oci },
};

const struct form *task_form(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(task_forms); i++)
		if (!strcmp(task_forms[i].name, name))
			return &task_forms[i];
	return NULL;
}

/* --- what a spec says --- */

/* "My Project!" is "wrapix-my-project". */
static char *make_label(struct arena *arena, const char *text)
{
	_cleanup_str_ struct str label = { 0 };

	str_add(&label, "wrapix");
	while (*text && label.len < LABEL_MAX) {
		str_add(&label, "-");
		for (; isascii(*text) && isalnum((unsigned char)*text) && label.len < LABEL_MAX;
		     text++)
			str_addf(&label, "%c", tolower((unsigned char)*text));
		while (*text && (!isascii(*text) || !isalnum((unsigned char)*text)))
			text++;
	}
	while (label.s[label.len - 1] == '-')
		label.s[--label.len] = '\0';
	return arena_strdup(arena, label.s);
}

static int set_command(struct arena *arena, const struct spec *spec, struct task *task,
		       struct err *err)
{
	const struct agent *agent = spec->definition;

	if (spec->runtime == RUNTIME_KRUN) {
		err_usage(err, "--runtime is for podman on this machine");
		return err_hint(err, "a cluster's is chosen by 'wrapix export kube "
				     "--runtime-class'");
	}
	for (char **word = spec->cmd; word && *word; word++)
		strv_add(arena, &task->argv, *word);
	if (spec->cmd)
		return 0;
	if (!agent)
		return err_usage(err, "there is neither a command nor an agent");
	strv_add(arena, &task->argv, strcmp(agent->program, "$SHELL") ? agent->program : "/bin/sh");
	for (size_t i = 0; i < agent->args.len; i++)
		strv_add(arena, &task->argv, agent->args.v[i]);
	return 0;
}

static void add_env(struct arena *arena, struct task *task, const char *name, const char *value)
{
	struct env_fact *env;

	for (size_t i = 0; i < task->n_env; i++)
		if (!strcmp(task->env[i].name, name))
			return;
	env = arena_grow(arena, &task->env, &task->n_env, sizeof(*env));
	env->name = arena_strdup(arena, name);
	env->value = arena_strdup(arena, value);
}

/* A value of this machine's environment is taken for a secret. */
static int set_env(struct arena *arena, const struct spec *spec, struct task *task, struct err *err)
{
	const struct agent *agent = spec->definition;
	struct credential *list;
	size_t n = 0;
	int r = credentials_resolve(arena, spec, agent, &list, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < spec->n_env; i++)
		if (spec->env[i].value)
			add_env(arena, task, spec->env[i].name, spec->env[i].value);
		else
			strv_add(arena, &task->secrets, spec->env[i].name);
	for (size_t i = 0; agent && i < agent->n_env; i++)
		add_env(arena, task, agent->env[i].name, agent->env[i].value);
	for (size_t i = 0; i < n; i++)
		if (!strv_has(&task->secrets, list[i].name) && !spec_find_env(spec, list[i].name))
			strv_add(arena, &task->secrets, list[i].name);
	add_env(arena, task, "HOME", HOME_INSIDE);
	add_env(arena, task, "WRAPIX", "1");
	return 0;
}

static int set_rules(struct arena *arena, const struct spec *spec, struct task *task,
		     struct err *err)
{
	int r = 0;

	task->filtered = spec_is_filtered(spec);
	for (size_t i = 0; r == 0 && task->filtered && i < spec->n_rules; i++) {
		if (spec->rules[i].deny) {
			task->n_deny++;
			continue;
		}
		r = rule_parse(
			arena, spec->rules[i].text, 0,
			arena_grow(arena, &task->allow, &task->n_allow, sizeof(*task->allow)), err);
	}
	return r;
}

int task_make(struct arena *arena, const struct spec *spec, const struct task_place *place,
	      const struct task_wishes *wishes, struct task *ret, struct err *err)
{
	const char *image = spec->image ? spec->image : spec->profile ? spec->profile : "base";
	int r;

	*ret = (struct task){
		.spec = spec,
		.name = make_label(arena, spec->name ? spec->name : path_name(place->dir)),
		.image = wishes->image ? arena_strdup(arena, wishes->image)
				       : arena_printf(arena, "localhost/wrapix-%s:latest", image),
		.runtime = arena_strdup(arena, wishes->runtime),
		.replicas = wishes->replicas ? wishes->replicas : 1,
		.dir = arena_strdup(arena, place->dir),
		.home = arena_strdup(arena, place->home),
		.uid = place->uid,
		.gid = place->gid,
	};
	r = set_command(arena, spec, ret, err);
	if (r == 0)
		r = set_env(arena, spec, ret, err);
	if (r == 0)
		r = set_rules(arena, spec, ret, err);
	return r;
}

/* --- for the forms --- */

const char *const task_places[] = { HOME_INSIDE, "/tmp", "/var/tmp", "/run", NULL };

static bool is_plain_path(const char *path)
{
	for (; *path; path++)
		if (strchr(":,=\"$%", *path) || iscntrl((unsigned char)*path))
			return false;
	return true;
}

/* compose and systemd replace what is behind a '$' or a '%', and so may lead "a/${X-..}" out of the project. */
int task_add_source(struct str *out, const struct task *task, const struct mount_spec *mount,
		    const char *home, struct err *err)
{
	const char *src = mount->src;

	if (!is_plain_path(src) || !is_plain_path(mount->dest) ||
	    (src[0] != '~' && src[0] != '/' && !is_plain_path(task->dir))) {
		_cleanup_str_ struct str shown = { 0 };

		return err_usage(err,
				 "mount %s: a name with ':', ',', '=', '$', '%%' or a quote cannot "
				 "be written there",
				 str_quote(&shown, src));
	}
	if (src[0] == '~')
		str_addf(out, "%s%s", home, src + 1);
	else if (src[0] == '/')
		str_add(out, src);
	else
		str_addf(out, "%s/%s", task->dir, src);
	return 0;
}

/* --- json-c, with less to type --- */

struct json_object *json_put(struct json_object *map, const char *key, struct json_object *value)
{
	json_object_object_add(map, key, value);
	return value;
}

struct json_object *json_put_text(struct json_object *map, const char *key, const char *value)
{
	return json_put(map, key, json_object_new_string(value));
}

struct json_object *json_put_map(struct json_object *map, const char *key)
{
	return json_put(map, key, json_object_new_object());
}

struct json_object *json_put_list(struct json_object *map, const char *key)
{
	return json_put(map, key, json_object_new_array());
}

struct json_object *json_push_map(struct json_object *list)
{
	struct json_object *map = json_object_new_object();

	json_object_array_add(list, map);
	return map;
}

void json_push_text(struct json_object *list, const char *value)
{
	json_object_array_add(list, json_object_new_string(value));
}

void json_add_document(struct str *out, struct json_object *root)
{
	str_add(out, json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
								  JSON_C_TO_STRING_PRETTY_TAB |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	str_add(out, "\n");
}
