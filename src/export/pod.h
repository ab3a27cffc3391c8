/* SPDX-License-Identifier: MIT */
/* The parts that every kind of Kubernetes object has of a task. */
#pragma once

#include "export/task.h"

/* Names of the objects beside the pod: "NAME-in", "NAME-out", "NAME-secrets". */
char *pod_part(const struct task *task, char name[static 64], const char *part);

/* metadata with a name and our labels. */
struct json_object *pod_metadata(const struct task *task, const char *name);
void pod_labels(struct json_object *map, const struct task *task);

enum pod_use {
	POD_TASK, /* runs the command and ends; the result goes to a claim of its own */
	POD_KEPT, /* the same, and the workspace is a volume that who keeps the pod makes */
	POD_WARM, /* waits; commands come later */
	POD_LENT, /* the same, as long as its standard input is open */
};
/* A PodSpec. */
struct json_object *pod_spec(const struct task *task, enum pod_use use);

/* The list of a NetworkPolicy: who may come in, and where to. */
struct json_object *pod_ingress(const struct task *task);
struct json_object *pod_egress(const struct task *task);
/* kube.c: the objects of one lent pod. */
void kube_lend(struct str *out, const struct task *task);
/* What the namespaced objects are selected by. */
struct json_object *pod_selector(const struct task *task);
