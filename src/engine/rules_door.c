/* SPDX-License-Identifier: MIT */
/* From a request at the door to a change of the rules, and to the answer; see rules_door.h. */
#include "engine/rules_door.h"

static void on_request(void *ctx, const char *text, size_t len, struct str *reply)
{
	const struct rules_door *door = ctx;
	struct arena arena = { 0 };
	struct request request;
	struct err err;
	int r = request_parse(&arena, text, len, &request, &err);

	if (r == 0)
		r = door->fn(door->ctx, &request, &err);
	reply_add(reply, r < 0 ? &err : NULL);
	arena_release(&arena);
}

static void on_due(struct ticker *ticker)
{
	struct rules_door *door = container_of(ticker, struct rules_door, due);
	const struct engine_hooks *hooks = door->sandbox->hooks;
	int fd = hooks->take_control(hooks->ctx);
	struct err err;

	ticker_stop(ticker);
	if (fd >= 0 &&
	    control_server_start(&door->server, door->loop, fd, on_request, door, &err) < 0)
		sandbox_warn(door->sandbox, &err);
}

void rules_door_open(struct rules_door *door, struct loop *loop, struct sandbox *sandbox,
		     rules_change_fn *fn, void *ctx)
{
	struct err err;

	if (!sandbox->hooks || !sandbox->hooks->take_control)
		return;
	*door = (struct rules_door){ .sandbox = sandbox, .loop = loop, .fn = fn, .ctx = ctx };
	if (ticker_start(&door->due, loop, on_due, &err) < 0)
		sandbox_warn(sandbox, &err);
	else
		ticker_run(&door->due, true);
}

void rules_door_close(struct rules_door *door)
{
	ticker_stop(&door->due);
	control_server_stop(&door->server);
}
