/* SPDX-License-Identifier: MIT */
/*
 * The focused window under X11, from the properties that every window manager keeps on the root window
 * (_NET_ACTIVE_WINDOW, _NET_CLIENT_LIST, _NET_WM_PID). The few requests that this takes are written by
 * hand: no library, and nothing for a machine without X11.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "notify/windows.h"
#include "os/fs.h"
#include "os/socket.h"

#define PATIENCE_MS 2000
#define WINDOWS_MAX 64

struct x11 {
	int fd;
	uint32_t root;
};

static bool put(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool get(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

static bool skip(int fd, size_t len)
{
	char waste[256];

	for (; len; len -= MIN(len, sizeof(waste)))
		if (!get(fd, waste, MIN(len, sizeof(waste))))
			return false;
	return true;
}

/* --- connecting --- */

/* "family address number name data", each but the first with its length before it, all big-endian. The
 * cookie of that display, or of any where no number is given. */
size_t x11_find_cookie(const char *file, size_t len, const char *number, char ret[64])
{
	const unsigned char *p = (const unsigned char *)file, *end = p + len;

	while (end - p > 2) {
		const unsigned char *part[4];
		size_t size[4];

		p += 2; /* the family: whatever it is, the number decides */
		for (int i = 0; i < 4; i++) {
			if (end - p < 2)
				return 0;
			size[i] = (size_t)(p[0] << 8 | p[1]);
			if ((size_t)(end - p) < 2 + size[i])
				return 0;
			part[i] = p + 2;
			p += 2 + size[i];
		}
		if ((!size[1] ||
		     (size[1] == strlen(number) && !memcmp(part[1], number, size[1]))) &&
		    size[2] == 18 && !memcmp(part[2], "MIT-MAGIC-COOKIE-1", 18) && size[3] <= 64) {
			memcpy(ret, part[3], size[3]);
			return size[3];
		}
	}
	return 0;
}

static size_t read_cookie(const struct place *place, const char *number, char ret[64])
{
	_cleanup_free_ char *text = NULL;
	const char *home = getenv("HOME");
	char path[512];
	size_t len;

	snprintf(path, sizeof(path), "%s%s",
		 place->xauthority[0] ? place->xauthority
		 : home               ? home
				      : "",
		 place->xauthority[0] ? "" : "/.Xauthority");
	if (os_read_file_at(AT_FDCWD, path, 65536, &text, &len) < 0)
		return 0;
	return x11_find_cookie(text, len, number, ret);
}

static int open_display(const char *number)
{
	char path[108];

	snprintf(path, sizeof(path), "/tmp/.X11-unix/X%s", number);
	return os_connect_unix(path, PATIENCE_MS);
}

static bool greet(struct x11 *x, const char *cookie, size_t len)
{
	struct {
		uint8_t order, unused;
		uint16_t major, minor, name_len, data_len, pad;
	} hello = {
		.order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 'l' : 'B',
		.major = 11,
		.name_len = len ? 18 : 0,
		.data_len = (uint16_t)len,
	};
	struct {
		uint8_t ok, reason_len;
		uint16_t major, minor, words;
	} answer;
	_cleanup_free_ uint8_t *setup = NULL;
	size_t size, roots;

	if (!put(x->fd, &hello, sizeof(hello)) ||
	    (len &&
	     (!put(x->fd, "MIT-MAGIC-COOKIE-1\0", 20) || !put(x->fd, cookie, (len + 3) & ~3UL))))
		return false;
	if (!get(x->fd, &answer, sizeof(answer)) || answer.ok != 1)
		return false;
	size = (size_t)answer.words * 4;
	setup = malloc(size);
	if (!setup || size < 32 || !get(x->fd, setup, size))
		return false;
	/* The first screen stands after the vendor's name and the pixmap formats. */
	roots = 32 + (((size_t)(setup[16] | setup[17] << 8) + 3) & ~3UL) + 8UL * setup[21];
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		roots = 32 + (((size_t)(setup[17] | setup[16] << 8) + 3) & ~3UL) + 8UL * setup[21];
	if (roots + 4 > size)
		return false;
	memcpy(&x->root, setup + roots, 4);
	return true;
}

static bool x11_open(struct x11 *x, const struct place *place)
{
	const char *colon = strchr(place->display, ':');
	char number[8] = "", cookie[64] = "";
	size_t len;

	x->fd = -1;
	/* A display on another machine is ssh's doing; which window it is in, nobody here knows. */
	if (!colon || (colon != place->display && strncmp(place->display, "unix:", 5)))
		return false;
	len = strspn(colon + 1, "0123456789");
	if (!len || len >= sizeof(number))
		return false;
	memcpy(number, colon + 1, len);
	x->fd = open_display(number);
	return x->fd >= 0 && greet(x, cookie, read_cookie(place, number, cookie));
}

/* --- asking --- */

/* Reads until the reply; errors and events that come before it are passed over. False on an error. */
static bool reply(struct x11 *x, uint8_t ret[32])
{
	while (get(x->fd, ret, 32)) {
		uint32_t words;

		if (ret[0] == 1)
			return true;
		if (ret[0] == 0)
			return false;
		memcpy(&words, ret + 4, 4);
		if (ret[0] == 35 && !skip(x->fd, (size_t)words * 4))
			return false;
	}
	return false;
}

static uint32_t atom(struct x11 *x, const char *name)
{
	size_t len = strlen(name), padded = (len + 3) & ~(size_t)3;
	struct {
		uint8_t opcode, only_if_exists;
		uint16_t words, len, unused;
		char name[32];
	} request = { .opcode = 16,
		      .only_if_exists = 1,
		      .words = (uint16_t)(2 + padded / 4),
		      .len = (uint16_t)len };
	uint8_t answer[32];
	uint32_t value = 0;

	memcpy(request.name, name, MIN(len, sizeof(request.name)));
	if (put(x->fd, &request, 8 + padded) && reply(x, answer))
		memcpy(&value, answer + 8, 4);
	return value;
}

/* 32-bit values of a property; how many there were. */
static size_t property(struct x11 *x, uint32_t window, uint32_t name, uint32_t *ret, size_t max)
{
	struct {
		uint8_t opcode, erase;
		uint16_t words;
		uint32_t window, property, type, offset, length;
	} request = { .opcode = 20,
		      .words = 6,
		      .window = window,
		      .property = name,
		      .length = (uint32_t)max };
	uint8_t answer[32];
	uint32_t words, items;

	if (!name || !put(x->fd, &request, sizeof(request)) || !reply(x, answer))
		return 0;
	memcpy(&words, answer + 4, 4);
	memcpy(&items, answer + 16, 4);
	if (answer[1] != 32 || items > max || words != items) {
		skip(x->fd, (size_t)words * 4);
		return 0;
	}
	return get(x->fd, ret, (size_t)items * 4) ? items : 0;
}

static bool ask(struct x11 *x, struct windows *ret)
{
	uint32_t active = 0, list[WINDOWS_MAX], pid_atom, pid = 0;
	size_t n;

	*ret = (struct windows){ .ruler = "X11" };
	if (property(x, x->root, atom(x, "_NET_ACTIVE_WINDOW"), &active, 1) != 1)
		return false;
	if (!active)
		return true;
	n = property(x, x->root, atom(x, "_NET_CLIENT_LIST"), list, WINDOWS_MAX);
	snprintf(ret->focused, sizeof(ret->focused), "%u", active);
	pid_atom = atom(x, "_NET_WM_PID");
	if (property(x, active, pid_atom, &pid, 1) == 1)
		ret->pid = (pid_t)pid;
	ret->same = ret->pid && !n ? 2 : 0; /* more than can be looked at: not known */
	for (size_t i = 0; i < n; i++)
		ret->same += property(x, list[i], pid_atom, &pid, 1) == 1 && (pid_t)pid == ret->pid;
	return true;
}

bool x11_ask_server(int fd, struct windows *ret)
{
	struct x11 x = { .fd = fd };

	return greet(&x, NULL, 0) && ask(&x, ret);
}

bool x11_ask(const struct place *place, struct windows *ret)
{
	struct x11 x;
	bool good = x11_open(&x, place) && ask(&x, ret);

	if (x.fd >= 0)
		close(x.fd);
	return good;
}

/* Asks the window manager, as a pager does. */
bool x11_raise(const struct place *place, const char *window)
{
	struct {
		uint8_t opcode, propagate;
		uint16_t words;
		uint32_t destination, mask;
		uint8_t code, format;
		uint16_t sequence;
		uint32_t window, type, data[5];
	} request = { .opcode = 25,
		      .words = 11,
		      .mask = 0x180000, /* what the manager listens to */
		      .code = 33,
		      .format = 32,
		      .window = (uint32_t)strtoul(window, NULL, 0),
		      .data = { 2 } };
	struct x11 x;
	bool good = x11_open(&x, place);

	if (good) {
		request.destination = x.root;
		request.type = atom(&x, "_NET_ACTIVE_WINDOW");
		/* Another question after it: its answer says that the first has arrived. */
		good = request.type && put(x.fd, &request, sizeof(request)) && atom(&x, "ATOM");
	}
	if (x.fd >= 0)
		close(x.fd);
	return good;
}
