/* SPDX-License-Identifier: MIT */
/*
 * The words of JSON: space and comments, strings, numbers, commas. The text may be an attacker's.
 * Every failure goes through json_lex_fail_at(), which counts the line and column only then.
 */
#include "base/json_lex.h"

#include <string.h>

/* Where p stands, counted in characters as editors do. */
int json_lex_fail_at(struct json_lex *r, const char *p, const char *what)
{
	_cleanup_str_ struct str origin = { 0 };
	size_t line = 1, column = 1;

	for (const char *q = r->text; q < p; q++) {
		if (*q == '\n') {
			line++;
			column = 1;
		} else if ((*q & 0xc0) != 0x80) {
			column++;
		}
	}
	str_add_escaped(&origin, r->origin);
	return err_usage(r->err, "%s:%zu:%zu: %s", origin.s ? origin.s : "", line, column, what);
}

int json_lex_fail(struct json_lex *r, const char *what)
{
	return json_lex_fail_at(r, r->p, r->p < r->end ? what : "the text ends too early");
}

bool json_lex_at(const struct json_lex *r, char c)
{
	return r->p < r->end && *r->p == c;
}

bool json_lex_take(struct json_lex *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len))
		return false;
	r->p += len;
	return true;
}

int json_lex_space(struct json_lex *r)
{
	for (;;) {
		const char *start;

		while (r->p < r->end && memchr(" \t\r\n", *r->p, 4))
			r->p++;
		start = r->p;
		if (json_lex_take(r, "//")) {
			const char *eol = memchr(r->p, '\n', (size_t)(r->end - r->p));

			r->p = eol ? eol : r->end;
		} else if (json_lex_take(r, "/*")) {
			const char *close = memmem(r->p, (size_t)(r->end - r->p), "*/", 2);

			if (!close)
				return json_lex_fail_at(r, start, "a comment that does not end");
			r->p = close + 2;
		} else {
			return 0;
		}
	}
}

static int read_hex4(struct json_lex *r, uint32_t *ret)
{
	uint32_t cp = 0;

	for (int i = 0; i < 4; i++, r->p++) {
		static const char digits[] = "0123456789abcdef";
		const char *d;

		if (r->p >= r->end)
			return json_lex_fail(r, "");
		d = memchr(digits, *r->p >= 'A' && *r->p <= 'F' ? *r->p + 32 : *r->p, 16);
		if (!d)
			return json_lex_fail(r, "'\\u' needs four hexadecimal digits");
		cp = cp << 4 | (uint32_t)(d - digits);
	}
	*ret = cp;
	return 0;
}

/* The four digits after '\u', and the second half of a surrogate pair. */
static int read_unicode(struct json_lex *r, struct str *out)
{
	const char *start = r->p - 2;
	uint32_t cp = 0, low = 0;
	int ret = read_hex4(r, &cp);

	if (ret < 0)
		return ret;
	if (cp == 0)
		return json_lex_fail_at(r, start, "a string cannot hold the NUL character");
	if (cp >= 0xdc80 && cp <= 0xdcff) {
		char byte = (char)(cp & 0xff);

		str_addn(out, &byte, 1);
		return 0;
	}
	if (cp >= 0xd800 && cp < 0xdc00 && json_lex_take(r, "\\u")) {
		ret = read_hex4(r, &low);
		if (ret < 0)
			return ret;
		if (low >= 0xdc00 && low < 0xe000)
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
	}
	if (cp >= 0xd800 && cp < 0xe000)
		return json_lex_fail_at(r, start, "half of a surrogate pair");
	str_add_utf8(out, cp);
	return 0;
}

static int read_escape(struct json_lex *r, struct str *out)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found;

	r->p++;
	if (r->p >= r->end)
		return json_lex_fail(r, "");
	if (json_lex_take(r, "u"))
		return read_unicode(r, out);
	found = memchr(names, *r->p, sizeof(names) - 1);
	if (!found)
		return json_lex_fail(r, "an unknown escape in a string");
	str_addn(out, bytes + (found - names), 1);
	r->p++;
	return 0;
}

int json_lex_string(struct json_lex *r, struct str *out)
{
	const char *start = r->p++;

	str_add(out, "");
	while (!json_lex_at(r, '"')) {
		const char *run = r->p;

		while (r->p < r->end && !memchr("\"\\\n\r\t", *r->p, 5))
			r->p++;
		str_addn(out, run, (size_t)(r->p - run));
		if (r->p >= r->end || *r->p == '\n' || *r->p == '\r')
			return json_lex_fail_at(r, start, "a string that does not end");
		if (*r->p == '\t')
			return json_lex_fail(r, "a tab in a string; write it as \\t");
		if (*r->p == '\\') {
			int ret = read_escape(r, out);

			if (ret < 0)
				return ret;
		}
	}
	r->p++;
	return 0;
}

static size_t skip_digits(struct json_lex *r)
{
	const char *start = r->p;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return (size_t)(r->p - start);
}

int json_lex_number(struct json_lex *r, bool *ret_whole)
{
	const char *start = r->p, *digits;

	(void)json_lex_take(r, "-");
	digits = r->p;
	if (!skip_digits(r))
		return json_lex_fail(r, "a number needs a digit here");
	if (*digits == '0' && r->p - digits > 1)
		return json_lex_fail_at(r, start, "a number cannot begin with 0");
	*ret_whole = true;
	if (json_lex_take(r, ".")) {
		*ret_whole = false;
		if (!skip_digits(r))
			return json_lex_fail(r, "a number needs a digit here");
	}
	if (json_lex_take(r, "e") || json_lex_take(r, "E")) {
		*ret_whole = false;
		if (!json_lex_take(r, "+"))
			(void)json_lex_take(r, "-");
		if (!skip_digits(r))
			return json_lex_fail(r, "a number needs a digit here");
	}
	return 0;
}

int json_lex_next(struct json_lex *r, char close, bool *ret_more)
{
	int ret = json_lex_space(r);

	if (ret < 0)
		return ret;
	*ret_more = json_lex_take(r, ",");
	if (!*ret_more && !json_lex_at(r, close))
		return json_lex_fail(r,
				     close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
	ret = json_lex_space(r);
	if (ret == 0 && *ret_more && json_lex_at(r, close)) {
		if (!r->trailing_commas)
			return json_lex_fail(r, "a comma after the last element");
		*ret_more = false;
	}
	return ret;
}

/* UTF-8 throughout, and no control byte but those of a text file. */
static int check_bytes(struct json_lex *r)
{
	const char *start = r->p;

	while (r->p < r->end) {
		uint32_t cp = 0;
		size_t n = utf8_next(r->p, (size_t)(r->end - r->p), &cp);

		if (!n)
			return json_lex_fail(r, "a byte that is not UTF-8");
		if ((cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r') || cp == 0x7f)
			return json_lex_fail(
				r, "a control character; in a string write it as \\uXXXX");
		r->p += n;
	}
	r->p = start;
	return 0;
}

int json_lex_begin(struct json_lex *r, size_t max)
{
	int ret;

	if ((size_t)(r->end - r->p) > max) {
		char what[48];

		snprintf(what, sizeof(what), "larger than %zu MiB", max >> 20);
		r->end = r->text;
		return json_lex_fail_at(r, r->text, what);
	}
	(void)json_lex_take(r, "\xef\xbb\xbf"); /* some editors put a byte order mark first */
	ret = check_bytes(r);
	return ret < 0 ? ret : json_lex_space(r);
}

int json_lex_end(struct json_lex *r)
{
	int ret = json_lex_space(r);

	if (ret == 0 && r->p < r->end)
		return json_lex_fail(r, "something stands after the end");
	return ret;
}
