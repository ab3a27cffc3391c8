/* SPDX-License-Identifier: MIT */
/* Claude Code's settings, read again and again; see claude_policy.h. */
#include "api/claude_policy.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"

static int refuse(int code, const char *first, const char *second, struct str *why)
{
	str_release(why);
	*why = (struct str){ 0 };
	str_add(why, "Error: ");
	str_add_escaped(why, first);
	str_addf(why, "\n%s", second);
	return code;
}

static bool says_something(const struct claude_source *source)
{
	return strspn(source->text, " \t\r\n") < source->len;
}

/* While somebody edits, a file may be gone or empty for a moment; what it denied still counts. */
static const char *missing_now(const struct claude_policy *p, const struct claude_files *files)
{
	for (size_t i = 0; i < p->said.len; i++) {
		bool there = false;

		for (size_t k = 0; k < files->n; k++)
			there |= !strcmp(files->sources[k].path, p->said.v[i]) &&
				 says_something(&files->sources[k]);
		if (!there)
			return p->said.v[i];
	}
	return NULL;
}

/* "KEY at FILE:LINE" */
static char *lock_text(struct claude_policy *p, const struct claude_value *lock)
{
	return lock ? arena_printf(&p->arena, "%s at %s:%u", lock->name, lock->path, lock->line)
		    : NULL;
}

static void remember(struct claude_policy *p, const struct claude_settings *s,
		     const struct claude_files *files)
{
	const char *config = p->where.config;

	if (!p->local) {
		p->hosts_lock = lock_text(p, s->domains_lock);
		p->paths_lock = lock_text(p, s->paths_lock);
	}
	if (!p->local && (!files->place.trusted || s->lock))
		p->local = path_join(
			&p->arena, config ? config : path_join(&p->arena, p->where.home, ".claude"),
			"settings.json");
	else if (!p->local)
		p->local = arena_strdup(&p->arena, files->local);
	for (size_t i = 0; i < files->n; i++)
		if (says_something(&files->sources[i]) &&
		    !strv_has(&p->said, files->sources[i].path))
			strv_add(&p->arena, &p->said, files->sources[i].path);
	for (size_t i = 0; i < files->watch.len; i++)
		if (!strv_has(&p->watched, files->watch.v[i]))
			strv_add(&p->arena, &p->watched, files->watch.v[i]);
}

/* A line in our text leads to the line it was written at. */
static const struct claude_value *value_at(const struct claude_srt *srt, unsigned line)
{
	return line && line <= srt->n_lines ? srt->lines[line - 1] : NULL;
}

static void set_origins(struct srt_config *config, const struct claude_srt *srt)
{
	for (size_t i = 0; i < config->n_denied_at; i++) {
		struct srt_denied *at = &config->denied_at[i];
		const struct claude_value *v = value_at(srt, at->line);

		if (!v)
			continue;
		at->origin = arena_printf(&config->arena, "%s:%u", v->path, v->line);
		at->key = arena_strdup(&config->arena, v->name);
		at->shown = v->string ? arena_strdup(&config->arena, v->string) : NULL;
	}
	for (size_t i = 0; i < config->n_paths; i++) {
		struct srt_path *path = &config->paths[i];
		const struct claude_value *v = value_at(srt, path->line);

		if (!v &&
		    path->kind == FILE_DENY_WRITE) /* nobody wrote it, and nobody can take it out */
			path->key = arena_strdup(&config->arena, "always");
		if (!v)
			continue;
		path->origin = arena_printf(&config->arena, "%s:%u", v->path, v->line);
		path->key = arena_strdup(&config->arena, v->name);
		path->shown = v->string ? arena_strdup(&config->arena, v->string) : NULL;
	}
}

static int convert(struct claude_settings *s, struct srt_config *ret, struct str *why)
{
	_cleanup_str_ struct str what = { 0 };
	struct claude_srt srt;
	int r;

	claude_to_srt(s, &srt);
	r = srt_parse(ret, srt.text.s, srt.text.len, "Claude Code's settings", &what);
	if (r == 0) {
		set_origins(ret, &srt);
		ret->origin = NULL;
	} else {
		_cleanup_str_ struct str line = { 0 };

		str_addf(&line, "Claude Code's settings: %s", what.s);
		r = refuse(r, line.s, "'wrapix settings --explain KEY' says where it is written.",
			   why);
	}
	claude_srt_release(&srt);
	return r;
}

int claude_policy_load(struct claude_policy *p, struct srt_config *ret, bool live,
		       struct str *ret_why)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	struct claude_files files = { .n = 0 };
	const char *missing;
	struct err err = { 0 };
	int r = claude_load(&s, &p->where, &files, &err);

	missing = r == 0 && live ? missing_now(p, &files) : NULL;
	if (missing)
		r = -ENOENT;
	else if (r < 0)
		r = refuse(r == -ENOENT ? -EINVAL : r, err.msg, err.hint, ret_why);
	else
		r = convert(&s, ret, ret_why);
	if (r == 0)
		remember(p, &s, &files);
	claude_files_release(&files);
	return r;
}

static const char *keep(struct claude_policy *p, const char *text)
{
	return text ? arena_strdup(&p->arena, text) : NULL;
}

void claude_policy_init(struct claude_policy *p, const struct claude_where *where)
{
	*p = (struct claude_policy){ 0 };
	p->where = (struct claude_where){
		.dir = keep(p, where->dir),
		.project = keep(p, where->project),
		.settings = keep(p, where->settings),
		.home = keep(p, where->home),
		.config = keep(p, where->config),
		.trust = where->trust,
	};
}

void claude_policy_release(struct claude_policy *p)
{
	arena_release(&p->arena);
}
