/* SPDX-License-Identifier: MIT */
/* Remotes and forges. A remote's URL is the project's, so it is hostile: what is let through is a
 * short list of characters. */
#include "keys/forge.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define WORD LETTERS "0123456789._-"

static const struct {
	enum forge forge;
	const char *title, *deploy, *signing; /* with the repository and the host in their places */
	const char *how;
} places[] = {
	{ FORGE_GITHUB, "GitHub", "https://${HOST}/${REPO}/settings/keys",
	  "https://${HOST}/settings/keys",
	  "tick \"Allow write access\"; for the signing key choose the type \"Signing Key\"" },
	{ FORGE_GITLAB, "GitLab", "https://${HOST}/${REPO}/-/settings/repository (Deploy keys)",
	  "https://${HOST}/-/user_settings/ssh_keys",
	  "tick \"Grant write permissions\"; for the signing key choose the usage \"Signing\"" },
	{ FORGE_GITEA, "Gitea, Forgejo", "https://${HOST}/${REPO}/settings/keys",
	  "https://${HOST}/user/settings/keys",
	  "tick \"Enable write access\"; add the signing key as an SSH key, then verify it there" },
};

static bool is_word(const char *s, size_t len, const char *chars)
{
	return len && s[0] != '-' && strspn(s, chars) >= len;
}

static enum forge forge_of(const char *host)
{
	if (!strcmp(host, "github.com"))
		return FORGE_GITHUB;
	if (strstr(host, "gitlab"))
		return FORGE_GITLAB;
	return !strcmp(host, "codeberg.org") || strstr(host, "gitea") || strstr(host, "forgejo")
		       ? FORGE_GITEA
		       : FORGE_UNKNOWN;
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
	remote->forge = forge_of(remote->host);
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
		scheme += 3;
		slash = strchr(scheme, '/');
		return slash && take_authority(arena, ret, scheme, (size_t)(slash - scheme), ssh) &&
		       finish(arena, ret, ssh ? slash : slash + 1);
	}
	colon = strchr(url, ':');
	slash = strchr(url, '/');
	if (!colon || (slash && slash < colon))
		return false; /* a directory */
	return take_authority(arena, ret, url, (size_t)(colon - url), true) &&
	       finish(arena, ret, colon + 1);
}

char *remote_pin(struct arena *arena, const struct remote *remote)
{
	return remote->port == 22 ? arena_strdup(arena, remote->host)
				  : arena_printf(arena, "[%s]:%u", remote->host, remote->port);
}

static void add_filled(struct str *out, const char *text, const struct remote *remote)
{
	static const char host[] = "${HOST}", repo[] = "${REPO}";

	while (*text) {
		if (str_starts(text, host)) {
			str_add(out, remote ? remote->host : "HOST");
			text += sizeof(host) - 1;
		} else if (str_starts(text, repo)) {
			str_add(out, remote ? remote->name : "OWNER/REPO");
			text += sizeof(repo) - 1;
		} else {
			str_addn(out, text++, 1);
		}
	}
}

void forge_add_places(struct str *out, const struct remote *remote, bool how)
{
	enum forge forge = remote ? remote->forge : FORGE_UNKNOWN;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		if (forge != FORGE_UNKNOWN && forge != places[i].forge)
			continue;
		str_add(out, places[i].title);
		if (how)
			str_addf(out, " (%s)", places[i].how);
		str_add(out, ":\n  deploy key   ");
		add_filled(out, places[i].deploy, remote);
		str_add(out, "\n  signing key  ");
		add_filled(out, places[i].signing, remote);
		str_add(out, "\n");
	}
}
