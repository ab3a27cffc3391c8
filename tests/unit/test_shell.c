/* SPDX-License-Identifier: MIT */
/*
 * Shell commands taken apart: every command that can run is found; what is not understood is an
 * error. With an argument: reads NUL-separated commands from standard input and prints the parts of
 * each, for the test that compares with a real shell (tests/system/shell_split.py).
 */
#include "spec/shell.h"

#include "base/str.h"
#include "lib/tap.h"

/* "a | b", words as their plain text; "!" and the message where it is refused. */
static void describe(struct arena *arena, const char *text, const char *between, struct str *out)
{
	struct shell_script script;
	struct err err = { 0 };

	str_add(out, "");
	if (shell_split(arena, text, &script, &err) < 0) {
		str_addf(out, "!%s", err.msg);
		return;
	}
	for (size_t i = 0; i < script.n_parts; i++) {
		const struct shell_part *part = &script.parts[i];

		str_add(out, i ? between : "");
		for (size_t k = 0; k < part->n_words; k++)
			str_addf(out, "%s%s", k ? " " : "", part->words[k].plain);
		for (size_t k = 0; k < part->n_redirects; k++) {
			static const char *const signs[] = { "<", ">", "<<", "&" };

			str_addf(out, " %s%s", signs[part->redirects[k].kind],
				 part->redirects[k].target.plain);
		}
	}
}

static void check(const char *text, const char *want)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str got = { 0 };

	describe(&arena, text, " | ", &got);
	is_str(got.s, want, "%s", text);
}

static void test_parts(void)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "  # nothing", "" },
		{ "ls", "ls" },
		{ "ls -l  'a b' \"c d\" e\\ f", "ls -l a b c d e f" },
		{ "a|b|&c", "a | b | c" },
		{ "a && b || c; d & e", "a | b | c | d | e" },
		{ "a\nb\n\nc # d\n", "a | b | c" },
		{ "(a; b) | { c; d; }", "a | b | c | d" },
		{ "! a", "a" },
		{ "time -p a", "a" },
		{ "X=1 Y=$(b) a", "b | a" },
		{ "X=1", "" },
		{ "a $(b $(c)) `d \\`e\\``", "c | b  | e | d  | a  " },
		{ "a \"$(b \"$(c)\")\"", "c | b  | a " },
		{ "a \"`b`\" '$(c)'", "b | a  $(c)" },
		{ "a <(b) >(c)", "b | c | a  " },
		{ "a $((1 + $(b))) $((2*(3)))", "b | a  " },
		{ "a ${x:-$(b)} \"${y:-\"$(c)\"}\"", "b | c | a  " },
		{ "a ${x:-\"}\"} b", "a } b" },
		{ "if a; then b; elif c; then d; else e; fi", "a | b | c | d | e" },
		{ "while a; do b; done; until c; do d; done", "a | b | c | d" },
		{ "for i in 1 $(a); do b; done", "a | b" },
		{ "for i; do b; done", "b" },
		{ "for ((i=0; i<$(a); i++)); do b; done", "a | b" },
		{ "case $(a) in x|y) b;; (z) c; d;& *) e;; esac", "a | b | c | d | e" },
		{ "case x in a) ;; esac; b", "b" },
		{ "[[ $(a) =~ ^(x|y)$ && b < c ]] && d", "a | d" },
		{ "((x > $(a))) && b", "a | b" },
		{ "f() { a; }; function g { b; }; function h() (c); f", "a | b | c | f" },
		{ "x=(a $(b) c) d", "b | d" },
		{ "a[$(b)]=c d", "b | d" },
		{ "{a,b} {c,d}", "{a,b} {c,d}" },
		{ "find . -name '*.c' -exec rm {} ';'", "find . -name *.c -exec rm {} ;" },
		{ "a \\\n b", "a b" },
		{ "a#b c", "a#b c" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(cases[i][0], cases[i][1]);
}

static void test_redirects(void)
{
	static const char *const cases[][2] = {
		{ "a >b 2>&1 <c", "a >b &1 <c" },
		{ "a &>b", "a >b" },
		{ "a >& b", "a >b" },
		{ "a 3<>b {x}>c", "a >b >c" },
		{ "> b a", "a >b" },
		{ "{ a; } >b", "a |  >b" },
		{ "a >$(b)", "b | a >" },
		{ "a <<<b", "a <<b" },
		{ "a <<E\n$(b)\nE\nc", "a <<E | b | c" },
		{ "a <<'E'\n$(b)\nE\nc", "a <<E | c" },
		{ "a <<-E | b\n\tx\n\tE\nc", "a <<E | b | c" },
		{ "a <<E; b <<F\n$(c)\nE\n$(d)\nF", "a <<E | b <<F | c | d" },
		{ "a <<E\nE\\\n\nb\nE\nc", "a <<E | b | E | c" },
		{ "a <<E\nx\\\nE\nb\nE\nc", "a <<E | c" },
		{ "a <<E\nE\\\n\nE\nb", "a <<E | E | b" },
		{ "a <<E\nx\n", "!column 9: a here-document that does not end" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(cases[i][0], cases[i][1]);
}

static void test_refused(void)
{
	static const char *const cases[] = {
		"a &&",
		"a |",
		"| a",
		"a ;; b",
		"(a",
		"a )",
		"'a",
		"\"a",
		"`a",
		"$(a",
		"${a",
		"if a; then",
		"if a; fi",
		"for i in a",
		"case x in a) b",
		"{ a; ",
		"coproc a",
		"a @(b|c)",
		"fi",
		"then a",
		"[[ a ]",
		"((a)",
		"$((a);(b))",
		"a \\",
		"\"$\\\n(a)\"",
		"[[ x =~ (a #b) ]]; rm\n]]",
		"\"${x:-'}\"}'",
		"a <<E",
		"$[1+1]",
		"a <<E $(b\n)\nE\n",
		"i\\\nf a; then b; fi",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(arena_release) struct arena arena = { NULL };
		struct shell_script script;
		struct err err = { 0 };

		ok(shell_split(&arena, cases[i], &script, &err) < 0 &&
			   str_starts(err.msg, "column "),
		   "refused: %s", cases[i]);
	}
}

static void test_caps(void)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str text = { 0 };
	struct shell_script script;
	struct err err = { 0 };

	for (int i = 0; i < 60; i++)
		str_add(&text, "$(");
	ok(shell_split(&arena, text.s, &script, &err) < 0 && strstr(err.msg, "deep"), "depth");
	str_release(&text);
	for (int i = 0; i < SHELL_MAX_PARTS + 1; i++)
		str_add(&text, "a;");
	ok(shell_split(&arena, text.s, &script, &err) < 0 && strstr(err.msg, "many"), "parts");
	str_release(&text);
	for (int i = 0; i < SHELL_MAX_SIZE; i++)
		str_add(&text, "aa");
	ok(shell_split(&arena, text.s, &script, &err) < 0 && strstr(err.msg, "longer"), "size");
}

static void test_words(void)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct shell_script script;
	struct err err = { 0 };
	struct shell_part *part;

	is_int(shell_split(&arena, "A=1 $x *.c \"b\" {c,d} e >f", &script, &err), 0, "splits");
	part = &script.parts[0];
	is_int((long long)part->n_assignments, 1, "an assignment");
	is_int((long long)part->n_words, 5, "five words");
	ok(part->words[0].dynamic && !part->words[1].dynamic && part->words[1].glob, "dynamic");
	ok(part->words[2].quoted && part->words[3].dynamic && !part->words[4].dynamic, "quoted");
	is_str(part->raw, "$x *.c \"b\" {c,d} e", "as written");
	is_int(shell_split(&arena, "a $(b)", &script, &err), 0, "splits");
	ok(script.substitution && script.parts[0].substituted && !script.parts[1].substituted,
	   "which part is substituted");
}

/* For the comparison: a line of parts for each command, parts divided by \x01. */
static int describe_stdin(void)
{
	_cleanup_str_ struct str text = { 0 };
	int c;

	while ((c = getchar()) != EOF) {
		_cleanup_(arena_release) struct arena arena = { NULL };
		_cleanup_str_ struct str out = { 0 };
		char byte = (char)c;

		if (c) {
			str_addn(&text, &byte, 1);
			continue;
		}
		describe(&arena, text.s ? text.s : "", "\x01", &out);
		for (char *p = out.s; *p; p++)
			*p = *p == '\n' ? ' ' : *p;
		puts(out.s);
		str_release(&text);
	}
	return 0;
}

int main(int argc, _unused_ char **argv)
{
	if (argc > 1)
		return describe_stdin();
	test_parts();
	test_redirects();
	test_refused();
	test_caps();
	test_words();
	return done();
}
