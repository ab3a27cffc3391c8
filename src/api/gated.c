/* SPDX-License-Identifier: MIT */
/*
 * The private places of a run.
 *
 *	STATE/wrapix/gate/ID/meta     the project (JSON)
 *	                    /lock     flock: held while the sandbox runs
 *	                    /places   guard/gate.h
 *	STATE/wrapix/gatedirs/ID/N    what the sandbox wrote
 *
 * At the end a repository that was made inside is published like the project's own (git_adopt_apart()), as the
 * session IDnN; so is one of the host's that was changed, whose session begins with the change. A name that
 * we made in the project and that is still empty goes away again. Nothing that the sandbox wrote is
 * followed: paths are opened beneath the project, without links.
 */
#include "api/gated.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/repository.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/copy.h"
#include "cow/paths.h"
#include "guard/gate.h"
#include "os/fs.h"
#include "session/record.h"

#define META_MAX 65536

static char *meta_dir(struct gated *gated)
{
	return arena_printf(&gated->arena, "%s/gate/%s", gated->state, gated->id);
}

static int take_lock(struct gated *gated)
{
	int r = record_lock_ended(gated->meta);

	gated->lock = r < 0 ? -1 : r;
	return MIN(r, 0);
}

static void release(struct gated *gated)
{
	for (size_t i = 0; i < gated->n_repos; i++)
		git_close(&gated->repos[i]->store);
	later_release(&gated->before);
	close_ptr(&gated->lock);
	close_ptr(&gated->meta);
	arena_release(&gated->arena);
	*gated = (struct gated)GATED_NONE;
}

static void name_it(struct gated *gated, const char *state_home, const char *id)
{
	*gated = (struct gated)GATED_NONE;
	gated->state_home = arena_strdup(&gated->arena, state_home);
	gated->state = path_join(&gated->arena, state_home, "wrapix");
	gated->id = arena_strdup(&gated->arena, id);
}

static int make(struct gated *gated, const struct plan *plan, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	char *dir = meta_dir(gated);
	int r = os_mkdirs(dir, 0700, err);

	if (r == 0)
		r = os_mkdirs(
			arena_printf(&gated->arena, "%s/gatedirs/%s", gated->state, gated->id),
			0700, err);
	if (r < 0)
		return r;
	record_sweep(gated->state, "gate", "gatedirs");
	gated->meta = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (gated->meta < 0)
		return err_errno(err, errno, "opening '%s'", dir);
	r = take_lock(gated);
	if (r < 0)
		return err_errno(err, -r, "locking '%s'", dir);
	str_add(&out, "{\"version\": 1, \"project\": ");
	json_add_string(&out, plan->project);
	str_add(&out, "}\n");
	return record_write_file(gated->meta, "meta", out.s, out.len, err);
}

int gated_begin(struct gated *gated, const struct plan *plan, const struct host *host,
		const char *id, struct arena *arena, struct strv *ret_says, struct err *err)
{
	int r;

	*gated = (struct gated)GATED_NONE;
	if (plan->project)
		gated_repair(host->state_home, plan->project, arena, ret_says);
	if (!plan->gate && (!plan->project || plan->cow_base))
		return 0;
	name_it(gated, host->state_home, id);
	gated->project = arena_strdup(&gated->arena, plan->project);
	gated->watches = true;
	memcpy(gated->before.levels, plan->protect, sizeof(gated->before.levels));
	gated->before.noted = plan->gate;
	if (!plan->gate) {
		later_look(&gated->before, gated->project);
		return 0;
	}
	gated->common = arena_strdup(&gated->arena, plan->git_common);
	r = make(gated, plan, err);
	if (r < 0) {
		release(gated);
		err_wrap(err, "preparing the name gate");
		return err->hint[0] ? -err->code
				    : err_hint(err, "--git direct does without, and the host's git "
						    "obeys what the sandbox writes");
	}
	gated->on = true;
	return 0;
}

/* wrapix.json and .wrapix of the project: where they are, they are read-only (plan/workspace.c); where they are not,
 * none is made. What a widening one would give waits for 'wrapix trust' in any case; this keeps the question from
 * being asked in the agent's words, and a tightening one, which counts unasked, from being the agent's. */
static bool is_own_config(const char *below)
{
	return !strcasecmp(below, "wrapix.json") ||
	       (!strncasecmp(below, ".wrapix", 7) && (!below[7] || below[7] == '/'));
}

void gated_started(struct gated *gated, pid_t init)
{
	if (gated->on)
		record_note_init(gated->meta, init);
}

enum protect_answer gated_change(struct gated *gated, const struct protect_change *change,
				 const char **ret_reason, size_t *ret_held)
{
	const char *below = path_below(change->path, gated->project);
	const char *class;
	size_t held;

	if (!gated->on || !below || !*below)
		return ANSWER_GO_ON;
	if (is_own_config(below) && gated->before.levels[PROTECT_AGENT] != PROTECT_ALLOW) {
		*ret_reason = "it decides about the next session here";
		return ANSWER_REFUSE;
	}
	class = sensitive_class(below, NULL);
	held = class ? sensitive_dir(below) : 0;
	switch (class ? later_level(gated->before.levels, below) : PROTECT_ALLOW) {
	case PROTECT_HOLD:
		if (held && below[held]) {
			*ret_held = (size_t)(below - change->path) + held;
			return ANSWER_HOLD;
		}
		/* An empty directory does no harm; what comes into it is held. */
		if (held && (change->makes_dir || change->stays))
			return ANSWER_GO_ON;
		if (held) {
			*ret_reason = "it is held, and made or changed in place only";
			return ANSWER_REFUSE;
		}
		later_note(&gated->before, change->dir, change->name, below);
		return ANSWER_GO_ON;
	case PROTECT_RO:
		snprintf(gated->reason, sizeof(gated->reason),
			 "it runs later, and protect.%s is ro", class);
		*ret_reason = gated->reason;
		return ANSWER_REFUSE;
	case PROTECT_ALLOW:
		/* There may be something in it that counts. */
		if (change->moves_dir && !class)
			later_note(&gated->before, change->dir, change->name, below);
		return ANSWER_GO_ON;
	default:
		/* One that is made has nothing in it yet. */
		if (!change->makes_dir)
			later_note(&gated->before, change->dir, change->name, below);
		return ANSWER_GO_ON;
	}
}

/* ------------------------------------------------------------------ repositories of the host's */

static char *place_dir(struct gated *gated, unsigned number)
{
	return arena_printf(&gated->arena, "%s/gatedirs/%s/%u", gated->state, gated->id, number);
}

/* Each is a session of its own to 'wrapix git'. */
static struct git_about about_place(struct gated *gated, unsigned number, const char *path)
{
	static const struct strv none;
	struct arena *a = &gated->arena;
	char *real = path_is_below(path, gated->project) ? arena_strdup(a, path) : NULL;

	return (struct git_about){
		.state_home = gated->state_home,
		.id = arena_printf(a, "%sn%u", gated->id, number),
		.project = gated->project,
		.top = real ? path_parent(a, real) : NULL,
		.real = real,
		.common = real,
		.program = repository_program(a, gated->project),
		.borrowed = &none,
	};
}

/* The host's objects will be seen among its own. */
static int drop_alternates(const char *private)
{
	_cleanup_close_ int dir = open(private, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return unlinkat(dir, "objects/info/alternates", 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* While it runs its git directory stands where the sandbox has it from, and where its store knows it else. */
static void watch_one(struct gated *gated, struct gated_repo *repo)
{
	struct git_store *store = &repo->store;
	struct err err;

	git_watch_stop(&repo->watch);
	store->private = gated->loop ? place_dir(gated, repo->number)
				     : arena_printf(&store->arena, "%s/gitdirs/%s/0", gated->state,
						    store->id);
	if (gated->loop && git_watch_start(&repo->watch, gated->loop, store, gated->on_failure,
					   gated->ctx, &err) < 0)
		gated->on_failure(gated->ctx, err.msg); /* it is published at the end, then */
}

int gated_repository(struct gated *gated, const char *path, unsigned number)
{
	struct git_about about = about_place(gated, number, path);
	struct gated_repo *repo;
	struct git_store store;
	struct err err;

	if (!gated->on || !about.real || !about.program)
		return -ENOENT;
	if (git_prepare(&store, &about, &err) < 0)
		return -err.code;
	if (drop_alternates(store.private) < 0 ||
	    rename(store.private, place_dir(gated, number)) < 0) {
		git_remove(&store, &err);
		git_close(&store);
		return -EIO;
	}
	repo = arena_alloc(&gated->arena, sizeof(*repo));
	*repo = (struct gated_repo){ number, store, GIT_WATCH_NONE };
	*(struct gated_repo **)arena_grow(&gated->arena, (void *)&gated->repos, &gated->n_repos,
					  sizeof(repo)) = repo;
	watch_one(gated, repo);
	return 0;
}

void gated_watch(struct gated *gated, struct loop *loop,
		 void (*on_failure)(void *ctx, const char *text), void *ctx)
{
	gated->loop = loop;
	gated->on_failure = on_failure;
	gated->ctx = ctx;
	for (size_t i = 0; i < gated->n_repos; i++)
		watch_one(gated, gated->repos[i]);
}

/* What was published from stands where 'wrapix git' looks for it. */
static void put_back(struct gated *gated, unsigned number)
{
	struct arena *a = &gated->arena;
	char *meta = arena_printf(a, "%s/git/%sn%u/meta", gated->state, gated->id, number);
	char *home = arena_printf(a, "%s/gitdirs/%sn%u/0", gated->state, gated->id, number);

	if (access(meta, F_OK) == 0)
		rename(place_dir(gated, number), home);
}

/* ------------------------------------------------------------------ the end */

static int read_meta(struct gated *gated)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *meta = NULL;
	struct err ignored;
	size_t len;
	int r = os_read_file_at(gated->meta, "meta", META_MAX, &text, &len);

	if (r == 0)
		r = json_parse(text, len, "meta", &meta, &ignored);
	if (r < 0 || !json_object_is_type(meta, json_type_object))
		return -EINVAL;
	gated->project = arena_strdup(
		&gated->arena, json_object_get_string(json_object_object_get(meta, "project")));
	return gated->project ? 0 : -EINVAL;
}

struct ending {
	struct gated *gated;
	int root; /* the project */
	struct arena *arena;
	struct strv *says;
	bool kept; /* something stays, so that the directories do */
};

/* The directory of a place in the project, by no link. */
static int open_parent(struct ending *e, const struct gate_place *place, const char **ret_name)
{
	const char *below = place->path ? path_below(place->path, e->gated->project) : NULL;
	const char *slash = below ? strrchr(below, '/') : NULL;
	const char *dir = ".";

	if (!below || !*below)
		return -ENOENT;
	*ret_name = slash ? slash + 1 : below;
	if (slash)
		dir = arena_strndup(e->arena, below, (size_t)(slash - below));
	return os_openat2(e->root, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static bool is_empty_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool empty = dir != NULL;

	while (empty && (entry = readdir(dir)) != NULL)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

/* An empty name of ours goes. What the host put there meanwhile stays. */
static void remove_placeholder(const struct gate_place *place, int dir, const char *name)
{
	struct stat st;

	if (place->kind != GATE_FILE)
		unlinkat(dir, name, AT_REMOVEDIR);
	else if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		 st.st_size == 0)
		unlinkat(dir, name, 0);
}

static void tell(struct ending *e, const struct gate_place *place, const char *what)
{
	_cleanup_str_ struct str path = { 0 };
	const char *below = path_below(place->path, e->gated->project);

	strv_addf(e->arena, e->says, "%s %s", str_quote(&path, below ? below : place->path), what);
}

/* A clone of the project, or of a repository in it, may borrow objects from that. */
static void lend_objects(struct ending *e, struct git_store *store)
{
	const char *common = e->gated->common;

	if (common)
		git_lend(store, path_join(e->arena, common, "objects"));
	for (size_t i = 0; i < e->gated->n_repos; i++)
		git_lend(store, path_join(e->arena, e->gated->repos[i]->store.common, "objects"));
}

/* A repository that was made inside: the host gets one with its data. */
static void end_new(struct ending *e, const struct gate_place *place, int parent, const char *name)
{
	char *private = place_dir(e->gated, place->number);
	_cleanup_close_ int dir = open(private, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct git_about about = about_place(e->gated, place->number, place->path);
	struct git_store store;
	struct err err;

	if (dir < 0 || !git_is_repository(dir) || !is_empty_dir(parent, name)) {
		remove_placeholder(place, parent, name);
		return;
	}
	if (about.program && git_adopt_apart(&store, &about, private, &err) == 0) {
		lend_objects(e, &store);
		repository_finish(&store, e->arena, e->says);
		git_close(&store);
		return;
	}
	remove_placeholder(place, parent, name);
	e->kept = true;
	tell(e, place,
	     about.program ? "is a repository of the session's that could not be taken over"
			   : "is a repository of the session's; without git here it is not taken "
			     "over");
}

/* What the sandbox changed of a directory that git would obey stays away. */
static void end_old(struct ending *e, const struct gate_place *place)
{
	_cleanup_close_ int dir = open(place_dir(e->gated, place->number),
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	const char *below = path_below(place->path, e->gated->project);

	if (dir < 0 || is_empty_dir(dir, "upper"))
		return;
	e->kept = true;
	if (below && *below && sensitive_dir(below) == strlen(below)) {
		tell(e, place,
		     arena_printf(e->arena,
				  "is held: what the session changed in it is not in your files; "
				  "'wrapix git held' lists it, 'wrapix git accept %s dir:%s' takes "
				  "it over",
				  e->gated->id, below));
		return;
	}
	tell(e, place,
	     arena_printf(e->arena,
			  "is a git directory by its content: what the session changed in it is "
			  "not taken over; it is in %s/upper",
			  place_dir(e->gated, place->number)));
}

static void end_place(struct ending *e, const struct gate_place *place)
{
	_cleanup_close_ int parent = -1;
	const char *name;

	if (place->kind == GATE_REPO) {
		put_back(e->gated, place->number);
		return;
	}
	parent = open_parent(e, place, &name);
	if (parent < 0)
		return; /* it is gone */
	if (place->kind == GATE_OLD)
		end_old(e, place);
	else if (place->made && place->kind == GATE_NEW)
		end_new(e, place, parent, name);
	else if (place->made)
		remove_placeholder(place, parent, name);
}

static void remove_dirs(struct gated *gated)
{
	_cleanup_close_ int top = open(gated->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int dir = -1;
	char name[64];

	snprintf(name, sizeof(name), "gatedirs/%s", gated->id);
	dir = top < 0 ? -1 : openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		open_up_tree(dir); /* overlayfs leaves a directory that nobody may enter */
	if (top < 0 || os_remove_tree(top, name) < 0)
		return; /* the next time */
	snprintf(name, sizeof(name), "gate/%s", gated->id);
	os_remove_tree(top, name);
}

static void finish(struct gated *gated, struct arena *arena, struct strv *says)
{
	struct ending e = { .gated = gated, .root = -1, .arena = arena, .says = says };
	struct gate_place *places;
	struct err err;
	size_t n;

	if (gate_read(gated->meta, arena, &places, &n, &err) < 0) {
		strv_addf(arena, says, "%s", err.msg);
		return;
	}
	e.root = open(gated->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; e.root >= 0 && i < n; i++)
		if (places[i].path)
			end_place(&e, &places[i]);
	close_ptr(&e.root);
	for (size_t i = 0; i < gated->n_repos; i++)
		repository_finish(&gated->repos[i]->store, arena, says);
	if (e.kept)
		os_write_file_atomic(gated->meta, "done", "", 0, 0600, &err);
	else
		remove_dirs(gated);
}

void gated_end(struct gated *gated, struct arena *arena, struct strv *ret_says)
{
	if (gated->watches)
		later_tell(&gated->before, gated->project, arena, ret_says);
	if (gated->on)
		finish(gated, arena, ret_says);
	release(gated);
}

void gated_repair(const char *state_home, const char *dir, struct arena *arena,
		  struct strv *ret_says)
{
	char *path = path_join(arena, state_home, "wrapix/gate");
	DIR *list = opendir(path);
	struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL) {
		struct gated gated;

		if (entry->d_name[0] == '.')
			continue;
		name_it(&gated, state_home, entry->d_name);
		gated.meta = openat(dirfd(list), entry->d_name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (gated.meta >= 0 && read_meta(&gated) == 0 &&
		    path_is_below(dir, gated.project) && take_lock(&gated) == 0 &&
		    faccessat(gated.meta, "done", F_OK, 0) < 0)
			finish(&gated, arena, ret_says);
		release(&gated);
	}
	if (list)
		closedir(list);
}
