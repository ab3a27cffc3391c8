/* SPDX-License-Identifier: MIT */
/* "--protect CLASS=LEVEL" and "PATH=LEVEL": a path that is taken lies in the project and outside of .git; and a URL of a credential's. */
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "spec/credential.h"
#include "spec/spec.h"
#include "fuzz.h"

/* Below the project, and said in one way. */
static bool is_clean(struct arena *arena, const char *path)
{
	const char *whole = path_join(arena, "/", path);

	return *path && *path != '/' && !strcmp(whole + 1, path);
}

static void try_protect(const char *text)
{
	struct err err = { 0 };
	struct spec spec;

	spec_init(&spec);
	if (spec_add_protect(&spec, text, LAYER_FLAG, &err) < 0)
		check(err.exit == EXIT_USAGE && err.msg[0] && !spec.protect.n_paths);
	for (size_t i = 0; i < spec.protect.n_paths; i++) {
		const struct protect_path *p = &spec.protect.paths[i];

		check(is_clean(&spec.arena, p->path) && p->len == strlen(p->path));
		check(strcasecmp(p->path, ".git") && strncasecmp(p->path, ".git/", 5));
		check(p->level > PROTECT_UNSET && p->level <= PROTECT_RO);
	}
	spec_release(&spec);
}

static void try_upstream(const char *text)
{
	struct arena arena = { 0 };
	struct upstream up = { 0 };
	struct err err = { 0 };

	if (upstream_parse(&arena, text, &up, &err) == 0)
		check(up.port && up.host[0] && up.prefix[0] == '/' && !strchr(up.host, '/'));
	else
		check(err.msg[0]);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);

	check(text);
	try_protect(text);
	try_upstream(text);
	return 0;
}
