/* SPDX-License-Identifier: MIT */
/* What each engine does less well than the native one, as one table; docs/fleet.md shows all of it. */
#include <string.h>

#include "export/task.h"

enum wish {
	ALWAYS,
	IF_MOUNTS,
	IF_FILTERED,
	IF_OPEN,
	IF_PIDS,
	IF_DISK,
	IF_KEY,
	IF_SECRETS,
	IF_HOST_PORT,
	IF_PUBLISHED_AUTO,
};

static const struct {
	const char *what;
	enum wish wish;
	const char *there[FORM_COUNT]; /* NULL: as in the native engine, or does not apply */
} rows[] = {
	{ "the project",
	  ALWAYS,
	  { [FORM_KUBE] =
		    "its last commit goes in as a git bundle, and commits come out as one" } },
	{ "git",
	  ALWAYS,
	  { [FORM_QUADLET] = "the repository itself is mounted, hooks and configuration included",
	    [FORM_COMPOSE] = "the repository itself is mounted, hooks and configuration included",
	    [FORM_DEVCONTAINER] =
		    "the repository itself is mounted, hooks and configuration included",
	    [FORM_OCI] = "the repository itself is mounted, hooks and configuration included" } },
	{ "mounts", IF_MOUNTS, { [FORM_KUBE] = "left out: a node has other files" } },
	{ "filtered network",
	  IF_FILTERED,
	  { [FORM_KUBE] =
		    "names need Cilium, without which nothing is reached; *.x is one label deep",
	    [FORM_QUADLET] = "no network at all: there is no filter by name",
	    [FORM_COMPOSE] = "no network at all: there is no filter by name",
	    [FORM_DEVCONTAINER] = "no network at all: there is no filter by name",
	    [FORM_OCI] = "no network at all: there is no filter by name" } },
	{ "open network",
	  IF_OPEN,
	  { [FORM_KUBE] = "needs a network plugin that enforces NetworkPolicy",
	    [FORM_COMPOSE] = "the engine's own: services of this machine may be reached",
	    [FORM_DEVCONTAINER] = "the engine's own: services of this machine may be reached",
	    [FORM_OCI] = "none: a runtime brings no network" } },
	{ "ports of the host",
	  IF_HOST_PORT,
	  { [FORM_KUBE] = "left out",
	    [FORM_QUADLET] = "left out",
	    [FORM_COMPOSE] = "left out",
	    [FORM_DEVCONTAINER] = "left out",
	    [FORM_OCI] = "left out" } },
	{ "--publish auto",
	  IF_PUBLISHED_AUTO,
	  { [FORM_KUBE] = "left out",
	    [FORM_QUADLET] = "left out",
	    [FORM_COMPOSE] = "left out",
	    [FORM_OCI] = "left out" } },
	{ "system calls, files",
	  ALWAYS,
	  { [FORM_KUBE] = "the runtime's own filter, and no Landlock",
	    [FORM_QUADLET] = "the runtime's own filter, and no Landlock",
	    [FORM_COMPOSE] = "the runtime's own filter, and no Landlock",
	    [FORM_DEVCONTAINER] = "the runtime's own filter, and no Landlock",
	    [FORM_OCI] = "no filter of ours, and no Landlock" } },
	{ "what was refused",
	  ALWAYS,
	  { [FORM_KUBE] = "is not reported: there is no supervisor",
	    [FORM_QUADLET] = "is not reported: there is no supervisor",
	    [FORM_COMPOSE] = "is not reported: there is no supervisor",
	    [FORM_DEVCONTAINER] = "is not reported: there is no supervisor",
	    [FORM_OCI] = "is not reported: there is no supervisor" } },
	{ "limit of processes", IF_PIDS, { [FORM_KUBE] = "the node's own" } },
	{ "limit of disk",
	  IF_DISK,
	  { [FORM_QUADLET] = "none",
	    [FORM_COMPOSE] = "none",
	    [FORM_DEVCONTAINER] = "none",
	    [FORM_OCI] = "none" } },
	{ "deploy key",
	  IF_KEY,
	  { [FORM_KUBE] = "left out: nobody signs there",
	    [FORM_QUADLET] = "left out: nobody signs there",
	    [FORM_COMPOSE] = "left out: nobody signs there",
	    [FORM_DEVCONTAINER] = "left out: nobody signs there",
	    [FORM_OCI] = "left out: nobody signs there" } },
	{ "secrets",
	  IF_SECRETS,
	  { [FORM_KUBE] = "the cluster's, inside as variables; none is brokered",
	    [FORM_QUADLET] = "podman's, inside as variables; none is brokered",
	    [FORM_COMPOSE] = "of your environment, inside as variables; none is brokered",
	    [FORM_DEVCONTAINER] = "of your environment, inside as variables; none is brokered",
	    [FORM_OCI] = "left out: write them into process.env" } },
};

static bool is_wished(const struct task *task, enum wish wish)
{
	const struct spec *spec = task->spec;
	bool into = false;

	for (size_t i = 0; i < spec->n_ports; i++)
		into |= spec->ports[i].into;
	switch (wish) {
	case IF_MOUNTS:
		return spec->n_mounts;
	case IF_FILTERED:
		return task->filtered;
	case IF_OPEN:
		return !task->filtered && spec->net != NET_NONE;
	case IF_PIDS:
		return spec->limits.pids;
	case IF_DISK:
		return spec->limits.disk;
	case IF_KEY:
		return spec->deploy_key;
	case IF_SECRETS:
		return task->secrets.len;
	case IF_HOST_PORT:
		return into;
	case IF_PUBLISHED_AUTO:
		return spec->publish_auto;
	default:
		return true;
	}
}

size_t task_weaker(const struct task *task, enum task_form form, struct weaker *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows) && n < max; i++)
		if (rows[i].there[form] && is_wished(task, rows[i].wish))
			ret[n++] = (struct weaker){ rows[i].what, rows[i].there[form] };
	return n;
}

void task_add_weaker(struct str *out, const struct task *task, enum task_form form,
		     const char *prefix)
{
	struct weaker list[TASK_WEAKER_MAX];
	size_t n = task_weaker(task, form, list, ARRAY_LEN(list));

	str_addf(out, "%sWeaker than in wrapix's own engine:\n", prefix);
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s  %-20s %s\n", prefix, list[i].what, list[i].there);
}
