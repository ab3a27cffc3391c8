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

static bool is_refused(struct looking *l, const struct change *change)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str shown = { 0 };
	const char *why = NULL;
	size_t len;

	str_quote(&shown, change->path);
	if (change->status == CHANGE_IGNORED)
		why = change->why;
	else if (is_protected(l->work, change->path) ||
		 (change->from && is_protected(l->work, change->from)))
		why = "it is protected";
	else if (!is_taken(change->sensitive))
		why = sensitive_when(change->sensitive);
	for (size_t i = 0; !why && i < l->specs.len; i++)
		if (node_exists(&change->new) && !S_ISDIR(change->new.mode) &&
		    (text || change_read(l->cow, change, true, &text, &len) == 0) &&
		    tells_spec(text, l->specs.v[i]))
			why = "a hidden spec stands in it";
	if (!why)
		return false;
	if (l->reason->len < 1500)
		str_addf(l->reason, "%s%s: %s", l->reason->len ? "; " : "it changed ", shown.s,
			 why);
	return true;
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

/* The session's rules, after the user's own for all projects, whose place they take in git's question. NULL: it has none. */
static int write_rules(struct work *work, const struct cow *cow, struct arena *arena,
		       char **ret_path, struct err *err)
{
	enum { RULES_MAX = 1 << 20 };
	_cleanup_close_ int fd = os_openat2(cow->upper, ".gitignore", O_RDONLY | O_CLOEXEC, 0,
					    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	_cleanup_free_ char *users = NULL, *own = NULL;
	_cleanup_str_ struct str rules = { 0 };
	size_t len;

	*ret_path = NULL;
	if (fd < 0 || os_read_fd(fd, RULES_MAX, &own, &len) < 0)
		return 0;
	if (os_read_file_at(AT_FDCWD, git_excludes(work, arena), RULES_MAX, &users, &len) == 0)
		str_addf(&rules, "%s\n", users);
	str_add(&rules, own);
	*ret_path = work_file(work, arena, "gitignore");
	return work_write_soon(work, "gitignore", rules.s, rules.len, err);
}

/* A directory stays when something in it does that the session has removed. *ret_stays[i] says so of the i-th change. */
static void keep_dirs_above(const struct changes *changes, const char *path, bool *ret_stays)
{
	const struct change *change = changes_at(changes, path);
	struct arena arena = { 0 };

	while (change && !node_exists(&change->new) && strchr(path, '/')) {
		path = path_parent(&arena, path);
		change = changes_at(changes, path);
		if (change)
			ret_stays[change - changes->v] = true;
	}
	arena_release(&arena);
}

/* What git ignores stays behind: build products, and the user's own of before. The session's own rules count as well. */
static int leave_ignored(struct work *work, const struct cow *cow, const struct changes *changes,
			 struct harvest *h, struct err *err)
{
	_cleanup_free_ bool *ignored = calloc(h->n + 1, sizeof(bool));
	_cleanup_free_ bool *stays = calloc(changes->n + 1, sizeof(bool));
	char *more = NULL;
	size_t n = h->n;
	int r;

	if (!ignored || !stays)
		return err_errno(err, ENOMEM, "asking which files are ignored");
	r = write_rules(work, cow, &h->arena, &more, err);
	if (r == 0)
		r = git_ignored(work, h->paths, n, more, ignored, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (ignored[i])
			keep_dirs_above(changes, h->paths[i], stays);
	for (size_t i = h->n = 0; r == 0 && i < n; i++) {
		const struct change *change = changes_at(changes, h->paths[i]);

		if (ignored[i])
			h->ignored++;
		else if (!change || !stays[change - changes->v])
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

int land_look(struct work *work, struct attempt *attempt, struct harvest *ret,
	      enum verdict *ret_verdict, struct str *reason, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	struct looking l = { .work = work, .cow = &cow, .arena = &ret->arena, .reason = reason };
	struct changes changes;
	struct strv paths = { 0 };
	int r = work_open_session(work, attempt->session, &cow, err);

	*ret_verdict = VERDICT_COMPLETE;
	if (r <= 0)
		return r;
	ret->id = arena_strdup(&ret->arena, cow.id);
	r = changes_find(&changes, &cow, err);
	if (r < 0)
		return r;
	load_hidden(&l);
	for (size_t i = 0; i < changes.n; i++) {
		const struct change *change = &changes.v[i];

		/* A directory is made with what is in it, and does not go with it. */
		if ((change_is_implied(&changes, i) && change->status != CHANGE_DELETED) ||
		    is_in_git(change->path))
			continue;
		if (is_refused(&l, change))
			*ret_verdict = VERDICT_REFUSED;
		strv_add(&ret->arena, &paths, change->path);
		if (change->from)
			strv_add(&ret->arena, &paths, change->from);
	}
	ret->paths = paths.v;
	ret->n = paths.len;
	r = work->site.git && ret->n ? leave_ignored(work, &cow, &changes, ret, err) : 0;
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
