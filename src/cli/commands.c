/* SPDX-License-Identifier: MIT */
/*
 * The subcommands: one row each. The dispatcher, the help, the completions and the test that
 * compares the manual with the program read these rows.
 */
#include "cli/cli.h"

#include <string.h>

#define FLAG(type, field) .kind = OPT_FLAG, .offset = offsetof(struct type, field)
#define HELP                                                            \
	{                                                               \
		'h', "help", .kind = OPT_HELP, .help = "show this help" \
	}

const struct opt main_opts[] = {
	HELP,
	{ 'V', "version", FLAG(main_args, version), .help = "print the version" },
	{ .kind = OPT_END },
};

static const struct opt ps_opts[] = {
	{ 0, "json", FLAG(ps_args, json), .help = "print the sessions as JSON" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt stop_opts[] = {
	{ 0, "all", FLAG(stop_args, all), .help = "stop every session of yours" },
	{ 0, "kill", FLAG(stop_args, kill), .help = "end it at once, without asking it first" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt rules_opts[] = {
	{ 0, "json", FLAG(rules_args, json), .help = "print what became of each session as JSON" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt log_opts[] = {
	{ 'f', "follow", FLAG(log_args, follow),
	  .help = "go on with what happens, until the session ends" },
	{ 0, "denied", FLAG(log_args, denied), .help = "only what was denied" },
	{ 0, "json", FLAG(log_args, json), .help = "print the events as JSON, one a line" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt doctor_opts[] = {
	{ 0, "json", FLAG(doctor_args, json), .help = "print the findings as JSON" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt trust_opts[] = {
	{ 0, "revoke", FLAG(trust_args, revoke), .help = "trust this project no longer" },
	{ 'y', "yes", FLAG(trust_args, yes), .help = "do not ask" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt completion_opts[] = {
	{ 0, "sessions", FLAG(completion_args, sessions),
	  .help = "print the names of the running sessions, which the scripts ask for" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt help_opts[] = {
	HELP,
	{ .kind = OPT_END },
};

#define EXAMPLES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define DIR_AND_COMMAND .max = 1, .operand = "DIR", .complete = COMPLETE_DIR, .command = true

const struct command commands[] = {
	{
		.name = "run",
		.usage = "run [DIR] [options] [-- CMD...]",
		.summary = "start the agent, or CMD, in a sandbox",
		.description = "Starts a sandbox in DIR (default: here) and in it the agent "
			       "(default: Claude "
			       "Code) or CMD. The project is at /workspace, read-write; the host's "
			       "programs "
			       "are there read-only; nothing else of the host is.\n"
			       "The exit status is the command's own; 128+N when signal N killed "
			       "it; 2, 125, "
			       "126 or 127 when it did not start.",
		.examples = EXAMPLES("wrapix run", "the agent, in this directory",
				     "wrapix run ~/src/site --network none -- make test",
				     "one command, without a network",
				     "wrapix run --env API_KEY --mount ~/data:/data",
				     "with a variable and a directory of the host"),
		.syntax = { run_opts, DIR_AND_COMMAND },
		.run = cmd_run,
	},
	{
		.name = "plan",
		.usage = "plan [DIR] [options] [-- CMD...]",
		.summary = "print what 'run' would do, and do nothing",
		.description =
			"Takes what 'run' takes and prints every step in order. With --host, "
			"for another machine than this one.",
		.examples = EXAMPLES("wrapix plan --network none",
				     "what a run without a network is made of",
				     "wrapix plan --network filtered --allow example.com --json",
				     "a run that reaches one host, for a program to read"),
		.syntax = { plan_opts, DIR_AND_COMMAND },
		.run = cmd_plan,
	},
	{
		.name = "ps",
		.usage = "ps [options]",
		.summary = "list the running sessions",
		.description = "One line for each sandbox of yours that is running.",
		.examples = EXAMPLES("wrapix ps", "what is running"),
		.syntax = { ps_opts },
		.run = cmd_ps,
	},
	{
		.name = "stop",
		.usage = "stop [options] [NAME...]",
		.summary = "end sessions",
		.description = "Asks the command of each named session to end (SIGTERM, after 3 "
			       "seconds SIGHUP) "
			       "and waits for it; what is still there after 10 seconds is killed.",
		.examples = EXAMPLES("wrapix stop site", "end the session 'site'",
				     "wrapix stop --all --kill", "end everything at once"),
		.syntax = { stop_opts, .max = -1U, .operand = "NAME",
			    .complete = COMPLETE_SESSION },
		.run = cmd_stop,
	},
	{
		.name = "allow",
		.usage = "allow SESSION HOST[:PORT]... [options]",
		.summary = "let a running session reach more hosts",
		.description =
			"Adds allow rules to a session that runs with --network filtered. They "
			"hold "
			"at once, until the session ends. A deny rule for the same HOST[:PORT] is "
			"taken back; any other deny rule goes on to beat every allow rule.",
		.examples = EXAMPLES(
			"wrapix allow site api.example.com '*.githubusercontent.com:443'",
			"the session 'site' may reach these too"),
		.syntax = { rules_opts, .max = -1U, .operand = "SESSION",
			    .complete = COMPLETE_SESSION },
		.run = cmd_allow,
	},
	{
		.name = "deny",
		.usage = "deny SESSION HOST[:PORT]... [options]",
		.summary = "keep a running session from hosts",
		.description =
			"Adds deny rules to a session that runs with --network filtered. They hold "
			"at once, until the session ends: new connections are refused, and open "
			"ones "
			"that a rule covers are reset. '*' is every host.",
		.examples = EXAMPLES("wrapix deny site pastebin.com",
				     "the session 'site' may not reach it any more",
				     "wrapix deny site '*'", "it may reach nothing any more"),
		.syntax = { rules_opts, .max = -1U, .operand = "SESSION",
			    .complete = COMPLETE_SESSION },
		.run = cmd_deny,
	},
	{
		.name = "log",
		.usage = "log [SESSION] [options]",
		.summary = "show what a session did on the network, and what it was denied",
		.description =
			"Prints the events of a session, running or ended: who talked to whom on a "
			"filtered network, what was refused and why. SESSION is an id or a name; "
			"without one it is the latest of this directory, else the latest of all.",
		.examples = EXAMPLES("wrapix log", "what the latest session here did",
				     "wrapix log -f --denied site",
				     "what the session 'site' is denied, as it happens"),
		.syntax = { log_opts, .max = 1, .operand = "SESSION",
			    .complete = COMPLETE_SESSION },
		.run = cmd_log,
	},
	{
		.name = "doctor",
		.usage = "doctor [options]",
		.summary = "say what works on this machine, and how to fix what does not",
		.description =
			"Tries each thing a sandbox needs by really doing it, and prints a line "
			"for each: what works, what does not, and the command or file that "
			"fixes it.",
		.examples = EXAMPLES("wrapix doctor", "check this machine"),
		.syntax = { doctor_opts },
		.run = cmd_doctor,
	},
	{
		.name = "trust",
		.usage = "trust [DIR] [options]",
		.summary = "accept what a project's wrapix.json asks for",
		.description =
			"Shows what the wrapix.json in DIR (default: here) asks for beyond the "
			"defaults, and remembers that you accept exactly this content. A change of "
			"the file needs a new look.",
		.examples = EXAMPLES("wrapix trust", "look at this project's wishes, and accept",
				     "wrapix trust --revoke", "take it back"),
		.syntax = { trust_opts, .max = 1, .operand = "DIR", .complete = COMPLETE_DIR },
		.run = cmd_trust,
	},
	{
		.name = "completion",
		.usage = "completion bash|zsh|fish",
		.summary = "print a completion script for a shell",
		.description =
			"The script completes commands, options, their arguments and the names "
			"of sessions.",
		.examples = EXAMPLES(
			"eval \"$(wrapix completion bash)\"", "in this shell",
			"wrapix completion fish >~/.config/fish/completions/wrapix.fish",
			"in every fish from now on"),
		.syntax = { completion_opts, .max = 1, .operand = "SHELL",
			    .complete = COMPLETE_WORDS, .words = completion_shells },
		.run = cmd_completion,
	},
	{
		.name = "help",
		.usage = "help [COMMAND]",
		.summary = "explain wrapix or one command",
		.examples = EXAMPLES("wrapix help run", "all about 'run'"),
		.syntax = { help_opts, .max = 1, .operand = "COMMAND",
			    .complete = COMPLETE_COMMAND },
		.run = cmd_help,
	},
	{
		.name = "version",
		.usage = "version",
		.summary = "print the version",
		.examples = EXAMPLES("wrapix version", "which wrapix this is"),
		.syntax = { help_opts },
		.run = cmd_version,
	},
	{ .name = NULL },
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int command_unknown(const char *name, struct err *err)
{
	const char *names[32], *near;
	size_t n = 0;

	for (const struct command *c = commands; c->name && n < ARRAY_LEN(names); c++)
		names[n++] = c->name;
	near = str_nearest(name, names, n);
	if (near)
		return err_usage(err, "unknown command '%s'; did you mean '%s'?", name, near);
	err_usage(err, "unknown command '%s'", name);
	return err_hint(err, "'wrapix help' lists the commands");
}
