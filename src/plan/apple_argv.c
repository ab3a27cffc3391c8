/* SPDX-License-Identifier: MIT */
/* The operations of a plan as arguments for 'container run' and as files for the entrypoint. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "os/darwin/container.h"
#include "plan/apple.h"
#include "plan/parts.h"

#define ENTRY "/opt/wrapix/bin/wrapix-entry"

/* The machine's kernel has these by itself. */
static bool is_kernels(const char *dest)
{
	return path_is_below(dest, "/proc") || path_is_below(dest, "/sys") ||
	       path_is_below(dest, "/dev");
}

static const struct op *mount_around(const struct plan *plan, const struct op *op)
{
	const struct op *around = NULL;

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *other = &plan->ops[i];

		if (other != op && (other->kind == OP_BIND || other->kind == OP_SCRATCH) &&
		    path_is_below(op->dest, other->dest) &&
		    (!around || strlen(other->dest) >= strlen(around->dest)))
			around = other;
	}
	return around;
}

/* In a place that is the sandbox's to write: what stands there already stays. */
static bool in_own_place(const struct plan *plan, const struct op *op)
{
	const struct op *around = mount_around(plan, op);

	return around && (around->kind == OP_SCRATCH || (around->flags & OPF_MAKE));
}

/* The operation whose generated file a link of ours leads to. */
static const struct op *link_target(const struct plan *plan, const struct op *op)
{
	struct arena arena = { 0 };
	char *target = path_join(&arena, path_parent(&arena, op->dest), op->src);
	const struct op *found = NULL;

	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_FILE && !strcmp(plan->ops[i].dest, target))
			found = &plan->ops[i];
	arena_release(&arena);
	return found;
}

static enum apple_way way_of_bind(const struct op *op)
{
	if (op->flags & OPF_SOCKET)
		return APPLE_SOCKET;
	if (op->flags & OPF_DIR)
		return APPLE_DIR;
	return op->flags & OPF_RO ? APPLE_FILE : APPLE_LIVE;
}

enum apple_way apple_way(const struct plan *plan, const struct op *op)
{
	if (is_kernels(op->dest))
		return APPLE_NOT;
	switch (op->kind) {
	case OP_BIND:
		return way_of_bind(op);
	case OP_SOCKET:
		return APPLE_SOCKET;
	case OP_DIR:
	case OP_SCRATCH:
		return APPLE_TREE;
	case OP_FILE:
		return in_own_place(plan, op) || (op->flags & OPF_OPTIONAL) ? APPLE_TREE
									    : APPLE_FILE;
	case OP_LINK:
		return !in_own_place(plan, op) && link_target(plan, op) ? APPLE_FILE : APPLE_TREE;
	case OP_COVER:
		return APPLE_FILE;
	case OP_READONLY:
		return APPLE_READONLY;
	default:
		return APPLE_NOT;
	}
}

/* What a link leads to is staged once. */
static size_t number_of(const struct plan *plan, const struct op *op)
{
	return (size_t)((op->kind == OP_LINK ? link_target(plan, op) : op) - plan->ops);
}

char *apple_staged(struct arena *arena, const struct plan *plan, const struct op *op,
		   const char *stage)
{
	switch (apple_way(plan, op)) {
	case APPLE_TREE:
		return arena_printf(arena, "%s/in/tree%s", stage, op->dest);
	case APPLE_FILE:
		return arena_printf(arena, "%s/in/files/%zu", stage, number_of(plan, op));
	case APPLE_LIVE:
		return arena_printf(arena, "%s/live/%zu", stage, number_of(plan, op));
	case APPLE_SOCKET: /* a link to where the socket is */
		return op->kind == OP_SOCKET ? arena_printf(arena, "%s/in/tree%s", stage, op->dest)
					     : NULL;
	default:
		return NULL;
	}
}

static void add_bind(struct str *out, const char *kind, const char *source, const char *dest)
{
	const char *const words[] = { kind, source, dest };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		str_addn(out, words[i], strlen(words[i]) + 1);
}

void apple_binds(struct arena *arena, const struct plan *plan, struct str *out)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		enum apple_way way = apple_way(plan, op);

		if (way == APPLE_FILE)
			add_bind(out, "bind",
				 arena_printf(arena, APPLE_STAGE_INSIDE "/files/%zu",
					      number_of(plan, op)),
				 op->dest);
		else if (way == APPLE_LIVE)
			add_bind(out, "bind",
				 arena_printf(arena, APPLE_LIVE_INSIDE "/%zu", number_of(plan, op)),
				 op->dest);
		else if (way == APPLE_READONLY)
			add_bind(out, "read-only", "", op->dest);
	}
}

char *apple_socket(struct arena *arena, const char *stage, const char *name)
{
	return arena_printf(arena, "%s/%s.sock", stage, name);
}

/* The ports inside that are sockets outside, as WRAPIX_FORWARD takes them; "": none. */
static char *apple_forwards(struct arena *arena, const struct plan *plan)
{
	_cleanup_str_ struct str out = { 0 };
	size_t n = 0;

	if (plan->net == NET_FILTERED)
		str_addf(&out, "%d=" APPLE_INSIDE "/net.sock", APPLE_PROXY_PORT);
	for (size_t i = 0; i < plan->n_credentials; i++)
		if (plan->credentials[i].port)
			str_addf(&out, "%s%u=" APPLE_INSIDE "/relay-%zu.sock", out.len ? " " : "",
				 plan->credentials[i].port, n++);
	return arena_strdup(arena, out.s ? out.s : "");
}

void apple_env(struct arena *arena, const struct plan *plan, struct strv *ret)
{
	const char *forwards = apple_forwards(arena, plan);

	strv_addf(arena, ret, "WRAPIX_UID=%u", plan->uid);
	strv_addf(arena, ret, "WRAPIX_GID=%u", plan->gid);
	strv_addf(arena, ret, "WRAPIX_USER=%s", plan->apple.user);
	strv_addf(arena, ret, "WRAPIX_CWD=%s", plan->cwd);
	if (plan->apple.relays)
		strv_add(arena, ret, "WRAPIX_LINK=" APPLE_INSIDE "/link.sock");
	else
		strv_add(arena, ret, "WRAPIX_MARK=" APPLE_SAID_INSIDE "/" APPLE_MARK);
	if (*forwards)
		strv_addf(arena, ret, "WRAPIX_FORWARD=%s", forwards);
}

/* --- the command line --- */

/* Two mounts on one place: the later one would hide the other anyway. */
static bool is_hidden(const struct plan *plan, size_t i)
{
	for (size_t j = i + 1; plan->ops[i].kind == OP_BIND && j < plan->n_ops; j++)
		if (plan->ops[j].kind == OP_BIND && !strcmp(plan->ops[i].dest, plan->ops[j].dest))
			return true;
	return false;
}

static int add_op(struct arena *arena, const struct plan *plan, const struct op *op,
		  const char *session, struct strv *ret, struct err *err)
{
	const char *src = op->flags & OPF_SESSION ? op_session_source(arena, op, session) : op->src;

	switch (apple_way(plan, op)) {
	case APPLE_DIR:
		return container_add_dir(arena, ret, src, op->dest, op->flags & OPF_RO, err);
	case APPLE_SOCKET:
		return op->kind == OP_BIND ? container_add_socket(arena, ret, src, op->dest, err)
					   : 0;
	default:
		return 0;
	}
}

static bool has_live(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (apple_way(plan, &plan->ops[i]) == APPLE_LIVE)
			return true;
	return false;
}

/* The sockets of the session's own, under names that no link leads to. */
static int add_sockets(struct arena *arena, const struct plan *plan, const char *stage,
		       struct strv *ret, struct err *err)
{
	const struct {
		bool here;
		char *name;
	} list[] = {
		{ plan->apple.relays, arena_strdup(arena, "link") },
		{ plan->net == NET_FILTERED, arena_strdup(arena, "net") },
		{ plan_has_key_agent(plan), arena_strdup(arena, "agent") },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(list); i++)
		if (list[i].here)
			r = container_add_socket(
				arena, ret, apple_socket(arena, stage, list[i].name),
				apple_socket(arena, APPLE_INSIDE, list[i].name), err);
	for (size_t i = 0; r == 0 && i < plan->n_relays; i++) {
		char *name = arena_printf(arena, "relay-%zu", i);

		r = container_add_socket(arena, ret, apple_socket(arena, stage, name),
					 apple_socket(arena, APPLE_INSIDE, name), err);
	}
	return r;
}

static int add_mounts(struct arena *arena, const struct plan *plan, const char *stage,
		      const char *session, struct strv *ret, struct err *err)
{
	int r = container_add_dir(arena, ret, path_join(arena, stage, "in"), APPLE_STAGE_INSIDE,
				  true, err);

	if (r == 0 && has_live(plan))
		r = container_add_dir(arena, ret, path_join(arena, stage, "live"),
				      APPLE_LIVE_INSIDE, false, err);
	if (r == 0 && !plan->apple.relays)
		r = container_add_dir(arena, ret, path_join(arena, stage, "said"),
				      APPLE_SAID_INSIDE, false, err);
	for (size_t i = 0; r == 0 && i < plan->n_ops; i++)
		if (!is_hidden(plan, i))
			r = add_op(arena, plan, &plan->ops[i], session, ret, err);
	return r == 0 ? add_sockets(arena, plan, stage, ret, err) : r;
}

static void add_network(struct arena *arena, const struct plan *plan, struct strv *ret)
{
	const struct plan_apple *apple = &plan->apple;

	container_add_option(arena, ret, "--network", plan->net == NET_OPEN ? "default" : "none");
	if (plan->net != NET_OPEN)
		strv_add(arena, ret, "--no-dns");
	for (size_t i = 0; i < apple->dns.len; i++)
		container_add_option(arena, ret, "--dns", apple->dns.v[i]);
	for (size_t i = 0; i < apple->search.len; i++)
		container_add_option(arena, ret, "--dns-search", apple->search.v[i]);
}

static int add_ports(struct arena *arena, const struct plan *plan, struct strv *ret,
		     struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_ports; i++)
		r = container_add_port(arena, ret, plan->ports[i].host, plan->ports[i].inside, err);
	return r;
}

/* As root, which the entrypoint needs to be; and in '/', because a share may not be there yet. */
static void add_options(struct arena *arena, const struct plan *plan, const char *session,
			struct strv *ret)
{
	strv_add(arena, ret, plan->apple.program);
	strv_add(arena, ret, "run");
	strv_add(arena, ret, "--rm");
	strv_add(arena, ret, "--interactive");
	if (plan_is_interactive(plan))
		strv_add(arena, ret, "--tty");
	strv_add(arena, ret, "--init");
	if (plan->apple.version >= CONTAINER_VERSION(1, 0, 0))
		container_add_option(arena, ret, "--progress", "none");
	container_add_option(arena, ret, "--name", arena_printf(arena, "wrapix-%s", session));
	container_add_option(arena, ret, "--user", "0:0");
	container_add_option(arena, ret, "--workdir", "/");
	container_add_option(arena, ret, "--entrypoint", ENTRY);
	container_add_option(arena, ret, "--cpus", arena_printf(arena, "%u", plan->apple.cpus));
	container_add_memory(arena, ret, plan->apple.memory);
	container_add_option(arena, ret, "--ulimit", "core=0");
	container_add_env(arena, ret, "WRAPIX_STAGE", APPLE_STAGE_INSIDE);
}

int apple_argv(struct arena *arena, const struct plan *plan, const char *stage, const char *session,
	       struct strv *ret, struct err *err)
{
	int r;

	add_options(arena, plan, session, ret);
	add_network(arena, plan, ret);
	r = container_add_label(arena, ret, "wrapix.session", session, err);
	if (r == 0)
		r = container_add_label(arena, ret, "wrapix.name", plan->name, err);
	if (r == 0)
		r = add_ports(arena, plan, ret, err);
	if (r == 0)
		r = add_mounts(arena, plan, stage, session, ret, err);
	if (r < 0)
		return r;
	container_add_image(arena, ret, plan->apple.image);
	for (size_t i = 0; i < plan->argv.len; i++)
		strv_add(arena, ret, plan->argv.v[i]);
	return 0;
}

/* The same words with names of the length that they will have. */
int plan_apple_check(struct plan *plan, struct err *err)
{
	struct strv words = { 0 };
	struct arena arena = { 0 };
	int r = apple_argv(&arena, plan, plan->apple.base, "SESSION", &words, err);

	if (r == 0 && plan->n_relays && !plan->apple.relays)
		r = err_set(err, ENOTSUP, "a brokered credential needs container 1.1.0 or newer");
	if (r == 0 && plan_has_key_agent(plan) && !plan->apple.relays) {
		err_set(err, ENOTSUP, "a deploy key's agent needs container 1.1.0 or newer");
		r = err_hint(err, "update container, or set deployKeyMode to 'file'");
	}
	arena_release(&arena);
	return r;
}
