/* SPDX-License-Identifier: MIT */
/* The sandbox as the settings have it here: what is enforced, what is weaker, what was refused. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/exec.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "cli/exec.h"
#include "cli/learn.h"
#include "cli/logs.h"
#include "spec/claude.h"

enum { REFUSALS_SHOWN = 3 };

static void describe_files(struct finding *f, const struct file_rules *files)
{
	size_t n[FILE_PROTECT + 1] = { 0 };

	if (files->disabled) {
		f->verdict = WEAKER;
		str_add(&f->text, "; files: not restricted (filesystem.disabled)");
		return;
	}
	for (size_t i = 0; i < files->n; i++)
		n[files->rules[i].kind]++;
	str_addf(&f->text,
		 "; files: %zu places writable, %zu denied, %zu unreadable, %zu names protected",
		 files->roots.len, n[FILE_DENY_WRITE], n[FILE_DENY_READ], n[FILE_PROTECT]);
}

static void describe(struct finding *f, const struct exec *x)
{
	const struct fix_place place = exec_fix_place(x);
	const struct plan *plan = &x->plan;
	bool there = access(place.file, F_OK) == 0;

	if (place.dialect == FIX_CLAUDE)
		str_add(&f->text, "Claude Code's settings, ");
	else
		str_add(&f->text, there ? "srt's settings, " : "the defaults, without ");
	if (place.dialect == FIX_CLAUDE &&
	    !there) /* it is where a rule would go, not where they are from */
		str_add(&f->text, "which 'wrapix settings' lists");
	else
		denial_add_path(&f->text, place.file, place.home);
	describe_files(f, &x->exec_spec.files);
	str_addf(&f->text, "; hosts: %zu allowed, %zu denied; UNIX sockets: %s", plan->allow.len,
		 plan->deny.len,
		 plan->guard_unix
			 ? plan->unix_sockets.len ? "some of the host's" : "none of the host's"
			 : "all of the host's");
	for (size_t i = 0; i < plan->weaker.len; i++) {
		f->verdict = WEAKER;
		str_addf(&f->text, "; weaker: %s", plan->weaker.v[i]);
	}
	if (!plan->guard_unix)
		f->verdict = WEAKER;
	for (size_t i = 0; i < x->config.unused.len; i++)
		str_addf(&f->text, "%s%s", i ? ", " : "; without effect: ", x->config.unused.v[i]);
}

void check_policy(const struct patient *p, struct finding *f)
{
	static char name[] = "true";
	const struct exec_args args = { .control_fd = -1 };
	struct exec_request request = { .argv = (char *[]){ name, NULL },
					.command = name,
					.control_fd = -1 };
	const struct exec_hooks hooks = { 0 };
	_cleanup_str_ struct str why = { 0 };
	struct claude_where where;
	struct arena arena = { 0 };
	struct err err = { 0 };
	bool claude = false;
	struct exec x;

	(void)p;
	if (exec_choose(&args, &arena, &where, &claude, &err) < 0) {
		found_error(f, MISSING, &err);
		arena_release(&arena);
		return;
	}
	request.claude = claude ? &where : NULL;
	if (exec_prepare(&x, &request, &hooks, &why, &err) < 0) {
		const char *reason = why.len ? srt_plain(why.s) : NULL;

		if (reason)
			err_set(&err, EINVAL, "%.*s", (int)strcspn(reason, "\n"), reason);
		found_error(f, MISSING, &err);
	} else {
		describe(f, &x);
	}
	exec_release(&x);
	arena_release(&arena);
}

static void on_event(void *ctx, struct json_object *event)
{
	lessons_add(ctx, event);
}

static void add_lesson(struct finding *f, const struct lessons *l, const struct lesson *lesson)
{
	str_add(&f->text, f->text.len ? "; " : "");
	denial_add_act(&f->text, &lesson->denial, l->place.home);
	if (lesson->count > 1)
		str_addf(&f->text, " (%lu times)", lesson->count);
	if (lesson->settled) {
		str_add(&f->text, " (the settings allow it by now)");
	} else if (lesson->fix.key) {
		str_add(&f->text, ": ");
		fix_add_text(&f->text, &lesson->fix);
		str_add(&f->text, lesson->fix.risk ? " (with a risk)" : "");
	}
}

void check_refusals(const struct patient *p, struct finding *f)
{
	struct lessons l;
	struct err err;
	size_t shown = 0, curable = 0;

	lessons_init(&l, p->host->home);
	if (cli_read_log(NULL, on_event, &l, &err) == 0)
		lessons_merge(&l);
	learn_look(&l);
	for (size_t i = l.n; i-- > 0 && shown < REFUSALS_SHOWN;)
		if (!l.v[i].dropped) {
			add_lesson(f, &l, &l.v[i]);
			shown++;
			curable += l.v[i].fix.key && !l.v[i].settled;
		}
	if (!shown)
		str_add(&f->text, "nothing in the latest session that has a log");
	else if (curable)
		str_addf(&f->fix, "wrapix learn %s", l.id ? l.id : "");
	lessons_release(&l);
}
