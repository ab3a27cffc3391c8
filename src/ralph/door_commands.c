/* SPDX-License-Identifier: MIT */
/* What 'ralph item' can do inside a sandbox. */
#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "ralph/door.h"
#include "ralph/wire.h"

enum { TEXT_MAX = 20000, NOTE_MAX = 4000, ADDED_MAX = 200, NOTED_MAX = 100 };

struct question {
	struct door *door;
	char *argv[WIRE_ARGS_MAX + 2]; /* argv[0] is the action */
	int argc;
	const char *text; /* from standard input */
};

struct add_args {
	const char *title, *text, *after;
	bool epic;
};

static const char usage[] =
	"ralph item list\n"
	"ralph item show ID\n"
	"ralph item add --title TITLE [--epic] [--after ID,ID] [--text TEXT|-]\n"
	"ralph item note TEXT|-\n";

static int check_text(const char *text, size_t max, struct err *err)
{
	return strlen(text) > max ? err_usage(err, "the text has more than %zu bytes", max) : 0;
}

static void add_line(struct str *out, const struct items *items, const struct item *item)
{
	bool waits = item->status == ITEM_OPEN && !item->epic && !item_is_ready(items, item);

	str_addf(out, "%s  %-8s  %s%s", item->id, waits ? "waits" : item_status_name(item->status),
		 item->epic ? "[epic] " : "", item->title);
	for (size_t i = 0; i < item->n_needs; i++)
		str_addf(out, "%s%s", i ? "," : "  (after ", item->needs[i]);
	str_add(out, item->n_needs ? ")\n" : "\n");
}

static int do_list(struct question *q, struct str *out, struct err *err)
{
	struct items items;
	int r = items_load(q->door->db, q->door->feature, &items, err);

	for (size_t i = 0; r == 0 && i < items.n; i++)
		add_line(out, &items, &items.v[i]);
	if (r == 0)
		items_release(&items);
	return r;
}

static int do_show(struct question *q, struct str *out, struct err *err)
{
	struct items items;
	const struct item *item;
	int r = items_load(q->door->db, q->door->feature, &items, err);

	if (r < 0)
		return r;
	item = items_find(&items, q->argc > 1 ? q->argv[1] : q->door->item);
	if (item) {
		add_line(out, &items, item);
		str_addf(out, "\n%s\n", item->text ? item->text : "");
		if (item->notes)
			str_addf(out, "\nNotes:\n%s\n", item->notes);
	} else {
		r = err_usage(err, "there is no such item; 'ralph item list' lists them");
	}
	items_release(&items);
	return r;
}

static int read_needs(struct question *q, struct arena *arena, const char *after, struct item *item,
		      struct err *err)
{
	struct items items;
	struct strv needs = { 0 };
	int r = items_load(q->door->db, q->door->feature, &items, err);

	while (r == 0 && after && *after) {
		size_t n = strcspn(after, ", ");
		const char *id = arena_strndup(arena, after, n);

		if (n && !items_find(&items, id))
			r = err_usage(err, "--after: there is no item '%.40s'", id);
		else if (n)
			strv_add(arena, &needs, id);
		after += n;
		after += strspn(after, ", ");
	}
	item->needs = needs.v;
	item->n_needs = needs.len;
	items_release(&items);
	return r;
}

static const struct opt add_opts[] = {
	{ 0, "title", "TITLE", .kind = OPT_STRING, .offset = offsetof(struct add_args, title) },
	{ 0, "text", "TEXT", .kind = OPT_STRING, .offset = offsetof(struct add_args, text) },
	{ 0, "after", "IDS", .kind = OPT_STRING, .offset = offsetof(struct add_args, after) },
	{ 0, "epic", .kind = OPT_FLAG, .offset = offsetof(struct add_args, epic) },
	{ .kind = OPT_END },
};

static int add_item(struct question *q, const struct add_args *args, struct str *out,
		    struct err *err)
{
	struct arena arena = { 0 };
	struct item item = {
		.feature = (char *)q->door->feature,
		.title = (char *)args->title,
		.text = (char *)args->text,
		.epic = args->epic,
		.status = ITEM_PROPOSED,
	};
	const char *id;
	int r = db_begin(q->door->db, err);

	if (r == 0)
		r = read_needs(q, &arena, args->after, &item, err);
	if (r == 0)
		r = item_add(q->door->db, &arena, &item, &id, err);
	if (r == 0)
		r = db_commit(q->door->db, err);
	if (r == 0)
		str_addf(out, "%s\n", id);
	else
		db_rollback(q->door->db);
	arena_release(&arena);
	return r;
}

static int do_add(struct question *q, struct str *out, struct err *err)
{
	static const struct opt_syntax syntax = { add_opts };
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct add_args args = { 0 };
	int r = opt_parse(&syntax, &args, q->argc, q->argv, &rest, err);

	if (r == 0 && q->door->added >= ADDED_MAX)
		r = err_usage(err, "a session adds at most %d items", ADDED_MAX);
	if (r == 0)
		r = item_check_title(args.title, err);
	if (args.text && !strcmp(args.text, "-"))
		args.text = q->text;
	if (r == 0 && args.text)
		r = check_text(args.text, TEXT_MAX, err);
	if (r == 0)
		r = add_item(q, &args, out, err);
	q->door->added += r == 0;
	return r;
}

static int do_note(struct question *q, struct str *out, struct err *err)
{
	const char *text = q->argc == 2 ? q->argv[1] : NULL;
	int r = 0;

	if (!q->door->item)
		return err_usage(err, "this session works on no item");
	if (text && !strcmp(text, "-"))
		text = q->text;
	if (!text || !*text)
		return err_usage(err, "a note is one word in quotes, or '-' for standard input");
	if (q->door->noted >= NOTED_MAX)
		return err_usage(err, "a session leaves at most %d notes", NOTED_MAX);
	r = check_text(text, NOTE_MAX, err);
	if (r == 0)
		r = item_note(q->door->db, q->door->item, text, err);
	q->door->noted += r == 0;
	str_add(out, r == 0 ? "noted\n" : "");
	return r;
}

static int do_help(_unused_ struct question *q, struct str *out, _unused_ struct err *err)
{
	str_add(out, usage);
	return 0;
}

/* Cuts the words apart; false for what is no question of ours. */
static bool read_words(struct question *q, struct arena *arena, const char *bytes, size_t len)
{
	char *p = arena_strndup(arena, bytes, len), *end = p + len;

	if (len < sizeof(WIRE_MAGIC) || memcmp(p, WIRE_MAGIC, sizeof(WIRE_MAGIC)) != 0)
		return false;
	for (p += sizeof(WIRE_MAGIC); p < end && *p; p += strlen(p) + 1) {
		if (q->argc == WIRE_ARGS_MAX)
			return false;
		q->argv[q->argc++] = p;
	}
	/* arena_strndup() has ended the text, also where a word was cut off. */
	q->text = p < end ? p + 1 : "";
	return true;
}

int door_answer(struct door *door, const char *question, size_t len, struct str *ret)
{
	static const struct {
		const char *name;
		int (*run)(struct question *q, struct str *out, struct err *err);
	} actions[] = { { "list", do_list }, { "show", do_show }, { "add", do_add },
			{ "note", do_note }, { "help", do_help }, { "--help", do_help } };
	struct question q = { .door = door };
	struct arena arena = { 0 };
	struct err err = { 0 };
	int r = -EINVAL;

	str_add(ret, "");
	if (!read_words(&q, &arena, question, len) || !q.argc)
		err_usage(&err, "what about items?\n%s", usage);
	else
		err_usage(&err, "there is no 'ralph item %.40s'\n%s", q.argv[0], usage);
	for (size_t i = 0; q.argc && i < ARRAY_LEN(actions); i++)
		if (!strcmp(actions[i].name, q.argv[0]))
			r = actions[i].run(&q, ret, &err);
	if (r < 0) {
		ret->len = 0;
		str_addf(ret, "ralph: %s\n", err.msg);
	}
	arena_release(&arena);
	return r < 0 ? 2 : 0;
}
