/* SPDX-License-Identifier: MIT */
/*
 * What a private git directory is made of, as stamps of the host's files: device, number, size, mode and both
 * times. A file that is as it was stamped has the content that was copied.
 *
 * Two exceptions. A change in the tick of the clock in which a file was stamped may leave the stamp
 * as it is (git's "racy" entries): what was changed shortly before has a hash beside its stamp. And the index
 * is known by the checksum at its end, without the time that a hard link to it changes: sessions make such links.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "base/sha256.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"

enum { STAMPS_MAX = 1000, HASHED_MAX = 256 * 1024, RACY_S = 2, DEPTH_MAX = 24, TAIL = 32 };

struct stamps {
	struct arena arena;
	struct str *out;
	time_t firm; /* what is older needs no hash */
	size_t n;
};

/* A whole file, or a directory's names. */
static int hash_names(const char *path, struct str *ret)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	struct dirent *entry;
	struct arena a = { 0 };
	struct git_items names = { 0 };
	int r;

	if (!dir)
		return -errno;
	while ((entry = os_dir_next(dir)) != NULL)
		git_add_item(&a, &names, arena_strdup(&a, entry->d_name), "");
	r = git_sort(&names);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		str_addn(ret, names.v[i].name, strlen(names.v[i].name) + 1);
	arena_release(&a);
	return r;
}

static int hash(const char *path, const struct stat *st, char hex[SHA256_HEX])
{
	_cleanup_str_ struct str names = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r;

	if (S_ISDIR(st->st_mode)) {
		r = hash_names(path, &names);
		sha256_hex(names.s ? names.s : "", names.len, hex);
	} else {
		r = git_read_file(AT_FDCWD, path, HASHED_MAX, &text, &len);
		sha256_hex(text ? text : "", len, hex);
	}
	return r;
}

/* The checksum at the end of an index; nobody's own where git was told to write none. */
static int read_tail(const char *path, const struct stat *st, char hex[SHA256_HEX])
{
	static const char none[TAIL];
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char tail[TAIL];

	if (fd < 0 || st->st_size < TAIL ||
	    pread(fd, tail, sizeof(tail), st->st_size - TAIL) != TAIL ||
	    !memcmp(tail + TAIL - 20, none, 20))
		return -ENOTSUP;
	sha256_hex(tail, sizeof(tail), hex);
	return 0;
}

static bool is_index(const char *path)
{
	return !strcmp(path_name(path), "index");
}

/* "none" for what is not there. -ENOTSUP for what is neither file nor directory. */
static int stamp(const char *path, char *ret, size_t size, struct stat *st)
{
	if (lstat(path, st) < 0) {
		st->st_mode = 0;
		snprintf(ret, size, "none");
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	}
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return -ENOTSUP;
	snprintf(ret, size, "%" PRIx64 ":%" PRIu64 ":%" PRId64 ":%o:%" PRId64 ".%09ld",
		 (uint64_t)st->st_dev, (uint64_t)st->st_ino, (int64_t)st->st_size,
		 (unsigned)st->st_mode, (int64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	if (!is_index(path)) {
		size_t n = strlen(ret);

		snprintf(ret + n, size - n, ":%" PRId64 ".%09ld", (int64_t)st->st_ctim.tv_sec,
			 st->st_ctim.tv_nsec);
	}
	return 0;
}

/* --- taking --- */

static int add(struct stamps *s, const char *path, struct stat *st)
{
	char text[192], hex[SHA256_HEX] = "-";
	int r = stamp(path, text, sizeof(text), st);

	if (r == 0 && (++s->n > STAMPS_MAX || strpbrk(path, "\t\n")))
		r = -ENOTSUP;
	if (r == 0 && st->st_mode && is_index(path))
		r = read_tail(path, st, hex);
	else if (r == 0 && st->st_mode && MAX(st->st_mtim.tv_sec, st->st_ctim.tv_sec) >= s->firm)
		r = hash(path, st, hex);
	if (r == 0)
		str_addf(s->out, "%s\t%s\t%s\n", path, text, hex);
	return r;
}

typedef int add_fn(struct stamps *s, const char *path, int depth);

/* It, and by fn each thing in it. */
static int add_dir(struct stamps *s, const char *path, add_fn *fn, int depth)
{
	struct dirent *entry;
	struct stat st;
	_cleanup_dir_ DIR *dir = NULL;
	int r = add(s, path, &st);

	if (r < 0 || !S_ISDIR(st.st_mode))
		return r;
	dir = opendir(path);
	if (!dir)
		return -errno;
	if (depth > DEPTH_MAX)
		r = -ENOTSUP;
	while (r == 0 && (entry = os_dir_next(dir)) != NULL)
		if (!git_is_sample(entry->d_name))
			r = fn(s, path_join(&s->arena, path, entry->d_name), depth + 1);
	return r;
}

/* It, and all that is below. */
static int add_tree(struct stamps *s, const char *path, int depth)
{
	return add_dir(s, path, add_tree, depth);
}

/* Of the other work trees only their names and where they stand is shown. */
static int add_worktree(struct stamps *s, const char *path, _unused_ int depth)
{
	struct stat st;
	int r = add(s, path_join(&s->arena, path, "HEAD"), &st);

	return r < 0 ? r : add(s, path_join(&s->arena, path, "gitdir"), &st);
}

static int add_worktrees(struct stamps *s, const char *common)
{
	return add_dir(s, path_join(&s->arena, common, "worktrees"), add_worktree, 0);
}

static int add_names(struct stamps *s, const char *dir, const char *const *names)
{
	int r = 0;

	for (size_t i = 0; r == 0 && names[i]; i++)
		r = add_tree(s, path_join(&s->arena, dir, names[i]), 0);
	return r;
}

static int take(struct stamps *s, struct git_store *store)
{
	static const char *const others[] = { "HEAD",     "config", "packed-refs", "refs",
					      "reftable", "hooks",  NULL };
	static const char *const own[] = { "HEAD", "logs/HEAD", "info/sparse-checkout", NULL };
	const char *hooks = NULL;
	int r = git_config_is_plain(store, &hooks) ? 0 : -ENOTSUP;

	if (r == 0)
		r = add_names(s, store->common, others);
	if (r == 0)
		r = add_names(s, store->common, git_common_names);
	if (r == 0)
		r = add_names(s, store->real, git_own_names);
	if (r == 0 && git_is_linked(store->real, store->common))
		r = add_names(s, store->real, own);
	if (r == 0 && hooks)
		r = add_tree(s, hooks, 0);
	return r < 0 ? r : add_worktrees(s, store->common);
}

int git_stamps_take(struct git_store *store, struct str *out)
{
	struct stamps s = { .out = out, .firm = time(NULL) - RACY_S };
	int r = take(&s, store);

	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		r = take(&s, &store->parts[i]);
	arena_release(&s.arena);
	return r;
}

/* --- comparing --- */

static bool holds(const char *path, const char *text, const char *hex)
{
	char now[192], now_hex[SHA256_HEX] = "-";
	struct stat st;
	int r = stamp(path, now, sizeof(now), &st);

	if (r < 0 || strcmp(now, text) != 0)
		return false;
	if (*hex != '-')
		r = is_index(path) ? read_tail(path, &st, now_hex) : hash(path, &st, now_hex);
	return r == 0 && !strcmp(now_hex, hex);
}

bool git_stamps_hold(char *text)
{
	for (char *line = text, *end; *line; line = end + 1) {
		char *first = strchr(line, '\t'), *second = first ? strchr(first + 1, '\t') : NULL;

		end = second ? strchr(second, '\n') : NULL;
		if (!end)
			return false;
		*first = *second = *end = '\0';
		if (!holds(line, first + 1, second + 1))
			return false;
	}
	return true;
}
