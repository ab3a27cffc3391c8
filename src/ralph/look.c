/* SPDX-License-Identifier: MIT */
/*
 * What a session changed, and whether ralph takes that over. The sandbox has kept the agent from most of
 * it already; here it is looked at again, on what it left, because that is what counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "cow/changes.h"
#include "cow/paths.h"
#include "cow/show.h"
#include "os/fs.h"
#include "ralph/git.h"
#include "ralph/land.h"

enum { DIFF_MAX = 16 << 20 };

/* Files that build or check the project are the agent's work; those that a shell, an editor or another
 * agent obeys are the user's to change. */
static bool is_taken(const char *class)
{
	return !class || !strcmp(class, "build") || !strcmp(class, "ci");
}

/* By any spelling: the project may lie where case is ignored. */
static bool is_protected(const struct work *work, const char *path)
{
	const struct strv *protect = &work->config.protect;

	for (size_t i = 0; i < protect->len; i++) {
		size_t n = strlen(protect->v[i]);

		if (!strncasecmp(path, protect->v[i], n) && (!path[n] || path[n] == '/'))
			return true;
	}
	return !strcasecmp(path, "wrapix.json") || !strcasecmp(path, ".wrapix") ||
	       !strncasecmp(path, ".wrapix/", strlen(".wrapix/"));
}

/* Three lines of the spec that say something, found in a file, are the spec. */
static bool tells_spec(const char *text, const char *spec)
{
	unsigned found = 0, lines = 0;
	char line[512];

	while (*spec) {
		size_t n = strcspn(spec, "\n");

		if (n >= 24 && n < sizeof(line)) {
			memcpy(line, spec, n);
			line[n] = '\0';
			lines++;
			found += strstr(text, line) != NULL;
		}
		spec += n + (spec[n] == '\n');
	}
	return found && (found >= 3 || found == lines);
}

struct looking {
	struct work *work;
	struct cow *cow;
	struct arena *arena;
	struct strv specs; /* hidden ones, as texts */
	struct str *reason;
};

/* NULL: nothing is against it. Of what is left behind only what is protected counts, and where it was before: packages bring
 * files that an editor would obey. */
static const char *find_fault(const struct looking *l, const struct change *change, bool left,
			      const char **ret_path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	*ret_path = change->from;
	if (change->from && is_protected(l->work, change->from))
		return "it is protected";
	if (change->from && !is_taken(change->from_sensitive))
		return sensitive_when(change->from_sensitive);
	*ret_path = change->path;
	if (is_protected(l->work, change->path))
		return "it is protected";
	if (left)
		return NULL;
	if (change->status == CHANGE_IGNORED)
		return change->why;
	if (!is_taken(change->sensitive))
		return sensitive_when(change->sensitive);
	for (size_t i = 0; i < l->specs.len; i++)
		if (node_exists(&change->new) && !S_ISDIR(change->new.mode) &&
		    (text || change_read(l->cow, change, true, &text, &len) == 0) &&
		    tells_spec(text, l->specs.v[i]))
			return "a hidden spec stands in it";
	return NULL;
}

static bool is_refused(const struct looking *l, const struct change *change, bool left)
{
	_cleanup_str_ struct str shown = { 0 };
	const char *path, *why = find_fault(l, change, left, &path);

	if (why && l->reason->len < 1500)
		str_addf(l->reason, "%s%s: %s", l->reason->len ? "; " : "it changed ",
			 str_quote(&shown, path), why);
	return why;
}

static void load_hidden(struct looking *l)
{
	struct feature *list;
	struct err ignored; /* a spec that is not written yet stands nowhere */
	size_t n = 0;

	if (feature_list(&l->work->db, l->arena, &list, &n, &ignored) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = NULL;
		size_t len;

		if (list[i].hidden && work_read_spec(l->work, &list[i], &text, &len, &ignored) == 0)
			strv_add(l->arena, &l->specs, text);
	}
}

/* A directory stays when something in it does that the session has removed. */
static void keep_dirs_above(const struct changes *changes, const char *path, bool *left)
{
	struct arena arena = { 0 };
	const struct change *above;

	while (strchr(path, '/')) {
		path = path_parent(&arena, path);
		above = changes_at(changes, path);
		if (!above || S_ISDIR(above->new.mode))
			break;
		left[above - changes->v] = true;
	}
	arena_release(&arena);
}

/*
 * What git ignores stays behind: build products, and the user's own of before. The session's own rules count as well. left[i]
 * says so of the i-th change.
 */
static int leave_ignored(struct work *work, const struct cow *cow, const struct changes *changes,
			 struct harvest *h, bool *left, struct err *err)
{
	_cleanup_free_ bool *ignored = calloc(h->n + 1, sizeof(bool));
	const int roots[] = { cow->upper, cow->root };
	size_t n = h->n;
	int r;

	if (!ignored)
		return err_errno(err, ENOMEM, "asking which files are ignored");
	r = git_ignored(work, h->paths, n, roots, 2, ignored, err);
	if (r == 0)
		r = git_ignored(work, h->paths, n, &cow->root, 1, ignored, err);
	for (size_t i = h->n = 0; r == 0 && i < n; i++) {
		const struct change *change = changes_at(changes, h->paths[i]);

		if (ignored[i])
			keep_dirs_above(changes, h->paths[i], left);
		if (ignored[i] && change)
			left[change - changes->v] = true;
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct change *change = changes_at(changes, h->paths[i]);

		h->ignored += ignored[i];
		if (!ignored[i] && !(change && left[change - changes->v]))
			h->paths[h->n++] = h->paths[i];
	}
	return r;
}

static int write_down(struct work *work, struct attempt *attempt, const struct harvest *h,
		      const struct cow *cow, const struct changes *changes, struct err *err)
{
	_cleanup_str_ struct str paths = { 0 }, diff = { 0 };
	struct arena arena = { 0 };
	int r;

	str_add(&paths, "");
	str_add(&diff, "");
	for (size_t i = 0; i < h->n; i++) {
		const struct change *change = changes_at(changes, h->paths[i]);

		str_addn(&paths, h->paths[i], strlen(h->paths[i]) + 1);
		if (change && change_is_git(change) && diff.len < DIFF_MAX)
			change_add_diff(&diff, cow, change);
	}
	attempt->patch = arena_printf(&work->arena, "patches/%lld.diff", (long long)attempt->id);
	r = work_write_soon(work, attempt->patch, diff.s, diff.len, err);
	if (r == 0)
		r = work_write(work,
			       arena_printf(&arena, "patches/%lld.paths", (long long)attempt->id),
			       paths.s, paths.len, err);
	arena_release(&arena);
	return r;
}

/* A directory is made with what is in it, and does not go with it. */
static bool is_looked_at(const struct changes *changes, size_t i)
{
	const struct change *change = &changes->v[i];

	return (!change_is_implied(changes, i) || change->status == CHANGE_DELETED) &&
	       !is_in_git(change->path);
}

static void list_paths(const struct changes *changes, struct harvest *ret)
{
	struct strv paths = { 0 };

	for (size_t i = 0; i < changes->n; i++) {
		if (!is_looked_at(changes, i))
			continue;
		strv_add(&ret->arena, &paths, changes->v[i].path);
		if (changes->v[i].from)
			strv_add(&ret->arena, &paths, changes->v[i].from);
	}
	ret->paths = paths.v;
	ret->n = paths.len;
}

int land_look(struct work *work, struct attempt *attempt, struct harvest *ret,
	      enum verdict *ret_verdict, struct str *reason, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	struct looking l = { .work = work, .cow = &cow, .arena = &ret->arena, .reason = reason };
	struct changes changes;
	bool *left;
	int r = work_open_session(work, attempt->session, &cow, err);

	*ret_verdict = VERDICT_COMPLETE;
	if (r <= 0)
		return r;
	ret->id = arena_strdup(&ret->arena, cow.id);
	r = changes_find(&changes, &cow, err);
	if (r < 0)
		return r;
	load_hidden(&l);
	list_paths(&changes, ret);
	left = arena_alloc(&ret->arena, changes.n + 1);
	if (work->site.git && ret->n)
		r = leave_ignored(work, &cow, &changes, ret, left, err);
	for (size_t i = 0; r == 0 && i < changes.n; i++)
		if (is_looked_at(&changes, i) && is_refused(&l, &changes.v[i], left[i]))
			*ret_verdict = VERDICT_REFUSED;
	if (r == 0)
		r = write_down(work, attempt, ret, &cow, &changes, err);
	changes_release(&changes);
	return r;
}

void harvest_release(struct harvest *harvest)
{
	arena_release(&harvest->arena);
	*harvest = (struct harvest){ 0 };
}
