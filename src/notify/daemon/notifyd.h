/* SPDX-License-Identifier: MIT */
/*
 * The daemon: lines come in through the sockets of senders, become messages, and go out by the best
 * way there is.
 *
 *	sandbox -- its own socket --> sender --> rate --> focus? --> bus, program, terminal
 *	supervisor -- the door -----> registers it, tells whether its terminal has the focus
 *
 * One process, one loop, no thread; what may hang is done in children (job.h). A sandbox controls the
 * bytes of its lines and how many connections it opens, and nothing else: who it is, the socket says.
 *
 * Every message that was received is in one of these states, so none is lost: shown, summed up in one
 * that is shown ("12 more"), silent because the user was looking, quiet by the user's wish, or waiting.
 */
#pragma once

#include "notify/daemon/bus.h"
#include "notify/daemon/job.h"
#include "notify/place.h"
#include "spec/quiet.h"
#include "os/listener.h"

enum {
	SENDER_CONNS = 512, /* connections of one sender; the others wait in the backlog */
	SENDER_SILENCE = 5, /* seconds without a line, after which one makes room for those */
	STASH_MAX = 2 * 1024 * 1024, /* bytes of lines that have begun, of all connections */
	RATE_BURST = 5,              /* messages at once, then one a second */
	SHOWN_MAX = 64,              /* bubbles that an action may still come from */
	OUTCOMES = 16,
	WEBHOOKS = 4,
};

enum way { WAY_BUS, WAY_PROGRAM, WAY_TERMINAL, WAY_END };
enum focus { FOCUS_UNKNOWN, FOCUS_HERE, FOCUS_ELSEWHERE };

struct hub;
struct conn;

/* A message on its way. */
struct parcel {
	struct message message;
	unsigned more;      /* others that it stands for */
	struct conn *waits; /* wants the answer; NULL: nobody does */
};

enum stage { STAGE_IDLE, STAGE_ASKING, STAGE_SHOWING, STAGE_STUCK };

/* Who sends: a sandbox, or this user's programs outside. */
struct sender {
	struct hub *hub;
	struct sender *next;
	bool host; /* outside: it has no place */
	struct loop_source listener;
	bool full; /* as many connections as it may have: the listener rests */
	unsigned n_conns;
	struct place place;
	struct quiet quiet;
	enum focus reported; /* by the terminal itself, through the supervisor */
	bool gone;           /* its supervisor is; what is on its way is still delivered */

	enum stage stage;
	enum way way;
	struct parcel now, next_one;
	bool has_next;
	unsigned tokens;
	int64_t since, refilled; /* in this stage; of the last token: seconds */
	int64_t stuck;           /* since when no way has taken the message; 0: it is not so */
	struct job job;          /* asks about the focus, or shows by a program */
	bool bus_wait;           /* SHOWING: until the bus is there */
	char why[160];           /* what the ways before this one said */
};

struct shown {
	uint32_t id; /* the service's; 0: free */
	char sender[16], replace[64];
	struct conn *waits;
	struct place place; /* to bring it to the front after a click */
};

struct outcome {
	int64_t at; /* seconds of the wall clock */
	char sender[64], title[64], text[192];
};

struct stats {
	unsigned long received, shown, summed, silent, quiet; /* of messages */
	unsigned long malformed, too_long, refused;           /* of lines and connections */
};

struct hub {
	struct loop loop;
	struct ticker ticker;
	struct bus *bus;
	struct listener door;
	struct loop_source tcp, signals;
	struct sender *senders; /* the host's own is the last */
	struct door_conn *doors;
	unsigned n_conns;
	size_t stash_bytes;
	bool always, verbose, on_demand;
	bool activated; /* the sockets are systemd's: they stay */
	int dir;        /* DIR/wrapix */
	int locks;      /* one daemon a directory */
	char *path;
	struct stats stats;
	struct shown shown[SHOWN_MAX];
	size_t next_shown;
	struct outcome outcomes[OUTCOMES];
	unsigned long n_outcomes;
	struct job webhooks[WEBHOOKS], raise;
	char buf[2 * (MESSAGE_LINE_MAX + 1)];
	void (*log)(const char *line); /* main's: a line for whoever watches */
};

/* hub.c */
int hub_open(struct hub *hub, struct err *err);
void hub_close(struct hub *hub);
struct sender *sender_new(struct hub *hub, int listener, const struct place *place,
			  struct err *err);
void hub_note(struct hub *hub, const char *sender, const char *title, const char *fmt, ...)
	_printf_(4, 5);
int hub_listen_tcp(struct hub *hub, const char *address, struct err *err);

/* conn.c */
int conn_accept(struct loop_source *listener, uint32_t events, struct err *err);
void conn_wait(struct conn *conn);
void conn_answer(struct conn *conn, const char *action); /* the connection may be gone then */
void conn_end_all(struct hub *hub, const struct sender *sender); /* NULL: everybody's */
void conn_make_room(void);         /* once a second: where there is none, who is silent goes */
void conn_resume(struct hub *hub); /* listeners that rest, where there is room again */

/* door.c: what supervisors and commands of this user ask */
void door_take_in(struct listener *door, int fd);
void door_end_all(struct hub *hub);
void hub_status(const struct hub *hub, struct str *out); /* as JSON */

/* deliver.c */
void deliver(struct sender *sender, const struct message *message, struct conn *conn);
void deliver_tick(struct hub *hub);
void deliver_forget(struct hub *hub, const struct conn *conn); /* it waits no longer */
void deliver_cancel(struct sender *sender);
extern const struct bus_hooks deliver_bus_hooks; /* ctx: the hub */

/* ways.c: 0 when it has begun and done() follows, or -errno */
int way_program(struct sender *sender, job_done_fn *done);
int way_terminal(const struct sender *sender);
void way_webhook(struct sender *sender);
const char *way_name(enum way way);
/* Which program shows messages here; NULL: none. */
const char *way_program_name(void);

/* focus.c: these ask and wait; for a child */
enum focus focus_ask(const struct place *place, enum focus reported, char *why, size_t size);
void focus_raise(const struct place *place);
