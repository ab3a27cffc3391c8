/* SPDX-License-Identifier: MIT */
/*
 * Compositors by their own sockets. Each answers a list of windows as JSON; what differs is how a
 * request is framed and what the members are called, so that is a table and the rest is one walk.
 */
#include "notify/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "notify/scan.h"
#include "os/fs.h"
#include "os/socket.h"

#define ANSWER_MAX (4 << 20)
#define ANSWER_MS 2000 /* of a desktop on a busy machine */
#define DEPTH_MAX 64

enum framing { LINE, SWAY, WHOLE };

static const struct ruler {
	const char *name;
	size_t socket; /* in struct place */
	enum framing framing;
	const char *list; /* the request for all windows */
	uint32_t list_type, run_type;
	const char *id, *focus; /* members; focus is true, or 0 for a place in a history */
	const char *raise[2];   /* a request: what stands before the window, and after it */
} rulers[] = {
	{ "niri",
	  offsetof(struct place, niri),
	  LINE,
	  "\"Windows\"",
	  0,
	  0,
	  "id",
	  "is_focused",
	  { "{\"Action\":{\"FocusWindow\":{\"id\":", "}}}" } },
	{ "sway",
	  offsetof(struct place, sway),
	  SWAY,
	  "",
	  4,
	  0,
	  "id",
	  "focused",
	  { "[con_id=", "] focus" } },
	{ "Hyprland",
	  offsetof(struct place, hyprland),
	  WHOLE,
	  "j/clients",
	  0,
	  0,
	  "address",
	  "focusHistoryID",
	  { "dispatch focuswindow address:", "" } },
};

/* --- talking --- */

/* Up to n bytes more, or to the end; false on an error. */
static bool receive(int fd, struct str *out, size_t n)
{
	char chunk[16384];
	ssize_t got = 1;

	while (n && got > 0) {
		got = recv(fd, chunk, MIN(n, sizeof(chunk)), 0);
		if (got > 0) {
			str_addn(out, chunk, (size_t)got);
			n -= (size_t)got;
		}
	}
	return got >= 0;
}

/* "i3-ipc", length, type; then the payload. */
static bool ask_sway(int fd, uint32_t type, const char *request, struct str *ret)
{
	_cleanup_str_ struct str head = { 0 };
	uint32_t len = (uint32_t)strlen(request);

	str_add(&head, "i3-ipc");
	str_addn(&head, (const char *)&len, 4);
	str_addn(&head, (const char *)&type, 4);
	str_add(&head, request);
	if (send(fd, head.s, head.len, MSG_NOSIGNAL) != (ssize_t)head.len)
		return false;
	head.len = 0;
	if (!receive(fd, &head, 14) || head.len != 14 || memcmp(head.s, "i3-ipc", 6))
		return false;
	memcpy(&len, head.s + 6, 4);
	return len <= ANSWER_MAX && receive(fd, ret, len) && ret->len == len;
}

static bool ask_line(int fd, const char *request, struct str *ret)
{
	char byte = 0;

	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ||
	    send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
		return false;
	while (byte != '\n' && ret->len < ANSWER_MAX) {
		char chunk[4096];
		ssize_t n = recv(fd, chunk, sizeof(chunk), 0);

		if (n <= 0)
			return false;
		str_addn(ret, chunk, (size_t)n);
		byte = chunk[n - 1];
	}
	return true;
}

static bool ask(const struct ruler *ruler, const char *path, uint32_t type, const char *request,
		struct str *ret)
{
	_cleanup_close_ int fd = os_connect_unix(path, ANSWER_MS);

	if (fd < 0)
		return false;
	if (ruler->framing == SWAY)
		return ask_sway(fd, type, request, ret);
	if (ruler->framing == LINE)
		return ask_line(fd, request, ret);
	return send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
	       receive(fd, ret, ANSWER_MAX) && ret->len;
}

/* --- reading --- */

struct walk {
	const struct ruler *ruler;
	struct windows *windows;
	pid_t pids[1024];
	size_t n;
};

static void walk_value(struct walk *w, struct scan *s, unsigned depth);

struct window {
	char id[32];
	int64_t pid;
	bool focused;
};

static void read_member(struct walk *w, struct scan *s, const char *key, struct window *window,
			unsigned depth)
{
	int64_t number = -1;

	if (!strcmp(key, w->ruler->id)) {
		if (scan_kind(s) == '"') {
			scan_text(s, window->id, sizeof(window->id));
		} else if (scan_number(s, &number)) {
			snprintf(window->id, sizeof(window->id), "%lld", (long long)number);
		}
	} else if (!strcmp(key, "pid")) {
		scan_number(s, &window->pid);
	} else if (!strcmp(key, w->ruler->focus)) {
		char kind = scan_kind(s);

		window->focused = kind == '0' ? scan_number(s, &number) && number == 0
					      : kind == 't';
		if (kind != '0')
			scan_skip(s);
	} else {
		walk_value(w, s, depth + 1);
	}
}

static void walk_object(struct walk *w, struct scan *s, unsigned depth)
{
	struct window window = { .id = "" };
	char key[32];

	for (bool more = scan_open(s, '{'); more; more = scan_next(s, '}')) {
		if (!scan_key(s, key, sizeof(key)))
			return;
		read_member(w, s, key, &window, depth);
	}
	if (window.pid <= 0)
		return; /* a workspace, a container */
	if (w->n < ARRAY_LEN(w->pids))
		w->pids[w->n++] = (pid_t)window.pid;
	if (window.focused) {
		memcpy(w->windows->focused, window.id, sizeof(window.id));
		w->windows->pid = (pid_t)window.pid;
	}
}

static void walk_value(struct walk *w, struct scan *s, unsigned depth)
{
	char kind = scan_kind(s);

	if (depth >= DEPTH_MAX)
		s->bad = true;
	else if (kind == '{')
		walk_object(w, s, depth);
	else if (kind == '[')
		for (bool more = scan_open(s, '['); more; more = scan_next(s, ']'))
			walk_value(w, s, depth + 1);
	else
		scan_skip(s);
}

static bool read_answer(const struct ruler *ruler, const char *answer, size_t len,
			struct windows *ret)
{
	struct walk w = { .ruler = ruler, .windows = ret };
	struct scan s;

	*ret = (struct windows){ .ruler = ruler->name };
	scan_init(&s, answer, len);
	walk_value(&w, &s, 0);
	if (!scan_end(&s))
		return false;
	for (size_t i = 0; i < w.n; i++)
		ret->same += w.pids[i] == ret->pid;
	return true;
}

bool windows_read(const char *ruler, const char *answer, size_t len, struct windows *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(rulers); i++)
		if (!strcmp(rulers[i].name, ruler))
			return read_answer(&rulers[i], answer, len, ret);
	return false;
}

bool windows_ask(const struct place *place, struct windows *ret)
{
	*ret = (struct windows){ .focused = "" };
	for (size_t i = 0; i < ARRAY_LEN(rulers); i++) {
		const char *path = (const char *)place + rulers[i].socket;
		_cleanup_str_ struct str answer = { 0 };

		if (*path && ask(&rulers[i], path, rulers[i].list_type, rulers[i].list, &answer))
			return read_answer(&rulers[i], answer.s ? answer.s : "", answer.len, ret);
	}
	if (place->app[0])
		return macos_ask(ret);
	return place->display[0] && x11_ask(place, ret);
}

bool windows_raise(const struct place *place, const char *window)
{
	char request[128];

	/* An id is put into a request of several words. */
	if (!*window || window[strspn(window, "0123456789abcdefx")])
		return false;
	for (size_t i = 0; i < ARRAY_LEN(rulers); i++) {
		const char *path = (const char *)place + rulers[i].socket;
		_cleanup_str_ struct str answer = { 0 };

		if (!*path)
			continue;
		snprintf(request, sizeof(request), "%s%s%s", rulers[i].raise[0], window,
			 rulers[i].raise[1]);
		if (ask(&rulers[i], path, rulers[i].run_type, request, &answer))
			return true;
	}
	return place->display[0] && x11_raise(place, window);
}

/* The parent of a process; 0 when it cannot be seen. */
static pid_t parent_of(pid_t pid)
{
	_cleanup_free_ char *stat = NULL;
	char path[64];
	const char *after;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (os_read_file_at(AT_FDCWD, path, 4096, &stat, NULL) < 0)
		return 0;
	after = strrchr(stat, ')'); /* the name before it may hold anything */
	if (!after || sscanf(after + 1, " %*c %d", &parent) != 1)
		return 0;
	return (pid_t)parent;
}

bool process_descends(pid_t pid, pid_t ancestor)
{
	for (int depth = 0; pid > 1 && depth < 64; depth++, pid = parent_of(pid))
		if (pid == ancestor)
			return true;
	return false;
}
