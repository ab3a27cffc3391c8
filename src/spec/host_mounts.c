/* SPDX-License-Identifier: MIT */
/* What stands at the sources of mounts, and how one gets there and to the project. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/fs.h"
#include "spec/host_priv.h"

/* A sandbox writes there, an earlier one as well. */
static bool is_open(const struct host *host, const char *real)
{
	return path_is_below(real, host->project.top) || path_is_below(real, host->project.dir);
}

static bool exists(struct arena *a, const char *dir, const char *name)
{
	struct stat st;

	return lstat(path_join(a, dir, name), &st) == 0;
}

/* A link there was made by who writes in this directory: the top of the project that it lies in; NULL: in none. */
static const char *project_around(struct host *host, const char *dir)
{
	struct arena *a = &host->arena;

	for (; strcmp(dir, "/") != 0 && !host_holds_home(host, dir); dir = path_parent(a, dir))
		if (exists(a, dir, ".git") || exists(a, dir, "wrapix.json") ||
		    exists(a, dir, ".wrapix"))
			return dir;
	return NULL;
}

static bool leaves(struct host *host, const char *dir, const char *real)
{
	const char *top = project_around(host, dir);

	return (is_open(host, dir) && !is_open(host, real)) || (top && !path_is_below(real, top));
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The link that stands where sandboxes write and leads away from there, on the way of an absolute path; NULL: none.
 * '..' is the user's own word. */
static char *find_way_out(struct host *host, const char *path)
{
	struct arena *a = &host->arena;
	char *dir = arena_strdup(a, "/");

	while (dir && *(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");
		char *next = path_join(a, dir, arena_strndup(a, path, len));
		char *real = os_realpath(a, next);

		if (real && is_link(next) && leaves(host, dir, real))
			return next;
		dir = real;
		path += len;
	}
	return NULL;
}

/* The directory that one stands in, by the way that one came, which a shell knows. */
static const char *find_here(struct arena *a)
{
	char *real = os_realpath(a, ".");
	const char *way = getenv("PWD");
	char *led = way && *way == '/' ? os_realpath(a, way) : NULL;

	return led && real && !strcmp(led, real) ? way : real;
}

void host_probe_way(const struct spec *spec, struct host *host)
{
	const char *here = spec->dir[0] == '/' ? "" : find_here(&host->arena);

	if (here)
		host->project.way = find_way_out(
			host, arena_printf(&host->arena, "%s/%s", here, spec->dir));
}

void host_probe_mounts(const struct spec *spec, struct host *host)
{
	char *here = os_realpath(&host->arena, ".");

	for (size_t i = 0; i < spec->n_mounts; i++) {
		const struct mount_spec *mount = &spec->mounts[i];
		char *source = path_expand(&host->arena, mount->src, host->home, host->user);
		const char *base = mount->layer == LAYER_FLAG ? here : host_config_base(spec, host);
		char *path = source, *real;
		struct stat st;

		if (source[0] != '/' && base)
			path = arena_printf(&host->arena, "%s/%s", base, source);
		real = os_realpath(&host->arena, path);
		if (real && stat(real, &st) == 0)
			host_add_fact(host, &host->mounts, real, path_kind_of(&st),
				      find_way_out(host, path));
		else
			host_add_fact(host, &host->mounts,
				      path_join(&host->arena, base ? base : "", source),
				      PATH_ABSENT, NULL);
	}
}
