/* SPDX-License-Identifier: MIT */
/*
 * wrapix check --hook: a hook of Claude Code. Before a Bash command it answers what the settings say
 * and, where a sandbox is wanted, puts the command into 'wrapix exec'; at the start of a session it
 * says whether a sandbox is possible at all. What cannot be judged is denied: a broken settings file
 * opens nothing.
 */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/json_span.h"
#include "cli/settings.h"
#include "engine/native/probe.h"
#include "os/fs.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"
#include "spec/claude_check.h"

enum { HOOK_MAX = 8 << 20 }; /* bytes of what Claude Code says */

struct hook {
	struct arena arena;
	struct json_doc doc;
	const struct json_span *input; /* tool_input */
	const char *command;
	struct claude_settings settings;
	struct claude_files files;
};

static const char *text_of(const struct hook *h, const struct json_span *in, const char *key)
{
	const struct json_span *span = json_span_get(&h->doc, in, key);

	return span && span->string ? span->string : "";
}

/* --- the answer --- */

/* How this program is called from a shell: by its name where that finds it. */
static const char *own_name(struct arena *arena)
{
	char *self = os_realpath(arena, "/proc/self/exe");
	char *found = os_find_program(arena, "wrapix", getenv("PATH"), NULL);
	char *real = found ? os_realpath(arena, found) : NULL;
	_cleanup_str_ struct str word = { 0 };

	if (!self || (real && !strcmp(real, self)))
		return "wrapix";
	str_add_shell(&word, self);
	return arena_strdup(arena, word.s);
}

/*
 * Claude Code takes a command out of its own sandbox (excludedCommands) only where it sees no
 * substitution in its text, quoted or not. So what looks like one goes as %XX.
 */
static bool add_encoded(struct str *out, const char *command)
{
	static const char special[] = "%$`<>";

	if (!strpbrk(command, "$`") && !strstr(command, "<(") && !strstr(command, ">("))
		return false;
	for (const char *p = command; *p; p++) {
		if (strchr(special, *p))
			str_addf(out, "%%%02X", (unsigned char)*p);
		else
			str_addn(out, p, 1);
	}
	return true;
}

/* tool_input with the command put into the sandbox; all else stays. */
static void add_updated(struct hook *h, struct str *out)
{
	_cleanup_str_ struct str line = { 0 }, encoded = { 0 }, value = { 0 }, input = { 0 },
				 text = { 0 };
	_cleanup_json_doc_ struct json_doc doc = { .spans = NULL };
	const char *key = "command";
	struct err err;

	str_addf(&line, "%s exec --settings-from claude", own_name(&h->arena));
	if (strcmp(h->settings.place.project, h->settings.place.cwd)) {
		str_add(&line, " --project ");
		str_add_shell(&line, h->settings.place.project);
	}
	str_add(&line, add_encoded(&encoded, h->command) ? " --encoded -c " : " -c ");
	str_add_shell(&line, encoded.s ? encoded.s : h->command);
	json_add_string(&value, line.s);
	json_span_add(&input, &h->doc, h->input);
	if (json_doc_parse(&doc, input.s, input.len, HOOK_MAX, "tool_input", &err) < 0 ||
	    json_doc_set(&doc, &key, 1, value.s, &text, &err) < 0)
		return; /* it was an object with a command a moment ago */
	str_addf(out, ",\"updatedInput\":%s", text.s);
}

/* decision NULL: Claude Code decides itself. */
static void print_decision(struct hook *h, const char *decision, const char *reason, bool sandboxed)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\"");
	if (decision) {
		str_addf(&out,
			 ",\"permissionDecision\":\"%s\",\"permissionDecisionReason\":", decision);
		json_add_string(&out, reason);
	}
	if (sandboxed)
		add_updated(h, &out);
	printf("%s}}\n", out.s);
}

static const char *reason_of(struct hook *h, const struct claude_verdict *v)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "wrapix: %s", v->why);
	if (v->rule) {
		str_add(&out, ": ");
		str_add_escaped(&out, v->rule->string ? v->rule->string : v->rule->name);
		str_add(&out, " at ");
		cli_add_origin(&out, &h->settings, v->rule);
	}
	return arena_strdup(&h->arena, out.s);
}

/* 'cd DIR' alone is for the shell that goes on after it; it starts no program. */
static bool is_cd(const struct claude_verdict *v, const char *command)
{
	return v->parts.len == 1 && !strpbrk(command, "$`<>()|&;\n") &&
	       (str_starts(command, "cd ") || !strcmp(command, "cd"));
}

static void answer(struct hook *h, const struct claude_verdict *v)
{
	/* A rule of the user's, or something that cannot be known: not Claude Code's to decide. */
	bool firm = v->by_rule || !v->part;
	const char *reason = reason_of(h, v);

	if (v->answer == CLAUDE_DENY)
		print_decision(h, "deny", reason, false);
	else if (v->answer == CLAUDE_ASK && firm)
		print_decision(h, "ask", reason, v->sandboxed);
	else if (!v->sandboxed || is_cd(v, h->command))
		puts("{}");
	else
		print_decision(h, v->answer == CLAUDE_ALLOW ? "allow" : NULL, reason, true);
}

static int before_bash(struct hook *h, int loaded, const struct err *err)
{
	const struct json_span *outside;
	struct claude_question question;
	struct claude_verdict verdict;
	const struct json_span *command;

	h->input = json_span_get(&h->doc, json_doc_top(&h->doc), "tool_input");
	command = json_span_get(&h->doc, h->input, "command");
	if (loaded < 0 || !command || !command->string) {
		print_decision(
			h, "deny",
			arena_printf(&h->arena, "wrapix: %s",
				     loaded < 0 ? err->msg : "a Bash call without a command"),
			false);
		return 0;
	}
	h->command = command->string;
	outside = json_span_get(&h->doc, h->input, "dangerouslyDisableSandbox");
	question = (struct claude_question){
		.command = h->command, .outside = outside && outside->kind == JSON_SPAN_TRUE
	};
	claude_check(&h->arena, &h->settings, &question, &verdict);
	answer(h, &verdict);
	return 0;
}

/* --- the start of a session --- */

/* What 'wrapix exec' decides files by. */
static int probe_questions(struct err *err)
{
	if (seccomp_features() & SECCOMP_HAS_NOTIFY)
		return 0;
	err_set(err, ENOSYS, "this kernel asks no supervisor about system calls");
	return err_hint(err, "Linux 5.14 or newer, with CONFIG_SECCOMP_FILTER");
}

static int probe(struct err *err)
{
	int (*const steps[])(struct err *) = { probe_userns, probe_mounts, probe_seccomp,
					       probe_questions };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(steps); i++)
		r = steps[i](err);
	return r;
}

/* Claude Code's own sandbox, where it works, must leave ours alone. */
static bool own_sandbox_in_the_way(struct hook *h)
{
	const char *path = getenv("PATH");

	if (!os_find_program(&h->arena, "bwrap", path, NULL) ||
	    !os_find_program(&h->arena, "socat", path, NULL))
		return false;
	for (const struct claude_value *v = NULL;
	     (v = claude_each(&h->settings, v, "sandbox.excludedCommands"));)
		if (claude_rule_covers(v->string, arena_printf(&h->arena, "%s exec -c x",
							       own_name(&h->arena))))
			return false;
	return true;
}

static void say(const char *message, bool stop)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, stop ? "{\"continue\":false,\"stopReason\":" : "{\"systemMessage\":");
	json_add_string(&out, message);
	if (stop) {
		str_add(&out, ",\"systemMessage\":");
		json_add_string(&out, message);
	}
	printf("%s}\n", out.s);
}

static int at_start(struct hook *h, int loaded, const struct err *load_err)
{
	struct err err = { 0 };
	const char *message = NULL;
	bool must = false;

	if (loaded < 0) {
		message = arena_printf(&h->arena,
				       "wrapix: %s. Until that is mended every command is denied.",
				       load_err->msg);
	} else if (claude_mode(&h->settings) != CLAUDE_DISABLED && probe(&err) < 0) {
		must = claude_get_bool(&h->settings, "sandbox.failIfUnavailable", false);
		message = arena_printf(
			&h->arena,
			"wrapix: the sandbox is enabled and not possible here: %s%s%s. "
			"No command will run until it is; 'wrapix doctor' says more.",
			err.msg, err.hint[0] ? "; " : "", err.hint);
	} else if (claude_mode(&h->settings) != CLAUDE_DISABLED && own_sandbox_in_the_way(h)) {
		message = arena_printf(
			&h->arena,
			"wrapix: Claude Code's own sandbox would be put around wrapix's, which "
			"cannot work. Add \"%s exec:*\" to sandbox.excludedCommands.",
			own_name(&h->arena));
	}
	if (message)
		say(message, must);
	else
		puts("{}");
	return 0;
}

static int read_input(struct hook *h, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	char buf[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "reading standard input");
		str_addn(&text, buf, (size_t)n);
		if (text.len > HOOK_MAX)
			break; /* refused as too large */
	}
	return json_doc_parse(&h->doc, text.s ? text.s : "", text.len, HOOK_MAX, "standard input",
			      err);
}

static int handle(struct hook *h)
{
	const struct json_span *top = json_doc_top(&h->doc);
	const char *event = text_of(h, top, "hook_event_name"), *cwd = text_of(h, top, "cwd");
	const char *project = getenv("CLAUDE_PROJECT_DIR");
	struct err err = { 0 };
	int r;

	if (*cwd && chdir(cwd) < 0)
		r = err_errno(&err, errno, "going to '%s'", cwd);
	else
		r = cli_claude_load(NULL, project && *project ? project : NULL, &h->settings,
				    &h->files, &err);
	if (!strcmp(event, "PreToolUse") && !strcmp(text_of(h, top, "tool_name"), "Bash"))
		return before_bash(h, r, &err);
	if (!strcmp(event, "SessionStart"))
		return at_start(h, r, &err);
	puts("{}");
	return 0;
}

int cli_hook(void)
{
	struct hook h = { .command = NULL };
	struct err err = { 0 };
	int status;

	if (read_input(&h, &err) < 0) {
		cli_print_err(&err);
		status = EXIT_USAGE; /* Claude Code blocks the call on this status alone */
	} else {
		status = handle(&h);
	}
	if (ferror(stdout) || fflush(stdout))
		status = EXIT_USAGE;
	claude_settings_release(&h.settings);
	claude_files_release(&h.files);
	json_doc_release(&h.doc);
	arena_release(&h.arena);
	return status;
}
