/* SPDX-License-Identifier: MIT */
/*
 * The private git directory, made from the host's, which is trusted: what goes in is limited by what
 * is nobody's business inside (passwords in addresses), not by what could be done with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cow/copy.h"
#include "git/lasting.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { COPY_MAX = 1 << 30, COPY_DEPTH = 32 }; /* of one name */

const char *const git_own_names[] = {
	"index",
	"ORIG_HEAD",
	"FETCH_HEAD",
	"MERGE_HEAD",
	"MERGE_MSG",
	"MERGE_MODE",
	"MERGE_RR",
	"SQUASH_MSG",
	"AUTO_MERGE",
	"CHERRY_PICK_HEAD",
	"REVERT_HEAD",
	"REBASE_HEAD",
	"BISECT_LOG",
	"BISECT_START",
	"BISECT_TERMS",
	"BISECT_NAMES",
	"BISECT_EXPECTED_REV",
	"BISECT_ANCESTORS_OK",
	"rebase-merge",
	"rebase-apply",
	"sequencer",
	NULL,
};
const char *const git_common_names[] = { "shallow", "info", "logs", "rr-cache", NULL };

/* Holes are copied as bytes, and a sandbox may have made this. */
static bool is_small(int at, const char *name, int depth, uint64_t *left)
{
	_cleanup_close_ int fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat st = { 0 };
	_cleanup_dir_ DIR *list = fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)
					  ? os_dir_take(take_fd(&fd))
					  : NULL;
	const struct dirent *entry;
	bool small = !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= *left;

	if (S_ISREG(st.st_mode) && small)
		*left -= (uint64_t)st.st_size;
	while (list && small && (entry = os_dir_read(list)) != NULL)
		small = depth && is_small(dirfd(list), entry->d_name, depth - 1, left);
	return small;
}

int git_copy_file(int from, const char *name, int to, struct err *err)
{
	uint64_t left = COPY_MAX;

	if (!is_small(from, name, COPY_DEPTH, &left))
		return err_set(err, EFBIG, "its '%s' is too large to be copied", name);
	return faccessat(from, name, F_OK, 0) < 0 ? 0 : copy_tree(from, name, to, name, err);
}

static int copy_shared_index(int real, int to, struct err *err)
{
	_cleanup_dir_ DIR *dir = os_dir_open(real, ".");
	struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = os_dir_next(dir)) != NULL)
		if (str_starts(entry->d_name, "sharedindex."))
			r = git_copy_file(real, entry->d_name, to, err);
	return r;
}

/* A linked worktree's own file, where the one of all was copied. */
static int copy_instead(int real, int to, const char *dir, const char *name, struct err *err)
{
	unlinkat(to, name, 0);
	return mkdirat(to, dir, 0777) == 0 || errno == EEXIST ? git_copy_file(real, name, to, err)
							      : 0;
}

int git_copy_own(const struct git_store *store, int to, struct err *err)
{
	_cleanup_close_ int real = git_open_host(store, store->real);
	int r = real < 0 ? err_errno(err, errno, "opening '%s'", store->real) : 0;

	for (size_t i = 0; r == 0 && git_own_names[i]; i++)
		r = git_copy_file(real, git_own_names[i], to, err);
	if (r == 0 && store->lasting)
		r = git_copy_file(real, "config.worktree", to, err);
	return r < 0 ? r : copy_shared_index(real, to, err);
}

static int copy_names(const struct git_store *store, int to, const char *hooks, struct err *err)
{
	_cleanup_close_ int real = git_open_host(store, store->real);
	_cleanup_close_ int common = git_open_host(store, store->common);
	int r = real < 0 || common < 0 ? err_errno(err, errno, "opening '%s'", store->real) : 0;

	if (r == 0)
		r = git_copy_own(store, to, err);
	for (size_t i = 0; r == 0 && git_common_names[i]; i++)
		r = git_copy_file(common, git_common_names[i], to, err);
	/* The reflog of a linked worktree's HEAD is its own, and so is what is checked out of it. */
	if (git_is_linked(store->real, store->common)) {
		if (r == 0)
			r = copy_instead(real, to, "logs", "logs/HEAD", err);
		if (r == 0)
			r = copy_instead(real, to, "info", "info/sparse-checkout", err);
	}
	return r < 0 ? r : git_copy_hooks(store, to, hooks, err);
}

static int write_new(int to, const char *name, const char *text, size_t len, struct err *err)
{
	int r = os_write_new(to, name, text, len, 0644);

	return r < 0 ? err_errno(err, -r, "writing '%s' of the private git directory", name) : 0;
}

int git_write_packed_refs(const struct git_state *host, int to, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "# pack-refs with: sorted\n");
	for (size_t i = 0; i < host->refs.n; i++)
		if (!str_starts(host->refs.v[i].name, "refs/wrapix/"))
			str_addf(&out, "%s %s\n", host->refs.v[i].value, host->refs.v[i].name);
	return write_new(to, "packed-refs", out.s, out.len, err);
}

int git_write_head(const struct git_state *host, int to, struct err *err)
{
	char head[512];

	snprintf(head, sizeof(head), "%s\n", host->head);
	return write_new(to, "HEAD", head, strlen(head), err);
}

int git_write_alternates(const struct git_store *store, int to, struct err *err)
{
	_cleanup_str_ struct str lines = { 0 };

	if (!store->lasting)
		str_addf(&lines, GIT_OBJECTS_INSIDE "/%u/objects\n", store->number);
	else
		str_add(&lines, "../" GIT_HOST "/objects\n");
	/* By its whole name as well, for git-lfs, if a line can hold it; a copy of all of it goes by the other. */
	if (store->lasting && !strchr(store->real, '\n'))
		str_addf(&lines, "%s/" GIT_HOST "/objects\n", store->real);
	/* What the host's borrow is found by the host's words; theirs may be relative. */
	for (size_t i = 0; store->lasting && i < store->borrowed.len; i++)
		str_addf(&lines, "%s\n", store->borrowed.v[i]);
	return write_new(to, "objects/info/alternates", lines.s, lines.len, err);
}

static int make_dirs(const struct git_store *store, int to, struct err *err)
{
	static const char *const dirs[] = { "objects", "objects/info", "objects/pack", "refs",
					    "refs/heads", "refs/tags",
					    /* for what is mounted there; of a lasting one */
					    GIT_HOST, GIT_HOST "/objects", GIT_HOST "/lfs",
					    GIT_HOST "/lfs/objects" };
	size_t n = store->lasting ? ARRAY_LEN(dirs) : ARRAY_LEN(dirs) - 4;

	for (size_t i = 0; i < n; i++)
		if (mkdirat(to, dirs[i], 0755) < 0)
			return err_errno(err, errno, "making the private git directory");
	return git_write_alternates(store, to, err);
}

/* Nobody works with the copy yet, and the host's was linked a moment ago: what has the same numbers
 * later is the same. */
const char *git_marks_now(struct git_store *store, int private)
{
	_cleanup_close_ int real = git_open_host(store, store->real);

	bool ignored;

	return arena_printf(&store->arena, "%s %s",
			    git_index_mark(&store->arena, private, true, &ignored),
			    git_index_mark(&store->arena, real, false, &ignored));
}

static int fill(struct git_store *store, struct err *err)
{
	_cleanup_close_ int to = open(store->private, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_str_ struct str config = { 0 };
	struct git_state host;
	const char *hooks = NULL;
	int r;

	if (to < 0)
		return err_errno(err, errno, "opening '%s'", store->private);
	r = git_read_host(store, &store->arena, &host, err);
	if (r == 0 && !host.head)
		r = err_set(err, ENOTSUP, "HEAD of '%s' is none that wrapix knows", store->real);
	if (r == 0)
		r = git_private_config(store, &config, &hooks, err);
	if (r == 0)
		r = make_dirs(store, to, err);
	if (r == 0)
		r = git_write_packed_refs(&host, to, err);
	if (r == 0)
		r = git_take_remote_heads(store, to, err);
	if (r == 0)
		r = git_write_head(&host, to, err);
	if (r == 0)
		r = copy_names(store, to, hooks, err);
	if (r == 0)
		r = git_show_worktrees(store, to, err);
	if (r == 0)
		r = write_new(to, "config", config.s, config.len, err);
	host.config = config.s;
	host.config_len = config.len;
	if (r == 0)
		r = git_base_save(store, "start", &(struct git_state){ .refs = host.refs }, err);
	if (r == 0)
		r = git_base_link_index(store, err);
	if (r == 0)
		host.mark = git_marks_now(store, to);
	return r < 0 ? r : git_base_save(store, "base", &host, err);
}

/* A submodule's git directory stands in that of the repository around it: the place must be there. */
static int make_place(const struct git_store *main, const struct git_store *part, struct err *err)
{
	struct arena a = { 0 };
	const struct git_store *around = main;
	char *place = path_join(&a, "modules", part->name);
	int r;

	for (size_t i = 0; i < main->n_parts; i++) {
		const struct git_store *other = &main->parts[i];
		char *inner = arena_printf(&a, "%s/", other->name);

		if (other != part && !other->tree && str_starts(part->name, inner) &&
		    (around == main || strlen(other->name) > strlen(around->name))) {
			around = other;
			place = arena_strdup(&a, part->name + strlen(inner));
		}
	}
	r = os_mkdirs(path_join(&a, around->private, place), 0755, err);
	arena_release(&a);
	return r;
}

/* One that a command made has none of these. */
static int make_host_dirs(const struct git_store *part, struct err *err)
{
	static const char *const names[] = {
		GIT_HOST, "objects", NULL, GIT_HOST, "lfs", "objects"
	};
	_cleanup_close_ int at = -1;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		int up = at >= 0 ? at : record_open_dir(AT_FDCWD, part->private);

		if (names[i]) {
			(void)mkdirat(up, names[i], 0755);
			at = record_open_dir(up, names[i]);
		}
		close(up);
		if (!names[i])
			at = -1;
		else if (at < 0)
			return err_errno(err, -at, "making '%s' in '%s'", names[i], part->private);
	}
	return 0;
}

int git_make_places(const struct git_store *store, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < store->n_parts; i++) {
		const struct git_store *part = &store->parts[i];

		r = part->tree ? 0 : make_place(store, part, err);
		if (r == 0 && store->lasting && !part->tree)
			r = make_host_dirs(part, err);
	}
	return r;
}

int git_fill_all(struct git_store *store, struct err *err)
{
	int r = fill(store, err);

	for (size_t i = 0; r == 0 && i < store->n_parts; i++) {
		r = git_store_make(&store->parts[i], err);
		if (r == 0)
			r = fill(&store->parts[i], err);
	}
	return r < 0 ? r : git_make_places(store, err);
}

void git_add_modules(struct git_store *store, const struct git_about *about)
{
	for (size_t i = 0; i < about->n_modules; i++)
		git_add_part(store, about->modules[i].gitdir, about->modules[i].name,
			     about->modules[i].where);
}

int git_store_describe(struct git_store *store, const struct git_about *about, struct err *err)
{
	struct arena *a = &store->arena;

	*store = (struct git_store)GIT_STORE_NONE;
	if (git_store_name(store, about->state_home, about->id, err) < 0)
		return -err->code;
	store->project = arena_strdup(a, about->project);
	store->top = arena_strdup(a, about->top);
	store->view = arena_strdup(a, about->view);
	store->lasting = about->lasting;
	store->inner = about->inner;
	store->hooks = arena_strdup(a, about->hooks);
	store->real = arena_strdup(a, about->real);
	store->common = arena_strdup(a, about->common);
	git_note_identity(a, store);
	store->program = arena_strdup(a, about->program);
	for (size_t i = 0; i < about->borrowed->len; i++)
		strv_add(a, &store->borrowed, about->borrowed->v[i]);
	return 0;
}

static int make(struct git_store *store, struct err *err)
{
	int r = git_store_make(store, err);

	if (r == 0)
		r = git_lock(store, err);
	return r < 0 ? r : git_fill_all(store, err);
}

int git_prepare(struct git_store *store, const struct git_about *about, struct err *err)
{
	int r = git_store_describe(store, about, err);

	if (r < 0)
		return r;
	git_add_modules(store, about);
	r = git_check_objects(store, err);
	/* One that is ready is laid out for a session, not for commands. */
	if (r == 0)
		r = !store->lasting && git_ready_take(store) == 0 ? 0 : make(store, err);
	/* From here on it is one that counts. */
	if (r == 0)
		r = git_store_write_meta(store, err);
	if (r < 0) {
		struct err ignored;

		git_remove(store, &ignored);
		git_close(store);
		return err_wrap(err, "making a private git directory");
	}
	return 0;
}
