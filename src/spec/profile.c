/* SPDX-License-Identifier: MIT */
/*
 * Profiles: the project's own, the user's own, by name or as a file, and the built-in ones, which are
 * data/profiles/ put into the program; in this order.
 * A profile is read together with what it extends, the oldest first, so that the child's values
 * replace the parent's. It extends its like and what comes behind: nothing of the user's is ever
 * decided by a project. What the project's own widen is noted, for trust.c.
 */
#include <errno.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sha256.h"
#include "spec/config.h"
#include "spec/widen.h"

extern const struct embedded builtin_profiles[]; /* generated from data/profiles/ */

enum level { LEVEL_PROJECT, LEVEL_USER, LEVEL_BUILTIN };

struct profile {
	char *origin; /* the file, or "profile 'rust'" */
	struct json_object *root;
	enum level level;
	const char *name;
};

struct chain {
	struct arena arena;
	const struct project_config *project; /* or NULL */
	const char *dir;                      /* of the user's own; or NULL */
	struct profile *v;                    /* the child first */
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

const char *const *config_profile_words(_unused_ const char *name)
{
	static const char *words[32];

	for (size_t i = 0; i + 1 < ARRAY_LEN(words) && config_profile(i); i++)
		words[i] = config_profile(i);
	return words;
}

static int unknown_profile(const char *name, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 }, list = { 0 };

	if (name[0] == '/')
		return err_usage(err, "profile %s: there is no such file", str_quote(&shown, name));
	for (size_t i = 0; config_profile(i); i++)
		str_addf(&list, "%s%s", i ? ", " : "", config_profile(i));
	err_usage(err, "profile %s: there is none of that name", str_quote(&shown, name));
	return err_hint(err,
			"built in are %s; your own go to ~/.config/wrapix/profiles/NAME.json, a "
			"project's to .wrapix/profiles/NAME.json",
			list.s);
}

/* Each fills ret->root where there is one of that name. */
static int find_in_project(struct chain *chain, const char *name, struct profile *ret,
			   struct err *err)
{
	const struct project_config *project = chain->project;

	for (size_t i = 0; project && i < project->n_profiles; i++) {
		const struct project_profile *found = &project->profiles[i];

		if (strcmp(found->name, name))
			continue;
		ret->origin = arena_strdup(&chain->arena, found->path);
		return json_parse(found->bytes, found->len, ret->origin, &ret->root, err);
	}
	return 0;
}

static int find_in_user(struct chain *chain, const char *name, struct profile *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (!chain->dir && name[0] != '/')
		return 0;
	ret->origin = name[0] == '/' ? arena_strdup(&chain->arena, name)
				     : arena_printf(&chain->arena, "%s/%s.json", chain->dir, name);
	r = config_read(ret->origin, &text, &len, err);
	return r < 0 || !text ? r : json_parse(text, len, ret->origin, &ret->root, err);
}

static int find_builtin(struct chain *chain, const char *name, struct profile *ret, struct err *err)
{
	for (const struct embedded *e = builtin_profiles; e->name; e++)
		if (!strcmp(e->name, name)) {
			ret->origin = arena_printf(&chain->arena, "profile '%s'", name);
			return json_parse(e->data, e->len, ret->origin, &ret->root, err);
		}
	return 0;
}

/* The first of that name, from this level on. */
static int find_profile(struct chain *chain, const char *name, enum level from, struct profile *ret,
			struct err *err)
{
	static int (*const finders[])(struct chain *, const char *, struct profile *,
				      struct err *) = { find_in_project, find_in_user,
							find_builtin };

	for (size_t level = from; level < ARRAY_LEN(finders); level++) {
		int r;

		*ret = (struct profile){ .name = name, .level = (enum level)level };
		r = finders[level](chain, name, ret, err);
		if (r < 0 || ret->root)
			return r;
	}
	return unknown_profile(name, err);
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
	if (profile->level == LEVEL_PROJECT && strchr(*ret, '/'))
		return err_usage(err, "%s: extends: a project's profile names one, not a file",
				 profile->origin);
	*ret = arena_strdup(&chain->arena, *ret);
	return 0;
}

/* Adds the profile of that name behind its child, and gives the name that it extends itself. */
static int add_profile(struct chain *chain, const char **name, struct err *err)
{
	const struct profile *child = chain->len ? &chain->v[chain->len - 1] : NULL;
	/* The user's 'rust' may extend the built-in 'rust'. */
	enum level from = child ? child->level + !strcmp(child->name, *name) : LEVEL_PROJECT;
	struct profile profile = { 0 };
	int r = find_profile(chain, *name, from, &profile, err);

	if (r < 0)
		return r;
	*(struct profile *)arena_grow(&chain->arena, &chain->v, &chain->len,
				      sizeof(profile)) = profile;
	for (size_t i = 0; i + 1 < chain->len; i++)
		if (!strcmp(chain->v[i].name, *name) && chain->v[i].level == profile.level)
			return err_usage(err, "profile '%s' extends itself", *name);
	return read_extends(chain, &profile, name, err);
}

/* What the user gives his own sandboxes, or a tool, is not for a project to help itself to. */
static void judge_choice(struct project_config *project, const char *config_home,
			 const struct chain *chain)
{
	const struct profile *first = &chain->v[0];
	bool by_project = false;

	/* Of a name that no bare one has the key itself was judged. */
	if (project->chose_profile && first->level == LEVEL_USER &&
	    config_profile_is_bare(first->name, NULL) &&
	    !config_profile_is_bare(first->name, config_home))
		widen_profile(project, "profile", first->name);
	for (size_t i = 0; i < chain->len; i++) {
		const struct profile *profile = &chain->v[i];
		bool own = profile->level == LEVEL_PROJECT;

		if (by_project && !own && !config_profile_is_bare(profile->name, config_home))
			widen_profile(project,
				      arena_printf(&project->arena, "profile %s: extends",
						   chain->v[i - 1].name),
				      profile->name);
		by_project = own;
	}
}

/* Of the list's entries from 'first' on. */
static void add_origin(struct arena *arena, struct widening *list, size_t first, size_t n,
		       const char *name)
{
	for (size_t i = first; i < n; i++)
		list[i].key = arena_printf(arena, "profile %s: %s", name, list[i].key);
}

/* One profile of the chain; what it widens is said to be its own. */
static int lay_profile(struct spec *spec, const struct profile *profile,
		       struct project_config *project, struct err *err)
{
	struct project_config *asks = profile->level == LEVEL_PROJECT ? project : NULL;
	size_t before = asks ? asks->n_widenings : 0, others = asks ? asks->n_others : 0;
	int r;

	if (profile->name[0] == '/')
		spec_note_file(spec, profile->name);
	r = config_apply(spec, profile->root, profile->origin, LAYER_PROFILE, asks, err);
	if (!asks)
		return r;
	add_origin(&asks->arena, asks->widenings, before, asks->n_widenings, profile->name);
	add_origin(&asks->arena, asks->others, others, asks->n_others, profile->name);
	return r;
}

int config_load_profile(struct spec *spec, const char *name, const char *config_home,
			struct project_config *project, struct err *err)
{
	_cleanup_(chain_release) struct chain chain = { .project = project };
	struct spec probe = { .dir = NULL };
	int r = spec_set(&probe, "profile", name, LAYER_FLAG, err);

	arena_release(&probe.arena);
	if (config_home)
		chain.dir = path_join(&chain.arena, config_home, "wrapix/profiles");
	for (const char *next = name; r == 0 && next;)
		r = add_profile(&chain, &next, err);
	if (r == 0 && project)
		judge_choice(project, config_home, &chain);
	for (size_t i = chain.len; r == 0 && i-- > 0;)
		r = lay_profile(spec, &chain.v[i], project, err);
	return r;
}

int spec_derive_image(struct spec *spec, struct err *err)
{
	const struct profile_spec *profile = &spec->from_profile;
	_cleanup_str_ struct str all = { 0 };
	char sum[SHA256_HEX];
	struct strv list = { 0 };

	if (!spec->packages.len)
		return 0;
	if (spec->image) {
		err_usage(err, "packages cannot go into an image that is named ('%s')",
			  spec->image);
		return err_hint(err, "wrapix image build PROFILE --package NAME --name ANOTHER");
	}
	for (size_t i = 0; i < profile->n_packages; i++)
		strv_addf(&spec->arena, &list, "%s %s", profile->packages[i].source,
			  profile->packages[i].name);
	for (size_t i = 0; i < spec->packages.len; i++)
		strv_add(&spec->arena, &list, spec->packages.v[i]);
	strv_sort(&list);
	for (size_t i = 0; i < list.len; i++)
		str_addf(&all, "%s\n", list.v[i]);
	for (size_t i = 0; i < spec->n_env; i++)
		if (spec->env[i].layer == LAYER_PROFILE)
			str_addf(&all, "%s=%s\n", spec->env[i].name,
				 spec->env[i].value ? spec->env[i].value : "");
	sha256_hex(all.s, all.len, sum);
	spec->image = arena_printf(&spec->arena, "%s-%.12s",
				   spec->profile ? path_name(spec->profile) : "base", sum);
	return 0;
}

bool config_profile_is_bare(const char *name, const char *config_home)
{
	struct spec spec = { .dir = NULL };
	struct err ignored; /* a profile that cannot be read is not bare */
	bool bare = name[0] != '/' &&
		    config_load_profile(&spec, name, config_home, NULL, &ignored) == 0 &&
		    !spec.n_mounts;

	for (size_t i = 0; i < spec.n_env; i++)
		bare = bare && spec.env[i].value;
	arena_release(&spec.arena);
	return bare;
}
