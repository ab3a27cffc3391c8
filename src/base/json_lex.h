/* SPDX-License-Identifier: MIT */
/*
 * The words of JSON with comments, for the two readers: json.c, which builds values, and
 * json_span.c, which remembers where each one stands. Each call returns 0 or a usage error that
 * begins "origin:line:column: ".
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct json_lex {
	const char *text, *p, *end; /* the whole, where we stand, its end */
	const char *origin;
	unsigned depth;
	bool trailing_commas; /* are fine */
	struct err *err;
};

/* At most max bytes, UTF-8 throughout, no control bytes; stops at the value. */
int json_lex_begin(struct json_lex *r, size_t max);
/* Nothing but space and comments is left. */
int json_lex_end(struct json_lex *r);

bool json_lex_at(const struct json_lex *r, char c);
bool json_lex_take(struct json_lex *r, const char *word);
int json_lex_space(struct json_lex *r); /* white space and comments */

/* The string whose opening quote is next, decoded. */
int json_lex_string(struct json_lex *r, struct str *out);
/* Passes over a number; *ret_whole is false where a fraction or an exponent stands. */
int json_lex_number(struct json_lex *r, bool *ret_whole);
/* After an element: takes the comma, or leaves the closing bracket. */
int json_lex_next(struct json_lex *r, char close, bool *ret_more);

/* "origin:line:column: what" of the place p, counted in characters as editors do. */
int json_lex_fail_at(struct json_lex *r, const char *p, const char *what);
int json_lex_fail(struct json_lex *r, const char *what);
