/* SPDX-License-Identifier: MIT */
/* Where keys are registered. */
#include "keys/forge.h"

#include <string.h>

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

enum forge forge_of(const char *host)
{
	if (!strcmp(host, "github.com"))
		return FORGE_GITHUB;
	if (strstr(host, "gitlab"))
		return FORGE_GITLAB;
	return !strcmp(host, "codeberg.org") || strstr(host, "gitea") || strstr(host, "forgejo")
		       ? FORGE_GITEA
		       : FORGE_UNKNOWN;
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
	enum forge forge = remote ? forge_of(remote->host) : FORGE_UNKNOWN;

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
