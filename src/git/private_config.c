/* SPDX-License-Identifier: MIT */
/* The configuration of a private git directory: the repository's, without what is nobody's business inside. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "spec/gitconfig.h"
#include "spec/gitkeys.h"

/* Patterns of keys that stay outside. How commits are signed inside, the session's own keys say. */
static const char *const secret_keys[] = {
	"include.*",
	"includeif.*",
	"credential.*",
	"http.*extraheader",
	"http.*cookiefile",
	"http.*proxy",
	"core.fsmonitor",
	"core.sshcommand",
	"core.askpass",
	"core.worktree",
	"core.bare",
	"extensions.worktreeconfig",
	"commit.gpgsign",
	"tag.gpgsign",
	"gc.*",
	"maintenance.*",
	"gpg.*",
	"user.signingkey",
};

static bool is_secret(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(secret_keys); i++)
		if (!fnmatch(secret_keys[i], key, FNM_NOESCAPE))
			return true;
	return false;
}

/* An address without the password in it; over http without the user, too. */
static const char *without_password(struct arena *a, const char *value)
{
	const char *host = strstr(value, "://"), *at, *colon;
	size_t len;

	if (!host)
		return value;
	host += 3;
	len = strcspn(host, "/");
	at = memrchr(host, '@', len);
	if (!at)
		return value;
	colon = memchr(host, ':', (size_t)(at - host));
	if (str_starts(value, "http"))
		return arena_printf(a, "%.*s%s", (int)(host - value), value, at + 1);
	return colon ? arena_printf(a, "%.*s%s", (int)(colon - value), value, at) : value;
}

/* "branch.main.merge" as a section of its own. */
static void add_key(struct arena *a, struct str *out, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');

	if (!first)
		return;
	str_addf(out, "[%.*s", (int)(first - key), key);
	if (last > first)
		str_addf(out, " \"%s\"",
			 gitconfig_quote(a,
					 arena_strndup(a, first + 1, (size_t)(last - first - 1))));
	if (value)
		str_addf(out, "]\n\t%s = \"%s\"\n", last + 1,
			 gitconfig_quote(a, without_password(a, value)));
	else
		str_addf(out, "]\n\t%s\n", last + 1);
}

struct target {
	struct arena *arena;
	struct str *out;
	const char *hooks; /* where an absolute core.hooksPath leads */
};

static void take_key(struct target *target, const char *key, const char *value)
{
	if (is_secret(key))
		return;
	if (!strcmp(key, "core.hookspath") && value && value[0] == '/')
		target->hooks = arena_strdup(target->arena, value);
	else
		add_key(target->arena, target->out, key, value);
}

/* True when the file is all there is, and none that only git understands. */
static bool read_plain(const struct git_store *store, struct target *target)
{
	_cleanup_close_ int dir = git_open_host(store, store->common);
	_cleanup_free_ char *text = NULL;
	struct gitkeys keys;
	size_t len;

	if (dir < 0 || git_read_file(dir, "config", GITKEYS_MAX, &text, &len) < 0 ||
	    gitkeys_parse(target->arena, text, len, &keys) < 0)
		return false;
	for (size_t i = 0; i < keys.n; i++)
		if (str_starts(keys.keys[i].name, "include") ||
		    !strcmp(keys.keys[i].name, "extensions.worktreeconfig"))
			return false;
	for (size_t i = 0; i < keys.n; i++)
		take_key(target, keys.keys[i].name, keys.keys[i].value);
	return true;
}

bool git_config_is_plain(struct git_store *store, const char **ret_hooks)
{
	_cleanup_str_ struct str unused = { 0 };
	struct target target = { .arena = &store->arena, .out = &unused };
	bool plain = read_plain(store, &target);

	*ret_hooks = target.hooks;
	return plain;
}

static int ask_git(struct git_store *store, struct target *target, struct err *err)
{
	struct git_run run = git_on_host(
		store, GIT_ARGS("config", "--show-scope", "--includes", "-l", "-z"));
	_cleanup_str_ struct str list = { 0 };
	int r = git_do(&run, &list, err);

	if (r < 0)
		return r;
	for (const char *p = list.s, *end = p + list.len; p && p < end;) {
		const char *scope = p, *pair = scope + strlen(scope) + 1, *newline;

		if (pair >= end)
			break;
		p = pair + strlen(pair) + 1;
		if (strcmp(scope, "local") != 0 && strcmp(scope, "worktree") != 0)
			continue;
		newline = strchr(pair, '\n');
		take_key(target,
			 newline ? arena_strndup(target->arena, pair, (size_t)(newline - pair))
				 : pair,
			 newline ? newline + 1 : NULL);
	}
	return 0;
}

/* What a command may read anyway, at the place where it stands. */
static int copy_config(struct git_store *store, struct str *out, struct err *err)
{
	_cleanup_close_ int dir = git_open_host(store, store->common);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = dir < 0 ? -errno : git_read_file(dir, "config", GITKEYS_MAX, &text, &len);

	if (r == -ENXIO && git_check_plain(store, store->real, err) < 0)
		return r;
	if (r < 0 && r != -ENOENT)
		return err_errno(err, -r, "reading the repository's configuration");
	str_addn(out, text ? text : "", len);
	if (git_is_linked(store->real, store->common))
		str_add(out, "[core]\n\tbare = false\n");
	return 0;
}

int git_private_config(struct git_store *store, struct str *out, const char **ret_hooks,
		       struct err *err)
{
	struct target target = { .arena = &store->arena, .out = out };
	int r;

	*ret_hooks = NULL;
	if (store->lasting)
		return copy_config(store, out, err);
	r = read_plain(store, &target) ? 0 : ask_git(store, &target, err);
	*ret_hooks = target.hooks;
	str_add(out, "[core]\n\tbare = false\n[worktree]\n\tuseRelativePaths = true\n");
	if (store->where)
		add_key(&store->arena, out, "core.worktree",
			path_join(&store->arena, git_top_inside(store), store->where));
	return r;
}
