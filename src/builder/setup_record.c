/* SPDX-License-Identifier: MIT */
/*
 * What was below /etc before setup, and carrying changes out. The record is a directory that comes into
 * being by one rename, before any file changes: killed at any point, unsetup finds either no record and
 * no change, or all that it needs.
 *
 *	record	the files as they were: path, mode, owner; and the directories that setup made
 *	0, 1, .. their bytes
 *	written	the SHA-256 of each as setup wrote it
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/path.h"
#include "base/sha256.h"
#include "builder/setup_priv.h"
#include "os/fs.h"

#define SAVED_NEW SAVED_DIR ".new"
#define SAVED_OLD SAVED_DIR ".old"

static char *below(const struct setup_changes *changes, const char *name)
{
	return path_join(&((struct setup_changes *)changes)->arena, changes->etc, name);
}

static bool record_exists(struct arena *arena, const char *etc)
{
	return access(arena_printf(arena, "%s/" SAVED_DIR "/record", etc), F_OK) == 0;
}

/* --- reading --- */

static int get_number(struct json_object *file, const char *key, unsigned *ret, struct err *err)
{
	struct json_object *value = json_object_object_get(file, key);
	int r = json_check_type(JSON_KEY(NULL, key), value, json_type_int, err);

	if (r == 0)
		*ret = (unsigned)json_object_get_int64(value);
	return r;
}

static int load_file(struct arena *arena, const char *dir, struct json_object *file, size_t i,
		     struct saved *ret, struct err *err)
{
	struct json_object *existed = json_object_object_get(file, "existed");
	struct found found = { 0 };
	const char *path;
	bool there = false;
	int r = json_get_string(JSON_KEY(NULL, "path"), json_object_object_get(file, "path"), &path,
				err);

	if (r == 0)
		r = json_get_bool(JSON_KEY(NULL, "existed"), existed, &there, err);
	if (r == 0 && there)
		r = setup_read(arena, arena_printf(arena, "%s/%zu", dir, i), &found, err);
	if (r == 0 && there && !found.there)
		r = err_set(err, ENOENT, "'%s/%zu' is missing", dir, i);
	if (r == 0 && get_number(file, "mode", &found.mode, err) == 0 &&
	    get_number(file, "uid", &found.uid, err) == 0)
		r = get_number(file, "gid", &found.gid, err);
	if (r < 0)
		return r;
	*ret = (struct saved){ arena_strdup(arena, path), found, "" };
	return 0;
}

static int parse_file(struct arena *arena, const char *path, struct json_object **ret,
		      struct err *err)
{
	struct found found;
	int r = setup_read(arena, path, &found, err);

	if (r == 0 && found.unreadable)
		return err_errno(err, EACCES, "reading '%s'", path);
	if (r == 0 && !found.there)
		return err_errno(err, ENOENT, "reading '%s'", path);
	return r < 0 ? r : json_parse(found.text, found.len, path, ret, err);
}

/* Missing after a kill: then nothing was written. */
static void load_written(struct arena *arena, const char *dir, struct saved_list *list)
{
	_cleanup_json_ struct json_object *json = NULL;
	struct err ignored;

	if (parse_file(arena, arena_printf(arena, "%s/written", dir), &json, &ignored) < 0 ||
	    !json_object_is_type(json, json_type_array))
		return;
	for (size_t i = 0; i < list->len && i < json_object_array_length(json); i++)
		list->v[i].written = arena_strdup(
			arena, json_object_get_string(json_object_array_get_idx(json, i)) ?: "");
}

int record_load(struct arena *arena, const char *etc, struct saved_list *ret, struct err *err)
{
	char *dir = arena_printf(arena, "%s/" SAVED_DIR, etc);
	_cleanup_json_ struct json_object *json = NULL;
	struct json_object *list, *made;
	int r = parse_file(arena, arena_printf(arena, "%s/record", dir), &json, err);

	if (r == -ENOENT) {
		err_set(err, ENOENT, "'%s' knows nothing of a builder", etc);
		return err_hint(err, "'wrapix-builder setup' has not been there, or was undone");
	}
	if (r == 0)
		r = json_check_type(NULL, json, json_type_object, err);
	list = r == 0 ? json_object_object_get(json, "files") : NULL;
	made = r == 0 ? json_object_object_get(json, "made") : NULL;
	if (r == 0)
		r = json_check_type(JSON_KEY(NULL, "files"), list, json_type_array, err);
	if (r == 0)
		r = json_check_type(JSON_KEY(NULL, "made"), made, json_type_array, err);
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		struct saved *saved = arena_grow(arena, &ret->v, &ret->len, sizeof(*saved));

		r = load_file(arena, dir, json_object_array_get_idx(list, i), i, saved, err);
	}
	for (size_t i = 0; r == 0 && i < json_object_array_length(made); i++)
		strv_add(arena, &ret->made,
			 json_object_get_string(json_object_array_get_idx(made, i)) ?: "");
	if (r == 0)
		load_written(arena, dir, ret);
	return r;
}

/* --- writing --- */

static int open_dir(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? err_errno(err, errno, "opening '%s'", path) : fd;
}

static void add_record(struct str *out, const struct setup_changes *changes)
{
	str_add(out, "{\"made\": ");
	json_add_strings(out, &changes->made);
	str_add(out, ",\n\"files\": [");
	for (size_t i = 0; i < changes->len; i++) {
		const struct setup_change *c = &changes->v[i];

		str_add(out, i ? ",\n{" : "\n{");
		json_add_member(out, "path", c->name);
		json_add_key(out, "existed");
		str_add(out, c->before ? "true" : "false");
		json_add_count(out, "mode", c->before_mode);
		json_add_count(out, "uid", c->uid);
		json_add_count(out, "gid", c->gid);
		str_add(out, "}");
	}
	str_add(out, "]}\n");
}

static int fill_record(const struct setup_changes *changes, int dir, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	char name[24];
	int r = 0;

	for (size_t i = 0; r == 0 && i < changes->len; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		if (changes->v[i].before)
			r = os_write_file_atomic(dir, name, changes->v[i].before,
						 changes->v[i].before_len, 0600, err);
	}
	add_record(&text, changes);
	if (r == 0)
		r = os_write_file_atomic(dir, "record", text.s, text.len, 0600, err);
	if (r == 0 && fsync(dir) < 0)
		r = err_errno(err, errno, "writing '" SAVED_DIR "'");
	return r;
}

/* What is there now, of all files that will change: whole or not at all. */
static int record_make(struct setup_changes *changes, struct err *err)
{
	_cleanup_close_ int etc = open_dir(changes->etc, err), dir = -1;
	int r = etc < 0 ? etc : 0;

	for (size_t i = 0; r == 0 && i < changes->made.len; i++)
		if (mkdirat(etc, changes->made.v[i], 0755) < 0 && errno != EEXIST)
			r = err_errno(err, errno, "making '%s'",
				      below(changes, changes->made.v[i]));
	if (r < 0 || record_exists(&changes->arena, changes->etc))
		return r;
	os_remove_tree(etc, SAVED_NEW);
	if (mkdirat(etc, SAVED_NEW, 0700) < 0)
		return err_errno(err, errno, "making '%s'", below(changes, SAVED_NEW));
	dir = open_dir(below(changes, SAVED_NEW), err);
	r = dir < 0 ? dir : fill_record(changes, dir, err);
	if (r == 0 && renameat(etc, SAVED_NEW, etc, SAVED_DIR) < 0)
		r = err_errno(err, errno, "keeping '%s'", below(changes, SAVED_DIR));
	return r;
}

/* What setup is about to write. */
static int record_written(struct setup_changes *changes, struct err *err)
{
	_cleanup_close_ int dir = open_dir(below(changes, SAVED_DIR), err);
	_cleanup_str_ struct str text = { 0 };

	if (dir < 0)
		return dir;
	for (size_t i = 0; i < changes->len; i++) {
		char hex[SHA256_HEX];

		sha256_hex(changes->v[i].after, changes->v[i].after_len, hex);
		str_addf(&text, "%s\"%s\"", i ? ",\n" : "[", hex);
	}
	str_add(&text, "]\n");
	return os_write_file_atomic(dir, "written", text.s, text.len, 0600, err);
}

static int record_forget(struct setup_changes *changes, struct err *err)
{
	_cleanup_close_ int etc = open_dir(changes->etc, err);

	if (etc < 0)
		return etc;
	os_remove_tree(etc, SAVED_OLD);
	if (renameat(etc, SAVED_DIR, etc, SAVED_OLD) < 0)
		return err_errno(err, errno, "removing '%s'", below(changes, SAVED_DIR));
	os_remove_tree(etc, SAVED_OLD);
	for (size_t i = changes->made.len; i-- > 0;) /* one with others' files in it stays */
		(void)unlinkat(etc, changes->made.v[i], AT_REMOVEDIR);
	return 0;
}

static int put(const struct setup_changes *changes, const struct setup_change *c, struct err *err)
{
	char *path = below(changes, c->name);
	_cleanup_close_ int dir = open_dir(
		path_parent(&((struct setup_changes *)changes)->arena, path), err);
	int r;

	if (dir < 0)
		return c->after ? dir : 0; /* gone with its directory */
	if (!c->after)
		return unlinkat(dir, path_name(path), 0) < 0 && errno != ENOENT
			       ? err_errno(err, errno, "removing '%s'", path)
			       : 0;
	r = os_write_file_atomic(dir, path_name(path), c->after, c->after_len, c->mode, err);
	if (r == 0 && c->uid != -1U && geteuid() == 0 &&
	    fchownat(dir, path_name(path), c->uid, c->gid, AT_SYMLINK_NOFOLLOW) < 0)
		r = err_errno(err, errno, "giving '%s' back", path);
	return r;
}

int setup_apply(struct setup_changes *changes, struct err *err)
{
	mode_t mask = umask(0); /* modes are restored as they were */
	int r = 0;

	if (!changes->back) {
		r = record_make(changes, err);
		if (r == 0)
			r = record_written(changes, err);
	}
	for (size_t i = 0; r == 0 && i < changes->len; i++)
		r = put(changes, &changes->v[i], err);
	if (r == 0 && changes->back)
		r = record_forget(changes, err);
	umask(mask);
	return r;
}
