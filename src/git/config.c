/* SPDX-License-Identifier: MIT */
/* Configuration: keys of the list in spec/gitkeys_allow.c go to the host, by its own git; all others are held. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "git/priv.h"
#include "spec/gitkeys_allow.h"

void git_values_of(struct arena *arena, const struct gitkeys *keys, const char *name,
		   struct git_items *ret)
{
	*ret = (struct git_items){ 0 };
	for (size_t i = 0; i < keys->n; i++)
		if (!strcmp(keys->keys[i].name, name))
			git_add_item(arena, ret, name, keys->keys[i].value);
}

bool git_same_values(const struct git_items *a, const struct git_items *b)
{
	for (size_t i = 0; i < a->n && a->n == b->n; i++)
		if (!git_same(a->v[i].value, b->v[i].value))
			return false;
	return a->n == b->n;
}

static int set_in(struct git_store *store, const char *file, const char *name,
		  const struct git_items *values, struct err *err)
{
	struct git_run unset = git_on_host_write(
		store, GIT_ARGS("config", "--file", file, "--unset-all", name));
	int r = git_run(&unset, NULL);

	if (r < 0 || (r != 0 && r != 5)) /* 5: it was not there */
		return err_set(err, EIO, "git did not change '%s' in '%s'", name, file);
	for (size_t i = 0; i < values->n; i++) {
		struct git_run add = git_on_host_write(
			store,
			GIT_ARGS("config", "--file", file, "--add", name, values->v[i].value));

		r = git_do(&add, NULL, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int git_config_set(struct git_store *store, const char *name, const struct git_items *values,
		   struct err *err)
{
	bool near = !git_is_linked(store->real, store->common); /* git is started there */
	_cleanup_close_ int dir = git_open_host(store, store->common);
	const char *where = near ? "." : store->common;
	struct stat old;
	int r = dir < 0 ? -errno : 0;

	if (r == 0) {
		git_exchange_repair(dir, "config");
		r = git_exchange_copy(dir, "config", &old);
	}
	/* A link of the user's: git follows it, and locks what it leads to. */
	if (r == -ELOOP && !store->lasting)
		return set_in(store, path_join(&store->arena, where, "config"), name, values, err);
	if (r < 0)
		return err_errno(err, -r, "changing 'config' in '%s'", store->common);
	r = set_in(store, path_join(&store->arena, where, GIT_COPY "config"), name, values, err);
	if (r == 0) {
		r = git_exchange(store, dir, "config", &old);
		if (r < 0)
			r = err_errno(err, -r, "changing 'config' in '%s'", store->common);
	}
	git_exchange_repair(dir, "config");
	return r;
}

struct config_round {
	struct git_round *round;
	struct gitkeys base, session, host;
};

static bool may_change(struct config_round *c, const char *name, const struct git_items *session,
		       const struct git_items *host)
{
	struct arena *a = &c->round->arena;

	/* The layout of the repository and where it fetches from are the host's own business; what a
	 * single command sets was judged when it did (guard/broker_git.c), by the same list. */
	if (!c->round->store->lasting &&
	    (str_starts(name, "core.") || str_starts(name, "extensions.") ||
	     (str_starts(name, "remote.") && !c->round->store->fresh)))
		return false;
	/* A submodule of this machine's files is none that the host should follow. */
	if (str_starts(name, "submodule."))
		for (size_t i = 0; i < session->n; i++)
			if (session->v[i].value[0] == '/' ||
			    str_starts(session->v[i].value, "file:"))
				return false;
	if (!session->n)
		return gitkeys_may_remove(name);
	for (size_t i = 0; i < session->n; i++)
		if (!gitkeys_may_set(a, &c->session, name, session->v[i].value, host->n > 0, NULL))
			return false;
	return true;
}

/* A repository that is new on the host has its layout from us. */
static bool is_layout(const struct git_store *store, const char *name)
{
	static const char *const names[] = {
		"core.repositoryformatversion", "core.filemode", "core.bare",
		"core.logallrefupdates",        "core.worktree", "extensions.objectformat"
	};

	for (size_t i = 0; store->fresh && i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int change(struct config_round *c, const char *name, struct err *err)
{
	struct arena *a = &c->round->arena;
	struct git_items base, session, host;

	git_values_of(a, &c->base, name, &base);
	git_values_of(a, &c->session, name, &session);
	git_values_of(a, &c->host, name, &host);
	if (git_same_values(&session, &base) || git_same_values(&session, &host) ||
	    is_layout(c->round->store, name))
		return 0;
	if (!may_change(c, name, &session, &host)) {
		c->round->config_held = true;
		git_hold(c->round->report, "config", name,
			 "it is none of the keys that the host takes");
		return 0;
	}
	c->round->report->published++;
	c->round->changed = true;
	return git_config_set(c->round->store, name, &session, err);
}

static int change_all(struct config_round *c, const struct gitkeys *keys, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < keys->n; i++)
		if (gitkeys_is_first(keys, i))
			r = change(c, keys->keys[i].name, err);
	return r;
}

int git_apply_config(struct git_round *round, struct err *err)
{
	const struct git_state *base = &round->base, *session = &round->session,
			       *host = &round->host;
	struct config_round c = { .round = round };
	struct arena *a = &round->arena;
	int r;

	if (session->config_len == base->config_len &&
	    !memcmp(session->config, base->config, base->config_len))
		return 0;
	if (gitkeys_parse(a, session->config, session->config_len, &c.session) < 0 ||
	    gitkeys_parse(a, base->config, base->config_len, &c.base) < 0 ||
	    gitkeys_parse(a, host->config, host->config_len, &c.host) < 0) {
		round->config_held = true;
		git_hold(round->report, "config", "(all)", "it is not a plain git configuration");
		return 0;
	}
	r = change_all(&c, &c.session, err);
	/* Removed ones stand in the base alone. */
	for (size_t i = 0; r == 0 && i < c.base.n; i++) {
		struct git_items values;

		git_values_of(a, &c.session, c.base.keys[i].name, &values);
		if (!values.n && gitkeys_is_first(&c.base, i))
			r = change(&c, c.base.keys[i].name, err);
	}
	return r;
}
