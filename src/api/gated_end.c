/* SPDX-License-Identifier: MIT */
/*
 * The end of a gated run, or of one that was killed: what of its private places the host gets.
 *
 * A repository that was made inside is published like the project's own (git_adopt_apart()), as the
 * session IDnN; so is one of the host's that was changed, whose session begins with the change. A name that
 * we made in the project and that is still empty goes away again. What is held stays, and is told. Nothing that the
 * sandbox wrote is followed: paths are opened beneath the project, without links.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/gated_priv.h"
#include "api/protection.h"
#include "api/repository.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/copy.h"
#include "os/dir.h"
#include "os/fs.h"

#define META_MAX 65536

/* What was published from stands where 'wrapix git' looks for it. */
static void put_back(struct gated *gated, unsigned number)
{
	struct arena *a = &gated->arena;
	char *meta = arena_printf(a, "%s/git/%sn%u/meta", gated->state, gated->id, number);
	char *home = arena_printf(a, "%s/gitdirs/%sn%u/0", gated->state, gated->id, number);

	if (access(meta, F_OK) == 0)
		rename(gated_place(gated, number), home);
}

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
	protection_read(&gated->before.protection, json_object_object_get(meta, "protect"),
			&gated->arena);
	gated_read_aliases(gated->meta, &gated->arena, &gated->aliases);
	gated->before.protection.aliases = &gated->aliases;
	return gated->project ? 0 : -EINVAL;
}

struct ending {
	struct gated *gated;
	int root; /* the project */
	struct arena *arena;
	struct strv *says;
	struct later_list *list; /* files that run later */
	struct strv held;        /* directories that wait for the user's word, */
	struct strv waiting;     /* and those that did so before, and were not touched */
	bool kept;               /* something stays, so that the directories do */
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
	char *private = gated_place(e->gated, place->number);
	_cleanup_close_ int dir = open(private, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct git_about about = gated_about(e->gated, place->number, place->path);
	struct git_store store;
	struct err err;

	if (dir < 0 || !git_is_repository(dir) || !os_dir_is_empty(parent, name)) {
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
	_cleanup_close_ int dir = open(gated_place(e->gated, place->number),
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0 || os_dir_is_empty(dir, GATE_UPPER))
		return;
	e->kept = true;
	tell(e, place,
	     arena_printf(e->arena,
			  "is a git directory by its content: what the session changed in it is "
			  "not taken over; it is in %s/" GATE_UPPER,
			  gated_place(e->gated, place->number)));
}

/* What waits for the user's word does so also where its directory is gone. */
static void end_held(struct ending *e, const struct gate_place *place)
{
	const char *below = path_below(place->path, e->gated->project);
	struct apart apart = { .id = e->gated->id,
			       .project = e->gated->project,
			       .path = arena_strdup(e->arena, below),
			       .place = gated_place(e->gated, place->number) };
	size_t first = e->list->n;
	bool fresh = false;

	if (!below || !*below)
		return;
	apart_changes(&apart, &e->gated->began, e->list);
	for (size_t i = first; i < e->list->n; i++)
		fresh |= e->list->v[i].fresh;
	apart_give(&apart, &e->gated->before.protection, e->list, first);
	for (size_t i = first; i < e->list->n; i++)
		if (e->list->v[i].held) {
			e->kept = true;
			strv_add(e->arena, fresh ? &e->held : &e->waiting, apart.path);
			return;
		}
}

static void end_place(struct ending *e, const struct gate_place *place)
{
	_cleanup_close_ int parent = -1;
	const char *name;

	if (place->kind == GATE_REPO) {
		put_back(e->gated, place->number);
		return;
	}
	if (place->kind == GATE_HELD)
		end_held(e, place);
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

/* How what is held gets into the project. */
static void tell_held(struct ending *e)
{
	_cleanup_str_ struct str name = { 0 };

	for (size_t i = 0; i < e->held.len; i++) {
		str_add(&name, " ");
		str_add_shell(&name, e->held.v[i]);
	}
	if (e->held.len)
		strv_addf(e->arena, e->says,
			  "held, your own files are as they were:%s; 'wrapix git accept PATH' "
			  "takes it over, 'wrapix git drop PATH' forgets it, and the next session "
			  "here goes on with it",
			  name.s);
	if (e->waiting.len)
		strv_addf(e->arena, e->says,
			  "%zu director%s of earlier sessions wait%s for your word: 'wrapix git "
			  "held' shows what is in them",
			  e->waiting.len, e->waiting.len == 1 ? "y" : "ies",
			  e->waiting.len == 1 ? "s" : "");
}

static void finish(struct gated *gated, struct ending *e)
{
	struct gate_place *places;
	struct stat st;
	struct err err;
	size_t n;

	if (gate_read(gated->meta, e->arena, &places, &n, &err) < 0) {
		strv_addf(e->arena, e->says, "%s", err.msg);
		return;
	}
	if (fstatat(gated->meta, "meta", &st, 0) == 0)
		gated->began = st.st_mtim;
	e->root = os_open_plain(gated->project);
	for (size_t i = 0; e->root >= 0 && i < n; i++)
		if (places[i].path)
			end_place(e, &places[i]);
	/* A project that is not there now may come again. */
	e->kept |= e->root < 0 && n;
	close_ptr(&e->root);
	for (size_t i = 0; i < gated->n_repos; i++)
		repository_finish(&gated->repos[i]->store, e->arena, e->says);
}

static void end(struct gated *gated, struct arena *arena, struct strv *says)
{
	struct later_list list = { .v = NULL };
	struct ending e = {
		.gated = gated, .root = -1, .arena = arena, .says = says, .list = &list
	};
	struct err ignored;

	if (gated->watches)
		later_changes(&list, &gated->before, gated->project);
	if (gated->on)
		finish(gated, &e);
	later_tell(&list, gated->id, arena, says);
	if (gated->aliases.partial)
		strv_add(arena, says,
			 "not all links of the project were looked at (there are too many, or it "
			 "is too large or too deep): what one with the name of a file that runs "
			 "later leads to may have been changed without being held or told of");
	tell_held(&e);
	if (gated->on_changes)
		gated->on_changes(gated->ctx, &list);
	later_list_release(&list);
	if (gated->on && e.kept)
		os_write_file_atomic(gated->meta, "done", "", 0, 0600, &ignored);
	else if (gated->on)
		remove_dirs(gated);
}

void gated_end(struct gated *gated, struct arena *arena, struct strv *ret_says)
{
	end(gated, arena, ret_says);
	gated_release(gated);
}

/* What is to be done for a session that was killed. */
static void repair(struct gated *gated, struct arena *arena, struct strv *ret_says)
{
	struct strv says = { 0 };

	gated->on = gated->watches = true;
	later_read(&gated->before, gated->meta, "notes");
	end(gated, arena, &says);
	if (says.len)
		strv_addf(arena, ret_says, "the session %s was broken off:", gated->id);
	for (size_t i = 0; i < says.len; i++)
		strv_add(arena, ret_says, says.v[i]);
}

void gated_repair(const char *state_home, const char *dir, struct arena *arena,
		  struct strv *ret_says)
{
	char *path = path_join(arena, state_home, "wrapix/gate");
	_cleanup_dir_ DIR *list = opendir(path);
	struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL) {
		struct gated gated;

		if (entry->d_name[0] == '.')
			continue;
		gated_name(&gated, state_home, entry->d_name);
		gated.meta = openat(dirfd(list), entry->d_name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (gated.meta >= 0 && read_meta(&gated) == 0 &&
		    path_is_below(dir, gated.project) && gated_lock(&gated) == 0 &&
		    faccessat(gated.meta, "done", F_OK, 0) < 0)
			repair(&gated, arena, ret_says);
		gated_release(&gated);
	}
}
