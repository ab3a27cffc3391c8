/* SPDX-License-Identifier: MIT */
/* What the commands for copy-on-write sessions share. */
#include "cli/cow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/identity.h"
#include "base/path.h"
#include "cli/cli.h"
#include "os/fs.h"

int cli_cow_list(struct arena *arena, struct cow_info **ret, size_t *ret_len, struct err *err)
{
	return cow_list_all(arena, cli_state_home(arena), ret, ret_len, err);
}

/* The latest one of the project around this directory. */
static const struct cow_info *find_here(const struct cow_info *list, size_t n, const char *here)
{
	const struct cow_info *found = NULL;

	for (size_t i = 0; here && i < n; i++)
		if (path_is_below(here, list[i].project) &&
		    (!found || list[i].started >= found->started))
			found = &list[i];
	return found;
}

/* Seen from here, or from the top of the project. */
static char *below_project(struct arena *arena, const char *project, const char *here,
			   const char *word)
{
	const char *below = here ? path_below(path_join(arena, here, word), project) : NULL;

	if (!below)
		below = path_below(path_join(arena, project, word), project);
	return below ? arena_strdup(arena, *below ? below : ".") : NULL;
}

static int none_found(const char *word, size_t n, struct err *err)
{
	if (word)
		err_usage(err, "there is no copy-on-write session '%s'", word);
	else
		err_usage(err, "there is no copy-on-write session of this project");
	return n ? err_hint(err, "'wrapix ps' lists those that are kept")
		 : err_hint(err, "'wrapix run --workspace cow' starts one");
}

static int add_paths(struct cow_target *target, const char *here, char *const *words, size_t n,
		     struct err *err)
{
	target->paths = arena_alloc(&target->arena, (n + 1) * sizeof(char *));
	for (; target->n_paths < n; target->n_paths++) {
		const char *word = words[target->n_paths];
		char *path = below_project(&target->arena, target->cow.project, here, word);

		if (!path)
			return err_usage(err, "'%s' is neither a session nor in the project '%s'",
					 word, target->cow.project);
		target->paths[target->n_paths] = path;
	}
	return 0;
}

int cli_cow_open(struct cow_target *target, char *const *words, size_t n, struct err *err)
{
	struct arena *a = &target->arena;
	const struct cow_info *info = NULL;
	struct cow_info *list = NULL;
	char *here;
	size_t len = 0;
	int r = identity_become_owner(".", err);

	here = os_realpath(a, ".");
	if (r == 0)
		r = cli_cow_list(a, &list, &len, err);
	if (r < 0)
		return r;
	if (n)
		info = cow_find(list, len, words[0]);
	if (info) {
		words++;
		n--;
	} else {
		info = find_here(list, len, here);
	}
	if (!info)
		return none_found(n ? words[0] : NULL, len, err);
	r = cow_open_listed(&target->cow, info, err);
	if (r == 0)
		r = cow_open_project(&target->cow, err);
	return r < 0 ? r : add_paths(target, here, words, n, err);
}

static bool has_path(int dir, const char *path)
{
	_cleanup_close_ int fd = os_openat2(dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
					    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	return fd >= 0;
}

static bool is_changed(const struct changes *changes, char *const *path)
{
	for (size_t i = 0; i < changes->n; i++)
		if (change_is_chosen(&changes->v[i], path, 1))
			return true;
	return false;
}

int cli_cow_changes(struct cow_target *target, struct changes *changes, struct err *err)
{
	const struct cow *cow = &target->cow;
	int r = changes_find(changes, &target->cow, err);

	for (size_t i = 0; r == 0 && i < target->n_paths; i++) {
		char *const *path = &target->paths[i];

		if (is_changed(changes, path) || has_path(cow->root, *path) ||
		    has_path(cow->upper, *path))
			continue;
		err_usage(err,
			  "'%s' is no session, and neither in the project nor in the session "
			  "'%s'",
			  *path, cow->id);
		r = err_hint(err, "'wrapix ps' lists the sessions, 'wrapix diff --stat' what the "
				  "latest changed");
		changes_release(changes);
	}
	return r;
}

void cli_cow_close(struct cow_target *target)
{
	cow_close(&target->cow);
	arena_release(&target->arena);
}

void add_size(struct str *out, uint64_t bytes)
{
	static const char units[] = "BKMGT";
	double n = (double)bytes;
	size_t i = 0;

	for (; n >= 1000 && i + 2 < sizeof(units); i++)
		n /= 1024;
	str_addf(out, i && n < 10 ? "%.1f%c" : "%.0f%c", n, units[i]);
}
