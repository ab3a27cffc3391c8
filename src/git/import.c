/* SPDX-License-Identifier: MIT */
/*
 * New objects, from the session to the host: a confined git in the private directory packs them, a
 * confined one with an empty directory of its own checks each (index-pack --strict) and that nothing
 * is missing (rev-list), and only then do they come to the host's, under names that nothing has there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cow/copy.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"

enum { FEW_OBJECTS = 100, MANY_BLOBS = 4000, IMPORT_SECONDS = 300 };

/* Flaws of old history that git itself lives with; everything else that fsck finds is fatal. */
#define STRICT                                                                         \
	"--strict=badTimezone=ignore,missingEmail=ignore,badEmail=ignore,"             \
	"badName=ignore,missingSpaceBeforeEmail=ignore,missingSpaceBeforeDate=ignore," \
	"zeroPaddedFilemode=ignore,zeroPaddedDate=ignore,badDate=ignore,"              \
	"badDateOverflow=ignore,multipleAuthors=ignore,nulInCommit=ignore"

struct import {
	struct git_round *round;
	char *path; /* of the importer's directory */
	int dir;
	struct str revs; /* what is wanted, without what the host has */
};

/* An import that was killed may have left an object without those that it needs: to be there is not
 * enough. True when nothing is missing that these lead to. */
static bool is_whole(struct git_round *round, const struct strv *there)
{
	struct git_run run = git_on_host(round->store, GIT_ARGS("rev-list", "--objects", "--quiet",
								"--stdin", "--not", "--all"));
	_cleanup_str_ struct str in = { 0 };

	for (size_t i = 0; i < there->len; i++)
		str_addf(&in, "%s\n", there->v[i]);
	run.input = in.s;
	run.input_len = in.len;
	run.seconds = IMPORT_SECONDS;
	return there->len == 0 || git_run(&run, NULL) == 0;
}

/* Which of the wanted the host does not have yet. */
static int find_missing(struct git_round *round, const struct strv *wants, struct strv *ret,
			struct err *err)
{
	struct git_run run = git_on_host(
		round->store, GIT_ARGS("cat-file", "--batch-check=%(objectname) %(objecttype)"));
	_cleanup_str_ struct str in = { 0 }, out = { 0 };
	struct strv there = { 0 };
	bool whole;
	int r;

	if (!wants->len)
		return 0;
	for (size_t i = 0; i < wants->len; i++)
		str_addf(&in, "%s\n", wants->v[i]);
	run.input = in.s;
	run.input_len = in.len;
	run.seconds = 60;
	r = git_do(&run, &out, err);
	if (r < 0)
		return r;
	for (char *line = out.s, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		if (strlen(line) > 8 && !strcmp(line + strlen(line) - 8, " missing"))
			strv_add(&round->arena, ret,
				 arena_strndup(&round->arena, line, strlen(line) - 8));
		else
			strv_add(&round->arena, &there,
				 arena_strndup(&round->arena, line, strcspn(line, " ")));
	}
	whole = is_whole(round, &there);
	for (size_t i = 0; !whole && i < there.len; i++)
		strv_add(&round->arena, ret, there.v[i]);
	return 0;
}

/* A git directory with nothing in it. */
static int make_importer(struct import *import, bool sha256, struct err *err)
{
	static const char *const dirs[] = { "refs", "objects", "objects/pack", "objects/info",
					    "loose" };
	static const char head[] = "ref: refs/heads/none\n";
	const char *config = sha256 ? "[core]\n\trepositoryformatversion = 1\n[extensions]\n"
				      "\tobjectformat = sha256\n"
				    : "[core]\n\trepositoryformatversion = 0\n";
	struct git_store *store = import->round->store;
	struct err ignored;
	int r = os_remove_tree(store->dir, "incoming");

	if (r < 0 || mkdirat(store->dir, "incoming", 0700) < 0)
		return err_errno(err, r < 0 ? -r : errno, "making room for new objects");
	import->path = path_join(&store->arena, store->path, "incoming");
	import->dir = openat(store->dir, "incoming", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdirat(import->dir, dirs[i], 0700) < 0)
			return err_errno(err, errno, "making room for new objects");
	r = os_write_new(import->dir, "HEAD", head, strlen(head), 0600);
	if (r == 0)
		r = os_write_new(import->dir, "config", config, strlen(config), 0600);
	if (r < 0)
		return err_errno(err, -r, "making room for new objects");
	copy_tree(AT_FDCWD, path_join(&store->arena, store->common, "shallow"), import->dir,
		  "shallow", &ignored); /* only a shallow one has it */
	return 0;
}

static struct git_run importer(struct import *import, const char *const *args)
{
	struct git_store *store = import->round->store;

	struct git_run run = {
		.program = store->program,
		.args = args,
		.gitdir = import->path,
		.alternates = git_alternate(store),
		.confined = true,
		.writes = import->path,
		.seconds = IMPORT_SECONDS,
	};

	git_may_read(&run, store);
	return run;
}

static void add_revs(struct import *import, const struct strv *missing)
{
	const struct git_round *round = import->round;

	for (size_t i = 0; i < missing->len; i++)
		str_addf(&import->revs, "%s\n", missing->v[i]);
	for (size_t i = 0; i < round->host.refs.n; i++)
		str_addf(&import->revs, "^%s\n", round->host.refs.v[i].value);
	if (round->host.head && !str_starts(round->host.head, "ref: "))
		str_addf(&import->revs, "^%s\n", round->host.head);
}

static int check(struct import *import, int pack, struct err *err)
{
	struct git_run index = importer(import, GIT_ARGS("index-pack", "--stdin", "--fix-thin",
							 STRICT, "--max-input-size=4294967295"));
	struct git_run connected = importer(
		import, GIT_ARGS("rev-list", "--objects", "--stdin", "--quiet"));
	int r;

	if (lseek(pack, 0, SEEK_SET) < 0)
		return err_errno(err, errno, "reading new objects");
	index.in = pack;
	connected.input = import->revs.s;
	connected.input_len = import->revs.len;
	r = git_do(&index, NULL, err);
	if (r == 0)
		r = git_do(&connected, NULL, err);
	return r < 0 ? err_wrap(err, "the session's new objects do not pass the check") : 0;
}

/* A file of ours under a name that the host's does not have yet, whole or not at all; a kill leaves nothing. */
static int bring(int from_dir, const char *from, int to_dir, const char *to, bool sync)
{
	_cleanup_close_ int in = openat(from_dir, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	char name[64];
	bool nameless;
	int r;

	if (in < 0)
		return -errno;
	out = openat(to_dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	nameless = out >= 0;
	if (nameless) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", out);
	} else {
		/* Not every file system has them; git sweeps this name some day, if we are killed. */
		snprintf(name, sizeof(name), "tmp_obj_wrapix%d", (int)getpid());
		unlinkat(to_dir, name, 0);
		out = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (out < 0)
		return -errno;
	r = copy_content(in, out);
	if (r == 0 && (fchmod(out, 0444) < 0 || (sync && fsync(out) < 0)))
		r = -errno;
	if (r == 0 && linkat(to_dir, name, to_dir, to, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
		r = -errno;
	if (!nameless)
		unlinkat(to_dir, name, 0);
	return r;
}

static int bring_loose(struct import *import, int from, int to, const char *fan)
{
	_cleanup_dir_ DIR *dir = os_dir_open(from, fan);
	_cleanup_close_ int out = -1;
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	if (mkdirat(to, fan, 0777) < 0 && errno != EEXIST)
		return -errno;
	out = openat(to, fan, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return -errno;
	while (r == 0 && (entry = os_dir_next(dir)) != NULL)
		if (strspn(entry->d_name, "0123456789abcdef") >= 38) {
			git_step(import->round->store, "object");
			r = bring(dirfd(dir), entry->d_name, out, entry->d_name, false);
		}
	return r;
}

static int migrate_loose(struct import *import, int to)
{
	_cleanup_dir_ DIR *dir = os_dir_open(import->dir, "loose");
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (r == 0 && (entry = os_dir_next(dir)) != NULL)
		if (strlen(entry->d_name) == 2 && strspn(entry->d_name, "0123456789abcdef") == 2)
			r = bring_loose(import, dirfd(dir), to, entry->d_name);
	return r;
}

/* The name of the one pack that the importer made, without its ending. */
static char *pack_name(struct import *import, int packs)
{
	_cleanup_dir_ DIR *dir = os_dir_open(packs, ".");
	struct dirent *entry;
	char *name = NULL;

	while ((entry = os_dir_next(dir)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (len > 10 && !strcmp(entry->d_name + len - 5, ".pack") &&
		    strspn(entry->d_name, "pack-0123456789abcdef") == len - 5)
			name = arena_strndup(&import->round->arena, entry->d_name, len - 5);
	}
	return name;
}

/* The index comes last: a pack without one is not there. */
static int migrate_pack(struct import *import, int packs, const char *name, int to)
{
	static const char *const endings[] = { ".pack", ".rev", ".idx" };
	_cleanup_close_ int out = openat(to, "pack",
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = out < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(endings); i++) {
		char *file = arena_printf(&import->round->arena, "%s%s", name, endings[i]);

		git_step(import->round->store, endings[i]);
		r = bring(packs, file, out, file, true);
		if (r == -ENOENT && i == 1)
			r = 0;
	}
	return r;
}

static int migrate(struct import *import, uint32_t count, struct err *err)
{
	_cleanup_close_ int packs = openat(import->dir, "objects/pack",
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int to = git_open_host(import->round->store,
					       git_objects(import->round->store));
	char *name = packs < 0 ? NULL : pack_name(import, packs);
	int r;

	if (to < 0 || !name)
		return err_set(err, EIO, "the checked objects are not there");
	if (count < FEW_OBJECTS) {
		_cleanup_close_ int pack = openat(
			packs, arena_printf(&import->round->arena, "%s.pack", name),
			O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		struct git_run unpack = importer(import, GIT_ARGS("unpack-objects", "-q"));

		unpack.objects = path_join(&import->round->arena, import->path, "loose");
		unpack.in = pack;
		r = pack < 0 ? err_errno(err, errno, "reading new objects")
			     : git_do(&unpack, NULL, err);
		if (r < 0)
			return r;
		r = migrate_loose(import, to);
	} else {
		r = migrate_pack(import, packs, name, to);
	}
	return r < 0 ? err_errno(err, -r, "storing new objects") : 0;
}

/* A file of ours that nobody else is to see, and a kill leaves nothing of. */
static int open_nameless(int dir, struct err *err)
{
	static const char name[] = "incoming.pack";
	int fd = openat(dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 &&
	    (errno == EOPNOTSUPP || errno == EISDIR)) { /* not every file system has them */
		fd = openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
		unlinkat(dir, name, 0);
	}
	return fd < 0 ? err_errno(err, errno, "making room for new objects") : fd;
}

static int transfer(struct import *import, const struct strv *missing, struct err *err)
{
	struct git_round *round = import->round;
	struct git_run pack = git_in_private(round->store,
					     GIT_ARGS("pack-objects", "--revs", "--stdout",
						      "--thin", "--delta-base-offset", "-q"),
					     false);
	_cleanup_close_ int fd = -1;
	unsigned char header[12];
	int r = make_importer(import, strlen(missing->v[0]) == 64, err);

	if (r < 0)
		return r;
	add_revs(import, missing);
	fd = open_nameless(round->store->dir, err);
	if (fd < 0)
		return fd;
	pack.input = import->revs.s;
	pack.input_len = import->revs.len;
	pack.out = fd;
	pack.seconds = IMPORT_SECONDS;
	r = git_do(&pack, NULL, err);
	if (r == 0)
		r = check(import, fd, err);
	if (r < 0)
		return r;
	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return err_set(err, EIO, "the session's objects cannot be read");
	return migrate(import, load_be32(header + 8), err);
}

/* To ask git for one that it does not have is slow; those of a new commit come with it, asked for or not. */
static int add_blobs(struct git_round *round, struct strv *missing, struct err *err)
{
	if (!missing->len || round->blobs.len > MANY_BLOBS)
		return find_missing(round, &round->blobs, missing, err);
	for (size_t i = 0; i < round->blobs.len; i++)
		strv_add(&round->arena, missing, round->blobs.v[i]);
	return 0;
}

int git_import(struct git_round *round, struct err *err)
{
	struct import import = { .round = round, .dir = -1 };
	struct strv missing = { 0 };
	int r = find_missing(round, &round->wants, &missing, err);

	if (r == 0)
		r = add_blobs(round, &missing, err);

	if (r == 0 && missing.len)
		r = transfer(&import, &missing, err);
	close_ptr(&import.dir);
	os_remove_tree(round->store->dir, "incoming"); /* also what one that was killed left */
	str_release(&import.revs);
	return r;
}
