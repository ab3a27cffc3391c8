/* SPDX-License-Identifier: MIT */
/*
 * The event log: what happened in and around a session, one JSON object a line, in
 * STATE/wrapix/log/ID.jsonl; docs/events.md is the format. It outlives the session. The file is made
 * with the first event worth keeping, so a session in which nothing happens costs nothing.
 *
 * The writer holds a record lock on the file while its session lives; so a reader knows whether more
 * may come, also after a kill -9.
 */
#pragma once

#include "base/json.h"
#include "os/loop.h"
#include "os/linux/cgroup.h"
#include "session/denial.h"
#include "session/session.h"

enum {
	EVENTS_VERSION = 1,
	EVENTS_FILE_MAX = 4 << 20, /* bytes; a log has at most two files */
	EVENTS_LINE_MAX = 64 << 10,
	EVENTS_KEPT = 100,        /* sessions */
	EVENTS_PENDING = 32,      /* denials that are counted before they are written */
	EVENTS_PER_SECOND = 1000, /* lines; more are counted */
};

struct net_event;

struct event_log_hooks {
	void (*opened)(void *ctx);                        /* the file is there */
	void (*failed)(void *ctx, const struct err *err); /* once: it lacks something, or is none */
	/* A line about a refusal, as it goes into the file; also where there is none. NULL: nobody
	 * wants it. */
	void (*denied)(void *ctx, const char *line);
	void *ctx;
};

/* A denial that may happen again within its second. */
struct event_pending {
	char *body;    /* the line without its time and what follows */
	size_t known;  /* bytes of it that say whether it is the same */
	char *process; /* NULL: not known */
	int64_t time;
	uint64_t count;
};

/* The writer. */
struct owner;

struct event_log {
	const char *state_home;
	struct session_info about; /* what the header says; the strings are the caller's */
	struct fix_place place;    /* whose settings would allow what is refused */
	int64_t started;           /* in milliseconds */
	struct event_log_hooks hooks;
	struct loop *loop;
	struct loop_source timer;
	int dir, head, fd; /* the directory; the first file, which is locked; the one written to */
	uint64_t size, size_max; /* of the one written to */
	uint64_t events;         /* in it, or accounted for in it */
	uint64_t lost;           /* events that the next line must account for */
	bool failed, torn;       /* said that it failed; a line may be cut short */
	int64_t second;          /* the current one, and the lines of it */
	unsigned in_second;
	struct event_pending pending[EVENTS_PENDING];
	size_t n_pending;
	struct owner *owner; /* who it was last, and what is said of that one */
	char *process;
	struct denial_texts texts; /* what it was last */
	struct cgroup_peaks peaks; /* for the last event */
};

/* Touches nothing. state_home and the strings of about and place must live as long as the log. */
void event_log_init(struct event_log *log, const char *state_home, const struct session_info *about,
		    const struct fix_place *place, const struct event_log_hooks *hooks);
/* Guest of the loop, for the timer that ends a denial's second; NULL before the loop goes. Without a
 * loop a denial is written with the next event after its second. */
void event_log_watch(struct event_log *log, struct loop *loop);

void event_log_network(struct event_log *log, const struct net_event *event);
/* The refusal of an event that is one; strings are the event's. */
void event_network_denial(struct denial *ret, const struct net_event *event);
/* The same with what somebody has found out about it; of a connection that was there, what went over it, too. */
void event_log_network_denial(struct event_log *log, const struct denial *denial,
			      const struct net_event *event);
/* more: further members, or NULL. */
void event_log_denial(struct event_log *log, const struct denial *denial, const char *more,
		      const struct owner *owner);
/* An event of another room's: the members of a JSON object, beginning with "type". Of denials equal
 * ones within a second are counted. owner: who it was; NULL: not known. */
void event_log_members(struct event_log *log, const char *members, bool denied,
		       const struct owner *owner);
/* A refusal whose further members follow from those here: they are asked for when it is a new one. */
struct event_more {
	void (*add)(void *ctx, struct str *body);
	void *ctx;
	unsigned times; /* at once; 0 is 1 */
};
void event_log_refusal(struct event_log *log, const char *members, struct event_more *more,
		       const struct owner *owner);
/* An event that is one sentence: "limit", "warning". */
void event_log_text(struct event_log *log, const char *type, const char *text);
/* A limit that ended the command, as its exit status has it. */
void event_log_exit(struct event_log *log, int status);
/* Writes what waits. Before the session is taken off the list: who follows one that is not there and
 * has no log waits no longer. */
void event_log_flush(struct event_log *log);
/* What the whole sandbox took, as far as that is known. */
void event_log_peaks(struct event_log *log, const struct cgroup_peaks *peaks);
/* The last event, if there is a log, and the end of it. status < 0: the sandbox failed. */
void event_log_close(struct event_log *log, int status);

struct event_log_info {
	struct session_info session; /* pid: of the supervisor that writes it, or 0 */
	int64_t started;             /* in milliseconds */
};

/* The logs that are kept, oldest session first. What a damaged header does not say is "" and 0. */
int event_log_list(struct arena *arena, const char *state_home, struct event_log_info **ret,
		   size_t *ret_len, struct err *err);

/* Reads a log, and goes on where it stopped when there is more. The content may be hostile. */
struct event_reader {
	int dir, fd;
	char id[SESSION_ID_MAX];
	bool second_file, skipping;
	ino_t ino;
	struct str buffer;
	size_t at;
	uint64_t taken; /* bytes of this file */
	uint64_t bad;   /* lines that were skipped */
};

/* dir: STATE/wrapix/log; -ENOENT and no message when there is none. */
int event_log_open_dir(const char *state_home, struct err *err);
/* dir stays the caller's. -ENOENT when there is no such log. */
int event_reader_open(struct event_reader *reader, int dir, const char *id, struct err *err);
/* For tests: one file, whose descriptor it takes over. */
void event_reader_from(struct event_reader *reader, int fd);
/* 1 and the next header or event; 0 at what is the end for now. */
int event_reader_next(struct event_reader *reader, struct json_object **ret);
/* The pid of the supervisor that writes it, 0 when it is complete. Ask before reading to the end. */
pid_t event_reader_writer(const struct event_reader *reader);
/* Takes a last line that has no end for a damaged one. */
void event_reader_finish(struct event_reader *reader);
void event_reader_close(struct event_reader *reader);

/* One line of a log: a header or an event of a version that we know; anything else is -EINVAL. */
int event_parse(const char *line, size_t len, struct json_object **ret);
bool event_is_header(struct json_object *event);
/* Milliseconds since 1970, from "2026-11-15T12:00:00.123Z"; false when it is something else. */
bool event_time_parse(const char *text, int64_t *ret);
void event_time_add(struct str *out, int64_t milliseconds);

/* A line for a person, without its end; safe for a terminal. */
void event_add_text(struct str *out, struct json_object *event);
void event_add_titles(struct str *out);
/* Of a "settings" event what changed; safe for a terminal. */
void event_add_change(struct str *out, struct json_object *event);
/* The same event as JSON, in one line; safe for a terminal too. */
void event_add_json(struct str *out, struct json_object *event);
