/* SPDX-License-Identifier: MIT */
/*
 * The same rules that a sandbox would be held to, asked beforehand. For 'wrapix exec' these are the
 * file rules and the lists of hosts; for 'wrapix run' what the plan mounts, and where.
 */
#include "api/why.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "api/exec_priv.h"
#include "api/explain.h"
#include "base/path.h"
#include "base/str.h"
#include "engine/rules.h"
#include "guard/refused.h"
#include "net/policy.h"
#include "os/linux/seccomp.h"
#include "spec/file_rules.h"

static struct why_answer *add_answer(struct why *w, const struct denial *act)
{
	struct why_answer *a = &w->answers[w->n++];

	*a = (struct why_answer){ .act = *act };
	return a;
}

static void allow(struct why *w, struct why_answer *a, const char *why)
{
	_cleanup_str_ struct str text = { 0 };

	a->allowed = true;
	str_add_escaped(&text, why);
	a->why = arena_strdup(&w->arena, text.s);
}

static void refuse(struct why *w, struct why_answer *a)
{
	_cleanup_str_ struct str text = { 0 };

	denial_add_why(&text, &a->act);
	a->why = arena_strdup(&w->arena, text.s);
	fix_make(&w->arena, &a->act, &w->place, &a->fix);
}

/* --- wrapix exec --- */

static void judge_file(struct why *w, const char *path, const char *what, struct file_verdict v)
{
	const struct file_rule *rule = v.rule;
	struct why_answer *a = add_answer(
		w, &(struct denial){ .what = what,
				     .call = "openat",
				     .path = path,
				     .rule = rule ? rule->text : NULL,
				     .key = rule ? rule->key : NULL,
				     .origin = rule ? rule->origin : NULL,
				     .firm = rule && rule->firm,
				     .reason = v.allowed ? NULL
					       : rule    ? file_rule_kind_name(rule->kind)
							 : "not-allowed" });

	if (!v.allowed)
		refuse(w, a);
	else if (!rule)
		allow(w, a, "nothing denies it");
	else
		allow(w, a,
		      arena_printf(&w->arena, "%s, '%s'%s%s", rule->key, rule->text,
				   rule->origin ? " at " : "", rule->origin ? rule->origin : ""));
}

/* The rules, and then whether its repository waits for the user. */
static void judge_write(struct why *w, const char *path)
{
	struct file_verdict v = file_rules_write(w->plan->files, path);
	const char *sealed = v.allowed && w->exec ? exec_git_waits(w->exec, path) : NULL;

	struct why_answer *a;

	if (!sealed) {
		judge_file(w, path, "write", v);
		return;
	}
	a = add_answer(w,
		       &(struct denial){
			       .what = "write", .call = "openat", .path = path, .reason = sealed });
	refuse(w, a);
	a->fix.none = "no setting changes that";
}

static void judge_socket(struct why *w, const char *path)
{
	struct why_answer *a = add_answer(w, &(struct denial){ .what = "connect",
							       .call = "connect",
							       .path = path,
							       .reason = "host-socket",
							       .key = "network.allowUnixSockets" });

	if (!w->plan->guard_unix) {
		allow(w, a, "network.allowAllUnixSockets");
		return;
	}
	for (size_t i = 0; i < w->plan->unix_sockets.len; i++)
		if (path_is_below(path, w->plan->unix_sockets.v[i])) {
			allow(w, a, "network.allowUnixSockets");
			return;
		}
	refuse(w, a);
}

/* --- wrapix run --- */

static bool shows(const struct op *op)
{
	return op->kind == OP_BIND || op->kind == OP_COW;
}

/* The path in the sandbox; NULL when it is not there. *ret_op is what put it there. */
static const char *find_inside(struct why *w, const char *path, const struct op **ret_op)
{
	const char *inside = NULL;

	for (size_t i = 0; i < w->plan->n_ops; i++) {
		const struct op *op = &w->plan->ops[i];
		bool hides = op->kind == OP_HIDE || op->kind == OP_DENY || op->kind == OP_COVER ||
			     op->kind == OP_PASS;

		if (shows(op) && op->src && path_is_below(path, op->src)) {
			inside = path_join(&w->arena, op->dest,
					   *path_below(path, op->src) ? path_below(path, op->src)
								      : ".");
			*ret_op = op;
		} else if (hides && inside && path_is_below(inside, op->dest)) {
			inside = NULL;
		}
	}
	return inside;
}

static void judge_mount(struct why *w, const char *path, const char *inside, const struct op *op,
			bool write)
{
	struct why_answer *a = add_answer(w, &(struct denial){ .what = write ? "write" : "read",
							       .call = "openat",
							       .path = path });

	if (inside && !(write && (op->flags & OPF_RO))) {
		allow(w, a,
		      arena_printf(&w->arena, "it is %s inside%s", inside,
				   write && op->kind == OP_COW ? ", and changes wait for 'apply'"
							       : ""));
		return;
	}
	a->why = inside ? arena_printf(&w->arena, "it is %s inside, read-only", inside)
			: "it is not in the sandbox";
	a->fix = (struct fix){ .key = "mounts",
			       .value = arena_printf(&w->arena, "%s:%s:%s", path, path,
						     write ? "rw" : "ro"),
			       .risk = fix_path_risk(path, write, w->place.home) };
}

/* What is mounted, and then what the file rules say of it. */
static void judge_inside(struct why *w, const char *path, const char *inside, const struct op *op,
			 bool write)
{
	const struct file_rules *files = w->plan->files;
	struct file_verdict v;

	if (!files || !inside || (write && !(op->flags & OPF_HELD))) {
		judge_mount(w, path, inside, op, write);
		return;
	}
	v = write ? file_rules_write(files, path) : file_rules_read(files, path);
	if (v.allowed && !write)
		judge_mount(w, path, inside, op, write);
	else
		judge_file(w, path, write ? "write" : "read", v);
}

/* --- both --- */

static bool is_among(const struct seccomp_program *fragment, const char *name)
{
	for (const struct seccomp_call *call = fragment->calls; call->name; call++)
		if (!strcmp(call->name, name))
			return true;
	return false;
}

/* The lists as they are given to container runtimes have every name. */
static const char *list_action(struct json_object *lists, const char *name)
{
	struct json_object *syscalls = json_object_object_get(lists, "syscalls");

	for (size_t i = 0; i < json_object_array_length(syscalls); i++) {
		struct json_object *list = json_object_array_get_idx(syscalls, i);
		struct json_object *names = json_object_object_get(list, "names");

		for (size_t k = 0; k < json_object_array_length(names); k++)
			if (!strcmp(json_object_get_string(json_object_array_get_idx(names, k)),
				    name))
				return json_object_get_string(
					json_object_object_get(list, "action"));
	}
	return NULL;
}

void why_call(struct why *w, const char *name)
{
	unsigned nested = w->plan->nested ? SECCOMP_NESTED : 0;
	const char *text = nested ? seccomp_json_nested : seccomp_json_default, *action;
	_cleanup_json_ struct json_object *lists = NULL;
	struct err ignored; /* it is ours */
	struct why_answer *a;

	w->n = 0;
	a = add_answer(w, &(struct denial){ .what = "call", .call = name });
	action = json_parse(text, strlen(text), "", &lists, &ignored) == 0
			 ? list_action(lists, name)
			 : NULL;
	if (is_among(seccomp_refused(nested), name)) {
		a->act.reason = refused_by_mode(name)                             ? "setuid"
				: is_among(seccomp_refused(SECCOMP_NESTED), name) ? "system-call"
										  : "namespaces";
		refuse(w, a);
		if (action && !strcmp(action, "SCMP_ACT_ALLOW"))
			a->why = arena_printf(&w->arena, "with some arguments: %s", a->why);
	} else if (action && !strcmp(action, "SCMP_ACT_ALLOW")) {
		allow(w, a, "every sandbox may make it");
	} else {
		a->why = action ? "programs are told that the kernel lacks it (ENOSYS)"
				: "no list names it: programs are told that the kernel lacks it "
				  "(ENOSYS)";
		a->fix.none = "no setting allows this system call";
	}
}

void why_path(struct why *w, const char *path)
{
	const struct op *op = NULL;
	const char *inside;
	struct stat st;

	w->n = 0;
	if (!plan_root_of_host(w->plan)) {
		inside = find_inside(w, path, &op);
		judge_inside(w, path, inside, op, false);
		judge_inside(w, path, inside, op, true);
	} else if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
		judge_socket(w, path);
	} else {
		judge_file(w, path, "read", file_rules_read(w->plan->files, path));
		judge_write(w, path);
	}
}

/* Splits "host:port"; false when the port is none. */
static bool split_port(struct arena *arena, const char *text, char **ret_host, uint16_t *ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t len = strlen(text);
	unsigned long port;

	*ret_port = 0;
	*ret_host = arena_strdup(arena, text);
	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return false;
		*ret_host = arena_printf(arena, "%.*s", (int)(end - text - 1), text + 1);
		colon = end[1] ? end + 1 : NULL;
	} else if (colon && strchr(text, ':') != colon) {
		return true; /* an IPv6 address by itself */
	} else if (colon) {
		*ret_host = arena_printf(arena, "%.*s", (int)(colon - text), text);
	}
	if (!colon)
		return true;
	if (strspn(colon + 1, "0123456789") != (size_t)(text + len - colon - 1) || !colon[1])
		return false;
	port = strtoul(colon + 1, NULL, 10);
	*ret_port = (uint16_t)port;
	return port > 0 && port <= UINT16_MAX;
}

static bool is_own_port(const struct plan *plan, const char *host, uint16_t port)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "::1" };
	bool own = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		own |= !strcmp(host, names[i]);
	for (size_t i = 0; own && i < plan->n_ports; i++)
		if (plan->ports[i].into && plan->ports[i].inside == port)
			return true;
	return false;
}

static void judge_host(struct why *w, struct why_answer *a, const struct verdict *v)
{
	a->act.rule = v->rule ? arena_strdup(&w->arena, v->rule->text) : NULL;
	if (v->allow) {
		allow(w, a,
		      arena_printf(&w->arena, "rule '%s'%s", a->act.rule ? a->act.rule : "*",
				   a->act.port ? "" : ", at some port"));
		return;
	}
	a->act.reason = net_reason_name(v->reason);
	if (w->config)
		explain_host(&a->act, w->config, &w->arena);
	if (!a->act.origin)
		explain_host_by_plan(&a->act, w->plan);
	refuse(w, a);
}

int why_host(struct why *w, const char *text, struct err *err)
{
	const struct engine_rules rules = rules_of_plan(w->plan);
	struct policy *policy = NULL;
	char name[NAME_SIZE], *host;
	struct address address;
	struct why_answer *a;
	struct verdict v;
	uint16_t port;
	bool by_address;

	w->n = 0;
	if (!split_port(&w->arena, text, &host, &port))
		return err_usage(err, "'%s' is no HOST[:PORT]", text);
	by_address = address_parse(host, &address);
	if (!by_address && !name_canonical(host, strlen(host), name))
		return err_usage(err, "'%s' is no host that there can be", host);
	if (rules_make_policy(&rules, &policy, err) < 0)
		return -err->code;
	a = add_answer(w,
		       &(struct denial){ .what = port ? "connect" : "lookup",
					 .name = by_address ? NULL : arena_strdup(&w->arena, name),
					 .address = by_address ? host : NULL,
					 .port = port });
	v = by_address ? policy_address(policy, &address, port)
	    : port     ? policy_connect(policy, name, port)
		       : policy_name(policy, name);
	if (w->plan->net == NET_OPEN) {
		allow(w, a, "the network is open: every host but this machine's own services");
	} else if (w->plan->net == NET_NONE) {
		a->why = "there is no network";
		a->fix.none = "'--network filtered --allow HOST' or \"network\" in wrapix.json";
	} else if (is_own_port(w->plan, host, port)) {
		allow(w, a, "a port of this machine that is opened");
	} else {
		judge_host(w, a, &v);
	}
	policy_unref(policy);
	return 0;
}

void why_release(struct why *w)
{
	arena_release(&w->arena);
}
