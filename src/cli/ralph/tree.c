/* SPDX-License-Identifier: MIT */
/* Items as a tree: epics, and below them the tasks, each after what it waits for; and one of them for programs. */
#include <string.h>

#include "base/json.h"
#include "cli/ralph/ralph.h"

static const struct {
	const char *mark, *color;
} marks[ITEM_STATUS_COUNT] = {
	[ITEM_PROPOSED] = { "?", "33" }, [ITEM_OPEN] = { " ", "0" },
	[ITEM_RUNNING] = { ">", "36" },  [ITEM_LANDING] = { ">", "36" },
	[ITEM_DONE] = { "x", "32" },     [ITEM_BLOCKED] = { "!", "31" },
	[ITEM_QUESTION] = { "?", "35" }, [ITEM_FAILED] = { "!", "31" },
	[ITEM_DROPPED] = { "-", "2" },
};

static void add_remark(struct str *out, const struct items *items, const struct item *item)
{
	bool first = true;

	if (item->status != ITEM_OPEN && item->status != ITEM_DONE)
		str_addf(out, "  %s", item_status_name(item->status));
	if (item->status == ITEM_OPEN && item->attempts)
		str_addf(out, "  tried %lld times", (long long)item->attempts);
	for (size_t i = 0; item->status != ITEM_DONE && i < item->n_needs; i++) {
		const struct item *other = items_find(items, item->needs[i]);

		if (other && (other->epic || other->status == ITEM_DONE))
			continue;
		str_addf(out, "%s%s", first ? "  after " : ", ", item->needs[i]);
		first = false;
	}
	if (item->reason && (item->status == ITEM_QUESTION || item->status == ITEM_BLOCKED ||
			     item->status == ITEM_FAILED)) {
		str_add(out, "\n        ");
		str_add_escaped(out, item->reason);
	}
}

static void print_item(const struct items *items, const struct item *item, FILE *file)
{
	_cleanup_str_ struct str out = { 0 };
	bool color = cli_color(file);

	if (item->epic) {
		str_addf(&out, "%s  ", item->id);
		str_add_escaped(&out, item->title);
	} else {
		str_addf(&out, "  [%s] %s  ", marks[item->status].mark, item->id);
		str_add_escaped(&out, item->title);
		add_remark(&out, items, item);
	}
	if (color)
		fprintf(file, "\x1b[%sm%s\x1b[0m\n", item->epic ? "1" : marks[item->status].color,
			out.s);
	else
		fprintf(file, "%s\n", out.s);
}

size_t print_tree(const struct items *items, FILE *out)
{
	size_t shown = 0;

	for (int tasks = 0; tasks < 2; tasks++)
		for (size_t i = 0; i < items->n; i++) {
			if (items->v[i].epic == tasks || items->v[i].status == ITEM_DROPPED)
				continue;
			print_item(items, &items->v[i], out);
			shown++;
		}
	return shown;
}

void add_progress(struct str *out, const struct item_count *count)
{
	enum { WIDTH = 20 };
	size_t done = count->by[ITEM_DONE], n = count->total ? done * WIDTH / count->total : 0;

	str_add(out, "[");
	for (size_t i = 0; i < WIDTH; i++)
		str_add(out, i < n ? "#" : "-");
	str_addf(out, "] %zu%% (%zu/%zu)", count->total ? done * 100 / count->total : 0, done,
		 count->total);
}

void say_next(const struct feature *feature, const struct items *items)
{
	struct item_count count;

	items_count(items, &count);
	if (count.by[ITEM_QUESTION] || count.by[ITEM_BLOCKED])
		ralph_next("ralph msg (what agents asked)");
	else if (count.by[ITEM_PROPOSED])
		ralph_next("ralph ready (look at the tasks that agents proposed)");
	else if (!count.total)
		ralph_next("ralph plan, then ralph ready");
	else if (count.by[ITEM_DONE] == count.total)
		ralph_next("ralph check (a reviewer), ralph report, ralph spec");
	else if (count.ready)
		ralph_next("ralph loop (or ralph step, for one task)");
	else if (count.by[ITEM_FAILED])
		ralph_next("ralph logs (why), then ralph item reopen ID");
	else
		ralph_next("ralph status %s", feature->name);
}

void say_next_of(struct work *work, const char *name)
{
	struct feature feature;
	struct items items;
	struct err ignored; /* without a feature there is nothing to say */

	if (work_feature(work, name, &feature, &ignored) < 0 ||
	    items_load(&work->db, feature.name, &items, &ignored) < 0)
		return;
	say_next(&feature, &items);
	items_release(&items);
}

void add_item_json(struct str *out, const struct items *items, const struct item *item)
{
	str_add(out, "{");
	json_add_member(out, "id", item->id);
	json_add_member(out, "kind", item->epic ? "epic" : "task");
	json_add_member(out, "feature", item->feature);
	json_add_member(out, "title", item->title);
	json_add_member(out, "text", item->text);
	json_add_member(out, "notes", item->notes);
	json_add_member(out, "status", item_status_name(item->status));
	json_add_key(out, "ready");
	str_add(out, item_is_ready(items, item) ? "true" : "false");
	json_add_count(out, "attempts", (uint64_t)item->attempts);
	json_add_member(out, "reason", item->reason);
	json_add_member(out, "answer", item->answer);
	json_add_member(out, "commit", item->commit);
	json_add_key(out, "needs");
	str_add(out, "[");
	for (size_t i = 0; i < item->n_needs; i++) {
		str_add(out, i ? "," : "");
		json_add_string(out, item->needs[i]);
	}
	str_add(out, "]}");
}
