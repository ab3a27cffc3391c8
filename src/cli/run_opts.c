/* SPDX-License-Identifier: MIT */
/* The options of 'run' and 'plan'. Each lands in the spec by the name it has in wrapix.json. */
#include "cli/cli.h"

#include <string.h>

#include "spec/config.h"

/* The public error in the shape that the option parser reports. */
static int as_err(int r, const struct wrapix_error *error, struct err *err)
{
	if (r == 0)
		return 0;
	err_usage(err, "%s", error->message);
	return error->hint[0] ? err_hint(err, "%s", error->hint) : -err->code;
}

/* Options whose names in the spec are spelled as in wrapix.json. */
static const char *spec_name(const char *option)
{
	static const char *const names[][2] = {
		{ "as-root", "asRoot" },
		{ "agent-memory", "agentMemory" },
		{ "allow-nested", "allowNested" },
		{ "deploy-key", "deployKey" },
		{ "deploy-key-mode", "deployKeyMode" },
		{ "deploy-key-confirm", "deployKeyConfirm" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(option, names[i][0]))
			return names[i][1];
	return option;
}

static const char *const *spec_words(const char *option)
{
	return spec_choices(spec_name(option));
}

static int set_key(void *ctx, const struct opt *opt, const char *value, struct err *err)
{
	struct run_args *args = ctx;
	struct wrapix_error error;

	return as_err(wrapix_spec_set(args->spec, spec_name(opt->name), value, &error), &error,
		      err);
}

static int set_flag(void *ctx, const struct opt *opt, _unused_ const char *value, struct err *err)
{
	struct run_args *args = ctx;
	struct wrapix_error error;

	return as_err(wrapix_spec_set(args->spec, spec_name(opt->name), "true", &error), &error,
		      err);
}

typedef int add_fn(struct wrapix_spec *spec, const char *value, struct wrapix_error *error);

static int allow(struct wrapix_spec *spec, const char *value, struct wrapix_error *error)
{
	return wrapix_spec_add_rule(spec, value, false, error);
}

static int deny(struct wrapix_spec *spec, const char *value, struct wrapix_error *error)
{
	return wrapix_spec_add_rule(spec, value, true, error);
}

/* Options that may be given again, and each adds something. */
static int add(void *ctx, const struct opt *opt, const char *value, struct err *err)
{
	static const struct {
		const char *option;
		add_fn *fn;
	} adders[] = {
		{ "config", wrapix_spec_load },
		{ "env", wrapix_spec_add_env },
		{ "mount", wrapix_spec_add_mount },
		{ "allow", allow },
		{ "deny", deny },
		{ "publish", wrapix_spec_add_publish },
		{ "host-port", wrapix_spec_add_host_port },
		{ "package", wrapix_spec_add_package },
		{ "credential", wrapix_spec_add_credential },
		{ "protect", wrapix_spec_add_protect },
	};
	struct run_args *args = ctx;
	struct wrapix_error error;

	for (size_t i = 0; i < ARRAY_LEN(adders); i++)
		if (!strcmp(opt->name, adders[i].option))
			return as_err(adders[i].fn(args->spec, value, &error), &error, err);
	return err_usage(err, "--%s adds nothing", opt->name);
}

static const char *const *from_words(_unused_ const char *name)
{
	static const char *const words[] = { "claude", NULL };

	return words;
}

static const char *const *kind_words(_unused_ const char *name)
{
	return kube_kinds;
}

static int set_replicas(void *ctx, _unused_ const struct opt *opt, const char *value,
			struct err *err)
{
	struct run_args *args = ctx;
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*end || value[0] < '0' || value[0] > '9' || n < 1 || n > 1000)
		return err_usage(err, "--replicas: a number from 1 to 1000");
	args->task.replicas = (unsigned)n;
	return 0;
}

#define KEY .kind = OPT_CALL, .call = set_key
#define WORDS KEY, .words = spec_words, .complete = COMPLETE_WORDS
#define ADD .kind = OPT_CALL, .call = add, .repeat = true
#define SPEC_FLAG .kind = OPT_CALL, .call = set_flag

/* What both commands take, after their own. */
static const struct opt shared_opts[] = {
	{ 0, "config", "FILE", ADD, .complete = COMPLETE_FILE,
	  .help = "take what this file says, with the keys of wrapix.json, as if it were said "
		  "here; options after it win" },
	{ 0, "profile", "NAME", KEY, .words = config_profile_words, .complete = COMPLETE_WORDS,
	  .help = "start from this profile's settings" },
	{ 0, "env", "K=V|K", ADD, .complete = COMPLETE_ENV,
	  .help = "set a variable inside, or let the host's value in; repeatable" },
	{ 0, "mount", "SRC:DEST[:ro|rw][,optional]", ADD, .complete = COMPLETE_FILE,
	  .help = "show SRC of the host at DEST inside, writable unless ':ro'; repeatable" },
	{ 0, "network", "open|filtered|none|host", WORDS,
	  .help = "open: the internet, not this machine's own services; filtered: the hosts that "
		  "--allow names; none: loopback alone; host: this machine's network (default: "
		  "open, or filtered with --allow)" },
	{ 0, "allow", "HOST[:PORT]", ADD,
	  .help = "this host may be reached: a name, *.name, an address or a range; repeatable" },
	{ 0, "deny", "HOST[:PORT]", ADD,
	  .help = "this host may not, whatever allows it; repeatable" },
	{ 0, "settings-from", "claude", .kind = OPT_STRING,
	  .offset = offsetof(struct run_args, from), .words = from_words,
	  .complete = COMPLETE_WORDS,
	  .help = "hold the session to Claude Code's settings: their hosts and their rules "
		  "about files" },
	{ 0, "publish", "[IP:]HOST[:SANDBOX]|auto", ADD,
	  .help = "offer port SANDBOX of the sandbox's as port HOST of this machine's address IP "
		  "(127.0.0.1); auto: every port that something inside listens on; repeatable" },
	{ 0, "host-port", "PORT", ADD,
	  .help = "let the sandbox reach this port of this machine's loopback, at 127.0.0.1 and "
		  "as host.wrapix.internal; repeatable" },
	{ 0, "explain", SPEC_FLAG,
	  .help = "tell programs why they are refused: HTTP 403 on port 80, a TLS alert on 443" },
	{ 0, "filter-tier", "queue|static|ports", WORDS,
	  .help = "catch connections in no better way than this; for tests of older kernels' "
		  "ways" },
	{ 0, "package", "NAME", ADD,
	  .help = "run from an image of the profile that has this package as well; it is made "
		  "once; repeatable" },
	{ 0, "image", "NAME", KEY,
	  .help = "use the programs of this image instead of the host's; see 'wrapix image'" },
	{ 0, "credential", "NAME[=on|off|brokered]", ADD,
	  .help = "let this secret in as a variable, from the environment or from 'wrapix secret'; "
		  "brokered: it stays outside, and the agent's requests get it on their way; "
		  "repeatable" },
	{ 0, "deploy-key", "NAME", KEY,
	  .help = "let the sandbox push and sign with this pair of keys, which stay outside; see "
		  "'wrapix help key'" },
	{ 0, "deploy-key-mode", "agent|file", WORDS,
	  .help = "agent: the sandbox can ask for signatures; file: it can read the keys (default: "
		  "agent)" },
	{ 0, "deploy-key-confirm", SPEC_FLAG, .help = "ask before each signature" },
	{ 0, "cpus", "N", KEY, .help = "at most this many processors' time, as 1.5" },
	{ 0, "memory", "SIZE", KEY, .help = "at most this much memory, as 4G" },
	{ 0, "pids", "N", KEY, .help = "at most this many processes and threads" },
	{ 0, "disk", "SIZE", KEY,
	  .help = "size of the private writable space: home, /tmp (default: 4G); and of the "
		  "changes, of a copy-on-write session" },
	{ 0, "agent", "NAME|PATH", KEY, .complete = COMPLETE_PROGRAM,
	  .help = "the agent to start (default: claude)" },
	{ 0, "agent-memory", SPEC_FLAG,
	  .help = "let the agent read what you have written for it: CLAUDE.md and skills of your "
		  "home, read-only" },
	{ 0, "engine", "auto|native|podman|docker|apple", WORDS,
	  .help = "what makes the sandbox: wrapix itself, podman from an image, or Apple's "
		  "container (default: native; on macOS apple)" },
	{ 0, "runtime", "default|krun", WORDS,
	  .help = "with --engine podman: krun makes a virtual machine with a kernel of its own "
		  "(default: podman's own)" },
	{ 0, "name", "NAME", KEY, .help = "call the session so (default: the directory's name)" },
	{ 0, "home", "fresh|keep", WORDS,
	  .help = "an empty home each time, or one kept for this project "
		  "(default: fresh)" },
	{ 0, "workspace", "direct|cow", WORDS,
	  .help = "direct: in the project itself; cow: on a view of it, to be looked at ('diff', "
		  "'review') and taken over ('apply') afterwards (default: direct)" },
	{ 0, "git", "private|direct", WORDS,
	  .help = "private: a git directory of the session's, from which the repository takes over "
		  "checked data only; direct: the repository's own .git (default: private)" },
	{ 0, "protect", "CLASS|PATH=LEVEL", ADD,
	  .help = "what becomes of changes to files that run later: allow, report, hold or ro, for "
		  "git, shell, editor, agent, build, ci or a path (default: hold for directories "
		  "of git, editor and agent, else report)" },
	{ 0, "only", SPEC_FLAG, .help = "DIR alone, without the repository around it" },
	{ 0, "force", SPEC_FLAG, .help = "accept '/' or your home directory as DIR" },
	{ 0, "as-root", SPEC_FLAG,
	  .help = "as root: stay root instead of becoming the owner of DIR" },
	{ 0, "allow-nested", SPEC_FLAG,
	  .help = "let programs make namespaces of their own (browsers, sandboxes)" },
	{ 'v', "verbose", FLAG(run_args, verbose), .help = "say what is being done" },
	HELP,
	{ .kind = OPT_END },
};

#define WISH(field) .kind = OPT_STRING, .offset = offsetof(struct run_args, field)

const struct opt run_opts[] = {
	{ 0, "dry-run", FLAG(run_args, dry_run), .help = "print the plan and do nothing" },
	{ 0, "resume", "SESSION", .kind = OPT_STRING, .offset = offsetof(struct run_args, resume),
	  .complete = COMPLETE_SESSION, .help = "go on with a copy-on-write session" },
	{ 0, "on", "PLACE", WISH(on),
	  .help = "run it on another engine, podman:CONNECTION or kube:[CONTEXT/]NAMESPACE, from "
		  "the last commit; its commits come back as a branch" },
	{ 0, "image-ref", "REF", WISH(task.image),
	  .help = "with --on: the image as that engine knows it (default: "
		  "localhost/wrapix-PROFILE:latest)" },
	{ .kind = OPT_MORE, .more = shared_opts },
};

const struct opt plan_opts[] = {
	{ 0, "json", FLAG(run_args, json), .help = "print the plan as JSON" },
	{ 0, "facts", FLAG(run_args, facts),
	  .help = "print the facts about this machine that the plan is made from, for --host" },
	{ 0, "host", "FILE", .kind = OPT_STRING, .offset = offsetof(struct run_args, host_file),
	  .complete = COMPLETE_FILE,
	  .help = "plan for the machine that this file describes, not for this one" },
	{ 0, "exec", FLAG(run_args, exec), .help = "the plan of 'wrapix exec'" },
	{ 0, "settings", "FILE", .kind = OPT_STRING, .offset = offsetof(struct run_args, settings),
	  .complete = COMPLETE_FILE, .help = "with --exec: the settings of the command" },
	{ .kind = OPT_MORE, .more = shared_opts },
};

const struct opt export_opts[] = {
	{ 0, "kind", "pod|job|sandbox|template", WISH(task.kind), .words = kind_words,
	  .complete = COMPLETE_WORDS,
	  .help = "of kube: what the objects are (default: pod); template: a pool of warm "
		  "sandboxes" },
	{ 0, "image-ref", "REF", WISH(task.image),
	  .help = "the image as the engine knows it (default: localhost/wrapix-PROFILE:latest)" },
	{ 0, "runtime-class", "NAME", WISH(task.runtime),
	  .help = "of kube: the runtime class, as gvisor" },
	{ 0, "replicas", "N", .kind = OPT_CALL, .call = set_replicas,
	  .help = "of kube's template: how many sandboxes are kept warm (default: 1)" },
	{ 'o', "output", "FILE", WISH(output), .complete = COMPLETE_FILE,
	  .help = "write it to FILE, which must not be there yet" },
	{ 0, "weaker", FLAG(run_args, weaker), .help = "print only what is weaker there" },
	{ 0, "json", FLAG(run_args, json), .help = "with --weaker: as JSON" },
	{ .kind = OPT_MORE, .more = shared_opts },
};
