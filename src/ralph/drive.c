/* SPDX-License-Identifier: MIT */
/*
 * The loop: keeps as many steps running as it may, and decides after each whether to go on. One process
 * drives a feature at a time; the lock says who, and ends with it.
 */
#include "ralph/drive.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "os/signals.h"
#include "ralph/beads.h"
#include "ralph/git.h"
#include "ralph/hooks.h"
#include "ralph/logs.h"

struct drive {
	struct work *work;
	const struct feature *feature;
	const struct drive_options *options;
	struct drive_result *ret;
	struct loop loop;
	struct loop_source signals;
	struct step_run *runs[DRIVE_PARALLEL_MAX];
	size_t running;
	struct strv passed; /* items that a hook had passed over */
	struct arena arena;
	int64_t began;
	bool ending;     /* no new steps */
	int ending_with; /* the status then; -1: what the items say */
	struct err *err;
	int failure; /* -errno, of what ends everything */
};

/* What a feature's items come to, when nothing runs: DRIVE_DONE, _NOTHING (ready is set when there is
 * work), _FAILED or _STUCK. */
static int drive_state(const struct items *items, bool *ret_ready)
{
	struct item_count count;

	items_count(items, &count);
	*ret_ready = count.ready > 0;
	if (!count.total)
		return DRIVE_NOTHING;
	if (count.by[ITEM_DONE] == count.total)
		return DRIVE_DONE;
	if (count.ready)
		return DRIVE_NOTHING;
	return count.by[ITEM_FAILED] ? DRIVE_FAILED : DRIVE_STUCK;
}

static void end(struct drive *d, int status, const char *why)
{
	if (d->ending)
		return;
	d->ending = true;
	d->ending_with = status;
	snprintf(d->ret->why, sizeof(d->ret->why), "%s", why);
}

static char **environment(struct drive *d, const struct step_run *run)
{
	struct strv env = { 0 };

	strv_addf(&d->arena, &env, "RALPH_FEATURE=%s", d->feature->name);
	strv_addf(&d->arena, &env, "RALPH_STEPS=%zu", d->ret->steps);
	if (run) {
		strv_addf(&d->arena, &env, "RALPH_ITEM=%s", run->item->id);
		strv_addf(&d->arena, &env, "RALPH_VERDICT=%s", verdict_name(run->verdict));
	}
	return env.v;
}

/* True: go on. */
static bool one_hook(struct drive *d, enum hook which, const struct hook_config *config,
		     const struct step_run *run)
{
	char why[128];
	int status = hook_run(d->work, which, config, environment(d, run), d->err);

	if (status < 0)
		d->failure = status;
	if (status <= 0)
		return status == 0;
	if (config->on_failure == HOOK_WARN)
		return true;
	if (config->on_failure == HOOK_BLOCK) {
		snprintf(why, sizeof(why), "the hook %s ended with status %d", hook_names[which],
			 status);
		end(d, status, why);
	}
	return false;
}

/* The user's own stands in no project's gift: it runs first, and what it stops is stopped. */
static bool hook(struct drive *d, enum hook which, const struct step_run *run)
{
	const struct ralph_config *config = &d->work->config;

	return one_hook(d, which, &config->users_hooks[which], run) &&
	       one_hook(d, which, &config->hooks[which], run);
}

static void tell(struct drive *d, const struct step_run *run)
{
	const char *title = run->item->title;
	char text[512];

	if (run->verdict == VERDICT_COMPLETE) {
		work_say(d->work, "%s is done: %s (%zu %s%s%.10s, $%.2f)", run->item->id, title,
			 run->files, run->files == 1 ? "file" : "files",
			 run->commit ? ", commit " : "", run->commit ? run->commit : "", run->cost);
		return;
	}
	work_say(d->work, "%s: %s: %.500s", run->item->id, verdict_name(run->verdict),
		 run->reason.s ? run->reason.s : "");
	if (run->verdict != VERDICT_CLARIFY)
		return;
	snprintf(text, sizeof(text), "%.200s asks: %.250s", title, run->reason.s);
	work_notify(d->work, "ralph has a question", text);
}

static void push(struct drive *d)
{
	struct err err = { 0 };

	if (!d->options->push)
		return;
	if (git_push(d->work, &err) < 0)
		work_say(d->work, "%s (%s)", err.msg, err.hint);
	else
		work_say(d->work, "pushed");
}

static void check_limits(struct drive *d)
{
	const struct drive_options *o = d->options;

	if (o->max_steps && (int64_t)d->ret->steps >= o->max_steps)
		end(d, -1, o->once ? "" : "as many steps were made as were allowed");
	if (o->max_cost > 0 && d->ret->cost >= o->max_cost)
		end(d, DRIVE_FAILED, "as much money was spent as was allowed");
	if (o->max_time && os_seconds() - d->began >= o->max_time)
		end(d, DRIVE_FAILED, "as much time has passed as was allowed");
}

static void fill(struct drive *d);

static void on_done(struct step_run *run)
{
	struct drive *d = run->ctx;

	d->ret->cost += run->cost;
	d->ret->last = run->verdict;
	d->ret->done += run->verdict == VERDICT_COMPLETE;
	tell(d, run);
	if (run->verdict == VERDICT_COMPLETE && run->commit)
		push(d);
	if (run->verdict == VERDICT_BUDGET)
		end(d, DRIVE_FAILED, "the money for a step ran out");
	if (run->fatal)
		end(d, DRIVE_FAILED, run->reason.s ? run->reason.s : "it cannot go on");
	if (run->verdict != VERDICT_KILLED && !run->fatal)
		(void)hook(d, HOOK_POST_STEP, run);
	if (d->failure == 0)
		d->failure = work_export(d->work, d->err);
	d->loop.done = true; /* the rest is done outside of its guests' hands */
}

/* Takes those away that are over. Who waited for one of them goes on, and may be over at once. */
static void reap(struct drive *d)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < DRIVE_PARALLEL_MAX; i++)
			if (d->runs[i] && d->runs[i]->stage == STEP_OVER) {
				step_release(d->runs[i]);
				free(TAKE_PTR(d->runs[i]));
				d->running--;
			}
		for (size_t i = 0; i < DRIVE_PARALLEL_MAX; i++)
			if (d->runs[i]) {
				step_go_on(d->runs[i]);
				more |= d->runs[i]->stage == STEP_OVER;
			}
	}
}

static const struct item *choose(struct drive *d, const struct items *items)
{
	for (size_t i = 0; i < items->n; i++) {
		const struct item *item = &items->v[i];

		if (item_is_ready(items, item) && !strv_has(&d->passed, item->id) &&
		    (!d->options->item || !strcmp(d->options->item, item->id)))
			return item;
	}
	return NULL;
}

static double budget(const struct drive *d)
{
	double left = d->options->max_cost > 0 ? d->options->max_cost - d->ret->cost : 0;
	double step = d->work->config.step_cost;

	return step > 0 && (left <= 0 || step < left) ? step : MAX(left, 0);
}

static int start(struct drive *d, const struct item *item)
{
	struct step_run *run = calloc(1, sizeof(*run));
	size_t slot = 0;
	int r;

	if (!run)
		return err_errno(d->err, ENOMEM, "starting a step");
	*run = (struct step_run){ .work = d->work,
				  .loop = &d->loop,
				  .feature = d->feature,
				  .budget = budget(d),
				  .on_done = on_done,
				  .ctx = d };
	while (d->runs[slot])
		slot++;
	work_say(d->work, "%s: %s%s", item->id, item->title, item->attempts ? " (once more)" : "");
	r = step_start(run, item->id, d->err);
	if (r < 0) {
		step_release(run);
		free(run);
		return r;
	}
	d->runs[slot] = run;
	d->running++;
	d->ret->steps++;
	/* Others see that it is taken; the export says nothing of that. */
	return beads_used(&d->work->site) ? work_export(d->work, d->err) : 0;
}

/* The hook before a step: true when it may begin. */
static bool may_begin(struct drive *d, const struct item *item)
{
	struct step_run about = { .item = item, .verdict = VERDICT_NONE };

	if (hook(d, HOOK_PRE_STEP, &about))
		return true;
	strv_add(&d->arena, &d->passed, item->id);
	return false;
}

static void fill(struct drive *d)
{
	int64_t most = MAX(MIN(d->options->parallel, DRIVE_PARALLEL_MAX), 1);

	while (!d->ending && d->failure == 0 && (int64_t)d->running < most) {
		const struct item *item;
		struct items items;
		int r;

		check_limits(d);
		if (d->ending)
			return;
		r = items_load(&d->work->db, d->feature->name, &items, d->err);
		item = r == 0 ? choose(d, &items) : NULL;
		if (item && may_begin(d, item))
			r = start(d, item);
		if (r == 0)
			items_release(&items);
		if (r < 0 && r != -ESTALE)
			d->failure = r;
		if (!item)
			return;
	}
}

static int on_signal(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct drive *d = container_of(source, struct drive, signals);
	int signal_no = os_signals_next(source->fd);

	if (!signal_no)
		return 0;
	end(d, 128 + signal_no, "it was interrupted");
	for (size_t i = 0; i < DRIVE_PARALLEL_MAX; i++)
		if (d->runs[i])
			step_interrupt(d->runs[i]);
	return 0;
}

static int watch_signals(struct drive *d, sigset_t *ret_old, struct err *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, ret_old);
	d->signals = (struct loop_source){ .fd = os_signals_open(&mask), .on_event = on_signal };
	return d->signals.fd < 0 ? err_errno(err, errno, "watching signals")
				 : loop_add(&d->loop, &d->signals, LOOP_IN, err);
}

/* An epic is done when all of its tasks are. */
static int close_epics(struct drive *d, const struct items *items)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < items->n; i++)
		if (items->v[i].epic && items->v[i].status == ITEM_OPEN)
			r = item_move(&d->work->db, items->v[i].id, ITEM_OPEN, ITEM_DONE, NULL,
				      d->err);
	return r;
}

static int conclude(struct drive *d)
{
	struct drive_result *ret = d->ret;
	struct items items;
	bool ready;
	int r = items_load(&d->work->db, d->feature->name, &items, d->err);

	if (r < 0)
		return r;
	ret->status = drive_state(&items, &ready);
	if (ret->status == DRIVE_DONE)
		r = close_epics(d, &items);
	if (ret->status == DRIVE_NOTHING && ready && ret->steps) /* the limits ended it */
		ret->status = ret->done == ret->steps ? DRIVE_DONE : DRIVE_FAILED;
	if (d->ending && d->ending_with >= 0)
		ret->status = d->ending_with;
	items_release(&items);
	return r;
}

static int go(struct drive *d)
{
	int r = 0;

	d->ending_with = -1;
	d->began = os_seconds();
	if (hook(d, HOOK_PRE_LOOP, NULL) || !d->ending)
		fill(d);
	while (r >= 0 && d->running) {
		d->loop.done = false;
		r = loop_run(&d->loop, -1, d->err);
		reap(d);
		if (r >= 0)
			fill(d);
	}
	if (r >= 0)
		r = d->failure;
	if (r >= 0)
		r = step_sweep(d->work, d->feature, d->err);
	if (r >= 0)
		r = conclude(d);
	if (r >= 0 && d->ret->steps && !hook(d, HOOK_POST_LOOP, NULL) && d->ending_with > 0)
		d->ret->status = d->ending_with;
	return r < 0 ? r : d->failure;
}

static void release(struct drive *d)
{
	for (size_t i = 0; i < DRIVE_PARALLEL_MAX; i++)
		if (d->runs[i]) {
			step_release(d->runs[i]);
			free(d->runs[i]);
		}
	loop_remove(&d->loop, &d->signals);
	close_ptr(&d->signals.fd);
	loop_release(&d->loop);
	arena_release(&d->arena);
}

int drive_feature(struct work *work, const struct feature *feature,
		  const struct drive_options *options, struct drive_result *ret, struct err *err)
{
	struct drive d = { .work = work,
			   .feature = feature,
			   .options = options,
			   .ret = ret,
			   .signals.fd = -1,
			   .err = err };
	char name[80];
	_cleanup_close_ int lock = -1;
	sigset_t old;
	int r;

	*ret = (struct drive_result){ 0 };
	snprintf(name, sizeof(name), "lock-%s", feature->name);
	lock = site_lock(&work->site, name, options->wait, err);
	if (lock < 0) {
		err_wrap(err, "the feature '%s'", feature->name);
		return err_hint(err,
				"--wait waits for it; 'ralph status --watch' shows what it does");
	}
	logs_rotate(work);
	r = loop_init(&d.loop, err);
	if (r < 0)
		return r;
	r = watch_signals(&d, &old, err);
	if (r == 0 && work->site.git && work->config.commit)
		r = git_check(work, err);
	if (r == 0)
		r = step_recover(work, feature, err);
	if (r == 0)
		r = go(&d);
	release(&d);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r == 0 ? work_export(work, err) : r;
}
