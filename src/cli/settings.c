/* SPDX-License-Identifier: MIT */
/* wrapix settings: the policy that Claude Code's settings amount to, and where each value is from. */
#include "cli/settings.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "spec/host.h"

struct settings_args {
	const char *settings, *explain, *as;
	bool json;
};

int cli_claude_where(struct arena *arena, const char *settings, const char *project,
		     struct claude_where *ret, struct err *err)
{
	const char *home = user_home(arena), *config = getenv("CLAUDE_CONFIG_DIR");
	char *real;

	*ret = (struct claude_where){ .settings = settings, .project = project };
	ret->dir = os_here(arena, err);
	if (!ret->dir)
		return -err->code;
	real = os_realpath(arena, home);
	ret->home = real ? real : path_join(arena, "/", home);
	ret->config = config && *config ? config : NULL;
	return 0;
}

int cli_claude_load(const char *settings, const char *project, struct claude_settings *ret,
		    struct claude_files *ret_files, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_where where;
	int r = cli_claude_where(&arena, settings, project, &where, err);

	*ret = (struct claude_settings){ .n = 0 };
	*ret_files = (struct claude_files){ .n = 0 };
	return r < 0 ? r : claude_load(ret, &where, ret_files, err);
}

void cli_add_origin(struct str *out, const struct claude_settings *settings,
		    const struct claude_value *value)
{
	const char *home = settings->place.home, *below = path_below(value->path, home);

	if (below && *below) {
		str_add(out, "~/");
		str_add_escaped(out, below);
	} else {
		str_add_escaped(out, value->path);
	}
	str_addf(out, ":%u (%s)", value->line, claude_scope_name(value->scope));
}

void cli_add_value_json(struct str *out, const struct claude_value *value)
{
	str_add(out, "{\"key\":");
	json_add_string(out, value->name);
	if (value->json)
		str_addf(out, ",\"value\":%s", value->json);
	str_addf(out, ",\"scope\":\"%s\",\"file\":", claude_scope_name(value->scope));
	json_add_string(out, value->path);
	str_addf(out, ",\"line\":%u,\"fate\":\"%s\"", value->line, claude_fate_name(value->fate));
	if (value->by) {
		str_add(out, ",\"by\":{\"key\":");
		json_add_string(out, value->by->name);
		str_add(out, ",\"file\":");
		json_add_string(out, value->by->path);
		str_addf(out, ",\"line\":%u}", value->by->line);
	}
	if (value->why) {
		str_add(out, ",\"why\":");
		json_add_string(out, value->why);
	}
	str_add(out, "}");
}

/* --- text --- */

static void print_counting(const struct claude_settings *s, const struct claude_key *key)
{
	const struct claude_value *v = claude_each(s, NULL, key->name);

	if (v)
		printf("\n%s\n", key->name);
	for (; v; v = claude_each(s, v, key->name)) {
		_cleanup_str_ struct str line = { 0 };

		str_add(&line, "  ");
		if (key->kind == CLAUDE_MAP) {
			str_add_escaped(&line, v->name + strlen(key->name) + 1);
			str_add(&line, ": ");
		}
		str_add_escaped(&line, v->string ? v->string : v->json);
		do
			str_add(&line, " ");
		while (line.len < 42);
		cli_add_origin(&line, s, v);
		puts(line.s);
	}
}

static void print_lost(const struct claude_settings *s, const struct claude_value *v)
{
	_cleanup_str_ struct str line = { 0 };

	str_add(&line, "  ");
	str_add_escaped(&line, v->name);
	if (v->json) {
		str_add(&line, " = ");
		str_add_escaped(&line, v->string ? v->string : v->json);
	}
	str_add(&line, "\n    ");
	cli_add_origin(&line, s, v);
	str_addf(&line, ": %s", v->why ? v->why : claude_fate_phrase(v->fate));
	if (v->by) {
		str_add(&line, ": ");
		str_add_escaped(&line, v->by->name);
		str_add(&line, " at ");
		cli_add_origin(&line, s, v->by);
	}
	puts(line.s);
}

static void print_all_lost(const struct claude_settings *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		if (s->values[i].fate == CLAUDE_COUNTS || s->values[i].fate == CLAUDE_NOT_POLICY)
			continue;
		if (!any)
			puts("\nwhat does not count");
		any = true;
		print_lost(s, &s->values[i]);
	}
}

/* Keys that have nothing to do with a sandbox, by name alone. */
static void print_others(const struct claude_settings *s)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str line = { 0 };
	struct strv seen = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct claude_value *v = &s->values[i];

		if (v->fate != CLAUDE_NOT_POLICY || strv_has(&seen, v->name))
			continue;
		strv_add(&arena, &seen, v->name);
		str_add(&line, line.len ? ", " : "");
		str_add_escaped(&line, v->name);
	}
	if (line.len)
		printf("\nClaude Code's own, no part of the policy\n  %s\n", line.s);
}

static void print_text(const struct claude_settings *s, const struct claude_files *files)
{
	_cleanup_str_ struct str project = { 0 };

	str_add_escaped(&project, s->place.project);
	printf("project  %s%s\n", project.s,
	       !files->found      ? " (no settings of its own)"
	       : s->place.trusted ? ""
				  : " (not trusted: open Claude Code there once, and say yes)");
	printf("mode     %s\n", claude_mode_name(claude_mode(s)));
	for (size_t i = 0; claude_key(i); i++)
		print_counting(s, claude_key(i));
	print_all_lost(s);
	print_others(s);
}

/* --- one key --- */

static bool is_named(const struct claude_value *v, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(v->name, name, len) && (!v->name[len] || strchr(".[", v->name[len]));
}

/* Not every mistake is a key that is merely unset. */
static int check_name(const char *name, struct err *err)
{
	const char *names[64], *near;
	size_t n = 0;

	for (; claude_key(n) && n < ARRAY_LEN(names); n++) {
		size_t len = strlen(name);

		names[n] = claude_key(n)->name;
		if (!strncmp(names[n], name, len) && (!names[n][len] || names[n][len] == '.'))
			return 0;
	}
	near = str_nearest(name, names, n);
	err_usage(err, "there is no key '%s'", name);
	return near ? err_hint(err, "did you mean '%s'?", near)
		    : err_hint(err, "'wrapix settings' lists what is set");
}

static int explain(const struct claude_settings *s, const char *name, bool json, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	bool any = false;
	int r;

	for (size_t i = 0; i < s->n; i++) {
		const struct claude_value *v = &s->values[i];

		if (!is_named(v, name))
			continue;
		if (json) {
			str_add(&out, any ? ",\n" : "");
			cli_add_value_json(&out, v);
		} else if (v->fate == CLAUDE_COUNTS) {
			str_add_escaped(&out, v->name);
			str_add(&out, " = ");
			str_add_escaped(&out, v->string ? v->string : v->json);
			str_add(&out, "\n  ");
			cli_add_origin(&out, s, v);
			puts(out.s);
			str_release(&out);
		} else {
			print_lost(s, v);
		}
		any = true;
	}
	if (json)
		printf("[%s]\n", out.s ? out.s : "");
	r = any ? 0 : check_name(name, err);
	if (r == 0 && !any && !json)
		printf("%s is not set in any file\n", name);
	return r;
}

/* --- JSON --- */

static void print_json(const struct claude_settings *s, const struct claude_files *files)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{\"project\":");
	json_add_string(&out, s->place.project);
	str_addf(&out, ",\"trusted\":%s,\"mode\":\"%s\",\"files\":[",
		 s->place.trusted ? "true" : "false", claude_mode_name(claude_mode(s)));
	for (size_t i = 0; i < files->n; i++) {
		str_addf(&out, "%s{\"scope\":\"%s\",\"file\":", i ? "," : "",
			 claude_scope_name(files->sources[i].scope));
		json_add_string(&out, files->sources[i].path);
		str_add(&out, "}");
	}
	str_add(&out, "],\n\"values\":[");
	for (size_t i = 0; i < s->n; i++) {
		str_add(&out, i ? ",\n" : "\n");
		cli_add_value_json(&out, &s->values[i]);
	}
	printf("%s]}\n", out.s);
}

static void print_srt(struct claude_settings *s)
{
	struct claude_srt srt;

	claude_to_srt(s, &srt);
	fputs(srt.text.s, stdout);
	claude_srt_release(&srt);
}

static const char *const *as_words(_unused_ const char *name)
{
	static const char *const words[] = { "srt", NULL };

	return words;
}

static int cmd_settings(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	struct claude_files files = { .n = 0 };
	struct settings_args args = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = cli_claude_load(args.settings, NULL, &s, &files, &err);
	if (r == 0 && args.explain)
		r = explain(&s, args.explain, args.json, &err);
	else if (r == 0 && args.as)
		print_srt(&s);
	else if (r == 0 && args.json)
		print_json(&s, &files);
	else if (r == 0)
		print_text(&s, &files);
	claude_files_release(&files);
	return r < 0 ? cli_fail(&err) : ferror(stdout) || fflush(stdout) ? EXIT_WRAPIX : 0;
}

#define STRING(field) .kind = OPT_STRING, .offset = offsetof(struct settings_args, field)

static const struct opt opts[] = {
	{ 0, "json", FLAG(settings_args, json),
	  .help = "print every value with its file, line and fate as JSON" },
	{ 0, "as", "srt", STRING(as), .words = as_words, .complete = COMPLETE_WORDS,
	  .help = "print the SandboxRuntimeConfig that it amounts to" },
	{ 0, "explain", "KEY", STRING(explain),
	  .help = "every value of this key, in each file, and what became of it" },
	{ 0, "settings", "FILE|JSON", STRING(settings), .complete = COMPLETE_FILE,
	  .help = "more settings, as Claude Code's option of this name takes them" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_settings = {
	.name = "settings",
	.section = SECTION_CLAUDE,
	.usage = "settings [options]",
	.summary = "show the policy in Claude Code's settings, and where it is from",
	.description =
		"Reads the settings files of Claude Code that count here: managed, --settings, "
		"local, project, user, strongest first. Prints each value with its file and line, "
		"and those that do not count with the reason.",
	.examples = EXAMPLES("wrapix settings", "what counts here",
			     "wrapix settings --explain sandbox.network.allowedDomains",
			     "who allows which hosts", "wrapix settings --as srt >srt.json",
			     "the same for srt"),
	.syntax = { opts },
	.run = cmd_settings,
};
