/* SPDX-License-Identifier: MIT */
/* wrapix stop: asks sessions to end, waits, and insists where told to. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "cli/cli.h"
#include "os/proc.h"
#include "session/session.h"

struct stop_args {
	bool all, kill;
};

/* Interactive shells ignore SIGTERM and end at a hangup; what ignores both is killed. */
static const struct {
	int signal_no, patience_ms;
} steps[] = { { SIGTERM, 3000 }, { SIGHUP, 7000 }, { SIGKILL, 5000 } };

/* The supervisor passes SIGTERM on to the command; its own death ends everything at once. */
static int stop_one(const struct session_info *session, bool at_once, struct err *err)
{
	_cleanup_close_ int pidfd = os_pidfd_open(session->pid);
	struct pollfd poller = { .fd = pidfd, .events = POLLIN };

	if (pidfd == -ESRCH)
		return 0;
	if (pidfd < 0)
		return err_errno(err, -pidfd, "stopping '%s'", session->name);
	for (size_t i = at_once ? ARRAY_LEN(steps) - 1 : 0; i < ARRAY_LEN(steps); i++) {
		os_pidfd_kill(pidfd, steps[i].signal_no);
		if (poll(&poller, 1, steps[i].patience_ms) > 0)
			return 0;
	}
	return err_set(err, ETIMEDOUT, "'%s' cannot be killed", session->name);
}

static int stop_named(const struct session_info *list, size_t n, const char *word, bool at_once,
		      struct err *err)
{
	const struct session_info *session = cli_pick_session(list, n, word, err);

	return session ? stop_one(session, at_once, err) : -err->code;
}

static int stop_all(const struct session_info *list, size_t n, bool at_once, struct err *err)
{
	int worst = 0;

	for (size_t i = 0; i < n; i++) {
		int r = stop_one(&list[i], at_once, err);

		worst = r < 0 ? r : worst;
	}
	return worst;
}

static int cmd_stop(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct stop_args args = { 0 };
	struct session_info *list;
	struct arena arena = { 0 };
	struct err err;
	size_t n;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (!args.all && !rest.n_operands)
		return err_usage(&err, "which session? give a name, or --all"), cli_fail(&err);
	r = cli_list_sessions(&arena, &list, &n, &err);
	if (r == 0 && args.all)
		r = stop_all(list, n, args.kill, &err);
	for (size_t i = 0; r == 0 && i < rest.n_operands; i++)
		r = stop_named(list, n, rest.operands[i], args.kill, &err);
	arena_release(&arena);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "all", FLAG(stop_args, all), .help = "stop every session of yours" },
	{ 0, "kill", FLAG(stop_args, kill), .help = "end it at once, without asking it first" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_stop = {
	.name = "stop",
	.section = SECTION_SESSIONS,
	.usage = "stop [options] [NAME...]",
	.summary = "end sessions",
	.description = "Asks the command of each named session to end (SIGTERM, after 3 "
		       "seconds SIGHUP) "
		       "and waits for it; what is still there after 10 seconds is killed.",
	.examples = EXAMPLES("wrapix stop site", "end the session 'site'",
			     "wrapix stop --all --kill", "end everything at once"),
	.syntax = { opts, .max = -1U, .operand = "NAME", .complete = COMPLETE_SESSION },
	.run = cmd_stop,
};
