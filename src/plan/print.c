/* SPDX-License-Identifier: MIT */
/* The plan as text for people and as JSON for programs. Secrets are never in a plan's print: the
 * values of the environment are shown for our own variables only. */
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "plan/plan.h"
#include "spec/file_rules.h"

static const char *const op_names[] = {
	[OP_DIR] = "dir",           [OP_FILE] = "file",       [OP_LINK] = "link",
	[OP_BIND] = "bind",         [OP_SCRATCH] = "scratch", [OP_PROC] = "proc",
	[OP_DEVPTS] = "devpts",     [OP_COVER] = "cover",     [OP_HIDE] = "hide",
	[OP_READONLY] = "readonly", [OP_SOCKET] = "socket",   [OP_ROOT] = "root",
	[OP_DENY] = "deny",         [OP_COW] = "cow",         [OP_IMAGE] = "image",
};

static const char *const access_names[] = {
	[ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_DEV] = "devices"
};

/* Values that say nothing secret; all others print as their name. */
static const char *const plain_env[] = {
	"PATH",   "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "XDG_RUNTIME_DIR",
	"WRAPIX", "TERM", "LANG",
};

static bool is_plain(const char *entry)
{
	for (size_t i = 0; i < ARRAY_LEN(plain_env); i++) {
		size_t len = strlen(plain_env[i]);

		if (!strncmp(entry, plain_env[i], len) && entry[len] == '=')
			return true;
	}
	return false;
}

static char *env_shown(struct arena *arena, const char *entry)
{
	return is_plain(entry) ? arena_strdup(arena, entry)
			       : arena_strndup(arena, entry, strcspn(entry, "="));
}

static bool has_content(const struct op *op)
{
	return op->kind == OP_FILE || op->kind == OP_COVER;
}

/* Staged for the agent: it may hold a part of a key. */
static bool is_private(const struct op *op)
{
	return has_content(op) && op->mode == 0600;
}

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
	str_addf(out, "  %-8s ", op_names[op->kind]);
	str_add_escaped(out, op->dest);
	op_flags_text(out, op);
	if (has_content(op))
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

/* One direction of the ports, as the options take them. */
static struct strv ports_shown(struct arena *a, const struct plan *plan, bool into)
{
	struct strv shown = { 0 };

	for (size_t i = 0; i < plan->n_ports; i++) {
		const struct port_spec *port = &plan->ports[i];
		bool v6 = strchr(port->address, ':') != NULL;

		if (port->into != into)
			continue;
		if (into)
			strv_addf(a, &shown, "%u", port->host);
		else
			strv_addf(a, &shown, "%s%s%s:%u:%u", v6 ? "[" : "", port->address,
				  v6 ? "]" : "", port->host, port->inside);
	}
	if (!into && plan->publish_auto)
		strv_add(a, &shown, "auto");
	return shown;
}

static void print_ports(struct str *out, struct arena *a, const struct plan *plan)
{
	struct strv published = ports_shown(a, plan, false), into = ports_shown(a, plan, true);

	if (published.len)
		print_words(out, "publish", &published);
	if (into.len)
		print_words(out, "host-port", &into);
}

static struct strv keys_shown(struct arena *a, const struct plan_keys *keys)
{
	struct strv shown = { 0 };

	strv_add(a, &shown, keys->name);
	strv_add(a, &shown, keys->agent ? "agent" : "file");
	if (keys->deploy)
		strv_add(a, &shown, "deploy");
	if (keys->signing)
		strv_add(a, &shown, "signing");
	if (keys->asker)
		strv_add(a, &shown, "confirm");
	return shown;
}

/* "TOKEN from the store", "TOKEN brokered for https://host:443/v1/ at 127.0.0.1:4777" */
static struct strv credentials_shown(struct arena *a, const struct plan *plan)
{
	struct strv shown = { 0 };

	for (size_t i = 0; i < plan->n_credentials; i++) {
		const struct plan_credential *c = &plan->credentials[i];

		if (c->port)
			strv_addf(a, &shown, "%s brokered for https://%s:%u%s at 127.0.0.1:%u",
				  c->about.name, c->upstream.host, c->upstream.port,
				  c->upstream.prefix, c->port);
		else if (!c->is_set)
			strv_addf(a, &shown, "%s from the store%s", c->about.name,
				  c->named ? "" : ", if it is there");
	}
	return shown;
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

static const char *filter_name(const struct plan *plan)
{
	return plan->engine == ENGINE_APPLE ? "proxy" : filter_tier_name(plan->filter_tier);
}

/* The rules are kept for every kernel; an old one cannot be given them. */
static size_t rules_in_force(const struct plan *plan)
{
	return landlock_handles_files(plan->landlock_abi) ? plan->n_rules : 0;
}

static void print_protections(struct str *out, const struct plan *plan)
{
	str_addf(out, "seccomp   %s\n", seccomp_describe(plan_seccomp(plan)));
	str_addf(out, "landlock  ABI %d:%s%s%s\n", plan->landlock_abi,
		 rules_in_force(plan) ? " files" : "",
		 landlock_has_scopes(plan->landlock_abi) ? " signals abstract-sockets" : "",
		 rules_in_force(plan) || landlock_has_scopes(plan->landlock_abi) ? "" : " none");
	for (size_t i = 0; i < rules_in_force(plan); i++) {
		str_addf(out, "  %-8s ", access_names[plan->rules[i].class]);
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

void plan_print(const struct plan *plan, FILE *file)
{
	_cleanup_str_ struct str out = { 0 };
	struct arena a = { 0 };

	print_line(&out, "engine", engine_name(plan->engine));
	print_line(&out, "name", plan->name);
	print_line(&out, "project", plan->project);
	if (plan->cow_base)
		print_line(&out, "changes", plan->cow_base);
	if (plan->git_real)
		print_line(&out, "git", "private");
	if (plan->protection)
		print_line(&out, "protect", plan->protection);
	str_addf(&out, "identity  uid %u, gid %u", plan->uid, plan->gid);
	if (!plan_root_of_host(plan))
		str_addf(&out, ", home %s, host name %s", HOME_INSIDE, plan->hostname);
	str_add(&out, "\n");
	if (plan->engine == ENGINE_APPLE)
		print_line(&out, "spaces", "a virtual machine");
	else
		str_addf(&out, "spaces    user mount pid ipc uts cgroup%s\n",
			 plan->net == NET_HOST ? "" : " net");
	str_add(&out, "root\n");
	for (size_t i = 0; i < plan->n_ops; i++)
		print_op(&out, &plan->ops[i]);
	print_files(&out, plan);
	print_line(&out, "network", net_mode_name(plan->net));
	for (size_t i = 0; i < plan->n_uplinks; i++)
		print_words(&out, i ? "or" : "uplink", &plan->uplinks[i]);
	if (plan->allow.len)
		print_words(&out, "allow", &plan->allow);
	if (plan->deny.len)
		print_words(&out, "deny", &plan->deny);
	if (plan->net == NET_FILTERED)
		str_addf(&out, "filter    %s%s\n", filter_name(plan),
			 plan->explain ? ", tells programs why" : "");
	print_ports(&out, &a, plan);
	if (plan->keys.name) {
		struct strv keys = keys_shown(&a, &plan->keys);

		print_words(&out, "keys", &keys);
	}
	print_credentials(&out, &a, plan);
	if (plan->engine != ENGINE_APPLE)
		print_protections(&out, plan);
	if (plan->engine == ENGINE_NATIVE)
		print_limits(&out, plan);
	for (size_t i = 0; i < plan->env.len; i++)
		print_line(&out, "env", env_shown(&a, plan->env.v[i]));
	print_line(&out, "cwd", plan->cwd);
	print_words(&out, "command", &plan->argv);
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

/* JSON: the same facts in the same order. */

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
	str_add(out, "[");
	for (size_t i = 0; i < list->len; i++) {
		str_add(out, i ? ", " : "");
		json_add_string(out, list->v[i]);
	}
	str_add(out, "]");
}

static void json_op(struct str *out, const struct op *op)
{
	str_addf(out, "\n    {\"op\": \"%s\", \"dest\": ", op_names[op->kind]);
	json_add_string(out, op->dest);
	if (is_private(op)) {
		str_addf(out, ", \"bytes\": %zu", strlen(op->src));
	} else if (op->src) {
		str_addf(out, ", \"%s\": ",
			 has_content(op)       ? "content"
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
	for (size_t i = 0; i < rules_in_force(plan); i++) {
		str_addf(out, "%s{\"path\": ", i ? ", " : "");
		json_add_string(out, plan->rules[i].path);
		str_addf(out, ", \"access\": \"%s\"}", access_names[plan->rules[i].class]);
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
		str_add(out, i ? ", [" : "[");
		for (size_t j = 0; j < plan->uplinks[i].len; j++) {
			str_add(out, j ? ", " : "");
			json_add_string(out, plan->uplinks[i].v[j]);
		}
		str_add(out, "]");
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

void plan_print_json(const struct plan *plan, FILE *file)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{");
	json_pair(&out, "engine", engine_name(plan->engine));
	json_pair(&out, "name", plan->name);
	json_pair(&out, "project", plan->project);
	if (plan->cow_base)
		json_pair(&out, "changes", plan->cow_base);
	if (plan->git_real)
		json_pair(&out, "git", "private");
	if (plan->protection)
		json_pair(&out, "protect", plan->protection);
	json_key(&out, "identity");
	str_addf(&out, "{\"uid\": %u, \"gid\": %u", plan->uid, plan->gid);
	if (!plan_root_of_host(plan))
		str_addf(&out, ", \"home\": \"%s\", \"hostname\": \"%s\"", HOME_INSIDE,
			 plan->hostname);
	str_add(&out, "}");
	json_key(&out, "root");
	str_add(&out, "[");
	for (size_t i = 0; i < plan->n_ops; i++) {
		str_add(&out, i ? "," : "");
		json_op(&out, &plan->ops[i]);
	}
	str_add(&out, "\n  ]");
	if (plan->files)
		json_files(&out, plan);
	json_pair(&out, "network", net_mode_name(plan->net));
	json_uplinks(&out, plan);
	json_list(&out, "allow", &plan->allow);
	json_list(&out, "deny", &plan->deny);
	if (plan->net == NET_FILTERED)
		json_pair(&out, "filterTier", filter_name(plan));
	json_key(&out, "explain");
	str_add(&out, plan->explain ? "true" : "false");
	json_ports(&out, plan);
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
