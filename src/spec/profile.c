/* SPDX-License-Identifier: MIT */
/*
 * Profiles: the built-in ones, which are data/profiles/ put into the program, and the user's own,
 * by name or as a file.
 * A profile is read together with what it extends, the oldest first, so that the child's values
 * replace the parent's.
 */
#include <errno.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/path.h"
#include "spec/config.h"

enum { MAX_CHAIN = 8 };

extern const struct embedded builtin_profiles[]; /* generated from data/profiles/ */

struct profile {
	char *origin; /* the file, or "profile 'rust'" */
	struct json_object *root;
	bool builtin;
	const char *name;
};

struct chain {
	struct arena arena;
	struct profile v[MAX_CHAIN];
	size_t len;
};

static void chain_release(struct chain *chain)
{
	for (size_t i = 0; i < chain->len; i++)
		json_object_put(chain->v[i].root);
	arena_release(&chain->arena);
}

const char *config_profile(size_t i)
{
	return builtin_profiles[i].name;
}

static const struct embedded *find_builtin(const char *name)
{
	for (const struct embedded *e = builtin_profiles; e->name; e++)
		if (!strcmp(e->name, name))
			return e;
	return NULL;
}

static int unknown_profile(const char *name, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 }, list = { 0 };

	if (name[0] == '/')
		return err_usage(err, "profile %s: there is no such file", str_quote(&shown, name));
	for (size_t i = 0; config_profile(i); i++)
		str_addf(&list, "%s%s", i ? ", " : "", config_profile(i));
	err_usage(err, "profile %s: there is none of that name", str_quote(&shown, name));
	return err_hint(err, "built in are %s; your own go to ~/.config/wrapix/profiles/NAME.json",
			list.s);
}

/* The text of the user's own profile, or else of the built-in one. */
static int find_profile(struct chain *chain, const char *name, const char *dir, struct profile *ret,
			struct err *err)
{
	const struct embedded *builtin = find_builtin(name);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	ret->name = name;
	if (dir || name[0] == '/') {
		ret->origin = name[0] == '/' ? arena_strdup(&chain->arena, name)
					     : arena_printf(&chain->arena, "%s/%s.json", dir, name);
		r = config_read(ret->origin, &text, &len, err);
		if (r < 0)
			return r;
		if (text)
			return json_parse(text, len, ret->origin, &ret->root, err);
	}
	if (!builtin)
		return unknown_profile(name, err);
	ret->builtin = true;
	ret->origin = arena_printf(&chain->arena, "profile '%s'", name);
	return json_parse(builtin->data, builtin->len, ret->origin, &ret->root, err);
}

/* The name that the profile extends, checked as any profile's name; NULL when there is none. */
static int read_extends(struct chain *chain, const struct profile *profile, const char **ret,
			struct err *err)
{
	struct spec probe = { .dir = NULL };
	struct json_object *value;
	int r;

	*ret = NULL;
	if (!json_object_object_get_ex(profile->root, "extends", &value))
		return 0;
	r = json_get_string(JSON_KEY(NULL, "extends"), value, ret, err);
	if (r == 0)
		r = spec_set(&probe, "profile", *ret, LAYER_PROFILE, err);
	arena_release(&probe.arena);
	if (r < 0)
		return err_wrap(err, "%s", profile->origin);
	*ret = arena_strdup(&chain->arena, *ret);
	return 0;
}

static int add_profile(struct chain *chain, const char *name, const char *dir, struct err *err)
{
	const struct profile *child = chain->len ? &chain->v[chain->len - 1] : NULL;
	struct profile *profile = &chain->v[chain->len];
	int r;

	if (chain->len == MAX_CHAIN)
		return err_usage(err, "profile '%s': more than %d profiles extend each other",
				 chain->v[0].name, MAX_CHAIN);
	/* The user's 'rust' may extend the built-in 'rust'; a built-in one extends only its like. */
	if (child && (child->builtin || !strcmp(child->name, name)))
		dir = NULL;
	r = find_profile(chain, name, dir, profile, err);
	if (r < 0)
		return r;
	chain->len++;
	for (size_t i = 0; i + 1 < chain->len; i++)
		if (!strcmp(chain->v[i].name, name) && chain->v[i].builtin == profile->builtin)
			return err_usage(err, "profile '%s' extends itself", name);
	return 0;
}

/* Collects the profile and what it extends, the child first. */
static int load_chain(struct chain *chain, const char *name, const char *dir, struct err *err)
{
	int r = 0;

	while (r == 0 && name) {
		r = add_profile(chain, name, dir, err);
		if (r == 0)
			r = read_extends(chain, &chain->v[chain->len - 1], &name, err);
	}
	return r;
}

int config_load_profile(struct spec *spec, const char *name, const char *config_home,
			struct err *err)
{
	_cleanup_(chain_release) struct chain chain = { .len = 0 };
	struct spec probe = { .dir = NULL };
	int r = spec_set(&probe, "profile", name, LAYER_FLAG, err);

	arena_release(&probe.arena);
	if (r == 0)
		r = load_chain(&chain, name,
			       config_home ? path_join(&chain.arena, config_home, "wrapix/profiles")
					   : NULL,
			       err);
	for (size_t i = chain.len; r == 0 && i-- > 0;)
		r = config_apply(spec, chain.v[i].root, chain.v[i].origin, LAYER_PROFILE, NULL,
				 err);
	return r;
}

bool config_profile_is_bare(const char *name)
{
	struct spec spec = { .dir = NULL };
	struct err ignored; /* a profile that cannot be read is not bare */
	bool bare = name[0] != '/' && config_load_profile(&spec, name, NULL, &ignored) == 0 &&
		    !spec.n_mounts;

	for (size_t i = 0; i < spec.n_env; i++)
		bare = bare && spec.env[i].value;
	arena_release(&spec.arena);
	return bare;
}
