/* SPDX-License-Identifier: MIT */
/* Claude Code's settings for a command: as srt's, with each path's own file and line. */
#include <errno.h>
#include <string.h>

#include "api/exec_priv.h"

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
static const char *missing_now(const struct exec *x, const struct claude_files *files)
{
	for (size_t i = 0; i < x->claude.len; i++) {
		bool there = false;

		for (size_t k = 0; k < files->n; k++)
			there |= !strcmp(files->sources[k].path, x->claude.v[i]) &&
				 says_something(&files->sources[k]);
		if (!there)
			return x->claude.v[i];
	}
	return NULL;
}

static void remember(struct exec *x, const struct claude_files *files)
{
	if (!x->local)
		x->local = arena_strdup(&x->arena, files->local);
	for (size_t i = 0; i < files->n; i++)
		if (says_something(&files->sources[i]) &&
		    !strv_has(&x->claude, files->sources[i].path))
			strv_add(&x->arena, &x->claude, files->sources[i].path);
	for (size_t i = 0; i < files->watch.len; i++)
		if (!strv_has(&x->watched, files->watch.v[i]))
			strv_add(&x->arena, &x->watched, files->watch.v[i]);
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
	}
	for (size_t i = 0; i < config->n_paths; i++) {
		struct srt_path *path = &config->paths[i];
		const struct claude_value *v = value_at(srt, path->line);

		if (!v)
			continue;
		path->origin = arena_printf(&config->arena, "%s:%u", v->path, v->line);
		path->key = arena_strdup(&config->arena, v->name);
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

int exec_claude_load(struct exec *x, struct srt_config *ret, bool live, struct str *ret_why)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	struct claude_files files = { .n = 0 };
	const char *missing;
	struct err err = { 0 };
	int r = claude_load(&s, x->request.claude, &files, &err);

	missing = r == 0 && live ? missing_now(x, &files) : NULL;
	if (missing)
		r = -ENOENT;
	else if (r < 0)
		r = refuse(r == -ENOENT ? -EINVAL : r, err.msg, err.hint, ret_why);
	else
		r = convert(&s, ret, ret_why);
	if (r == 0)
		remember(x, &files);
	claude_files_release(&files);
	return r;
}
