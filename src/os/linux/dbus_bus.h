/* SPDX-License-Identifier: MIT */
/* Calls to services on the session's message bus, one after the other. */
#pragma once

#include "base/err.h"
#include "os/linux/dbus.h"

struct dbus_bus {
	struct dbus_peer peer;
	uint32_t serial;
};

/* The bus that DBUS_SESSION_BUS_ADDRESS names (unix:path= and unix:abstract=), or the one in
 * XDG_RUNTIME_DIR. -ENOENT without a message when there is none. */
int dbus_bus_open(struct dbus_bus *bus, int seconds, struct err *err);
/* From now on everything may take this long in all. */
void dbus_bus_patience(struct dbus_bus *bus, int seconds);
void dbus_bus_close(struct dbus_bus *bus);

/* Sends the call and waits for its answer, which is left at its body. An error of the service's is
 * -EREMOTEIO with its words, or -ENOENT when there is no such service. */
int dbus_bus_call(struct dbus_bus *bus, struct dbus_writer *w, struct dbus_message *m,
		  struct err *err);
/* The next signal of that name; the others are passed over. */
int dbus_bus_signal(struct dbus_bus *bus, const char *member, struct dbus_message *m,
		    struct err *err);
