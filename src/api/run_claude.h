/* SPDX-License-Identifier: MIT */
/*
 * 'wrapix run --settings-from claude': hosts and file rules of Claude Code's settings for a whole
 * session, and whatever they become while it runs. What else the session is given, by wrapix.json, by
 * flags or by 'wrapix allow', stays beside them.
 */
#pragma once

#include "api/claude_policy.h"
#include "engine/engine.h"
#include "session/config_watch.h"
#include "session/events.h"
#include "spec/exec.h"

struct claude_rules;

struct run_claude {
	struct arena arena;
	struct claude_policy policy;
	struct srt_place place;
	struct claude_rules *first;         /* the plan points at them */
	struct claude_rules *later;         /* those in force since; NULL: the first are */
	const struct claude_rules *applied; /* while they are; else NULL */
	struct strv allow, deny;            /* hosts by anybody else at the start */
	struct said_rule {
		char *text;
		bool deny;
	} * said; /* by 'wrapix allow' and 'deny', each host once */
	size_t n_said;
	struct strv own; /* paths of the project that are wrapix's own, or read-only */
	struct config_watch watch;
	struct loop *loop;
	struct engine_live *live;
	const struct plan *plan;
	struct event_log *log;
	void (*on_warning)(void *ctx, const char *text);
	void *ctx;
};

struct run_claude *run_claude_new(const struct claude_where *where);
void run_claude_free(struct run_claude *claude);

/* Reads the settings into the spec, which they must outlive. says: what the user should know. */
int run_claude_load(struct run_claude *claude, struct spec *spec, struct strv *says,
		    struct err *err);

/* Before the sandbox starts. */
void run_claude_begin(struct run_claude *claude, const struct plan *plan, struct event_log *log,
		      void (*on_warning)(void *ctx, const char *text), void *ctx);
/* Hooks of the engine; NULL: it ends. */
void run_claude_loop(struct run_claude *claude, struct loop *loop);
void run_claude_live(struct run_claude *claude, struct engine_live *live);
/* A rule that the user added meanwhile. */
void run_claude_added(struct run_claude *claude, bool deny, const char *rule);

/* The settings that are in force. */
const struct srt_config *run_claude_config(const struct run_claude *claude);
