/* SPDX-License-Identifier: MIT */
/*
 * A task on somebody else's engine, through that engine's own client: 'run --on'. A container is lent: it
 * lives as long as the standard input of the client that started it, so that it ends with us however we
 * end. The workspace goes in, the command runs and the result comes out as commands in it.
 *
 *	up	the container, whose first words are "ready"
 *	exec	... cat >in/workspace.bundle, ... sh in/task.sh CMD, ... cat out/result.bundle
 *	down	what a client leaves
 *
 * Here are the words for it, and nothing is done.
 */
#pragma once

#include "export/task.h"

enum on_kind { ON_PODMAN, ON_KUBE };

struct on_place {
	enum on_kind kind;
	char *connection; /* podman's connection or its URL; kubectl's context, or NULL: the current one */
	char *space;   /* kube's namespace */
	char name[64]; /* of the container or the pod */
};

/* "podman:CONNECTION", "podman:unix:///run/...", "kube:[CONTEXT/]NAMESPACE". */
int on_parse(struct arena *arena, const char *text, struct on_place *ret, struct err *err);
/* What the place cannot do as asked. */
int on_check(const struct on_place *place, const struct task *task, struct err *err);

/* The client's program: to be found on PATH. */
const char *on_program(const struct on_place *place);

/* Command lines; words[0] is the program's name. */
/* Ends with 0 when the image is there; nothing for kube, whose nodes fetch it. */
void on_image_argv(struct arena *arena, const struct on_place *place, const struct task *task,
		   struct strv *ret);
/* kube: makes what on_manifest() says, and waits for it; nothing for podman. */
void on_apply_argv(struct arena *arena, const struct on_place *place, struct strv *ret);
void on_wait_argv(struct arena *arena, const struct on_place *place, struct strv *ret);
/* Holds the container with its standard input. */
void on_up_argv(struct arena *arena, const struct on_place *place, const struct task *task,
		struct strv *ret);
/* Begins a command in it; the caller adds its words. */
void on_exec_argv(struct arena *arena, const struct on_place *place, bool tty, struct strv *ret);
/* Reads the manifest, of kube. */
void on_down_argv(struct arena *arena, const struct on_place *place, struct strv *ret);
void on_manifest(struct str *out, const struct on_place *place, const struct task *task);

/* What the container runs, until its input ends. */
#define ON_HOLD "mkdir -p " TASK_IN " " TASK_OUT " && echo ready && exec cat >/dev/null"
