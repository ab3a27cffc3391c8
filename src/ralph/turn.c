/* SPDX-License-Identifier: MIT */
/* A session of an agent: how it begins, what is heard of it, and what its end means. */
#include "ralph/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "os/fs.h"
#include "ralph/turn_priv.h"

enum { LOG_MAX = 256 << 20, KILL_AFTER = 3, STATUS_NOT_STARTED = 125 };

static void show(void *ctx, enum act act, const char *text)
{
	struct turn *turn = ctx;
	const struct work_view *view = &turn->work->view;

	if (view->act)
		view->act(view->ctx, turn->who, act, text);
}

static void on_line(void *ctx, const char *line, size_t len)
{
	struct turn *turn = ctx;

	turn->heard = os_seconds();
	stream_line(&turn->stream, line, len);
}

/* The log has what came, as it came, up to a limit that no honest session reaches. */
static void on_bytes(void *ctx, const char *bytes, size_t len)
{
	struct turn *turn = ctx;

	if (turn->log >= 0 && turn->logged + len <= LOG_MAX &&
	    os_write_all(turn->log, bytes, len) < 0) {
		close(turn->log);
		turn->log = -1;
		work_say(turn->work, "the log of this session is cut short: the disk is full?");
	}
	turn->logged += len;
	lines_feed(&turn->lines, bytes, len);
}

static void give_up(struct turn *turn, enum verdict verdict, const char *why)
{
	if (turn->term)
		return;
	turn->forced = verdict;
	str_add(&turn->reason, why);
	turn->term = os_seconds();
	process_kill(&turn->process, SIGTERM);
}

/* Once a second: silence, no end after the result, the time of a step. */
static void on_tick(struct ticker *ticker)
{
	struct turn *turn = container_of(ticker, struct turn, ticker);
	const struct ralph_config *config = &turn->work->config;
	int64_t now = os_seconds();
	char why[128];

	if (turn->term) {
		if (now - turn->term >= KILL_AFTER)
			process_kill(&turn->process, SIGKILL);
		return;
	}
	if (turn->stream.ended && now - turn->heard >= config->grace) {
		/* It has said all it had to say. */
		turn->term = now;
		process_kill(&turn->process, SIGTERM);
		return;
	}
	if (now - turn->heard >= config->silence) {
		snprintf(why, sizeof(why), "it printed nothing for %lld seconds",
			 (long long)config->silence);
		give_up(turn, VERDICT_TIMEOUT, why);
	} else if (config->step_time && now - turn->began >= config->step_time) {
		snprintf(why, sizeof(why), "it took more than %lld seconds",
			 (long long)config->step_time);
		give_up(turn, VERDICT_TIMEOUT, why);
	}
}

/* What the sandbox said when it did not start, and an agent that broke off. */
static void add_last_words(struct turn *turn)
{
	_cleanup_free_ char *text = NULL;
	char *path = work_file(turn->work, &turn->arena, "logs/%lld.err",
			       (long long)turn->attempt.id);
	size_t len = 0, from;

	if (os_read_file_at(AT_FDCWD, path, 1 << 20, &text, &len) < 0 || !len)
		return;
	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	from = len > 600 ? len - 600 : 0;
	str_addf(&turn->reason, ": %s", text + from);
}

static void judge(struct turn *turn, int status)
{
	const struct stream *s = &turn->stream;
	bool ended = s->ended || (s->dialect->ends_by_exit && s->final.len && status == 0);
	const char *text;
	size_t len;

	turn->verdict = turn->forced;
	if (turn->forced != VERDICT_NONE)
		return;
	if (!ended) {
		turn->verdict = VERDICT_CRASHED;
		turn->not_started = status == STATUS_NOT_STARTED && !s->records;
		str_addf(&turn->reason,
			 turn->not_started ? "the sandbox did not start"
					   : "it broke off with status %d",
			 status);
		add_last_words(turn);
		return;
	}
	if (s->failed) {
		turn->verdict = s->over_budget ? VERDICT_BUDGET : VERDICT_FAILED;
		str_addf(&turn->reason, "%.600s",
			 s->over_budget  ? "its money ran out"
			 : s->errors.len ? s->errors.s
					 : "the agent failed");
		return;
	}
	turn->verdict = verdict_signal(s->final.s ? s->final.s : "", s->final.len, &text, &len);
	str_addn(&turn->reason, text, MIN(len, (size_t)2000));
	if (turn->verdict == VERDICT_NONE) {
		turn->verdict = VERDICT_FAILED;
		str_add(&turn->reason, "it ended without saying how: no signal on its last line");
	}
}

static void on_end(void *ctx, int status)
{
	struct turn *turn = ctx;
	struct attempt *attempt = &turn->attempt;

	lines_end(&turn->lines);
	ticker_stop(&turn->ticker);
	turn->added = turn->door.added;
	turn->noted = turn->door.noted;
	door_close(&turn->door);
	judge(turn, status);
	attempt->verdict = turn->verdict;
	attempt->ended = db_now();
	attempt->cost = turn->stream.cost;
	attempt->tokens_in = (int64_t)turn->stream.tokens_in;
	attempt->tokens_out = (int64_t)turn->stream.tokens_out;
	attempt->reason = turn->reason.s;
	attempt->errors = turn->stream.errors.s;
	if (turn->run_dir)
		(void)os_remove_tree(AT_FDCWD, turn->run_dir);
	turn->on_done(turn);
}

static int prompt_fd(const char *prompt, struct err *err)
{
	int fd = os_memory_file("prompt", prompt, strlen(prompt));

	return fd < 0 ? err_errno(err, errno, "keeping the prompt") : fd;
}

static int open_log(struct turn *turn, const char *suffix, struct err *err)
{
	char *path = work_file(turn->work, &turn->arena, "logs/%lld.%s",
			       (long long)turn->attempt.id, suffix);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? err_errno(err, errno, "opening the log '%s'", path) : fd;
}

static int launch(struct turn *turn, struct loop *loop, const char *prompt, struct err *err)
{
	const struct work *work = turn->work;
	_cleanup_close_ int in = prompt_fd(prompt, err);
	_cleanup_close_ int errors = in < 0 ? -1 : open_log(turn, "err", err);
	struct process_spec spec = {
		.dir = work->site.top,
		.name = turn->attempt.session,
		.agent = work->agent.name,
		.agent_args = turn_headless_args(turn),
		.in = in,
		.err = errors,
	};

	if (in < 0 || errors < 0)
		return -err->code;
	turn->log = open_log(turn, "jsonl", err);
	if (turn->log < 0)
		return -err->code;
	turn_add_mounts(work, &turn->arena, turn->feature, turn->run_dir, false, &spec);
	if (turn->phase == PHASE_STEP)
		turn_add_protected(turn, &spec);
	return process_start(&turn->process, loop, &spec, err);
}

int turn_start(struct turn *turn, struct loop *loop, const char *prompt, struct err *err)
{
	int r;

	turn->log = -1;
	turn->process = (struct process)PROCESS_NONE;
	turn->process.on_bytes = on_bytes;
	turn->process.on_end = on_end;
	turn->process.ctx = turn;
	turn->lines = (struct lines){ .on_line = on_line, .ctx = turn };
	turn->stream = (struct stream){ .dialect = turn->work->dialect, .show = show, .ctx = turn };
	turn->door = (struct door){ .db = &turn->work->db,
				    .feature = turn->feature->name,
				    .item = turn->item ? turn->item->id : NULL };
	turn->began = turn->heard = os_seconds();
	r = turn_make_run_dir(turn, err);
	if (r == 0)
		r = door_open(&turn->door, loop, turn->run_dir, err);
	if (r == 0)
		r = ticker_start(&turn->ticker, loop, on_tick, err);
	if (r == 0)
		r = launch(turn, loop, prompt, err);
	if (r == 0)
		ticker_run(&turn->ticker, true);
	return r;
}

void turn_interrupt(struct turn *turn)
{
	give_up(turn, VERDICT_KILLED, "it was interrupted");
}

void turn_release(struct turn *turn)
{
	process_stop(&turn->process);
	ticker_stop(&turn->ticker);
	door_close(&turn->door);
	lines_release(&turn->lines);
	stream_release(&turn->stream);
	str_release(&turn->reason);
	if (turn->log >= 0)
		close(turn->log);
	turn->log = -1;
	arena_release(&turn->arena);
}

static void stop_loop(struct turn *turn)
{
	turn->process.loop->done = true;
}

static int run_alone(struct turn *turn, const char *prompt, struct err *err)
{
	struct loop loop;
	int r = loop_init(&loop, err);

	if (r < 0)
		return r;
	turn->on_done = stop_loop;
	r = turn_start(turn, &loop, prompt, err);
	if (r == 0)
		r = loop_run(&loop, -1, err);
	loop_release(&loop);
	return r < 0 ? r : 0;
}

int turn_run(struct turn *turn, const char *prompt, struct err *err)
{
	struct work *work = turn->work;
	struct attempt *attempt = &turn->attempt;
	struct err ignored;
	int r;

	turn->log = -1;
	turn->process = (struct process)PROCESS_NONE;
	*attempt = (struct attempt){ .feature = turn->feature->name,
				     .phase = (char *)phase_names[turn->phase] };
	r = attempt_begin(&work->db, attempt, err);
	if (r < 0)
		return r;
	attempt->session = work_session_name(work, &work->arena, attempt->id);
	attempt->log = arena_printf(&work->arena, "logs/%lld.jsonl", (long long)attempt->id);
	r = run_alone(turn, prompt, err);
	if (r == 0)
		r = attempt_put(&work->db, attempt, err);
	(void)work_discard(work, attempt->session, &ignored); /* nothing of it is kept */
	return r;
}
