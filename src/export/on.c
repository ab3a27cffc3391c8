/* SPDX-License-Identifier: MIT */
/* The command lines of podman and kubectl for a task. */
#include "export/on.h"

#include <ctype.h>
#include <string.h>

#include "export/pod.h"

/* --- where --- */

static bool is_word(const char *text)
{
	if (!*text || *text == '-')
		return false;
	for (; *text; text++)
		if (!isascii(*text) || (!isalnum((unsigned char)*text) && !strchr("._@:/-", *text)))
			return false;
	return true;
}

int on_parse(struct arena *arena, const char *text, struct on_place *ret, struct err *err)
{
	const char *slash;

	*ret = (struct on_place){ 0 };
	if (str_starts(text, "podman:") && is_word(text + 7)) {
		ret->kind = ON_PODMAN;
		ret->connection = arena_strdup(arena, text + 7);
		return 0;
	}
	if (str_starts(text, "kube:") && is_word(text + 5)) {
		ret->kind = ON_KUBE;
		slash = strrchr(text, '/'); /* a context may have one in its name */
		ret->space = arena_strdup(arena, slash ? slash + 1 : text + 5);
		if (slash)
			ret->connection = arena_strndup(arena, text + 5,
							(size_t)(slash - text - 5));
		if (*ret->space && (!slash || *ret->connection))
			return 0;
	}
	err_usage(err, "--on: a place is podman:CONNECTION or kube:[CONTEXT/]NAMESPACE");
	return err_hint(err, "'podman system connection list' and 'kubectl config get-contexts' "
			     "name them");
}

int on_check(const struct on_place *place, const struct task *task, struct err *err)
{
	if (place->kind == ON_PODMAN && task->filtered) {
		err_usage(err, "--on podman: there is no filter by name of host");
		return err_hint(err, "--network none or --network open, or a cluster with Cilium");
	}
	if (task->spec->net == NET_HOST)
		return err_usage(err, "--on: another machine does not lend its network");
	if (task->spec->n_ports)
		return err_usage(err, "--on: ports of another machine are not published here");
	if (task->spec->deploy_key)
		return err_usage(err, "--on: a deploy key stays on this machine");
	if (task->spec->n_mounts &&
	    task->spec->mounts[task->spec->n_mounts - 1].layer == LAYER_FLAG)
		return err_usage(err, "--on: another machine has other files to mount");
	if (task->filtered && task->n_deny)
		return err_usage(err, "--on: hosts to deny cannot be written for a cluster");
	return 0;
}

const char *on_program(const struct on_place *place)
{
	return place->kind == ON_PODMAN ? "podman" : "kubectl";
}

static void begin(struct arena *arena, const struct on_place *place, struct strv *words)
{
	strv_add(arena, words, on_program(place));
	if (place->kind == ON_PODMAN)
		strv_addf(arena, words, "--%s=%s",
			  strstr(place->connection, "://") ? "url" : "connection",
			  place->connection);
	else if (place->connection)
		strv_addf(arena, words, "--context=%s", place->connection);
	if (place->space)
		strv_addf(arena, words, "--namespace=%s", place->space);
}

static void add_words(struct arena *arena, struct strv *words, const char *const *more)
{
	for (; *more; more++)
		strv_add(arena, words, *more);
}
#define WORDS(...) add_words(arena, ret, (const char *const[]){ __VA_ARGS__, NULL })

void on_image_argv(struct arena *arena, const struct on_place *place, const struct task *task,
		   struct strv *ret)
{
	if (place->kind != ON_PODMAN)
		return;
	begin(arena, place, ret);
	WORDS("image", "exists", task->image);
}

void on_apply_argv(struct arena *arena, const struct on_place *place, struct strv *ret)
{
	if (place->kind != ON_KUBE)
		return;
	begin(arena, place, ret);
	WORDS("apply", "--filename=-");
}

void on_wait_argv(struct arena *arena, const struct on_place *place, struct strv *ret)
{
	if (place->kind != ON_KUBE)
		return;
	begin(arena, place, ret);
	WORDS("wait", "--for=condition=Ready", "--timeout=300s");
	strv_addf(arena, ret, "pod/%s", place->name);
}

/* --- podman's container --- */

static void add_limits(struct arena *arena, const struct limits *limits, struct strv *ret)
{
	if (limits->memory)
		strv_addf(arena, ret, "--memory=%llu", (unsigned long long)limits->memory);
	if (limits->cpus)
		strv_addf(arena, ret, "--cpus=%g", limits->cpus);
	if (limits->pids)
		strv_addf(arena, ret, "--pids-limit=%llu", (unsigned long long)limits->pids);
}

/* A secret is named: the client takes its value from the environment that it has of us. */
static void add_env(struct arena *arena, const struct task *task, struct strv *ret)
{
	for (size_t i = 0; i < task->n_env; i++)
		strv_addf(arena, ret, "--env=%s=%s", task->env[i].name, task->env[i].value);
	for (size_t i = 0; i < task->secrets.len; i++)
		strv_addf(arena, ret, "--env=%s", task->secrets.v[i]);
}

static void add_container(struct arena *arena, const struct on_place *place,
			  const struct task *task, struct strv *ret)
{
	WORDS("run", "--rm", "--interactive", "--pull=never", "--log-driver=none",
	      "--sig-proxy=false", "--http-proxy=false", "--cap-drop=all",
	      "--security-opt=no-new-privileges", "--read-only", "--read-only-tmpfs=false");
	strv_addf(arena, ret, "--name=%s", place->name);
	strv_addf(arena, ret, "--label=wrapix.name=%s", task->name);
	strv_addf(arena, ret, "--userns=keep-id:uid=%d,gid=%d", TASK_UID, TASK_UID);
	strv_addf(arena, ret, "--user=%d:%d", TASK_UID, TASK_UID);
	strv_addf(arena, ret, "--network=%s", task->spec->net == NET_NONE ? "none" : "pasta");
	for (size_t i = 0; task_places[i]; i++)
		strv_addf(arena, ret, "--mount=type=tmpfs,dst=%s,U=true,tmpfs-mode=%s",
			  task_places[i], strcmp(task_places[i], HOME_INSIDE) ? "1777" : "0700");
	WORDS("--mount=type=tmpfs,dst=/wrapix,U=true,tmpfs-mode=0700",
	      "--mount=type=volume,dst=" WORKSPACE_INSIDE ",U=true", "--workdir=" WORKSPACE_INSIDE);
	add_limits(arena, &task->spec->limits, ret);
	add_env(arena, task, ret);
	WORDS("--entrypoint=[\"/bin/sh\"]", task->image, "-c", ON_HOLD);
}

void on_up_argv(struct arena *arena, const struct on_place *place, const struct task *task,
		struct strv *ret)
{
	begin(arena, place, ret);
	if (place->kind == ON_PODMAN)
		add_container(arena, place, task, ret);
	else
		WORDS("attach", "--stdin", "--container=wrapix", "--quiet", place->name);
}

void on_exec_argv(struct arena *arena, const struct on_place *place, bool tty, struct strv *ret)
{
	begin(arena, place, ret);
	WORDS("exec", place->kind == ON_PODMAN ? "--interactive" : "--stdin");
	if (tty)
		WORDS("--tty");
	/* No key is to be kept from the program; none at all is refused. */
	if (tty && place->kind == ON_PODMAN)
		WORDS("--detach-keys=ctrl-@,ctrl-@,ctrl-@,ctrl-@");
	if (place->kind == ON_PODMAN)
		WORDS(place->name);
	else
		WORDS("--container=wrapix", place->name, "--");
}

void on_down_argv(struct arena *arena, const struct on_place *place, struct strv *ret)
{
	begin(arena, place, ret);
	if (place->kind == ON_PODMAN) {
		WORDS("rm", "--force", "--ignore", "--volumes", "--time=0", place->name);
		return;
	}
	WORDS("delete", "--now", "--wait=false", "--ignore-not-found", "--filename=-");
}

/* --- kube's objects --- */

void on_manifest(struct str *out, const struct on_place *place, const struct task *task)
{
	struct task lent = *task;

	lent.name = (char *)place->name;
	lent.secrets_of = task->name;
	kube_lend(out, &lent);
}
