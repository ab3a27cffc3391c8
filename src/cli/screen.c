/* SPDX-License-Identifier: MIT */
/* A full screen in the terminal. */
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#include "os/fs.h"

static volatile sig_atomic_t resized;

static void on_resize(int signal_no)
{
	(void)signal_no;
	resized = 1;
}

/* The one on the terminal, for whoever ends us: what restores it may be called in a handler. */
static struct screen *current;

static void on_end(int signal_no)
{
	if (current)
		screen_pause(current);
	raise(signal_no); /* as it would have been: SA_RESETHAND */
}

static void look_at_size(struct screen *screen)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	screen->rows = size.ws_row ? size.ws_row : 24;
	screen->cols = size.ws_col ? size.ws_col : 80;
}

void screen_resume(struct screen *screen)
{
	static const char enter[] = "\033[?1049h\033[?25l\033[2J";
	struct termios raw = screen->saved;

	/* Ctrl-C and Ctrl-Z come as keys. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	(void)os_write_all(STDOUT_FILENO, enter, sizeof(enter) - 1);
	look_at_size(screen);
	screen->on = true;
}

void screen_pause(struct screen *screen)
{
	static const char leave[] = "\033[m\033[?25h\033[?1049l";

	if (!screen->on)
		return;
	(void)os_write_all(STDOUT_FILENO, leave, sizeof(leave) - 1);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &screen->saved);
	screen->on = false;
}

int screen_start(struct screen *screen, struct err *err)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	const struct sigaction resize = { .sa_handler = on_resize };
	const struct sigaction end = { .sa_handler = on_end, .sa_flags = SA_RESETHAND };

	*screen = (struct screen){ .on = false };
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &screen->saved) < 0) {
		err_usage(err, "standard input and output must be a terminal");
		return err_hint(err, "'wrapix diff' and 'wrapix apply' need none");
	}
	current = screen;
	sigaction(SIGWINCH, &resize, NULL);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		sigaction(ends[i], &end, NULL);
	screen_resume(screen);
	return 0;
}

void screen_stop(struct screen *screen)
{
	screen_pause(screen);
	current = NULL;
	str_release(&screen->frame);
}

/* The next byte, within a moment when 'soon'; -1: none. */
static int read_byte(bool soon)
{
	struct pollfd poller = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char byte;
	int n = poll(&poller, 1, soon ? 50 : -1);

	if (n <= 0)
		return n == 0 || errno == EINTR ? -2 : -1;
	return read(STDIN_FILENO, &byte, 1) == 1 ? byte : -1;
}

/* What follows ESC [ or ESC O. */
static int read_sequence(void)
{
	static const struct {
		const char *text;
		int key;
	} keys[] = {
		{ "A", KEY_UP },         { "B", KEY_DOWN }, { "5~", KEY_PAGE_UP },
		{ "6~", KEY_PAGE_DOWN }, { "H", KEY_HOME }, { "F", KEY_END },
		{ "1~", KEY_HOME },      { "4~", KEY_END },
	};
	char text[8] = "";
	int byte;

	for (size_t n = 0; n + 1 < sizeof(text); n++) {
		byte = read_byte(true);
		if (byte < 0)
			return KEY_NONE;
		text[n] = (char)byte;
		if (byte >= '@') /* the last of it */
			break;
	}
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].text, text))
			return keys[i].key;
	return KEY_NONE;
}

/* As a program that leaves Ctrl-Z to the terminal: what is typed next is the shell's. */
static int suspend(struct screen *screen)
{
	screen_pause(screen);
	raise(SIGTSTP);
	screen_resume(screen);
	return KEY_NONE;
}

int screen_key(struct screen *screen)
{
	int byte = read_byte(false);

	if (resized) {
		resized = 0;
		look_at_size(screen);
	}
	if (byte < 0)
		return byte == -2 ? KEY_NONE : KEY_END_OF_INPUT;
	if (byte == ('Z' & 037))
		return suspend(screen);
	if (byte != '\033')
		return byte == '\r' ? '\n' : byte;
	byte = read_byte(true);
	return byte == '[' || byte == 'O' ? read_sequence() : KEY_NONE;
}

/* The columns of a character. */
static unsigned width_of(uint32_t cp)
{
	static const uint32_t wide[][2] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf },   { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
	};

	if (cp >= 0x300 && cp <= 0x36f)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (cp >= wide[i][0] && cp <= wide[i][1])
			return 2;
	return 1;
}

void screen_begin(struct screen *screen)
{
	screen->frame.len = 0;
	str_add(&screen->frame, "\033[?2026h"); /* drawn at once, where the terminal can */
}

void screen_put(struct screen *screen, unsigned row, unsigned col, unsigned width, const char *attr,
		const char *text, size_t len)
{
	_cleanup_str_ struct str shown = { 0 };
	unsigned used = 0;

	str_add(&shown, "");
	str_add_visible(&shown, text, len);
	str_addf(&screen->frame, "\033[%u;%uH\033[%sm", row + 1, col + 1, attr ? attr : "");
	for (const char *p = shown.s; *p;) {
		uint32_t cp = 0;
		size_t n = utf8_next(p, SIZE_MAX, &cp);
		unsigned w = *p == '\t' ? 8 - used % 8 : n ? width_of(cp) : 1;

		if (*p == '\n' || used + w > width)
			break;
		if (*p == '\t')
			str_addf(&screen->frame, "%*s", (int)w, "");
		else
			str_addn(&screen->frame, p, MAX(n, (size_t)1));
		used += w;
		p += MAX(n, (size_t)1);
	}
	str_addf(&screen->frame, "%*s\033[m", (int)(width - used), "");
}

void screen_show(struct screen *screen)
{
	str_add(&screen->frame, "\033[?2026l");
	(void)os_write_all(STDOUT_FILENO, screen->frame.s, screen->frame.len);
}
