/* SPDX-License-Identifier: MIT */
/* The plan as text, for people. */
#include <string.h>

#include "base/str.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "plan/apple.h"
#include "plan/podman.h"
#include "plan/shown.h"
#include "spec/file_rules.h"

static void op_flags_text(struct str *out, const struct op *op)
{
	if (op->kind == OP_BIND || op->kind == OP_ROOT)
		str_add(out, op->flags & OPF_RO ? " ro" : " rw");
	if (op->flags & OPF_HELD)
		str_add(out, " held");
	if (op->flags & OPF_COPY)
		str_add(out, " copy");
	if (op->flags & OPF_DEV)
		str_add(out, " dev");
	if (op->flags & OPF_OPTIONAL)
		str_add(out, op->kind == OP_FILE ? " unless-there" : " optional");
	if (op->mode)
		str_addf(out, " mode=%04o", op->mode);
}

static void print_op(struct str *out, const struct op *op)
{
	str_addf(out, "  %-8s ", op_name(op->kind));
	str_add_escaped(out, op->dest);
	op_flags_text(out, op);
	if (op_has_content(op))
		str_addf(out, " %zu bytes", strlen(op->src));
	else if (op->src && strcmp(op->src, op->dest)) {
		str_add(out, op->kind == OP_LINK ? " -> " : " from ");
		str_add_escaped(out, op->src);
	}
	str_add(out, "\n");
}

static void print_words(struct str *out, const char *title, const struct strv *words)
{
	str_addf(out, "%-9s", title);
	for (size_t i = 0; i < words->len; i++) {
		_cleanup_str_ struct str word = { 0 };

		str_add_shell(&word, words->v[i]);
		str_add(out, " ");
		str_add_escaped(out, word.s);
	}
	str_add(out, "\n");
}

static void print_line(struct str *out, const char *title, const char *value)
{
	str_addf(out, "%-9s ", title);
	str_add_escaped(out, value);
	str_add(out, "\n");
}

static void print_ports(struct str *out, struct arena *a, const struct plan *plan)
{
	struct strv published = ports_shown(a, plan, false), into = ports_shown(a, plan, true);

	if (published.len)
		print_words(out, "publish", &published);
	if (into.len)
		print_words(out, "host-port", &into);
}

static void print_credentials(struct str *out, struct arena *a, const struct plan *plan)
{
	struct strv shown = credentials_shown(a, plan);

	for (size_t i = 0; i < shown.len; i++)
		print_line(out, "secret", shown.v[i]);
}

static void print_limits(struct str *out, const struct plan *plan)
{
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		char line[256];

		cgroup_describe(&plan->cgroup, &plan->limits, limit, line, sizeof(line));
		print_line(out, "limit", line);
	}
	str_addf(out, "limit     private files %llu MiB (tmpfs)\n",
		 (unsigned long long)(plan->scratch_size >> 20));
}

static void print_protections(struct str *out, const struct plan *plan)
{
	str_addf(out, "seccomp   %s\n", seccomp_describe(plan_seccomp(plan)));
	str_addf(out, "landlock  ABI %d:%s%s%s\n", plan->landlock_abi,
		 plan_rules_in_force(plan) ? " files" : "",
		 landlock_has_scopes(plan->landlock_abi) ? " signals abstract-sockets" : "",
		 plan_rules_in_force(plan) || landlock_has_scopes(plan->landlock_abi) ? ""
										      : " none");
	for (size_t i = 0; i < plan_rules_in_force(plan); i++) {
		str_addf(out, "  %-8s ", access_name(plan->rules[i].class));
		str_add_escaped(out, plan->rules[i].path);
		str_add(out, "\n");
	}
}

/* What of the host's tree the supervisor changes for the command, and which sockets it reaches. */
static void print_files(struct str *out, const struct plan *plan)
{
	for (size_t i = 0; plan_is_brokered(plan) && i < plan->files->n; i++) {
		const struct file_rule *rule = &plan->files->rules[i];

		str_addf(out, "rule      %s ", file_rule_kind_name(rule->kind));
		str_add_escaped(out, rule->path && !rule->glob ? rule->path : rule->text);
		str_add(out, "\n");
	}
	if (plan_root_of_host(plan))
		str_addf(out, "sockets   %s\n",
			 !plan->guard_unix        ? "all of the host's"
			 : plan->unix_sockets.len ? "its own, and of the host's"
						  : "its own");
	for (size_t i = 0; i < plan->unix_sockets.len; i++)
		print_line(out, "socket", plan->unix_sockets.v[i]);
	for (size_t i = 0; i < plan->denied_resolved.len; i++)
		print_line(out, "deny-addr", plan->denied_resolved.v[i]);
	for (size_t i = 0; i < plan->n_pass_fds; i++)
		str_addf(out, "pass-fd   %d\n", plan->pass_fds[i]);
}

static void print_about(struct str *out, const struct plan *plan)
{
	print_line(out, "engine", engine_name(plan->engine));
	print_line(out, "name", plan->name);
	print_line(out, "project", plan->project);
	if (plan->cow_base)
		print_line(out, "changes", plan->cow_base);
	if (plan->git_real)
		print_line(out, "git", "private");
	if (plan->protection)
		print_line(out, "protect", plan->protection);
	str_addf(out, "identity  uid %u, gid %u", plan->uid, plan->gid);
	if (!plan_root_of_host(plan))
		str_addf(out, ", home %s, host name %s", HOME_INSIDE, plan->hostname);
	str_add(out, "\n");
	if (plan->engine == ENGINE_APPLE)
		print_line(out, "spaces", "a virtual machine");
	else
		str_addf(out, "spaces    user mount pid ipc uts cgroup%s\n",
			 plan->net == NET_HOST ? "" : " net");
}

static void print_network(struct str *out, struct arena *a, const struct plan *plan)
{
	print_line(out, "network", net_mode_name(plan->net));
	for (size_t i = 0; i < plan->n_uplinks; i++)
		print_words(out, i ? "or" : "uplink", &plan->uplinks[i]);
	if (plan->allow.len)
		print_words(out, "allow", &plan->allow);
	if (plan->deny.len)
		print_words(out, "deny", &plan->deny);
	if (plan->net == NET_FILTERED)
		str_addf(out, "filter    %s%s\n", plan_filter_name(plan),
			 plan->explain ? ", tells programs why" : "");
	print_ports(out, a, plan);
}

static void print_secrets(struct str *out, struct arena *a, const struct plan *plan)
{
	if (plan->keys.name) {
		struct strv keys = keys_shown(a, &plan->keys);

		print_words(out, "keys", &keys);
	}
	print_credentials(out, a, plan);
}

static void print_command(struct str *out, struct arena *a, const struct plan *plan)
{
	for (size_t i = 0; i < plan->env.len; i++)
		print_line(out, "env", env_shown(a, plan->env.v[i]));
	print_line(out, "cwd", plan->cwd);
	print_words(out, "command", &plan->argv);
}

void plan_print(const struct plan *plan, FILE *file)
{
	_cleanup_str_ struct str out = { 0 };
	struct arena a = { 0 };

	print_about(&out, plan);
	str_add(&out, "root\n");
	for (size_t i = 0; i < plan->n_ops; i++)
		print_op(&out, &plan->ops[i]);
	print_files(&out, plan);
	print_network(&out, &a, plan);
	print_secrets(&out, &a, plan);
	if (plan->engine != ENGINE_APPLE)
		print_protections(&out, plan);
	if (plan->engine == ENGINE_NATIVE)
		print_limits(&out, plan);
	print_command(&out, &a, plan);
	if (plan->engine == ENGINE_PODMAN)
		podman_print(&out, plan);
	if (plan->engine == ENGINE_APPLE)
		apple_print(&out, plan);
	for (size_t i = 0; i < plan->says.len; i++)
		print_line(&out, "note", plan->says.v[i]);
	for (size_t i = 0; i < plan->weaker.len; i++)
		print_line(&out, "weaker", plan->weaker.v[i]);
	fputs(out.s, file);
	arena_release(&a);
}
