/* SPDX-License-Identifier: MIT */
/*
 * sd-bus in our loop.
 *
 * Nothing here waits: the connection, the question for the service's capabilities and every message
 * are asynchronous, each with a deadline. When the bus dies, sd-bus answers what was on its way with an
 * error, so that whoever sent it can send it by another way; a new connection is tried at once when
 * something is to be shown, and on a timer otherwise.
 *
 * The service draws text as markup where it says so ("body-markup"): then it is escaped. sd-bus, a
 * part of libsystemd, is chosen over os/linux/dbus.c because this needs a bus connection that lives:
 * signals, variants, timeouts, none of which that one call to one peer has.
 */
#include "notify/daemon/bus.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

#include "base/str.h"
#include "os/timer.h"

#define SERVICE "org.freedesktop.Notifications"
#define OBJECT "/org/freedesktop/Notifications"
#define ANSWER_USEC (5 * 1000000ULL)
#define RETRY_SECONDS 5

struct call {
	struct bus *bus; /* NULL: free */
	void *cookie;
};

struct bus {
	struct loop *loop;
	struct bus_hooks hooks;
	char address[512];
	sd_bus *sd;
	struct loop_source source, timer; /* timer: sd-bus's deadlines, or the next attempt */
	enum bus_state state;
	bool in_process; /* inside sd_bus_process(): the connection may not be dropped */
	bool works;      /* the service has answered */
	bool actions, markup, body;
	char about[256];
	struct call calls[32];
};

static void set_state(struct bus *bus, enum bus_state state)
{
	if (bus->state == state)
		return;
	bus->state = state;
	bus->hooks.on_change(bus->hooks.ctx);
}

static uint64_t now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* In milliseconds and rounded up: never before its time. */
static void set_timer(struct bus *bus, uint64_t at_usec)
{
	uint64_t now = now_usec(), left = at_usec > now ? (at_usec - now + 999) / 1000 : 1;

	(void)os_timer_set(bus->timer.fd, at_usec == UINT64_MAX ? 0 : (unsigned)MIN(left, 86400000),
			   0);
}

static void drop(struct bus *bus, const char *why)
{
	bool changed = bus->state != BUS_DOWN;

	bus->state = BUS_DOWN; /* who is told below must not send through it again */
	loop_remove(bus->loop, &bus->source);
	bus->source.fd = -1;
	if (bus->sd) {
		sd_bus_close(bus->sd);
		sd_bus_unref(bus->sd);
		bus->sd = NULL;
	}
	snprintf(bus->about, sizeof(bus->about), "%s", why);
	set_timer(bus, now_usec() + RETRY_SECONDS * 1000000ULL);
	for (size_t i = 0; i < ARRAY_LEN(bus->calls); i++)
		if (bus->calls[i].bus) {
			bus->calls[i].bus = NULL;
			bus->hooks.on_shown(bus->hooks.ctx, bus->calls[i].cookie, 0, why);
		}
	if (changed)
		bus->hooks.on_change(bus->hooks.ctx);
}

/* Tells the loop what sd-bus waits for. */
static void update(struct bus *bus)
{
	uint64_t at = UINT64_MAX;
	struct err err;
	int events;

	if (!bus->sd)
		return;
	events = sd_bus_get_events(bus->sd);
	if (events < 0 || sd_bus_get_timeout(bus->sd, &at) < 0 ||
	    loop_change(bus->loop, &bus->source, (uint32_t)events, &err) < 0) {
		drop(bus, "the session bus is gone");
		return;
	}
	set_timer(bus, at);
}

static void process(struct bus *bus)
{
	int r;

	if (!bus->sd || bus->in_process)
		return;
	bus->in_process = true;
	do
		r = sd_bus_process(bus->sd, NULL);
	while (r > 0);
	bus->in_process = false;
	if (r < 0 || sd_bus_is_open(bus->sd) <= 0)
		drop(bus, "the session bus is gone");
	else
		update(bus);
}

static int on_socket(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	process(container_of(source, struct bus, source));
	return 0;
}

static void connect_bus(struct bus *bus);

static int on_timer(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct bus *bus = container_of(source, struct bus, timer);

	if (!os_timer_take(source->fd))
		return 0;
	if (bus->sd)
		process(bus);
	else
		connect_bus(bus);
	return 0;
}

/* --- what the service says --- */

static int on_capabilities(sd_bus_message *m, void *ctx, _unused_ sd_bus_error *error)
{
	struct bus *bus = ctx;
	const sd_bus_error *failed = sd_bus_message_get_error(m);
	const char *word;

	if (failed) {
		/* A bus without the service: messages take another way, and each tries here first. */
		snprintf(bus->about, sizeof(bus->about), "no notification service: %s",
			 failed->message ? failed->message : failed->name);
		bus->works = false;
		set_state(bus, BUS_READY);
		return 0;
	}
	bus->actions = bus->markup = bus->body = false;
	bus->works = true;
	if (sd_bus_message_enter_container(m, 'a', "s") > 0)
		while (sd_bus_message_read(m, "s", &word) > 0) {
			bus->actions |= !strcmp(word, "actions");
			bus->markup |= !strcmp(word, "body-markup");
			bus->body |= !strcmp(word, "body");
		}
	snprintf(bus->about, sizeof(bus->about), "a notification service%s%s%s",
		 bus->actions ? ", with actions" : ", without actions",
		 bus->markup ? ", with markup" : "", bus->body ? "" : ", titles only");
	set_state(bus, BUS_READY);
	return 0;
}

static void ask_capabilities(struct bus *bus)
{
	sd_bus_call_method_async(bus->sd, NULL, SERVICE, OBJECT, SERVICE, "GetCapabilities",
				 on_capabilities, bus, NULL);
}

static int on_action(sd_bus_message *m, void *ctx, _unused_ sd_bus_error *error)
{
	struct bus *bus = ctx;
	const char *key;
	uint32_t id;

	if (sd_bus_message_read(m, "us", &id, &key) > 0)
		bus->hooks.on_action(bus->hooks.ctx, id, key);
	return 0;
}

static int on_closed(sd_bus_message *m, void *ctx, _unused_ sd_bus_error *error)
{
	struct bus *bus = ctx;
	uint32_t id, reason;

	if (sd_bus_message_read(m, "uu", &id, &reason) > 0)
		bus->hooks.on_closed(bus->hooks.ctx, id);
	return 0;
}

/* Another service has taken the name: it may be able to do other things. */
static int on_owner(sd_bus_message *m, void *ctx, _unused_ sd_bus_error *error)
{
	struct bus *bus = ctx;
	const char *name, *old, *new;

	if (sd_bus_message_read(m, "sss", &name, &old, &new) > 0 && *new)
		ask_capabilities(bus);
	return 0;
}

static int listen_to(struct bus *bus)
{
	static const struct {
		const char *sender, *interface, *member;
		sd_bus_message_handler_t handler;
	} signals[] = {
		{ SERVICE, SERVICE, "ActionInvoked", on_action },
		{ SERVICE, SERVICE, "NotificationClosed", on_closed },
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_LEN(signals); i++)
		r = sd_bus_match_signal_async(bus->sd, NULL, signals[i].sender, OBJECT,
					      signals[i].interface, signals[i].member,
					      signals[i].handler, NULL, bus);
	if (r >= 0)
		r = sd_bus_add_match_async(bus->sd, NULL,
					   "type='signal',sender='org.freedesktop.DBus',"
					   "member='NameOwnerChanged',arg0='" SERVICE "'",
					   on_owner, NULL, bus);
	return r;
}

/* --- the connection --- */

static const char *usual_address(char *buf, size_t size)
{
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (address && *address)
		return address;
	if (!runtime || *runtime != '/')
		return NULL;
	snprintf(buf, size, "unix:path=%s/bus", runtime);
	return buf;
}

static int start(struct bus *bus, const char *address)
{
	struct err err;
	int r = sd_bus_new(&bus->sd);

	if (r >= 0)
		r = sd_bus_set_address(bus->sd, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus->sd, 1);
	if (r >= 0)
		r = sd_bus_start(bus->sd);
	if (r >= 0)
		r = listen_to(bus);
	if (r >= 0)
		r = sd_bus_get_fd(bus->sd);
	if (r < 0)
		return r;
	bus->source.fd = r;
	r = loop_add(bus->loop, &bus->source, LOOP_IN, &err);
	if (r < 0)
		bus->source.fd = -1;
	return r;
}

static void connect_bus(struct bus *bus)
{
	char buf[512];
	const char *address = bus->address[0] ? bus->address : usual_address(buf, sizeof(buf));
	int r = address ? start(bus, address) : -ENOENT;

	if (r < 0) {
		char why[128];

		snprintf(why, sizeof(why), "no session bus: %s", strerror(-r));
		drop(bus, why);
		return;
	}
	ask_capabilities(bus);
	set_state(bus, BUS_CONNECTING);
	update(bus);
}

struct bus *bus_new(struct loop *loop, const char *address, const struct bus_hooks *hooks)
{
	struct bus *bus = calloc(1, sizeof(*bus));
	struct err err;

	if (!bus)
		return NULL;
	bus->loop = loop;
	bus->hooks = *hooks;
	snprintf(bus->address, sizeof(bus->address), "%s", address ? address : "");
	bus->source = (struct loop_source){ .fd = -1, .on_event = on_socket };
	bus->timer = (struct loop_source){
		.fd = os_timer_open(),
		.on_event = on_timer,
	};
	if (bus->timer.fd < 0 || loop_add(loop, &bus->timer, LOOP_IN, &err) < 0) {
		bus_free(bus);
		return NULL;
	}
	connect_bus(bus);
	return bus;
}

void bus_free(struct bus *bus)
{
	if (!bus)
		return;
	loop_remove(bus->loop, &bus->source);
	loop_remove(bus->loop, &bus->timer);
	if (bus->sd) {
		sd_bus_close(bus->sd);
		sd_bus_unref(bus->sd);
	}
	if (bus->timer.fd >= 0)
		close(bus->timer.fd);
	free(bus);
}

enum bus_state bus_state(const struct bus *bus)
{
	return bus->state;
}

bool bus_works(const struct bus *bus)
{
	return bus->state == BUS_READY && bus->works;
}

const char *bus_describe(const struct bus *bus)
{
	return bus->state == BUS_CONNECTING ? "connecting to the session bus" : bus->about;
}

void bus_retry(struct bus *bus)
{
	if (!bus->sd)
		connect_bus(bus);
}

/* --- a message --- */

static int on_shown(sd_bus_message *m, void *ctx, _unused_ sd_bus_error *error)
{
	struct call *call = ctx;
	struct bus *bus = call->bus;
	const sd_bus_error *failed = sd_bus_message_get_error(m);
	uint32_t id = 0;

	if (!bus)
		return 0;
	call->bus = NULL;
	if (failed)
		bus->hooks.on_shown(bus->hooks.ctx, call->cookie, 0,
				    failed->message ? failed->message : failed->name);
	else if (sd_bus_message_read(m, "u", &id) > 0 && id)
		bus->hooks.on_shown(bus->hooks.ctx, call->cookie, id, NULL);
	else
		bus->hooks.on_shown(bus->hooks.ctx, call->cookie, 0, "the answer made no sense");
	return 0;
}

static int append_actions(const struct bus *bus, const struct message *message, sd_bus_message *m)
{
	int r = sd_bus_message_open_container(m, 'a', "s");

	/* A click on the bubble itself. */
	if (r >= 0 && bus->actions)
		r = sd_bus_message_append(m, "ss", "default", "Show");
	for (size_t i = 0; r >= 0 && bus->actions && i < message->n_actions; i++)
		r = sd_bus_message_append(m, "ss", message->actions[i].key,
					  message->actions[i].label);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_hints(const struct message *message, sd_bus_message *m)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "urgency", "y", (uint8_t)message->urgency);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "desktop-entry", "s", "wrapix-notifyd");
	if (r >= 0 && message->sound[0])
		r = sd_bus_message_append(m, "{sv}", "sound-name", "s", message->sound);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int compose(struct bus *bus, const struct message *message, uint32_t replaces,
		   sd_bus_message **ret)
{
	_cleanup_str_ struct str body = { 0 };
	sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(bus->sd, &m, SERVICE, OBJECT, SERVICE, "Notify");

	if (bus->markup)
		str_add_markup(&body, message->text);
	else
		str_add(&body, message->text);
	if (r >= 0)
		r = sd_bus_message_append(m, "susss", "wrapix", replaces, "utilities-terminal",
					  message->title, body.s ? body.s : "");
	if (r >= 0)
		r = append_actions(bus, message, m);
	if (r >= 0)
		r = append_hints(message, m);
	if (r >= 0) /* -1: as long as the service thinks right */
		r = sd_bus_message_append(m, "i", (int32_t)-1);
	if (r < 0)
		sd_bus_message_unref(m);
	else
		*ret = m;
	return r;
}

int bus_show(struct bus *bus, const struct message *message, uint32_t replaces, void *cookie)
{
	struct call *call = bus->calls, *end = bus->calls + ARRAY_LEN(bus->calls);
	sd_bus_message *m = NULL;
	int r;

	while (call < end && call->bus)
		call++;
	if (bus->state != BUS_READY || call == end)
		return -EAGAIN;
	r = compose(bus, message, replaces, &m);
	if (r >= 0)
		r = sd_bus_call_async(bus->sd, NULL, m, on_shown, call, ANSWER_USEC);
	sd_bus_message_unref(m);
	if (r < 0)
		return r;
	*call = (struct call){ bus, cookie };
	if (!bus->in_process)
		process(bus);
	return 0;
}
