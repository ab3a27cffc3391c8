/* SPDX-License-Identifier: MIT */
/* A compose file with one service, for 'podman compose' and 'docker compose'. */
#include <string.h>

#include "export/task.h"
#include "export/yaml.h"

/* A '$' would be replaced from the environment. */
static const char *literal(struct str *buffer, const char *text)
{
	str_release(buffer);
	for (; *text; text++)
		str_addf(buffer, *text == '$' ? "$%c" : "%c", *text);
	return buffer->s ? buffer->s : "";
}

static int put_volumes(struct json_object *service, const struct task *task, struct err *err)
{
	struct json_object *list = json_put_list(service, "volumes"), *tmpfs;
	int r = 0;

	json_push_text(list, ".:" WORKSPACE_INSIDE);
	for (size_t i = 0; r == 0 && i < task->spec->n_mounts; i++) {
		const struct mount_spec *mount = &task->spec->mounts[i];
		_cleanup_str_ struct str text = { 0 };

		r = task_add_source(&text, task, mount, "${HOME}", err);
		str_addf(&text, ":%s:%s", mount->dest, mount->rw ? "rw" : "ro");
		json_push_text(list, text.s);
	}
	tmpfs = json_put_list(service, "tmpfs");
	for (size_t i = 0; task_places[i]; i++) {
		_cleanup_str_ struct str text = { 0 };

		str_addf(&text, "%s:mode=1777", task_places[i]);
		json_push_text(tmpfs, text.s);
	}
	return r;
}

static void put_env(struct json_object *service, const struct task *task)
{
	struct json_object *env = json_put_list(service, "environment");
	_cleanup_str_ struct str text = { 0 }, entry = { 0 };

	for (size_t i = 0; i < task->n_env; i++) {
		str_release(&entry);
		str_addf(&entry, "%s=%s", task->env[i].name, literal(&text, task->env[i].value));
		json_push_text(env, entry.s);
	}
	/* A name alone takes the value of who starts it. */
	for (size_t i = 0; i < task->secrets.len; i++)
		json_push_text(env, task->secrets.v[i]);
}

static void put_network(struct json_object *service, const struct task *task)
{
	const struct spec *spec = task->spec;
	struct json_object *ports = NULL;

	if (spec->net == NET_NONE || task->filtered)
		json_put_text(service, "network_mode", "none");
	for (size_t i = 0; i < spec->n_ports; i++) {
		_cleanup_str_ struct str text = { 0 };

		if (spec->ports[i].into)
			continue;
		if (!ports)
			ports = json_put_list(service, "ports");
		str_addf(&text, "%s:%u:%u", spec->ports[i].address, spec->ports[i].host,
			 spec->ports[i].inside);
		json_push_text(ports, text.s);
	}
}

static void put_limits(struct json_object *service, const struct limits *limits)
{
	if (limits->cpus)
		json_put(service, "cpus", json_object_new_double(limits->cpus));
	if (limits->memory)
		json_put(service, "mem_limit", json_object_new_int64((int64_t)limits->memory));
	if (limits->pids)
		json_put(service, "pids_limit", json_object_new_int64((int64_t)limits->pids));
}

int task_compose(struct str *out, const struct task *task, const char *kind, struct err *err)
{
	struct json_object *root = json_object_new_object(), *service, *list;
	_cleanup_str_ struct str text = { 0 };
	int r;

	(void)kind;
	json_put_text(root, "name", task->name);
	service = json_put_map(json_put_map(root, "services"), "wrapix");
	json_put_text(service, "image", task->image);
	list = json_put_list(service, "command");
	for (size_t i = 0; i < task->argv.len; i++)
		json_push_text(list, literal(&text, task->argv.v[i]));
	json_put_text(service, "working_dir", WORKSPACE_INSIDE);
	json_put_text(service, "user", "${UID:-1000}:${GID:-1000}");
	json_put_text(service, "userns_mode", "keep-id");
	json_put(service, "init", json_object_new_boolean(true));
	json_put(service, "stdin_open", json_object_new_boolean(true));
	json_put(service, "tty", json_object_new_boolean(true));
	json_put(service, "read_only", json_object_new_boolean(true));
	json_push_text(json_put_list(service, "cap_drop"), "ALL");
	json_push_text(json_put_list(service, "security_opt"), "no-new-privileges:true");
	r = put_volumes(service, task, err);
	put_env(service, task);
	put_network(service, task);
	put_limits(service, &task->spec->limits);
	str_add(out, "# Made by 'wrapix export compose' from the project's settings; put it beside "
		     "them.\n# With docker: leave userns_mode away.\n");
	task_add_weaker(out, task, FORM_COMPOSE, "# ");
	yaml_add(out, root);
	json_object_put(root);
	return r;
}
