/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's guests that answer system calls. What the filter refuses comes first (guards_begin()), then the
 * network's, then files, sockets, renames and memory: of several for one call the first that decides has decided.
 *
 * Whatever a guest is asked was chosen inside, and so is every name in a denial that is told from here.
 */
#include "engine/guards.h"

#include <errno.h>
#include <fcntl.h>

#include "base/path.h"
#include "guard/datagram.h"
#include "os/linux/brief.h"
#include "session/denial.h"

static void on_socket_denied(void *ctx, pid_t pid, const char *call, const char *path)
{
	const struct denial denial = {
		.what = "connect",
		.call = call,
		.path = path,
		.reason = path ? "host-socket" : "datagram-socket",
		.key = "network.allowUnixSockets",
	};

	sandbox_tell_denied(ctx, &denial, pid);
}

static void on_file_denied(void *ctx, const struct broker_denial *refused)
{
	const struct file_rule *rule = refused->rule;
	bool read = rule && rule->kind == FILE_DENY_READ;
	const struct denial denial = {
		.what = read ? "read" : "write",
		.call = refused->call,
		.path = refused->path,
		.reason = refused->reason ? refused->reason
			  : rule          ? file_rule_kind_name(rule->kind)
					  : "not-allowed",
		.rule = rule ? rule->text : NULL,
		.key = rule ? rule->key : NULL,
		.origin = rule ? rule->origin : NULL,
		.firm = rule && rule->firm,
		.made = refused->made,
		.predicted = refused->predicted,
		.site = refused->site,
	};

	sandbox_tell_denied(ctx, &denial, refused->pid);
}

static void on_call_refused(void *ctx, const struct refused_call *call)
{
	const struct denial denial = {
		.what = "call",
		.call = call->name,
		.args = call->args,
		.reason = call->reason,
	};

	sandbox_tell_denied(ctx, &denial, call->pid);
}

static void on_limit_hit(void *ctx, const struct limit_hit *hit)
{
	char value[DENIAL_LIMIT_MAX];
	struct denial denial;

	denial_of_limit(&denial, DENIAL_MEMORY, hit->limit, value);
	denial.call = hit->call;
	denial.predicted = true;
	sandbox_tell_denied(ctx, &denial, hit->pid);
}

static bool was_bound(void *ctx, int file)
{
	const struct sandbox *sandbox = ctx;

	return sandbox->broker && broker_bound(sandbox->broker, file);
}

/* The host's name of what the operation shows; one that only makes something read-only names a place
 * inside, which an operation before it shows. */
static const char *host_name(struct arena *arena, const struct plan *plan, size_t n)
{
	const struct op *op = &plan->ops[n];

	while (!op->src && n-- > 0) {
		const char *below = path_below(op->dest, plan->ops[n].dest);

		if (below && op_shows_host(&plan->ops[n]))
			return path_join(arena, plan->ops[n].src, below);
	}
	return op->src ? op->src : op->dest;
}

/* What the sandbox sees of the host's under other names; none where the names are the host's. */
static struct broker_map *make_maps(struct arena *arena, const struct plan *plan, size_t *ret_n)
{
	struct broker_map *maps = calloc(plan->n_ops + 1, sizeof(*maps));
	size_t n = 0;

	for (size_t i = 0; maps && i < plan->n_ops; i++)
		if (op_shows_host(&plan->ops[i]) || plan->ops[i].kind == OP_READONLY)
			maps[n++] = (struct broker_map){
				.inside = plan->ops[i].dest,
				.host = host_name(arena, plan, i),
			};
	*ret_n = n;
	return maps;
}

static int on_repository(void *ctx, const char *path, unsigned number)
{
	const struct engine_hooks *hooks = ((struct sandbox *)ctx)->hooks;

	return hooks && hooks->on_repository ? hooks->on_repository(hooks->ctx, path, number)
					     : -ENOSYS;
}

static enum protect_answer on_change(void *ctx, const struct protect_change *change,
				     const char **ret_reason, size_t *ret_held)
{
	const struct engine_hooks *hooks = ((struct sandbox *)ctx)->hooks;

	return hooks && hooks->on_change
		       ? hooks->on_change(hooks->ctx, change, ret_reason, ret_held)
		       : ANSWER_GO_ON;
}

static void on_bound(void *ctx, int socket, int file, const struct sockaddr_un *name, size_t len)
{
	const struct sandbox *sandbox = ctx;
	struct connect_guard *guard = sandbox->guards ? &sandbox->guards->connect : NULL;
	struct stat st;
	int held;

	if (!guard || !guard->loop || fstat(file, &st) < 0)
		return;
	datagram_bound(guard, socket, &st, name, len);
	held = was_bound(ctx, file) ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 3);
	if (held >= 0)
		unix_hold(guard, held, &st);
}

static void on_private(void *ctx, const char *path)
{
	const struct engine_hooks *hooks = ((struct sandbox *)ctx)->hooks;

	if (hooks && hooks->on_private)
		hooks->on_private(hooks->ctx, path);
}

static size_t on_gitdir(void *ctx, const char *dir, const char *gitdir, bool made,
			const struct broker_gitdir **ret)
{
	const struct engine_hooks *hooks = ((struct sandbox *)ctx)->hooks;

	return hooks && hooks->on_gitdir ? hooks->on_gitdir(hooks->ctx, dir, gitdir, made, ret) : 0;
}

static int add_private(struct sandbox *sandbox, struct err *err)
{
	for (size_t i = 0; i < sandbox->n_private; i++) {
		const struct engine_private *private = &sandbox->private[i];
		int fd = private->fd < 0 ? -1 : fcntl(private->fd, F_DUPFD_CLOEXEC, 3);

		if (private->fd >= 0 && fd < 0)
			return err_errno(err, errno, "the file broker");
		broker_add_private(sandbox->broker, private->path, fd, private->fixed);
	}
	return 0;
}

/* Nothing is changed by it, so it needs no rules and no name of the host's. */
static int prepare_watcher(struct sandbox *sandbox, struct err *err)
{
	static const struct broker_map none;
	static const struct file_rules no_rules;
	const struct broker_hooks hooks = { .on_denied = on_file_denied, .ctx = sandbox };
	const struct broker_view view = { .maps = &none, .watches = true };

	return broker_new(&sandbox->broker, &no_rules, &view, &hooks, err);
}

int guards_prepare(struct sandbox *sandbox, struct err *err)
{
	const struct broker_hooks hooks = { .on_denied = on_file_denied,
					    .on_change = sandbox->plan->gate ? on_change : NULL,
					    .on_bound = on_bound,
					    .on_private = on_private,
					    .on_gitdir = on_gitdir,
					    .ctx = sandbox };
	const struct plan *plan = sandbox->plan;
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_free_ struct broker_map *maps = NULL;
	struct broker_view view = { .reads = plan_reads(plan), .turn = sandbox->turn };
	struct gate *gate = NULL;
	int r;

	if (!plan_is_brokered(plan))
		return plan_is_watched(plan) ? prepare_watcher(sandbox, err) : 0;
	if (!plan_root_of_host(plan)) {
		maps = make_maps(&arena, plan, &view.n);
		view.maps = maps;
		if (!maps)
			return err_errno(err, ENOMEM, "the file broker");
	}
	r = plan->gate ? gate_new(&gate, sandbox->gate_meta, on_repository, sandbox, err) : 0;
	view.gate = gate;
	if (r == 0)
		r = broker_new(&sandbox->broker, plan->files, &view, &hooks, err);
	if (r < 0)
		gate_free(gate);
	sandbox->gate = r < 0 ? NULL : gate;
	if (r == 0)
		r = add_private(sandbox, err);
	for (size_t i = 0; r == 0 && i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_DENY || plan->ops[i].kind == OP_PASS)
			broker_add_cover(sandbox->broker, plan->ops[i].dest,
					 plan->ops[i].kind == OP_PASS);
	return r;
}

/* What the child handed over. */
static int take_trees(struct sandbox *sandbox, struct err *err)
{
	const struct plan *plan = sandbox->plan;

	if (sandbox->n_trees != plan_count_held(plan) ||
	    (plan->gate && (sandbox->mntns < 0 || sandbox->gate_store < 0)))
		return err_set(err, EPIPE, "the sandbox did not hand its directories over");
	for (size_t i = 0; i < sandbox->n_trees; i++)
		broker_take_tree(sandbox->broker, sandbox->trees[i].op->dest,
				 take_fd(&sandbox->trees[i].fd));
	if (!plan->gate)
		return 0;
	gate_enter(sandbox->gate, take_fd(&sandbox->mntns), take_fd(&sandbox->gate_store),
		   plan->cwd, plan->project);
	gate_carry(sandbox->gate, sandbox->carried, sandbox->n_carried, sandbox->view);
	return 0;
}

static int start_broker(struct guards *g, struct err *err)
{
	struct broker *broker = g->sandbox->broker;
	int view;

	if (!broker)
		return 0;
	if (take_trees(g->sandbox, err) < 0)
		return -err->code;
	view = fcntl(g->sandbox->view, F_DUPFD_CLOEXEC, 3);
	if (view < 0)
		return err_errno(err, errno, "the sandbox's root");
	broker_enter(broker, &g->dispatch.notify, view, g->sandbox->plan->nested);
	dispatch_add(&g->dispatch, &seccomp_notify_files, broker_call, broker);
	dispatch_add(&g->dispatch, &seccomp_notify_reads, broker_call, broker);
	return 0;
}

static int start_connect(struct guards *g, struct loop *loop, struct err *err)
{
	const struct connect_hooks hooks = { .denied = on_socket_denied,
					     .bound = g->sandbox->broker ? was_bound : NULL,
					     .ctx = g->sandbox };
	const struct plan *plan = g->sandbox->plan;
	int r;

	if (!plan->guard_unix)
		return 0;
	r = connect_guard_start(&g->connect, loop, &g->dispatch.notify, &plan->unix_sockets,
				g->sandbox->view, &hooks, err);
	if (r == 0)
		dispatch_add(&g->dispatch, &seccomp_notify_connect, connect_guard_call,
			     &g->connect);
	return r;
}

void guards_begin(struct guards *g, struct sandbox *sandbox)
{
	unsigned flags = plan_seccomp(sandbox->plan);

	if (!(flags & SECCOMP_NOTIFY_REFUSED))
		return;
	g->refused = (struct refused){ .notify = &g->dispatch.notify,
				       .nested = sandbox->plan->nested,
				       .fn = on_call_refused,
				       .ctx = sandbox };
	dispatch_add(&g->dispatch, seccomp_refused(flags), refused_call, &g->refused);
}

static void start_limits(struct guards *g)
{
	if (!(plan_seccomp(g->sandbox->plan) & SECCOMP_NOTIFY_MEMORY))
		return;
	g->limits = (struct limit_guard){ &g->dispatch.notify, on_limit_hit, g->sandbox };
	dispatch_add(&g->dispatch, &seccomp_notify_memory, limits_memory, &g->limits);
}

/* Without it a socket of the command's could make us wait for ever. */
static int prepare_brief(struct err *err)
{
	int r = brief_prepare();

	if (r == 0)
		return 0;
	err_errno(err, -r, "making the timer that ends what a socket of the command's makes wait");
	return err_hint(err, r == -EAGAIN
				     ? "your processes have used up the signals and timers that "
				       "you may have ('ulimit -i'): end some, or raise it"
				     : "'wrapix doctor' tries each thing that a sandbox needs");
}

int guards_start(struct guards *g, struct loop *loop, struct sandbox *sandbox, struct err *err)
{
	int r;

	g->sandbox = sandbox;
	sandbox->guards = g;
	if (sandbox->listener < 0)
		return 0;
	r = prepare_brief(err);
	if (r == 0)
		r = start_broker(g, err);
	if (r == 0)
		r = start_connect(g, loop, err);
	if (r == 0 && sandbox->plan->move_dirs) {
		mover_start(&g->mover, loop, &g->dispatch.notify);
		dispatch_add(&g->dispatch, &seccomp_notify_rename, mover_call, &g->mover);
	}
	start_limits(g);
	return r < 0 ? r : dispatch_start(&g->dispatch, loop, take_fd(&sandbox->listener), err);
}

void guards_stop(struct guards *g)
{
	if (g->sandbox && g->sandbox->broker)
		broker_forget(g->sandbox->broker, &g->dispatch.notify);
	if (g->sandbox)
		g->sandbox->guards = NULL;
	connect_guard_stop(&g->connect);
	mover_stop(&g->mover);
	dispatch_stop(&g->dispatch);
}
