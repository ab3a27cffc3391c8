/* SPDX-License-Identifier: MIT */
/* A private git directory that lasts from command to command. */
#include "git/lasting.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "base/sha256.h"
#include "cow/copy.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"
#include "spec/gitkeys.h"

void git_lasting_id(const char *gitdir, char ret[GIT_LASTING_ID])
{
	char identity[GIT_IDENTITY], hex[SHA256_HEX], text[PATH_MAX + GIT_IDENTITY + 1];

	git_identity(gitdir, identity);
	snprintf(text, sizeof(text), "%s %s", identity, gitdir);
	sha256_hex(text, strlen(text), hex);
	snprintf(ret, GIT_LASTING_ID, "x%.12s", hex);
}

/* ------------------------------------------------------------------ what the user changed */

/* The host's configuration, where no command has set anything that is held. */
static int take_config(struct git_store *store, struct err *err)
{
	_cleanup_close_ int to = record_open_dir(AT_FDCWD, store->private);
	_cleanup_str_ struct str host = { 0 };
	_cleanup_free_ char *mine = NULL;
	struct git_state base;
	const char *hooks;
	size_t len = 0;
	int r = git_base_load(store, "base", &store->arena, &base, err);

	if (r == 0)
		r = git_private_config(store, &host, &hooks, err);
	if (r < 0 || to < 0 || git_read_file(to, "config", GITKEYS_MAX, &mine, &len) < 0 ||
	    len != base.config_len || (len && memcmp(mine, base.config, len) != 0) ||
	    (host.len == len && (!len || memcmp(host.s, mine, len) == 0)))
		return r;
	base.config = host.s ? host.s : "";
	base.config_len = host.len;
	r = os_write_file_atomic(to, "config", base.config, host.len, 0644, err);
	return r < 0 ? r : git_base_save(store, "base", &base, err);
}

bool git_is_newer(int from, const char *name, int to, const char *mine_name)
{
	struct stat host, mine;

	if (fstatat(from, name, &host, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return fstatat(to, mine_name, &mine, AT_SYMLINK_NOFOLLOW) < 0 ||
	       host.st_mtim.tv_sec > mine.st_mtim.tv_sec ||
	       (host.st_mtim.tv_sec == mine.st_mtim.tv_sec &&
		host.st_mtim.tv_nsec > mine.st_mtim.tv_nsec);
}

static int take_newer(int from, const char *name, int to, struct err *err)
{
	if (!git_is_newer(from, name, to, name))
		return 0;
	unlinkat(to, name, 0);
	return copy_tree(from, name, to, name, err);
}

/* Where they are a link: there, or this command may not read them. */
static bool hooks_changed(const struct git_store *store, int from, int to)
{
	struct stat st;

	if (git_is_newer(from, "hooks", to, "hooks"))
		return true;
	if (fstatat(from, "hooks", &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode))
		return false;
	return !store->hooks || git_is_newer(AT_FDCWD, store->hooks, to, "hooks");
}

/* Files that a user edits, and hooks: commands do not change those. */
static int take_files(struct git_store *store, struct err *err)
{
	static const char *const names[] = { "exclude", "attributes" };
	_cleanup_close_ int to = record_open_dir(AT_FDCWD, store->private);
	_cleanup_close_ int from = git_open_host(store, store->common);
	_cleanup_close_ int info = from < 0 ? -1 : record_open_dir(from, "info");
	_cleanup_close_ int to_info = to < 0 ? -1 : record_open_dir(to, "info");
	int r = from < 0 ? err_errno(err, errno, "opening '%s'", store->common) : 0;

	for (size_t i = 0; r == 0 && info >= 0 && to_info >= 0 && i < ARRAY_LEN(names); i++)
		r = take_newer(info, names[i], to_info, err);
	if (r == 0)
		r = take_newer(from, "shallow", to, err);
	if (r == 0 && to >= 0)
		r = git_take_remote_heads(store, to, err);
	if (r == 0 && hooks_changed(store, from, to)) {
		os_remove_tree(to, "hooks");
		os_remove_tree(store->dir, "hooks");
		r = git_copy_hooks(store, to, NULL, err);
	}
	return r;
}

static int take_in_one(struct git_store *store, struct err *err)
{
	_cleanup_close_ int turn = git_open_turn(store->state, store->common);
	int r;

	if (turn < 0 || git_take_turn(turn) < 0)
		return err_errno(err, errno, "locking '%s'", store->common);
	r = take_config(store, err);
	return r < 0 ? r : take_files(store, err);
}

/* Both ways: what a command that was killed left goes to the host. */
static int take_in(struct git_store *store, struct err *err)
{
	struct git_report report = { 0 };
	char stamp[GIT_STAMP];
	int r;

	git_stamp_make(store, stamp);
	r = take_in_one(store, err);
	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		r = store->parts[i].tree ? 0 : take_in_one(&store->parts[i], err);
	if (r == 0)
		r = git_publish(store, false, &report, err);
	if (r == 0)
		r = git_take_sparse(store, err);
	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		r = git_take_sparse(&store->parts[i], err);
	git_report_release(&report);
	if (r < 0)
		return r;
	git_stamp_save(store, stamp);
	return store->broken ? 0 : git_set_done(store, err);
}

/* A command's beginning, for what it may rewrite. */
static void note_start(struct git_store *store)
{
	struct git_state host;
	struct err ignored;

	if (git_read_host(store, &store->arena, &host, &ignored) == 0)
		git_base_save(store, "start", &(struct git_state){ .refs = host.refs }, &ignored);
}

static void note_starts(struct git_store *store)
{
	note_start(store);
	for (size_t i = 0; i < store->n_parts; i++)
		if (!store->parts[i].tree)
			note_start(&store->parts[i]);
}

/* ------------------------------------------------------------------ opening */

static bool has_part(const struct git_store *store, const char *gitdir)
{
	for (size_t i = 0; i < store->n_parts; i++)
		if (!store->parts[i].tree && !strcmp(store->parts[i].real, gitdir))
			return git_is_same(&store->parts[i]);
	return false;
}

static size_t count_modules(const struct git_store *store)
{
	size_t n = 0;

	for (size_t i = 0; i < store->n_parts; i++)
		n += !store->parts[i].tree;
	return n;
}

static bool same_list(const struct strv *a, const struct strv *b)
{
	for (size_t i = 0; i < MIN(a->len, b->len); i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return a->len == b->len;
}

static bool fits(const struct git_store *store, const struct git_about *about)
{
	_cleanup_close_ int private = record_open_dir(AT_FDCWD, store->private);
	_cleanup_close_ int host = private < 0 ? -1 : record_open_dir(private, GIT_HOST);

	if (host < 0 || !store->lasting || !git_is_same(store) ||
	    strcmp(store->real, about->real) != 0 || strcmp(store->common, about->common) != 0 ||
	    count_modules(store) != about->n_modules ||
	    !same_list(&store->borrowed, about->borrowed))
		return false;
	for (size_t i = 0; i < about->n_modules; i++)
		if (!has_part(store, about->modules[i].gitdir))
			return false;
	return true;
}

static int lock_shared(struct git_store *store, struct err *err)
{
	if (store->lock < 0)
		store->lock = openat(store->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
				     0600);
	if (store->lock < 0 || flock(store->lock, LOCK_SH) < 0)
		return err_errno(err, errno, "locking '%s'", store->path);
	/* Somebody may have removed it meanwhile. */
	return faccessat(store->dir, "meta", F_OK, 0) < 0
		       ? err_set(err, ESTALE, "'%s' was removed", store->path)
		       : 0;
}

static int say_waits(const struct git_store *store, struct err *err)
{
	return err_set(err, EEXIST,
		       "its layout changed (a submodule came, say) while something is held back: "
		       "'wrapix git held %s' lists it, 'wrapix git accept' or 'wrapix git drop' "
		       "decides, and then commands can write it again",
		       store->id);
}

bool git_lasting_waits(const struct git_about *about, struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	struct git_held *held = NULL;
	struct err ignored;
	size_t n = 0;

	if (git_open(&store, about->state_home, about->id, about->program, &ignored) < 0 ||
	    fits(&store, about) || git_held_read(&store, &store.arena, &held, &n, &ignored) < 0 ||
	    !n)
		return false;
	say_waits(&store, err);
	return true;
}

/* One that fits no more (a submodule came) gives way, unless it holds something: that is the user's to decide first. */
static int give_way(struct git_store *store, struct err *err)
{
	struct git_report report = { 0 };
	int r = git_lock(store, err);

	if (r == 0)
		r = git_publish(store, true, &report, err);
	if (r == 0 && report.n_held)
		r = say_waits(store, err);
	git_report_release(&report);
	return r < 0 ? r : git_remove(store, err);
}

/* Those of repositories that are gone, if nothing of them is left to tell. */
static void sweep(const struct git_about *about)
{
	char path[PATH_MAX];
	_cleanup_dir_ DIR *list = snprintf(path, sizeof(path), "%s/wrapix/git", about->state_home) <
						  (int)sizeof(path)
					  ? opendir(path)
					  : NULL;
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		_cleanup_git_ struct git_store store = GIT_STORE_NONE;
		struct err ignored;

		if (git_is_quiet(dirfd(list), entry->d_name) &&
		    git_open(&store, about->state_home, entry->d_name, NULL, &ignored) == 0 &&
		    !git_is_same(&store) && git_lock(&store, &ignored) == 0)
			git_remove(&store, &ignored);
	}
}

/* With the turn: nobody else makes one. What has no record was not finished. */
static int make(struct git_store *store, const struct git_about *about, struct err *err)
{
	struct git_store old = GIT_STORE_NONE;
	int r = git_store_name(&old, about->state_home, about->id, err);

	if (r == 0)
		r = os_mkdirs(old.state, 0700, err);
	if (r == 0)
		r = git_remove(&old, err);
	git_close(&old);
	if (r == 0)
		r = git_prepare(store, about, err);
	return r < 0 ? r : git_set_done(store, err);
}

static int open_or_make(struct git_store *store, const struct git_about *about, struct err *err)
{
	char stamp[GIT_STAMP], state[PATH_MAX];
	_cleanup_close_ int turn = -1;
	struct err ignored;
	int r;

	snprintf(state, sizeof(state), "%s/wrapix", about->state_home);
	turn = git_open_turn(state, about->common);
	if (turn < 0 || git_take_turn(turn) < 0)
		return err_errno(err, errno, "locking '%s'", about->common);
	if (git_open(store, about->state_home, about->id, about->program, &ignored) == 0)
		return lock_shared(store, err);
	sweep(about);
	r = make(store, about, err);
	if (r == 0)
		r = lock_shared(store, err);
	if (r < 0)
		return r;
	git_stamp_make(store, stamp);
	git_stamp_save(store, stamp); /* "" where something is so new */
	return 0;
}

bool git_lasting_exists(const struct git_about *about)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/wrapix/git/%s/meta", about->state_home,
			about->id) >= (int)sizeof(path) ||
	       access(path, F_OK) == 0;
}

int git_lasting_begin(struct git_store *store, const struct git_about *about, struct err *err)
{
	struct err ignored;
	int r = git_open(store, about->state_home, about->id, about->program, &ignored);

	if (r == 0 && !fits(store, about)) {
		r = give_way(store, err);
		git_close(store);
		if (r < 0)
			return r;
		r = -ENOENT;
	}
	r = r == 0 ? lock_shared(store, err) : open_or_make(store, about, err);
	if (r == 0)
		r = git_check_objects(store, err);
	if (r == 0)
		r = git_make_places(store, err);
	if (r == 0)
		r = git_take_trees(store, about, err);
	if (r < 0) {
		git_close(store);
		return r;
	}
	git_arm(store);
	store->hooks = arena_strdup(&store->arena, about->hooks);
	if (git_is_current(store))
		return 0;
	/* What a command broke is not for the next ones to suffer from. */
	store->broken = faccessat(store->dir, "done", F_OK, 0) < 0;
	/* Until it is taken in: the next session looks after one that was killed. */
	git_lasting_change(store);
	if (flock(store->lock, LOCK_EX | LOCK_NB) == 0) {
		/* Alone: whoever has locked it was killed, maybe before it had changed anything else. */
		bool killed = store->broken || git_is_locked(store);

		(void)git_mend(store, &ignored);
		if (killed)
			git_mend_objects(store);
		note_starts(store);
		r = lock_shared(store, err);
	}
	if (r < 0) {
		git_close(store);
		return r;
	}
	/* One that cannot be published, because the host's git is busy, is worked in all the same: the
	 * host's own would be what it was to be kept from. */
	(void)take_in(store, &ignored);
	return 0;
}

/* ------------------------------------------------------------------ commands */

static void link_files(int from, int to, const char *name)
{
	_cleanup_close_ int target = -1;
	int fd = os_openat2(from, name, O_RDONLY | O_DIRECTORY, 0,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	struct dirent *entry;

	if (mkdirat(to, name, 0755) == 0 || errno == EEXIST)
		target = openat(to, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (target >= 0 && (entry = os_dir_next(list)) != NULL)
		if (entry->d_type == DT_REG)
			(void)!linkat(fd, entry->d_name, target, entry->d_name, 0);
}

void git_lasting_take_objects(const struct git_store *store)
{
	_cleanup_close_ int host = git_open_host(store, store->common);
	_cleanup_close_ int mine = open(store->private, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[32];

	link_files(host, mine, "objects/pack");
	for (unsigned i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "objects/%02x", i);
		if (faccessat(host, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			link_files(host, mine, name);
	}
}

bool git_lasting_is_own(const char *below)
{
	const char *name = *below == '/' ? below + 1 : below;
	size_t n = strcspn(name, "/");

	if (str_starts(name, "logs/HEAD"))
		return true;
	if (n > 5 && !strncmp(name + n - 5, ".lock", 5))
		n -= 5;
	for (size_t i = 0; git_own_names[i]; i++)
		if (strlen(git_own_names[i]) == n && !strncmp(name, git_own_names[i], n))
			return true;
	return n == 4 && !strncmp(name, "HEAD", 4);
}

void git_lasting_change(const struct git_store *store)
{
	unlinkat(store->dir, "done", 0);
}

int git_lasting_end(struct git_store *store, struct git_report *ret, struct err *err)
{
	/* Alone in it: what is moved is missed by nobody. */
	bool alone = flock(store->lock, LOCK_EX | LOCK_NB) == 0;
	int r = alone ? git_mend(store, err) : 0;

	if (alone)
		git_mend_objects(store);
	if (r == 0 && alone)
		r = git_reload_parts(store, err);
	if (r == 0)
		r = git_publish(store, alone, ret, err);
	if (r < 0)
		return r;
	git_held_untold(store, ret);
	note_starts(store);
	return alone ? git_set_done(store, err) : 0;
}
