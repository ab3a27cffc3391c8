/* SPDX-License-Identifier: MIT */
/*
 * A configuration text, read as each kind of file. What is accepted keeps the rules of a spec; what a
 * project's file widens is noted, and what was not noted is harmless.
 */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "spec/config.h"
#include "fuzz.h"

static void check_error(const struct err *err, int r)
{
	check(r == -EINVAL && err->code == EINVAL && err->exit == EXIT_USAGE && err->msg[0]);
	for (const char *p = err->msg; *p; p++)
		check((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void check_spec(const struct spec *spec)
{
	for (size_t i = 0; i < spec->n_mounts; i++) {
		const struct mount_spec *mount = &spec->mounts[i];

		check(mount->src[0] && mount->dest[0] == '/' && mount->dest[1]);
		check(!strstr(mount->dest, "//") && !strstr(mount->dest, "/../"));
		check(!path_is_below(mount->dest, "/proc") && !path_is_below(mount->dest, "/dev"));
		check(strcmp(mount->dest, WORKSPACE_INSIDE) && strcmp(mount->dest, HOME_INSIDE));
	}
	for (size_t i = 0; i < spec->n_env; i++)
		check(spec->env[i].name[0] && !strchr(spec->env[i].name, '=') &&
		      strcmp(spec->env[i].name, "HOME"));
	check(spec->engine <= ENGINE_APPLE && spec->net <= NET_FILTERED && spec->home <= HOME_KEEP);
	check(!(spec->limits.cpus < 0) && spec->limits.cpus < 100000);
}

/* A project that widens nothing gets nothing. */
static void check_harmless(const struct spec *spec)
{
	check(spec->net != NET_HOST && !spec->allow_nested);
	check(!spec->agent || !strchr(spec->agent, '/'));
	check(!spec->profile || !strcmp(spec->profile, "base"));
	for (size_t i = 0; i < spec->n_env; i++)
		check(spec->env[i].value);
	for (size_t i = 0; i < spec->n_mounts; i++) {
		_cleanup_(arena_release) struct arena arena = { NULL };
		const char *src = spec->mounts[i].src, *clean = path_join(&arena, "", src);

		check(!strchr("/~$", src[0]) && clean[0] != '/');
		check(strcmp(clean, "..") && strncmp(clean, "../", 3));
	}
}

static void check_shown(const struct project_config *project)
{
	for (size_t i = 0; i < project->n_widenings; i++)
		for (const char *p = project->widenings[i].shown; *p; p++)
			check((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void read_as(const char *text, size_t size, enum layer layer)
{
	struct project_config project = { .path = NULL };
	struct err err = { 0 };
	struct spec spec;
	int r;

	spec_init(&spec);
	r = config_parse(&spec, text, size, "f", layer, layer == LAYER_PROJECT ? &project : NULL,
			 &err);
	if (r < 0)
		check_error(&err, r);
	else
		check_spec(&spec);
	if (r == 0 && layer == LAYER_PROJECT && !project.n_widenings)
		check_harmless(&spec);
	check_shown(&project);
	project_config_release(&project);
	spec_release(&spec);
}

/* Any bytes survive being written as JSON and read again. */
static void round_trip(const char *text, size_t size)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *s = arena_strndup(&arena, text, MIN(size, (size_t)1000));
	_cleanup_json_ struct json_object *value = NULL;
	_cleanup_str_ struct str out = { 0 };
	struct err err;

	json_add_string(&out, s);
	check(json_parse(out.s, out.len, "f", &value, &err) == 0);
	check(!strcmp(json_object_get_string(value), s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum layer layers[] = { LAYER_PROFILE, LAYER_USER, LAYER_PROJECT };

	for (size_t i = 0; i < ARRAY_LEN(layers); i++)
		read_as((const char *)data, size, layers[i]);
	round_trip((const char *)data, size);
	return 0;
}
