/* SPDX-License-Identifier: MIT */
/* The session's message bus. */
#include "os/linux/dbus_bus.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "os/socket.h"

/* "unix:path=/run/user/1000/bus,guid=...": the first place that we can reach. */
static bool find_socket(char path[108])
{
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *p;

	if (!address || !*address)
		return runtime && runtime[0] == '/' &&
		       snprintf(path, 108, "%s/bus", runtime) < 108 && access(path, W_OK) == 0;
	p = strstr(address, "unix:path=");
	if (p)
		return snprintf(path, 108, "%.*s", (int)strcspn(p + 10, ",;"), p + 10) < 108;
	p = strstr(address, "unix:abstract=");
	return p && snprintf(path, 108, "@%.*s", (int)strcspn(p + 14, ",;"), p + 14) < 108;
}

/* What is said there is for the user's own keyring. The name of a bus that has ended may be anybody's. */
static int check_owner(const struct dbus_bus *bus, struct err *err)
{
	uid_t uid;

	if (os_peer(bus->peer.fd, &uid, NULL) && (uid == geteuid() || uid == 0))
		return 0;
	return err_set(err, EPERM, "the message bus is another user's");
}

int dbus_bus_open(struct dbus_bus *bus, int seconds, struct err *err)
{
	struct dbus_writer w;
	struct dbus_message m;
	char path[108];
	int r;

	*bus = (struct dbus_bus){ .peer.fd = -1 };
	if (!find_socket(path))
		return -ENOENT;
	r = dbus_connect(&bus->peer, path, seconds);
	if (r == 0 && check_owner(bus, err) < 0) {
		dbus_bus_close(bus);
		return -err->code;
	}
	if (r == 0)
		r = dbus_greet(&bus->peer);
	if (r < 0) {
		dbus_bus_close(bus);
		return err_errno(err, -r, "connecting to the message bus");
	}
	dbus_call(&w, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		  "Hello", "");
	r = dbus_bus_call(bus, &w, &m, err);
	if (r < 0)
		dbus_bus_close(bus);
	return r;
}

void dbus_bus_patience(struct dbus_bus *bus, int seconds)
{
	clock_gettime(CLOCK_MONOTONIC, &bus->peer.deadline);
	bus->peer.deadline.tv_sec += seconds;
}

void dbus_bus_close(struct dbus_bus *bus)
{
	if (bus->peer.fd >= 0)
		close(bus->peer.fd);
	bus->peer.fd = -1;
}

static int explain(struct dbus_message *m, struct err *err)
{
	_cleanup_str_ struct str words = { 0 };
	bool unknown = strstr(m->error, ".ServiceUnknown") || strstr(m->error, ".NameHasNoOwner");

	str_add_escaped(&words, m->len > m->at ? dbus_get_string(m) : "");
	return err_set(err, unknown ? ENOENT : EREMOTEIO, "%.90s: %.300s", m->error,
		       words.s ? words.s : "");
}

int dbus_bus_call(struct dbus_bus *bus, struct dbus_writer *w, struct dbus_message *m,
		  struct err *err)
{
	int r = dbus_send_as(&bus->peer, w, ++bus->serial);

	while (r == 0) {
		r = dbus_receive(&bus->peer, m);
		if (r == 0 && m->reply_to == bus->serial && m->type == DBUS_ERROR)
			return explain(m, err);
		if (r == 0 && m->reply_to == bus->serial && m->type == DBUS_RETURN)
			return 0;
	}
	return err_errno(err, -r, "asking over the message bus");
}

int dbus_bus_signal(struct dbus_bus *bus, const char *member, struct dbus_message *m,
		    struct err *err)
{
	int r;

	do {
		r = dbus_receive(&bus->peer, m);
	} while (r == 0 && (m->type != DBUS_SIGNAL || strcmp(m->member, member)));
	return r < 0 ? err_errno(err, -r, "waiting for '%s' on the message bus", member) : 0;
}
