/* SPDX-License-Identifier: MIT */
/*
 * Trials. Their programs lie in the project, where an agent may have written them: they run in a sandbox
 * whose changes are thrown away, or on the host when the user says so and trusts the project.
 */
#include "ralph/trial.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "cow/paths.h"

enum { SKIPPED = 77, NOT_IMPLEMENTED = 78, NOT_STARTED = 125, LINES_SHOWN = 5 };

/* Seen from the spec's directory, and in the project. */
static char *resolve(const struct feature *feature, const struct trial *trial, struct arena *arena,
		     struct err *err)
{
	/* A hidden spec speaks as if it stood among the others. */
	char *dir = feature->hidden ? arena_strdup(arena, "specs")
				    : path_parent(arena, path_join(arena, "", feature->spec));
	char *path = path_join(arena, dir, trial->path);

	if (path_is_plain(path) && !is_in_git(path))
		return path;
	err_usage(err, "line %u: '%s' does not lead into the project", trial->line, trial->path);
	return NULL;
}

static void add_last_lines(struct str *why, const struct str *out)
{
	size_t len = out->len, lines = 0;
	const char *p;

	known(out->s || !len);
	while (len && out->s[len - 1] == '\n')
		len--;
	p = out->s + len;
	while (p > out->s && lines < LINES_SHOWN)
		lines += *--p == '\n';
	p += p > out->s;
	str_addn(why, p, (size_t)(out->s + len - p));
}

static int run_program(struct work *work, const struct trial *trial, const char *path,
		       enum trial_result *ret, struct str *why, struct err *err)
{
	struct arena arena = { 0 };
	_cleanup_str_ struct str out = { 0 };
	bool host = work->host && trial->kind == TRIAL_VERIFY;
	char *file = arena_printf(&arena, "./%s", path);
	/* [verify:wrapix] names a function of a script; [verify] hands it to the program. */
	char *plain[] = { file, trial->function, NULL };
	char *sourced[] = { (char *)"bash", (char *)"-c",    (char *)". \"$0\" && \"$1\"",
			    file,           trial->function, NULL };
	struct process_spec spec = {
		.dir = work->site.top,
		.name = arena_printf(&arena, "ralph-trial-%d", (int)getpid()),
		.host = host,
		.command = trial->kind == TRIAL_SANDBOX && trial->function ? sourced : plain,
		.in = -1,
		.err = -1,
	};
	int status = process_run(&spec, &out, err);
	int r = status < 0 || host ? MIN(status, 0) : work_discard(work, spec.name, err);

	*ret = status == 0                                      ? TRIAL_PASS
	       : status == SKIPPED || status == NOT_IMPLEMENTED ? TRIAL_SKIP
								: TRIAL_FAIL;
	if (r == 0 && *ret == TRIAL_FAIL && status == NOT_STARTED)
		r = err_set(err, EIO, "the sandbox did not start: %.600s", out.s ? out.s : "");
	if (status == NOT_IMPLEMENTED)
		str_add(why, "not implemented");
	else if (status && out.len)
		add_last_lines(why, &out);
	else if (status > 0)
		str_addf(why, "status %d", status);
	arena_release(&arena);
	return r;
}

static int ask_judge(struct work *work, const struct feature *feature,
		     const struct criterion *criterion, const char *path, enum trial_result *ret,
		     struct str *why, struct err *err)
{
	_cleanup_str_ struct str prompt = { 0 };
	struct arena *a = &work->arena;
	struct turn turn = {
		.work = work, .phase = PHASE_JUDGE, .who = "judge", .feature = feature
	};
	struct attempt *attempt = &turn.attempt;
	const struct template_var vars[] = {
		{ "FEATURE", feature->name },
		{ "SPEC_PATH", work_spec_inside(a, feature) },
		{ "CRITERION", criterion->text },
		{ "RUBRIC_PATH", path_join(a, WORKSPACE_INSIDE, path) },
	};
	const char *text;
	size_t len;
	int r = template_fill(&prompt, &work->templates, "judge", vars, ARRAY_LEN(vars), err);

	if (r < 0)
		return r;
	r = turn_run(&turn, prompt.s, err);
	*ret = TRIAL_FAIL;
	if (r == 0 && turn.stream.final.len &&
	    verdict_last_line(turn.stream.final.s, turn.stream.final.len, "PASS", &text, &len)) {
		*ret = TRIAL_PASS;
		attempt->verdict = VERDICT_COMPLETE;
		attempt->reason = NULL;
	} else if (r == 0 && turn.stream.final.len &&
		   verdict_last_line(turn.stream.final.s, turn.stream.final.len, "FAIL", &text,
				     &len)) {
		str_addn(why, text, MIN(len, (size_t)500));
		attempt->verdict = VERDICT_COMPLETE;
		attempt->reason = why->s;
	} else if (r == 0) {
		str_addf(why, "the judge gave no verdict (%s)", verdict_name(turn.verdict));
	}
	if (r == 0)
		r = attempt_put(&work->db, attempt, err);
	turn_release(&turn);
	return r;
}

/* What nobody has written yet holds nowhere. */
static bool is_missing(const struct work *work, const struct trial *trial, const char *path,
		       struct str *why)
{
	bool sourced = trial->kind == TRIAL_JUDGE ||
		       (trial->kind == TRIAL_SANDBOX && trial->function);
	struct arena arena = { 0 };
	const char *full = path_join(&arena, work->site.top, path);

	if (access(full, F_OK) < 0)
		str_addf(why, "there is no '%s'", path);
	else if (!sourced && access(full, X_OK) < 0)
		str_addf(why, "'%s' cannot be executed; chmod +x makes it a program", path);
	arena_release(&arena);
	return why->len > 0;
}

int trial_run(struct work *work, const struct feature *feature, const struct criterion *criterion,
	      const struct trial *trial, enum trial_result *ret, struct str *why, struct err *err)
{
	struct arena arena = { 0 };
	char *path = resolve(feature, trial, &arena, err);
	int r = -EINVAL;

	str_add(why, "");
	if (path && is_missing(work, trial, path, why)) {
		*ret = TRIAL_FAIL;
		r = 0;
	} else if (path) {
		r = trial->kind == TRIAL_JUDGE
			    ? ask_judge(work, feature, criterion, path, ret, why, err)
			    : run_program(work, trial, path, ret, why, err);
	}
	arena_release(&arena);
	return r;
}
