/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user: a socket directory of this session's own at /run/wrapix, read-only, and the
 * client among the programs. An engine that makes no mounts of its own (podman, a virtual machine) takes
 * the same two operations from the plan.
 */
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"
#include "spec/agent.h"

#define INSIDE "/run/wrapix"

/* An agent with hooks says itself when it waits; a command of the user's own is his to watch. */
static uint64_t idle_seconds(const struct spec *spec, const struct host *host)
{
	uint64_t seconds = spec->notify.idle ? spec->notify.idle : NOTIFY_IDLE_SECONDS;

	if (spec->notify.waiting == WAITING_OFF || !host->tty[0])
		return 0; /* a pipe is not answered by a person */
	if (spec->notify.waiting == WAITING_ON)
		return seconds;
	if (spec->cmd || !host->agent.name || !host->agent.program ||
	    host->agent.program == host->tools.shell)
		return 0;
	return spec->definition && spec->definition->notifies ? 0 : seconds;
}

void plan_take_notify(struct plan *plan, const struct spec *spec, const struct host *host)
{
	struct arena *a = &plan->arena;

	plan->notifyd = arena_strdup(a, host->tools.notifyd);
	plan->notify = spec->notify;
	plan->notify.quiet = arena_strdup(a, spec->notify.quiet);
	plan->notify.sound = arena_strdup(a, spec->notify.sound);
	plan->notify.webhook = arena_strdup(a, spec->notify.webhook);
}

void plan_notify(struct plan *plan, const struct spec *spec, const struct host *host)
{
	struct arena *a = &plan->arena;
	const char *client = AGENT_INSIDE "/bin/wrapix-notify";

	if (spec->notify.mode == NOTIFY_OFF || !host->tools.notify || plan_is_machine(plan))
		return;
	/* Where the programs are the host's it is there already; a virtual machine's image has its own. */
	if (plan->engine == ENGINE_APPLE)
		;
	else if (!host->image_root && (path_is_below(host->tools.notify, "/usr") ||
				       path_is_below(host->tools.notify, "/nix/store")))
		plan_add(plan, OP_LINK, client, host->tools.notify, 0);
	else
		plan_add(plan, OP_BIND, client, host->tools.notify, OPF_RO | OPF_OPTIONAL);
	if (host->inside) {
		/* The sandbox around us has the way out, and we have none. */
		plan_add(plan, OP_BIND, INSIDE, INSIDE, OPF_RO | OPF_DIR | OPF_OPTIONAL);
		return;
	}
	plan_take_notify(plan, spec, host);
	if (!plan->notifyd)
		return;
	plan->notify_idle = idle_seconds(spec, host);
	if (plan->engine == ENGINE_APPLE) {
		plan_apple_notify(plan, host);
		return;
	}
	plan_add(plan, OP_BIND, INSIDE, arena_printf(a, "%s/wrapix/notify", host->runtime_dir),
		 OPF_RO | OPF_DIR | OPF_OPTIONAL | OPF_SESSION);
}
