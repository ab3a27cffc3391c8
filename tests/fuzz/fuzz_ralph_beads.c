/* SPDX-License-Identifier: MIT */
/* What bd says of a feature's issues, twice: the second time it says nothing new, nothing that runs here is moved, and each has a title that the
 * user's editor takes back. */
#include <string.h>

#include "ralph/beads.h"
#include "fuzz.h"

static size_t count(struct db *db, bool *ret_runs)
{
	struct items items;
	struct err err;
	size_t n;

	check(items_load(db, "f", &items, &err) == 0);
	n = items.n;
	*ret_runs = items_find(&items, "one") && items_find(&items, "one")->status == ITEM_RUNNING;
	for (size_t i = 0; i < n; i++)
		check(item_check_title(items.v[i].title, &err) == 0 && strlen(items.v[i].id) <= 60);
	items_release(&items);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct work work;
	static struct arena arena;
	const struct feature feature = { .name = (char *)"f", .spec = (char *)"specs/f.md" };
	const struct item item = { .id = (char *)"one",
				   .feature = (char *)"f",
				   .title = (char *)"One",
				   .status = ITEM_RUNNING };
	_cleanup_free_ char *text = strndup((const char *)data, size);
	const char *id;
	struct err err;
	bool runs;
	size_t n;

	if (!work.db.handle) {
		check(db_open(&work.db, ":memory:", NULL, &err) == 0);
		check(feature_add(&work.db, &feature, &err) == 0);
		check(item_add(&work.db, &arena, &item, &id, &err) == 0);
	}
	check(text && db_begin(&work.db, &err) == 0);
	if (beads_take(&work, &feature, text, &err) == 0) {
		n = count(&work.db, &runs);
		check(runs);
		check(beads_take(&work, &feature, text, &err) == 0);
		check(count(&work.db, &runs) == n && runs);
	}
	db_rollback(&work.db);
	return 0;
}
