/* SPDX-License-Identifier: MIT */
/* Landing: files, commit, record. See land.h for the order. */
#include "ralph/land.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cow/apply.h"
#include "os/fs.h"
#include "ralph/git.h"

enum { PATHS_MAX = 64 << 20 };

static int set_item(struct work *work, const struct item *item, enum item_status from,
		    enum item_status to, struct err *err)
{
	return item_move(&work->db, item->id, from, to, NULL, err);
}

/* The disk or the machine refused, and nobody else: it is landed by the next loop. */
static int failure(const struct apply_report *report, struct err *err)
{
	for (size_t i = 0; i < report->n; i++)
		if (report->v[i].outcome == OUTCOME_FAILED)
			return err_set(err, EIO, "'%s': %s", report->v[i].path, report->v[i].text);
	return 0;
}

/* It will be so the next time as well: the file is somebody else's, or its name has no room there. */
static bool stays_so(int r)
{
	return r == -EACCES || r == -EPERM || r == -ENAMETOOLONG;
}

/* With what no commit has kept before: what an agent throws away may be the user's. -ECANCELED: it does not fit, with the
 * reason where that is not in the report. */
static int save_and_apply(const struct work *work, const struct attempt *attempt, struct cow *cow,
			  const struct changes *changes, const struct apply_options *options,
			  struct apply_report *report, struct str *reason, struct err *err)
{
	bool first = land_saves_first(work, attempt);
	int r = land_save(work, attempt, cow, changes, err);

	if (r == 0) {
		r = apply_changes(cow, changes, options, report, err);
	} else if (stays_so(r)) {
		str_addf(reason, "it takes the place of what no commit has and nobody can keep: %s",
			 err->msg);
		r = -ECANCELED;
	}
	if (r == 0)
		land_tell(work, attempt);
	else if (r == -ECANCELED && first)
		land_forget(work, attempt);
	return r;
}

static void add_conflicts(const struct apply_report *report, struct str *reason)
{
	size_t was = reason->len;

	for (size_t i = 0; i < report->n && reason->len < 1500; i++)
		if (report->v[i].outcome == OUTCOME_CONFLICT ||
		    report->v[i].outcome == OUTCOME_REFUSED)
			str_addf(reason, "%s %s",
				 reason->len == was ? "others have changed the same meanwhile:"
						    : "",
				 report->v[i].path);
	if (!reason->len)
		str_add(reason, "it does not fit the project");
}

/* What an apply says of the session's changes. apply: takes them over; else they are rebased. */
static int with_changes(const struct work *work, const struct attempt *attempt, struct cow *cow,
			const struct harvest *harvest, bool apply, enum verdict *ret_verdict,
			struct str *reason, struct err *err)
{
	struct apply_options options = {
		.paths = harvest->paths, .n_paths = harvest->n, .sensitive = true, .whole = true
	};
	struct apply_report report = { 0 };
	struct changes changes;
	int r = changes_find(&changes, cow, err);

	if (r < 0)
		return r;
	land_choose(&changes, harvest);
	r = apply ? save_and_apply(work, attempt, cow, &changes, &options, &report, reason, err)
		  : apply_rebase(cow, &changes, &options, &report, err);
	if (r == -ECANCELED && failure(&report, err) < 0)
		r = -err->code;
	if (r == -ECANCELED || (r == 0 && apply_report_is_partial(&report))) {
		*ret_verdict = VERDICT_CONFLICT;
		add_conflicts(&report, reason);
		r = 0;
	}
	apply_report_release(&report);
	changes_release(&changes);
	return r;
}

struct landing {
	struct work *work;
	struct attempt *attempt;
};

static int note_commit(void *ctx, const char *id, struct err *err)
{
	struct landing *landing = ctx;

	landing->attempt->commit = arena_strdup(&landing->work->arena, id);
	return attempt_put(&landing->work->db, landing->attempt, err);
}

/* The paths that git keeps: no directories, nothing of another repository's. */
static size_t only_files(struct work *work, struct arena *arena, char **paths, size_t n)
{
	struct git_owner owner;
	size_t kept = 0, theirs = 0;
	struct stat st;

	git_owner_begin(&owner, work);
	for (size_t i = 0; i < n; i++) {
		if ((lstat(path_join(arena, work->site.top, paths[i]), &st) == 0 &&
		     S_ISDIR(st.st_mode)) ||
		    git_is_covered(&owner, paths[i]))
			continue;
		if (git_is_theirs(&owner, paths[i]))
			theirs++;
		else
			paths[kept++] = paths[i];
	}
	git_owner_end(&owner);
	if (theirs)
		work_say(work,
			 "%zu changed file%s in submodules or other repositories: in your files, "
			 "and not committed",
			 theirs, theirs == 1 ? " is" : "s are");
	return kept;
}

static int commit(struct work *work, const struct item *item, struct attempt *attempt,
		  const struct harvest *harvest, struct err *err)
{
	struct landing landing = { work, attempt };
	struct arena arena = { 0 };
	char **paths = arena_alloc(&arena, (harvest->n + 2) * sizeof(char *));
	char *id = NULL, *message;
	size_t n;
	int r;

	memcpy(paths, harvest->paths, harvest->n * sizeof(char *));
	n = only_files(work, &arena, paths, harvest->n);
	r = attempt->commit ? git_unlock_branch(work, err) : 0;
	if (r == 0 && attempt->commit && git_has(work, attempt->commit)) { /* before a kill */
		git_refresh(work, paths, n);
		arena_release(&arena);
		return 0;
	}
	if (r < 0) {
		arena_release(&arena);
		return r;
	}
	message = arena_printf(&arena, "%s\n\nRalph-Item: %s\nRalph-Feature: %s\n", item->title,
			       item->id, item->feature);
	r = git_commit(work, &arena, paths, n, message, note_commit, &landing, &id, err);
	if (r == 0 && !id)
		attempt->commit = NULL;
	arena_release(&arena);
	return r;
}

static int record(struct work *work, const struct item *item, struct attempt *attempt,
		  struct err *err)
{
	int r = db_begin(&work->db, err);

	attempt->verdict = VERDICT_COMPLETE;
	attempt->ended = attempt->ended ? attempt->ended : db_now();
	if (r == 0)
		r = attempt_put(&work->db, attempt, err);
	if (r == 0)
		r = db_run(
			&work->db, err,
			"UPDATE item SET status = 'done', reason = NULL, commit_id = ?, attempts = "
			"attempts + 1, updated = ? WHERE id = ? AND status = 'landing'",
			"sis", attempt->commit, db_now(), item->id);
	if (r == 0)
		return db_commit(&work->db, err);
	db_rollback(&work->db);
	return r;
}

/* The session, with what was interrupted in it finished. 1: it is there. */
static int open_session(struct work *work, const struct attempt *attempt, struct cow *cow,
			struct err *err)
{
	struct apply_options none = { .sensitive = true, .whole = true };
	struct apply_report report = { 0 };
	int r = work_open_session(work, attempt->session, cow, err);

	/* What was taken back because it did not fit may fit now. */
	if (r == 1 && apply_recover(cow, &none, &report, err) < 0 && err->code != ECANCELED)
		r = -err->code;
	apply_report_release(&report);
	return r;
}

static int finish(struct work *work, const struct item *item, struct attempt *attempt,
		  const struct harvest *harvest, struct cow *cow, enum verdict *ret_verdict,
		  struct str *reason, struct err *err)
{
	int r = 0;

	if (cow)
		r = with_changes(work, attempt, cow, harvest, true, ret_verdict, reason, err);
	if (r == 0 && *ret_verdict == VERDICT_CONFLICT)
		return set_item(work, item, ITEM_LANDING, ITEM_RUNNING, err);
	if (r == 0 && work->site.git && work->config.commit && harvest->n)
		r = commit(work, item, attempt, harvest, err);
	if (r == 0)
		r = record(work, item, attempt, err);
	if (r == 0 && cow)
		r = cow_remove(cow, err);
	return r;
}

int land_take_turn(struct work *work, const void *who, struct err *err)
{
	int lock;

	if (work->lander)
		return work->lander == who;
	lock = site_lock(&work->site, "lock", false, err);
	if (lock < 0)
		return lock == -EBUSY ? 0 : lock;
	work->lander = who;
	work->landing_lock = lock;
	return 1;
}

void land_give_turn(struct work *work, const void *who)
{
	if (work->lander != who)
		return;
	work->lander = NULL;
	close_ptr(&work->landing_lock);
}

int land_rebase(struct work *work, const struct attempt *attempt, const struct harvest *harvest,
		enum verdict *ret_verdict, struct str *reason, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	int r = harvest->n ? work_open_session(work, attempt->session, &cow, err) : 0;

	*ret_verdict = VERDICT_COMPLETE;
	return r <= 0 ? r
		      : with_changes(work, attempt, &cow, harvest, false, ret_verdict, reason, err);
}

int land_item(struct work *work, const struct item *item, struct attempt *attempt,
	      const struct harvest *harvest, enum verdict *ret_verdict, struct str *reason,
	      struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	int r = set_item(work, item, ITEM_RUNNING, ITEM_LANDING, err);

	*ret_verdict = VERDICT_COMPLETE;
	if (r == 0 && harvest->n)
		r = open_session(work, attempt, &cow, err);
	if (r == 0 && harvest->n)
		r = err_set(err, ENOENT, "the session '%s' is gone", attempt->session);
	if (r < 0)
		return r;
	r = finish(work, item, attempt, harvest, r == 1 ? &cow : NULL, ret_verdict, reason, err);
	if (r == 0 && !harvest->n && *ret_verdict == VERDICT_COMPLETE)
		r = work_discard(work, attempt->session, err);
	return r;
}

/* The paths as they were written down before it began. */
static int read_paths(struct work *work, const struct attempt *attempt, struct harvest *ret,
		      struct err *err)
{
	_cleanup_free_ char *text = NULL;
	char *path = work_file(work, &ret->arena, "patches/%lld.paths", (long long)attempt->id);
	struct strv list = { 0 };
	size_t len;
	int r = os_read_file_at(AT_FDCWD, path, PATHS_MAX, &text, &len);

	if (r < 0)
		return err_errno(err, -r, "reading '%s'", path);
	for (const char *p = text; p < text + len; p += strlen(p) + 1)
		strv_add(&ret->arena, &list, p);
	ret->paths = list.v;
	ret->n = list.len;
	return 0;
}

int land_again(struct work *work, const struct item *item, struct err *err)
{
	_cleanup_close_ int lock = site_lock(&work->site, "lock", true, err);
	_cleanup_cow_ struct cow cow = COW_NONE;
	_cleanup_str_ struct str reason = { 0 };
	enum verdict verdict = VERDICT_COMPLETE;
	struct harvest harvest = { 0 };
	struct attempts attempts = { 0 };
	struct attempt *attempt = NULL;
	int there = 0,
	    r = lock < 0 ? lock : attempts_load(&work->db, NULL, item->id, &attempts, err);

	for (size_t i = 0; r == 0 && i < attempts.n; i++)
		if (!strcmp(attempts.v[i].phase, "step"))
			attempt = &attempts.v[i];
	if (r == 0 && !attempt)
		r = err_set(err, ENOENT, "no step of the item '%s' is known", item->id);
	known(r < 0 || attempt);
	if (r == 0)
		r = read_paths(work, attempt, &harvest, err);
	if (r == 0)
		there = r = open_session(work, attempt, &cow, err);
	if (r == 0 && harvest.n && !attempt->commit) {
		/* Somebody has removed the session: what is not in the project is gone. */
		harvest_release(&harvest);
		attempts_release(&attempts);
		return set_item(work, item, ITEM_LANDING, ITEM_OPEN, err);
	}
	if (r >= 0)
		r = finish(work, item, attempt, &harvest, there ? &cow : NULL, &verdict, &reason,
			   err);
	if (r == 0 && verdict == VERDICT_CONFLICT) {
		attempt->verdict = VERDICT_CONFLICT;
		attempt->reason = reason.s;
		r = attempt_put(&work->db, attempt, err);
		if (r == 0)
			r = set_item(work, item, ITEM_RUNNING, ITEM_OPEN, err);
	}
	harvest_release(&harvest);
	attempts_release(&attempts);
	return r;
}
