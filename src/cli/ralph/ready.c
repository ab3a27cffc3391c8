/* SPDX-License-Identifier: MIT */
/* ralph ready: an agent cuts the spec into tasks, and the user decides about them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/ralph/ralph.h"
#include "os/fs.h"
#include "ralph/outline.h"

struct ready_args {
	const char *agent;
	bool yes, again, edit, verbose;
};

static int render(struct work *work, const struct feature *feature, const struct items *items,
		  struct str *ret, struct err *err)
{
	struct arena *a = &work->arena;
	_cleanup_str_ struct str list = { 0 };
	struct template_var vars[] = {
		{ "FEATURE", feature->name },
		{ "SPEC_PATH", work_spec_inside(a, feature) },
		{ "PINNED", work_pinned(work, a) },
		{ "EXISTING_ITEMS", "" },
	};

	for (size_t i = 0; i < items->n; i++)
		if (items->v[i].status != ITEM_DROPPED)
			str_addf(
				&list, "%s- %s (%s): %s\n",
				list.len
					? ""
					: "These items are there already; add what is missing, and "
					  "no second epic:\n\n",
				items->v[i].id, item_status_name(items->v[i].status),
				items->v[i].title);
	if (list.len)
		vars[3].value = list.s;
	return template_fill(ret, &work->templates, "ready", vars, ARRAY_LEN(vars), err);
}

/* The agent's session. What it proposes is in the database when it ends. */
static int cut(struct work *work, const struct feature *feature, const struct items *items,
	       struct err *err)
{
	_cleanup_str_ struct str prompt = { 0 };
	struct turn turn = {
		.work = work, .phase = PHASE_READY, .who = "ready", .feature = feature
	};
	int r = render(work, feature, items, &prompt, err);

	if (r < 0)
		return r;
	r = turn_run(&turn, prompt.s, err);
	if (r == 0)
		printf("%u items were proposed ($%.2f).\n", turn.added, turn.stream.cost);
	if (r == 0 && turn.verdict != VERDICT_COMPLETE) {
		err_set(err, EIO, "the agent did not finish (%s): %.500s",
			verdict_name(turn.verdict), turn.reason.s ? turn.reason.s : "");
		r = err_hint(err, turn.added
					  ? "'ralph ready' shows what it proposed; --again asks it "
					    "again"
					  : "'ralph logs' shows what it did");
	}
	turn_release(&turn);
	return r;
}

static int edit(struct work *work, const struct feature *feature, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	_cleanup_free_ char *edited = NULL;
	char *path = work_file(work, &work->arena, "tasks.md");
	struct items items = { 0 };
	size_t len = 0;
	int r = items_load(&work->db, feature->name, &items, err);

	if (r < 0)
		return r;
	outline_print(&items, &text);
	items_release(&items);
	r = work_write(work, "tasks.md", text.s, text.len, err);
	if (r == 0)
		r = cli_edit(path, err);
	if (r == 0) {
		r = os_read_file_at(AT_FDCWD, path, 8 << 20, &edited, &len);
		if (r < 0)
			err_errno(err, -r, "reading '%s'", path);
	}
	return r < 0 ? r : outline_take(&work->db, feature->name, edited, len, ITEM_PROPOSED, err);
}

static int accept_items(struct work *work, const struct feature *feature, struct err *err)
{
	struct items items = { 0 };
	int r = items_load(&work->db, feature->name, &items, err);

	if (r == 0)
		r = items_check(&items, err);
	if (r == 0)
		r = db_run(&work->db, err,
			   "UPDATE item SET status = 'open', updated = ? WHERE feature = ? AND "
			   "status = 'proposed'",
			   "is", db_now(), feature->name);
	if (r == 0)
		printf("%d items count now.\n", db_changed(&work->db));
	items_release(&items);
	return r < 0 ? r : work_export(work, err);
}

static int drop(struct work *work, const struct items *items, const char *id, struct err *err)
{
	const struct item *item = items_find(items, id);

	if (!item || (item->status != ITEM_PROPOSED && item->status != ITEM_OPEN))
		return err_usage(err, "there is no task '%s' to drop", id);
	return item_move(&work->db, id, item->status, ITEM_DROPPED, NULL, err);
}

/* "m A B": A comes right before B. */
static int reorder(struct work *work, const struct items *items, const char *id, const char *before,
		   struct err *err)
{
	const struct item *item = items_find(items, id), *other = items_find(items, before);
	int64_t low = 0;

	if (!item || !other || item == other)
		return err_usage(err, "'m ID ID' puts the first before the second");
	for (size_t i = 0; i < items->n; i++)
		if (items->v[i].rank < other->rank && &items->v[i] != item)
			low = MAX(low, items->v[i].rank);
	return db_run(&work->db, err, "UPDATE item SET rank = ?, updated = ? WHERE id = ?", "iis",
		      low + MAX((other->rank - low) / 2, 0), db_now(), id);
}

/* One answer on the terminal: 1: accepted, 0: go on, -EINTR: leave it for later. */
static int answer(struct work *work, const struct feature *feature, const struct items *items,
		  char *line, struct err *err)
{
	char *words[4] = { NULL }, *rest = line;
	size_t n = 0;

	for (char *word; n < 3 && (word = strtok_r(rest, " \t\n", &rest));)
		words[n++] = word;
	if (!n)
		return 0;
	switch (words[0][0]) {
	case 'a':
		return accept_items(work, feature, err) < 0 ? -err->code : 1;
	case 'e':
		return edit(work, feature, err);
	case 'd':
		return n == 2 ? drop(work, items, words[1], err)
			      : err_usage(err, "'d ID' drops one");
	case 'm':
		return n == 3 ? reorder(work, items, words[1], words[2], err)
			      : err_usage(err, "'m ID ID' puts the first before the second");
	case 'q':
		return -EINTR;
	default:
		return err_usage(err, "a, e, d ID, m ID ID or q");
	}
}

static int review(struct work *work, const struct feature *feature, struct err *err)
{
	char line[256];
	int r = 0;

	while (r == 0) {
		struct err mistake = { 0 };
		struct items items = { 0 };

		r = items_load(&work->db, feature->name, &items, err);
		if (r < 0)
			return r;
		print_tree(&items, stdout);
		printf("[a]ccept, [e]dit, [d]rop ID, [m]ove ID before ID, [q]uit: ");
		fflush(stdout);
		r = fgets(line, sizeof(line), stdin) ? answer(work, feature, &items, line, &mistake)
						     : -EINTR;
		items_release(&items);
		if (r < 0 && r != -EINTR) {
			cli_print_err(&mistake);
			r = 0;
		}
	}
	if (r == -EINTR)
		printf("\nThey stay proposals.\n");
	return 0;
}

static int decide(struct work *work, const struct feature *feature, const struct ready_args *args,
		  struct err *err)
{
	struct item_count count;
	struct items items = { 0 };
	int r = args->edit ? edit(work, feature, err) : 0;

	if (r == 0)
		r = items_load(&work->db, feature->name, &items, err);
	if (r < 0)
		return r;
	items_count(&items, &count);
	for (size_t i = 0; i < items.n; i++)
		count.by[ITEM_PROPOSED] += items.v[i].epic && items.v[i].status == ITEM_PROPOSED;
	if (!count.by[ITEM_PROPOSED] || args->yes || !isatty(STDIN_FILENO))
		print_tree(&items, stdout);
	items_release(&items);
	if (count.by[ITEM_PROPOSED] && args->yes)
		r = accept_items(work, feature, err);
	else if (count.by[ITEM_PROPOSED] && isatty(STDIN_FILENO))
		r = review(work, feature, err);
	else if (count.by[ITEM_PROPOSED])
		ralph_next("ralph ready --yes (accept them), --edit, or ralph item drop ID");
	return r;
}

static int ready(struct work *work, const struct feature *feature, const struct ready_args *args,
		 struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct item_count count;
	struct items items = { 0 };
	size_t len;
	int r = work_read_spec(work, feature, &text, &len, err);

	if (r == 0)
		r = items_load(&work->db, feature->name, &items, err);
	if (r < 0)
		return r;
	items_count(&items, &count);
	if (args->again || (!count.total && !count.by[ITEM_PROPOSED]))
		r = cut(work, feature, &items, err);
	items_release(&items);
	return r < 0 ? r : decide(work, feature, args, err);
}

static int cmd_ready(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct ready_args args = { 0 };
	struct feature feature;
	struct work work = { 0 };
	struct items items = { 0 };
	struct err err = { 0 }, other;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, args.agent, &rest, &feature, args.verbose);
	if (status != CLI_GO_ON)
		return status;
	r = ready(&work, &feature, &args, &err);
	if (work_export(&work, r < 0 ? &other : &err) < 0 && r == 0)
		r = -err.code;
	if (r == 0 && items_load(&work.db, feature.name, &items, &err) == 0) {
		struct item_count count;

		items_count(&items, &count);
		if (!count.by[ITEM_PROPOSED])
			say_next(&feature, &items);
		items_release(&items);
	}
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 'y', "yes", FLAG(ready_args, yes), .help = "accept the tasks as they are proposed" },
	{ 'e', "edit", FLAG(ready_args, edit), .help = "edit the tasks as one text first" },
	{ 0, "again", FLAG(ready_args, again), .help = "ask the agent for what is missing" },
	{ 0, "agent", "NAME|PATH", .kind = OPT_STRING, .offset = offsetof(struct ready_args, agent),
	  .complete = COMPLETE_PROGRAM, .help = "the agent that cuts" },
	{ 'v', "verbose", FLAG(ready_args, verbose), .help = "show all that the agent does" },
	HELP,
	{ .kind = OPT_END },
};

#define READY_SYNTAX .syntax = { opts, FEATURE_OPERAND }, .run = cmd_ready

const struct command command_ready = {
	.name = "ready",
	.section = SECTION_MAKE,
	.usage = "ready [options] [FEATURE]",
	.summary = "have an agent cut the spec into tasks, and decide about them",
	.description = "An agent reads the spec and proposes an epic and tasks. They are shown as "
		       "a tree, and you accept, edit, drop or reorder them; none counts before "
		       "that. With proposals there already, it goes straight to the decision.",
	.examples = EXAMPLES("ralph ready", "cut, look, decide", "ralph ready --yes",
			     "take what is proposed", "ralph ready --edit",
			     "change titles, texts and order in your editor"),
	READY_SYNTAX,
};

const struct command command_todo = {
	.name = "todo",
	.section = SECTION_SELF,
	.usage = "todo [options] [FEATURE]",
	.summary = "another name of 'ready'",
	.examples = EXAMPLES("ralph todo", "the same as 'ralph ready'"),
	READY_SYNTAX,
};
