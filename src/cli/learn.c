/* SPDX-License-Identifier: MIT */
/* wrapix learn: the change of settings that covers what a session was refused. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/learn.h"
#include "cli/logs.h"
#include "os/fs.h"

enum { COMMAND_SHOWN = 72 }; /* bytes */

struct learn_args {
	bool apply, risky, json;
};

/* A change is to be made, which nobody has made since. */
static bool is_open(const struct lesson *lesson)
{
	return lesson->fix.key && !lesson->dropped && !lesson->settled;
}

/* What can be proposed without a word of warning. */
static bool is_plain(const struct lesson *lesson)
{
	return is_open(lesson) && !lesson->fix.risk && !lesson->fix.remove;
}

static bool is_risky(const struct lesson *lesson)
{
	return is_open(lesson) && !is_plain(lesson);
}

static bool is_settled(const struct lesson *lesson)
{
	return lesson->settled && !lesson->dropped;
}

static bool is_hopeless(const struct lesson *lesson)
{
	return !lesson->fix.key;
}

/* What is denied on purpose is taken out by hand, and how high a limit should be nobody knows. */
static bool is_writable(const struct lesson *lesson)
{
	return is_open(lesson) && !lesson->fix.remove && !lesson->fix.raise;
}

static bool is_writable_risk(const struct lesson *lesson)
{
	return is_writable(lesson) && !is_plain(lesson);
}

/* To be written. */
static bool is_chosen(const struct lesson *lesson, bool risky)
{
	return is_plain(lesson) || (risky && is_writable(lesson));
}

static bool has(const struct lessons *l, bool (*is)(const struct lesson *))
{
	for (size_t i = 0; i < l->n; i++)
		if (is(&l->v[i]))
			return true;
	return false;
}

/* --- words --- */

static void add_cut(struct str *out, const char *text, size_t max)
{
	_cleanup_str_ struct str cut = { 0 };

	str_addn(&cut, text, MIN(strlen(text), max));
	str_add_quoted(out, cut.s);
	str_add(out, strlen(text) > max ? "..." : "");
}

static void add_needs(struct str *out, const struct strv *lines, const char *title)
{
	for (size_t i = 0; i < lines->len; i++) {
		str_add(out, i ? ", " : title);
		add_cut(out, lines->v[i], COMMAND_SHOWN);
	}
}

static void print_one(const struct lessons *l, const struct lesson *lesson)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "  ");
	if (is_hopeless(lesson)) {
		denial_add_act(&out, &lesson->denial, l->place.home);
		str_add(&out, ": ");
	}
	fix_add_text(&out, &lesson->fix);
	if (lesson->fix.remove && lesson->denial.origin) {
		str_add(&out, " at ");
		str_add_escaped(&out, lesson->denial.origin);
	}
	if (lesson->count > 1)
		str_addf(&out, " (%lu times)", lesson->count);
	add_needs(&out, &lesson->commands, "\n      needed by ");
	add_needs(&out, &lesson->likely, "\n      likely needed by ");
	if (lesson->fix.risk && !lesson->settled) {
		str_add(&out, "\n      careful: ");
		str_add_escaped(&out, lesson->fix.risk);
	}
	printf("%s\n", out.s);
}

static void print_part(const struct lessons *l, bool (*is)(const struct lesson *),
		       const char *title)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		if (!is(&l->v[i]))
			continue;
		if (!any)
			printf("%s\n", title);
		any = true;
		print_one(l, &l->v[i]);
	}
}

/* What to type for what was not written yet. */
static void print_hint(const struct lessons *l, const struct learn_args *args)
{
	bool plain = has(l, is_plain), writable = has(l, is_writable_risk);
	bool wrote = args->apply && (plain || (args->risky && writable));
	const char *id = l->id ? l->id : "";

	if (args->apply && !wrote && l->n)
		puts("nothing was written");
	if (!args->apply && plain)
		printf("hint: 'wrapix learn %s --apply' writes it%s\n", id,
		       writable ? "; with --risky also what has a risk" : "");
	else if (writable && !args->risky)
		printf("hint: 'wrapix learn %s --apply --risky' writes also what has a risk\n", id);
}

static void print_text(const struct lessons *l, const struct learn_args *args)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "session ");
	str_add_escaped(&out, l->id ? l->id : "");
	str_add(&out, " (");
	add_cut(&out, l->command ? l->command : "", COMMAND_SHOWN);
	str_addf(&out, ") was refused %lu %s\n", l->refused, l->refused == 1 ? "time" : "times");
	fputs(out.s, stdout);
	str_release(&out);
	out = (struct str){ 0 };
	str_add(&out, args->apply ? "written to " : "to allow that, in ");
	denial_add_path(&out, l->place.file ? l->place.file : "the settings", l->place.home);
	str_add(&out, ":");
	print_part(l, is_plain, out.s);
	print_part(l, is_risky,
		   args->risky && args->apply
			   ? "written as well, but for entries that are to go and limits:"
			   : "with a risk, and not proposed:");
	str_release(&out);
	out = (struct str){ 0 };
	str_add(&out, "the settings cover it already, ");
	denial_add_path(&out, l->place.file ? l->place.file : "", l->place.home);
	str_add(&out, ":");
	print_part(l, is_settled, out.s);
	print_part(l, is_hopeless, "what no setting allows:");
	if (l->others)
		printf("and %lu more that found no place here\n", l->others);
	print_hint(l, args);
}

static void add_json(struct str *out, const struct lesson *lesson, bool chosen)
{
	str_add(out, "{");
	json_add_key(out, "fix");
	fix_add_json(out, &lesson->fix);
	json_add_count(out, "count", lesson->count);
	json_add_key(out, "proposed");
	str_add(out, chosen ? "true" : "false");
	if (lesson->settled)
		str_add(out, ",\"settled\":true");
	json_add_member(out, "path", lesson->denial.path);
	json_add_member(out, "name", lesson->denial.name);
	json_add_member(out, "address", lesson->denial.address);
	json_add_member(out, "reason", lesson->denial.reason);
	json_add_key(out, "commands");
	json_add_strings(out, &lesson->commands);
	json_add_key(out, "likely");
	json_add_strings(out, &lesson->likely);
	str_add(out, "}");
}

static void print_json(const struct lessons *l, const struct learn_args *args)
{
	_cleanup_str_ struct str out = { 0 };
	bool any = false;

	str_add(&out, "{");
	json_add_member(&out, "session", l->id);
	json_add_member(&out, "policy", fix_dialect_name(l->place.dialect));
	json_add_member(&out, "settings", l->place.file);
	json_add_count(&out, "refused", l->refused);
	json_add_key(&out, "written");
	str_add(&out, args->apply ? "true" : "false");
	json_add_key(&out, "changes");
	str_add(&out, "[");
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].dropped)
			continue;
		str_add(&out, any ? "," : "");
		add_json(&out, &l->v[i], is_chosen(&l->v[i], args->risky));
		any = true;
	}
	printf("%s]}\n", out.s);
}

/* --- all of it --- */

static void on_event(void *ctx, struct json_object *event)
{
	lessons_add(ctx, event);
}

static bool anything_chosen(const struct lessons *l, const struct learn_args *args)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++)
		any = any || is_chosen(&l->v[i], args->risky);
	return any;
}

static int learn(const struct learn_args *args, const char *word)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *home = getenv("HOME");
	struct lessons l;
	struct err err = { 0 };
	int r;

	lessons_init(&l, home ? os_realpath(&arena, home) : NULL);
	r = cli_read_log(word, on_event, &l, &err);
	if (r == 0) {
		lessons_merge(&l);
		learn_look(&l);
	}
	if (r == 0 && args->apply && anything_chosen(&l, args))
		r = learn_write(&l, is_chosen, args->risky, &err);
	if (r == 0 && args->json)
		print_json(&l, args);
	else if (r == 0)
		print_text(&l, args);
	if (r == 0 && args->apply && l.place.dialect == FIX_RUN && !args->json &&
	    anything_chosen(&l, args))
		fputs("hint: 'wrapix trust' accepts the changed wrapix.json\n", stdout);
	lessons_release(&l);
	if (r == -ENOENT && !word && err.code == ENOENT) {
		fprintf(stderr, "wrapix: %s\n", err.msg);
		return 0;
	}
	return r < 0 ? cli_fail(&err) : 0;
}

static int cmd_learn(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct learn_args args = { 0 };
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	return learn(&args, rest.n_operands ? rest.operands[0] : NULL);
}

static const struct opt opts[] = {
	{ 0, "apply", FLAG(learn_args, apply),
	  .help = "write the change, and leave every other byte as it is" },
	{ 0, "risky", FLAG(learn_args, risky), .help = "with --apply: also what has a risk" },
	{ 0, "json", FLAG(learn_args, json), .help = "print the change as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_learn = {
	.name = "learn",
	.section = SECTION_SESSIONS,
	.usage = "learn [SESSION] [options]",
	.summary = "propose the settings that would allow what a session was refused",
	.description =
		"Reads the log of a session (by its id or name; the latest without one) and prints "
		"the smallest change of its settings file that covers what was refused, with the "
		"commands that needed it. What has a risk (the home directory, keys, files that "
		"programs outside obey, rules that deny on purpose) is listed apart and not "
		"proposed.\n"
		"What a session asked for is its own choice: read the list before it is applied.",
	.examples = EXAMPLES("wrapix learn", "what the latest session here would have needed",
			     "wrapix learn site --apply", "write it to the settings"),
	.syntax = { opts, .max = 1, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_learn,
};
