/* SPDX-License-Identifier: MIT */
/* wrapix allow, wrapix deny: rules for the filtered network of sessions that are running. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "net/policy.h"
#include "session/control.h"
#include "session/request.h"
#include "session/session.h"

struct rules_args {
	bool json;
};

/* Before anybody is asked: what is wrong in itself is said with its hint. */
static int check_rules(const struct strv *texts, unsigned flags, struct err *err)
{
	struct arena arena = { 0 };
	struct rule rule;
	int r = 0;

	for (size_t i = 0; r == 0 && i < texts->len; i++)
		r = rule_parse(&arena, texts->v[i], flags, &rule, err);
	arena_release(&arena);
	return r;
}

static int change(const struct session_info *session, const struct request *request,
		  struct err *err)
{
	_cleanup_str_ struct str text = { 0 }, reply = { 0 };
	_cleanup_close_ int dir = -1;
	int r;

	if (strcmp(session->network, "filtered") != 0) {
		err_set(err, ENOTSUP, "the network of '%s' is '%s': there are no rules to change",
			session->name, session->network);
		return err_hint(err, "wrapix run --network filtered --allow HOST has them");
	}
	dir = session_open(session, err);
	if (dir < 0)
		return dir;
	request_add(&text, request);
	r = control_call(dir, &text, &reply, err);
	return r == 0 ? reply_parse(reply.s, reply.len, err) : r;
}

static void print_result(const struct session_info *session, const struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{\"id\": ");
	json_add_string(&out, session->id);
	str_add(&out, ", \"name\": ");
	json_add_string(&out, session->name);
	str_addf(&out, ", \"ok\": %s", err ? "false" : "true");
	if (err) {
		str_add(&out, ", \"error\": ");
		json_add_string(&out, err->msg);
	}
	str_add(&out, "}\n");
	fputs(out.s, stdout);
}

static int change_named(struct arena *arena, const char *word, const struct request *request,
			bool json, struct err *err)
{
	const struct session_info *session;
	struct session_info *list;
	size_t n;
	int r = cli_list_sessions(arena, &list, &n, err);

	if (r < 0)
		return r;
	session = cli_pick_session(list, n, word, err);
	if (!session)
		return -err->code;
	r = change(session, request, err);
	if (json)
		print_result(session, r < 0 ? err : NULL);
	return r;
}

static int change_rules(int argc, char **argv, bool denies)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct rules_args args = { 0 };
	struct arena arena = { 0 };
	struct request request = { 0 };
	struct strv *rules = denies ? &request.deny : &request.allow;
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (rest.n_operands < 2)
		return err_usage(&err, "%s: give SESSION and HOST[:PORT]", argv[0]), cli_fail(&err);
	for (size_t i = 1; i < rest.n_operands; i++)
		strv_add(&arena, rules, rest.operands[i]);
	r = check_rules(rules, denies ? RULE_DENY : 0, &err);
	if (r == 0)
		r = change_named(&arena, rest.operands[0], &request, args.json, &err);
	arena_release(&arena);
	return r < 0 ? cli_fail(&err) : 0;
}

static int cmd_allow(int argc, char **argv)
{
	return change_rules(argc, argv, false);
}

static int cmd_deny(int argc, char **argv)
{
	return change_rules(argc, argv, true);
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(rules_args, json), .help = "print what became of each session as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_allow = {
	.name = "allow",
	.section = SECTION_SESSIONS,
	.usage = "allow SESSION HOST[:PORT]... [options]",
	.summary = "let a running session reach more hosts",
	.description = "Adds allow rules to a session that runs with --network filtered. They hold "
		       "at once, until the session ends. A deny rule for the same HOST[:PORT] is "
		       "taken back; any other deny rule goes on to beat every allow rule.",
	.examples = EXAMPLES("wrapix allow site api.example.com '*.githubusercontent.com:443'",
			     "the session 'site' may reach these too"),
	.syntax = { opts, .max = -1U, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_allow,
};

const struct command command_deny = {
	.name = "deny",
	.section = SECTION_SESSIONS,
	.usage = "deny SESSION HOST[:PORT]... [options]",
	.summary = "keep a running session from hosts",
	.description = "Adds deny rules to a session that runs with --network filtered. They hold "
		       "at once, until the session ends: new connections are refused, and open "
		       "ones that a rule covers are reset. '*' is every host.",
	.examples = EXAMPLES("wrapix deny site pastebin.com",
			     "the session 'site' may not reach it any more", "wrapix deny site '*'",
			     "it may reach nothing any more"),
	.syntax = { opts, .max = -1U, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_deny,
};
