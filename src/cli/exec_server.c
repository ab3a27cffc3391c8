/* SPDX-License-Identifier: MIT */
/* wrapix exec --server: commands for programs in any language, each cheaper than a start. */
#include "api/serve.h"
#include "cli/exec.h"
#include "os/proc.h"

static const struct exec_args *given;

static int choose(struct arena *arena, struct claude_where *ret, bool *ret_use, struct err *err)
{
	return exec_choose(given, arena, ret, ret_use, err);
}

int exec_server(const struct exec_args *args)
{
	struct serve_options options = {
		.listener = -1, .owner = -1, .settings = args->settings, .choose = choose
	};
	struct serve_id id;
	struct err err = { 0 };
	int r;

	given = args;
	if ((args->words && args->words[0]) || args->string || args->violations || args->json ||
	    args->control_fd >= 0 || args->n_pass_fds) {
		err_usage(&err, "--server: each command comes with its request");
		return cli_fail(&err);
	}
	os_close_all_but(3, NULL, 0);
	options.listener = serve_listen(args->server, &id, &err);
	if (options.listener < 0)
		return cli_fail(&err);
	r = serve_run(&options, &err);
	serve_unlink(args->server, &id);
	return r < 0 ? cli_fail(&err) : 0;
}
