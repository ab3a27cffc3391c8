/* SPDX-License-Identifier: MIT */
/* What ralph reads: lines, agents' streams, signals, templates, specs. */
#include <errno.h>

#include "base/json.h"
#include "lib/tap.h"
#include "ralph/criteria.h"
#include "ralph/lines.h"
#include "ralph/stream.h"
#include "ralph/template.h"
#include "ralph/verdict.h"

static void test_signals(void)
{
	static const struct {
		const char *text;
		enum verdict want;
		const char *rest, *name;
	} cases[] = {
		{ "done\n\nRALPH_COMPLETE", VERDICT_COMPLETE, "", "at the end" },
		{ "RALPH_COMPLETE\n\n  \n", VERDICT_COMPLETE, "", "with blank lines after it" },
		{ "  RALPH_COMPLETE \r\n", VERDICT_COMPLETE, "", "with blanks around it" },
		{ "RALPH_BLOCKED: no compiler", VERDICT_BLOCKED, "no compiler", "blocked" },
		{ "x\nRALPH_CLARIFY: red or blue?", VERDICT_CLARIFY, "red or blue?", "a question" },
		{ "I will say RALPH_COMPLETE", VERDICT_NONE, "", "in a sentence" },
		{ "RALPH_COMPLETE\nbut not yet", VERDICT_NONE, "", "not on the last line" },
		{ "RALPH_COMPLETE.", VERDICT_NONE, "", "with a full stop" },
		{ "RALPH_COMPLETE: all", VERDICT_NONE, "", "with a text" },
		{ "RALPH_COMPLETE:", VERDICT_NONE, "", "with a colon" },
		{ "`RALPH_COMPLETE`", VERDICT_NONE, "", "in quotes" },
		{ "RALPH_COMPLETED", VERDICT_NONE, "", "as part of a word" },
		{ "ralph_complete", VERDICT_NONE, "", "in small letters" },
		{ "RALPH_BLOCKED", VERDICT_NONE, "", "blocked without a reason" },
		{ "RALPH_CLARIFY:  ", VERDICT_NONE, "", "a question without one" },
		{ "I will not say RALPH_COMPLETE\nRALPH_BLOCKED: x", VERDICT_BLOCKED, "x",
		  "the last of two counts" },
		{ "", VERDICT_NONE, "", "nothing" },
		{ "\n\n", VERDICT_NONE, "", "blank lines alone" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *rest;
		size_t n;

		is_int(verdict_signal(cases[i].text, strlen(cases[i].text), &rest, &n),
		       cases[i].want, "signal: %s", cases[i].name);
		ok(n == strlen(cases[i].rest) && !memcmp(rest, cases[i].rest, n), "its text: %s",
		   cases[i].name);
	}
	for (enum verdict v = VERDICT_NONE; v < VERDICT_COUNT; v++)
		is_int(verdict_of(verdict_name(v)), v, "'%s' is read back", verdict_name(v));
}

struct seen {
	struct str all;
	size_t longest, n;
};

static void on_line(void *ctx, const char *line, size_t len)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->longest = MAX(seen->longest, len);
	if (line && len < 1000)
		str_addf(&seen->all, "[%s]", line);
	else
		str_addf(&seen->all, "[%s %zu]", line ? "long" : "too long", len);
}

static void test_lines(void)
{
	static const char text[] = "one\n\ntwo gr\xc3\xbc\xc3\x9f\nlast";
	char *big = malloc(LINES_MAX + 2);

	for (size_t piece = 1; piece < 6; piece++) {
		struct seen seen = { 0 };
		struct lines lines = { .on_line = on_line, .ctx = &seen };

		for (size_t i = 0; i < strlen(text); i += piece)
			lines_feed(&lines, text + i, MIN(piece, strlen(text) - i));
		lines_end(&lines);
		is_str(seen.all.s, "[one][][two gr\xc3\xbc\xc3\x9f][last]",
		       "lines in pieces of %zu", piece);
		lines_release(&lines);
		str_release(&seen.all);
	}
	if (big) {
		struct seen seen = { 0 };
		struct lines lines = { .on_line = on_line, .ctx = &seen };

		memset(big, 'x', LINES_MAX + 2);
		lines_feed(&lines, big, (size_t)20 << 20);
		lines_feed(&lines, "\n", 1);
		is_str(seen.all.s, "[long 20971520]", "a line of 20 MB comes whole");
		for (int i = 0; i < 5; i++)
			lines_feed(&lines, big, LINES_MAX);
		lines_feed(&lines, "\nafter\n", 7);
		is_str(seen.all.s, "[long 20971520][too long 167772160][after]",
		       "one that is too long is counted, and the next one is whole");
		ok(lines.held.cap <= 2 * LINES_MAX + 64, "the memory is capped");
		lines_release(&lines);
		str_release(&seen.all);
	}
	free(big);
}

static void on_act(void *ctx, enum act act, const char *text)
{
	static const char letters[] = "tkuRxe-";

	str_addf(ctx, "%c(%s)", letters[act], text);
}

static void read_all(struct stream *stream, const char *dialect, struct str *shown,
		     const char *text)
{
	*stream = (struct stream){ .dialect = dialect_find(dialect), .show = on_act, .ctx = shown };
	while (*text) {
		size_t n = strcspn(text, "\n");
		_cleanup_str_ struct str line = { 0 };

		str_addn(&line, text, n);
		stream_line(stream, line.s, n);
		text += n + (text[n] == '\n');
	}
}

static void test_claude(void)
{
	struct str shown = { 0 };
	struct stream s;

	read_all(&s, "claude", &shown,
		 "{\"type\":\"system\",\"subtype\":\"init\"}\n"
		 "garbage between lines\n"
		 "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
		 "\"I  "
		 "look\\nfirst\"},{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{\"command\":"
		 "\"make "
		 "test\"}}]}}\n"
		 "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"is_"
		 "error\":true,"
		 "\"content\":\"Error 2\"}]}}\n"
		 "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"first\",\"total_cost_"
		 "usd\":0."
		 "25,\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"output_"
		 "tokens\":7}}\n"
		 "{\"broken\n"
		 "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"all "
		 "done\\nRALPH_COMPLETE\",\"total_cost_usd\":0.5,\"usage\":{\"input_tokens\":20,"
		 "\"output_tokens\":9}}\n");
	is_str(shown.s,
	       "-(garbage between lines)t(I look first)u(Bash make test)x(Error "
	       "2)e(first)-({\"broken)"
	       "e(all done RALPH_COMPLETE)",
	       "claude: one line an action");
	is_str(s.final.s, "all done\nRALPH_COMPLETE", "the last of several results counts");
	ok(s.ended && !s.failed, "it ended well");
	ok(s.cost > 0.49 && s.cost < 0.51 && s.tokens_in == 20 && s.tokens_out == 9,
	   "what it cost");
	is_int((long long)s.noise, 2, "what was no record is counted");
	is_str(s.errors.s, "Error 2\n", "a tool's error is kept for the next try");
	stream_release(&s);
	str_release(&shown);

	read_all(&s, "claude", &shown,
		 "{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\",\"is_error\":true}\n");
	ok(s.ended && s.failed && s.over_budget, "claude: out of money");
	stream_release(&s);
	str_release(&shown);
	read_all(&s, "claude", &shown,
		 "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
		 "\"RALPH_"
		 "COMPLETE\"}]}}\n");
	ok(!s.ended && !s.final.len, "a message is no result");
	stream_release(&s);
	str_release(&shown);
}

static void test_others(void)
{
	static const struct {
		const char *dialect, *text;
		double cost;
	} cases[] = {
		{ "codex",
		  "{\"type\":\"thread.started\"}\n"
		  "{\"type\":\"item.started\",\"item\":{\"type\":\"command_execution\",\"command\":"
		  "\"ls\"}}\n"
		  "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":"
		  "\"ok\\nRALPH_"
		  "COMPLETE\"}}\n"
		  "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}"
		  "\n",
		  0 },
		{ "gemini",
		  "{\"type\":\"init\"}\n"
		  "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"I "
		  "look\",\"delta\":true}\n"
		  "{\"type\":\"tool_use\",\"tool_name\":\"run\",\"parameters\":{\"command\":\"ls\"}"
		  "}\n"
		  "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"ok\\nRALPH_\","
		  "\"delta\":true}\n"
		  "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"COMPLETE\",\"delta\":"
		  "true}\n"
		  "{\"type\":\"result\",\"status\":\"success\",\"stats\":{\"input_tokens\":3,"
		  "\"output_tokens\":4}}\n",
		  0 },
		{ "opencode",
		  "{\"type\":\"step_start\"}\n"
		  "{\"type\":\"tool_use\",\"part\":{\"tool\":\"bash\",\"state\":{\"input\":{"
		  "\"command\":"
		  "\"ls\"}}}}\n"
		  "{\"type\":\"text\",\"part\":{\"text\":\"ok\\nRALPH_COMPLETE\"}}\n"
		  "{\"type\":\"step_finish\",\"part\":{\"cost\":0.5,\"tokens\":{\"input\":3,"
		  "\"output\":4}}}\n",
		  0.5 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str shown = { 0 };
		struct stream s;

		read_all(&s, cases[i].dialect, &shown, cases[i].text);
		is_str(s.final.s, "ok\nRALPH_COMPLETE", "%s: its last word", cases[i].dialect);
		ok(s.ended || s.dialect->ends_by_exit, "%s: its end", cases[i].dialect);
		ok(!s.failed && !s.noise, "%s: nothing is noise", cases[i].dialect);
		ok(s.tokens_in == 3 && s.tokens_out == 4 && s.cost >= cases[i].cost,
		   "%s: what it cost", cases[i].dialect);
		ok(strstr(shown.s, "ls)"), "%s: its tools are shown", cases[i].dialect);
		stream_release(&s);
		str_release(&shown);
	}
	ok(!dialect_find("other"), "there is no other dialect");
}

static int find_text(const struct template_source *source, struct arena *arena, const char *name,
		     const char **ret_text, size_t *ret_len, struct err *err)
{
	static const char *const texts[][2] = {
		{ "one", "Hello {{NAME}}, {{NAME}}." },
		{ "part", "<{{> one}}>" },
		{ "round", "{{> round}}" },
		{ "typo", "a\nb {{NMAE}}" },
		{ "braces", "\\{{NAME}} {x} } {" },
		{ "open", "{{NAME" },
		{ "space", "{{ NAME }}" },
		{ "small", "{{name}}" },
		{ "empty", "" },
	};

	(void)source;
	(void)arena;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!strcmp(texts[i][0], name)) {
			*ret_text = texts[i][1];
			*ret_len = strlen(texts[i][1]);
			return 0;
		}
	return err_usage(err, "there is no template '%s'", name);
}

static void test_templates(void)
{
	static const struct {
		const char *name, *value, *want;
	} cases[] = {
		{ "one", "World", "Hello World, World." },
		{ "one", "a && b \\1 $0", "Hello a && b \\1 $0, a && b \\1 $0." },
		{ "one", "{{NAME}} {{> one}}", "Hello {{NAME}} {{> one}}, {{NAME}} {{> one}}." },
		{ "part", "x", "<Hello x, x.>" },
		{ "braces", "x", "{{NAME}} {x} } {" },
		{ "empty", "x", "" },
		{ "typo", "x", NULL },
		{ "open", "x", NULL },
		{ "space", "x", NULL },
		{ "small", "x", NULL },
		{ "round", "x", NULL },
		{ "nowhere", "x", NULL },
		{ "one", NULL, NULL },
	};
	const struct template_source source = { find_text, -1 };
	const struct template_source built_in = TEMPLATES_BUILT_IN;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct template_var var = { "NAME", cases[i].value };
		struct str out = { 0 };
		struct err err = { 0 };
		int r = template_render(&out, &source, cases[i].name, &var, 1, &err);

		if (cases[i].want)
			is_str(out.s, cases[i].want, "template '%s', case %zu", cases[i].name, i);
		else
			ok(r < 0 && err.exit == EXIT_USAGE, "template '%s' is refused: %s",
			   cases[i].name, err.msg);
		if (!strcmp(cases[i].name, "typo"))
			is_str(err.hint, "did you mean {{NAME}}?", "a typo gets the nearest name");
		str_release(&out);
	}
	for (size_t i = 0; template_info(i); i++) {
		struct err err = { 0 };

		ok(!template_info(i)->vars ||
			   template_check(&built_in, template_info(i)->name, &err) == 0,
		   "the template '%s' renders: %s", template_info(i)->name, err.msg);
	}
}

static void test_criteria(void)
{
	static const char text[] =
		"# A title\n\n## Requirements\n- [ ] not a criterion\n\n"
		"## Success Criteria Later\n- [ ] not here\n"
		"## Success Criteria\n\n- [ ] first\n  [verify](../tests/a.sh#one)\n"
		"- [x] second\n  [judge](rubric.md)\n  [verify:wrapix](t.sh::fn)\n"
		"```\n- [ ] in a fence\n## Out of Scope\n```\n"
		"- [ ] third\n\n  [verify](too/late.sh)\n"
		"### deeper\n- [ ] fourth\n  see [verify](x) here\n"
		"## Out of Scope\n- [ ] not this\n";
	struct criteria c;

	criteria_parse(&c, text, strlen(text));
	is_str(c.title, "A title", "the title");
	is_int((long long)c.n, 4, "the criteria");
	if (c.n == 4) {
		is_str(c.v[0].text, "first", "their text");
		ok(c.v[0].n_trials == 1 && c.v[0].trials[0].kind == TRIAL_VERIFY, "verify");
		is_str(c.v[0].trials[0].path, "../tests/a.sh", "its path");
		is_str(c.v[0].trials[0].function, "one", "its function");
		is_int(c.v[0].trials[0].line, 11, "its line");
		ok(c.v[1].n_trials == 2 && c.v[1].trials[0].kind == TRIAL_JUDGE &&
			   !c.v[1].trials[0].function && c.v[1].trials[1].kind == TRIAL_SANDBOX,
		   "two of them");
		is_str(c.v[1].trials[1].function, "fn", "'::' stands for '#'");
		ok(!c.v[2].n_trials, "an empty line ends a criterion");
		ok(!c.v[3].n_trials, "a link in a sentence is none");
	}
	criteria_release(&c);
}

int main(void)
{
	test_signals();
	test_lines();
	test_claude();
	test_others();
	test_templates();
	test_criteria();
	return done();
}
