/* SPDX-License-Identifier: MIT */
/* ralph item: the user's own hand on the tasks. */
#include <errno.h>
#include <string.h>

#include "cli/ralph/ralph.h"

struct item_args {
	const char *title, *text, *after, *feature;
	bool epic, json;
};

struct job {
	struct work *work;
	struct feature feature;
	struct items items;
	const struct item_args *args;
	char *const *ids;
	size_t n;
};

static int need_ids(const struct job *job, const char *action, struct err *err)
{
	if (!job->n)
		return err_usage(err, "which one? 'ralph item %s ID'", action);
	for (size_t i = 0; i < job->n; i++)
		if (!items_find(&job->items, job->ids[i]))
			return err_usage(err, "there is no item '%s'", job->ids[i]);
	return 0;
}

/* The named ones, or all. */
static void print_json(const struct job *job, bool named)
{
	_cleanup_str_ struct str out = { 0 };
	size_t n = named ? job->n : job->items.n;

	for (size_t i = 0; i < n; i++) {
		str_add(&out, i ? ",\n " : "\n ");
		add_item_json(&out, &job->items,
			      named ? items_find(&job->items, job->ids[i]) : &job->items.v[i]);
	}
	printf("[%s]\n", out.s ? out.s : "");
}

static int do_list(struct job *job, _unused_ struct err *err)
{
	if (job->args->json)
		print_json(job, false);
	else if (!print_tree(&job->items, stdout))
		printf("There are no tasks.\n");
	return 0;
}

static int do_show(struct job *job, struct err *err)
{
	int r = need_ids(job, "show", err);

	if (r == 0 && job->args->json) {
		print_json(job, true);
		return 0;
	}
	for (size_t i = 0; r == 0 && i < job->n; i++) {
		const struct item *item = items_find(&job->items, job->ids[i]);
		_cleanup_str_ struct str line = { 0 };

		str_addf(&line, "%s  %s  %s  ", item->id, item_status_name(item->status),
			 item->feature);
		str_add_escaped(&line, item->title);
		printf("%s\n", line.s);
		for (size_t j = 0; j < item->n_needs; j++)
			printf("after %s\n", item->needs[j]);
		printf("\n");
		print_plain(item->text);
		printf("\n");
		if (item->notes) {
			printf("\nnotes:\n");
			print_plain(item->notes);
			printf("\n");
		}
		if (item->reason) {
			printf("\nreason: ");
			print_plain(item->reason);
			printf("\n");
		}
		if (item->commit)
			printf("\ncommit %s\n", item->commit);
	}
	return r;
}

static int read_after(struct job *job, struct strv *needs, struct err *err)
{
	struct arena *a = &job->work->arena;
	const char *p = job->args->after;

	while (p && *p) {
		size_t n = strcspn(p, ",");
		char *id = arena_strndup(a, p, n);

		if (!items_find(&job->items, id))
			return err_usage(err, "--after: there is no item '%s'", id);
		strv_add(a, needs, id);
		p += n + (p[n] == ',');
	}
	return 0;
}

static int do_add(struct job *job, struct err *err)
{
	struct strv needs = { 0 };
	struct item item = { .feature = job->feature.name,
			     .title = (char *)job->args->title,
			     .text = (char *)job->args->text,
			     .epic = job->args->epic,
			     .status = ITEM_OPEN };
	const char *id;
	int r = item_check_title(item.title, err);

	if (r == 0)
		r = read_after(job, &needs, err);

	item.needs = needs.v;
	item.n_needs = needs.len;
	if (r == 0)
		r = db_begin(&job->work->db, err);
	if (r == 0)
		r = item_add(&job->work->db, &job->work->arena, &item, &id, err);
	if (r == 0)
		r = db_commit(&job->work->db, err);
	else
		db_rollback(&job->work->db);
	if (r == 0)
		printf("%s\n", id);
	return r;
}

static int move_all(struct job *job, const char *action, const char *from, const char *to,
		    const char *extra, struct err *err)
{
	int r = need_ids(job, action, err);

	for (size_t i = 0; r == 0 && i < job->n; i++) {
		const struct item *item = items_find(&job->items, job->ids[i]);
		_cleanup_str_ struct str sql = { 0 };

		if (!strstr(from, item_status_name(item->status))) {
			r = err_usage(err, "'%s' is %s", item->id, item_status_name(item->status));
			break;
		}
		str_addf(&sql,
			 "UPDATE item SET status = ?, updated = ?%s WHERE id = ? AND status = ?",
			 extra);
		r = db_run(&job->work->db, err, sql.s, "siss", to, db_now(), item->id,
			   item_status_name(item->status));
	}
	return r;
}

static int do_drop(struct job *job, struct err *err)
{
	return move_all(job, "drop", "proposed open blocked question failed", "dropped", "", err);
}

static int do_reopen(struct job *job, struct err *err)
{
	return move_all(job, "reopen", "done blocked question failed dropped", "open",
			", attempts = 0, commit_id = NULL", err);
}

static int do_done(struct job *job, struct err *err)
{
	return move_all(job, "done", "proposed open blocked question failed", "done",
			", reason = NULL", err);
}

static const struct {
	const char *name;
	int (*run)(struct job *job, struct err *err);
} actions[] = { { "list", do_list }, { "show", do_show },     { "add", do_add },
		{ "drop", do_drop }, { "reopen", do_reopen }, { "done", do_done } };

static const char *const *action_words(_unused_ const char *name)
{
	static const char *words[ARRAY_LEN(actions) + 1];

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		words[i] = actions[i].name;
	return words;
}

static int act(struct job *job, const char *word, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (!strcmp(actions[i].name, word))
			return actions[i].run(job, err);
	err_usage(err, "unknown action '%s'", word);
	return err_hint(err, "list, show, add, drop, reopen or done");
}

static int cmd_item(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct item_args args = { 0 };
	struct work work = { 0 };
	struct job job = { .work = &work, .args = &args };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, NULL, NULL, false);
	if (status != CLI_GO_ON)
		return status;
	r = work_feature(&work, args.feature, &job.feature, &err);
	if (r == 0) /* an id says of which feature it is; a list is of one */
		r = items_load(&work.db, rest.n_operands > 1 ? NULL : job.feature.name, &job.items,
			       &err);
	job.ids = rest.operands + (rest.n_operands ? 1 : 0);
	job.n = rest.n_operands ? rest.n_operands - 1 : 0;
	if (r == 0)
		r = act(&job, rest.n_operands ? rest.operands[0] : "list", &err);
	if (r == 0)
		r = work_export(&work, &err);
	if (r == 0)
		say_next_of(&work, job.feature.name);
	items_release(&job.items);
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

#define TEXT(field) .kind = OPT_STRING, .offset = offsetof(struct item_args, field)

static const struct opt opts[] = {
	{ 0, "feature", "NAME", TEXT(feature), .help = "of this feature, not of the one in use" },
	{ 0, "title", "TITLE", TEXT(title), .help = "add: what is to be done" },
	{ 0, "text", "TEXT", TEXT(text), .help = "add: all that its session needs to know" },
	{ 0, "after", "ID,ID", TEXT(after), .help = "add: what must be done before" },
	{ 0, "epic", FLAG(item_args, epic),
	  .help = "add: a heading for tasks, and no task itself" },
	{ 0, "json", FLAG(item_args, json), .help = "list, show: for programs" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_item = {
	.name = "item",
	.section = SECTION_SETTLE,
	.usage = "item [list|show|add|drop|reopen|done] [options] [ID...]",
	.summary = "look at tasks, add, drop, reopen or close them by hand",
	.description = "In a sandbox of ralph's the same word is the agent's only way to the "
		       "tasks: there it "
		       "can list and show them, propose new ones and leave notes.",
	.examples = EXAMPLES("ralph item add --title 'Mend the parser'", "a task of your own",
			     "ralph item reopen k3x9qab", "try it again"),
	.syntax = { opts, .max = -1U, .operand = "ID", .complete = COMPLETE_WORDS,
		    .words = action_words },
	.run = cmd_item,
};
