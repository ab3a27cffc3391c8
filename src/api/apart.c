/* SPDX-License-Identifier: MIT */
/* Directories that were kept apart: where they are, and how the next session gets them. */
#include "api/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/gated_priv.h"
#include "api/protection.h"
#include "base/json.h"
#include "base/path.h"
#include "cow/copy.h"
#include "os/dir.h"
#include "os/fs.h"

/* ------------------------------------------------------------------ finding them */

/* The project that a gate was of, in the arena. */
static char *project_of(int meta, struct arena *arena)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *project = NULL;
	struct err ignored;
	size_t len;

	if (os_read_file_at(meta, "meta", 65536, &text, &len) < 0 ||
	    json_parse(text, len, "meta", &root, &ignored) < 0 ||
	    !json_object_is_type(root, json_type_object))
		return NULL;
	project = json_object_object_get(root, "project");
	return json_object_is_type(project, json_type_string)
		       ? arena_strdup(arena, json_object_get_string(project))
		       : NULL;
}

/* Held while a session has them, or somebody decides about them. */
static int lock_of(int meta)
{
	int fd = openat(meta, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return -EBUSY;
	}
	return fd < 0 ? -errno : fd;
}

static bool is_done(int meta)
{
	return faccessat(meta, "done", F_OK, 0) == 0;
}

int apart_open_meta(const struct apart *apart)
{
	struct arena arena = { 0 };
	int fd = open(arena_printf(&arena, "%s/../../../gate/%s", apart->place, apart->id),
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	arena_release(&arena);
	return fd < 0 ? -errno : fd;
}

int apart_open_upper(const struct apart *apart)
{
	struct arena arena = { 0 };
	int fd = open(path_join(&arena, apart->place, GATE_UPPER),
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	arena_release(&arena);
	return fd < 0 ? -errno : fd;
}

static int open_lower(const struct apart *apart)
{
	_cleanup_close_ int root = os_open_plain(apart->project);

	return root < 0 ? -errno
			: os_openat2(root, apart->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
				     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

void apart_changes(const struct apart *apart, const struct timespec *since, struct later_list *list)
{
	_cleanup_close_ int upper = apart_open_upper(apart), lower = open_lower(apart);

	if (!list->was.protection.aliases)
		list->was.protection.aliases = &apart->aliases;
	if (upper >= 0)
		later_held(list, upper, lower, apart->path, since);
}

bool apart_is_empty(const struct apart *apart)
{
	struct later_list list = { .v = NULL };
	bool empty;

	apart_changes(apart, NULL, &list);
	empty = !list.n && !list.unseen.len;
	later_list_release(&list);
	return empty;
}

static void add_places(int meta, const struct apart *like, const char *state, struct arena *arena,
		       struct apart **list, size_t *n)
{
	struct gate_place *places;
	struct err ignored;
	size_t n_places;

	if (gate_read(meta, arena, &places, &n_places, &ignored) < 0)
		return;
	for (size_t i = 0; i < n_places; i++) {
		const char *below = places[i].path ? path_below(places[i].path, like->project)
						   : NULL;
		struct apart apart = *like;

		apart.place = arena_printf(arena, "%s/wrapix/gatedirs/%s/%u", state, like->id,
					   places[i].number);
		if (places[i].kind != GATE_HELD || !below || !*below ||
		    access(apart.place, F_OK) < 0)
			continue;
		apart.path = arena_strdup(arena, below);
		if (!apart_is_empty(&apart))
			*(struct apart *)arena_grow(arena, list, n, sizeof(**list)) = apart;
		else if (!apart.running)
			apart_drop(&apart, NULL, &ignored);
	}
}

int apart_list(const char *state_home, const char *dir, struct arena *arena, struct apart **ret,
	       size_t *ret_n, _unused_ struct err *err)
{
	_cleanup_dir_ DIR *list = opendir(path_join(arena, state_home, "wrapix/gate"));
	struct dirent *entry;

	*ret = NULL;
	*ret_n = 0;
	while ((entry = os_dir_next(list)) != NULL) {
		_cleanup_close_ int meta = -1;
		struct apart like = { .id = NULL };

		if (entry->d_name[0] == '.')
			continue;
		meta = openat(dirfd(list), entry->d_name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		like.project = meta < 0 ? NULL : project_of(meta, arena);
		if (!like.project || !path_is_below(dir, like.project))
			continue;
		like.id = arena_strdup(arena, entry->d_name);
		like.running = !is_done(meta);
		gated_read_aliases(meta, arena, &like.aliases);
		add_places(meta, &like, state_home, arena, ret, ret_n);
	}
	return 0;
}

/* ------------------------------------------------------------------ forgetting it */

/* The directory in the project; it may have gone with its branch. */
int apart_make_lower(const struct apart *apart)
{
	_cleanup_close_ int root = os_open_plain(apart->project);
	_cleanup_close_ int above = -1;
	struct arena arena = { 0 };

	if (root >= 0)
		above = later_open_above(root, &arena, apart->path);
	if (above >= 0)
		mkdirat(above, path_name(apart->path), 0755);
	arena_release(&arena);
	return open_lower(apart);
}

int apart_lock(const struct apart *apart, struct err *err)
{
	_cleanup_close_ int meta = apart_open_meta(apart);
	int fd = meta < 0 ? meta : lock_of(meta);

	if (fd != -EBUSY)
		return fd < 0 ? err_errno(err, -fd, "opening what is held of '%s'", apart->path)
			      : fd;
	err_set(err, EBUSY, "the session %s runs, and has '%s'", apart->id, apart->path);
	return err_hint(err, "'wrapix stop %s' ends it", apart->id);
}

int apart_remove_place(const struct apart *apart)
{
	struct arena arena = { 0 };
	char *above = path_parent(&arena, apart->place);
	char *gate = path_join(&arena, path_parent(&arena, path_parent(&arena, above)), "gate");
	_cleanup_close_ int dir = open(apart->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir >= 0)
		open_up_tree(dir); /* overlayfs leaves a directory that nobody may enter */
	r = os_remove_tree(AT_FDCWD, apart->place);
	/* The last of a session. */
	if (r == 0 && rmdir(above) == 0)
		os_remove_tree(AT_FDCWD, path_join(&arena, gate, apart->id));
	arena_release(&arena);
	return r;
}

int apart_drop(const struct apart *apart, const char *file, struct err *err)
{
	_cleanup_close_ int held = apart_lock(apart, err), upper = -1;
	int r = MIN(held, 0);

	if (r < 0)
		return r;
	upper = file ? apart_open_upper(apart) : -1;
	if (upper >= 0)
		r = os_remove_tree(upper, file);
	if (r == 0 && (!file || apart_is_empty(apart)))
		r = apart_remove_place(apart);
	return r < 0 ? err_errno(err, -r, "removing what was held of '%s'", apart->path) : 0;
}

/* ------------------------------------------------------------------ the next session */

/* The directory stands in the project, or can be made there; ret_made: it was. */
static bool has_place(const struct apart *apart, bool *ret_made)
{
	_cleanup_close_ int there = open_lower(apart);

	*ret_made = there == -ENOENT;
	if (there == -ENOENT)
		there = apart_make_lower(apart);
	return there >= 0;
}

/* overlayfs takes one that was mounted before, and is not synced, once its own directory is new. */
static bool renew(const char *place)
{
	_cleanup_close_ int dir = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int work = -1;

	work = dir < 0 ? -1 : openat(dir, GATE_WORK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (work >= 0)
		open_up_tree(work);
	return dir >= 0 && os_remove_tree(dir, GATE_WORK) == 0 &&
	       mkdirat(dir, GATE_WORK, 0755) == 0;
}

/* First the list, then the directories: killed in between, they are in one of the two. */
static void carry(const struct apart *list, size_t n, int old, const char *to, int meta,
		  struct arena *arena, struct gate_place **ret, size_t *ret_n)
{
	size_t first = *ret_n, n_new = 0;
	struct err ignored;

	for (size_t i = 0; i < n && *ret_n < GATE_PLACES_MAX / 2; i++) {
		struct gate_place place = { (unsigned)*ret_n, GATE_HELD, false,
					    path_join(arena, list[i].project, list[i].path) };

		if (!has_place(&list[i], &place.made))
			continue;
		*(struct gate_place *)arena_grow(arena, (void *)ret, ret_n, sizeof(**ret)) = place;
		n_new++;
	}
	if (!n_new || gate_write(meta, *ret, *ret_n, &ignored) < 0) {
		*ret_n = first;
		return;
	}
	for (size_t i = 0, k = first; i < n && k < *ret_n; i++) {
		char *place = arena_printf(arena, "%s/%u", to, (*ret)[k].number);

		if (strcmp(path_below((*ret)[k].path, list[i].project), list[i].path) != 0)
			continue;
		k++;
		apart_carry_base(&list[i], old, meta);
		if (rename(list[i].place, place) == 0)
			renew(place);
	}
}

void apart_carry(const char *state_home, const char *project, const char *id, int meta,
		 struct arena *arena, struct gate_place **ret, size_t *ret_n)
{
	char *to = arena_printf(arena, "%s/wrapix/gatedirs/%s", state_home, id);
	_cleanup_dir_ DIR *list = opendir(path_join(arena, state_home, "wrapix/gate"));
	struct dirent *entry;

	*ret = NULL;
	*ret_n = 0;
	while ((entry = os_dir_next(list)) != NULL) {
		_cleanup_close_ int old = -1, lock = -1;
		struct apart like = { .id = entry->d_name }, *aparts = NULL;
		size_t n = 0;

		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, id))
			continue;
		old = openat(dirfd(list), entry->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		like.project = old < 0 || !is_done(old) ? NULL : project_of(old, arena);
		if (!like.project || strcmp(like.project, project) != 0 ||
		    (lock = lock_of(old)) < 0)
			continue;
		like.running = true; /* nothing is forgotten here */
		add_places(old, &like, state_home, arena, &aparts, &n);
		carry(aparts, n, old, to, meta, arena, ret, ret_n);
		if (n && rmdir(arena_printf(arena, "%s/wrapix/gatedirs/%s", state_home,
					    entry->d_name)) == 0)
			os_remove_tree(dirfd(list), entry->d_name);
	}
}
