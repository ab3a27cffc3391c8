/* SPDX-License-Identifier: MIT */
/* JSON from front to back. Every byte may be an attacker's; nothing is written past what was given. */
#include "notify/scan.h"

#include <string.h>

#include "base/str.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define DEPTH_MAX 32

void scan_init(struct scan *s, const char *text, size_t len)
{
	*s = (struct scan){ .at = text, .end = text + len };
}

static void skip_space(struct scan *s)
{
	while (s->at < s->end && memchr(" \t\r\n", *s->at, 4))
		s->at++;
}

/* Takes c, after white space; false leaves the scan as it was. */
static bool take(struct scan *s, char c)
{
	skip_space(s);
	if (s->bad || s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool fail(struct scan *s)
{
	s->bad = true;
	return false;
}

bool scan_open(struct scan *s, char bracket)
{
	if (!take(s, bracket))
		return fail(s);
	return !take(s, bracket == '{' ? '}' : ']');
}

bool scan_next(struct scan *s, char closing)
{
	if (take(s, ','))
		return true;
	return take(s, closing) ? false : fail(s);
}

char scan_kind(struct scan *s)
{
	skip_space(s);
	if (s->bad || s->at == s->end)
		return 0;
	if (*s->at == '-' || (*s->at >= '0' && *s->at <= '9'))
		return '0';
	return (char)(memchr("\"{[tfn", *s->at, 6) ? *s->at : '\0');
}

/* Where decoded text goes: as much as fits, and room for the ellipsis is kept. */
struct sink {
	char *buf;
	size_t size, len;
	size_t fits; /* the length at which an ellipsis can still follow */
	bool cut;
};

static void sink_add(struct sink *k, const char *bytes, size_t n)
{
	if (k->cut || k->len + n + 1 > k->size) {
		k->cut = true;
		return;
	}
	memcpy(k->buf + k->len, bytes, n);
	k->len += n;
	if (k->len + sizeof(ELLIPSIS) <= k->size)
		k->fits = k->len;
}

static void sink_add_cp(struct sink *k, uint32_t cp)
{
	char b[4];

	if (cp == 0 || (cp >= 0xd800 && cp < 0xe000))
		cp = 0xfffd;
	if (cp < 0x80) {
		b[0] = (char)cp;
		sink_add(k, b, 1);
	} else if (cp < 0x800) {
		b[0] = (char)(0xc0 | cp >> 6);
		b[1] = (char)(0x80 | (cp & 0x3f));
		sink_add(k, b, 2);
	} else if (cp < 0x10000) {
		b[0] = (char)(0xe0 | cp >> 12);
		b[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		b[2] = (char)(0x80 | (cp & 0x3f));
		sink_add(k, b, 3);
	} else {
		b[0] = (char)(0xf0 | cp >> 18);
		b[1] = (char)(0x80 | (cp >> 12 & 0x3f));
		b[2] = (char)(0x80 | (cp >> 6 & 0x3f));
		b[3] = (char)(0x80 | (cp & 0x3f));
		sink_add(k, b, 4);
	}
}

static void sink_end(struct sink *k)
{
	if (!k->size)
		return;
	if (k->cut && k->size >= sizeof(ELLIPSIS)) {
		memcpy(k->buf + k->fits, ELLIPSIS, sizeof(ELLIPSIS));
		return;
	}
	k->buf[k->len] = '\0';
}

/* Four digits after "\u"; -1 where there are none. */
static long hex4(const char *p, const char *end)
{
	long value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *d = memchr(digits, p[i] >= 'A' && p[i] <= 'F' ? p[i] | 32 : p[i], 16);

		if (!d)
			return -1;
		value = value << 4 | (d - digits);
	}
	return value;
}

/* After "\u"; takes both halves of a pair. */
static bool unicode(struct scan *s, struct sink *k)
{
	long cp = hex4(s->at, s->end), low;

	if (cp < 0)
		return fail(s);
	s->at += 4;
	if (cp >= 0xd800 && cp < 0xdc00 && s->end - s->at >= 6 && !memcmp(s->at, "\\u", 2)) {
		low = hex4(s->at + 2, s->end);
		if (low >= 0xdc00 && low < 0xe000) {
			s->at += 6;
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	sink_add_cp(k, (uint32_t)cp);
	return true;
}

/* After the backslash. */
static bool escape(struct scan *s, struct sink *k)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (s->at == s->end)
		return fail(s);
	if (*s->at == 'u') {
		s->at++;
		return unicode(s, k);
	}
	found = memchr(letters, *s->at, sizeof(letters) - 1);
	if (!found)
		return fail(s);
	s->at++;
	sink_add_cp(k, (unsigned char)bytes[found - letters]);
	return true;
}

static bool string(struct scan *s, struct sink *k)
{
	if (!take(s, '"'))
		return fail(s);
	while (s->at < s->end && *s->at != '"') {
		uint32_t cp = 0;
		size_t n;

		if ((unsigned char)*s->at < 0x20)
			return fail(s);
		if (*s->at == '\\') {
			s->at++;
			if (!escape(s, k))
				return false;
			continue;
		}
		n = utf8_next(s->at, (size_t)(s->end - s->at), &cp);
		sink_add_cp(k, n ? cp : 0xfffd);
		s->at += MAX(n, (size_t)1);
	}
	return take(s, '"') ? true : fail(s);
}

bool scan_key(struct scan *s, char *ret, size_t size)
{
	struct sink k = { .buf = ret, .size = size };
	bool good = !s->bad && string(s, &k) && (take(s, ':') || fail(s));

	if (!good)
		k.len = k.fits = 0, k.cut = false;
	sink_end(&k);
	return good;
}

bool scan_text(struct scan *s, char *ret, size_t size)
{
	struct sink k = { .buf = ret, .size = size };
	bool good;

	ret[0] = '\0';
	if (scan_kind(s) != '"') {
		scan_skip(s);
		return false;
	}
	good = string(s, &k);
	if (!good) /* what was written of it has no end, and may be half a character */
		k.len = k.fits = 0, k.cut = false;
	sink_end(&k);
	return good;
}

static void skip_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n))
		s->bad = true;
	else
		s->at += n;
}

static size_t skip_digits(struct scan *s)
{
	const char *start = s->at;

	while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
		s->at++;
	return (size_t)(s->at - start);
}

static void skip_number(struct scan *s)
{
	if (*s->at == '-')
		s->at++;
	if (s->at < s->end && *s->at == '0')
		s->at++;
	else if (!skip_digits(s))
		s->bad = true;
	if (s->at < s->end && *s->at == '.') {
		s->at++;
		if (!skip_digits(s))
			s->bad = true;
	}
	if (s->at < s->end && (*s->at | 32) == 'e') {
		s->at++;
		if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
			s->at++;
		if (!skip_digits(s))
			s->bad = true;
	}
}

bool scan_number(struct scan *s, int64_t *ret)
{
	bool number = scan_kind(s) == '0', negative = number && *s->at == '-';
	uint64_t value = 0;

	*ret = 0;
	if (number)
		for (const char *p = s->at + negative; p < s->end && *p >= '0' && *p <= '9'; p++)
			value = value * 10 + (uint64_t)(*p - '0');
	scan_skip(s);
	if (!number || s->bad)
		return false;
	*ret = (int64_t)(negative ? -value : value);
	return true;
}

static void skip_value(struct scan *s, unsigned depth);

static void skip_members(struct scan *s, char bracket, unsigned depth)
{
	char closing = bracket == '{' ? '}' : ']';
	char key[8];

	if (depth == DEPTH_MAX) {
		s->bad = true;
		return;
	}
	for (bool more = scan_open(s, bracket); more; more = scan_next(s, closing)) {
		if (bracket == '{' && !scan_key(s, key, sizeof(key)))
			return;
		skip_value(s, depth + 1);
	}
}

static void skip_value(struct scan *s, unsigned depth)
{
	char kind = scan_kind(s);
	struct sink nowhere = { .cut = true };

	switch (kind) {
	case '"':
		string(s, &nowhere);
		break;
	case '{':
	case '[':
		skip_members(s, kind, depth);
		break;
	case '0':
		skip_number(s);
		break;
	case 't':
	case 'f':
	case 'n':
		skip_word(s, kind == 't' ? "true" : kind == 'f' ? "false" : "null");
		break;
	default:
		s->bad = true;
	}
}

void scan_skip(struct scan *s)
{
	skip_value(s, 0);
}

bool scan_end(struct scan *s)
{
	skip_space(s);
	return !s->bad && s->at == s->end;
}
