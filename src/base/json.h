/* SPDX-License-Identifier: MIT */
/*
 * JSON: a strict reader with comments for files that people write and attackers plant, getters that
 * say where a wrong value stands, and the one function that writes a string.
 *
 * The reader builds json-c's objects and does not use json-c's parser, which takes more than JSON
 * (single quotes, NaN, TRUE, a key twice) and cannot say where a mistake is.
 *
 * Bytes: a file must be UTF-8, but a path may hold any byte. A byte that is not part of UTF-8 is
 * written as a lone surrogate, \udc80 to \udcff for 0x80 to 0xff (as Python's "surrogateescape"
 * does), and the reader turns that back into the byte, so no name is lost on the way.
 */
#pragma once

#include <json-c/json_object.h>
#include <json-c/linkhash.h> /* json_object_object_foreach needs it */

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define JSON_MAX_SIZE ((size_t)1 << 20)
#define JSON_MAX_DEPTH 32

/*
 * Reads one value of at most JSON_MAX_SIZE bytes and JSON_MAX_DEPTH levels. Comments of both forms
 * are fine. Refused: anything after the value, a key that stands twice, NUL in a string, invalid
 * UTF-8, a number that does not fit. The message begins "origin:line:column: ". *ret is NULL for
 * 'null', else the caller's to json_object_put().
 */
int json_parse(const char *text, size_t len, const char *origin, struct json_object **ret,
	       struct err *err);

/* The same with another limit to the size. */
int json_parse_max(const char *text, size_t len, size_t max, const char *origin,
		   struct json_object **ret, struct err *err);

static inline void json_put_ptr(struct json_object **obj)
{
	json_object_put(*obj);
}
#define _cleanup_json_ _cleanup_(json_put_ptr)

/* Where a value stands: a chain on the stack that ends in "mounts[2].mode". */
struct json_at {
	const struct json_at *up; /* NULL at the top */
	const char *key;          /* NULL: an element of an array */
	size_t index;
};
#define JSON_KEY(parent, name) (&(struct json_at){ .up = (parent), .key = (name) })
#define JSON_INDEX(parent, i) (&(struct json_at){ .up = (parent), .index = (i) })

void json_at_add(struct str *out, const struct json_at *at);

/* "mounts[2].mode: must be WHAT, not 7"; the value is shortened and escaped. */
int json_err_type(const struct json_at *at, struct json_object *value, const char *what,
		  struct err *err);
/* "mounts[2].mdoe: unknown key" and, in the hint, the nearest of the n words, or all of them. */
int json_err_key(const struct json_at *at, const char *const *words, size_t n, struct err *err);

/* The string lives as long as the value. */
int json_get_string(const struct json_at *at, struct json_object *value, const char **ret,
		    struct err *err);
int json_get_bool(const struct json_at *at, struct json_object *value, bool *ret, struct err *err);
/* A list of strings, added to *ret. */
int json_get_strings(struct arena *arena, const struct json_at *at, struct json_object *value,
		     struct strv *ret, struct err *err);
/* Which of the n words the key is at which 'at' ends. */
int json_find_key(const struct json_at *at, const char *const *words, size_t n, size_t *ret,
		  struct err *err);
int json_check_type(const struct json_at *at, struct json_object *value, enum json_type type,
		    struct err *err);

/* The member of what may or may not be an object; NULL: it has none that is a string. */
const char *json_text(struct json_object *object, const char *key);

/* Adds s with its quotes as a JSON string; controls and what a terminal would hide are \u escapes,
 * so the text is also safe to look at. */
void json_add_string(struct str *out, const char *s);
/* A list of strings. */
void json_add_strings(struct str *out, const struct strv *list);
/* Adds "key": to an object that is being written, with a comma where one belongs. */
void json_add_key(struct str *out, const char *key);
/* A whole member; nothing where the value is NULL. */
void json_add_member(struct str *out, const char *key, const char *value);
void json_add_count(struct str *out, const char *key, uint64_t value);
