/* SPDX-License-Identifier: MIT */
/* The supervisor's guests that answer system calls. */
#include "engine/native/guards.h"

static void tell_denied(const struct guards *g, const struct access_event *event)
{
	const struct engine_hooks *hooks = g->sandbox->hooks;

	if (hooks && hooks->on_denied)
		hooks->on_denied(hooks->ctx, event);
}

static void on_socket_denied(void *ctx, pid_t pid, const char *call, const char *path)
{
	tell_denied(ctx, &(struct access_event){
				 .what = "connect",
				 .call = call,
				 .path = path,
				 .reason = path ? "host-socket" : "datagram-socket",
				 .key = "network.allowUnixSockets",
				 .pid = pid,
			 });
}

static int start_connect(struct guards *g, struct loop *loop, struct err *err)
{
	const struct connect_hooks hooks = { .denied = on_socket_denied, .ctx = g };
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

int guards_start(struct guards *g, struct loop *loop, struct sandbox *sandbox, struct err *err)
{
	int r;

	g->sandbox = sandbox;
	if (sandbox->listener < 0)
		return 0;
	r = start_connect(g, loop, err);
	return r < 0 ? r : dispatch_start(&g->dispatch, loop, take_fd(&sandbox->listener), err);
}

void guards_stop(struct guards *g)
{
	connect_guard_stop(&g->connect);
	dispatch_stop(&g->dispatch);
}
