/* SPDX-License-Identifier: MIT */
/*
 * Pairs of keys on disk, four files each. A lock on their directory keeps two of us apart, no name is ever
 * taken over, and a kill leaves all or nothing: settle.h.
 */
#include "keys/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/path.h"
#include "base/str.h"
#include "keys/pins.h"
#include "keys/settle.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/deploykey.h"
#include "spec/spec.h"

#define PUBLIC_MAX 4096

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && !strcmp(name + n - m, ending);
}

int key_name_check(const char *name, struct err *err)
{
	struct spec spec;
	int r;

	spec_init(&spec);
	r = spec_set(&spec, "deployKey", name, LAYER_FLAG, err);
	spec_release(&spec);
	if (r < 0)
		return r;
	if (has_ending(name, KEY_SIGNING) || has_ending(name, ".pub"))
		return err_usage(err, "a name cannot end in '" KEY_SIGNING "' or '.pub': '%s'",
				 name);
	return 0;
}

static char *dir_path(struct arena *arena, const char *home)
{
	return arena_printf(arena, "%s/" DEPLOY_KEYS_DIR, home);
}

/* --- looking --- */

static struct key_file look(struct arena *arena, const char *dir, const char *name,
			    const char *ending)
{
	char *path = arena_printf(arena, "%s/%s%s", dir, name, ending);
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str print = { 0 };
	struct key_file file = { 0 };
	struct blob key;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return file;
	file.path = path;
	if (os_read_file_at(AT_FDCWD, arena_printf(arena, "%s.pub", path), PUBLIC_MAX, &text,
			    NULL) == 0)
		file.line = deploy_key_public(arena, text);
	if (file.line && public_key_parse(arena, file.line, NULL, &key)) {
		fingerprint_add(&print, key);
		file.fingerprint = arena_strdup(arena, print.s);
	}
	return file;
}

static struct key_pair look_pair(struct arena *arena, const char *dir, const char *name)
{
	return (struct key_pair){
		.name = arena_strdup(arena, name),
		.deploy = look(arena, dir, name, ""),
		.signing = look(arena, dir, name, KEY_SIGNING),
	};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct key_pair *)a)->name, ((const struct key_pair *)b)->name);
}

static bool is_known(const struct key_pair *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return true;
	return false;
}

int key_store_list(struct arena *arena, const char *home, struct key_pair **ret, size_t *ret_len,
		   struct err *err)
{
	char *path = dir_path(arena, home);
	struct dirent *entry;
	_cleanup_dir_ DIR *dir = NULL;

	*ret = NULL;
	*ret_len = 0;
	key_store_look(path);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : err_errno(err, errno, "opening '%s'", path);
	while ((entry = os_dir_next(dir))) {
		struct key_pair pair, *place;
		char *name = arena_strdup(arena, entry->d_name);
		struct err ignored;

		if (has_ending(name, KEY_SIGNING))
			name[strlen(name) - strlen(KEY_SIGNING)] = '\0';
		if (key_name_check(name, &ignored) < 0 || is_known(*ret, *ret_len, name))
			continue;
		pair = look_pair(arena, path, name);
		if (!pair.deploy.path && !pair.signing.path)
			continue;
		place = arena_grow(arena, ret, ret_len, sizeof(*place));
		*place = pair;
	}
	if (*ret_len)
		qsort(*ret, *ret_len, sizeof(**ret), by_name);
	return 0;
}

int key_store_find(struct arena *arena, const char *home, const char *name, struct key_pair *ret,
		   struct err *err)
{
	int r = key_name_check(name, err);

	if (r < 0)
		return r;
	key_store_look(dir_path(arena, home));
	*ret = look_pair(arena, dir_path(arena, home), name);
	if (ret->deploy.path || ret->signing.path)
		return 0;
	err_set(err, ENOENT, "there is no deploy key '%s' in ~/" DEPLOY_KEYS_DIR, name);
	return err_hint(err,
			"'wrapix key add %s' makes one; 'wrapix key list' shows those that "
			"are there",
			name);
}

/* --- making --- */

int key_generate(struct arena *arena, const char *keygen, const char *comment, const char *path,
		 struct err *err)
{
	char *const argv[] = { arena_strdup(arena, keygen),
			       arena_strdup(arena, "-q"),
			       arena_strdup(arena, "-t"),
			       arena_strdup(arena, "ed25519"),
			       arena_strdup(arena, "-N"),
			       arena_strdup(arena, ""),
			       arena_strdup(arena, "-C"),
			       arena_strdup(arena, comment),
			       arena_strdup(arena, "-f"),
			       arena_strdup(arena, path),
			       NULL };
	_cleanup_free_ char *said = NULL;
	int status = os_capture_all(argv, 60, 4096, &said);

	if (status < 0)
		return err_errno(err, -status, "running '%s'", keygen);
	if (!status)
		return 0;
	said[strcspn(said, "\r\n")] = '\0';
	return err_set(err, EIO, "'%s' failed: %.200s", keygen, said);
}

/* Both pairs, complete and with the right modes, in the directory tmp. */
static int make_files(struct arena *arena, const char *keygen, const char *tmp, const char *name,
		      struct err *err)
{
	int r = key_generate(arena, keygen, arena_printf(arena, "deploy-key-%s", name),
			     arena_printf(arena, "%s/%s", tmp, name), err);

	if (r == 0)
		r = key_generate(arena, keygen, arena_printf(arena, "signing-key-%s", name),
				 arena_printf(arena, "%s/%s" KEY_SIGNING, tmp, name), err);
	for (size_t i = 0; r == 0 && i < KEY_FILES; i++) {
		char *path = arena_printf(arena, "%s/%s%s", tmp, name, key_endings[i]);

		if (chmod(path, has_ending(key_endings[i], "pub") ? 0644 : 0600) < 0)
			r = err_errno(err, errno, "setting the mode of '%s'", path);
	}
	return r;
}

/* From the moment of this name on they count; ret_backup is where others that have their names go. */
static int put_in_place(struct arena *arena, int dir, const char *tmp, const char *name,
			char **ret_backup, struct err *err)
{
	time_t now = time(NULL);
	char stamp[32], *put;
	bool there = false;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	put = arena_printf(arena, KEY_TO_PUT "%s.%s", name, stamp);
	for (size_t i = 0; i < KEY_FILES; i++)
		there |= os_exists_at(dir, arena_printf(arena, "%s%s", name, key_endings[i]));
	if (renameat(dir, tmp, dir, put) < 0)
		return err_errno(err, errno, "moving '%s'", tmp);
	if (there)
		*ret_backup = arena_printf(arena, "backup/%s.%s", name, stamp);
	return key_store_settle(dir, err);
}

int key_store_make(struct arena *arena, const char *home, const char *name, const char *keygen,
		   bool force, char **ret_backup, struct err *err)
{
	char *path = dir_path(arena, home), *tmp;
	_cleanup_close_ int dir = key_store_open(path, true, err);
	int r;

	*ret_backup = NULL;
	if (dir < 0)
		return dir;
	for (size_t i = 0; !force && i < KEY_FILES; i++) {
		char *file = arena_printf(arena, "%s%s", name, key_endings[i]);

		if (!os_exists_at(dir, file))
			continue;
		err_set(err, EEXIST, "'~/" DEPLOY_KEYS_DIR "/%s' is there already", file);
		return err_hint(err,
				"'wrapix key show %s' shows it; --force makes new ones and "
				"keeps a backup",
				name);
	}
	tmp = arena_printf(arena, "%s/" KEY_NEW "%s.XXXXXX", path, name);
	if (!mkdtemp(tmp))
		return err_errno(err, errno, "making a directory in '%s'", path);
	r = make_files(arena, keygen, tmp, name, err);
	if (r == 0)
		r = put_in_place(arena, dir, strrchr(tmp, '/') + 1, name, ret_backup, err);
	if (r < 0)
		(void)os_remove_tree(dir, strrchr(tmp, '/') + 1); /* else the next one does */
	else if (*ret_backup)
		*ret_backup = path_join(arena, path, *ret_backup);
	return r;
}

int key_store_remove(const char *home, const char *name, struct err *err)
{
	struct arena arena = { 0 };
	_cleanup_close_ int dir = key_store_open(dir_path(&arena, home), false, err);
	int r = dir < 0 ? dir : 0;

	if (r == 0 && mkdirat(dir, arena_printf(&arena, KEY_TO_REMOVE "%s", name), 0700) < 0)
		r = err_errno(err, errno, "removing '%s'", name);
	if (r == 0)
		r = key_store_settle(dir, err);
	arena_release(&arena);
	return r;
}
