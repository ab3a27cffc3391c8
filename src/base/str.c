/* SPDX-License-Identifier: MIT */
/* Growing text, escaping, and the nearest word. */
#include "base/str.h"

#include <string.h>

static void reserve(struct str *str, size_t more)
{
	size_t cap = str->cap ? str->cap : 128;

	while (cap - str->len <= more)
		cap *= 2;
	if (cap == str->cap)
		return;
	str->s = realloc(str->s, cap);
	if (!str->s)
		abort();
	str->cap = cap;
}

void str_addn(struct str *str, const char *s, size_t len)
{
	reserve(str, len);
	if (len)
		memcpy(str->s + str->len, s, len);
	str->len += len;
	str->s[str->len] = '\0';
}

void str_add(struct str *str, const char *s)
{
	str_addn(str, s, strlen(s));
}

void str_addf(struct str *str, const char *fmt, ...)
{
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len > 0) {
		reserve(str, (size_t)len + 1);
		vsnprintf(str->s + str->len, (size_t)len + 1, fmt, ap);
		str->len += (size_t)len;
	}
	va_end(ap);
}

void str_release(struct str *str)
{
	free(str->s);
	*str = (struct str){ 0 };
}

size_t utf8_next(const char *s, size_t n, uint32_t *ret_cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = n ? (unsigned char)s[0] : 0xff;
	size_t len = first < 0x80 ? 1 : 0;
	uint32_t cp = first;

	if (first >= 0xc0 && first < 0xf8) {
		len = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
		cp = first & (0xffu >> (len + 1));
	}
	for (size_t i = 1; i < len; i++) {
		if (i >= n || (s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if (!len || cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	*ret_cp = cp;
	return len;
}

void str_add_utf8(struct str *out, uint32_t cp)
{
	char b[4];
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; cp >>= 6)
		b[i] = (char)(0x80 | (cp & 0x3f));
	b[0] = (char)(n == 1 ? cp : (0xf00u >> n & 0xff) | cp);
	str_addn(out, b, n);
}

bool utf8_visible(uint32_t cp)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{ 0x00, 0x1f },        { 0x7f, 0x9f },       { 0xad, 0xad },
		{ 0x61c, 0x61c },      { 0x115f, 0x1160 },   { 0x180b, 0x180f },
		{ 0x200b, 0x200f },    { 0x2028, 0x202e },   { 0x2060, 0x206f },
		{ 0x3164, 0x3164 },    { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },    { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (cp >= hidden[i].first && cp <= hidden[i].last)
			return false;
	return true;
}

static void add_escaped(struct str *str, const char *s, bool quoted)
{
	while (*s) {
		uint32_t cp = 0;
		size_t len = utf8_next(s, SIZE_MAX, &cp);

		if (*s == '\\')
			str_add(str, quoted ? "\\" : "\\\\");
		else if (len && utf8_visible(cp))
			str_addn(str, s, len);
		else
			for (size_t i = 0; i < MAX(len, (size_t)1); i++)
				str_addf(str, "\\x%02x", (unsigned char)s[i]);
		s += MAX(len, (size_t)1);
	}
}

void str_add_escaped(struct str *str, const char *s)
{
	add_escaped(str, s, false);
}

void str_add_quoted(struct str *str, const char *s)
{
	add_escaped(str, s, true);
}

static void add_seen(struct str *str, const char *s, size_t n, bool lines)
{
	for (const char *end = s + n; s < end;) {
		uint32_t cp = 0;
		size_t len = utf8_next(s, (size_t)(end - s), &cp);

		if (*s == '\t' || (*s == '\n' && lines) || (len && utf8_visible(cp)))
			str_addn(str, s, MAX(len, (size_t)1));
		else
			for (size_t i = 0; i < MAX(len, (size_t)1); i++)
				str_addf(str, "\\x%02x", (unsigned char)s[i]);
		s += MAX(len, (size_t)1);
	}
}

void str_add_visible(struct str *str, const char *s, size_t n)
{
	add_seen(str, s, n, true);
}

void str_add_line(struct str *str, const char *s)
{
	add_seen(str, s, strlen(s), false);
}

const char *str_quote(struct str *buf, const char *s)
{
	enum { LONGEST = 120 };
	char cut[LONGEST + 1];

	snprintf(cut, sizeof(cut), "%s", s);
	buf->len = 0;
	str_add(buf, "'");
	str_add_escaped(buf, cut);
	str_add(buf, strlen(s) > LONGEST ? "...'" : "'");
	return buf->s;
}

void str_add_shell(struct str *str, const char *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@+,-%";

	if (*s && !s[strspn(s, plain)]) {
		str_add(str, s);
		return;
	}
	str_add(str, "'");
	for (; *s; s++) {
		if (*s == '\'')
			str_add(str, "'\\''");
		else
			str_addn(str, s, 1);
	}
	str_add(str, "'");
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

size_t str_distance(const char *a, const char *b)
{
	size_t row[64], la = strlen(a), lb = strlen(b);

	if (la >= ARRAY_LEN(row) || lb >= ARRAY_LEN(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t change = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[lb];
}

const char *str_nearest(const char *word, const char *const *words, size_t n)
{
	size_t best = strlen(word) / 3 + 2;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t distance = str_distance(word, words[i]);

		if (distance < best) {
			best = distance;
			found = words[i];
		}
	}
	return found;
}

void str_add_shell_words(struct str *str, char *const *words)
{
	for (size_t i = 0; words && words[i]; i++) {
		str_add(str, i ? " " : "");
		str_add_shell(str, words[i]);
	}
}

void str_add_markup(struct str *str, const char *s)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = { { '&', "&amp;" },
			 { '<', "&lt;" },
			 { '>', "&gt;" },
			 { '"', "&quot;" },
			 { '\'', "&#39;" } };

	for (; *s; s++) {
		size_t i = 0;

		while (i < ARRAY_LEN(entities) && entities[i].c != *s)
			i++;
		if (i < ARRAY_LEN(entities))
			str_add(str, entities[i].entity);
		else
			str_addn(str, s, 1);
	}
}
