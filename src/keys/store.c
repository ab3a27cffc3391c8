/* SPDX-License-Identifier: MIT */
/*
 * Pairs of keys on disk. New ones are made in a directory of their own beside the others and then
 * renamed into place, so that a kill leaves all or nothing; a lock on the directory keeps two of us
 * apart, and no name is ever taken over.
 */
#include "keys/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/str.h"
#include "keys/pins.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/deploykey.h"
#include "spec/spec.h"

#define SIGNING "-signing"
#define TEMPORARY ".new."
#define PUBLIC_MAX 4096

static const char *const endings[] = { "", ".pub", SIGNING, SIGNING ".pub" };

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
	if (has_ending(name, SIGNING) || has_ending(name, ".pub"))
		return err_usage(err, "a name cannot end in '" SIGNING "' or '.pub': '%s'", name);
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
		.signing = look(arena, dir, name, SIGNING),
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
	DIR *dir = opendir(path);
	struct dirent *entry;

	*ret = NULL;
	*ret_len = 0;
	if (!dir)
		return errno == ENOENT ? 0 : err_errno(err, errno, "opening '%s'", path);
	while ((entry = readdir(dir))) {
		struct key_pair pair, *place;
		char *name = arena_strdup(arena, entry->d_name);
		struct err ignored;

		if (has_ending(name, SIGNING))
			name[strlen(name) - strlen(SIGNING)] = '\0';
		if (key_name_check(name, &ignored) < 0 || is_known(*ret, *ret_len, name))
			continue;
		pair = look_pair(arena, path, name);
		if (!pair.deploy.path && !pair.signing.path)
			continue;
		place = arena_grow(arena, ret, ret_len, sizeof(*place));
		*place = pair;
	}
	closedir(dir);
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

/* The directory, made where it is missing, ours alone, and locked until it is closed. */
static int open_locked(const char *path, bool make, struct err *err)
{
	_cleanup_close_ int fd = -1;

	if (make && os_mkdirs(path, 0700, err) < 0)
		return -err->code;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (make && fchmod(fd, 0700) < 0) || flock(fd, LOCK_EX) < 0)
		return err_errno(err, errno, "opening '%s'", path);
	return take_fd(&fd);
}

static bool is_there(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

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
	if (status)
		return err_set(err, EIO, "'%s' failed: %.200s", keygen, said);
	return 0;
}

/* Both pairs, complete and with the right modes, in the directory tmp. */
static int make_files(struct arena *arena, const char *keygen, const char *tmp, const char *name,
		      struct err *err)
{
	int r = key_generate(arena, keygen, arena_printf(arena, "deploy-key-%s", name),
			     arena_printf(arena, "%s/%s", tmp, name), err);

	if (r == 0)
		r = key_generate(arena, keygen, arena_printf(arena, "signing-key-%s", name),
				 arena_printf(arena, "%s/%s" SIGNING, tmp, name), err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(endings); i++) {
		char *path = arena_printf(arena, "%s/%s%s", tmp, name, endings[i]);

		if (chmod(path, has_ending(endings[i], "pub") ? 0644 : 0600) < 0)
			r = err_errno(err, errno, "setting the mode of '%s'", path);
	}
	return r;
}

static int move(int from, const char *old, int to, const char *new, struct err *err)
{
	if (renameat2(from, old, to, new, RENAME_NOREPLACE) < 0)
		return err_errno(err, errno, "moving '%s'", old);
	return 0;
}

/* What has one of the four names goes to backup/NAME.TIME. */
static int back_up(struct arena *arena, int dir, const char *path, const char *name,
		   char **ret_backup, struct err *err)
{
	time_t now = time(NULL);
	char stamp[32], *backup;
	_cleanup_close_ int to = -1;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	backup = arena_printf(arena, "%s/backup/%s.%s", path, name, stamp);
	if (os_mkdirs(backup, 0700, err) < 0)
		return -err->code;
	to = open(backup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return err_errno(err, errno, "opening '%s'", backup);
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		char *file = arena_printf(arena, "%s%s", name, endings[i]);

		if (is_there(dir, file) && move(dir, file, to, file, err) < 0)
			return -err->code;
	}
	*ret_backup = backup;
	return 0;
}

static int put_in_place(struct arena *arena, int dir, const char *path, const char *tmp,
			const char *name, char **ret_backup, struct err *err)
{
	_cleanup_close_ int from = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool there = false;
	int r = from < 0 ? err_errno(err, errno, "opening '%s'", tmp) : 0;

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		there |= is_there(dir, arena_printf(arena, "%s%s", name, endings[i]));
	if (r == 0 && there)
		r = back_up(arena, dir, path, name, ret_backup, err);
	/* The public halves first: a private one alone would look like a pair. */
	for (size_t i = ARRAY_LEN(endings); r == 0 && i-- > 0;) {
		char *file = arena_printf(arena, "%s%s", name, endings[i]);

		r = move(from, file, dir, file, err);
	}
	if (r == 0 && fsync(dir) < 0)
		r = err_errno(err, errno, "writing '%s'", path);
	return r;
}

/* What a killed one of us has left: nobody else works here while we hold the lock. */
static void sweep(int dir, const char *path)
{
	DIR *list = opendir(path);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (str_starts(entry->d_name, TEMPORARY))
			(void)os_remove_tree(dir, entry->d_name); /* the next one tries again */
	if (list)
		closedir(list);
}

int key_store_make(struct arena *arena, const char *home, const char *name, const char *keygen,
		   bool force, char **ret_backup, struct err *err)
{
	char *path = dir_path(arena, home), *tmp;
	_cleanup_close_ int dir = open_locked(path, true, err);
	int r;

	*ret_backup = NULL;
	if (dir < 0)
		return dir;
	for (size_t i = 0; !force && i < ARRAY_LEN(endings); i++) {
		char *file = arena_printf(arena, "%s%s", name, endings[i]);

		if (!is_there(dir, file))
			continue;
		err_set(err, EEXIST, "'~/" DEPLOY_KEYS_DIR "/%s' is there already", file);
		return err_hint(err,
				"'wrapix key show %s' shows it; --force makes new ones and "
				"keeps a backup",
				name);
	}
	sweep(dir, path);
	tmp = arena_printf(arena, "%s/" TEMPORARY "%s.XXXXXX", path, name);
	if (!mkdtemp(tmp))
		return err_errno(err, errno, "making a directory in '%s'", path);
	r = make_files(arena, keygen, tmp, name, err);
	if (r == 0)
		r = put_in_place(arena, dir, path, tmp, name, ret_backup, err);
	(void)os_remove_tree(dir, strrchr(tmp, '/') + 1); /* what is left of it is of no use */
	return r;
}

int key_store_remove(const char *home, const char *name, struct err *err)
{
	struct arena arena = { 0 };
	_cleanup_close_ int dir = open_locked(dir_path(&arena, home), false, err);
	int r = dir < 0 ? dir : 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(endings); i++) {
		char *file = arena_printf(&arena, "%s%s", name, endings[i]);

		if (unlinkat(dir, file, 0) < 0 && errno != ENOENT)
			r = err_errno(err, errno, "removing '~/" DEPLOY_KEYS_DIR "/%s'", file);
	}
	arena_release(&arena);
	return r;
}
