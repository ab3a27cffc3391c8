/* SPDX-License-Identifier: MIT */
/* A devcontainer.json, for the editors that open a project in a container. */
#include <string.h>

#include "export/task.h"

static void put_args(struct json_object *root, const struct task *task)
{
	const struct limits *limits = &task->spec->limits;
	struct json_object *args = json_put_list(root, "runArgs");
	_cleanup_str_ struct str text = { 0 };

	json_push_text(args, "--cap-drop=ALL");
	json_push_text(args, "--security-opt=no-new-privileges");
	if (task->spec->net == NET_NONE || task->filtered)
		json_push_text(args, "--network=none");
	if (limits->memory) {
		str_addf(&text, "--memory=%llu", (unsigned long long)limits->memory);
		json_push_text(args, text.s);
		str_release(&text);
	}
	if (limits->cpus) {
		str_addf(&text, "--cpus=%g", limits->cpus);
		json_push_text(args, text.s);
		str_release(&text);
	}
	if (limits->pids) {
		str_addf(&text, "--pids-limit=%llu", (unsigned long long)limits->pids);
		json_push_text(args, text.s);
	}
}

static int put_mounts(struct json_object *root, const struct task *task, struct err *err)
{
	struct json_object *list = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < task->spec->n_mounts; i++) {
		const struct mount_spec *mount = &task->spec->mounts[i];
		_cleanup_str_ struct str text = { 0 };

		if (!list)
			list = json_put_list(root, "mounts");
		str_add(&text, "type=bind,source=");
		r = task_add_source(&text, task, mount, "${localEnv:HOME}", err);
		str_addf(&text, ",target=%s%s", mount->dest, mount->rw ? "" : ",readonly");
		json_push_text(list, text.s);
	}
	return r;
}

static void put_env(struct json_object *root, const struct task *task)
{
	struct json_object *map = json_put_map(root, "containerEnv");

	for (size_t i = 0; i < task->n_env; i++)
		json_put_text(map, task->env[i].name, task->env[i].value);
	if (!task->secrets.len)
		return;
	map = json_put_map(root, "remoteEnv");
	for (size_t i = 0; i < task->secrets.len; i++) {
		_cleanup_str_ struct str text = { 0 };

		str_addf(&text, "${localEnv:%s}", task->secrets.v[i]);
		json_put_text(map, task->secrets.v[i], text.s);
	}
}

/* The editor replaces "${localEnv:NAME}" by what its environment has, in every text, and knows no way to write it. */
static int check(const struct task *task, struct err *err)
{
	const char *found = NULL;

	for (size_t i = 0; i < task->n_env; i++)
		if (strstr(task->env[i].value, "${"))
			found = task->env[i].name;
	for (size_t i = 0; task->spec->cmd && i < task->argv.len; i++)
		if (strstr(task->argv.v[i], "${"))
			found = "the command";
	if (!found)
		return 0;
	err_usage(err, "%s: '${' cannot be written there: the editor replaces it", found);
	return err_hint(err, "in a script '$NAME' is the same");
}

static void put_ports(struct json_object *root, const struct task *task)
{
	struct json_object *list = NULL;

	for (size_t i = 0; i < task->spec->n_ports; i++) {
		if (task->spec->ports[i].into)
			continue;
		if (!list)
			list = json_put_list(root, "forwardPorts");
		json_object_array_add(list, json_object_new_int(task->spec->ports[i].inside));
	}
}

int task_devcontainer(struct str *out, const struct task *task, const char *kind, struct err *err)
{
	struct json_object *root, *list;
	int r = check(task, err);

	(void)kind;
	if (r < 0)
		return r;
	root = json_object_new_object();
	json_put_text(root, "name", task->name);
	json_put_text(root, "image", task->image);
	json_put_text(root, "workspaceMount",
		      "type=bind,source=${localWorkspaceFolder},target=" WORKSPACE_INSIDE);
	json_put_text(root, "workspaceFolder", WORKSPACE_INSIDE);
	json_put(root, "init", json_object_new_boolean(true));
	json_put(root, "updateRemoteUserUID", json_object_new_boolean(true));
	put_args(root, task);
	r = put_mounts(root, task, err);
	put_env(root, task);
	put_ports(root, task);
	if (task->spec->cmd) {
		list = json_put_list(root, "postAttachCommand");
		for (size_t i = 0; i < task->argv.len; i++)
			json_push_text(list, task->argv.v[i]);
	}
	str_add(out, "// Made by 'wrapix export devcontainer' from the project's settings.\n");
	task_add_weaker(out, task, FORM_DEVCONTAINER, "// ");
	json_add_document(out, root);
	json_object_put(root);
	return r;
}
