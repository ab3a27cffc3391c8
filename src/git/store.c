/* SPDX-License-Identifier: MIT */
/* Private git directories on the disk: opened, locked, listed, removed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "git/lasting.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

static int no_session(const char *id, struct err *err)
{
	err_set(err, ENOENT, "there is no session '%s' with a git directory", id);
	return err_hint(err, "'wrapix git status' lists them");
}

int git_store_name(struct git_store *store, const char *state_home, const char *id, struct err *err)
{
	struct arena *a = &store->arena;

	if (!record_id_ok(id))
		return no_session(id, err);
	store->state = path_join(a, state_home, "wrapix");
	store->id = arena_strdup(a, id);
	store->path = arena_printf(a, "%s/git/%s", store->state, id);
	store->private = arena_printf(a, "%s/%s/%s/0", state_home, GIT_PRIVATE_DIR, id);
	return 0;
}

int git_store_make(struct git_store *store, struct err *err)
{
	int r = os_mkdirs(store->private, 0700, err);

	if (r == 0)
		r = git_store_make_record(store, err);
	if (r == 0)
		record_sweep(store->state, "git", "gitdirs");
	return r;
}

int git_store_make_record(struct git_store *store, struct err *err)
{
	int r = os_mkdirs(store->path, 0700, err);

	if (r < 0)
		return r;
	store->dir = record_open_dir(AT_FDCWD, store->path);
	return store->dir < 0 ? err_errno(err, -store->dir, "opening '%s'", store->path) : 0;
}

/* --- further repositories of the session --- */

void git_note_identity(struct arena *arena, struct git_store *store)
{
	char now[GIT_IDENTITY];

	git_identity(store->real, now);
	store->identity = arena_strdup(arena, now);
}

bool git_is_same(const struct git_store *store)
{
	char now[GIT_IDENTITY];

	/* One of an older version that noted none. */
	if (!store->identity || (!*store->identity && !git_is_strict(store)))
		return true;
	git_identity(store->real, now);
	return !strcmp(now, store->identity);
}

struct git_store *git_add_part(struct git_store *main, const char *gitdir, const char *name,
			       const char *where)
{
	struct git_store *part = arena_grow(&main->arena, &main->parts, &main->n_parts,
					    sizeof(*part));
	size_t number = main->n_parts;
	struct arena *a = &main->arena;

	*part = (struct git_store)GIT_STORE_NONE;
	part->state = main->state;
	part->id = main->id;
	part->project = main->project;
	part->top = main->top;
	part->view = main->view;
	part->lasting = main->lasting;
	part->inner = main->inner;
	part->on_step = main->on_step;
	part->program = main->program;
	part->borrowed = main->borrowed;
	part->lent = main->lent;
	part->number = number;
	part->real = part->common = arena_strdup(a, gitdir);
	git_note_identity(a, part);
	part->name = arena_strdup(a, name);
	part->where = where && *where ? arena_strdup(a, where) : NULL;
	part->path = arena_printf(a, "%s/%zu", main->path, number);
	part->private = arena_printf(a, "%s/%zu", path_parent(a, main->private), number);
	return part;
}

/* --- the record --- */

static void add_list(struct str *out, const char *key, char *const *v, size_t n)
{
	str_addf(out, ", \"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? ", " : "");
		json_add_string(out, v[i]);
	}
	str_add(out, "]");
}

int git_store_write_meta(const struct git_store *store, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{\"version\": 1");
	record_add(&out, "project", store->project);
	record_add(&out, "top", store->top);
	record_add(&out, "view", store->view);
	record_add(&out, "lasting", store->lasting ? "yes" : NULL);
	record_add(&out, "inner", store->inner ? "yes" : NULL);
	record_add(&out, "gitDir", store->real);
	record_add(&out, "identity", store->identity);
	record_add(&out, "commonDir", store->common);
	add_list(&out, "borrowed", store->borrowed.v, store->borrowed.len);
	str_add(&out, ", \"parts\": [");
	for (size_t i = 0; i < store->n_parts; i++) {
		const struct git_store *part = &store->parts[i];

		str_addf(&out, "%s{\"fresh\": %s", i ? ", " : "", part->fresh ? "true" : "false");
		record_add(&out, "gitDir", part->real);
		record_add(&out, "identity", part->identity);
		record_add(&out, "name", part->name);
		record_add(&out, "where", part->where);
		record_add(&out, "tree", part->tree ? "yes" : NULL);
		str_add(&out, "}");
	}
	str_add(&out, "]}\n");
	return record_write_file(store->dir, "meta", out.s, out.len, err);
}

static int read_parts(struct git_store *store, struct json_object *list, struct err *err)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (size_t i = store->n_parts; i < n; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		struct git_store *part = git_add_part(store,
						      record_get(&store->arena, item, "gitDir"),
						      record_get(&store->arena, item, "name"),
						      record_get(&store->arena, item, "where"));

		part->identity = record_get(&store->arena, item, "identity");
		if (*record_get(&store->arena, item, "tree"))
			git_become_tree(store, part);
		part->fresh = json_object_get_boolean(json_object_object_get(item, "fresh"));
		part->dir = record_open_dir(AT_FDCWD, part->path);
		if (part->dir < 0 || part->real[0] != '/')
			return err_set(err, EINVAL, "its record is damaged");
	}
	return 0;
}

static int read_meta(struct git_store *store, struct err *err)
{
	_cleanup_json_ struct json_object *meta = NULL;
	struct json_object *borrowed;
	int r = record_read(store->dir, &meta, err);

	if (r < 0)
		return r;
	store->project = record_get(&store->arena, meta, "project");
	store->top = record_get(&store->arena, meta, "top");
	store->view = record_get(&store->arena, meta, "view");
	if (!*store->view)
		store->view = NULL;
	store->lasting = *record_get(&store->arena, meta, "lasting");
	store->inner = *record_get(&store->arena, meta, "inner");
	store->real = record_get(&store->arena, meta, "gitDir");
	store->identity = record_get(&store->arena, meta, "identity");
	store->common = record_get(&store->arena, meta, "commonDir");
	if (store->project[0] != '/' || store->real[0] != '/' || store->common[0] != '/')
		return err_set(err, EINVAL, "its record is damaged");
	borrowed = json_object_object_get(meta, "borrowed");
	for (size_t i = 0; json_object_is_type(borrowed, json_type_array) &&
			   i < json_object_array_length(borrowed);
	     i++) {
		const char *path = json_object_get_string(json_object_array_get_idx(borrowed, i));

		if (!path || path[0] != '/')
			return err_set(err, EINVAL, "its record is damaged");
		strv_add(&store->arena, &store->borrowed, path);
	}
	return read_parts(store, json_object_object_get(meta, "parts"), err);
}

int git_reload_parts(struct git_store *store, struct err *err)
{
	_cleanup_json_ struct json_object *meta = NULL;
	int r = record_read(store->dir, &meta, err);

	return r < 0 ? r : read_parts(store, json_object_object_get(meta, "parts"), err);
}

int git_open(struct git_store *store, const char *state_home, const char *id, const char *program,
	     struct err *err)
{
	int r;

	*store = (struct git_store)GIT_STORE_NONE;
	r = git_store_name(store, state_home, id, err);
	if (r < 0)
		return r;
	store->program = arena_strdup(&store->arena, program);
	store->dir = record_open_dir(AT_FDCWD, store->path);
	r = store->dir < 0 ? err_errno(err, -store->dir, "opening it") : read_meta(store, err);
	if (r < 0) {
		bool absent = store->dir == -ENOENT;

		git_close(store);
		if (absent)
			return no_session(id, err);
		return err_wrap(err, "the git directory of the session '%s'", id);
	}
	return 0;
}

int git_lock(struct git_store *store, struct err *err)
{
	int r = store->lock >= 0 ? 0 : record_lock_ended(store->dir);

	if (r > 0) {
		store->lock = r;
		r = 0;
	}
	if (r == 0)
		return 0;
	if (r == -EBUSY) {
		err_set(err, EBUSY, "the session '%s' is running", store->id);
		return err_hint(err, "'wrapix stop %s' ends it", store->id);
	}
	return err_errno(err, -r, "locking the session '%s'", store->id);
}

int git_remove(struct git_store *store, struct err *err)
{
	_cleanup_close_ int top = record_open_dir(AT_FDCWD, store->state);
	int r = top < 0 ? top : 0;
	char name[64];

	/* Without a record it does not count any more, and is swept should we be killed. */
	snprintf(name, sizeof(name), "git/%s/meta", store->id);
	if (r == 0 && unlinkat(top, name, 0) < 0 && errno != ENOENT)
		r = -errno;
	snprintf(name, sizeof(name), "gitdirs/%s", store->id);
	if (r == 0)
		r = os_remove_tree(top, name);
	snprintf(name, sizeof(name), "git/%s", store->id);
	if (r == 0)
		r = os_remove_tree(top, name);
	return r < 0 ? err_errno(err, -r, "removing the git directory of '%s'", store->id) : 0;
}

void git_close(struct git_store *store)
{
	for (size_t i = 0; i < store->n_parts; i++) {
		close_ptr(&store->parts[i].dir);
		arena_release(&store->parts[i].arena);
	}
	if (store->lock >= 0)
		close(store->lock);
	if (store->dir >= 0)
		close(store->dir);
	arena_release(&store->arena);
	*store = (struct git_store)GIT_STORE_NONE;
}

int git_resume(struct git_store *store, struct err *err)
{
	if (unlinkat(store->dir, "done", 0) < 0 && errno != ENOENT)
		return err_errno(err, errno, "going on with the git of '%s'", store->id);
	git_arm(store);
	return 0;
}

int git_set_done(const struct git_store *store, struct err *err)
{
	return record_write_file(store->dir, "done", "", 0, err);
}

/* --- listing --- */

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct git_info *)a)->id, ((const struct git_info *)b)->id);
}

static void add_info(struct arena *arena, struct git_store *store, struct git_info **list,
		     size_t *len)
{
	struct git_info *info = arena_grow(arena, list, len, sizeof(*info));
	_cleanup_close_ int lock = -1;
	struct git_held *held;
	struct err ignored;

	*info = (struct git_info){ .id = arena_strdup(arena, store->id),
				   .project = arena_strdup(arena, store->project) };
	lock = record_lock_ended(store->dir);
	info->running = lock == -EBUSY;
	info->beside = store->view != NULL;
	info->stale = store->view && access(store->view, F_OK) < 0;
	info->done = faccessat(store->dir, "done", F_OK, 0) == 0;
	info->lasting = store->lasting;
	info->locked = git_locks_noted(store);
	if (git_held_read(store, arena, &held, &info->held, &ignored) < 0)
		info->held = 0;
	else if (info->done && !info->held && !info->beside && !info->lasting)
		info->stale = true; /* the user has decided about all of it, and was interrupted */
}

/* There is one for each repository that commands have worked in, and every command of ours comes by here. */
bool git_is_quiet(int dir, const char *id)
{
	char name[NAME_MAX + 8];
	struct stat st;

	if (id[0] != 'x' || strlen(id) != GIT_LASTING_ID - 1)
		return false;
	snprintf(name, sizeof(name), "%s/done", id);
	if (faccessat(dir, name, F_OK, 0) < 0)
		return false;
	snprintf(name, sizeof(name), "%s/held", id);
	return fstatat(dir, name, &st, 0) < 0 || st.st_size <= (off_t)strlen("[\n]\n");
}

int git_list(struct arena *arena, const char *state_home, const char *wanted, bool around,
	     struct git_info **list, size_t *len, struct err *err)
{
	char *path = path_join(arena, state_home, "wrapix/git");
	_cleanup_dir_ DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : err_errno(err, errno, "reading '%s'", path);
	while ((entry = os_dir_next(dir)) != NULL) {
		_cleanup_git_ struct git_store store = GIT_STORE_NONE;
		struct err ignored;

		/* What has no record was never started. */
		if (!record_id_ok(entry->d_name) || git_is_quiet(dirfd(dir), entry->d_name) ||
		    git_open(&store, state_home, entry->d_name, NULL, &ignored) < 0)
			continue;
		if (around ? path_is_below(wanted, store.project) : git_same(store.project, wanted))
			add_info(arena, &store, list, len);
	}
	if (*len > 1)
		qsort(*list, *len, sizeof(**list), by_id);
	return 0;
}
