/* SPDX-License-Identifier: MIT */
/* Remotes. The URL is the project's, so it is hostile: what is let through is a short list of
 * characters. */
#include "spec/remote.h"

#include <string.h>

#include "base/str.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define WORD LETTERS "0123456789._-"

static bool is_word(const char *s, size_t len, const char *chars)
{
	return len && s[0] != '-' && strspn(s, chars) >= len;
}

static bool finish(struct arena *arena, struct remote *remote, const char *path)
{
	size_t len = strlen(path);

	if (!is_word(path, len, WORD "/~+") || strlen(path) > 1024)
		return false;
	remote->path = arena_strdup(arena, path);
	path += strspn(path, "/");
	len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	if (len > 4 && !strncmp(path + len - 4, ".git", 4))
		len -= 4;
	remote->name = arena_strndup(arena, path, len);
	return len > 0;
}

/* [USER@]HOST[:PORT] of len bytes. */
static bool take_authority(struct arena *arena, struct remote *remote, const char *text, size_t len,
			   bool ssh)
{
	const char *at = memchr(text, '@', len), *colon;
	size_t host_len;

	remote->user = arena_strdup(arena, "git");
	remote->port = 22;
	if (at) {
		if (ssh && !is_word(text, (size_t)(at - text), WORD))
			return false;
		if (ssh)
			remote->user = arena_strndup(arena, text, (size_t)(at - text));
		len -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	colon = memchr(text, ':', len);
	host_len = colon ? (size_t)(colon - text) : len;
	if (!is_word(text, host_len, WORD) || host_len > 253)
		return false;
	remote->host = arena_strndup(arena, text, host_len);
	if (colon && ssh) {
		size_t digits = len - host_len - 1;

		if (!digits || digits > 5 || strspn(colon + 1, "0123456789") < digits)
			return false;
		remote->port = (unsigned)strtoul(colon + 1, NULL, 10);
	}
	return remote->port > 0 && remote->port < 65536;
}

bool remote_parse(struct arena *arena, const char *url, struct remote *ret)
{
	const char *scheme = strstr(url, "://"), *slash, *colon;
	bool ssh;

	*ret = (struct remote){ .user = NULL };
	if (scheme) {
		ssh = str_starts(url, "ssh://") || str_starts(url, "git+ssh://");
		if (!ssh && !str_starts(url, "https://") && !str_starts(url, "http://"))
			return false;
		ret->ssh = ssh;
		scheme += 3;
		slash = strchr(scheme, '/');
		return slash && take_authority(arena, ret, scheme, (size_t)(slash - scheme), ssh) &&
		       finish(arena, ret, ssh ? slash : slash + 1);
	}
	colon = strchr(url, ':');
	slash = strchr(url, '/');
	if (!colon || (slash && slash < colon))
		return false; /* a directory */
	ret->ssh = true;
	return take_authority(arena, ret, url, (size_t)(colon - url), true) &&
	       finish(arena, ret, colon + 1);
}

char *remote_pin(struct arena *arena, const struct remote *remote)
{
	return remote->port == 22 ? arena_strdup(arena, remote->host)
				  : arena_printf(arena, "[%s]:%u", remote->host, remote->port);
}
