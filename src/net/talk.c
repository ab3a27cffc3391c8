/* SPDX-License-Identifier: MIT */
/* The words of a proxy; see talk.h. Every byte in here is an attacker's. */
#include "net/talk.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"

enum {
	SOCKS_VERSION = 5,
	SOCKS_FREELY = 0,
	SOCKS_BY_TOKEN = 2,
	SOCKS_NO_METHOD = 0xff,
	SOCKS_CONNECT = 1
};
enum { SOCKS_V4 = 1, SOCKS_NAME = 3, SOCKS_V6 = 4 };

static bool same(const char *a, size_t len, const char *token)
{
	unsigned char differs = 0;

	if (len != strlen(token))
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(a[i] ^ token[i]);
	return !differs;
}

/* --- HTTP --- */

static enum talk_step say(struct str *reply, const char *status, const char *more, const char *text)
{
	str_addf(reply,
		 "HTTP/1.1 %s\r\n%sContent-Type: text/plain\r\nContent-Length: %zu\r\nConnection: "
		 "close\r\n\r\n%s",
		 status, more, strlen(text), text);
	return TALK_END;
}

static enum talk_step bad(struct str *reply)
{
	return say(reply, "400 Bad Request", "", "this is no request to a proxy\n");
}

/* "host", "host:port", "[v6]", "[v6]:port" */
static bool take_host(struct talk *t, const char *p, size_t len, unsigned port)
{
	const char *end = p + len, *colon;
	size_t n;

	if (len && *p == '[') {
		colon = memchr(p, ']', len);
		if (!colon)
			return false;
		n = (size_t)(colon - p) - 1;
		p++;
		colon++;
	} else {
		colon = memchr(p, ':', len);
		colon = colon ? colon : end;
		n = (size_t)(colon - p);
	}
	if (colon < end) {
		if (*colon++ != ':' || colon == end || end - colon > 5)
			return false;
		for (port = 0; colon < end; colon++) {
			if (*colon < '0' || *colon > '9')
				return false;
			port = port * 10 + (unsigned)(*colon - '0');
		}
	}
	if (!n || n >= sizeof(t->host) || !port || port > 65535)
		return false;
	memcpy(t->host, p, n);
	t->host[n] = '\0';
	t->port = (uint16_t)port;
	return strlen(t->host) == n;
}

/* The line without its end; NULL when what is there is no line. */
static const char *next_line(const char **p, const char *end, size_t *ret_len)
{
	const char *line = *p, *stop = memchr(line, '\n', (size_t)(end - line));

	if (!stop || stop == line || stop[-1] != '\r')
		return NULL;
	*p = stop + 1;
	*ret_len = (size_t)(stop - line) - 1;
	return line;
}

static bool is_header(const char *line, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len > n && line[n] == ':' && !strncasecmp(line, name, n);
}

static bool has_token(const struct talk *t, const char *line, size_t len)
{
	_cleanup_str_ struct str want = { 0 }, plain = { 0 };
	const char *p = line + strlen("Proxy-Authorization:"), *end = line + len;

	str_addf(&plain, "%s:%s", TALK_USER, t->token);
	base64_add(&want, plain.s, plain.len);
	while (p < end && *p == ' ')
		p++;
	if (end - p < 6 || strncasecmp(p, "Basic ", 6) != 0)
		return false;
	for (p += 6; p < end && *p == ' ';)
		p++;
	return same(p, (size_t)(end - p), want.s);
}

/* Headers that are between the program and us, or that we write ourselves. */
static bool is_ours(const char *line, size_t len)
{
	static const char *const names[] = { "Proxy-Authorization", "Proxy-Connection",
					     "Connection", "Keep-Alive", "Host" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (is_header(line, len, names[i]))
			return true;
	return false;
}

/* The request as the server wants it: one for each connection, and for the host that was judged. */
static bool take_target(struct talk *t, const char *line, size_t len, struct str *out)
{
	const char *end = line + len, *target = memchr(line, ' ', len), *stop, *path;
	const char *scheme = "http://";

	if (!target || target == line)
		return false;
	target++;
	stop = memchr(target, ' ', (size_t)(end - target));
	if (!stop || end - stop != 9 || strncmp(stop, " HTTP/1.", 8) != 0)
		return false;
	for (const char *p = line; p < end; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	t->tunnel = target - line == 8 && !strncmp(line, "CONNECT ", 8);
	if (t->tunnel)
		return take_host(t, target, (size_t)(stop - target), 0);
	if ((size_t)(stop - target) < strlen(scheme) ||
	    strncasecmp(target, scheme, strlen(scheme)) != 0)
		return false;
	path = target += strlen(scheme);
	while (path < stop && *path != '/' && *path != '?')
		path++;
	if (!take_host(t, target, (size_t)(path - target), 80))
		return false;
	str_addn(out, line, (size_t)(target - line) - strlen(scheme));
	str_add(out, *path == '/' ? "" : "/");
	str_addn(out, path, (size_t)(stop - path));
	str_add(out, " HTTP/1.1\r\nHost: ");
	str_addn(out, target, (size_t)(path - target));
	str_add(out, "\r\nConnection: close\r\n");
	return true;
}

static enum talk_step http(struct talk *t, const char *bytes, size_t len, size_t *ret_used,
			   struct str *reply)
{
	_cleanup_str_ struct str out = { 0 };
	const char *stop = memmem(bytes, len, "\r\n\r\n", 4), *p = bytes, *line;
	bool authorized = !t->token[0];
	size_t n;

	if (!stop)
		return len >= TALK_HEAD_MAX ? bad(reply) : TALK_MORE;
	stop += 4;
	*ret_used = (size_t)(stop - bytes);
	line = next_line(&p, stop, &n);
	if (!line || !take_target(t, line, n, &out))
		return bad(reply);
	while ((line = next_line(&p, stop, &n)) && n) {
		if (is_header(line, n, "Proxy-Authorization"))
			authorized = authorized || has_token(t, line, n);
		if (*line == ' ' || *line == '\t')
			return bad(reply);
		if (is_ours(line, n) || t->tunnel)
			continue;
		str_addn(&out, line, n);
		str_add(&out, "\r\n");
	}
	if (!line)
		return bad(reply);
	if (!authorized)
		return say(reply, "407 Proxy Authentication Required",
			   "Proxy-Authenticate: Basic realm=\"wrapix\"\r\n",
			   "the token of this sandbox is missing\n");
	if (!t->tunnel) {
		str_addn(reply, out.s, out.len);
		str_add(reply, "\r\n");
	}
	return TALK_DIAL;
}

/* --- SOCKS --- */

static enum talk_step socks_methods(struct talk *t, const char *b, size_t len, size_t *ret_used,
				    struct str *reply)
{
	size_t n = len > 1 ? (unsigned char)b[1] : 0;

	if (len < 2 || len < 2 + n)
		return TALK_MORE;
	*ret_used = 2 + n;
	t->socks = true;
	t->state = TALK_SOCKS_TOKEN;
	if (!t->token[0] && memchr(b + 2, SOCKS_FREELY, n)) {
		t->state = TALK_SOCKS_REQUEST;
		str_addn(reply, (char[]){ SOCKS_VERSION, SOCKS_FREELY }, 2);
		return TALK_ON;
	}
	if (memchr(b + 2, SOCKS_BY_TOKEN, n)) {
		str_addn(reply, (char[]){ SOCKS_VERSION, SOCKS_BY_TOKEN }, 2);
		return TALK_ON;
	}
	str_addn(reply, (char[]){ SOCKS_VERSION, (char)SOCKS_NO_METHOD }, 2);
	return TALK_END;
}

static enum talk_step socks_token(struct talk *t, const char *b, size_t len, size_t *ret_used,
				  struct str *reply)
{
	size_t user = len > 1 ? (unsigned char)b[1] : 0, token;
	bool right;

	if (len < 2 || len < 3 + user)
		return TALK_MORE;
	token = (unsigned char)b[2 + user];
	if (len < 3 + user + token)
		return TALK_MORE;
	*ret_used = 3 + user + token;
	right = b[0] == 1 && same(b + 3 + user, token, t->token);
	str_addn(reply, (char[]){ 1, (char)!right }, 2);
	t->state = TALK_SOCKS_REQUEST;
	return right ? TALK_ON : TALK_END;
}

static void add_socks_answer(struct str *reply, char code)
{
	str_addn(reply, (char[]){ SOCKS_VERSION, code, 0, SOCKS_V4, 0, 0, 0, 0, 0, 0 }, 10);
}

static enum talk_step socks_request(struct talk *t, const char *b, size_t len, size_t *ret_used,
				    struct str *reply)
{
	struct address address = { 0 };
	size_t at = 4, n;

	if (len < 5)
		return TALK_MORE;
	n = b[3] == SOCKS_V4 ? 4 : b[3] == SOCKS_V6 ? 16 : (unsigned char)b[4];
	at += b[3] == SOCKS_NAME;
	if (len < at + n + 2)
		return TALK_MORE;
	*ret_used = at + n + 2;
	if (b[0] != SOCKS_VERSION || b[1] != SOCKS_CONNECT || b[2] ||
	    (b[3] != SOCKS_V4 && b[3] != SOCKS_NAME && b[3] != SOCKS_V6) || !n ||
	    n >= sizeof(t->host) || (b[3] == SOCKS_NAME && memchr(b + at, 0, n))) {
		add_socks_answer(reply,
				 7); /* a command that there is not, or a name that is none */
		return TALK_END;
	}
	if (b[3] == SOCKS_NAME) {
		memcpy(t->host, b + at, n);
		t->host[n] = '\0';
	} else {
		memset(address.b + 10, n == 4 ? 0xff : 0, 2);
		memcpy(address.b + 16 - n, b + at, n);
		address_print(&address, t->host);
	}
	t->port = (uint16_t)((unsigned char)b[at + n] << 8 | (unsigned char)b[at + n + 1]);
	return TALK_DIAL;
}

enum talk_step talk_step(struct talk *t, const char *bytes, size_t len, size_t *ret_used,
			 struct str *reply)
{
	*ret_used = 0;
	if (!len)
		return TALK_MORE;
	switch (t->state) {
	case TALK_SOCKS_TOKEN:
		return socks_token(t, bytes, len, ret_used, reply);
	case TALK_SOCKS_REQUEST:
		return socks_request(t, bytes, len, ret_used, reply);
	default:
		return bytes[0] == SOCKS_VERSION ? socks_methods(t, bytes, len, ret_used, reply)
						 : http(t, bytes, len, ret_used, reply);
	}
}

void talk_answer(const struct talk *t, enum talk_end end, const char *why, struct str *reply)
{
	static const char codes[] = { [TALK_OPEN] = 0, [TALK_REFUSED] = 2, [TALK_UNREACHABLE] = 4 };

	if (t->socks)
		add_socks_answer(reply, codes[end]);
	else if (end == TALK_OPEN && t->tunnel)
		str_add(reply, "HTTP/1.1 200 Connection established\r\n\r\n");
	else if (end == TALK_REFUSED)
		say(reply, "403 Forbidden", "X-Proxy-Error: blocked-by-allowlist\r\n", why);
	else if (end == TALK_UNREACHABLE)
		say(reply, "502 Bad Gateway", "", why);
}
