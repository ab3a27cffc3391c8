/* SPDX-License-Identifier: MIT */
/* Features: a name, a spec, and what belongs to it. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "ralph/items.h"

int feature_check_name(const char *name, struct err *err)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	_cleanup_str_ struct str shown = { 0 };
	size_t len = strlen(name);

	if (len && len <= 60 && strchr(first, name[0]) &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len && !strstr(name, ".."))
		return 0;
	err_usage(err, "%s is no name for a feature", str_quote(&shown, name));
	return err_hint(err, "small letters, digits, '-', '_' and '.', as 'dark-mode'");
}

int feature_add(struct db *db, const struct feature *feature, struct err *err)
{
	return db_run(
		db, err,
		"INSERT OR REPLACE INTO feature (name, spec, hidden, title, reviews, created, "
		"updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
		"ssisiii", feature->name, feature->spec, (int64_t)feature->hidden, feature->title,
		feature->reviews, feature->created ? feature->created : db_now(),
		feature->updated ? feature->updated : db_now());
}

struct list {
	struct arena *arena;
	struct feature *v;
	size_t n;
};

static void on_feature(void *ctx, struct sqlite3_stmt *row)
{
	struct list *list = ctx;
	struct feature *f = arena_grow(list->arena, &list->v, &list->n, sizeof(*f));

	*f = (struct feature){
		.name = row_text(list->arena, row, 0),
		.spec = row_text(list->arena, row, 1),
		.hidden = row_int(row, 2),
		.title = row_text(list->arena, row, 3),
		.reviews = row_int(row, 4),
		.created = row_int(row, 5),
		.updated = row_int(row, 6),
	};
}

int feature_list(struct db *db, struct arena *arena, struct feature **ret, size_t *ret_n,
		 struct err *err)
{
	struct list list = { .arena = arena };
	int r = db_do(db, on_feature, &list, err,
		      "SELECT name, spec, hidden, title, reviews, created, updated FROM feature "
		      "ORDER BY created, name",
		      "");

	*ret = list.v;
	*ret_n = list.n;
	return r;
}

int feature_find(struct db *db, struct arena *arena, const char *name, struct feature *ret,
		 struct err *err)
{
	_cleanup_str_ struct str names = { 0 }, shown = { 0 };
	struct feature *list;
	size_t n;
	int r = feature_list(db, arena, &list, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!strcmp(list[i].name, name)) {
			*ret = list[i];
			return 0;
		}
		str_addf(&names, "%s%s", i ? ", " : "", list[i].name);
	}
	if (r < 0)
		return r;
	err_usage(err, "there is no feature %s", str_quote(&shown, name));
	err->code = ENOENT;
	return n ? err_hint(err, "there is: %s", names.s)
		 : err_hint(err, "'ralph start NAME' begins one");
}

int feature_touch(struct db *db, const char *name, const char *title, struct err *err)
{
	return db_run(db, err,
		      "UPDATE feature SET title = ifnull(?, title), updated = ? WHERE name = ?",
		      "sis", title, db_now(), name);
}

int feature_count_review(struct db *db, const char *name, int64_t reviews, struct err *err)
{
	return db_run(db, err, "UPDATE feature SET reviews = ?, updated = ? WHERE name = ?", "iis",
		      reviews, db_now(), name);
}
