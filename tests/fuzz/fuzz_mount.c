/* SPDX-License-Identifier: MIT */
/* One text as a --mount, an --env and a size. What is accepted keeps the rules and can be written again. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "spec/spec.h"
#include "fuzz.h"

static void try_mount(const char *text)
{
	struct spec spec, again;
	struct err err = { 0 };
	int r;

	spec_init(&spec);
	spec_init(&again);
	r = spec_add_mount_string(&spec, text, LAYER_FLAG, &err);
	if (r < 0) {
		check_refusal(r, &err);
		check(!spec.n_mounts);
	} else {
		const struct mount_spec *a = &spec.mounts[0], *b;

		check(spec.n_mounts == 1 && a->src[0] && a->dest[0] == '/' && a->dest[1]);
		check(!strcmp(a->dest, path_join(&spec.arena, "/", a->dest)));
		check(!strchr(a->src, ':') && !strchr(a->dest, ':'));
		check(!path_is_below(a->dest, "/sys") && strcmp(a->dest, WORKSPACE_INSIDE));
		r = spec_add_mount_string(&again,
					  arena_printf(&spec.arena, "%s:%s:%s%s", a->src, a->dest,
						       a->rw ? "rw" : "ro",
						       a->optional ? ",optional" : ""),
					  LAYER_FLAG, &err);
		check(r == 0);
		b = &again.mounts[0];
		check(!strcmp(a->src, b->src) && !strcmp(a->dest, b->dest) && a->rw == b->rw &&
		      a->optional == b->optional && a->dest_hash == b->dest_hash);
		check(spec_add_mount_string(&spec, text, LAYER_FLAG, &err) < 0);
	}
	spec_release(&spec);
	spec_release(&again);
}

static void try_env(const char *text)
{
	struct err err = { 0 };
	struct spec spec;
	int r;

	spec_init(&spec);
	r = spec_add_env_string(&spec, text, LAYER_FLAG, &err);
	if (r < 0) {
		check_refusal(r, &err);
	} else {
		size_t len = strlen(spec.env[0].name);

		check(!strncmp(spec.env[0].name, text, len));
		check(spec.env[0].value
			      ? text[len] == '=' && !strcmp(spec.env[0].value, text + len + 1)
			      : !text[len]);
	}
	spec_release(&spec);
}

static void try_scalars(const char *text)
{
	static const char *const keys[] = { "profile", "agent", "name", "engine",
					    "network", "home",  "cpus", "memory",
					    "pids",    "disk",  "only" };
	struct err err = { 0 };
	struct spec spec;

	spec_init(&spec);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		int r = spec_set(&spec, keys[i], text, LAYER_FLAG, &err);

		if (r < 0)
			check_refusal(r, &err);
	}
	check(!spec.profile || spec.profile[0] == '/' || !strchr(spec.profile, '/'));
	check(!spec.limits.memory || spec.limits.memory >= 1 << 20);
	check(spec.limits.pids <= 1 << 22);
	check(!(spec.limits.cpus < 0) && spec.limits.cpus < 100000);
	spec_release(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	check(text);
	if (size)
		memcpy(text, data, size);
	try_mount(text);
	try_env(text);
	try_scalars(text);
	free(text);
	return 0;
}
