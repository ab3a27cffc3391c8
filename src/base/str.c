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

/* The length of the well-formed UTF-8 sequence at s, 0 where there is none; ret_cp is its code point. */
static size_t utf8_sequence(const unsigned char *s, uint32_t *ret_cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t cp = len > 1 ? s[0] & (0xffu >> (len + 1)) : s[0];

	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if (!len || cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	*ret_cp = cp;
	return len;
}

static bool harmless(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == '\\')
		return false;
	/* Bidirectional overrides, isolates and marks reorder what a person reads. */
	return cp != 0x61c && !(cp >= 0x200e && cp <= 0x200f) && !(cp >= 0x2028 && cp <= 0x202e) &&
	       !(cp >= 0x2066 && cp <= 0x2069) && cp != 0xfeff;
}

void str_add_escaped(struct str *str, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		uint32_t cp = 0;
		size_t len = utf8_sequence(p, &cp);

		if (len && harmless(cp))
			str_addn(str, (const char *)p, len);
		else if (*p == '\\')
			str_add(str, "\\\\");
		else
			for (size_t i = 0; i < MAX(len, (size_t)1); i++)
				str_addf(str, "\\x%02x", p[i]);
		p += MAX(len, (size_t)1);
	}
}

void str_add_shell(struct str *str, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@+,-%";

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
