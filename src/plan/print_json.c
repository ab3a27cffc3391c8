/* SPDX-License-Identifier: MIT */
/* The plan as JSON, for programs: the same facts as in its text, in the same order. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "plan/apple.h"
#include "plan/podman.h"
#include "plan/shown.h"
#include "spec/file_rules.h"

static void json_key(struct str *out, const char *key)
{
	str_addf(out, "%s\n  \"%s\": ", out->len > 1 ? "," : "", key);
}

static void json_pair(struct str *out, const char *key, const char *value)
{
	json_key(out, key);
	json_add_string(out, value);
}

static void json_list(struct str *out, const char *key, const struct strv *list)
{
	json_key(out, key);
	json_add_strings(out, list);
}

static void json_op(struct str *out, const struct op *op)
{
	str_addf(out, "\n    {\"op\": \"%s\", \"dest\": ", op_name(op->kind));
	json_add_string(out, op->dest);
	if (op_is_private(op)) {
		str_addf(out, ", \"bytes\": %zu", strlen(op->src));
	} else if (op->src) {
		str_addf(out, ", \"%s\": ",
			 op_has_content(op)    ? "content"
			 : op->kind == OP_LINK ? "target"
					       : "source");
		json_add_string(out, op->src);
	}
	if (op->kind == OP_BIND || op->kind == OP_ROOT)
		str_addf(out, ", \"mode\": \"%s\"", op->flags & OPF_RO ? "ro" : "rw");
	else if (op->mode)
		str_addf(out, ", \"permissions\": \"%04o\"", op->mode);
	if (op->flags & OPF_COPY)
		str_add(out, ", \"copy\": true");
	if (op->flags & OPF_DEV)
		str_add(out, ", \"devices\": true");
	if (op->flags & OPF_OPTIONAL)
		str_add(out, ", \"optional\": true");
	str_add(out, "}");
}

static void json_rules(struct str *out, const struct plan *plan)
{
	json_key(out, "landlock");
	str_addf(out, "{\"abi\": %d, \"rules\": [", plan->landlock_abi);
	for (size_t i = 0; i < plan_rules_in_force(plan); i++) {
		str_addf(out, "%s{\"path\": ", i ? ", " : "");
		json_add_string(out, plan->rules[i].path);
		str_addf(out, ", \"access\": \"%s\"}", access_name(plan->rules[i].class));
	}
	str_add(out, "]}");
}

/* 0: not limited. A default for memory holds only in a group. */
static void json_limits(struct str *out, const struct plan *plan)
{
	bool held = plan->limits_by != CGROUP_NONE ||
		    (plan->limits.asked & LIMIT_BIT(LIMIT_MEMORY));

	json_key(out, "limits");
	str_addf(out,
		 "{\"by\": \"%s\", \"memory\": %llu, \"pids\": %llu, \"cpus\": %g, \"private\": "
		 "%llu}",
		 cgroup_kind_name(plan->limits_by),
		 (unsigned long long)(held ? plan->limits.memory : 0),
		 (unsigned long long)plan->limits.pids, plan->limits.cpus,
		 (unsigned long long)plan->scratch_size);
}

/* Lists of words, in the order in which they are tried. */
static void json_uplinks(struct str *out, const struct plan *plan)
{
	json_key(out, "uplinks");
	str_add(out, "[");
	for (size_t i = 0; i < plan->n_uplinks; i++) {
		str_add(out, i ? ", " : "");
		json_add_strings(out, &plan->uplinks[i]);
	}
	str_add(out, "]");
}

static void json_ports(struct str *out, const struct plan *plan)
{
	struct arena a = { 0 };
	struct strv published = ports_shown(&a, plan, false), into = ports_shown(&a, plan, true);

	json_list(out, "publish", &published);
	json_list(out, "hostPorts", &into);
	arena_release(&a);
}

static void json_keys(struct str *out, const struct plan *plan)
{
	struct arena a = { 0 };
	struct strv keys = { 0 };

	if (plan->keys.name)
		keys = keys_shown(&a, &plan->keys);
	json_list(out, "keys", &keys);
	keys = credentials_shown(&a, plan);
	json_list(out, "credentials", &keys);
	arena_release(&a);
}

static void json_env(struct str *out, const struct plan *plan)
{
	struct strv shown = { 0 };
	struct arena a = { 0 };

	for (size_t i = 0; i < plan->env.len; i++)
		strv_add(&a, &shown, env_shown(&a, plan->env.v[i]));
	json_list(out, "env", &shown);
	arena_release(&a);
}

static void json_files(struct str *out, const struct plan *plan)
{
	json_key(out, "rules");
	str_add(out, "[");
	for (size_t i = 0; plan_is_brokered(plan) && i < plan->files->n; i++) {
		const struct file_rule *rule = &plan->files->rules[i];

		str_addf(out, "%s\n    {\"rule\": \"%s\", \"text\": ", i ? "," : "",
			 file_rule_kind_name(rule->kind));
		json_add_string(out, rule->text);
		if (rule->path && !rule->glob) {
			str_add(out, ", \"path\": ");
			json_add_string(out, rule->path);
		}
		str_add(out, "}");
	}
	str_add(out, "]");
	json_key(out, "allUnixSockets");
	str_add(out, plan->guard_unix ? "false" : "true");
	json_list(out, "unixSockets", &plan->unix_sockets);
	json_list(out, "deniedResolvedAddresses", &plan->denied_resolved);
}

static void json_about(struct str *out, const struct plan *plan)
{
	json_pair(out, "engine", engine_name(plan->engine));
	json_pair(out, "name", plan->name);
	json_pair(out, "project", plan->project);
	if (plan->cow_base)
		json_pair(out, "changes", plan->cow_base);
	if (plan->git_real)
		json_pair(out, "git", "private");
	if (plan->protection)
		json_pair(out, "protect", plan->protection);
	json_key(out, "identity");
	str_addf(out, "{\"uid\": %u, \"gid\": %u", plan->uid, plan->gid);
	if (!plan_root_of_host(plan))
		str_addf(out, ", \"home\": \"%s\", \"hostname\": \"%s\"", HOME_INSIDE,
			 plan->hostname);
	str_add(out, "}");
}

static void json_root(struct str *out, const struct plan *plan)
{
	json_key(out, "root");
	str_add(out, "[");
	for (size_t i = 0; i < plan->n_ops; i++) {
		str_add(out, i ? "," : "");
		json_op(out, &plan->ops[i]);
	}
	str_add(out, "\n  ]");
}

static void json_network(struct str *out, const struct plan *plan)
{
	json_pair(out, "network", net_mode_name(plan->net));
	json_uplinks(out, plan);
	json_list(out, "allow", &plan->allow);
	json_list(out, "deny", &plan->deny);
	if (plan->net == NET_FILTERED)
		json_pair(out, "filterTier", plan_filter_name(plan));
	json_key(out, "explain");
	str_add(out, plan->explain ? "true" : "false");
	json_ports(out, plan);
}

void plan_print_json(const struct plan *plan, FILE *file)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{");
	json_about(&out, plan);
	json_root(&out, plan);
	if (plan->files)
		json_files(&out, plan);
	json_network(&out, plan);
	json_keys(&out, plan);
	json_pair(&out, "seccomp",
		  plan->engine == ENGINE_APPLE ? "none" : seccomp_describe(plan_seccomp(plan)));
	json_rules(&out, plan);
	if (plan->engine != ENGINE_APPLE)
		json_limits(&out, plan);
	json_env(&out, plan);
	json_pair(&out, "cwd", plan->cwd);
	json_list(&out, "command", &plan->argv);
	if (plan->engine == ENGINE_PODMAN)
		podman_print_json(&out, plan);
	if (plan->engine == ENGINE_APPLE)
		apple_print_json(&out, plan);
	json_list(&out, "notes", &plan->says);
	json_list(&out, "weaker", &plan->weaker);
	str_add(&out, "\n}\n");
	fputs(out.s, file);
}
