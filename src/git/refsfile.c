/* SPDX-License-Identifier: MIT */
/*
 * References and the stash as files: what 'git for-each-ref' would print, without a git. Whoever wrote
 * them is an attacker: no link is followed, what is odd is an error and never "no reference". A store
 * of another kind (reftable) is left to git.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"

enum { DEPTH_MAX = 24, PATH_LEN_MAX = 1024, LOOSE_MAX = 4096 };

int git_read_file(int dir, const char *name, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENXIO; /* as open() says it of a socket */
	return (uint64_t)st.st_size > max ? -EFBIG : os_read_fd(fd, max, ret, ret_len);
}

/* "OID NAME\n"..., with '#' lines and "^PEELED" ones. */
int git_parse_packed(struct arena *arena, const char *text, size_t len, struct git_items *ret)
{
	_cleanup_str_ struct str plain = { 0 };

	for (const char *p = text, *end = text + len; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		if (!newline)
			return -EINVAL;
		if (*p != '#' && *p != '^')
			str_addn(&plain, p, (size_t)(newline + 1 - p));
		p = newline + 1;
	}
	return git_parse_refs(arena, plain.s ? plain.s : "", plain.len, ret);
}

struct walk {
	struct arena *arena;
	struct git_items *refs;
	struct strv *symbolic;
	char path[PATH_LEN_MAX];
};

static int add_loose(struct walk *w, int dir, const char *name)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0, n = strlen(w->path);
	int r;

	if (n > 5 && !strcmp(w->path + n - 5, ".lock"))
		return 0;
	r = git_read_file(dir, name, LOOSE_MAX, &text, &len);
	if (r == -ENOENT)
		return 0; /* it went this moment; the next round sees where to */
	if (r < 0)
		return r;
	while (len && strchr("\n ", text[len - 1]))
		text[--len] = '\0';
	if (str_starts(text, "ref: ")) {
		if (w->symbolic)
			strv_add(w->arena, w->symbolic, w->path);
		return 0;
	}
	if (!git_oid_ok(text, len) || w->refs->n >= GIT_REFS_MAX || strpbrk(w->path, " \n"))
		return -EINVAL;
	git_add_item(w->arena, w->refs, arena_strdup(w->arena, w->path),
		     arena_strndup(w->arena, text, len));
	return 0;
}

static int walk(struct walk *w, int at, const char *name, int depth);

static int walk_entry(struct walk *w, int dir, const char *name, int depth)
{
	size_t len = strlen(w->path);
	struct stat st;
	int r = 0;

	if (name[0] == '.')
		return 0;
	if (len + strlen(name) + 2 > sizeof(w->path))
		return -EINVAL;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	snprintf(w->path + len, sizeof(w->path) - len, "/%s", name);
	if (S_ISDIR(st.st_mode))
		r = walk(w, dir, name, depth + 1);
	else
		r = add_loose(w, dir, name);
	w->path[len] = '\0';
	return r;
}

static int walk(struct walk *w, int at, const char *name, int depth)
{
	_cleanup_dir_ DIR *dir = os_dir_open(at, name);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return errno == ENOENT && depth ? 0 : -errno;
	if (depth > DEPTH_MAX)
		r = -EINVAL;
	while (r == 0 && (entry = os_dir_next(dir)) != NULL)
		r = walk_entry(w, dirfd(dir), entry->d_name, depth);
	return r;
}

/* What is loose wins over what is packed. Both are sorted. */
static void overlay(struct arena *arena, const struct git_items *packed,
		    const struct git_items *loose, struct git_items *ret)
{
	size_t p = 0, l = 0;

	*ret = (struct git_items){ .sorted = true };
	while (p < packed->n || l < loose->n) {
		int order = p == packed->n  ? 1
			    : l == loose->n ? -1
					    : strcmp(packed->v[p].name, loose->v[l].name);
		const struct git_item *item = order < 0 ? &packed->v[p] : &loose->v[l];

		git_add_item(arena, ret, item->name, item->value);
		p += order <= 0;
		l += order >= 0;
	}
}

int git_refs_read(struct arena *arena, int dir, struct git_items *ret, struct strv *symbolic)
{
	_cleanup_free_ char *text = NULL;
	struct git_items packed = { 0 }, loose = { 0 };
	struct walk w = { .arena = arena, .refs = &loose, .symbolic = symbolic, .path = "refs" };
	struct stat st;
	size_t len = 0;
	int r;

	if (fstatat(dir, "reftable", &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -ENOTSUP;
	/* Loose first: 'git pack-refs' writes the packed ones before it removes a loose one. */
	r = walk(&w, dir, "refs", 0);
	if (r == 0)
		r = git_sort(&loose);
	if (r < 0)
		return r;
	r = git_read_file(dir, "packed-refs", GIT_OUTPUT_MAX, &text, &len);
	if (r == 0)
		r = git_parse_packed(arena, text, len, &packed);
	else if (r == -ENOENT)
		r = 0;
	if (r == 0)
		overlay(arena, &packed, &loose, ret);
	return r;
}

/* "OLD NEW WHO TIME ZONE\tMESSAGE\n", oldest first. */
int git_parse_reflog(struct arena *arena, const char *text, size_t len, struct git_items *ret)
{
	struct git_items all = { 0 };

	*ret = (struct git_items){ 0 };
	for (const char *p = text, *end = text + len; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *space = newline ? memchr(p, ' ', (size_t)(newline - p)) : NULL;
		const char *tab = space ? memchr(space, '\t', (size_t)(newline - space)) : NULL;
		size_t oid_len = space ? (size_t)(space - p) : 0;

		if (!space || (size_t)(newline - space) < oid_len + 2 ||
		    memchr(p, 0, (size_t)(newline - p)) || !git_oid_ok(space + 1, oid_len) ||
		    all.n >= GIT_NEW_REFS_MAX)
			return -EINVAL;
		git_add_item(arena, &all, arena_strndup(arena, space + 1, oid_len),
			     tab ? arena_strndup(arena, tab + 1, (size_t)(newline - tab - 1)) : "");
		p = newline + 1;
	}
	for (size_t i = all.n; i-- > 0;)
		if (!git_find(ret, all.v[i].name)) /* a set */
			git_add_item(arena, ret, all.v[i].name, all.v[i].value);
	return 0;
}

int git_stash_read(struct arena *arena, int dir, struct git_items *ret)
{
	_cleanup_close_ int logs = os_openat2(dir, "logs/refs", O_RDONLY | O_DIRECTORY, 0,
					      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = logs < 0 ? logs : git_read_file(logs, "stash", GIT_OUTPUT_MAX, &text, &len);

	*ret = (struct git_items){ 0 };
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : git_parse_reflog(arena, text, len, ret);
}
