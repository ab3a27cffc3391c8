/* SPDX-License-Identifier: MIT */
/* The pure parts around a message: quiet times, a session's place, what a terminal's bytes say. */
#include "lib/tap.h"
#include "notify/place.h"
#include "notify/waiting.h"
#include "spec/quiet.h"

static void test_quiet(void)
{
	static const char *const bad[] = { "22",           "22:00",        "22:00-",
					   "22:00-7:00",   "25:00-07:00",  "22:60-07:00",
					   "24:01-07:00",  "22:00-22:00",  "22:00-07:00,",
					   ",22:00-07:00", "22:00-07:00 x" };
	struct quiet quiet;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(quiet_parse(bad[i], &quiet) < 0, "no times: '%s'", bad[i]);
	ok(quiet_parse("", &quiet) == 0 && !quiet_at(&quiet, 0), "none at all");
	ok(quiet_parse("22:00-07:00,12:00-13:30", &quiet) == 0, "two times");
	ok(quiet_at(&quiet, 22 * 60) && quiet_at(&quiet, 0) && quiet_at(&quiet, 7 * 60 - 1),
	   "over midnight");
	ok(!quiet_at(&quiet, 7 * 60) && !quiet_at(&quiet, 22 * 60 - 1), "and not by day");
	ok(quiet_at(&quiet, 13 * 60 + 29) && !quiet_at(&quiet, 13 * 60 + 30), "at noon");
}

static void test_place(void)
{
	char *env[] = { (char *)"TMUX=/tmp/tmux-1/default,42,0",
			(char *)"TMUX_PANE=%3",
			(char *)"SWAYSOCK=/run/sway.sock",
			(char *)"TERM=xterm",
			(char *)"TERM_PROGRAM=tmux",
			(char *)"DISPLAY=:0",
			(char *)"WINDOWID=7",
			NULL };
	struct place place = { .id = "abc", .name = "a\"b\\c\n", .pid = 42, .always = true }, back;
	_cleanup_str_ struct str text = { 0 };

	place_look(&place, env);
	is_str(place.tmux_socket, "/tmp/tmux-1/default", "the server of the pane");
	is_str(place.tmux_pane, "%3", "the pane");
	is_str(place.term, "xterm", "tmux is no terminal");
	is_str(place.window, "7", "the window");
	place_print(&place, &text);
	ok(place_parse(text.s, text.len, &back) == 0, "what is written is read");
	ok(memcmp(&place, &back, sizeof(place)) == 0, "as the same");
	ok(place_parse("{", 1, &back) < 0, "half a file is none");
}

static unsigned bells, texts, focus_in, focus_out;
static char last[256];

static void on_bell(void *ctx)
{
	(void)ctx;
	bells++;
}

static void on_text(void *ctx, const char *title, const char *text)
{
	(void)ctx;
	texts++;
	(void)snprintf(last, sizeof(last), "%s|%s", title, text);
}

static void on_focus(void *ctx, bool here)
{
	(void)ctx;
	*(here ? &focus_in : &focus_out) += 1;
}

/* A byte at a time: a sequence may come in any pieces. */
static void output(struct waiting *w, const char *s, int64_t now)
{
	for (; *s; s++)
		waiting_output(w, s, 1, now);
}

static void test_waiting(void)
{
	struct waiting w = { .hooks = { on_bell, on_text, on_focus, NULL } };

	output(&w, "plain\a", 10);
	is_int(bells, 1, "a bell");
	output(&w, "\033]0;title\a\033]2;x\033\\\033[31mred\033P+q\a\033\\", 10);
	is_int(bells, 1, "the end of a title is none, nor is one within a string");
	output(&w, "\033]9;hello\a", 10);
	is_str(last, "|hello", "OSC 9");
	output(&w, "\033]777;notify;T;a;b\033\\", 10);
	is_str(last, "T|a;b", "OSC 777");
	output(&w, "\033]9;4;1;50\a\033]777;precmd\a", 10);
	is_int(texts, 2, "a progress bar is no message");
	is_int(waiting_silence(&w, 15), 5, "silence");
	waiting_input(&w, "\033[I", 3);
	is_int(focus_in, 0, "no report without having asked");
	is_int(waiting_silence(&w, 15), 0, "a key answers");
	output(&w, "\033[?25l\033[?1000;1004h", 20);
	waiting_input(&w, "\033[", 2);
	waiting_input(&w, "I", 1);
	waiting_input(&w, "\033[O", 3);
	ok(focus_in == 1 && focus_out == 1, "the focus comes and goes");
	is_int(waiting_silence(&w, 23), 3, "which is no answer");
	waiting_input(&w, "\033[A", 3);
	is_int(waiting_silence(&w, 23), 0, "an arrow is");
	output(&w, "\033[?1004l", 30);
	waiting_input(&w, "\033[I", 3);
	is_int(focus_in, 1, "nothing is reported any more");
	output(&w, "x", 40);
	waiting_told(&w);
	is_int(waiting_silence(&w, 50), 0, "told once");
	output(&w, "\033]9;", 60);
	for (int i = 0; i < 5000; i++)
		output(&w, "y", 60);
	output(&w, "\a\a", 60);
	ok(texts == 2 && bells == 2, "a sequence that is too long is passed over to its end");
}

int main(void)
{
	test_quiet();
	test_place();
	test_waiting();
	return done();
}
