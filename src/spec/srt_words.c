/* SPDX-License-Identifier: MIT */
/* The strings of a SandboxRuntimeConfig: which are well-formed, in the exact words of its errors. */
#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "spec/srt_schema.h"

#define DOMAIN_WORDS                                                                             \
	"Invalid domain pattern. Must be a valid domain (e.g., \"example.com\"), a wildcard "    \
	"(e.g., \"*.example.com\"), or a bracketed IPv6 literal (e.g., \"[::1]\", "              \
	"\"[2001:db8::1]:443\"). Overly broad patterns like \"*.com\" or \"*\" are not allowed " \
	"for security reasons."

/* The length of the host in HOST[:PORT]; a suffix that is no port belongs to the host. */
static size_t host_length(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	bool bracketed = text[0] == '[';

	if (!colon || (bracketed ? colon[-1] != ']' : strchr(text, ':') != colon))
		return strlen(text);
	if (!digits || digits > 5 || colon[1 + digits] || colon[1] == '0' ||
	    strtol(colon + 1, NULL, 10) > UINT16_MAX)
		return strlen(text);
	return (size_t)(colon - text);
}

/* "[v6]", or "[v4]", with or without a zone. */
static bool is_bracketed(const char *host, size_t len)
{
	char text[64];
	uint8_t bytes[16];
	size_t n;

	if (len < 4 || host[0] != '[' || host[len - 1] != ']' || len - 2 >= sizeof(text))
		return false;
	memcpy(text, host + 1, len - 2);
	text[len - 2] = '\0';
	n = strcspn(text, "%");
	text[n] = '\0';
	return inet_pton(AF_INET6, text, bytes) == 1 || inet_pton(AF_INET, text, bytes) == 1;
}

static bool is_domain(const char *host, size_t len)
{
	if (len == 9 && !memcmp(host, "localhost", 9))
		return true;
	if (is_bracketed(host, len))
		return true;
	if (!len || memchr(host, '/', len) || memchr(host, ':', len) || host[len - 1] == '.')
		return false;
	if (len > 2 && host[0] == '*' && host[1] == '.') {
		/* Two labels at least, none of them empty. */
		return memchr(host + 2, '.', len - 2) && host[2] != '.' &&
		       !memmem(host, len, "..", 2);
	}
	return memchr(host, '.', len) && !memchr(host, '*', len) && host[0] != '.';
}

const char *srt_check_allowed(const char *text)
{
	return is_domain(text, host_length(text)) ? NULL
						  : DOMAIN_WORDS
		       " An optional \":port\" suffix (1-65535) restricts the entry "
		       "to that port.";
}

const char *srt_check_denied(const char *text)
{
	size_t len = host_length(text);

	return is_domain(text, len) || (len == 1 && *text == '*') ? NULL
								  : DOMAIN_WORDS
		       " In deniedDomains a bare \"*\" (deny-all) is also accepted, "
		       "and an optional \":port\" suffix (1-65535) restricts the "
		       "entry to that port.";
}

const char *srt_check_domain(const char *text)
{
	return is_domain(text, host_length(text)) ? NULL : DOMAIN_WORDS;
}

const char *srt_check_address(const char *text)
{
	static const char words[] =
		"Invalid IP address or CIDR range. Use an IPv4/IPv6 literal or CIDR, e.g. "
		"\"10.0.0.0/8\", \"192.168.1.10\", \"fc00::/7\" (IPv6 unbracketed).";
	char address[64];
	uint8_t bytes[16];
	size_t len = strcspn(text, "/"), digits;
	const char *bits = text[len] ? text + len + 1 : NULL;
	bool v4;

	if (len >= sizeof(address))
		return words;
	memcpy(address, text, len);
	address[len] = '\0';
	v4 = inet_pton(AF_INET, address, bytes) == 1;
	if (!v4 && inet_pton(AF_INET6, address, bytes) != 1)
		return words;
	if (!bits)
		return NULL;
	digits = strspn(bits, "0123456789");
	if (!digits || digits > 3 || bits[digits] || strtol(bits, NULL, 10) > (v4 ? 32 : 128))
		return words;
	return NULL;
}

const char *srt_check_env_name(const char *text)
{
	size_t i = 0;

	while (text[i] == '_' || isalpha((unsigned char)text[i]) ||
	       (i && isdigit((unsigned char)text[i])))
		i++;
	return i && !text[i]
		       ? NULL
		       : "Environment variable name must start with a letter or underscore and "
			 "contain only letters, digits, and underscores";
}

/* scheme://host at least, or scheme:something where the scheme is none of the web's. */
const char *srt_check_url(const char *text)
{
	size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789+-.");
	const char *rest = text + scheme;

	if (!scheme || !isalpha((unsigned char)text[0]) || *rest != ':' || !rest[1])
		return "Invalid url";
	if (!strncmp(rest, "://", 3) && (!rest[3] || strchr("/?#:@", rest[3])))
		return "Invalid url";
	return strpbrk(rest, " <>^|") ? "Invalid url" : NULL;
}

const char *srt_check_absolute(const char *text)
{
	return text[0] == '/' ? NULL : "Binary path must be absolute";
}

const char *srt_check_uuid(const char *text)
{
	for (size_t i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return "Invalid uuid";
	}
	return text[36] ? "Invalid uuid" : NULL;
}

const char *srt_check_mach(const char *text)
{
	const char *star = strchr(text, '*');

	return !star || !star[1] ? NULL
				 : "Wildcards are only allowed as a single trailing \"*\" (e.g., "
				   "\"com.example.*\" or \"*\" for all services).";
}

const char *srt_check_user(const char *text)
{
	return strlen(text) <= 20 ? NULL : "Windows local usernames are limited to 20 characters";
}

bool srt_domain_covered(const struct strv *patterns, const char *inner)
{
	size_t len = host_length(inner);

	for (size_t i = 0; i < patterns->len; i++) {
		const char *outer = patterns->v[i];
		size_t n = host_length(outer);
		bool port = outer[n];

		if (port && strcmp(outer + n, inner + len) != 0)
			continue;
		if (n == len && !strncasecmp(outer, inner, len))
			return true;
		/* "*.x" covers "a.x" and "*.a.x". */
		if (outer[0] == '*' && len > n - 1 &&
		    !strncasecmp(inner + len - (n - 1), outer + 1, n - 1))
			return true;
	}
	return false;
}
