/* SPDX-License-Identifier: MIT */
/* An OCI runtime bundle's config.json, for crun or runc without root: the one user inside is the one outside. */
#include <string.h>

#include "export/task.h"

static struct json_object *push_mount(struct json_object *list, const char *dest, const char *type,
				      const char *source, const char *const *options)
{
	struct json_object *mount = json_push_map(list), *words;

	json_put_text(mount, "destination", dest);
	json_put_text(mount, "type", type);
	json_put_text(mount, "source", source);
	words = json_put_list(mount, "options");
	for (; *options; options++)
		json_push_text(words, *options);
	return mount;
}

#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static int put_mounts(struct json_object *root, const struct task *task, struct err *err)
{
	struct json_object *list = json_put_list(root, "mounts");
	int r = 0;

	push_mount(list, "/proc", "proc", "proc", OPTIONS("nosuid", "noexec", "nodev"));
	push_mount(list, "/dev", "tmpfs", "tmpfs",
		   OPTIONS("nosuid", "strictatime", "mode=755", "size=64k"));
	push_mount(list, "/dev/pts", "devpts", "devpts",
		   OPTIONS("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"));
	push_mount(list, "/dev/shm", "tmpfs", "shm", OPTIONS("nosuid", "nodev", "mode=1777"));
	for (size_t i = 0; task_places[i]; i++)
		push_mount(
			list, task_places[i], "tmpfs", "tmpfs",
			OPTIONS("nosuid", "nodev",
				!strcmp(task_places[i], HOME_INSIDE) ? "mode=0700" : "mode=1777"));
	push_mount(list, WORKSPACE_INSIDE, "bind", task->dir,
		   OPTIONS("bind", "rw", "nosuid", "nodev"));
	for (size_t i = 0; r == 0 && i < task->spec->n_mounts; i++) {
		const struct mount_spec *mount = &task->spec->mounts[i];
		_cleanup_str_ struct str source = { 0 };

		r = task_add_source(&source, task, mount, task->home, err);
		if (r == 0)
			push_mount(list, mount->dest, "bind", source.s,
				   OPTIONS("rbind", mount->rw ? "rw" : "ro", "nosuid", "nodev"));
	}
	return r;
}

static void put_process(struct json_object *root, const struct task *task)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "ambient",
					    "inheritable" };
	struct json_object *process = json_put_map(root, "process"), *map, *list;
	_cleanup_str_ struct str entry = { 0 };

	json_put(process, "terminal", json_object_new_boolean(false));
	map = json_put_map(process, "user");
	json_put(map, "uid", json_object_new_int64(task->uid));
	json_put(map, "gid", json_object_new_int64(task->gid));
	list = json_put_list(process, "args");
	for (size_t i = 0; i < task->argv.len; i++)
		json_push_text(list, task->argv.v[i]);
	list = json_put_list(process, "env");
	for (size_t i = 0; i < task->n_env; i++) {
		str_release(&entry);
		str_addf(&entry, "%s=%s", task->env[i].name, task->env[i].value);
		json_push_text(list, entry.s);
	}
	json_push_text(list, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	json_put_text(process, "cwd", WORKSPACE_INSIDE);
	map = json_put_map(process, "capabilities");
	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		json_put_list(map, sets[i]);
	json_put(process, "noNewPrivileges", json_object_new_boolean(true));
}

static void put_mapping(struct json_object *linux_part, const char *key, int64_t id)
{
	struct json_object *map = json_push_map(json_put_list(linux_part, key));

	json_put(map, "containerID", json_object_new_int64(id));
	json_put(map, "hostID", json_object_new_int64(id));
	json_put(map, "size", json_object_new_int(1));
}

static void put_paths(struct json_object *linux_part)
{
	static const char *const masked[] = { "/proc/acpi", "/proc/kcore", "/proc/keys",
					      "/proc/timer_list", "/proc/scsi" };
	static const char *const readonly[] = { "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
						"/proc/sysrq-trigger" };
	struct json_object *list = json_put_list(linux_part, "maskedPaths");

	for (size_t i = 0; i < ARRAY_LEN(masked); i++)
		json_push_text(list, masked[i]);
	list = json_put_list(linux_part, "readonlyPaths");
	for (size_t i = 0; i < ARRAY_LEN(readonly); i++)
		json_push_text(list, readonly[i]);
}

static void put_limits(struct json_object *linux_part, const struct limits *limits)
{
	struct json_object *map, *cpu;

	if (!limits->cpus && !limits->memory && !limits->pids)
		return;
	map = json_put_map(linux_part, "resources");
	if (limits->memory)
		json_put(json_put_map(map, "memory"), "limit",
			 json_object_new_int64((int64_t)limits->memory));
	if (limits->pids)
		json_put(json_put_map(map, "pids"), "limit",
			 json_object_new_int64((int64_t)limits->pids));
	if (limits->cpus) {
		cpu = json_put_map(map, "cpu");
		json_put(cpu, "period", json_object_new_int(100000));
		json_put(cpu, "quota", json_object_new_int64((int64_t)(limits->cpus * 100000)));
	}
}

int task_oci(struct str *out, const struct task *task, const char *kind, struct err *err)
{
	static const char *const spaces[] = { "pid",   "network", "ipc",   "uts",
					      "mount", "user",    "cgroup" };
	struct json_object *root = json_object_new_object(), *part, *list;
	int r;

	(void)kind;
	json_put_text(root, "ociVersion", "1.0.2");
	json_put_text(root, "hostname", "wrapix");
	part = json_put_map(root, "root");
	json_put_text(part, "path", "rootfs");
	json_put(part, "readonly", json_object_new_boolean(true));
	put_process(root, task);
	r = put_mounts(root, task, err);
	part = json_put_map(root, "linux");
	list = json_put_list(part, "namespaces");
	for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
		json_put_text(json_push_map(list), "type", spaces[i]);
	put_mapping(part, "uidMappings", task->uid);
	put_mapping(part, "gidMappings", task->gid);
	put_paths(part);
	put_limits(part, &task->spec->limits);
	json_add_document(out, root);
	json_object_put(root);
	return r;
}
