/* SPDX-License-Identifier: MIT */
/*
 * A strict JSON reader with comments.
 *
 * The text may be an attacker's. Its bytes are checked first (UTF-8, no control bytes), then it is
 * read once by recursive descent, with the depth capped. Every failure goes through fail_at(),
 * which counts the line and column only then.
 */
#include "base/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

struct reader {
	const char *text, *p, *end;
	const char *origin;
	unsigned depth;
	struct err *err;
};

static int read_value(struct reader *r, struct json_object **ret);

/* Where p stands, counted in characters as editors do. */
static int fail_at(struct reader *r, const char *p, const char *what)
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

static int fail(struct reader *r, const char *what)
{
	return fail_at(r, r->p, r->p < r->end ? what : "the text ends too early");
}

static int no_memory(struct reader *r)
{
	return err_errno(r->err, ENOMEM, "reading '%s'", r->origin);
}

static bool at_char(const struct reader *r, char c)
{
	return r->p < r->end && *r->p == c;
}

static bool take(struct reader *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len))
		return false;
	r->p += len;
	return true;
}

/* White space and comments. */
static int skip_space(struct reader *r)
{
	for (;;) {
		const char *start;

		while (r->p < r->end && memchr(" \t\r\n", *r->p, 4))
			r->p++;
		start = r->p;
		if (take(r, "//")) {
			const char *eol = memchr(r->p, '\n', (size_t)(r->end - r->p));

			r->p = eol ? eol : r->end;
		} else if (take(r, "/*")) {
			const char *close = memmem(r->p, (size_t)(r->end - r->p), "*/", 2);

			if (!close)
				return fail_at(r, start, "a comment that does not end");
			r->p = close + 2;
		} else {
			return 0;
		}
	}
}

static int read_hex4(struct reader *r, uint32_t *ret)
{
	uint32_t cp = 0;

	for (int i = 0; i < 4; i++, r->p++) {
		static const char digits[] = "0123456789abcdef";
		const char *d;

		if (r->p >= r->end)
			return fail(r, "");
		d = memchr(digits, *r->p >= 'A' && *r->p <= 'F' ? *r->p + 32 : *r->p, 16);
		if (!d)
			return fail(r, "'\\u' needs four hexadecimal digits");
		cp = cp << 4 | (uint32_t)(d - digits);
	}
	*ret = cp;
	return 0;
}

static void add_utf8(struct str *out, uint32_t cp)
{
	char b[4];
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; cp >>= 6)
		b[i] = (char)(0x80 | (cp & 0x3f));
	b[0] = (char)(n == 1 ? cp : (0xf00u >> n & 0xff) | cp);
	str_addn(out, b, n);
}

/* The four digits after '\u', and the second half of a surrogate pair. */
static int read_unicode(struct reader *r, struct str *out)
{
	const char *start = r->p - 2;
	uint32_t cp, low;
	int ret = read_hex4(r, &cp);

	if (ret < 0)
		return ret;
	if (cp == 0)
		return fail_at(r, start, "a string cannot hold the NUL character");
	if (cp >= 0xdc80 && cp <= 0xdcff) {
		char byte = (char)(cp & 0xff);

		str_addn(out, &byte, 1);
		return 0;
	}
	if (cp >= 0xd800 && cp < 0xdc00 && take(r, "\\u")) {
		ret = read_hex4(r, &low);
		if (ret < 0)
			return ret;
		if (low >= 0xdc00 && low < 0xe000)
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
	}
	if (cp >= 0xd800 && cp < 0xe000)
		return fail_at(r, start, "half of a surrogate pair");
	add_utf8(out, cp);
	return 0;
}

static int read_escape(struct reader *r, struct str *out)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found;

	r->p++;
	if (r->p >= r->end)
		return fail(r, "");
	if (take(r, "u"))
		return read_unicode(r, out);
	found = memchr(names, *r->p, sizeof(names) - 1);
	if (!found)
		return fail(r, "an unknown escape in a string");
	str_addn(out, bytes + (found - names), 1);
	r->p++;
	return 0;
}

/* Reads the string whose opening quote is at r->p. */
static int read_string(struct reader *r, struct str *out)
{
	const char *start = r->p++;

	str_add(out, "");
	while (!at_char(r, '"')) {
		const char *run = r->p;

		while (r->p < r->end && !memchr("\"\\\n\r\t", *r->p, 5))
			r->p++;
		str_addn(out, run, (size_t)(r->p - run));
		if (r->p >= r->end || *r->p == '\n' || *r->p == '\r')
			return fail_at(r, start, "a string that does not end");
		if (*r->p == '\t')
			return fail(r, "a tab in a string; write it as \\t");
		if (*r->p == '\\') {
			int ret = read_escape(r, out);

			if (ret < 0)
				return ret;
		}
	}
	r->p++;
	return 0;
}

static size_t skip_digits(struct reader *r)
{
	const char *start = r->p;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return (size_t)(r->p - start);
}

/* Passes over a number of JSON's grammar; *ret_whole is false where a fraction or exponent stands. */
static int skip_number(struct reader *r, bool *ret_whole)
{
	const char *start = r->p, *digits;

	(void)take(r, "-");
	digits = r->p;
	if (!skip_digits(r))
		return fail(r, "a number needs a digit here");
	if (*digits == '0' && r->p - digits > 1)
		return fail_at(r, start, "a number cannot begin with 0");
	*ret_whole = true;
	if (take(r, ".")) {
		*ret_whole = false;
		if (!skip_digits(r))
			return fail(r, "a number needs a digit here");
	}
	if (take(r, "e") || take(r, "E")) {
		*ret_whole = false;
		if (!take(r, "+"))
			(void)take(r, "-");
		if (!skip_digits(r))
			return fail(r, "a number needs a digit here");
	}
	return 0;
}

static int read_number(struct reader *r, struct json_object **ret)
{
	const char *start = r->p;
	char text[64];
	bool whole;
	size_t len;
	int k = skip_number(r, &whole);

	if (k < 0)
		return k;
	len = (size_t)(r->p - start);
	if (len >= sizeof(text))
		return fail_at(r, start, "a number of too many digits");
	memcpy(text, start, len);
	text[len] = '\0';
	errno = 0;
	if (whole) {
		int64_t n = strtoll(text, NULL, 10);

		if (errno)
			return fail_at(r, start, "a number out of range");
		*ret = json_object_new_int64(n);
	} else {
		/* The program that uses our library may have set a locale with another point. */
		locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		double n = c ? strtod_l(text, NULL, c) : (double)NAN;

		if (c)
			freelocale(c);
		if (!isfinite(n))
			return fail_at(r, start, "a number out of range");
		*ret = json_object_new_double_s(n, text);
	}
	return *ret ? 0 : no_memory(r);
}

/* After an element: takes the comma, or leaves the closing bracket. */
static int next_element(struct reader *r, char close, bool *ret_more)
{
	int ret = skip_space(r);

	if (ret < 0)
		return ret;
	*ret_more = take(r, ",");
	if (!*ret_more && !at_char(r, close))
		return fail(r, close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
	ret = skip_space(r);
	if (ret == 0 && *ret_more && at_char(r, close))
		return fail(r, "a comma after the last element");
	return ret;
}

static int read_array(struct reader *r, struct json_object **ret)
{
	_cleanup_json_ struct json_object *array = json_object_new_array();
	bool more;
	int k;

	if (!array)
		return no_memory(r);
	r->p++;
	k = skip_space(r);
	for (more = !at_char(r, ']'); k == 0 && more;) {
		struct json_object *value = NULL;

		k = read_value(r, &value);
		if (k == 0 && json_object_array_add(array, value) < 0) {
			json_object_put(value);
			k = no_memory(r);
		}
		if (k == 0)
			k = next_element(r, ']', &more);
	}
	if (k < 0)
		return k;
	r->p++;
	*ret = TAKE_PTR(array);
	return 0;
}

static int read_member(struct reader *r, struct json_object *object)
{
	_cleanup_str_ struct str key = { 0 };
	struct json_object *value = NULL;
	const char *start = r->p;
	int ret;

	if (!at_char(r, '"'))
		return fail(r, "expected a key in double quotes");
	ret = read_string(r, &key);
	if (ret < 0)
		return ret;
	if (json_object_object_get_ex(object, key.s, NULL)) {
		_cleanup_str_ struct str what = { 0 };

		str_add(&what, "the key \"");
		str_add_escaped(&what, key.s);
		str_add(&what, "\" stands twice");
		return fail_at(r, start, what.s);
	}
	ret = skip_space(r);
	if (ret == 0 && !take(r, ":"))
		ret = fail(r, "expected ':' after the key");
	if (ret == 0)
		ret = skip_space(r);
	if (ret == 0)
		ret = read_value(r, &value);
	if (ret == 0 &&
	    json_object_object_add_ex(object, key.s, value, JSON_C_OBJECT_ADD_KEY_IS_NEW) < 0) {
		json_object_put(value);
		ret = no_memory(r);
	}
	return ret;
}

static int read_object(struct reader *r, struct json_object **ret)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	bool more;
	int k;

	if (!object)
		return no_memory(r);
	r->p++;
	k = skip_space(r);
	for (more = !at_char(r, '}'); k == 0 && more;) {
		k = read_member(r, object);
		if (k == 0)
			k = next_element(r, '}', &more);
	}
	if (k < 0)
		return k;
	r->p++;
	*ret = TAKE_PTR(object);
	return 0;
}

static int read_word(struct reader *r, struct json_object **ret)
{
	const char *start = r->p;

	*ret = NULL;
	if (take(r, "null"))
		return 0;
	if (!take(r, "true") && !take(r, "false"))
		return fail(r, "expected a value");
	*ret = json_object_new_boolean(*start == 't');
	return *ret ? 0 : no_memory(r);
}

static int read_value(struct reader *r, struct json_object **ret)
{
	int k;

	if (at_char(r, '"')) {
		_cleanup_str_ struct str s = { 0 };

		k = read_string(r, &s);
		if (k < 0)
			return k;
		*ret = json_object_new_string_len(s.s, (int)s.len);
		return *ret ? 0 : no_memory(r);
	}
	if (r->p < r->end && memchr("-0123456789", *r->p, 11))
		return read_number(r, ret);
	if (!at_char(r, '{') && !at_char(r, '['))
		return read_word(r, ret);
	if (++r->depth > JSON_MAX_DEPTH)
		return fail(r, "nested too deeply");
	k = at_char(r, '{') ? read_object(r, ret) : read_array(r, ret);
	r->depth--;
	return k;
}

/* UTF-8 throughout, and no control byte but those of a text file. */
static int check_bytes(struct reader *r)
{
	const char *start = r->p;

	while (r->p < r->end) {
		uint32_t cp = 0;
		size_t n = utf8_next(r->p, (size_t)(r->end - r->p), &cp);

		if (!n)
			return fail(r, "a byte that is not UTF-8");
		if ((cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r') || cp == 0x7f)
			return fail(r, "a control character; in a string write it as \\uXXXX");
		r->p += n;
	}
	r->p = start;
	return 0;
}

int json_parse(const char *text, size_t len, const char *origin, struct json_object **ret,
	       struct err *err)
{
	_cleanup_json_ struct json_object *value = NULL;
	struct reader r = {
		.text = text, .p = text, .end = text + len, .origin = origin, .err = err
	};
	int k;

	if (len > JSON_MAX_SIZE) {
		r.end = text;
		return fail_at(&r, text, "larger than 1 MiB");
	}
	(void)take(&r, "\xef\xbb\xbf"); /* some editors put a byte order mark first */
	k = check_bytes(&r);
	if (k == 0)
		k = skip_space(&r);
	if (k == 0)
		k = read_value(&r, &value);
	if (k == 0)
		k = skip_space(&r);
	if (k == 0 && r.p < r.end)
		k = fail(&r, "something stands after the end");
	if (k == 0)
		*ret = TAKE_PTR(value);
	return k;
}
