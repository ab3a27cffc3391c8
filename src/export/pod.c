/* SPDX-License-Identifier: MIT */
/* A task as a pod that the "restricted" standard admits: nobody's root, nothing to gain, nothing to keep. */
#include "export/pod.h"
#include "export/on.h"

#include <string.h>

char *pod_part(const struct task *task, char name[static 64], const char *part)
{
	snprintf(name, 64, "%s-%s", task->name, part);
	return name;
}

void pod_labels(struct json_object *map, const struct task *task)
{
	json_put_text(map, "app.kubernetes.io/name", task->name);
	json_put_text(map, "app.kubernetes.io/managed-by", "wrapix");
}

struct json_object *pod_metadata(const struct task *task, const char *name)
{
	struct json_object *metadata = json_object_new_object();

	json_put_text(metadata, "name", name);
	pod_labels(json_put_map(metadata, "labels"), task);
	return metadata;
}

struct json_object *pod_selector(const struct task *task)
{
	struct json_object *selector = json_object_new_object();

	json_put_text(json_put_map(selector, "matchLabels"), "app.kubernetes.io/name", task->name);
	return selector;
}

/* --- the container --- */

/* "$(NAME)" would be replaced by the kubelet. */
static void push_word(struct json_object *list, const char *word)
{
	_cleanup_str_ struct str out = { 0 };

	for (; *word; word++)
		str_addf(&out, word[0] == '$' && word[1] == '(' ? "$%c" : "%c", *word);
	json_push_text(list, out.s ? out.s : "");
}

static void put_command(struct json_object *container, const struct task *task, enum pod_use use)
{
	struct json_object *command = json_put_list(container, "command"), *args;

	json_push_text(command, "/bin/sh");
	if (use == POD_WARM || use == POD_LENT) {
		json_push_text(command, "-c");
		json_push_text(command, use == POD_LENT
						? ON_HOLD
						: "trap 'exit 0' TERM; sleep infinity & wait");
		return;
	}
	json_push_text(command, TASK_IN "/" TASK_SCRIPT);
	args = json_put_list(container, "args");
	for (size_t i = 0; i < task->argv.len; i++)
		push_word(args, task->argv.v[i]);
}

static void put_env(struct json_object *container, const struct task *task)
{
	struct json_object *env = json_put_list(container, "env");
	const struct task owner = { .name = task->secrets_of ? task->secrets_of : task->name };
	char name[64];

	for (size_t i = 0; i < task->n_env; i++) {
		struct json_object *entry = json_push_map(env);

		json_put_text(entry, "name", task->env[i].name);
		json_put_text(entry, "value", task->env[i].value);
	}
	for (size_t i = 0; i < task->secrets.len; i++) {
		struct json_object *entry = json_push_map(env), *from;

		json_put_text(entry, "name", task->secrets.v[i]);
		from = json_put_map(json_put_map(entry, "valueFrom"), "secretKeyRef");
		json_put_text(from, "name", pod_part(&owner, name, "secrets"));
		json_put_text(from, "key", task->secrets.v[i]);
		json_put(from, "optional", json_object_new_boolean(true));
	}
}

static void put_bytes(struct json_object *map, const char *key, uint64_t bytes)
{
	_cleanup_str_ struct str text = { 0 };

	str_addf(&text, bytes % (1 << 20) ? "%llu" : "%lluMi",
		 (unsigned long long)(bytes % (1 << 20) ? bytes : bytes >> 20));
	json_put_text(map, key, text.s);
}

static void put_limits(struct json_object *container, const struct task *task)
{
	const struct limits *limits = &task->spec->limits;
	struct json_object *map;
	_cleanup_str_ struct str cpus = { 0 };

	if (!limits->cpus && !limits->memory && !limits->disk)
		return;
	map = json_put_map(json_put_map(container, "resources"), "limits");
	if (limits->cpus) {
		str_addf(&cpus, "%ldm", (long)(limits->cpus * 1000 + 0.5));
		json_put_text(map, "cpu", cpus.s);
	}
	if (limits->memory)
		put_bytes(map, "memory", limits->memory);
	if (limits->disk)
		put_bytes(map, "ephemeral-storage", limits->disk);
}

static void put_container_security(struct json_object *container)
{
	struct json_object *security = json_put_map(container, "securityContext");

	json_put(security, "allowPrivilegeEscalation", json_object_new_boolean(false));
	json_put(security, "readOnlyRootFilesystem", json_object_new_boolean(true));
	json_push_text(json_put_list(json_put_map(security, "capabilities"), "drop"), "ALL");
}

static void put_ports(struct json_object *container, const struct task *task)
{
	struct json_object *ports = NULL;

	for (size_t i = 0; i < task->spec->n_ports; i++) {
		if (task->spec->ports[i].into)
			continue;
		if (!ports)
			ports = json_put_list(container, "ports");
		json_put(json_push_map(ports), "containerPort",
			 json_object_new_int(task->spec->ports[i].inside));
	}
}

/* --- volumes --- */

static const struct {
	const char *name, *path;
	bool memory;
} places[] = {
	{ "workspace", WORKSPACE_INSIDE, false },
	{ "home", HOME_INSIDE, true },
	{ "tmp", "/tmp", true },
	{ "var-tmp", "/var/tmp", false },
};

static void put_mount(struct json_object *mounts, const char *name, const char *path, bool ro)
{
	struct json_object *mount = json_push_map(mounts);

	json_put_text(mount, "name", name);
	json_put_text(mount, "mountPath", path);
	if (ro)
		json_put(mount, "readOnly", json_object_new_boolean(true));
}

static void put_mounts(struct json_object *container, enum pod_use use)
{
	struct json_object *mounts = json_put_list(container, "volumeMounts");

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		put_mount(mounts, places[i].name, places[i].path, false);
	if (use == POD_LENT) {
		put_mount(mounts, "wrapix", "/wrapix", false);
		return;
	}
	put_mount(mounts, "in", TASK_IN, true);
	put_mount(mounts, "out", TASK_OUT, false);
}

static void put_volumes(struct json_object *spec, const struct task *task, enum pod_use use)
{
	struct json_object *volumes = json_put_list(spec, "volumes"), *volume, *source;
	char name[64];

	/* Those of a kept pod are made from its claim templates, which have these names. */
	for (size_t i = use == POD_KEPT; i < ARRAY_LEN(places); i++) {
		volume = json_push_map(volumes);
		json_put_text(volume, "name", places[i].name);
		source = json_put_map(volume, "emptyDir");
		if (places[i].memory)
			json_put_text(source, "medium", "Memory");
	}
	volume = json_push_map(volumes);
	if (use == POD_LENT) {
		json_put_text(volume, "name", "wrapix");
		json_put_map(volume, "emptyDir");
		return;
	}
	json_put_text(volume, "name", "in");
	json_put_text(json_put_map(volume, "configMap"), "name", pod_part(task, name, "in"));
	if (use == POD_KEPT)
		return;
	volume = json_push_map(volumes);
	json_put_text(volume, "name", "out");
	if (use == POD_WARM)
		json_put_map(volume, "emptyDir");
	else
		json_put_text(json_put_map(volume, "persistentVolumeClaim"), "claimName",
			      pod_part(task, name, "out"));
}

/* --- the pod --- */

static void put_pod_security(struct json_object *spec)
{
	struct json_object *security = json_put_map(spec, "securityContext");

	json_put(security, "runAsNonRoot", json_object_new_boolean(true));
	json_put(security, "runAsUser", json_object_new_int(TASK_UID));
	json_put(security, "runAsGroup", json_object_new_int(TASK_UID));
	json_put(security, "fsGroup", json_object_new_int(TASK_UID));
	json_put_text(json_put_map(security, "seccompProfile"), "type", "RuntimeDefault");
}

struct json_object *pod_spec(const struct task *task, enum pod_use use)
{
	struct json_object *spec = json_object_new_object(), *container;

	if (use == POD_TASK || use == POD_LENT)
		json_put_text(spec, "restartPolicy", "Never");
	json_put(spec, "automountServiceAccountToken", json_object_new_boolean(false));
	json_put(spec, "enableServiceLinks", json_object_new_boolean(false));
	json_put(spec, "hostUsers", json_object_new_boolean(false));
	if (task->runtime)
		json_put_text(spec, "runtimeClassName", task->runtime);
	put_pod_security(spec);
	container = json_push_map(json_put_list(spec, "containers"));
	json_put_text(container, "name", "wrapix");
	json_put_text(container, "image", task->image);
	put_command(container, task, use);
	if (use == POD_LENT) {
		json_put(container, "stdin", json_object_new_boolean(true));
		json_put(container, "stdinOnce", json_object_new_boolean(true));
	}
	json_put_text(container, "workingDir", WORKSPACE_INSIDE);
	put_env(container, task);
	put_limits(container, task);
	put_ports(container, task);
	put_container_security(container);
	put_mounts(container, use);
	put_volumes(spec, task, use);
	return spec;
}
