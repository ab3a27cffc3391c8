/* SPDX-License-Identifier: MIT */
/*
 * What an agent without a terminal prints: one JSON object a line, in the agent's own dialect. Everything
 * here comes from inside a sandbox: a line that is not understood is counted and passed over.
 */
#pragma once

#include "base/str.h"

/* What a line tells, for who watches. */
enum act {
	ACT_TEXT,     /* the agent speaks */
	ACT_THINKING, /* to itself */
	ACT_TOOL,     /* it uses a tool: "Bash make test" */
	ACT_RESULT,   /* what the tool said */
	ACT_ERROR,    /* the tool failed, or the agent did */
	ACT_END,      /* a result record: it believes that it is done */
	ACT_NOISE,    /* not a line of the dialect */
};

/* text is one line of at most ACT_TEXT_MAX bytes, not yet escaped. */
#define ACT_TEXT_MAX 200
typedef void stream_fn(void *ctx, enum act act, const char *text);

struct dialect;
/* "claude", "codex", "gemini", "opencode"; NULL: there is none of that name. */
const struct dialect *dialect_find(const char *name);

struct stream {
	const struct dialect *dialect;
	stream_fn *show; /* may be NULL */
	void *ctx;
	struct str final;  /* what the last result record or message said */
	struct str errors; /* the last errors of tools and its own, for the next try */
	bool ended;        /* a result record came */
	bool failed;       /* and it said that the agent itself failed */
	bool over_budget;  /* ... because the money ran out */
	double cost;       /* in dollars, as far as the agent says */
	uint64_t tokens_in, tokens_out;
	uint64_t records, noise;
};

/* A whole line, or NULL and the length of one that was too long. */
void stream_line(struct stream *stream, const char *line, size_t len);
void stream_release(struct stream *stream);

/* For the dialects. */
struct json_object;
void stream_show(struct stream *stream, enum act act, const char *prefix, const char *text);
void stream_error(struct stream *stream, const char *text);
struct json_object *stream_get(struct json_object *object, const char *key);
uint64_t stream_count(struct json_object *object, const char *key);
double stream_number(struct json_object *object, const char *key);

struct dialect {
	const char *name;
	/* False for a record that it does not know. */
	bool (*record)(struct stream *stream, const char *type, struct json_object *record);
	bool ends_by_exit; /* there is no result record: the last message is the result */
};
extern const struct dialect dialect_claude, dialect_codex, dialect_gemini, dialect_opencode;
