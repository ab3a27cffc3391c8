/* SPDX-License-Identifier: MIT */
/* ralph msg: questions that agents left, and the user's answers. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "cli/ralph/ralph.h"

struct msg_args {
	const char *answer;
	bool dismiss, json;
};

static bool waits_for_user(const struct item *item)
{
	return item->status == ITEM_QUESTION || item->status == ITEM_BLOCKED;
}

static void print_one(const struct item *item, bool text)
{
	_cleanup_str_ struct str line = { 0 };

	str_addf(&line, "%s  %-8s  %s  ", item->id, item_status_name(item->status), item->feature);
	str_add_escaped(&line, item->title);
	str_add(&line, "\n    ");
	str_add_escaped(&line, item->reason ? item->reason : "");
	printf("%s\n", line.s);
	if (text && item->text) {
		printf("\n");
		print_plain(item->text);
		printf("\n");
	}
	if (text && item->notes) {
		printf("\nnotes:\n");
		print_plain(item->notes);
		printf("\n");
	}
}

static void list(const struct items *items, bool json)
{
	_cleanup_str_ struct str out = { 0 };
	size_t n = 0;

	str_add(&out, "[");
	for (size_t i = 0; i < items->n; i++) {
		const struct item *item = &items->v[i];

		if (!waits_for_user(item))
			continue;
		str_add(&out, n++ ? ",\n {" : "\n {");
		json_add_member(&out, "id", item->id);
		json_add_member(&out, "feature", item->feature);
		json_add_member(&out, "status", item_status_name(item->status));
		json_add_member(&out, "title", item->title);
		json_add_member(&out, "text", item->reason);
		str_add(&out, "}");
		if (!json)
			print_one(item, false);
	}
	if (json)
		printf("%s]\n", out.s);
	else if (!n)
		printf("Nobody waits for an answer.\n");
	if (!json && n)
		ralph_next("ralph msg ID --answer 'TEXT', or --dismiss");
}

static bool any_waits(const struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		if (waits_for_user(&items->v[i]))
			return true;
	return false;
}

/* The question and its answer go along to the next session. */
static int settle(struct work *work, const struct item *item, const struct msg_args *args,
		  struct err *err)
{
	struct item changed = *item;
	int r;

	if (!waits_for_user(item))
		return err_usage(err, "'%s' waits for no answer: it is %s", item->id,
				 item_status_name(item->status));
	changed.status = ITEM_OPEN;
	changed.updated = db_now();
	if (args->answer)
		changed.answer = (char *)args->answer;
	else
		changed.reason = NULL;
	r = db_begin(&work->db, err);
	if (r == 0)
		r = item_put(&work->db, &changed, err);
	if (r == 0)
		r = db_commit(&work->db, err);
	else
		db_rollback(&work->db);
	if (r == 0)
		r = work_export(work, err);
	if (r == 0) {
		printf("%s is open again.\n", item->id);
		ralph_next("ralph loop %s", item->feature);
	}
	return r;
}

static int cmd_msg(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct msg_args args = { 0 };
	const struct item *item;
	struct work work = { 0 };
	struct items items = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if ((args.answer || args.dismiss) && (!rest.n_operands || (args.answer && args.dismiss)))
		return err_usage(&err, "say which one: 'ralph msg ID --answer TEXT' or --dismiss"),
		       ralph_fail(&err);
	status = ralph_open(&work, NULL, NULL, NULL, false);
	if (status != CLI_GO_ON)
		return status;
	r = items_load(&work.db, NULL, &items, &err);
	item = r == 0 && rest.n_operands ? items_find(&items, rest.operands[0]) : NULL;
	if (r == 0 && rest.n_operands && !item)
		r = err_usage(&err, "there is no item '%s'", rest.operands[0]);
	else if (r == 0 && !item)
		list(&items, args.json);
	else if (r == 0 && (args.answer || args.dismiss))
		r = settle(&work, item, &args, &err);
	else if (r == 0)
		print_one(item, true);
	if (r == 0 && item && !args.answer && !args.dismiss && waits_for_user(item))
		ralph_next("ralph msg %s --answer 'TEXT', or --dismiss", item->id);
	else if (r == 0 && !item && !args.json && !any_waits(&items))
		say_next_of(&work, NULL);
	items_release(&items);
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "answer", "TEXT", .kind = OPT_STRING, .offset = offsetof(struct msg_args, answer),
	  .help = "answer it; the task is open again, and its next session is told" },
	{ 0, "dismiss", FLAG(msg_args, dismiss), .help = "open the task again without an answer" },
	{ 0, "json", FLAG(msg_args, json), .help = "for programs" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_msg = {
	.name = "msg",
	.section = SECTION_SETTLE,
	.usage = "msg [options] [ID]",
	.summary = "questions of agents: list, answer, dismiss",
	.description =
		"Lists the tasks, of all features, whose agent asked something or was blocked.",
	.examples = EXAMPLES("ralph msg", "what they ask",
			     "ralph msg k3x9qab --answer 'the blue one'", "answer one"),
	.syntax = { opts, .max = 1, .operand = "ID" },
	.run = cmd_msg,
};
