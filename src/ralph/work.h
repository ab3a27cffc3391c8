/* SPDX-License-Identifier: MIT */
/* What every command of ralph works with, and what sessions of agents are started from. */
#pragma once

#include "cow/cow.h"
#include "ralph/attempts.h"
#include "ralph/config.h"
#include "ralph/process.h"
#include "ralph/site.h"
#include "ralph/stream.h"
#include "ralph/template.h"
#include "spec/agent.h"

struct work;

/* Who watches: the command line. */
struct work_view {
	/* A line of an agent's; who is the item's id or the phase. */
	void (*act)(void *ctx, const char *who, enum act act, const char *text);
	/* Something that happened, for the user. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

struct work {
	struct arena arena;
	struct site site;
	struct ralph_config config;
	struct db db;
	struct template_source templates;
	struct agent agent; /* of the table; for a program of the user's own only its name */
	const struct dialect *dialect;
	struct work_view view;
	bool host;          /* gates, hooks and trials run on the host */
	const void *lander; /* who is taking a step over (land.h); NULL: nobody here */
	int landing_lock;   /* its lock, among all processes */
};

/* The project, its configuration and its database, which is brought up to date. agent NULL: as configured. */
int work_open(struct work *work, const char *agent, struct err *err);
void work_close(struct work *work);
/* Brings the tasks' other place up to date, both ways: the export, or beads where the project has it. */
int work_export(struct work *work, struct err *err);

/* The feature that is meant: named, or the one in use. */
int work_feature(struct work *work, const char *name, struct feature *ret, struct err *err);
/* --host: only for a wrapix.json that the user has accepted. */
int work_use_host(struct work *work, struct err *err);

void work_say(const struct work *work, const char *fmt, ...) _printf_(2, 3);

/* The spec as a path on the host, in the arena, and as the agent sees it. */
char *work_spec_path(const struct work *work, struct arena *arena, const struct feature *feature);
const char *work_spec_inside(struct arena *arena, const struct feature *feature);
int work_read_spec(const struct work *work, const struct feature *feature, char **ret,
		   size_t *ret_len, struct err *err);
/* The text that every agent is given, or a word that there is none. */
char *work_pinned(const struct work *work, struct arena *arena);

/* A file in the state directory: "logs/12.jsonl". */
char *work_file(const struct work *work, struct arena *arena, const char *fmt, ...) _printf_(3, 4);
int work_write(const struct work *work, const char *name, const char *text, size_t len,
	       struct err *err);
/* Without waiting for the disk: for what can do without it after a crash of the machine. */
int work_write_soon(const struct work *work, const char *name, const char *text, size_t len,
		    struct err *err);

/* The name of a step's copy-on-write session. */
char *work_session_name(const struct work *work, struct arena *arena, int64_t attempt);
/* Opens it, locked and with its project; 0: there is none, 1: there is. */
int work_open_session(const struct work *work, const char *name, struct cow *ret, struct err *err);
/* Removes it, where there is one. */
int work_discard(const struct work *work, const char *name, struct err *err);

/* A message on the desktop, the way sandboxes send them. It costs nothing where it cannot be sent. */
void work_notify(const struct work *work, const char *title, const char *text);
