/* SPDX-License-Identifier: MIT */
/*
 * Other names of what runs later.
 *
 * A link whose name counts ('.vscode', somewhere in the project) leads to what counts as well: before the first
 * change of a session its project is walked for such links (cow/aliases.h), and what was found is written down
 * beside the notes, for a session that is killed. The sandbox can make none meanwhile that leads somebody to what is
 * held: such a name is refused as a link.
 *
 * A file that runs later may have another name, one that nobody obeys (a hard link). When a file with several names
 * is first changed the project is walked, once, for those that run later, and git directories for what git obeys.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/gated_priv.h"
#include "api/protection.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/paths.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

#define ALIASES_FILE "aliases"
#define ALIASES_FILE_MAX ((size_t)8 << 20)

enum { DEPTH_MAX = 64, ENTRIES_MAX = 500000 };

/* ------------------------------------------------------------------ links */

static void write_aliases(struct gated *gated)
{
	_cleanup_str_ struct str out = { 0 };
	struct err ignored; /* it costs what is told after a kill */

	str_add(&out, "[");
	for (size_t i = 0; i < gated->aliases.n; i++) {
		const struct alias *alias = &gated->aliases.v[i];

		str_add(&out, i ? ",\n{\"path\": " : "\n{\"path\": ");
		json_add_string(&out, alias->path);
		str_add(&out, ", \"link\": ");
		json_add_string(&out, alias->link);
		str_addf(&out, ", \"dir\": %s}", alias->dir ? "true" : "false");
	}
	if (gated->aliases.partial)
		str_add(&out,
			gated->aliases.n ? ",\n{\"partial\": true}" : "\n{\"partial\": true}");
	str_add(&out, "]\n");
	(void)record_write_file(gated->meta, ALIASES_FILE, out.s, out.len, &ignored);
}

void gated_read_aliases(int meta, struct arena *arena, struct aliases *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *list = NULL;
	struct err ignored;
	size_t len;

	if (os_read_file_at(meta, ALIASES_FILE, ALIASES_FILE_MAX, &text, &len) < 0 ||
	    json_parse_max(text, len, ALIASES_FILE_MAX, ALIASES_FILE, &list, &ignored) < 0)
		return;
	for (size_t i = 0;
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		const char *path = json_object_get_string(json_object_object_get(entry, "path"));
		const char *link = json_object_get_string(json_object_object_get(entry, "link"));

		ret->partial |= json_object_get_boolean(json_object_object_get(entry, "partial"));
		if (path && link)
			*(struct alias *)arena_grow(arena, &ret->v, &ret->n,
						    sizeof(*ret->v)) = (struct alias){
				arena_strdup(arena, path), strlen(path), arena_strdup(arena, link),
				json_object_get_boolean(json_object_object_get(entry, "dir"))
			};
	}
}

void gated_look_at_top(struct gated *gated)
{
	_cleanup_close_ int root = os_open_plain(gated->project);
	const char *name;

	gated->before.protection.aliases = &gated->aliases;
	for (size_t i = 0; root >= 0 && (name = sensitive_name(i)) != NULL; i++) {
		char *link = arena_strndup(&gated->arena, name, strcspn(name, "/"));
		struct stat st;

		if (fstatat(root, link, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			aliases_take(&gated->aliases, &gated->arena, root, gated->project, link);
	}
}

void gated_find_aliases(struct gated *gated)
{
	struct protection *protection = &gated->before.protection;
	_cleanup_close_ int root = -1;

	if (protection->aliases)
		return;
	protection->aliases = &gated->aliases;
	aliases_find(&gated->aliases, &gated->arena, gated->project);
	root = os_open_plain(gated->project);
	for (size_t i = 0; root >= 0 && i < protection->n_paths; i++)
		aliases_add(&gated->aliases, &gated->arena, root, gated->project,
			    protection->paths[i].path);
	if (gated->aliases.n || gated->aliases.partial)
		write_aliases(gated);
}

/* ------------------------------------------------------------------ hard links */

struct links {
	struct {
		dev_t dev;
		ino_t ino;
		const char *path;
	} * v;
	size_t n, entries;
	bool partial; /* there may be more */
	bool in_git;  /* what is walked now */
	char path[PATH_MAX];
	size_t len;
};

static void find_links(struct gated *gated, int at, const char *name, int depth);

static bool counts(const struct gated *gated)
{
	const struct links *links = gated->links;

	return links->in_git ||
	       protection_of(&gated->before.protection, links->path).level != PROTECT_ALLOW;
}

/* Of git's own all counts but objects, of which a clone has second names. */
static void go_down(struct gated *gated, int dir, const char *name, int depth)
{
	struct links *links = gated->links;
	bool in_git = links->in_git;

	if (in_git && !strcmp(name, "objects"))
		return;
	links->in_git |= is_git_name(name);
	if (links->in_git || !sensitive_bulk(links->path))
		find_links(gated, dir, name, depth + 1);
	links->in_git = in_git;
}

static void look_at(struct gated *gated, int dir, const char *name, int depth)
{
	struct links *links = gated->links;
	size_t len = links->len, n = strlen(name);
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (len + n + 2 > sizeof(links->path)) {
		links->partial = true;
		return;
	}
	snprintf(links->path + len, sizeof(links->path) - len, "%s%s", len ? "/" : "", name);
	links->len = len + n + (len != 0);
	if (S_ISDIR(st.st_mode))
		go_down(gated, dir, name, depth);
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && counts(gated)) {
		arena_grow(&gated->arena, &links->v, &links->n, sizeof(*links->v));
		links->v[links->n - 1].dev = st.st_dev;
		links->v[links->n - 1].ino = st.st_ino;
		links->v[links->n - 1].path = arena_strdup(&gated->arena, links->path);
	}
	links->len = len;
	links->path[len] = '\0';
}

static void find_links(struct gated *gated, int at, const char *name, int depth)
{
	struct links *links = gated->links;
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	const struct dirent *entry;

	/* What the user may not read nobody obeys there. */
	links->partial |= list ? depth > DEPTH_MAX : errno != EACCES && errno != ENOENT;
	while (depth <= DEPTH_MAX && links->entries++ < ENTRIES_MAX &&
	       (entry = os_dir_next(list)) != NULL)
		look_at(gated, dirfd(list), entry->d_name, depth);
	links->partial |= links->entries > ENTRIES_MAX;
}

/* The project's own git directory may lie elsewhere. It is called by its name here. */
static void find_all(struct gated *gated)
{
	struct links *links = gated->links = arena_alloc(&gated->arena, sizeof(*links));
	_cleanup_close_ int common = gated->common ? os_open_plain(gated->common) : -1;

	find_links(gated, AT_FDCWD, gated->project, 0);
	links->in_git = true;
	links->len = (size_t)snprintf(links->path, sizeof(links->path), ".git");
	if (common >= 0 && !path_is_below(gated->common, gated->project))
		find_links(gated, common, ".", 0);
}

const char *gated_other_name(struct gated *gated, const struct stat *st, bool *ret_partial)
{
	if (!gated->links)
		find_all(gated);
	*ret_partial = gated->links->partial;
	for (size_t i = 0; i < gated->links->n; i++)
		if (gated->links->v[i].ino == st->st_ino && gated->links->v[i].dev == st->st_dev)
			return gated->links->v[i].path;
	return NULL;
}
