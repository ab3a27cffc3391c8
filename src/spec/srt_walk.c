/* SPDX-License-Identifier: MIT */
/* Where a path of the settings leads, by links and '..'; see srt_walk.h. */
#include "spec/srt_walk.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "spec/glob.h"

#define MAX_LINKS 40

static bool is_trusted_dir(const struct srt_walk *w, const char *dir)
{
	struct stat st;

	return !stat(dir, &st) && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       !path_is_below(dir, w->cwd);
}

static int follow(struct srt_walk *w, const char *link, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target));

	if (n < 0 || n == sizeof(target))
		return err_errno(err, n < 0 ? errno : ENAMETOOLONG, "reading the link '%s'", link);
	if (w->links.len >= MAX_LINKS)
		return err_errno(err, ELOOP, "resolving '%s'", link);
	strv_add(w->arena, &w->links, link);
	w->rest = arena_printf(w->arena, "%.*s/%s", (int)n, target, w->rest);
	if (target[0] == '/')
		w->done = arena_strdup(w->arena, "/");
	return 0;
}

/* One component further; '..' of a link's target goes up from where the link led to. */
static int step(struct srt_walk *w, struct err *err)
{
	size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");
	char *name = arena_strndup(w->arena, w->rest + skip, n), *next;
	struct stat st;

	w->rest += skip + n;
	if (!n || !strcmp(name, "."))
		return 0;
	next = path_join(w->arena, w->done, name);
	if (!strcmp(name, "..") && !w->absent)
		strv_add(w->arena, &w->left, w->done);
	if (!strcmp(name, "..") || w->absent || lstat(next, &st) < 0) {
		w->absent = w->absent || strcmp(name, "..") != 0;
		w->done = next;
		return 0;
	}
	if (!S_ISLNK(st.st_mode)) {
		w->done = next;
		return 0;
	}
	if (w->follow_all || is_trusted_dir(w, w->done))
		return follow(w, next, err);
	w->stop = next;
	return 0;
}

int srt_walk(struct srt_walk *w, const char *path, struct err *err)
{
	int r = 0;

	w->done = arena_strdup(w->arena, "/");
	w->rest = arena_strdup(w->arena, path);
	while (r == 0 && *w->rest && !w->stop)
		r = step(w, err);
	return r;
}

char *srt_absolute(struct arena *arena, const struct srt_place *place, const char *text)
{
	if (text[0] == '~' && (!text[1] || text[1] == '/'))
		return path_join(arena, place->home, text + 1 + (text[1] == '/'));
	return path_join(arena, place->cwd, text);
}

char *srt_raw(struct arena *arena, const struct srt_place *place, const char *text)
{
	if (text[0] == '~' && (!text[1] || text[1] == '/'))
		return arena_printf(arena, "%s/%s", place->home, text + 1);
	return text[0] == '/' ? arena_strdup(arena, text)
			      : arena_printf(arena, "%s/%s", place->cwd, text);
}

static bool goes_up(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")) != NULL; p++)
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

int srt_leads_elsewhere(const struct srt_place *place, const char *raw, struct srt_walk *ret,
			struct err *err)
{
	struct srt_walk text = { .arena = ret->arena, .cwd = place->cwd, .follow_all = true };
	int r;

	*ret = text;
	if (!goes_up(raw))
		return 0;
	r = srt_walk(ret, raw, err);
	if (r == 0)
		r = srt_walk(&text, path_join(ret->arena, "/", raw), err);
	return r < 0 ? r : strcmp(text.done, ret->done) != 0;
}

int srt_is_ambiguous(struct arena *arena, const struct srt_place *place, const char *text,
		     bool literal, const char *key, struct srt_notes *notes, struct err *err)
{
	struct srt_walk w = { .arena = arena };
	char *raw = srt_raw(arena, place, text);
	int r = srt_leads_elsewhere(place, literal ? raw : glob_prefix(arena, raw), &w, err);

	if (r == 1)
		strv_addf(notes->arena, &notes->lines,
			  "%s: '%s' goes up by '..' from what the symbolic link '%s' points to, "
			  "and is not "
			  "followed; name the place itself",
			  key, text, w.links.len ? w.links.v[w.links.len - 1] : raw);
	return r < 0 ? err_wrap(err, "%s", key) : r;
}

char *srt_resolve_allowed(struct arena *arena, const struct srt_place *place, const char *text,
			  const char *key, struct srt_notes *notes, struct err *err)
{
	struct srt_walk w = { .arena = arena, .cwd = place->cwd };
	int r = srt_is_ambiguous(arena, place, text, true, key, notes, err);

	if (r)
		return r < 0 ? NULL : arena_strdup(arena, "");
	if (srt_walk(&w, srt_absolute(arena, place, text), err) < 0) {
		err_wrap(err, "%s", key);
		return NULL;
	}
	if (!w.stop)
		return w.done;
	strv_addf(
		notes->arena, &notes->lines,
		"%s: '%s' goes through the symbolic link '%s', which is not followed; name what it "
		"points to",
		key, text, w.stop);
	return arena_strdup(arena, "");
}
