/* SPDX-License-Identifier: MIT */
/* A systemd quadlet: a .container file that podman's generator makes a service from. */
#include <ctype.h>
#include <string.h>

#include "export/task.h"

/* Text between quotes as systemd's files have it. Specifiers and variables stay text, also in an assignment: podman's
 * generator makes a word of the command line of it, in which systemd replaces them by what the user's other services
 * have. A carriage return ends a line there as a newline does, and what follows would be an order of its own. */
static void add_quoted(struct str *out, const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			str_addf(out, "\\%c", *text);
		else if (*text == '%' || *text == '$')
			str_addf(out, "%c%c", *text, *text);
		else if (iscntrl((unsigned char)*text))
			str_addf(out, "\\x%02x", (unsigned char)*text);
		else
			str_addf(out, "%c", *text);
}

static void add_word(struct str *out, const char *word)
{
	str_add(out, "\"");
	add_quoted(out, word);
	str_add(out, "\"");
}

static void add_assignment(struct str *out, const char *name, const char *value)
{
	str_addf(out, "Environment=\"%s=", name);
	add_quoted(out, value);
	str_add(out, "\"\n");
}

static int add_volumes(struct str *out, const struct task *task, struct err *err)
{
	int r = 0;

	str_addf(out, "Volume=%s:%s:rw,Z\n", task->dir, WORKSPACE_INSIDE);
	for (size_t i = 0; r == 0 && i < task->spec->n_mounts; i++) {
		const struct mount_spec *mount = &task->spec->mounts[i];

		str_add(out, "Volume=");
		r = task_add_source(out, task, mount, "%h", err);
		str_addf(out, ":%s:%s\n", mount->dest, mount->rw ? "rw" : "ro");
	}
	for (size_t i = 0; task_places[i]; i++)
		str_addf(out, "Tmpfs=%s:mode=%s,U\n", task_places[i],
			 !strcmp(task_places[i], HOME_INSIDE) ? "0700" : "1777");
	return r;
}

static void add_limits(struct str *out, const struct limits *limits)
{
	if (limits->pids)
		str_addf(out, "PidsLimit=%llu\n", (unsigned long long)limits->pids);
	if (limits->memory)
		str_addf(out, "PodmanArgs=--memory=%llu\n", (unsigned long long)limits->memory);
	if (limits->cpus)
		str_addf(out, "PodmanArgs=--cpus=%g\n", limits->cpus);
}

static void add_network(struct str *out, const struct task *task)
{
	const struct spec *spec = task->spec;

	str_addf(out, "Network=%s\n", spec->net == NET_NONE || task->filtered ? "none" : "pasta");
	for (size_t i = 0; i < spec->n_ports; i++)
		if (!spec->ports[i].into)
			str_addf(out, "PublishPort=%s:%u:%u\n", spec->ports[i].address,
				 spec->ports[i].host, spec->ports[i].inside);
}

int task_quadlet(struct str *out, const struct task *task, const char *kind, struct err *err)
{
	int r;

	(void)kind;
	if (task->spec->net == NET_HOST)
		return err_usage(err, "the host's own network is nothing to write down");
	if (task->dir[strcspn(task->dir, ":%$\n\r")])
		return err_usage(err, "the project's path cannot be written there");
	str_addf(out, "# %s. Made by 'wrapix export quadlet' from the project's settings.\n",
		 task->name);
	for (size_t i = 0; i < task->secrets.len; i++)
		str_addf(out, "# Once: podman secret create %s FILE\n", task->secrets.v[i]);
	task_add_weaker(out, task, FORM_QUADLET, "# ");
	str_addf(out,
		 "[Unit]\nDescription=Sandbox %s\n\n[Container]\nImage=%s\nContainerName=%s\n"
		 "UserNS=keep-id\nReadOnly=true\nReadOnlyTmpfs=false\nNoNewPrivileges=true\n"
		 "DropCapability=all\nRunInit=true\nWorkingDir=%s\n",
		 task->name, task->image, task->name, WORKSPACE_INSIDE);
	r = add_volumes(out, task, err);
	add_network(out, task);
	add_limits(out, &task->spec->limits);
	for (size_t i = 0; i < task->n_env; i++)
		add_assignment(out, task->env[i].name, task->env[i].value);
	for (size_t i = 0; i < task->secrets.len; i++)
		str_addf(out, "Secret=%s,type=env,target=%s\n", task->secrets.v[i],
			 task->secrets.v[i]);
	str_add(out, "Exec=");
	for (size_t i = 0; i < task->argv.len; i++) {
		str_add(out, i ? " " : "");
		add_word(out, task->argv.v[i]);
	}
	str_add(out, "\n\n[Service]\nRestart=no\nTimeoutStartSec=infinity\n");
	return r;
}
