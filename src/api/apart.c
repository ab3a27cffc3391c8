/* SPDX-License-Identifier: MIT */
/*
 * Directories that were kept apart. The upper directory of an overlay is taken over file by file, each by a
 * copy and a rename; a device 0:0 stands for a name that was removed. Nothing that the session wrote is
 * followed, and the project is entered without links.
 */
#include "api/apart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/changes.h"
#include "cow/copy.h"
#include "cow/paths.h"
#include "guard/gate.h"
#include "os/fs.h"

enum { DEPTH_MAX = 40, LISTED_MAX = 200 };

/* The project that a gate was of, in the arena, when its session has ended. */
static char *project_of(int meta, struct arena *arena)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *project = NULL;
	struct err ignored;
	size_t len;

	if (faccessat(meta, "done", F_OK, 0) < 0 ||
	    os_read_file_at(meta, "meta", 65536, &text, &len) < 0 ||
	    json_parse(text, len, "meta", &root, &ignored) < 0 ||
	    !json_object_is_type(root, json_type_object))
		return NULL;
	project = json_object_object_get(root, "project");
	return json_object_is_type(project, json_type_string)
		       ? arena_strdup(arena, json_object_get_string(project))
		       : NULL;
}

static void add_places(int meta, const char *id, const char *project, const char *state,
		       struct arena *arena, struct apart **list, size_t *n)
{
	struct gate_place *places;
	struct err ignored;
	size_t n_places;

	if (gate_read(meta, arena, &places, &n_places, &ignored) < 0)
		return;
	for (size_t i = 0; i < n_places; i++) {
		const char *below = places[i].path ? path_below(places[i].path, project) : NULL;
		char *place = arena_printf(arena, "%s/wrapix/gatedirs/%s/%u", state, id,
					   places[i].number);

		if (places[i].kind != GATE_OLD || !below || !*below ||
		    sensitive_dir(below) != strlen(below) || access(place, F_OK) < 0)
			continue;
		*(struct apart *)arena_grow(arena, list, n, sizeof(**list)) = (struct apart){
			.id = arena_strdup(arena, id),
			.project = arena_strdup(arena, project),
			.path = arena_strdup(arena, below),
			.place = place
		};
	}
}

int apart_list(const char *state_home, const char *dir, struct arena *arena, struct apart **ret,
	       size_t *ret_n, struct err *err)
{
	DIR *list = opendir(path_join(arena, state_home, "wrapix/gate"));
	struct dirent *entry;

	(void)err;
	*ret = NULL;
	*ret_n = 0;
	while (list && (entry = readdir(list)) != NULL) {
		_cleanup_close_ int meta = -1;
		char *project;

		if (entry->d_name[0] == '.')
			continue;
		meta = openat(dirfd(list), entry->d_name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		project = meta < 0 ? NULL : project_of(meta, arena);
		if (project && path_is_below(dir, project))
			add_places(meta, entry->d_name, project, state_home, arena, ret, ret_n);
	}
	if (list)
		closedir(list);
	return 0;
}

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

static void list_in(int dir, const char *at, int depth, struct arena *arena, struct strv *ret)
{
	DIR *list = fdopendir(dir); /* taken over */
	struct dirent *entry;
	struct stat st;

	while (list && depth < DEPTH_MAX && ret->len < LISTED_MAX &&
	       (entry = readdir(list)) != NULL) {
		char *path = *at ? path_join(arena, at, entry->d_name)
				 : arena_strdup(arena, entry->d_name);
		int fd;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISDIR(st.st_mode)) {
			strv_addf(arena, ret, "%s %s", is_whiteout(&st) ? "-" : "+", path);
			continue;
		}
		fd = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			list_in(fd, path, depth + 1, arena, ret);
	}
	if (list)
		closedir(list);
	else
		close(dir);
}

static int open_upper(const struct apart *apart)
{
	struct arena arena = { 0 };
	int fd = open(path_join(&arena, apart->place, "upper"),
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	arena_release(&arena);
	return fd < 0 ? -errno : fd;
}

void apart_files(const struct apart *apart, struct arena *arena, struct strv *ret)
{
	int fd = open_upper(apart);

	if (fd >= 0)
		list_in(fd, "", 0, arena, ret);
}

/* ------------------------------------------------------------------ taking it over */

static int take_dir(int from, int to, int depth, struct err *err);

/* A copy beside it takes its place at once. */
static int take_file(int from, int to, const char *name, struct err *err)
{
	static const char tmp[] = ".wrapix-accepted";
	int r;

	os_remove_tree(to, tmp);
	r = copy_tree(from, name, to, tmp, err);
	if (r == 0 && renameat(to, tmp, to, name) < 0) {
		/* A directory stands there. */
		os_remove_tree(to, name);
		r = renameat(to, tmp, to, name) < 0 ? -errno : 0;
	}
	return r < 0 ? err_errno(err, -r, "taking over '%s'", name) : 0;
}

static int take_below(int from, int to, const char *name, int depth, struct err *err)
{
	_cleanup_close_ int in = openat(from, name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	struct stat st;

	if (in >= 0 && (is_opaque_dir(in) ||
			(fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))))
		os_remove_tree(to, name);
	if (mkdirat(to, name, 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "making '%s'", name);
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0 || out < 0)
		return err_errno(err, errno, "opening '%s'", name);
	return take_dir(in, out, depth + 1, err);
}

static int take_dir(int from, int to, int depth, struct err *err)
{
	int copy = fcntl(from, F_DUPFD_CLOEXEC, 3);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	struct stat st;
	int r = list ? 0 : err_errno(err, errno, "reading what is held");

	while (r == 0 && list && depth < DEPTH_MAX && (entry = readdir(list)) != NULL) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    is_git_name(entry->d_name) ||
		    fstatat(from, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (is_whiteout(&st))
			os_remove_tree(to, entry->d_name);
		else if (S_ISDIR(st.st_mode))
			r = take_below(from, to, entry->d_name, depth, err);
		else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			r = take_file(from, to, entry->d_name, err);
	}
	if (list)
		closedir(list);
	return r;
}

int apart_accept(const struct apart *apart, struct err *err)
{
	_cleanup_close_ int root = open(apart->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int from = open_upper(apart), to = -1;
	struct arena arena = { 0 };
	int r;

	if (root < 0 || from < 0)
		return err_errno(err, root < 0 ? errno : -from, "opening what is held of '%s'",
				 apart->path);
	/* The directory itself may have gone with its branch. */
	if (!strchr(apart->path, '/'))
		mkdirat(root, apart->path, 0755);
	to = os_openat2(root, apart->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	r = to < 0 ? err_errno(err, -to, "opening '%s'", apart->path) : take_dir(from, to, 0, err);
	arena_release(&arena);
	return r < 0 ? r : apart_drop(apart, err);
}

int apart_drop(const struct apart *apart, struct err *err)
{
	struct arena arena = { 0 };
	char *above = path_parent(&arena, apart->place);
	char *gate = path_join(&arena, path_parent(&arena, path_parent(&arena, above)), "gate");
	_cleanup_close_ int dir = open(apart->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir >= 0)
		open_up_tree(dir); /* overlayfs leaves a directory that nobody may enter */
	r = os_remove_tree(AT_FDCWD, apart->place);
	/* The last of a session. */
	if (r == 0 && rmdir(above) == 0)
		os_remove_tree(AT_FDCWD, path_join(&arena, gate, apart->id));
	arena_release(&arena);
	return r < 0 ? err_errno(err, -r, "removing what was held of '%s'", apart->path) : 0;
}
