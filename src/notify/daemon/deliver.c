/* SPDX-License-Identifier: MIT */
/*
 * The way of a message: rate, focus, then the ways to show it in turn until one has taken it.
 *
 * A sender has one message on its way, and at most one behind it, which stands for all that came in the
 * meantime: so a flood costs no memory, and nobody's flood keeps another's message. A message that no
 * way takes stays and is tried again.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "notify/daemon/notifyd.h"

#define FOCUS_MS 3000 /* a compositor that takes longer has not answered */
#define BUS_SECONDS 2 /* a connection that takes longer is none */
#define STUCK_SECONDS 5
#define GIVE_UP_SECONDS \
	60 /* after that nobody waits for what an ended session, or the host, said */

static void try_ways(struct sender *s);
static void begin(struct sender *s, const struct parcel *parcel);

static const char *sender_name(const struct sender *s)
{
	return s->place.name[0] ? s->place.name : s->place.id;
}

static void note(struct sender *s, const char *what)
{
	hub_note(s->hub, sender_name(s), s->now.message.title, "%s%s%s%s", what,
		 s->why[0] ? " (" : "", s->why, s->why[0] ? ")" : "");
}

static void answer(struct conn **waits, const char *action)
{
	struct conn *conn = *waits;

	*waits = NULL;
	if (conn)
		conn_answer(conn, action);
}

static void refill(struct sender *s)
{
	int64_t now = os_seconds();

	s->tokens = (unsigned)MIN(s->tokens + (now - s->refilled), (int64_t)RATE_BURST);
	s->refilled = now;
}

static void go_on(struct sender *s)
{
	struct parcel parcel;

	s->stage = STAGE_IDLE;
	refill(s);
	if (!s->has_next || !s->tokens)
		return;
	parcel = s->next_one;
	s->has_next = false;
	begin(s, &parcel);
}

/* --- what is shown --- */

/* The user has several sandboxes, and wants to know which. */
static void dress(struct sender *s)
{
	struct message *m = &s->now.message;
	_cleanup_str_ struct str text = { 0 };

	if (s->place.name[0]) {
		str_addf(&text, "%s (%s)", m->title, s->place.name);
		message_set(m->title, sizeof(m->title), text.s, false);
	}
	if (s->now.more) {
		char more[32];
		size_t room = sizeof(m->text) - sizeof(more);

		snprintf(more, sizeof(more), "%s(%u more)", m->text[0] ? "\n" : "", s->now.more);
		text.len = 0;
		str_add(&text, m->text);
		message_set(m->text, room, text.s, true);
		strncat(m->text, more, sizeof(m->text) - strlen(m->text) - 1);
	}
	if (!m->sound[0])
		memcpy(m->sound, s->place.sound, sizeof(m->sound));
}

static void taken(struct sender *s, const char *how)
{
	s->hub->stats.shown++;
	note(s, how);
	go_on(s);
}

static struct shown *find_shown(struct hub *hub, uint32_t id)
{
	for (size_t i = 0; id && i < SHOWN_MAX; i++)
		if (hub->shown[i].id == id)
			return &hub->shown[i];
	return NULL;
}

static struct shown *find_replaced(const struct sender *s)
{
	for (size_t i = 0; s->now.message.replace[0] && i < SHOWN_MAX; i++) {
		struct shown *shown = &s->hub->shown[i];

		if (shown->id && !strcmp(shown->sender, s->place.id) &&
		    !strcmp(shown->replace, s->now.message.replace))
			return shown;
	}
	return NULL;
}

static void remember(struct sender *s, uint32_t id)
{
	struct hub *hub = s->hub;
	struct shown *shown = find_shown(hub, id);

	if (!shown)
		shown = &hub->shown[hub->next_shown++ % SHOWN_MAX];
	answer(&shown->waits, "");
	*shown = (struct shown){ .id = id, .waits = s->now.waits, .place = s->place };
	memcpy(shown->sender, s->place.id, sizeof(shown->sender));
	memcpy(shown->replace, s->now.message.replace, sizeof(shown->replace));
	s->now.waits = NULL;
}

/* --- the ways --- */

static void next_way(struct sender *s, const char *why)
{
	snprintf(s->why, sizeof(s->why), "%s: %s", way_name(s->way), why);
	s->way++;
	try_ways(s);
}

static void on_program(struct job *job, bool ok, _unused_ const char *output)
{
	struct sender *s = container_of(job, struct sender, job);

	if (!ok) {
		next_way(s, "it failed");
		return;
	}
	answer(&s->now.waits, "");
	taken(s, "shown by a program");
}

/* 0: it is on its way; 1: it was taken; else -errno. */
static int try_way(struct sender *s)
{
	struct hub *hub = s->hub;
	struct shown *replaced;

	if (s->way == WAY_PROGRAM)
		return way_program(s, on_program);
	if (s->way == WAY_TERMINAL)
		return way_terminal(s) < 0 ? -ENOTTY : 1;
	if (bus_state(hub->bus) == BUS_DOWN)
		bus_retry(hub->bus);
	if (bus_state(hub->bus) == BUS_CONNECTING) {
		s->bus_wait = true;
		return 0;
	}
	if (bus_state(hub->bus) == BUS_DOWN)
		return -ENOTCONN;
	replaced = find_replaced(s);
	return bus_show(hub->bus, &s->now.message, replaced ? replaced->id : 0, s);
}

static void try_ways(struct sender *s)
{
	s->stage = STAGE_SHOWING;
	for (; s->way < WAY_END; s->way++) {
		int r;

		s->since = os_seconds();
		r = try_way(s);
		if (r == 1) {
			answer(&s->now.waits, "");
			taken(s, "shown on the terminal");
		}
		if (r >= 0)
			return;
		if (s->way == WAY_BUS)
			snprintf(s->why, sizeof(s->why), "%s: %s", way_name(s->way),
				 bus_describe(s->hub->bus));
	}
	if (s->place.webhook[0]) {
		answer(&s->now.waits, "");
		taken(s, "handed to your command");
		return;
	}
	s->stage = STAGE_STUCK;
	if (!s->stuck)
		s->stuck = os_seconds();
	note(s, "no way to show it now; kept");
}

static void on_bus_shown(void *ctx, void *cookie, uint32_t id, const char *why)
{
	struct sender *s = cookie;

	(void)ctx;
	if (!id) {
		next_way(s, why);
		return;
	}
	s->why[0] = '\0';
	remember(s, id);
	taken(s, "shown on the desktop");
}

static void on_bus_change(void *ctx)
{
	struct hub *hub = ctx;
	enum bus_state state = hub->bus ? bus_state(hub->bus) : BUS_CONNECTING;

	for (struct sender *s = hub->senders; s && state != BUS_CONNECTING; s = s->next) {
		bool waits = s->stage == STAGE_SHOWING && s->bus_wait;

		if (!waits && (s->stage != STAGE_STUCK || state != BUS_READY))
			continue;
		s->bus_wait = false;
		s->way = WAY_BUS;
		try_ways(s);
	}
}

/* --- the focus --- */

static int ask_child(void *arg, int out)
{
	const struct sender *s = arg;
	char why[200];
	enum focus focus = focus_ask(&s->place, s->reported, why, sizeof(why));

	dprintf(out, "%d%s", (int)focus, why);
	return 0;
}

static void show(struct sender *s)
{
	dress(s);
	way_webhook(s);
	s->way = WAY_BUS;
	s->bus_wait = false;
	try_ways(s);
}

static void on_focus(struct job *job, bool ok, const char *output)
{
	struct sender *s = container_of(job, struct sender, job);

	s->why[0] = '\0';
	if (!ok || output[0] != '0' + FOCUS_HERE) {
		show(s);
		return;
	}
	message_set(s->why, sizeof(s->why), output + 1, false);
	s->hub->stats.silent++;
	note(s, "not shown: you are looking at it");
	go_on(s);
}

static void begin(struct sender *s, const struct parcel *parcel)
{
	const struct message *m = &parcel->message;

	s->now = *parcel;
	s->tokens--;
	s->why[0] = '\0';
	s->stuck = 0;
	s->stage = STAGE_ASKING;
	/* A question must be seen to be answered. */
	if (s->host || s->hub->always || s->place.always || m->wait || m->n_actions ||
	    job_start(&s->job, &s->hub->loop, ask_child, s, FOCUS_MS, on_focus) < 0)
		show(s);
}

/* --- coming in --- */

static bool is_quiet(const struct sender *s, const struct message *m)
{
	time_t now = time(NULL);
	struct tm tm;

	return m->urgency != URGENCY_CRITICAL && localtime_r(&now, &tm) &&
	       quiet_at(&s->quiet, (unsigned)(tm.tm_hour * 60 + tm.tm_min));
}

/* The newest stands for all, but for one that is critical. */
static void sum_up(struct sender *s, const struct parcel *parcel)
{
	struct parcel *next = &s->next_one, old = *next;
	bool keep_old = s->has_next && old.message.urgency == URGENCY_CRITICAL &&
			parcel->message.urgency != URGENCY_CRITICAL;
	struct conn *unheard = keep_old ? parcel->waits : old.waits;

	if (!s->has_next) {
		*next = *parcel;
		s->has_next = true;
		return;
	}
	s->hub->stats.summed++;
	*next = keep_old ? old : *parcel;
	next->more = old.more + 1;
	answer(&unheard, "");
}

void deliver(struct sender *s, const struct message *message, struct conn *conn)
{
	struct parcel parcel = { .message = *message, .waits = conn };

	s->hub->stats.received++;
	ticker_keep(&s->hub->ticker, true);
	if (is_quiet(s, message)) {
		s->hub->stats.quiet++;
		hub_note(s->hub, sender_name(s), message->title, "not shown: a quiet time");
		answer(&parcel.waits, "");
		return;
	}
	if (conn)
		conn_wait(conn);
	if (s->stage == STAGE_IDLE && !s->has_next) {
		refill(s);
		if (s->tokens) {
			begin(s, &parcel);
			return;
		}
	}
	sum_up(s, &parcel);
}

/* On a machine without a desktop a message of a session that has ended, or of the host (--test), would be
 * tried for ever, and a daemon that is there on demand would never end. */
static bool give_up(struct sender *s, int64_t now)
{
	bool nobody_waits = s->gone || (s->host && s->hub->on_demand);

	if (!nobody_waits || s->stage != STAGE_STUCK || now - s->stuck < GIVE_UP_SECONDS)
		return false;
	note(s, "given up: nobody waits for it, and there was no way to show it");
	s->has_next = false; /* answer_unasked() has told who waits */
	s->stage = STAGE_IDLE;
	return true;
}

/* What nobody can be asked has no answer; the message itself is still shown once there is a way. */
static void answer_unasked(struct sender *s, int64_t now)
{
	if (s->stage != STAGE_STUCK || now - s->stuck < GIVE_UP_SECONDS)
		return;
	answer(&s->now.waits, "");
	if (s->has_next)
		answer(&s->next_one.waits, "");
}

void deliver_tick(struct hub *hub)
{
	int64_t now = os_seconds();

	for (struct sender *s = hub->senders; s; s = s->next) {
		answer_unasked(s, now);
		if (s->stage == STAGE_IDLE) {
			if (s->has_next)
				go_on(s);
		} else if (give_up(s, now)) {
			continue;
		} else if (s->stage == STAGE_STUCK && now - s->since >= STUCK_SECONDS) {
			s->way = WAY_BUS;
			try_ways(s);
		} else if (s->stage == STAGE_SHOWING && s->bus_wait &&
			   now - s->since >= BUS_SECONDS) {
			s->bus_wait = false;
			next_way(s, "no answer");
		}
	}
}

void deliver_forget(struct hub *hub, const struct conn *conn)
{
	for (struct sender *s = hub->senders; s; s = s->next) {
		if (s->now.waits == conn)
			s->now.waits = NULL;
		if (s->next_one.waits == conn)
			s->next_one.waits = NULL;
	}
	for (size_t i = 0; i < SHOWN_MAX; i++)
		if (hub->shown[i].waits == conn)
			hub->shown[i].waits = NULL;
}

void deliver_cancel(struct sender *s)
{
	job_cancel(&s->job);
}

/* --- what the user does --- */

static int raise_child(void *arg, _unused_ int out)
{
	focus_raise(arg);
	return 0;
}

static void on_raised(_unused_ struct job *job, _unused_ bool ok, _unused_ const char *output)
{
}

static void on_bus_action(void *ctx, uint32_t id, const char *key)
{
	struct hub *hub = ctx;
	struct shown *shown = find_shown(hub, id);
	bool waited;

	if (!shown)
		return;
	waited = shown->waits;
	hub_note(hub, shown->place.name, "", "you chose '%s'", key);
	if ((!waited || !strcmp(key, "default")) && !job_busy(&hub->raise))
		job_start(&hub->raise, &hub->loop, raise_child, &shown->place, 2000, on_raised);
	answer(&shown->waits, key);
}

static void on_bus_closed(void *ctx, uint32_t id)
{
	struct shown *shown = find_shown(ctx, id);

	if (!shown)
		return;
	answer(&shown->waits, "");
	shown->id = 0;
}

const struct bus_hooks deliver_bus_hooks = {
	.on_shown = on_bus_shown,
	.on_action = on_bus_action,
	.on_closed = on_bus_closed,
	.on_change = on_bus_change,
};
