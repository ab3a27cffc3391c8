/* SPDX-License-Identifier: MIT */
/* Growing text, escaping for terminals and shells, and the nearest word. */
#include "base/str.h"

#include <sys/wait.h>

#include "lib/tap.h"

static void test_grow(void)
{
	struct str str = { 0 };
	size_t len = 0;

	str_add(&str, "");
	is_str(str.s, "", "empty text is there after an addition");
	for (int i = 0; i < 500; i++) {
		str_add(&str, "ab");
		str_addn(&str, "cde", 1);
		str_addf(&str, "%d", i % 10);
		len += 4;
	}
	is_int((long long)str.len, (long long)len, "its length");
	ok(strlen(str.s) == len && !strncmp(str.s, "abc0abc1", 8), "its content");
	str_release(&str);
	ok(!str.s && !str.len, "released");
}

static void test_escaped(void)
{
	static const struct {
		const char *in, *want, *name;
	} cases[] = {
		{ "plain text", "plain text", "plain text" },
		{ "tab\tline\n", "tab\\x09line\\x0a", "controls" },
		{ "\x1b[31m", "\\x1b[31m", "a terminal sequence" },
		{ "a\\b", "a\\\\b", "a backslash" },
		{ "\x7f", "\\x7f", "DEL" },
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m", "a C1 control" },
		{ "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80",
		  "letters and an emoji stay" },
		{ "\xff\xc3", "\\xff\\xc3", "bytes that are not UTF-8" },
		{ "\xc0\xaf", "\\xc0\\xaf", "an overlong form" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "a surrogate" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "beyond the last code point" },
		{ "\xe2\x80\xae"
		  "cod",
		  "\\xe2\\x80\\xaecod", "a right-to-left override" },
		{ "a\xe2\x80\x8b"
		  "b",
		  "a\\xe2\\x80\\x8bb", "a zero-width space" },
		{ "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "a tag character" },
		{ "\xe2\x82", "\\xe2\\x82", "a sequence that is cut short" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str str = { 0 };

		str_add_escaped(&str, cases[i].in);
		is_str(str.s, cases[i].want, "%s", cases[i].name);
		str_release(&str);
	}
}

static void test_line(void)
{
	struct str str = { 0 };

	str_add_line(&str, "a\\\"b\tc\nd\x1b[31m \xe2\x80\xae \xff gr\xc3\xbc\xc3\x9f");
	is_str(str.s, "a\\\"b\tc\\x0ad\\x1b[31m \\xe2\\x80\\xae \\xff gr\xc3\xbc\xc3\x9f",
	       "a line for eyes: backslashes stay, what a terminal obeys does not");
	str_release(&str);
}

static void test_utf8(void)
{
	uint32_t cp = 0;

	is_int((long long)utf8_next("\xe2\x82\xac", 3, &cp), 3, "a whole sequence");
	is_int(cp, 0x20ac, "its code point");
	is_int((long long)utf8_next("\xe2\x82\xac", 2, &cp), 0, "no more is read than may be");
	is_int((long long)utf8_next("", 0, &cp), 0, "nothing in nothing");
	is_int((long long)utf8_next("\xf8\x88\x80\x80\x80", 5, &cp), 0, "no five-byte form");
}

static void test_quote(void)
{
	char text[200];
	struct str str = { 0 };

	is_str(str_quote(&str, "a\nb"), "'a\\x0ab'", "quoted and escaped");
	str.len = 0;
	str_add_quoted(&str, "'\\n\t\033\\'");
	is_str(str.s, "'\\n\\x09\\x1b\\'", "what a shell would read keeps its backslashes");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	is_int((long long)strlen(str_quote(&str, text)), 2 + 120 + 3, "shortened");
	is_str(str_quote(&str, "z"), "'z'", "the buffer is replaced");
	str_release(&str);
}

/* A shell reads the word back. */
static void check_shell(const char *word)
{
	_cleanup_str_ struct str script = { 0 };
	char got[256] = "";
	size_t len = 0;
	ssize_t n = 0;
	int pipe_fd[2];
	pid_t pid;

	str_add(&script, "printf %s ");
	str_add_shell(&script, word);
	if (pipe(pipe_fd) < 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		dup2(pipe_fd[1], STDOUT_FILENO);
		close(pipe_fd[0]);
		execl("/bin/sh", "sh", "-c", script.s, (char *)NULL);
		_exit(127);
	}
	close(pipe_fd[1]);
	while (len < sizeof(got) - 1 &&
	       (n = read(pipe_fd[0], got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	close(pipe_fd[0]);
	waitpid(pid, NULL, 0);
	got[len] = '\0';
	is_str(got, word, "a shell reads back: %s", word);
}

static void test_shell(void)
{
	static const char *const words[] = { "plain",   "/a/b.c",         "a b",
					     "",        "it's",           "$HOME `id` \\ \"",
					     "a\nb",    "*?[x]",          "~",
					     "#x",      "a;b|c&d<e>f(g)", "!x",
					     "\xff\xfe" };
	struct str str = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		check_shell(words[i]);
	str_add_shell(&str, "--mount=/a:/b:ro,optional");
	is_str(str.s, "--mount=/a:/b:ro,optional", "a plain word has no quotes");
	str_release(&str);
}

static void test_words(void)
{
	static const char *const words[] = { "network", "mounts", "env", "engine" };

	is_int((long long)str_distance("kitten", "sitting"), 3, "an edit distance");
	is_int((long long)str_distance("", "abc"), 3, "from nothing");
	is_int((long long)str_distance("abc", "abc"), 0, "of equals");
	is_str(str_nearest("netwrok", words, ARRAY_LEN(words)), "network", "a slip");
	is_str(str_nearest("mount", words, ARRAY_LEN(words)), "mounts", "a missing letter");
	ok(!str_nearest("color", words, ARRAY_LEN(words)), "nothing near");
	ok(!str_nearest("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
			words, ARRAY_LEN(words)),
	   "an endless word");
	ok(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("ab", "abc"),
	   "prefixes");
}

int main(void)
{
	test_grow();
	test_escaped();
	test_line();
	test_utf8();
	test_quote();
	test_shell();
	test_words();
	return done();
}
