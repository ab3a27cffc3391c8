/* SPDX-License-Identifier: MIT */
/* Private git directories on the disk: opened, locked, listed, removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"
#include "session/record.h"

int git_store_name(struct git_store *store, const char *state_home, const char *id, struct err *err)
{
	struct arena *a = &store->arena;

	if (!record_id_ok(id))
		return err_set(err, ENOENT, "there is no session '%s' with a git directory", id);
	store->state = path_join(a, state_home, "wrapix");
	store->id = arena_strdup(a, id);
	store->private = arena_printf(a, "%s/%s/%s", state_home, GIT_PRIVATE_DIR, id);
	return 0;
}

int git_store_make(struct git_store *store, struct err *err)
{
	char *dir = arena_printf(&store->arena, "%s/git/%s", store->state, store->id);
	int r = os_mkdirs(dir, 0700, err);

	if (r == 0)
		r = os_mkdirs(store->private, 0700, err);
	if (r < 0)
		return r;
	store->dir = record_open_dir(AT_FDCWD, dir);
	return store->dir < 0 ? err_errno(err, -store->dir, "opening '%s'", dir) : 0;
}

int git_store_write_meta(const struct git_store *store, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{\"version\": 1");
	record_add(&out, "project", store->project);
	record_add(&out, "gitDir", store->real);
	record_add(&out, "commonDir", store->common);
	str_add(&out, "}\n");
	return record_write_file(store->dir, "meta", out.s, out.len, err);
}

static int read_meta(struct git_store *store, struct err *err)
{
	_cleanup_json_ struct json_object *meta = NULL;
	int r = record_read(store->dir, &meta, err);

	if (r < 0)
		return r;
	store->project = record_get(&store->arena, meta, "project");
	store->real = record_get(&store->arena, meta, "gitDir");
	store->common = record_get(&store->arena, meta, "commonDir");
	if (store->project[0] != '/' || store->real[0] != '/' || store->common[0] != '/')
		return err_set(err, EINVAL, "its record is damaged");
	return 0;
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
	store->dir = record_open_dir(AT_FDCWD,
				     arena_printf(&store->arena, "%s/git/%s", store->state, id));
	r = store->dir < 0 ? err_errno(err, -store->dir, "opening it") : read_meta(store, err);
	if (r < 0) {
		git_close(store);
		return err_wrap(err, "the git directory of the session '%s'", id);
	}
	return 0;
}

int git_lock(struct git_store *store, struct err *err)
{
	int r = store->lock >= 0 ? 0 : record_lock(store->dir);

	if (r == 0)
		return 0;
	if (r > 0) {
		store->lock = r;
		return 0;
	}
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

	/* The record goes last: what has one is found again. */
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
	if (store->lock >= 0)
		close(store->lock);
	if (store->dir >= 0)
		close(store->dir);
	arena_release(&store->arena);
	*store = (struct git_store)GIT_STORE_NONE;
}

int git_set_done(const struct git_store *store, struct err *err)
{
	return record_write_file(store->dir, "done", "", 0, err);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct git_info *)a)->id, ((const struct git_info *)b)->id);
}

static void add_info(struct arena *arena, struct git_store *store, struct git_info **list,
		     size_t *len)
{
	struct git_info *info = arena_grow(arena, list, len, sizeof(*info));
	struct git_held *held;
	struct err ignored;

	*info = (struct git_info){ .id = arena_strdup(arena, store->id),
				   .project = arena_strdup(arena, store->project) };
	info->running = git_lock(store, &ignored) == -EBUSY;
	info->done = faccessat(store->dir, "done", F_OK, 0) == 0;
	if (git_held_read(store, arena, &held, &info->held, &ignored) < 0)
		info->held = 0;
}

int git_list(struct arena *arena, const char *state_home, const char *project,
	     struct git_info **list, size_t *len, struct err *err)
{
	char *path = path_join(arena, state_home, "wrapix/git");
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : err_errno(err, errno, "reading '%s'", path);
	while ((entry = readdir(dir)) != NULL) {
		_cleanup_git_ struct git_store store = GIT_STORE_NONE;
		struct err ignored;

		/* What has no record was never started. */
		if (!record_id_ok(entry->d_name) ||
		    git_open(&store, state_home, entry->d_name, NULL, &ignored) < 0)
			continue;
		if (!project || !strcmp(store.project, project))
			add_info(arena, &store, list, len);
	}
	closedir(dir);
	if (*len > 1)
		qsort(*list, *len, sizeof(**list), by_id);
	return 0;
}
