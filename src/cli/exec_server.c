/* SPDX-License-Identifier: MIT */
/* wrapix exec --server: commands for programs in any language, each cheaper than a start. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "api/serve.h"
#include "base/path.h"
#include "cli/exec.h"
#include "cli/exec_say.h"
#include "engine/native/lend.h"
#include "os/fs.h"
#include "os/proc.h"

static const struct exec_args *given;

/* What the request says counts before what the server was started with. */
static int choose(const struct serve_request *request, struct arena *arena,
		  struct claude_where *ret, bool *ret_use, struct err *err)
{
	const struct exec_args args = {
		.from = request->from ? request->from : given->from,
		.project = request->project ? request->project : given->project,
	};

	if (args.from && strcmp(args.from, "claude") && strcmp(args.from, "srt"))
		return err_usage(err, "from: '%s' is neither 'claude' nor 'srt'", args.from);
	return exec_choose(&args, arena, ret, ret_use, err);
}

/* Inside a sandbox the process that its supervisor lends is such a server already (engine/native/lend.h):
 * the socket is another name for its door, as long as we are there. */
static int stand_in(const struct exec_args *args, struct err *err)
{
	char target[sizeof(EXEC_DOOR_INSIDE) + 1];
	ssize_t n = readlink(args->server, target, sizeof(target) - 1);
	sigset_t ends;
	int signal_no;

	if (args->settings || args->from || args->project)
		return err_usage(err, "--server: inside a sandbox settings come with each request");
	target[MAX(n, 0)] = '\0';
	if (!strcmp(target, EXEC_DOOR_INSIDE))
		unlink(args->server); /* one that was killed left it */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (symlink(EXEC_DOOR_INSIDE, args->server) < 0)
		return err_errno(err, errno, "making the socket '%s'", args->server);
	sigwait(&ends, &signal_no);
	unlink(args->server);
	return 0;
}

/* Until it is told to end. The socket is removed where it is, whatever leads there by then. */
static int serve(const struct exec_args *args, struct serve_options *options, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *here = os_realpath(&arena, "."), *real;
	struct serve_id id;
	int r;

	if (!here)
		return err_errno(err, errno, "the working directory");
	options->listener = serve_listen(args->server, &id, err);
	if (options->listener < 0)
		return options->listener;
	options->path = path_at(&arena, here, args->server);
	if (args->settings) /* a worker goes to where its client is */
		options->settings = path_at(&arena, here, args->settings);
	real = os_realpath(&arena, args->server);
	r = serve_run(options, err);
	serve_unlink(real ? real : args->server, &id);
	return r;
}

int exec_server(const struct exec_args *args)
{
	_cleanup_close_ int door = exec_knock();
	struct serve_options options = {
		.listener = -1, .owner = -1, .settings = args->settings, .choose = choose
	};
	struct err err = { 0 };

	given = args;
	if ((args->words && args->words[0]) || args->string || args->violations || args->json ||
	    args->control_fd >= 0 || args->n_pass_fds) {
		err_usage(&err, "--server: each command comes with its request");
		return cli_fail(&err);
	}
	if (door >= 0) {
		close(take_fd(&door));
		return stand_in(args, &err) < 0 ? cli_fail(&err) : 0;
	}
	os_close_all_but(3, NULL, 0);
	return serve(args, &options, &err) < 0 ? cli_fail(&err) : 0;
}

static bool has_word(char **argv, const char *word)
{
	for (size_t i = 1; argv[0] && argv[i]; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

/* For commands inside of a sandbox whose supervisor has started us (engine/native/lend.h). */
int cmd_lent(int argc, char **argv)
{
	static const struct exec_args none = { .control_fd = -1 };
	struct serve_options options = { .listener = LENT_LISTENER,
					 .owner = LENT_OWNER,
					 .choose = choose,
					 .lent = true,
					 .held = has_word(argv, LENT_HELD),
					 .reads = has_word(argv, LENT_READS),
					 .nested = has_word(argv, LENT_NESTED) };
	struct err err = { 0 };

	given = &none;
	if (argc < 2 ||
	    lent_enter((int)strtol(argv[1], NULL, 10), has_word(argv, LENT_IMAGE), &err) < 0) {
		lent_tell(LENT_OWNER, &err);
		return EXIT_WRAPIX;
	}
	if (options.reads) /* until a command is started; then its supervisor asks itself */
		os_open_settings_by(lent_open, &options.owner);
	lent_tell(LENT_OWNER, NULL);
	return serve_run(&options, &err) < 0 ? EXIT_WRAPIX : 0;
}
