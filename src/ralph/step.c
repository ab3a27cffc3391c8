/* SPDX-License-Identifier: MIT */
/* The course of a step. Whatever happens on it ends in settle(), which writes one record. */
#include "ralph/step.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "ralph/turn_priv.h"

enum { GATE_OUTPUT_MAX = 65536, GATE_SHOWN = 3000 };

/* What a verdict means for the item: where it goes, and whether the try counts. */
static const struct {
	enum item_status to;
	bool counts; /* towards 'attempts', after which it has failed */
} consequences[VERDICT_COUNT] = {
	[VERDICT_BLOCKED] = { ITEM_BLOCKED, true }, [VERDICT_CLARIFY] = { ITEM_QUESTION, false },
	[VERDICT_FAILED] = { ITEM_OPEN, true },     [VERDICT_CRASHED] = { ITEM_OPEN, true },
	[VERDICT_TIMEOUT] = { ITEM_OPEN, true },    [VERDICT_BUDGET] = { ITEM_OPEN, false },
	[VERDICT_GATE] = { ITEM_OPEN, true },       [VERDICT_CONFLICT] = { ITEM_OPEN, true },
	[VERDICT_REFUSED] = { ITEM_OPEN, true },    [VERDICT_HOOK] = { ITEM_OPEN, false },
	[VERDICT_KILLED] = { ITEM_OPEN, false },    [VERDICT_COMPLETE] = { ITEM_DONE, true },
	[VERDICT_NONE] = { ITEM_OPEN, false },
};

static int save(struct step_run *run, struct err *err)
{
	struct work *work = run->work;
	struct attempt *attempt = &run->turn.attempt;
	bool counts = consequences[run->verdict].counts && !run->fatal;
	enum item_status to = consequences[run->verdict].to;
	int r = db_begin(&work->db, err);

	if (to == ITEM_OPEN && counts && run->item->attempts + 1 >= work->config.attempts)
		to = ITEM_FAILED;
	attempt->verdict = run->verdict;
	attempt->reason = run->reason.s;
	if (run->gate_output.len)
		attempt->errors = run->gate_output.s;
	if (r == 0)
		r = attempt_put(&work->db, attempt, err);
	if (r == 0)
		r = db_run(&work->db, err,
			   "UPDATE item SET status = ?, reason = ?, attempts = attempts + ?, "
			   "updated = ? "
			   "WHERE id = ? AND status = 'running'",
			   "ssiis", item_status_name(to), run->reason.s, (int64_t)counts, db_now(),
			   run->item->id);
	if (r == 0)
		return db_commit(&work->db, err);
	db_rollback(&work->db);
	return r;
}

static void over(struct step_run *run)
{
	run->stage = STEP_OVER;
	run->cost = run->turn.stream.cost;
	run->files = run->harvest.n;
	run->commit = run->turn.attempt.commit;
	land_give_turn(run->work, run);
	ticker_stop(&run->ticker);
	run->on_done(run);
}

/* It did not end well: the record, and the session rolled back. A conflict keeps it, so that nothing is
 * lost. */
static void settle(struct step_run *run)
{
	struct err err = { 0 };
	int r = save(run, &err);

	if (r == 0 && run->verdict != VERDICT_CONFLICT)
		r = work_discard(run->work, run->turn.attempt.session, &err);
	if (r < 0) {
		work_say(run->work, "%s", err.msg);
		run->fatal = true;
	}
	over(run);
}

static void fail(struct step_run *run, const struct err *err)
{
	run->verdict = VERDICT_FAILED;
	run->fatal = true;
	run->reason.len = 0;
	str_add(&run->reason, err->msg);
	settle(run);
}

static void land(struct step_run *run)
{
	struct err err = { 0 };
	struct attempt *attempt = &run->turn.attempt;
	int r = land_item(run->work, run->item, attempt, &run->harvest, &run->verdict, &run->reason,
			  &err);

	if (r < 0) {
		/* The item is 'landing', or what it was: the next command goes on from there. */
		run->verdict = VERDICT_FAILED;
		run->fatal = true;
		str_add(&run->reason, err.msg);
		over(run);
	} else if (run->verdict != VERDICT_COMPLETE) {
		settle(run);
	} else {
		over(run);
	}
}

/* --- the gate --- */

static void on_gate_bytes(void *ctx, const char *bytes, size_t len)
{
	struct step_run *run = ctx;

	run->gate_heard = os_seconds();
	if (run->gate_output.len + len > GATE_OUTPUT_MAX) /* its end says most */
		run->gate_output.len = 0;
	str_addn(&run->gate_output, bytes + (len > GATE_OUTPUT_MAX ? len - GATE_OUTPUT_MAX : 0),
		 MIN(len, (size_t)GATE_OUTPUT_MAX));
}

static void land_gated(struct step_run *run)
{
	struct err err = { 0 };

	if (land_restore(run->work, &run->turn.attempt, &run->harvest, &run->verdict, &run->reason,
			 &err) < 0)
		fail(run, &err);
	else if (run->verdict != VERDICT_COMPLETE)
		settle(run);
	else
		land(run);
}

static void on_gate_end(void *ctx, int status)
{
	struct step_run *run = ctx;
	size_t len = run->gate_output.len;

	if (status == 0) {
		run->gate_output.len = 0;
		land_gated(run);
		return;
	}
	run->verdict = run->gate_stopped;
	if (run->verdict != VERDICT_NONE) {
		str_add(&run->reason, run->verdict == VERDICT_KILLED ? "it was interrupted"
								     : "the gate was silent");
		settle(run);
		return;
	}
	run->verdict = VERDICT_GATE;
	if (len > GATE_SHOWN) {
		memmove(run->gate_output.s, run->gate_output.s + len - GATE_SHOWN, GATE_SHOWN + 1);
		run->gate_output.len = GATE_SHOWN;
	}
	str_addf(&run->reason, "the gate '%.200s' ended with status %d",
		 config_gate(&run->work->config, &run->arena), status);
	settle(run);
}

static void stop_gate(struct step_run *run, enum verdict verdict)
{
	run->gate_stopped = verdict;
	process_kill(&run->gate, SIGKILL);
}

/* For a gate that is silent, and for a turn that another process has. */
static void on_tick(struct ticker *ticker)
{
	struct step_run *run = container_of(ticker, struct step_run, ticker);

	step_go_on(run);
	if (run->stage == STEP_GATE && os_seconds() - run->gate_heard >= run->work->config.silence)
		stop_gate(run, VERDICT_TIMEOUT);
}

/* On the view that the agent has left, with what is protected still so. */
static void start_gate(struct step_run *run)
{
	struct work *work = run->work;
	char *one[] = { (char *)"/bin/sh", (char *)"-c", work->config.gate, NULL };
	/* Each is a text of its own: what a project's says cannot end the user's early, nor change what it sees. */
	char *both[] = { (char *)"/bin/sh",
			 (char *)"-c",
			 (char *)"/bin/sh -c \"$0\" && exec /bin/sh -c \"$1\"",
			 work->config.users_gate,
			 work->config.gate,
			 NULL };
	struct process_spec spec = {
		.dir = work->site.top,
		.name = run->turn.attempt.session,
		.resume = run->harvest.id,
		.command = work->config.users_gate ? both : one,
		.in = -1,
		.err = -1,
	};
	struct err err = { 0 };
	int r;

	run->stage = STEP_GATE;
	run->gate_heard = os_seconds();
	run->gate = (struct process)PROCESS_NONE;
	run->gate.on_bytes = on_gate_bytes;
	run->gate.on_end = on_gate_end;
	run->gate.ctx = run;
	work_say(work, "%s: the gate: %s", run->item->id, config_gate(&work->config, &run->arena));
	turn_add_protected(&run->turn, &spec);
	r = process_start(&run->gate, run->loop, &spec, &err);
	if (r < 0)
		fail(run, &err);
}

void step_go_on(struct step_run *run)
{
	struct err err = { 0 };
	int r = run->stage == STEP_WAIT ? land_take_turn(run->work, run, &err) : 0;

	if (r > 0 && run->work->config.gate)
		r = land_rebase(run->work, &run->turn.attempt, &run->harvest, &run->verdict,
				&run->reason, &err) < 0
			    ? -err.code
			    : 1;
	if (r < 0)
		fail(run, &err);
	else if (r > 0 && run->verdict != VERDICT_COMPLETE)
		settle(run);
	else if (r > 0 && run->work->config.gate &&
		 land_keep(run->work, &run->turn.attempt, &run->harvest, &err) < 0)
		fail(run, &err);
	else if (r > 0 && run->work->config.gate)
		start_gate(run);
	else if (r > 0)
		land(run);
}

/* Until it is this one's turn. */
static void wait_for_turn(struct step_run *run)
{
	struct err err = { 0 };

	run->stage = STEP_WAIT;
	if (ticker_start(&run->ticker, run->loop, on_tick, &err) < 0) {
		fail(run, &err);
		return;
	}
	ticker_run(&run->ticker, true);
	step_go_on(run);
	if (run->stage == STEP_WAIT)
		work_say(run->work, "%s: waits until another step is taken over", run->item->id);
}

/* --- the agent --- */

static void on_turn_done(struct turn *turn)
{
	struct step_run *run = container_of(turn, struct step_run, turn);
	struct err err = { 0 };
	enum verdict looked;

	run->verdict = turn->verdict;
	run->fatal = turn->not_started;
	str_addn(&run->reason, turn->reason.s ? turn->reason.s : "", turn->reason.len);
	/* Also of one that failed: its diff is for the next try. */
	if (land_look(run->work, &turn->attempt, &run->harvest, &looked, &run->reason, &err) < 0) {
		fail(run, &err);
		return;
	}
	if (run->verdict == VERDICT_COMPLETE && looked != VERDICT_COMPLETE)
		run->verdict = looked;
	if (run->verdict == VERDICT_COMPLETE && !run->harvest.n && !turn->noted && !turn->added) {
		run->verdict = VERDICT_FAILED;
		str_add(&run->reason,
			"it said complete and changed nothing, without a note that says why");
	}
	if (run->verdict != VERDICT_COMPLETE)
		settle(run);
	else
		wait_for_turn(run);
}

/* The item is ours from here on, in the eyes of every process. */
static int claim(struct step_run *run, struct err *err)
{
	struct work *work = run->work;
	struct attempt *attempt = &run->turn.attempt;
	int r;

	db_relax(&work->db, true); /* without it the item is open, as it was */
	r = db_begin(&work->db, err);
	*attempt = (struct attempt){ .feature = run->feature->name,
				     .item = run->item->id,
				     .phase = (char *)"step" };
	if (r == 0)
		r = item_move(&work->db, run->item->id, ITEM_OPEN, ITEM_RUNNING, run->item->reason,
			      err);
	if (r == 0)
		r = attempt_begin(&work->db, attempt, err);
	if (r == 0) {
		attempt->session = work_session_name(work, &run->arena, attempt->id);
		attempt->log = arena_printf(&run->arena, "logs/%lld.jsonl", (long long)attempt->id);
		r = attempt_put(&work->db, attempt, err);
	}
	if (r == 0)
		r = db_commit(&work->db, err);
	else
		db_rollback(&work->db);
	db_relax(&work->db, false);
	return r;
}

int step_start(struct step_run *run, const char *item_id, struct err *err)
{
	_cleanup_str_ struct str prompt = { 0 };
	struct turn *turn = &run->turn;
	int r = items_load(&run->work->db, run->feature->name, &run->items, err);

	if (r < 0)
		return r;
	run->item = items_find(&run->items, item_id);
	if (!run->item)
		return err_set(err, ESTALE, "the item '%s' is gone", item_id);
	*turn = (struct turn){ .work = run->work,
			       .phase = PHASE_STEP,
			       .who = run->item->id,
			       .feature = run->feature,
			       .item = run->item,
			       .budget = run->budget,
			       .on_done = on_turn_done,
			       .log = -1 };
	turn->process = (struct process)PROCESS_NONE;
	r = step_prompt(run->work, &run->arena, run->feature, run->item, &turn->previous, &prompt,
			err);
	if (r == 0)
		r = claim(run, err);
	if (r < 0)
		return r;
	run->stage = STEP_AGENT;
	r = turn_start(turn, run->loop, prompt.s, err);
	if (r < 0) {
		struct err ignored;

		/* Nothing ran: the claim is taken back, and the error is the caller's to show. */
		run->verdict = VERDICT_KILLED;
		str_add(&run->reason, err->msg);
		(void)save(run, &ignored);
	}
	return r;
}

void step_interrupt(struct step_run *run)
{
	if (run->stage == STEP_AGENT) {
		turn_interrupt(&run->turn);
	} else if (run->stage == STEP_GATE) {
		stop_gate(run, VERDICT_KILLED);
	} else if (run->stage == STEP_WAIT) {
		run->verdict = VERDICT_KILLED;
		str_add(&run->reason, "it was interrupted");
		settle(run);
	}
}

void step_release(struct step_run *run)
{
	if (run->stage == STEP_GATE)
		process_stop(&run->gate);
	land_give_turn(run->work, run);
	ticker_stop(&run->ticker);
	if (run->stage != STEP_IDLE)
		turn_release(&run->turn);
	harvest_release(&run->harvest);
	items_release(&run->items);
	str_release(&run->gate_output);
	str_release(&run->reason);
	arena_release(&run->arena);
}
