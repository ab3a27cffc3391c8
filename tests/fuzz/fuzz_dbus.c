/* SPDX-License-Identifier: MIT */
/* What a peer on a D-Bus socket answers: a message is read to its end and not further, whatever its lengths say. */
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "os/linux/dbus.h"
#include "fuzz.h"

static void check_inside(const struct dbus_message *m, const void *at, size_t len)
{
	const uint8_t *p = at;

	if (len && (p < m->buf || p + len > m->buf + m->len))
		abort();
}

/* As the callers read: strings, arrays of structures, bytes. */
static void read_body(struct dbus_message *m)
{
	struct dbus_message copy = *m;
	const uint8_t *bytes;
	size_t len, end;

	(void)!strlen(dbus_get_string(m));
	(void)!strlen(dbus_get_signature(m));
	bytes = dbus_get_bytes(m, &len);
	check_inside(m, bytes, len);
	end = dbus_enter_array(&copy, 8);
	for (int i = 0; !copy.bad && copy.at < end && i < 1000; i++) {
		dbus_enter_struct(&copy);
		(void)dbus_get_u32(&copy);
		(void)!strlen(dbus_get_string(&copy));
	}
	if (m->at > sizeof(m->buf) || copy.at > sizeof(copy.buf))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dbus_message m;
	struct dbus_peer peer = { .fd = -1 };
	int fds[2];

	if (size > 65536 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &peer.deadline);
	peer.deadline.tv_sec += 5;
	peer.fd = fds[0];
	if (write(fds[1], data, size) == (ssize_t)size) {
		close(fds[1]);
		while (dbus_receive(&peer, &m) == 0) {
			if (memchr(m.member, 0, sizeof(m.member)) == NULL ||
			    memchr(m.error, 0, sizeof(m.error)) == NULL || m.len > sizeof(m.buf))
				abort();
			read_body(&m);
		}
	} else {
		close(fds[1]);
	}
	close(fds[0]);
	return 0;
}
