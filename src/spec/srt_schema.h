/* SPDX-License-Identifier: MIT */
/*
 * The shape of a SandboxRuntimeConfig as tables, and the check of a text against them; for srt.c.
 * The words of the messages are those that scripts written for sandbox-runtime 0.0.83 look for.
 */
#pragma once

#include "base/json_span.h"

/* What is wrong with the text of a string, or NULL. */
typedef const char *srt_check_fn(const char *text);
/* The same for a whole value of the right form. */
typedef const char *srt_refine_fn(const struct json_doc *doc, const struct json_span *span);

enum srt_kind {
	SRT_OBJECT,
	SRT_RECORD, /* an object of any keys */
	SRT_ARRAY,
	SRT_BOOL,
	SRT_INT,
	SRT_STRING,
	SRT_ENUM,
	SRT_PATH, /* a string, or {"path": ..., "literal": true} */
	SRT_SIZE, /* ours: a number, or a string like "4G" */
	SRT_FUNCTION,
};

struct srt_key;

struct srt_type {
	enum srt_kind kind;
	bool strict;                /* SRT_OBJECT: no other keys than these */
	long min, max;              /* of the number; of an array's length, where max is not 0 */
	const char *empty;          /* what is said of an empty string; NULL: nothing */
	srt_check_fn *check;        /* SRT_STRING */
	srt_refine_fn *refine;      /* SRT_OBJECT, SRT_ARRAY */
	const struct srt_key *keys; /* SRT_OBJECT; ends with a NULL name */
	const struct srt_type *of;  /* SRT_RECORD, SRT_ARRAY */
	const char *const *words;   /* SRT_ENUM; NULL-terminated */
};

enum srt_key_flags {
	SRT_REQUIRED = 1 << 0,
	SRT_REFUSED =
		1 << 1, /* not built: asking for it is an error; false and [] ask for nothing */
	/* Accepted, with nothing to do for it; and why: */
	SRT_UNUSED = 1 << 2,  /* our engine needs no such thing */
	SRT_MACOS = 1 << 3,   /* it is for macOS */
	SRT_WINDOWS = 1 << 4, /* it is for Windows */
	SRT_ALWAYS = 1 << 5,  /* it is so in any case */
	SRT_MASK = 1 << 6,    /* it goes with the mode 'mask', which is refused */
};

/* What becomes of a key, in the words of srt(1): "enforced", "refused", or why it has no effect. */
const char *srt_key_state(unsigned flags);

struct srt_key {
	const char *name;
	const struct srt_type *type;
	unsigned flags;
};

extern const struct srt_type srt_config_type;

/* What was found: issues as "key.path: message; ...", and the dotted names of keys that are unknown,
 * refused or unused. */
struct srt_findings {
	struct arena *arena;
	struct str issues;
	struct strv unknown, nearest, refused, unused; /* nearest: one for each unknown, or "" */
	struct strv states;                            /* one for each unused */
};

/* The shape of the whole text. */
void srt_check(const struct json_doc *doc, struct srt_findings *findings);
/* What one key forbids another; only for a text whose shape is right. */
void srt_check_across(const struct json_doc *doc, struct srt_findings *findings);
void srt_add_issue(struct srt_findings *findings, const char *path, const char *fmt, ...)
	_printf_(3, 4);

/* The value of a number, however it is written: 8e3 is 8000. Infinite where it is beyond all. */
double srt_number(const struct json_doc *doc, const struct json_span *span);

/* The checks of strings. */
const char *srt_check_allowed(const char *text);
const char *srt_check_denied(const char *text);
const char *srt_check_domain(const char *text);
const char *srt_check_address(const char *text);
const char *srt_check_env_name(const char *text);
const char *srt_check_url(const char *text);
const char *srt_check_absolute(const char *text);
const char *srt_check_uuid(const char *text);
const char *srt_check_mach(const char *text);
const char *srt_check_user(const char *text);

/* Every host that the pattern inner covers is covered by one of the patterns. */
bool srt_domain_covered(const struct strv *patterns, const char *inner);
