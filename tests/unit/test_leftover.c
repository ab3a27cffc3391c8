/* SPDX-License-Identifier: MIT */
/* What a program leaves switched on in a terminal, and what switches it off. */
#include "engine/leftover.h"
#include "lib/tap.h"

#define UNSEEN "\033[?25l"

/* A byte at a time: a sequence may come in any pieces. */
static void output(struct leftover *l, const char *s)
{
	for (; *s; s++)
		leftover_output(l, s, 1, 0);
}

static void test_undo(void)
{
	static const struct {
		const char *name, *written, *undo;
	} cases[] = {
		{ "text", "plain \033[1;31mred\033[m\r\n\a\033]0;title\a", "" },
		{ "the other screen", "\033[?1049h", "\033[?1049l" },
		{ "... an older way to it", "\033[?47h", "\033[?47l" },
		{ "... left another way", "\033[?1049h\033[?47l", "" },
		{ "the mouse", "\033[?1000h\033[?1002h\033[?1003h\033[?1006h",
		  "\033[?1000l\033[?1002l\033[?1003l\033[?1006l" },
		{ "... half of it", "\033[?1000;1006h\033[?1000l", "\033[?1006l" },
		{ "focus and paste", "\033[?1004;2004h", "\033[?1004l\033[?2004l" },
		{ "the cursor, hidden", UNSEEN, "\033[?25h" },
		{ "... and shown again", UNSEEN "\033[?12;25h", "" },
		{ "lines that do not wrap", "\033[?7l", "\033[?7h" },
		{ "insert mode, not the clock of another", "\033[4h\033[?4h", "\033[4l" },
		{ "cursor keys and keypad", "\033[?1h\033=", "\033[?1l\033>" },
		{ "... off again", "\033[?1h\033=\033[?1l\033>", "" },
		{ "keys with modifiers", "\033[>4;2m", "\033[>4m" },
		{ "... off again", "\033[>4;2m\033[>4;m", "" },
		{ "kitty's keys", "\033[>1u\033[>5u\033[<u", "\033[<1u" },
		{ "... taken back", "\033[>1u\033[<1u\033[<9u", "" },
		{ "... set", "\033[=5u", "\033[=0u" },
		{ "... set and unset", "\033[=5u\033[=5;3u", "" },
		{ "... a stack for each screen", "\033[>1u\033[?1049h\033[>1u\033[>1u",
		  "\033[<2u\033[?1049l\033[<1u" },
		{ "lines that scroll", "\033[1;20r", "\0337\033[r\0338" },
		{ "... all of them", "\033[2;20r\033[1;24r\033[?1r", "" },
		{ "a screen that stands still", "\033[?2026h", "\033[?2026l" },
		{ "a reset", "\033[?1049;1000h\033=\033[>1u\033c", "" },
		{ "a soft reset", UNSEEN "\033[?1000h\033[2;3r\033[!p", "\033[?1000l" },
		{ "half a title", "\033]0;tit", "\033\\" },
		{ "half a mode", "\033[?1049h\033[?25", "\033\\\033[?1049l" },
		{ "what a title says is no mode", "\033]0;[?1049h\033\\", "" },
		{ "what is cancelled does not count", "\033[?1049\030h\033[?25\032l", "" },
		{ "what an ESC cuts off neither", "\033[?1049\033[?25l", "\033[?25h" },
		{ "controls in the midst", "\033[?10\r\n49h", "\033[?1049l" },
		{ "a character set", "\033(=\033)0", "\033(B" },
		{ "... and the usual one", "\033(0lqk\033(B\033)B\033*0\033#8", "" },
		{ "the second set", "a\016q\017b\016xx", "\017" },
		{ "... and the first one", "\016\033(0x\033[m\017\033(B", "" },
		{ "... in the midst of a screen", "\033[?1049h\033(0x\016",
		  "\033[?1049l\017\033(B" },
		{ "... before a soft reset", "\033(0\016\033[!p", "" },
		{ "a number that is none of ours", "\033[?4294968345h\033[?99999h\033[1049h", "" },
		{ "more numbers than fit", "\033[?1;2;3;4;5;6;7;8;9;1;1;1;1;1;1;1;25;1049l",
		  "\033[?7h" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct leftover l = { 0 };
		char text[LEFTOVER_MAX];

		output(&l, cases[i].written);
		ok(leftover_undo(&l, 24, text) == strlen(cases[i].undo), "%s", cases[i].name);
		is_str(text, cases[i].undo, "... to undo it");
		ok(leftover_undo(&l, 24, text) == 0, "... once");
	}
}

static void test_questions(void)
{
	static const char *const asked[] = { "\033[c",
					     "\033[>0c",
					     "\033[6n",
					     "\033[?996n",
					     "\033[?2026$p",
					     "\033[>q",
					     "\033[?u",
					     "\033[14t",
					     "\033]11;?\033\\",
					     "\033]10;?\a",
					     "\033P+q544e\033\\",
					     "\033P$qm\033\\",
					     "\033[?2;1S",
					     "\033Z",
					     "\033[x",
					     "\033[1;1;1;1;2;2*y" };
	static const char *const not_asked[] = {
		"\033[22;0t", "\033]0;what?!\a", "\033[8;24;80t",
		"\033[2 q",   "\033[u",          "\033Pq#0\033\\"
	};
	static const char *const answers[] = { "\033[?62;22c",           "\033[5;1R",
					       "\033[?2026;2$y",         "\033P>|xterm\033\\",
					       "\033]11;rgb:0/0/0\a",    "\033[?1u",
					       "\033[2;1;1;112;112;1;0x" };

	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		struct leftover l = { 0 };

		output(&l, asked[i]);
		ok(leftover_expects(&l, 10), "asked: '%s'", asked[i] + 1);
		ok(!leftover_expects(&l, 2000), "... an answer does not come later");
	}
	for (size_t i = 0; i < ARRAY_LEN(not_asked); i++) {
		struct leftover l = { 0 };

		output(&l, not_asked[i]);
		ok(!leftover_expects(&l, 0), "nothing asked: '%s'", not_asked[i] + 1);
	}
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct leftover l = { 0 };

		output(&l, "\033[c\033[6n");
		leftover_input(&l, answers[i], strlen(answers[i]));
		leftover_input(&l, "typed\033[A\033OP", 11);
		ok(leftover_expects(&l, 0), "one answer of two: '%s'", answers[i] + 1);
		leftover_input(&l, answers[i], strlen(answers[i]));
		ok(!leftover_expects(&l, 0), "... both");
	}
}

static void test_talks(void)
{
	struct leftover l = { 0 };

	output(&l, "\033[?1049h\033[?2004h" UNSEEN);
	ok(!leftover_talks(&l), "a terminal that says nothing by itself");
	output(&l, "\033[?1003h");
	ok(leftover_talks(&l), "a mouse does");
	output(&l, "\033[?1003l");
	ok(!leftover_talks(&l), "... until it is off");
}

int main(void)
{
	test_undo();
	test_questions();
	test_talks();
	return done();
}
