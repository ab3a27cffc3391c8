/* SPDX-License-Identifier: MIT */
/*
 * wrapix run --settings-from claude: the hosts of Claude Code's settings. Of the files only the project
 * is there at all; a rule about what lies in it is one that 'run' cannot hold, and is refused.
 */
#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "base/path.h"
#include "cli/settings.h"
#include "os/fs.h"
#include "spec/glob.h"
#include "spec/srt.h"

/* What is mounted: the repository around the directory, or the directory alone. */
static const char *mounted(struct arena *arena, const char *dir)
{
	for (const char *d = dir;; d = path_parent(arena, d)) {
		if (access(path_join(arena, d, ".git"), F_OK) == 0)
			return d;
		if (!strcmp(d, "/"))
			return dir;
	}
}

/* Something in there could be meant. */
static bool concerns(struct arena *arena, const char *text, const char *top)
{
	const char *place = glob_is_special(text) ? glob_prefix(arena, text) : text;

	return path_is_below(place, top) || (glob_is_special(text) && path_is_below(top, place));
}

static int check_paths(struct arena *arena, const struct srt_config *config,
		       const struct claude_srt *srt, const char *top, struct err *err)
{
	for (size_t i = 0; i < config->n_paths; i++) {
		const struct srt_path *path = &config->paths[i];
		const struct claude_value *v = path->line && path->line <= srt->n_lines
						       ? srt->lines[path->line - 1]
						       : NULL;

		if (!v || (path->kind != FILE_DENY_READ && path->kind != FILE_DENY_WRITE) ||
		    !concerns(arena, path->text, top))
			continue;
		err_set(err, ENOTSUP, "%s:%u: %s: 'run' cannot hold '%s' inside the project",
			v->path, v->line, v->name, v->string ? v->string : v->json);
		return err_hint(err, "wrapix exec holds it, also as a hook of Claude Code: see "
				     "wrapix-check(1)");
	}
	return 0;
}

static int add_hosts(struct spec *spec, const struct srt_config *config, struct err *err)
{
	enum layer layer;
	int r = 0;

	for (size_t i = 0; r == 0 && i < config->allowed.len; i++)
		r = spec_add_rule(spec, config->allowed.v[i], false, LAYER_FLAG, err);
	for (size_t i = 0; r == 0 && i < config->denied.len; i++)
		r = spec_add_rule(spec, config->denied.v[i], true, LAYER_FLAG, err);
	if (r == 0 && !(spec_layer(spec, "network", &layer) && layer == LAYER_FLAG))
		r = spec_set(spec, "network", "filtered", LAYER_FLAG, err);
	return r;
}

int cli_run_claude(struct wrapix_spec *outer, struct err *err)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str why = { 0 };
	struct claude_files files = { .n = 0 };
	struct srt_config config = { 0 };
	struct claude_where where;
	struct claude_srt srt = { .n_lines = 0 };
	int r = cli_claude_where(&arena, NULL, NULL, &where, err);

	if (r < 0)
		return r;
	where.dir = os_realpath(&arena, outer->spec.dir);
	if (!where.dir)
		return err_errno(err, errno, "opening '%s'", outer->spec.dir);
	r = claude_load(&s, &where, &files, err);
	if (r == 0) {
		claude_to_srt(&s, &srt);
		if (srt_parse(&config, srt.text.s, srt.text.len, "settings", &why) < 0)
			r = err_usage(err, "Claude Code's settings: %s", why.s);
	}
	if (r == 0)
		r = check_paths(&arena, &config, &srt, mounted(&arena, where.dir), err);
	if (r == 0)
		r = add_hosts(&outer->spec, &config, err);
	srt_config_release(&config);
	claude_srt_release(&srt);
	claude_files_release(&files);
	return r;
}
