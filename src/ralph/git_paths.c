/* SPDX-License-Identifier: MIT */
/* What the project's repository has to do with a path: is it its own, and does it ignore it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api.h"
#include "base/path.h"
#include "os/fs.h"
#include "ralph/git.h"

#define HERE "./"
#define IGNORE ".gitignore"
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* --- whose it is --- */

static char *find_submodules(const struct work *work, struct arena *arena)
{
	struct stat st;
	char *links = NULL;

	if (lstat(path_join(arena, work->site.top, ".gitmodules"), &st) < 0 ||
	    git_ask(work, arena,
		    ARGS("config", "-f", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$"),
		    NULL, NULL, 0, &links) != 0)
		return NULL;
	return links;
}

/* Lines of "submodule.NAME.path PATH". */
static bool is_in_submodule(const char *links, const char *path)
{
	while (links && *links) {
		const char *link = links + strcspn(links, " \n");
		size_t len;

		link += *link == ' ';
		len = strcspn(link, "\n");
		if (len && !strncmp(path, link, len) && path[len] == '/')
			return true;
		links = link + len + (link[len] == '\n');
	}
	return false;
}

void git_owner_begin(struct git_owner *owner, const struct work *work)
{
	*owner = (struct git_owner){ .work = work };
	owner->submodules = find_submodules(work, &owner->arena);
}

void git_owner_end(struct git_owner *owner)
{
	arena_release(&owner->arena);
}

static void look_above(struct git_owner *owner, const char *path)
{
	const char *top = owner->work->site.top;
	struct arena arena = { 0 };
	struct stat st;

	owner->theirs = owner->covered = false;
	while (strchr(path, '/')) {
		const char *at;

		path = path_parent(&arena, path);
		at = path_join(&arena, top, path);
		if (lstat(at, &st) < 0)
			continue;
		owner->covered |= !S_ISDIR(st.st_mode);
		owner->theirs |= lstat(path_join(&arena, at, ".git"), &st) == 0;
	}
	arena_release(&arena);
}

/* Neighbours come one after the other. */
static void ask_above(struct git_owner *owner, const char *path)
{
	size_t len = path_parent_len(path, strlen(path));

	if (owner->dir && strlen(owner->dir) == len && !strncmp(owner->dir, path, len))
		return;
	owner->dir = arena_strndup(&owner->arena, path, len);
	look_above(owner, path);
}

bool git_is_theirs(struct git_owner *owner, const char *path)
{
	ask_above(owner, path);
	return owner->theirs || is_in_submodule(owner->submodules, path);
}

bool git_is_covered(struct git_owner *owner, const char *path)
{
	ask_above(owner, path);
	return owner->covered;
}

/* --- what is ignored --- */

struct rules {
	const int *roots;
	size_t n_roots;
	int to;
};

/* The rules that stand in this directory; what git would not read has none. */
static int copy_rules(const struct rules *rules, const char *path, struct err *err)
{
	enum { RULES_MAX = 1 << 20 };
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -ENOENT, to = -1;
	size_t len;

	for (size_t i = 0; (fd == -ENOENT || fd == -ENOTDIR) && i < rules->n_roots; i++)
		fd = os_openat2(rules->roots[i], path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (fd < 0 || os_read_fd(fd, RULES_MAX, &text, &len) < 0)
		return 0;
	to = openat(rules->to, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0 && errno == EEXIST)
		return 0; /* a changed path has a directory of that name */
	return to < 0 || os_write_all(to, text, len) < 0
		       ? err_errno(err, errno, "writing '%s'", path)
		       : 0;
}

/* A directory and those above it, with their rules. */
static int add_dir(const struct rules *rules, struct arena *arena, const char *dir, struct err *err)
{
	int r;

	if (mkdirat(rules->to, dir, 0700) < 0) {
		if (errno != ENOENT) /* it was added before, or stands in the place of rules */
			return errno == EEXIST || errno == ENOTDIR
				       ? 0
				       : err_errno(err, errno, "making '%s'", dir);
		r = add_dir(rules, arena, path_parent(arena, dir), err);
		if (r < 0 || (mkdirat(rules->to, dir, 0700) < 0 && errno != ENOTDIR))
			return r < 0 ? r : err_errno(err, errno, "making '%s'", dir);
	}
	return copy_rules(rules, path_join(arena, dir, IGNORE), err);
}

/* A tree with the directories that the paths lie in, and the rules that count there: git asks no other file. */
static int make_rules(const struct work *work, struct arena *arena, struct rules *rules,
		      char *const *paths, size_t n, const char **ret, struct err *err)
{
	_cleanup_close_ int to = -1;
	int r = os_remove_tree(AT_FDCWD, *ret = work_file(work, arena, "rules"));

	if (r < 0 || mkdir(*ret, 0700) < 0 ||
	    (to = open(*ret, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_errno(err, r < 0 ? -r : errno, "making '%s'", *ret);
	rules->to = to;
	r = copy_rules(rules, IGNORE, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (strchr(paths[i], '/'))
			r = add_dir(rules, arena, path_parent(arena, paths[i]), err);
	return r;
}

/* The file of what the user ignores in all projects; there may be none. It is named as the project sees it. */
static char *find_excludes(const struct work *work, struct arena *arena)
{
	char *path = NULL;

	if (git_ask(work, arena, ARGS("config", "--type=path", "core.excludesFile"), NULL, NULL, 0,
		    &path) == 0)
		return path_join(arena, work->site.top, path);
	return path_join(arena, api_base_dir(arena, "XDG_CONFIG_HOME", ".config"), "git/ignore");
}

/* Of another repository's files git does not want to speak, and what begins with a colon is more than a name to it. */
static void add_questions(const struct work *work, char *const *paths, size_t n, struct str *list)
{
	struct git_owner owner;

	git_owner_begin(&owner, work);
	str_add(list, "");
	for (size_t i = 0; i < n; i++)
		if (!git_is_theirs(&owner, paths[i])) {
			str_add(list, HERE);
			git_add_paths(list, &paths[i], 1);
		}
	git_owner_end(&owner);
}

int git_ignored(const struct work *work, char *const *paths, size_t n, const int *roots,
		size_t n_roots, bool *ret_ignored, struct err *err)
{
	struct rules rules = { .roots = roots, .n_roots = n_roots };
	_cleanup_str_ struct str list = { 0 };
	struct arena arena = { 0 };
	const char *tree, *extra;
	char *out = NULL;
	int status, r = make_rules(work, &arena, &rules, paths, n, &tree, err);

	if (r < 0) {
		arena_release(&arena);
		return r;
	}
	add_questions(work, paths, n, &list);
	extra = arena_printf(&arena, "core.excludesFile=%s", find_excludes(work, &arena));
	status = git_ask_in(work, &arena, tree, ARGS("-c", extra, "check-ignore", "-z", "--stdin"),
			    &list, &out);
	/* The answers come in the order of the questions. */
	for (size_t i = 0; out && status == 0 && *out && i < n; i++)
		if (!strcmp(out + strlen(HERE), paths[i])) {
			ret_ignored[i] = true;
			out += strlen(out) + 1;
		}
	os_remove_tree(AT_FDCWD, tree);
	arena_release(&arena);
	return status < 0 || status > 1 ? git_failed(status, "asking which files are ignored", err)
					: 0;
}
