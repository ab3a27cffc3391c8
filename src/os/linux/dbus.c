/* SPDX-License-Identifier: MIT */
/*
 * The D-Bus wire format, as far as a peer connection needs it. Both ends are on this machine, so the
 * byte order is ours. Every length that comes in is checked against what was really received.
 */
#include "os/linux/dbus.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
	SKIP_MAX = 1024 * 1024,
	HEADER = 16,
	BODY_LENGTH_AT = 4,
	SERIAL_AT = 8,
	FIELDS_LENGTH_AT = 12
};
enum {
	FIELD_PATH = 1,
	FIELD_INTERFACE = 2,
	FIELD_MEMBER = 3,
	FIELD_ERROR = 4,
	FIELD_REPLY = 5,
	FIELD_DESTINATION = 6,
	FIELD_SIGNATURE = 8,
};

static void put_bytes(struct dbus_writer *w, const void *data, size_t len)
{
	if (len > sizeof(w->buf) - w->len) {
		w->full = true;
		return;
	}
	memcpy(w->buf + w->len, data, len);
	w->len += len;
}

void dbus_align(struct dbus_writer *w, size_t align)
{
	static const uint8_t zeros[8];

	put_bytes(w, zeros, (align - w->len % align) % align);
}

static void put_u8(struct dbus_writer *w, uint8_t value)
{
	put_bytes(w, &value, 1);
}

void dbus_put_u32(struct dbus_writer *w, uint32_t value)
{
	dbus_align(w, 4);
	put_bytes(w, &value, 4);
}

void dbus_put_bool(struct dbus_writer *w, bool value)
{
	dbus_put_u32(w, value);
}

void dbus_put_bytes(struct dbus_writer *w, const void *data, size_t len)
{
	dbus_put_u32(w, (uint32_t)len);
	put_bytes(w, data, len);
}

void dbus_put_u64(struct dbus_writer *w, uint64_t value)
{
	dbus_align(w, 8);
	put_bytes(w, &value, 8);
}

void dbus_put_string(struct dbus_writer *w, const char *s)
{
	dbus_put_u32(w, (uint32_t)strlen(s));
	put_bytes(w, s, strlen(s) + 1);
}

void dbus_put_signature(struct dbus_writer *w, const char *s)
{
	put_u8(w, (uint8_t)strlen(s));
	put_bytes(w, s, strlen(s) + 1);
}

struct dbus_array dbus_open_array(struct dbus_writer *w, size_t element_align)
{
	struct dbus_array array;

	dbus_put_u32(w, 0);
	array.length_at = w->len - MIN(w->len, 4U);
	dbus_align(w, element_align);
	array.start = w->len;
	return array;
}

void dbus_close_array(struct dbus_writer *w, struct dbus_array array)
{
	uint32_t len = (uint32_t)(w->len - array.start);

	memcpy(w->buf + array.length_at, &len, 4);
}

static void put_field(struct dbus_writer *w, uint8_t code, const char *signature, const char *value)
{
	dbus_align(w, 8);
	put_u8(w, code);
	dbus_put_signature(w, signature);
	if (signature[0] == 'g')
		dbus_put_signature(w, value);
	else
		dbus_put_string(w, value);
}

void dbus_call(struct dbus_writer *w, const char *destination, const char *path,
	       const char *interface, const char *member, const char *signature)
{
	struct dbus_array fields;

	w->len = 0;
	w->full = false;
	put_u8(w, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 'l' : 'B');
	put_u8(w, DBUS_CALL);
	put_u8(w, 0);       /* flags */
	put_u8(w, 1);       /* protocol version */
	dbus_put_u32(w, 0); /* the body's length, filled in by dbus_send() */
	dbus_put_u32(w, 1); /* serial */
	fields = dbus_open_array(w, 8);
	put_field(w, FIELD_PATH, "o", path);
	put_field(w, FIELD_DESTINATION, "s", destination);
	put_field(w, FIELD_INTERFACE, "s", interface);
	put_field(w, FIELD_MEMBER, "s", member);
	put_field(w, FIELD_SIGNATURE, "g", signature);
	dbus_close_array(w, fields);
	dbus_align(w, 8);
	w->body_at = w->len;
}

static int ms_left(const struct dbus_peer *peer)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (peer->deadline.tv_sec - now.tv_sec) * 1000 +
	     (peer->deadline.tv_nsec - now.tv_nsec) / 1000000;
	return ms > 0 ? (int)ms : 0;
}

static int peer_wait(const struct dbus_peer *peer, short events)
{
	struct pollfd pollfd = { .fd = peer->fd, .events = events };
	int r;

	do
		r = poll(&pollfd, 1, ms_left(peer));
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

static int peer_send(const struct dbus_peer *peer, const void *data, size_t len)
{
	for (const uint8_t *p = data; len > 0;) {
		ssize_t n = send(peer->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			int r = peer_wait(peer, POLLOUT);

			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Exactly len bytes. */
static int peer_recv(const struct dbus_peer *peer, void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = recv(peer->fd, (uint8_t *)data + done, len - done, MSG_DONTWAIT);

		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0) {
			return -ECONNRESET;
		} else if (errno == EAGAIN) {
			int r = peer_wait(peer, POLLIN);

			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int peer_skip(const struct dbus_peer *peer, size_t len)
{
	uint8_t waste[512];
	int r = 0;

	for (; len > 0 && r == 0; len -= MIN(len, sizeof(waste)))
		r = peer_recv(peer, waste, MIN(len, sizeof(waste)));
	return r;
}

static void read_align(struct dbus_message *m, size_t align)
{
	m->at += (align - m->at % align) % align;
}

uint32_t dbus_get_u32(struct dbus_message *m)
{
	uint32_t value = 0;

	read_align(m, 4);
	if (m->at + 4 > m->len) {
		m->bad = true;
		return 0;
	}
	memcpy(&value, m->buf + m->at, 4);
	m->at += 4;
	return value;
}

/* len_size: 4 for a string, 1 for a signature. Points into the message. */
static const char *read_text(struct dbus_message *m, size_t len_size)
{
	size_t len = 0, start;

	if (len_size == 4)
		len = dbus_get_u32(m);
	else if (m->at < m->len)
		len = m->buf[m->at++];
	start = m->at;
	if (m->bad || start >= m->len || len >= m->len - start || m->buf[start + len] != '\0') {
		m->bad = true;
		return "";
	}
	m->at += len + 1;
	return (const char *)m->buf + start;
}

const char *dbus_get_signature(struct dbus_message *m)
{
	return read_text(m, 1);
}

const char *dbus_get_string(struct dbus_message *m)
{
	return read_text(m, 4);
}

size_t dbus_enter_array(struct dbus_message *m, size_t align)
{
	size_t len = dbus_get_u32(m);

	read_align(m, align);
	if (m->bad || m->at > m->len || len > m->len - m->at) {
		m->bad = true;
		return m->at;
	}
	return m->at + len;
}

void dbus_enter_struct(struct dbus_message *m)
{
	read_align(m, 8);
	m->bad |= m->at > m->len;
}

const uint8_t *dbus_get_bytes(struct dbus_message *m, size_t *ret_len)
{
	size_t end = dbus_enter_array(m, 1), start = m->at;

	*ret_len = end - start;
	m->at = end;
	return m->buf + start;
}

/* The header's fields up to the body. */
static void read_fields(struct dbus_message *m, size_t end)
{
	m->at = HEADER;
	while (m->at < end && !m->bad) {
		const char *signature, *value;
		uint32_t number;
		uint8_t code;

		read_align(m, 8);
		if (m->at >= end)
			break;
		code = m->buf[m->at++];
		signature = read_text(m, 1);
		switch (signature[0]) {
		case 'u':
			number = dbus_get_u32(m);
			if (code == FIELD_REPLY)
				m->reply_to = number;
			continue;
		case 's':
		case 'o':
			value = read_text(m, 4);
			break;
		case 'g':
			value = read_text(m, 1);
			break;
		default:
			m->bad = true;
			return;
		}
		if (code == FIELD_MEMBER)
			(void)snprintf(m->member, sizeof(m->member), "%s", value);
		else if (code == FIELD_ERROR)
			(void)snprintf(m->error, sizeof(m->error), "%s", value);
	}
	m->at = (end + 7) & ~(size_t)7;
}

int dbus_receive(const struct dbus_peer *peer, struct dbus_message *m)
{
	uint32_t body, fields;
	size_t rest;
	int r;

	m->bad = false;
	m->type = 0;
	m->member[0] = m->error[0] = '\0';
	m->reply_to = 0;
	if (ms_left(peer) == 0) /* a talkative peer never lets us wait */
		return -ETIMEDOUT;
	r = peer_recv(peer, m->buf, HEADER);
	if (r < 0)
		return r;
	memcpy(&body, m->buf + BODY_LENGTH_AT, 4);
	memcpy(&fields, m->buf + FIELDS_LENGTH_AT, 4);
	if (m->buf[3] != 1 || body > SKIP_MAX || fields > SKIP_MAX)
		return -EBADMSG;
	rest = (((size_t)fields + 7) & ~(size_t)7) + body;
	if (rest > sizeof(m->buf) - HEADER)
		return peer_skip(peer, rest);
	r = peer_recv(peer, m->buf + HEADER, rest);
	if (r < 0)
		return r;
	m->len = HEADER + rest;
	m->type = m->buf[1];
	read_fields(m, HEADER + fields);
	return m->bad ? -EBADMSG : 0;
}

int dbus_connect(struct dbus_peer *peer, const char *path, int seconds)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	socklen_t size = sizeof(address);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (path[0] == '@') { /* an abstract name, which has no end but its length */
		address.sun_path[0] = '\0';
		size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	}
	clock_gettime(CLOCK_MONOTONIC, &peer->deadline);
	peer->deadline.tv_sec += seconds;
	peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (peer->fd < 0 || connect(peer->fd, (struct sockaddr *)&address, size) < 0)
		return -errno;
	return 0;
}

/* SASL EXTERNAL: our uid in decimal, its digits in hex. The call follows without waiting. */
static int peer_greet(const struct dbus_peer *peer)
{
	char uid[16], hello[96];
	size_t len = 1;

	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	hello[0] = '\0';
	len += (size_t)snprintf(hello + len, sizeof(hello) - len, "AUTH EXTERNAL ");
	for (const char *p = uid; *p; p++)
		len += (size_t)snprintf(hello + len, sizeof(hello) - len, "%02x", (unsigned)*p);
	len += (size_t)snprintf(hello + len, sizeof(hello) - len, "\r\nBEGIN\r\n");
	return peer_send(peer, hello, len);
}

/* "OK <id>\r\n" */
static int peer_welcome(const struct dbus_peer *peer)
{
	char line[128];

	for (size_t n = 0; n < sizeof(line); n++) {
		int r = peer_recv(peer, &line[n], 1);

		if (r < 0)
			return r;
		if (line[n] == '\n')
			return strncmp(line, "OK ", 3) == 0 ? 0 : -EACCES;
	}
	return -EBADMSG;
}

/* The greeting, the call and the answer to the greeting, without waiting in between. */
int dbus_send(const struct dbus_peer *peer, struct dbus_writer *w)
{
	uint32_t body = (uint32_t)(w->len - w->body_at);
	int r;

	if (w->full)
		return -E2BIG;
	memcpy(w->buf + BODY_LENGTH_AT, &body, 4);
	r = peer_greet(peer);
	if (r == 0)
		r = peer_send(peer, w->buf, w->len);
	return r < 0 ? r : peer_welcome(peer);
}

int dbus_greet(const struct dbus_peer *peer)
{
	int r = peer_greet(peer);

	return r < 0 ? r : peer_welcome(peer);
}

int dbus_send_as(const struct dbus_peer *peer, struct dbus_writer *w, uint32_t serial)
{
	uint32_t body = (uint32_t)(w->len - w->body_at);

	if (w->full)
		return -E2BIG;
	memcpy(w->buf + BODY_LENGTH_AT, &body, 4);
	memcpy(w->buf + SERIAL_AT, &serial, 4);
	return peer_send(peer, w->buf, w->len);
}
