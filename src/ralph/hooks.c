/* SPDX-License-Identifier: MIT */
/* Hooks. */
#include "ralph/hooks.h"

#include <string.h>

int hook_run(struct work *work, enum hook hook, const struct hook_config *config, char *const *env,
	     struct err *err)
{
	enum { SHOWN = 600 };
	char *command[] = { (char *)"/bin/sh", (char *)"-c", config->run, NULL };
	struct arena arena = { 0 };
	_cleanup_str_ struct str out = { 0 };
	struct process_spec spec = {
		.dir = work->site.top,
		.name = arena_printf(&arena, "ralph-hook-%d", (int)getpid()),
		.host = work->host,
		.command = command,
		.in = -1,
		.err = -1,
	};
	int status = 0, r = 0;

	for (; config->run && env && *env; env++)
		strv_add(&arena, &spec.env, *env);
	if (config->run) {
		status = process_run(&spec, &out, err);
		r = status < 0 || work->host ? MIN(status, 0) : work_discard(work, spec.name, err);
	}
	if (status > 0)
		work_say(work, "the hook %s ended with status %d%s%s", hook_names[hook], status,
			 out.len ? ": " : "",
			 out.len > SHOWN ? out.s + out.len - SHOWN
			 : out.len       ? out.s
					 : "");
	arena_release(&arena);
	return r < 0 ? r : status;
}
