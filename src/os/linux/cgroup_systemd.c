/* SPDX-License-Identifier: MIT */
/*
 * A scope of the user's systemd for one sandbox, asked for over D-Bus.
 *
 * The manager listens on $XDG_RUNTIME_DIR/systemd/private, where systemctl talks to it too: a plain
 * D-Bus peer connection without a bus in between. One call, StartTransientUnit, makes the scope and
 * moves our process into it (through the system's manager when we were logged in by ssh and stand
 * outside the user's own tree); the signal JobRemoved says that it is done. The few dozen lines of
 * wire format below are cheaper than libsystemd, which would add a megabyte to the supervisor and
 * milliseconds to the start.
 *
 * Delegate=yes so that systemd does not end the whole scope after one OOM kill, and keeps the
 * controllers for us; CollectMode so that a failed scope is not kept. The scope goes by itself when
 * its last process ends, also after kill -9 of wrapix.
 *
 * The other side is the user's own manager; all the same nothing it sends is trusted with a size.
 */
#include "os/linux/cgroup_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum { TIMEOUT_MS = 5000, MESSAGE_MAX = 16 * 1024, SKIP_MAX = 1024 * 1024 };
enum { TYPE_CALL = 1, TYPE_RETURN = 2, TYPE_ERROR = 3, TYPE_SIGNAL = 4 };
enum { FIELD_PATH = 1, FIELD_INTERFACE, FIELD_MEMBER, FIELD_ERROR, FIELD_DESTINATION = 6 };
enum { FIELD_SIGNATURE = 8 };

/* A message being written. Everything in it is ours and short: the buffer never fills up, and
 * wire_put() would rather drop bytes than overflow. */
struct wire {
	uint8_t buf[2048];
	size_t len;
};

static void wire_put(struct wire *w, const void *data, size_t len)
{
	if (len > sizeof(w->buf) - w->len)
		return;
	memcpy(w->buf + w->len, data, len);
	w->len += len;
}

static void wire_align(struct wire *w, size_t align)
{
	static const uint8_t zeros[8];

	wire_put(w, zeros, (align - w->len % align) % align);
}

static void wire_u8(struct wire *w, uint8_t value)
{
	wire_put(w, &value, 1);
}

static void wire_u32(struct wire *w, uint32_t value)
{
	wire_align(w, 4);
	wire_put(w, &value, 4);
}

static void wire_string(struct wire *w, const char *s)
{
	wire_u32(w, (uint32_t)strlen(s));
	wire_put(w, s, strlen(s) + 1);
}

static void wire_signature(struct wire *w, const char *s)
{
	wire_u8(w, (uint8_t)strlen(s));
	wire_put(w, s, strlen(s) + 1);
}

/* An array begins with its length, which is known at its end and does not count the padding
 * before the first element. */
struct wire_array {
	size_t length_at, start;
};

static struct wire_array wire_open(struct wire *w, size_t element_align)
{
	struct wire_array array;

	wire_u32(w, 0);
	array.length_at = w->len - 4;
	wire_align(w, element_align);
	array.start = w->len;
	return array;
}

static void wire_close(struct wire *w, struct wire_array array)
{
	uint32_t len = (uint32_t)(w->len - array.start);

	memcpy(w->buf + array.length_at, &len, 4);
}

/* Properties: (sv) each. */
static void property(struct wire *w, const char *name, const char *signature)
{
	wire_align(w, 8);
	wire_string(w, name);
	wire_signature(w, signature);
}

static void property_string(struct wire *w, const char *name, const char *value)
{
	property(w, name, "s");
	wire_string(w, value);
}

static void property_u64(struct wire *w, const char *name, uint64_t value)
{
	property(w, name, "t");
	wire_align(w, 8);
	wire_put(w, &value, 8);
}

static void put_properties(struct wire *w, const struct cgroup_limits *limits, pid_t pid)
{
	struct wire_array all = wire_open(w, 8), pids;

	property_string(w, "Description", "wrapix sandbox");
	property_string(w, "CollectMode", "inactive-or-failed");
	property(w, "Delegate", "b");
	wire_u32(w, 1);
	property(w, "PIDs", "au");
	pids = wire_open(w, 4);
	wire_u32(w, (uint32_t)pid);
	wire_close(w, pids);
	if (limits->memory) {
		property_u64(w, "MemoryMax", limits->memory);
		property_u64(w, "MemorySwapMax", 0);
	}
	if (limits->pids)
		property_u64(w, "TasksMax", limits->pids);
	if (limits->cpus > 0)
		property_u64(w, "CPUQuotaPerSecUSec", (uint64_t)(limits->cpus * 1e6));
	wire_close(w, all);
}

static void put_field(struct wire *w, uint8_t code, const char *signature, const char *value)
{
	wire_align(w, 8);
	wire_u8(w, code);
	wire_signature(w, signature);
	if (signature[0] == 'g')
		wire_signature(w, value);
	else
		wire_string(w, value);
}

/* StartTransientUnit(s name, s mode, a(sv) properties, a(sa(sv)) auxiliary units) */
static void put_call(struct wire *w, const struct cgroup *cg, const char *unit, pid_t pid)
{
	struct wire_array fields, none;
	uint32_t body;
	size_t start;

	w->len = 0;
	wire_u8(w, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 'l' : 'B');
	wire_u8(w, TYPE_CALL);
	wire_u8(w, 0); /* flags */
	wire_u8(w, 1); /* protocol version */
	wire_u32(w, 0);
	wire_u32(w, 1); /* serial */
	fields = wire_open(w, 8);
	put_field(w, FIELD_PATH, "o", "/org/freedesktop/systemd1");
	put_field(w, FIELD_DESTINATION, "s", "org.freedesktop.systemd1");
	put_field(w, FIELD_INTERFACE, "s", "org.freedesktop.systemd1.Manager");
	put_field(w, FIELD_MEMBER, "s", "StartTransientUnit");
	put_field(w, FIELD_SIGNATURE, "g", "ssa(sv)a(sa(sv))");
	wire_close(w, fields);
	wire_align(w, 8);
	start = w->len;
	wire_string(w, unit);
	wire_string(w, "fail");
	put_properties(w, &cg->limits, pid);
	none = wire_open(w, 8);
	wire_close(w, none);
	body = (uint32_t)(w->len - start);
	memcpy(w->buf + 4, &body, 4);
}

/* The connection, with a deadline for all of it. */
struct peer {
	int fd;
	struct timespec deadline;
};

static int ms_left(const struct peer *peer)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (peer->deadline.tv_sec - now.tv_sec) * 1000 +
	     (peer->deadline.tv_nsec - now.tv_nsec) / 1000000;
	return ms > 0 ? (int)ms : 0;
}

static int peer_wait(const struct peer *peer, short events)
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

static int peer_send(const struct peer *peer, const void *data, size_t len)
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

/* Exactly len bytes; data may be NULL to throw them away. */
static int peer_recv(const struct peer *peer, void *data, size_t len)
{
	uint8_t waste[512];

	for (size_t done = 0; done < len;) {
		uint8_t *to = data ? (uint8_t *)data + done : waste;
		size_t want = data ? len - done : MIN(len - done, sizeof(waste));
		ssize_t n = recv(peer->fd, to, want, MSG_DONTWAIT);

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

/* A received message, read from front to back; running past its end makes it bad for good. */
struct message {
	uint8_t buf[MESSAGE_MAX];
	size_t len, at;
	bool bad;
	uint8_t type;
	char member[64];
};

static void read_align(struct message *m, size_t align)
{
	m->at += (align - m->at % align) % align;
}

static uint32_t read_u32(struct message *m)
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
static const char *read_text(struct message *m, size_t len_size)
{
	size_t len = 0, start;

	if (len_size == 4)
		len = read_u32(m);
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

/* The header's fields up to the body; we look at the member's name alone. */
static void read_fields(struct message *m, size_t end)
{
	m->at = 16;
	while (m->at < end && !m->bad) {
		const char *signature, *value;
		uint8_t code;

		read_align(m, 8);
		if (m->at >= end)
			break;
		code = m->buf[m->at++];
		signature = read_text(m, 1);
		switch (signature[0]) {
		case 'u':
			(void)read_u32(m);
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
	}
	m->at = (end + 7) & ~(size_t)7;
}

/* The next message, at its body. A longer one than we care for is skipped: type 0. */
static int peer_read(const struct peer *peer, struct message *m)
{
	uint32_t body, fields;
	size_t rest;
	int r;

	m->bad = false;
	m->type = 0;
	m->member[0] = '\0';
	r = peer_recv(peer, m->buf, 16);
	if (r < 0)
		return r;
	memcpy(&body, m->buf + 4, 4);
	memcpy(&fields, m->buf + 12, 4);
	if (m->buf[3] != 1 || body > SKIP_MAX || fields > SKIP_MAX)
		return -EBADMSG;
	rest = (((size_t)fields + 7) & ~(size_t)7) + body;
	if (rest > sizeof(m->buf) - 16)
		return peer_recv(peer, NULL, rest);
	r = peer_recv(peer, m->buf + 16, rest);
	if (r < 0)
		return r;
	m->len = 16 + rest;
	m->type = m->buf[1];
	read_fields(m, 16 + fields);
	return m->bad ? -EBADMSG : 0;
}

static int wait_for_job(const struct peer *peer, const char *unit, struct err *err)
{
	struct message m;

	for (;;) {
		const char *name, *result;
		int r = peer_read(peer, &m);

		if (r < 0)
			return err_errno(err, -r, "waiting for systemd to start '%s'", unit);
		if (m.type == TYPE_ERROR)
			return err_set(err, EIO, "systemd refused to start '%s': %s", unit,
				       read_text(&m, 4));
		if (m.type != TYPE_SIGNAL || strcmp(m.member, "JobRemoved") != 0)
			continue;
		(void)read_u32(&m);
		(void)read_text(&m, 4);
		name = read_text(&m, 4);
		result = read_text(&m, 4);
		if (m.bad || strcmp(name, unit) != 0)
			continue;
		if (strcmp(result, "done") == 0)
			return 0;
		return err_set(err, EIO, "systemd could not start '%s': %s", unit, result);
	}
}

static int peer_connect(struct peer *peer, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	clock_gettime(CLOCK_MONOTONIC, &peer->deadline);
	peer->deadline.tv_sec += TIMEOUT_MS / 1000;
	peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (peer->fd < 0 || connect(peer->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return 0;
}

/* SASL EXTERNAL: our uid in decimal, its digits in hex. The call follows without waiting. */
static int peer_greet(const struct peer *peer)
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
static int peer_welcome(const struct peer *peer)
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

static int start_scope(const struct peer *peer, const struct cgroup *cg, const char *unit,
		       pid_t pid, struct err *err)
{
	struct wire w;
	int r;

	put_call(&w, cg, unit, pid);
	r = peer_greet(peer);
	if (r == 0)
		r = peer_send(peer, w.buf, w.len);
	if (r == 0)
		r = peer_welcome(peer);
	if (r < 0)
		return err_errno(err, -r, "talking to systemd at '%s'", cg->socket);
	return wait_for_job(peer, unit, err);
}

/* systemd said done; the kernel has the last word. */
static int check_entered(pid_t pid, const char *unit, struct err *err)
{
	char path[64], text[4096];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return err_errno(err, errno, "reading '%s'", path);
	text[n] = '\0';
	if (!strstr(text, unit))
		return err_set(err, EIO, "systemd did not move process %d into '%s'", (int)pid,
			       unit);
	return 0;
}

int cgroup_systemd_enter(const struct cgroup *cg, pid_t pid, struct err *err)
{
	struct peer peer = { .fd = -1 };
	char unit[80];
	int r;

	(void)snprintf(unit, sizeof(unit), "%s.scope", cg->name);
	r = peer_connect(&peer, cg->socket);
	if (r < 0)
		r = err_errno(err, -r, "connecting to systemd at '%s'", cg->socket);
	else
		r = start_scope(&peer, cg, unit, pid, err);
	close_ptr(&peer.fd);
	return r < 0 ? r : check_entered(pid, unit, err);
}
