/* SPDX-License-Identifier: MIT */
/* Growing text, and the escaping that hostile text gets before a terminal sees it. */
#pragma once

#include <stdarg.h>

#include "base/util.h"

struct str {
	char *s; /* NUL-terminated once anything was added */
	size_t len, cap;
};

void str_add(struct str *str, const char *s);
void str_addn(struct str *str, const char *s, size_t len);
void str_addf(struct str *str, const char *fmt, ...) _printf_(2, 3);
void str_release(struct str *str);
#define _cleanup_str_ _cleanup_(str_release)

/* The length of the well-formed UTF-8 sequence at s, of which n bytes may be read (or up to a NUL);
 * 0 where there is none. */
size_t utf8_next(const char *s, size_t n, uint32_t *ret_cp);

/* Adds a code point as UTF-8. */
void str_add_utf8(struct str *str, uint32_t cp);

/* False for what a terminal obeys or a reader cannot see: controls, bidirectional overrides,
 * zero-width and tag characters. */
bool utf8_visible(uint32_t cp);

/* Adds s with what is not visible and invalid UTF-8 as \xNN, and '\' doubled. */
void str_add_escaped(struct str *str, const char *s);
/* The same of a command line that is quoted for a shell: that reads its backslashes, and they stay as they are. */
void str_add_quoted(struct str *str, const char *s);
/* For HTML and its like: & < > and both quotes become entities. */
void str_add_markup(struct str *str, const char *s);

/* Adds n bytes of a text for a terminal: what is not visible as \xNN; tabs and newlines stay. */
void str_add_visible(struct str *str, const char *s, size_t n);
/* The same for a message, which is one line: newlines as \x0a. For eyes only: '\' stays as it is, since names
 * in a message are escaped already, and a line of a program is to look like itself. */
void str_add_line(struct str *str, const char *s);

/* What a message shows of a text somebody else wrote: in quotes, escaped, shortened. Returns buf->s,
 * which it replaces. */
const char *str_quote(struct str *buf, const char *s);

/* Adds s as one word a POSIX shell reads back: bare where possible, else in single quotes. */
void str_add_shell(struct str *str, const char *s);
/* Several, with blanks between; words is NULL or NULL-terminated. */
void str_add_shell_words(struct str *str, char *const *words);

bool str_starts(const char *s, const char *prefix);

/* The edit distance used for "did you mean". */
size_t str_distance(const char *a, const char *b);
/* The nearest of n words, or NULL when none is near enough to be meant. */
const char *str_nearest(const char *word, const char *const *words, size_t n);
