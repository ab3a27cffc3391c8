/* SPDX-License-Identifier: MIT */
/*
 * A private git directory that was made before it is needed: at the end of a session, for the next one
 * of that project. It is made of the host's files like any other, never of what a sandbox wrote, and taken
 * over when every file it was made of is as it was (stamps.c); else it is made anew, as if there were none.
 *
 *	STATE/wrapix/gitready/KEY/      what becomes git/ID: base, start, hooks ...
 *	                          dirs/ what becomes gitdirs/ID
 *	                          made  what it is for, and the stamps
 *	                      .new-ID   being made
 *	                      .old-ID   being removed
 *
 * KEY says which project and git directory. It is taken by one rename(), so by one session only, and counts
 * from the record (meta) that is written last. What somebody who was killed left is swept by the next
 * who makes one. Nothing is synced: after a crash of the machine none counts, because it names the boot.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "base/sha256.h"
#include "cow/copy.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/files.h"
#include "session/record.h"

#define READY "gitready"
#define MADE "made"
#define MADE_MAX ((size_t)1 << 20)
#define READY_BYTES ((uint64_t)64 << 20)
enum { KEPT = 4, KEPT_DAYS = 14, LEFT_S = 60, KEY_LEN = 32 };
#define SECOND 1000000000LL

/* Only where a change shows in the numbers of a file at once, whoever makes it. */
static bool is_local(const char *path)
{
	static const unsigned long known[] = {
		0xef53,     /* ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0x01021994, /* tmpfs */
		0x2fc12fc1, /* zfs */
		0xf2f52010, /* f2fs */
		0xca451a4e, /* bcachefs */
		0x794c7630, /* overlayfs */
	};
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if ((unsigned long)fs.f_type == known[i])
			return true;
	return false;
}

/* What it is for: another line, and it is not for this session. */
static int add_purpose(const struct git_store *store, struct str *out)
{
	_cleanup_free_ char *boot = NULL;

	if (os_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &boot, NULL) < 0)
		return -ENOTSUP;
	str_addf(out, "wrapix %s, ready 1, %s", WRAPIX_VERSION, boot);
	str_addf(out, "%s\n%s\n%s\n%s\n", store->project, store->top, store->real, store->common);
	for (size_t i = 0; i < store->n_parts; i++) {
		const struct git_store *part = &store->parts[i];

		str_addf(out, "part %s\n%s\n%s\n", part->name, part->real,
			 part->where ? part->where : "");
	}
	for (size_t i = 0; i < store->borrowed.len; i++)
		str_addf(out, "borrowed %s\n", store->borrowed.v[i]);
	str_add(out, "\n");
	return 0;
}

static void make_key(const struct git_store *store, char key[SHA256_HEX])
{
	_cleanup_str_ struct str text = { 0 };

	str_addf(&text, "%s\n%s", store->project, store->real);
	sha256_hex(text.s, text.len, key);
	key[KEY_LEN] = '\0';
}

/* The directory of all of them. */
static int open_ready(const struct git_store *store)
{
	struct arena a = { 0 };
	int fd = record_open_dir(AT_FDCWD, path_join(&a, store->state, READY));

	arena_release(&a);
	return fd;
}

/* The descriptor of one that holds now, or -errno. */
static int open_valid(const struct git_store *store, int ready, const char *key)
{
	_cleanup_close_ int dir = record_open_dir(ready, key);
	_cleanup_str_ struct str purpose = { 0 };
	_cleanup_free_ char *made = NULL;
	int r = dir < 0 ? dir : os_read_file_at(dir, MADE, MADE_MAX, &made, NULL);

	if (r == 0)
		r = add_purpose(store, &purpose);
	if (r < 0)
		return r;
	if (!str_starts(made, purpose.s) || !git_stamps_hold(made + purpose.len))
		return -ESTALE;
	return take_fd(&dir);
}

/* --- taking one over --- */

/* From here on it is nobody else's. */
static int claim(struct git_store *store, int ready, const char *key, int valid)
{
	struct arena a = { 0 };
	char *private = path_parent(&a, store->private);
	struct err ignored;
	int r = os_mkdirs(path_parent(&a, store->path), 0700, &ignored);

	if (r == 0)
		r = os_mkdirs(path_parent(&a, private), 0700, &ignored);
	if (r == 0 && renameat(ready, key, AT_FDCWD, store->path) < 0)
		r = -errno;
	if (r == 0) {
		store->dir = record_open_dir(AT_FDCWD, store->path);
		if (store->dir < 0 || !os_same_open(store->dir, valid))
			r = -ESTALE;
	}
	if (r == 0 && renameat(store->dir, "dirs", AT_FDCWD, private) < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < store->n_parts; i++) {
		store->parts[i].dir = record_open_dir(AT_FDCWD, store->parts[i].path);
		r = store->parts[i].dir < 0 ? store->parts[i].dir : 0;
	}
	arena_release(&a);
	return r;
}

/* Somebody was faster, or it is of no use. */
static void give_up(struct git_store *store)
{
	struct err ignored;

	for (size_t i = 0; i < store->n_parts; i++) {
		if (store->parts[i].dir >= 0)
			close(store->parts[i].dir);
		store->parts[i].dir = -1;
	}
	if (store->dir >= 0) {
		git_remove(store, &ignored);
		close(store->dir);
	}
	close(store->lock);
	store->dir = store->lock = -1;
}

int git_ready_take(struct git_store *store)
{
	_cleanup_close_ int ready = open_ready(store), valid = -1;
	char key[SHA256_HEX];
	int r;

	if (ready < 0)
		return ready;
	make_key(store, key);
	valid = open_valid(store, ready, key);
	if (valid < 0)
		return valid;
	r = record_lock(valid); /* before it is where starts that were killed are swept */
	if (r < 0)
		return r;
	store->lock = r;
	r = claim(store, ready, key, valid);
	if (r < 0)
		give_up(store);
	return r;
}

/* --- sweeping --- */

/* In nanoseconds: several may have been made in one second. */
static int64_t age(int at, const char *name)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0
		       ? -1
		       : (now.tv_sec - st.st_mtim.tv_sec) * SECOND + now.tv_nsec -
				 st.st_mtim.tv_nsec;
}

/* The oldest beyond what is kept, those of long ago, and what was left half made or half removed. */
static void sweep(int ready)
{
	_cleanup_dir_ DIR *list = os_dir_open(ready, ".");
	char oldest[NAME_MAX + 1] = "";
	struct dirent *entry;
	int64_t most = -1;
	size_t n = 0;

	while ((entry = os_dir_next(list)) != NULL) {
		int64_t old = age(ready, entry->d_name);
		bool begun = str_starts(entry->d_name, ".new-") ||
			     str_starts(entry->d_name, ".old-");

		if (old > (begun ? LEFT_S : KEPT_DAYS * 86400LL) * SECOND) {
			if (begun || entry->d_name[0] != '.')
				os_remove_tree(ready, entry->d_name);
		} else if (entry->d_name[0] != '.') {
			n++;
			if (old > most) {
				most = old;
				snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
			}
		}
	}
	if (n > KEPT)
		os_remove_tree(ready, oldest);
}

/* --- making one --- */

/* The stamps are older than what is read: a change in between shows. */
static int make(struct git_store *store, struct err *err)
{
	_cleanup_str_ struct str made = { 0 };
	int r = add_purpose(store, &made);

	if (r == 0)
		r = git_stamps_take(store, &made);
	if (r == 0 && made.len >= MADE_MAX)
		r = -EFBIG;
	if (r == 0)
		r = git_store_make(store, err);
	if (r == 0)
		r = git_fill_all(store, err);
	if (r == 0 && tree_usage(store->dir) > READY_BYTES)
		r = -EFBIG;
	return r < 0 ? r : record_write_file(store->dir, MADE, made.s, made.len, err);
}

/* In place of an old one. */
static int put(int ready, const char *new, const char *key, const char *id)
{
	char old[64];

	snprintf(old, sizeof(old), ".old-%s", id);
	if (renameat(ready, key, ready, old) == 0)
		os_remove_tree(ready, old);
	return renameat(ready, new, ready, key) < 0 ? -errno : 0;
}

static void make_in(struct git_store *store, const struct git_about *about, int ready)
{
	struct arena *a = &store->arena;
	char *new = arena_printf(a, ".new-%s", about->id);
	_cleanup_close_ int there = -1;
	char key[SHA256_HEX];
	struct err ignored;
	int r;

	make_key(store, key);
	store->path = arena_printf(a, "%s/" READY "/%s", store->state, new);
	store->private = arena_printf(a, "%s/dirs/0", store->path);
	git_add_modules(store, about);
	there = open_valid(store, ready, key);
	if (there >= 0)
		return;
	r = make(store, &ignored);
	if (r == 0)
		r = put(ready, new, key, about->id);
	if (r < 0)
		os_remove_tree(ready, new);
}

void git_ready_make(const struct git_about *about)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	_cleanup_close_ int ready = -1;
	struct err ignored;

	if (!is_local(about->common) || !is_local(about->real) ||
	    git_store_describe(&store, about, &ignored) < 0 ||
	    os_mkdirs(path_join(&store.arena, store.state, READY), 0700, &ignored) < 0)
		return;
	ready = open_ready(&store);
	if (ready < 0)
		return;
	make_in(&store, about, ready);
	sweep(ready);
}
