/* SPDX-License-Identifier: MIT */
/* Built without sd-bus: messages take the next way, a program of the desktop's. */
#include <errno.h>

#include "notify/daemon/bus.h"

struct bus {
	struct loop *loop;
};

struct bus *bus_new(struct loop *loop, _unused_ const char *address,
		    _unused_ const struct bus_hooks *hooks)
{
	struct bus *bus = calloc(1, sizeof(*bus));

	if (bus)
		bus->loop = loop;
	return bus;
}

void bus_free(struct bus *bus)
{
	free(bus);
}

enum bus_state bus_state(_unused_ const struct bus *bus)
{
	return BUS_DOWN;
}

bool bus_works(_unused_ const struct bus *bus)
{
	return false;
}

const char *bus_describe(_unused_ const struct bus *bus)
{
	return "this wrapix-notifyd was built without sd-bus";
}

void bus_retry(_unused_ struct bus *bus)
{
}

int bus_show(_unused_ struct bus *bus, _unused_ const struct message *message,
	     _unused_ uint32_t replaces, _unused_ void *cookie)
{
	return -ENOTSUP;
}
