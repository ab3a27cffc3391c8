/* SPDX-License-Identifier: MIT */
/* The settings that 'wrapix learn' is about: what they have by now, and writing what they lack. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json_span.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/learn.h"
#include "cli/settings.h"
#include "os/fs.h"
#include "spec/glob.h"
#include "spec/srt.h"

/* "a.b.c" as its parts; the text is cut. */
static size_t split(char *key, const char *parts[8])
{
	size_t n = 0;

	for (char *save, *p = strtok_r(key, ".", &save); p && n < 8; p = strtok_r(NULL, ".", &save))
		parts[n++] = p;
	return n;
}

/* "network": "filtered" makes room for a list. */
static int open_network(struct json_doc *doc, struct str *text, struct err *err)
{
	static const char *const key[] = { "network" };
	const struct json_span *network = json_span_get(doc, json_doc_top(doc), "network");
	_cleanup_str_ struct str value = { 0 };

	if (!network || network->kind != JSON_SPAN_STRING)
		return 0;
	str_add(&value, "{\"mode\": ");
	json_add_string(&value, network->string);
	str_add(&value, "}");
	str_release(text);
	*text = (struct str){ 0 };
	return json_doc_set(doc, key, 1, value.s, text, err);
}

/* One change; *text is replaced. */
static int change(struct str *text, const struct lessons *l, const struct fix *fix, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_json_doc_ struct json_doc doc = { .text = NULL };
	_cleanup_str_ struct str value = { 0 };
	struct str out = { 0 };
	const char *keys[8];
	size_t n = split(arena_strdup(&arena, fix->key), keys);
	int r = json_doc_parse(&doc, text->s, text->len, SRT_MAX_TEXT, l->place.file, err);

	if (r < 0)
		return r;
	fix_add_value(&value, fix);
	r = fix->value ? json_doc_append(&doc, keys, n, value.s, &out, err)
		       : json_doc_set(&doc, keys, n, value.s, &out, err);
	if (r < 0) {
		str_release(&out);
		return r;
	}
	str_release(text);
	*text = out;
	return 0;
}

/* DIR/wrapix.json and DIR/.claude/settings.local.json are a project's, others the user's own. */
static const char *project_of(struct arena *arena, const struct fix_place *place)
{
	const char *dir = path_parent(arena, place->file);

	if (place->dialect == FIX_RUN && !strcmp(path_name(place->file), "wrapix.json"))
		return dir;
	if (place->dialect == FIX_CLAUDE && !strcmp(path_name(place->file), "settings.local.json"))
		return path_parent(arena, dir);
	return NULL;
}

static int read_settings(const struct lessons *l, const char *within, struct str *ret,
			 struct err *err)
{
	static const char *const empty[] = {
		[FIX_RUN] = "{}\n",
		[FIX_CLAUDE] = "{}\n",
		[FIX_SRT] = "{\n  \"network\": {\n    \"allowedDomains\": [],\n    "
			    "\"deniedDomains\": []\n  },\n  \"filesystem\": {\n    \"denyRead\": "
			    "[],\n    \"allowWrite\": [],\n    \"denyWrite\": []\n  }\n}\n",
	};
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = cli_read_settings(l->place.file, within, SRT_MAX_TEXT, &text, &len, err);

	if (r < 0 && r != -ENOENT)
		return r;
	str_add(ret, "");
	if (r == 0)
		str_addn(ret, text, len);
	else
		str_add(ret, empty[l->place.dialect]);
	return 0;
}

/* Nothing is written that 'wrapix exec' would not take. */
static int verify(const struct lessons *l, const struct str *text, struct err *err)
{
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config;

	if (l->place.dialect != FIX_SRT)
		return 0;
	if (srt_parse(&config, text->s, text->len, l->place.file, &why) < 0)
		return err_set(err, EINVAL, "'%s' %s", l->place.file, why.s);
	srt_config_release(&config);
	return 0;
}

int learn_write(const struct lessons *l, bool (*is_chosen)(const struct lesson *, bool risky),
		bool risky, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str text = { 0 };
	_cleanup_json_doc_ struct json_doc doc = { .text = NULL };
	const char *within = l->place.file ? project_of(&arena, &l->place) : NULL;
	int r = l->place.file
			? read_settings(l, within, &text, err)
			: err_set(err, ENOENT, "the log does not say whose settings these are");

	if (r == 0 && l->place.dialect == FIX_RUN) {
		r = json_doc_parse(&doc, text.s, text.len, SRT_MAX_TEXT, l->place.file, err);
		if (r == 0)
			r = open_network(&doc, &text, err);
	}
	for (size_t i = 0; r == 0 && i < l->n; i++)
		if (is_chosen(&l->v[i], risky))
			r = change(&text, l, &l->v[i].fix, err);
	if (r == 0)
		r = verify(l, &text, err);
	return r == 0 ? cli_write_settings(l->place.file, within, &text, err) : r;
}

/* --- what they have by now --- */

static const struct json_span *find(const struct json_doc *doc, const char *key)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const struct json_span *span = json_doc_top(doc);
	const char *keys[8];
	size_t n = split(arena_strdup(&arena, key), keys);

	for (size_t i = 0; i < n && span; i++)
		span = json_span_get(doc, span, keys[i]);
	return span;
}

/* A directory that holds what was to be added. */
static bool holds(const char *entry, bool literal, const struct lesson *lesson, const char *home)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *path = entry;

	if (!lesson->fix.path || (!literal && glob_is_special(entry)))
		return false;
	if (entry[0] == '~' && (entry[1] == '/' || !entry[1]) && home)
		path = path_join(&arena, home, entry[1] ? entry + 2 : "");
	return path[0] == '/' && path_is_below(lesson->fix.path, path);
}

/* The host at any port, or all below a name. */
static bool names(const char *entry, const struct lesson *lesson)
{
	const char *host = lesson->denial.name;
	size_t n = strlen(entry), len = host ? strlen(host) : 0;

	if (!host || lesson->fix.path || !str_starts(lesson->fix.value, host))
		return false;
	return !strcmp(entry, host) ||
	       (str_starts(entry, "*.") && len > n - 1 && !strcmp(host + len - (n - 1), entry + 1));
}

/* 'covers': another entry that says more counts as well. */
static bool has_entry(const struct json_doc *doc, const struct json_span *list,
		      const struct lesson *lesson, const char *home, bool covers)
{
	for (const struct json_span *c = list ? json_span_first(doc, list) : NULL; c;
	     c = json_span_next(doc, c)) {
		const struct json_span *path = json_span_get(doc, c, "path");
		const char *text = path ? path->string : c->string;

		if (!text)
			continue;
		if (!strcmp(text, lesson->fix.value) && lesson->fix.literal == !!path)
			return true;
		if (covers && (holds(text, path, lesson, home) || (!path && names(text, lesson))))
			return true;
	}
	return false;
}

static bool is_settled(const struct json_doc *doc, const struct lesson *lesson,
		       const struct fix_place *place)
{
	const struct json_span *at = find(doc, lesson->fix.key);
	const char *origin = lesson->denial.origin;
	size_t len = strlen(place->file);

	if (lesson->fix.raise)
		return false; /* whether it is high enough nobody knows */
	if (!lesson->fix.value)
		return at && at->kind == JSON_SPAN_TRUE;
	if (!lesson->fix.remove)
		return has_entry(doc, at, lesson, place->home, true);
	/* What is denied by another file is not seen here. */
	return origin && str_starts(origin, place->file) && origin[len] == ':' &&
	       !has_entry(doc, at, lesson, place->home, false);
}

void learn_look(struct lessons *l)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_doc_ struct json_doc doc = { .text = NULL };
	struct err ignored; /* who writes there is told */
	size_t len = 0;

	if (!l->place.file ||
	    os_read_file_at(AT_FDCWD, l->place.file, SRT_MAX_TEXT, &text, &len) < 0 ||
	    json_doc_parse(&doc, text, len, SRT_MAX_TEXT, l->place.file, &ignored) < 0)
		return;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].fix.key)
			l->v[i].settled = is_settled(&doc, &l->v[i], &l->place);
}
