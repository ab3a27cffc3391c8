/* SPDX-License-Identifier: MIT */
/*
 * Who rules a screen, as the daemon reads it. The first byte says what the rest is: a compositor's list of windows, an X
 * server's side of a conversation, an Xauthority file, a line of macOS's. What is found fits its place.
 */
#include <string.h>
#include <sys/socket.h>

#include "notify/windows.h"
#include "fuzz.h"

static void check_windows(const struct windows *w)
{
	check(memchr(w->focused, '\0', sizeof(w->focused)) && w->ruler);
	check(w->same <= 10000);
}

static void read_list(const char *ruler, const char *text, size_t len)
{
	struct windows w = { 0 };

	if (windows_read(ruler, text, len, &w))
		check_windows(&w);
}

/* It says all at once and then nothing: each answer is taken in its turn. */
static void talk(const char *text, size_t len)
{
	struct windows w = { 0 };
	int pair[2];

	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	if (len < 65536 && send(pair[1], text, len, 0) == (ssize_t)len) {
		shutdown(pair[1], SHUT_WR);
		if (x11_ask_server(pair[0], &w))
			check_windows(&w);
	}
	close(pair[0]);
	close(pair[1]);
}

static void read_cookies(const char *text, size_t len)
{
	char cookie[64];
	size_t n = x11_find_cookie(text, len, "0", cookie);

	check(n <= sizeof(cookie) && (!n || memmem(text, len, cookie, n)));
}

static void read_macos(const char *text, size_t len)
{
	_cleanup_free_ char *line = strndup(text, len);
	struct windows w = { .ruler = "macOS" };

	if (line && macos_read(line, &w))
		check_windows(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;

	if (!size)
		return 0;
	switch (data[0]) {
	case 'n':
		read_list("niri", text, size - 1);
		break;
	case 's':
		read_list("sway", text, size - 1);
		break;
	case 'h':
		read_list("Hyprland", text, size - 1);
		break;
	case 'x':
		talk(text, size - 1);
		break;
	case 'c':
		read_cookies(text, size - 1);
		break;
	default:
		read_macos(text, size - 1);
	}
	return 0;
}
