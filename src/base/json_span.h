/* SPDX-License-Identifier: MIT */
/*
 * JSON that remembers where everything stands: for messages that name the line a value came from,
 * and for changing one value of a person's file without touching any other byte of it.
 *
 * Takes what json.h takes and commas after the last element, which some programs' files have. A
 * key that stands twice is refused: two readers could each believe another one of them.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum json_span_kind {
	JSON_SPAN_NULL,
	JSON_SPAN_FALSE,
	JSON_SPAN_TRUE,
	JSON_SPAN_NUMBER,
	JSON_SPAN_STRING,
	JSON_SPAN_ARRAY,
	JSON_SPAN_OBJECT,
};

struct json_span {
	enum json_span_kind kind;
	uint32_t start, end; /* bytes of the value */
	uint32_t key_start,
		key_end;       /* of its key with the quotes; both 0 in an array or at the top */
	uint32_t line, column; /* of the value, from 1 */
	uint32_t first, next;  /* child, sibling: indices; 0 where there is none */
	uint32_t count;        /* children */
	const char *key;       /* decoded; NULL without one */
	const char *string;    /* a string's value, decoded; NULL for other kinds */
};

struct json_doc {
	struct arena arena;
	char *text; /* a copy */
	size_t len;
	char *origin;
	struct json_span *spans; /* spans[0] is the top */
	size_t n_spans;
	uint32_t counted, line, column; /* where the counting of places has come to */
};

enum { JSON_SPAN_MAX = 500000 }; /* values in one text */

/* Reads a text of at most max bytes. doc is to be released, whatever is returned. */
int json_doc_parse(struct json_doc *doc, const char *text, size_t len, size_t max,
		   const char *origin, struct err *err);
void json_doc_release(struct json_doc *doc);
#define _cleanup_json_doc_ _cleanup_(json_doc_release)

static inline const struct json_span *json_doc_top(const struct json_doc *doc)
{
	return &doc->spans[0];
}

/* The member of that name; NULL when there is none, or span is NULL or no object. */
const struct json_span *json_span_get(const struct json_doc *doc, const struct json_span *span,
				      const char *key);
/* Children in order: for (c = json_span_first(doc, s); c; c = json_span_next(doc, c)). */
const struct json_span *json_span_first(const struct json_doc *doc, const struct json_span *span);
const struct json_span *json_span_next(const struct json_doc *doc, const struct json_span *span);

/* The value as it is written, in the arena; shortened to max bytes when that is not 0. */
char *json_span_text(struct arena *arena, const struct json_doc *doc, const struct json_span *span,
		     size_t max);
/* Adds the value again on one line, without the comments in it. */
void json_span_add(struct str *out, const struct json_doc *doc, const struct json_span *span);
/* "a list", "true or false", ...: what kind of thing it is, for messages. */
const char *json_span_phrase(const struct json_span *span);

/*
 * Writes the text to out with the value at keys[0].keys[1]... replaced by 'value', which is JSON.
 * What is missing on the way is added as the text's own style has it: after the last member, with
 * its indentation. Every other byte stays. Fails where something on the way is no object.
 */
int json_doc_set(const struct json_doc *doc, const char *const *keys, size_t n, const char *value,
		 struct str *out, struct err *err);
/* The same with an element added at the end of the list there, which is made when missing. */
int json_doc_append(const struct json_doc *doc, const char *const *keys, size_t n,
		    const char *value, struct str *out, struct err *err);
