/* SPDX-License-Identifier: MIT */
/* Between the plan, the sandbox and the ssh-agent. */
#include "engine/keys.h"

#include <errno.h>

#include "os/proc.h"
#include "spec/deploykey.h"

int keys_load(struct sandbox *sandbox, struct err *err)
{
	const struct plan_keys *keys = &sandbox->plan->keys;
	int r;

	if (!plan_has_key_agent(sandbox->plan))
		return 0;
	if (os_set_dumpable(0) < 0)
		return err_errno(err, errno, "PR_SET_DUMPABLE");
	r = keyring_load(&sandbox->keys, keys->name, keys->deploy, keys->signing, err);
	if (r == 0)
		r = pins_add(&sandbox->keys.pins, known_hosts_builtin(), "built-in host keys", err);
	if (r == 0 && keys->trusted)
		r = pins_add(&sandbox->keys.pins, keys->trusted, "~/.config/" KNOWN_HOSTS_FILE,
			     err);
	return r;
}

static void on_event(void *ctx, const struct key_event *event)
{
	const struct engine_hooks *hooks = ((struct sandbox *)ctx)->hooks;

	if (hooks && hooks->on_key)
		hooks->on_key(hooks->ctx, event);
}

static void on_failure(void *ctx, const struct err *err)
{
	sandbox_warn(ctx, err);
}

int keys_serve(struct key_agent *agent, struct loop *loop, struct sandbox *sandbox, struct err *err)
{
	const struct key_agent_hooks hooks = { on_event, on_failure, sandbox };
	const struct plan_keys *keys = &sandbox->plan->keys;

	if (!plan_has_key_agent(sandbox->plan))
		return 0;
	return key_agent_start(agent, loop, take_fd(&sandbox->agent), &sandbox->keys, keys->name,
			       keys->asker, &hooks, err);
}
