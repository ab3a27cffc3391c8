/* SPDX-License-Identifier: MIT */
/* wrapix mode: Claude Code's three modes, shown with their origin, and written to local settings. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/json_span.h"
#include "cli/settings.h"

struct mode_args {
	bool json;
	const char *settings;
};

static const char *const deciding[] = { "sandbox.enabled", "sandbox.autoAllowBashIfSandboxed" };

static void show_text(const struct claude_settings *s)
{
	puts(claude_mode_name(claude_mode(s)));
	for (size_t i = 0; i < ARRAY_LEN(deciding); i++) {
		const struct claude_value *v = claude_get(s, deciding[i]);
		_cleanup_str_ struct str line = { 0 };

		str_addf(&line, "  %s = %s, ", deciding[i], v && v->truth ? "true" : "false");
		if (v)
			cli_add_origin(&line, s, v);
		else
			str_add(&line, "by default");
		puts(line.s);
	}
}

static void show_json(const struct claude_settings *s)
{
	_cleanup_str_ struct str out = { 0 };
	bool any = false;

	str_addf(&out, "{\"mode\":\"%s\",\"values\":[", claude_mode_name(claude_mode(s)));
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->values[i].name, deciding[0]) &&
		    strcmp(s->values[i].name, deciding[1]))
			continue;
		str_add(&out, any ? ",\n" : "\n");
		cli_add_value_json(&out, &s->values[i]);
		any = true;
	}
	printf("%s]}\n", out.s);
}

/* The local settings' text with the mode in it; every other byte stays. */
static int change_text(const struct claude_source *local, const char *path, enum claude_mode mode,
		       struct str *out, struct err *err)
{
	static const char *const keys[][2] = { { "sandbox", "enabled" },
					       { "sandbox", "autoAllowBashIfSandboxed" } };
	const bool values[] = { mode != CLAUDE_DISABLED, mode == CLAUDE_AUTO_ALLOW };
	size_t blank = local ? strspn(local->text, " \t\r\n") : 0;

	str_add(out, local && blank < local->len ? local->text : "{}\n");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		_cleanup_json_doc_ struct json_doc doc = { .spans = NULL };
		_cleanup_str_ struct str next = { 0 };
		int r = json_doc_parse(&doc, out->s, out->len, CLAUDE_MAX_TEXT, path, err);

		if (r == 0)
			r = json_doc_set(&doc, keys[i], 2, values[i] ? "true" : "false", &next,
					 err);
		if (r < 0)
			return r;
		str_release(out);
		str_addn(out, next.s, next.len);
	}
	return 0;
}

/* Would it be so? A stronger file may say otherwise, and then nothing is written. */
static int check_effect(const struct claude_files *files, const struct str *text,
			enum claude_mode mode, struct err *err)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_source *sources = arena_alloc(&arena, (files->n + 1) * sizeof(*sources));
	size_t n = 0;
	int r;

	for (size_t i = 0; i < files->n; i++)
		if (files->sources[i].scope != CLAUDE_LOCAL)
			sources[n++] = files->sources[i];
	sources[n++] = (struct claude_source){ CLAUDE_LOCAL, files->local, text->s, text->len };
	r = claude_settings_parse(&s, sources, n, &files->place, err);
	if (r < 0 || claude_mode(&s) == mode)
		return r;
	err_set(err, EPERM, "the mode would still be '%s'", claude_mode_name(claude_mode(&s)));
	for (size_t i = 0; i < s.n; i++) {
		const struct claude_value *v = &s.values[i];
		_cleanup_str_ struct str hint = { 0 };

		if (v->scope != CLAUDE_LOCAL || v->fate == CLAUDE_COUNTS || !v->key ||
		    (strcmp(v->name, deciding[0]) && strcmp(v->name, deciding[1])))
			continue;
		str_addf(&hint, "%s: %s", v->name, claude_fate_phrase(v->fate));
		if (v->by) {
			str_add(&hint, ": ");
			cli_add_origin(&hint, &s, v->by);
		}
		if (v->fate == CLAUDE_UNTRUSTED)
			str_add(&hint, "; open Claude Code there once, and say yes");
		return err_hint(err, "%s", hint.s);
	}
	return -err->code;
}

/* It was read by its path, and is not what the project has where somebody changes names. */
static int check_same(const struct claude_files *files, const struct claude_source *local,
		      struct err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = cli_read_settings(files->local, files->place.project, CLAUDE_MAX_TEXT, &text, &len,
				  err);

	if (r == 0 && (len != local->len || memcmp(text, local->text, len) != 0))
		r = err_set(err, EAGAIN, "'%s' was changed meanwhile", files->local);
	return r;
}

static int set_mode(const struct claude_files *files, const char *word, struct err *err)
{
	const char *const *names = claude_mode_names(NULL);
	const struct claude_source *local = NULL;
	_cleanup_str_ struct str text = { 0 };
	enum claude_mode mode = CLAUDE_DISABLED;
	int r;

	while (names[mode] && strcmp(names[mode], word))
		mode++;
	if (!names[mode])
		return err_usage(err, "'%s' is no mode; there are disabled, regular, auto-allow",
				 word);
	for (size_t i = 0; i < files->n; i++)
		if (files->sources[i].scope == CLAUDE_LOCAL)
			local = &files->sources[i];
	r = change_text(local, files->local, mode, &text, err);
	if (r == 0)
		r = check_effect(files, &text, mode, err);
	if (r == 0 && local)
		r = check_same(files, local, err);
	return r < 0 ? r : cli_write_settings(files->local, files->place.project, &text, err);
}

static int cmd_mode(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct claude_settings s = { .n = 0 };
	struct claude_files files = { .n = 0 };
	struct mode_args args = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = cli_claude_load(args.settings, NULL, &s, &files, &err);
	if (r == 0 && rest.n_operands)
		r = set_mode(&files, rest.operands[0], &err);
	if (r == 0 && rest.n_operands) {
		claude_settings_release(&s);
		claude_files_release(&files);
		r = cli_claude_load(args.settings, NULL, &s, &files, &err);
	}
	if (r == 0 && args.json)
		show_json(&s);
	else if (r == 0)
		show_text(&s);
	claude_settings_release(&s);
	claude_files_release(&files);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(mode_args, json), .help = "print the mode and its values as JSON" },
	{ 0, "settings", "FILE|JSON", .kind = OPT_STRING,
	  .offset = offsetof(struct mode_args, settings), .complete = COMPLETE_FILE,
	  .help = "more settings, as Claude Code's option of this name takes them" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_mode = {
	.name = "mode",
	.section = SECTION_CLAUDE,
	.usage = "mode [disabled|regular|auto-allow] [options]",
	.summary = "show or choose how Claude Code's commands run here",
	.description =
		"disabled: without a sandbox. regular: in a sandbox, asked for as ever. "
		"auto-allow: "
		"in a sandbox, and what is in it is not asked for. Without an argument the mode is "
		"shown with where it comes from; with one it is written to the project's "
		".claude/settings.local.json, of which no other byte changes.",
	.examples = EXAMPLES("wrapix mode", "which it is", "wrapix mode auto-allow",
			     "choose it for this project, for yourself alone"),
	.syntax = { opts, .max = 1, .operand = "MODE", .complete = COMPLETE_WORDS,
		    .words = claude_mode_names },
	.run = cmd_mode,
};
