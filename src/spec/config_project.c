/* SPDX-License-Identifier: MIT */
/*
 * A project's own files: wrapix.json, and profiles in .wrapix/profiles/. They may be an attacker's. Each
 * is opened once, without following links, and read once; the bytes that were read are what the user is
 * asked to trust, all of them together.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "spec/config_priv.h"
#include "spec/credential.h"

#define PROFILES ".wrapix/profiles"
#define INSIDE (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)

enum { MAX_PROFILES = 256 };

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct project_profile *)a)->name,
		      ((const struct project_profile *)b)->name);
}

static int read_profile(struct project_config *project, int dir, const char *at, const char *file,
			struct err *err)
{
	struct arena *a = &project->arena;
	struct project_profile profile = {
		.name = arena_strndup(a, file, strlen(file) - strlen(".json")),
		.path = arena_printf(a, "%s/%s", at, file),
	};
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str shown = { 0 };
	int r;

	str_add_escaped(&shown, profile.path);
	r = config_read_at(dir, file, INSIDE, shown.s, &text, &profile.len, err);
	if (r < 0 || !text)
		return r;
	profile.bytes = arena_strndup(a, text, profile.len);
	*(struct project_profile *)arena_grow(a, &project->profiles, &project->n_profiles,
					      sizeof(profile)) = profile;
	return 0;
}

static int read_profiles(struct project_config *project, int dir_fd, const char *dir,
			 struct err *err)
{
	int fd = os_openat2(dir_fd, PROFILES, O_RDONLY | O_DIRECTORY, 0, INSIDE), r = 0;
	char *at = path_join(&project->arena, dir, PROFILES);
	_cleanup_dir_ DIR *list = NULL;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	list = os_dir_take(fd);
	if (!list)
		return err_errno(err, fd < 0 ? -fd : errno, "opening '%s'", at);
	for (struct dirent *entry; r == 0 && (entry = os_dir_next(list));) {
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || len < 6 || strcmp(entry->d_name + len - 5, ".json"))
			continue;
		if (project->n_profiles == MAX_PROFILES)
			r = err_usage(err, "%s: more than %d profiles", at, MAX_PROFILES);
		else
			r = read_profile(project, dirfd(list), at, entry->d_name, err);
	}
	if (project->n_profiles)
		qsort(project->profiles, project->n_profiles, sizeof(*project->profiles), compare);
	return r;
}

int config_load_project(struct spec *spec, int dir_fd, const char *dir,
			struct project_config *ret_project, struct err *err)
{
	struct project_config project = { .path = NULL };
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str shown = { 0 };
	int r;

	project.path = path_join(&project.arena, dir, "wrapix.json");
	str_add_escaped(&shown, project.path);
	r = config_read_at(dir_fd, "wrapix.json", INSIDE, shown.s, &text, &project.len, err);
	if (r == 0 && text) {
		project.bytes = arena_strndup(&project.arena, text, project.len);
		r = config_parse(spec, project.bytes, project.len, project.path, LAYER_PROJECT,
				 &project, err);
	}
	if (r == 0)
		r = read_profiles(&project, dir_fd, dir, err);
	if (r < 0) {
		project_config_release(&project);
		return r;
	}
	if (!text)
		project.path = project.n_profiles ? project.profiles[0].path : NULL;
	*ret_project = project;
	return 0;
}

int config_read_project(const char *dir, char **ret_text, size_t *ret_len, struct err *err)
{
	_cleanup_close_ int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_str_ struct str shown = { 0 };

	if (dir_fd < 0)
		return err_errno(err, errno, "opening '%s'", dir);
	str_add_escaped(&shown, dir);
	str_add(&shown, "/wrapix.json");
	return config_read_at(dir_fd, "wrapix.json", INSIDE, shown.s, ret_text, ret_len, err);
}

/* Something was laid over it. */
static bool is_more(const struct spec *before, const struct spec *spec)
{
	return spec_values_differ(before, spec) || before->n_rules != spec->n_rules ||
	       before->n_credentials != spec->n_credentials ||
	       before->protect.n_paths != spec->protect.n_paths;
}

/* Whoever may write there, or made the project below, is asked nothing: what would be is left out. */
int config_load_around(struct spec *spec, const char *dir, struct err *err)
{
	struct project_config left_out = { .path = path_join(&spec->arena, dir, "wrapix.json") };
	_cleanup_free_ char *text = NULL;
	struct spec before = *spec;
	size_t len;
	int r = config_read_project(dir, &text, &len, err);

	if (r == 0 && text)
		r = config_parse(spec, text, len, left_out.path, LAYER_AROUND, &left_out, err);
	if (r == 0 && text && is_more(&before, spec))
		strv_add(&spec->arena, &spec->around, left_out.path);
	project_config_release(&left_out);
	return r;
}

bool config_around_holds(const struct spec *spec)
{
	for (size_t i = 0; i < SPEC_KEYS; i++)
		if (spec->set_by[i] == LAYER_AROUND + 1)
			return true;
	for (size_t i = 0; i < spec->n_rules; i++)
		if (spec->rules[i].layer == LAYER_AROUND)
			return true;
	for (size_t i = 0; i < spec->n_credentials; i++)
		if (spec->credentials[i].layer == LAYER_AROUND)
			return true;
	for (size_t i = 0; i < spec->protect.n_paths; i++)
		if (spec->protect.paths[i].layer == LAYER_AROUND)
			return true;
	return false;
}

/* Those that are not in the list yet. */
static void add_widenings(struct arena *arena, struct widening **list, size_t *n,
			  const struct widening *more, size_t n_more)
{
	for (size_t i = 0; i < n_more; i++) {
		struct widening *w;
		bool known = false;

		for (size_t k = 0; k < *n && !known; k++)
			known = !strcmp((*list)[k].key, more[i].key) &&
				!strcmp((*list)[k].shown, more[i].shown);
		if (known)
			continue;
		w = arena_grow(arena, list, n, sizeof(*w));
		*w = (struct widening){ arena_strdup(arena, more[i].key),
					arena_strdup(arena, more[i].shown), more[i].when };
	}
}

int config_judge_profiles(struct project_config *project, const char *config_home, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < project->n_profiles; i++) {
		struct project_config one = { .profiles = project->profiles,
					      .n_profiles = project->n_profiles };
		struct spec spec;

		spec_init(&spec);
		r = config_load_user(&spec, config_home, err);
		if (r == 0)
			r = config_load_profile(&spec, project->profiles[i].name, config_home, &one,
						err);
		if (r == 0) {
			add_widenings(&project->arena, &project->widenings, &project->n_widenings,
				      one.widenings, one.n_widenings);
			add_widenings(&project->arena, &project->others, &project->n_others,
				      one.others, one.n_others);
		}
		arena_release(&one.arena);
		spec_release(&spec);
	}
	return r;
}

void project_config_release(struct project_config *project)
{
	arena_release(&project->arena);
	*project = (struct project_config){ .path = NULL };
}
