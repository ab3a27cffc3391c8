/* SPDX-License-Identifier: MIT */
/* Questions of an agent's about items: whatever they are, an answer comes and nothing is closed. */
#include <string.h>

#include "ralph/door.h"
#include "ralph/outline.h"
#include "ralph/wire.h"
#include "fuzz.h"

/* In memory, and new each time. */
static void open_db(struct db *db, struct arena *arena)
{
	struct item item = { .id = (char *)"one",
			     .feature = (char *)"f",
			     .title = (char *)"One",
			     .status = ITEM_OPEN };
	const char *id;
	struct err err;

	check(db_open(db, ":memory:", NULL, &err) == 0);
	check(feature_add(db,
			  &(struct feature){ .name = (char *)"f", .spec = (char *)"specs/f.md" },
			  &err) == 0);
	check(item_add(db, arena, &item, &id, &err) == 0);
}

static void print(struct db *db, struct str *out)
{
	struct items items;
	struct err err;

	check(items_load(db, "f", &items, &err) == 0);
	for (size_t i = 0; i < items.n; i++)
		check(items.v[i].status == ITEM_OPEN || items.v[i].status == ITEM_PROPOSED ||
		      items.v[i].status == ITEM_DROPPED);
	outline_print(&items, out);
	items_release(&items);
}

/* What the editor shows is taken as it is, and shown again as the same; 'first' may have blanks at ends of texts. */
static void edit(struct db *db, bool first)
{
	_cleanup_str_ struct str text = { 0 }, again = { 0 };
	struct err err;

	print(db, &text);
	check(outline_take(db, "f", text.s, text.len, ITEM_PROPOSED, &err) == 0);
	print(db, &again);
	if (first)
		edit(db, false);
	else
		check(!strcmp(text.s, again.s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str question = { 0 }, answer = { 0 };
	struct arena arena = { NULL };
	struct db db = { 0 };
	struct door door = { .db = &db, .feature = "f", .item = "one" };
	struct err err;
	int status;

	open_db(&db, &arena);
	str_addn(&question, WIRE_MAGIC, sizeof(WIRE_MAGIC));
	str_addn(&question, size ? (const char *)data : "", size);
	status = door_answer(&door, question.s, question.len, &answer);
	check(status == 0 || status == 2);
	check(door_answer(&door, (const char *)data, size, &answer) >= 0);
	/* What was added can be edited, and what is anybody's text is taken or refused. */
	edit(&db, true);
	if (outline_take(&db, "f", (const char *)data, size, ITEM_PROPOSED, &err) == 0)
		edit(&db, false);
	db_close(&db);
	str_release(&question);
	str_release(&answer);
	arena_release(&arena);
	return 0;
}
