/* SPDX-License-Identifier: MIT */
/*
 * One sandbox as a document for somebody else's engine. A task is what is left of a spec when this
 * machine is taken away: an image instead of the host's programs, a git bundle instead of the project's
 * directory, names of secrets instead of their values. Each form writes it in its own words.
 *
 *	spec -> task -> kube | quadlet | compose | devcontainer | oci
 *
 * Pure: the same spec gives the same text.
 */
#pragma once

#include <json-c/json_object.h>

#include "base/err.h"
#include "base/str.h"
#include "spec/host.h"

/* In the container. */
#define TASK_IN "/wrapix/in"   /* workspace.bundle and task.sh; read-only */
#define TASK_OUT "/wrapix/out" /* result.bundle and status */
#define TASK_BUNDLE "workspace.bundle"
#define TASK_SCRIPT "task.sh"
#define TASK_RESULT "result.bundle"
#define TASK_UID 1000

/* What a ConfigMap can hold: a megabyte, of base64. */
#define TASK_BUNDLE_MAX ((size_t)700 << 10)

struct rule;

struct task {
	const struct spec *spec;
	char *name;  /* a DNS label: "wrapix-site" */
	char *image; /* as the engine knows it */
	struct strv argv;
	struct env_fact *env; /* values that are no secrets, by name */
	size_t n_env;
	char *secrets_of;    /* the task that they are called after; NULL: this one */
	struct strv secrets; /* variables whose values come from the engine's own store */
	struct rule *allow;  /* NET_FILTERED */
	size_t n_allow, n_deny;
	bool filtered;
	char *runtime;     /* runtimeClassName, or NULL */
	unsigned replicas; /* of a warm pool */
	/* The project, for where it cannot be mounted: a bundle in base64, or NULL where there is none
	 * or it is too large, and the reference in it to begin with. */
	char *bundle;
	bool bundle_is_large;
	char *dir, *home; /* on this machine, for the forms that stay on one */
	uid_t uid;
	gid_t gid;
};

/* What the user says beside what 'run' takes. */
struct task_wishes {
	const char *kind; /* of kube; NULL: pod */
	const char *image;
	const char *runtime;
	unsigned replicas; /* 0: unset */
};

/* About this machine: where the project is, who asks. */
struct task_place {
	const char *dir, *home;
	uid_t uid;
	gid_t gid;
};

int task_make(struct arena *arena, const struct spec *spec, const struct task_place *place,
	      const struct task_wishes *wishes, struct task *ret, struct err *err);

/* The script that takes the workspace in, runs the command and leaves the result; data/export/task.sh. */
const char *task_script(void);

/* The forms. Each adds a text that can be used as it is; kind is of kube alone. */
enum task_form { FORM_KUBE, FORM_QUADLET, FORM_COMPOSE, FORM_DEVCONTAINER, FORM_OCI, FORM_COUNT };
struct form {
	const char *name;
	const char *use; /* what to do with the file */
	int (*write)(struct str *out, const struct task *task, const char *kind, struct err *err);
};
extern const struct form task_forms[FORM_COUNT];
const struct form *task_form(const char *name);

int task_kube(struct str *out, const struct task *task, const char *kind, struct err *err);
int task_quadlet(struct str *out, const struct task *task, const char *kind, struct err *err);
int task_compose(struct str *out, const struct task *task, const char *kind, struct err *err);
int task_devcontainer(struct str *out, const struct task *task, const char *kind, struct err *err);
int task_oci(struct str *out, const struct task *task, const char *kind, struct err *err);

/* The kinds that kube has; NULL at the end. */
extern const char *const kube_kinds[];

/* What is weaker there than in the native engine: the promise, and what becomes of it. */
enum { TASK_WEAKER_MAX = 16 };
struct weaker {
	const char *what, *there;
};
/* Those that this task asks for; returns how many. */
size_t task_weaker(const struct task *task, enum task_form form, struct weaker *ret, size_t max);
/* The same as lines of a comment. */
void task_add_weaker(struct str *out, const struct task *task, enum task_form form,
		     const char *prefix);

/* Where a mount of the spec's comes from, for engines of this machine; 'home' stands for the home
 * directory. Fails where the path holds a character that separates fields there, or that is replaced. */
int task_add_source(struct str *out, const struct task *task, const struct mount_spec *mount,
		    const char *home, struct err *err);
/* Directories that are private and writable in every form; NULL at the end. */
extern const char *const task_places[];

/* For the forms: json-c's objects, with less to type. Each returns what it added. */
struct json_object *json_put(struct json_object *map, const char *key, struct json_object *value);
struct json_object *json_put_text(struct json_object *map, const char *key, const char *value);
struct json_object *json_put_map(struct json_object *map, const char *key);
struct json_object *json_put_list(struct json_object *map, const char *key);
struct json_object *json_push_map(struct json_object *list);
void json_push_text(struct json_object *list, const char *value);
/* The whole, as a document. */
void json_add_document(struct str *out, struct json_object *root);
