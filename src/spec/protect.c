/* SPDX-License-Identifier: MIT */
/* The key "protect": what becomes of changes to files that somebody outside obeys later, by class and by path. */
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "spec/config_priv.h"
#include "spec/widen.h"

enum { PATHS_MAX = 500 };

static const char *const classes[PROTECT_CLASSES] = { "git",   "shell", "editor",
						      "agent", "build", "ci" };

enum protect_class protect_class_of(const char *word)
{
	enum protect_class class = 0;

	while (class < PROTECT_CLASSES && (!word || strcmp(classes[class], word) != 0))
		class ++;
	return class;
}

const char *protect_class_name(enum protect_class class)
{
	return classes[class];
}

const char *protect_level_name(enum protect_level level)
{
	static const char *const names[] = { "report", "allow", "report", "hold", "ro" };

	return names[level];
}

enum protect_level protect_default(enum protect_class class, bool dir)
{
	bool held = class == PROTECT_GIT || class == PROTECT_EDITOR || class == PROTECT_AGENT;

	return dir && held ? PROTECT_HOLD : PROTECT_REPORT;
}

/* ------------------------------------------------------------------ paths */

/* A class is a word; "./Makefile" is a path. */
static bool is_path(const char *text, size_t n)
{
	return memchr(text, '/', n) || memchr(text, '.', n);
}

/* Relative and clean, without what may stand around it; NULL: it is none of the project's. */
static char *clean(struct arena *arena, const char *text)
{
	char *path = path_join(arena, "/", text);
	const char *below;

	for (const char *p = text; *p; p += strcspn(p, "/"), p += strspn(p, "/"))
		if (strcspn(p, "/") == 2 && p[0] == '.' && p[1] == '.')
			return NULL;
	below = path + 1;
	return *text == '/' || !*below || !strcasecmp(below, ".git") ||
			       !strncasecmp(below, ".git/", 5)
		       ? NULL
		       : arena_strdup(arena, below);
}

static int level_of(const char *text, enum protect_level *ret, struct err *err)
{
	const char *const *words = spec_choices("protect.git");

	for (unsigned i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*ret = i + 1;
			return 0;
		}
	return err_usage(err, "must be one of allow, report, hold, ro");
}

int spec_protect_path(struct spec *spec, const char *text, const char *word, enum layer layer,
		      struct err *err)
{
	struct protection *all = &spec->protect;
	_cleanup_str_ struct str shown = { 0 };
	char *path = clean(&spec->arena, text);
	struct protect_path *entry = NULL;
	enum protect_level level = PROTECT_UNSET;

	if (!path) {
		err_usage(err, "protect: %s is no path of the project's", str_quote(&shown, text));
		return err_hint(err, "it is relative to the project, as 'scripts/deploy.sh'");
	}
	if (level_of(word, &level, err) < 0)
		return err_wrap(err, "protect.%s: %s", text, str_quote(&shown, word));
	for (size_t i = 0; i < all->n_paths; i++)
		if (!strcmp(all->paths[i].path, path))
			entry = &all->paths[i];
	if (entry && entry->layer > (unsigned)layer)
		return 0;
	/* As in spec_set(): what the project says once more is still the user's. */
	if (entry && layer == LAYER_PROJECT && entry->level == level)
		return 0;
	if (!entry && all->n_paths == PATHS_MAX)
		return err_usage(err, "protect: more than %d paths", PATHS_MAX);
	if (!entry)
		entry = arena_grow(&spec->arena, &all->paths, &all->n_paths, sizeof(*entry));
	*entry = (struct protect_path){ path, strlen(path), level, layer };
	return 0;
}

/* ------------------------------------------------------------------ configuration and flags */

/* Paths are written as they are in the file's own directory; the project may lie below it. */
static int protect_below(const struct reader *reader, const char *text, const char *level,
			 struct err *err)
{
	struct spec *spec = reader->spec;
	const char *below = reader->layer == LAYER_USER ? NULL : spec->below;
	struct spec whole = { .dir = NULL };
	_cleanup_str_ struct str shown = { 0 };
	int r = spec_protect_path(&whole, text, level, reader->layer, err);
	const struct protect_path *path = whole.protect.paths;

	if (r == 0 && !(below && *below))
		r = spec_protect_path(spec, text, level, reader->layer, err);
	else if (r == 0 && path_is_below(path->path, below) && strcmp(path->path, below) != 0)
		r = spec_protect_path(spec, path->path + strlen(below) + 1, level, reader->layer,
				      err);
	else if (r == 0 && path->level >= PROTECT_HOLD && path_is_below(below, path->path)) {
		err_usage(err, "protect: %s keeps all of this project as it is (%s)",
			  str_quote(&shown, text), level);
		r = err_hint(err, "start it where that file is, or change the file");
	}
	arena_release(&whole.arena);
	return r;
}

static int read_one(const struct reader *reader, const struct json_at *at, const char *name,
		    const char *level, struct err *err)
{
	_cleanup_str_ struct str place = { 0 };
	size_t before = config_asked(reader);
	char key[32];

	if (protect_class_of(name) != PROTECT_CLASSES) {
		snprintf(key, sizeof(key), "protect.%s", name);
		return config_set(reader, JSON_KEY(NULL, key), level, err);
	}
	if (!is_path(name, strlen(name))) {
		json_err_key(at, classes, PROTECT_CLASSES, err);
		return str_nearest(name, classes, PROTECT_CLASSES)
			       ? -err->code
			       : err_hint(err, "a file of that name is './%s'", name);
	}
	json_at_add(&place, at);
	if (reader->project)
		widen_protect(reader->project, reader->spec, place.s, name, level);
	if (config_leaves_out(reader, before))
		return 0;
	return protect_below(reader, name, level, err);
}

int config_read_protect(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		const struct json_at *place = JSON_KEY(at, name);
		const char *level;

		r = json_get_string(place, entry, &level, err);
		if (r == 0)
			r = read_one(reader, place, name, level, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int spec_add_protect(struct spec *spec, const char *text, enum layer layer, struct err *err)
{
	const char *sign = strrchr(text, '=');
	size_t n = sign ? (size_t)(sign - text) : 0;
	char *name = arena_strndup(&spec->arena, text, n);
	enum protect_class class = protect_class_of(name);
	char key[32];

	if (!n) {
		err_usage(err, "'%s' is not CLASS=LEVEL or PATH=LEVEL", text);
		return err_hint(err, "classes: git shell editor agent build ci; levels: allow "
				     "report hold ro");
	}
	if (class == PROTECT_CLASSES && is_path(name, n))
		return spec_protect_path(spec, name, sign + 1, layer, err);
	if (class == PROTECT_CLASSES) {
		err_usage(err, "there is no class '%s'", name);
		return err_hint(err, "git, shell, editor, agent, build or ci; or a path, as './%s'",
				name);
	}
	snprintf(key, sizeof(key), "protect.%s", name);
	return spec_set(spec, key, sign + 1, layer, err);
}
