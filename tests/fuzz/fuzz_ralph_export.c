/* SPDX-License-Identifier: MIT */
/*
 * The records of ralph in a project, which anybody may have written: each line is taken or passed over. Read again they say
 * nothing new, nothing of them runs here, the user can edit the items, and what is written of them makes the same elsewhere.
 */
#include <string.h>

#include "ralph/export.h"
#include "ralph/outline.h"
#include "fuzz.h"

static size_t merge(struct db *db, const char *text, size_t len, size_t *ret_passed)
{
	size_t taken = 0;
	struct err err;

	check(export_merge(db, text, len, false, &taken, ret_passed, &err) == 0);
	check(taken <= len && *ret_passed <= len);
	return taken;
}

/* Takes what his editor shows: any need may be a circle of others', which is his to break. */
static void edit(struct db *db, const char *feature)
{
	_cleanup_str_ struct str text = { 0 };
	struct items items;
	struct err err;

	check(items_load(db, feature, &items, &err) == 0);
	for (size_t i = 0; i < items.n; i++) {
		check(items.v[i].status != ITEM_RUNNING && items.v[i].status != ITEM_LANDING);
		items.v[i].n_needs = 0;
	}
	outline_print(&items, &text);
	check(outline_take(db, feature, text.s, text.len, ITEM_PROPOSED, &err) == 0);
	items_release(&items);
}

/* All features: their records, or through the user's editor. */
static void visit(struct db *db, struct str *out)
{
	struct arena arena = { 0 };
	struct feature *features;
	struct err err;
	size_t n;

	check(feature_list(db, &arena, &features, &n, &err) == 0);
	for (size_t i = 0; i < n; i++)
		if (out)
			check(export_text(db, &features[i], out, &err) == 0);
		else
			edit(db, features[i].name);
	arena_release(&arena);
}

static void empty(struct db *db)
{
	static const char *const tables[] = { "DELETE FROM feature", "DELETE FROM item",
					      "DELETE FROM need" };
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		check(db_run(db, &err, tables[i], "") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_str_ struct str once = { 0 }, twice = { 0 };
	static struct db here, there;
	size_t passed, again;
	struct err err;

	if (!here.handle)
		check(db_open(&here, ":memory:", NULL, &err) == 0 &&
		      db_open(&there, ":memory:", NULL, &err) == 0);
	(void)merge(&here, (const char *)data, size, &passed);
	check(merge(&here, (const char *)data, size, &again) == 0 && again == passed);
	str_add(&once, "");
	str_add(&twice, "");
	visit(&here, &once);
	(void)merge(&there, once.s, once.len, &passed);
	check(!passed);
	visit(&there, &twice);
	check(!strcmp(once.s, twice.s));
	visit(&here, NULL);
	empty(&here);
	empty(&there);
	return 0;
}
