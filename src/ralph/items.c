/* SPDX-License-Identifier: MIT */
/* Items: what is to be done, in which order, and how far it is. */
#include "ralph/items.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/str.h"

static const char *const status_names[] = { "proposed", "open",     "running", "landing", "done",
					    "blocked",  "question", "failed",  "dropped" };

const char *item_status_name(enum item_status status)
{
	return status_names[status];
}

enum item_status item_status_of(const char *name)
{
	enum item_status status = 0;

	while (status < ITEM_STATUS_COUNT && (!name || strcmp(status_names[status], name)))
		status++;
	return status;
}

int item_check_title(const char *title, struct err *err)
{
	_cleanup_str_ struct str escaped = { 0 };

	if (!title || !title[strspn(title, " ")])
		return err_usage(err, "an item needs a --title");
	if (strlen(title) > ITEM_TITLE_MAX)
		return err_usage(err, "the title has more than %d bytes", ITEM_TITLE_MAX);
	str_add_line(&escaped, title);
	if (strcmp(escaped.s, title) != 0 || strchr(title, '\t'))
		return err_usage(err, "the title is one line of plain text");
	return 0;
}

char *item_title_of(struct arena *arena, const char *text)
{
	_cleanup_str_ struct str out = { 0 };
	size_t lead, n;
	uint32_t cp;

	str_add(&out, "");
	for (; text && *text; text += MAX(n, (size_t)1)) {
		n = utf8_next(text, SIZE_MAX, &cp);
		if (out.len + MAX(n, (size_t)1) > ITEM_TITLE_MAX)
			break;
		if (n && utf8_visible(cp))
			str_addn(&out, text, n);
		else
			str_add(&out, " ");
	}
	while (out.len && out.s[out.len - 1] == ' ')
		out.s[--out.len] = '\0';
	lead = strspn(out.s, " ");
	return out.s[lead] ? arena_strdup(arena, out.s + lead) : NULL;
}

#define COLUMNS                                                                             \
	"id, feature, title, text, epic, status, rank, attempts, created, updated, notes, " \
	"reason, answer, commit_id"

static void on_item(void *ctx, struct sqlite3_stmt *row)
{
	struct items *items = ctx;
	struct arena *a = &items->arena;
	struct item *item = arena_grow(a, &items->v, &items->n, sizeof(*item));
	char *status = row_text(a, row, 5);

	*item = (struct item){
		.id = row_text(a, row, 0),
		.feature = row_text(a, row, 1),
		.title = row_text(a, row, 2),
		.text = row_text(a, row, 3),
		.epic = row_int(row, 4),
		.status = item_status_of(status),
		.rank = row_int(row, 6),
		.attempts = row_int(row, 7),
		.created = row_int(row, 8),
		.updated = row_int(row, 9),
		.notes = row_text(a, row, 10),
		.reason = row_text(a, row, 11),
		.answer = row_text(a, row, 12),
		.commit = row_text(a, row, 13),
	};
	if (item->status == ITEM_STATUS_COUNT)
		item->status = ITEM_FAILED;
}

static void on_need(void *ctx, struct sqlite3_stmt *row)
{
	struct items *items = ctx;
	char *id = row_text(&items->arena, row, 0);
	struct item *item = items_find(items, id);
	struct strv needs;

	if (!item)
		return;
	needs = (struct strv){ item->needs, item->n_needs };
	strv_add(&items->arena, &needs, row_text(&items->arena, row, 1));
	item->needs = needs.v;
	item->n_needs = needs.len;
}

int items_load(struct db *db, const char *feature, struct items *ret, struct err *err)
{
	int r;

	*ret = (struct items){ 0 };
	r = db_do(db, on_item, ret, err,
		  "SELECT " COLUMNS " FROM item WHERE feature = ifnull(?, feature) "
		  "ORDER BY feature, rank, created, id",
		  "s", feature);
	if (r == 0)
		r = db_do(db, on_need, ret, err,
			  "SELECT item, other FROM need ORDER BY item, other", "");
	if (r < 0)
		items_release(ret);
	return r;
}

void items_release(struct items *items)
{
	arena_release(&items->arena);
	*items = (struct items){ 0 };
}

struct item *items_find(const struct items *items, const char *id)
{
	for (size_t i = 0; id && i < items->n; i++)
		if (!strcmp(items->v[i].id, id))
			return &items->v[i];
	return NULL;
}

/* Short enough to type, and never one that another clone of the project has made. */
static char *new_id(struct arena *arena)
{
	static const char digits[] = "abcdefghjkmnpqrstuvwxyz23456789";
	unsigned char random[7];
	char id[sizeof(random) + 1];

	while (getentropy(random, sizeof(random)) < 0)
		;
	for (size_t i = 0; i < sizeof(random); i++)
		id[i] = digits[random[i] % (sizeof(digits) - 1)];
	id[sizeof(random)] = '\0';
	return arena_strdup(arena, id);
}

static int put_needs(struct db *db, const struct item *item, struct err *err)
{
	int r = db_run(db, err, "DELETE FROM need WHERE item = ?", "s", item->id);

	for (size_t i = 0; r == 0 && i < item->n_needs; i++)
		r = db_run(db, err, "INSERT OR IGNORE INTO need VALUES (?, ?)", "ss", item->id,
			   item->needs[i]);
	return r;
}

int item_put(struct db *db, const struct item *item, struct err *err)
{
	int r = db_run(db, err,
		       "INSERT OR REPLACE INTO item (" COLUMNS
		       ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		       "ssssisiiiissss", item->id, item->feature, item->title, item->text,
		       (int64_t)item->epic, item_status_name(item->status), item->rank,
		       item->attempts, item->created, item->updated, item->notes, item->reason,
		       item->answer, item->commit);

	return r < 0 ? r : put_needs(db, item, err);
}

static void on_rank(void *ctx, struct sqlite3_stmt *row)
{
	*(int64_t *)ctx = row_int(row, 0);
}

int item_add(struct db *db, struct arena *arena, const struct item *item, const char **ret_id,
	     struct err *err)
{
	struct item new = *item;
	int64_t rank = 0;
	int r = db_do(db, on_rank, &rank, err,
		      "SELECT ifnull(max(rank), 0) FROM item WHERE feature = ?", "s",
		      item->feature);

	if (r < 0)
		return r;
	new.id = item->id ? item->id : new_id(arena);
	new.rank = rank + 1000;
	new.created = new.updated = db_now();
	*ret_id = new.id;
	return item_put(db, &new, err);
}

int item_note(struct db *db, const char *id, const char *note, struct err *err)
{
	return db_run(db, err,
		      "UPDATE item SET notes = substr(ifnull(notes || char(10), '') || ?, -20000), "
		      "updated = ? WHERE id = ?",
		      "sis", note, db_now(), id);
}

int item_move(struct db *db, const char *id, enum item_status from, enum item_status to,
	      const char *reason, struct err *err)
{
	int r = db_run(db, err,
		       "UPDATE item SET status = ?, reason = ?, updated = ? WHERE id = ? AND "
		       "status = ?",
		       "ssiss", item_status_name(to), reason, db_now(), id, item_status_name(from));

	if (r == 0 && !db_changed(db))
		return err_set(err, ESTALE, "the item '%s' is no longer %s", id,
			       item_status_name(from));
	return r;
}

bool item_is_ready(const struct items *items, const struct item *item)
{
	if (item->status != ITEM_OPEN || item->epic)
		return false;
	for (size_t i = 0; i < item->n_needs; i++) {
		const struct item *other = items_find(items, item->needs[i]);

		if (other && !other->epic && other->status != ITEM_DONE &&
		    other->status != ITEM_DROPPED)
			return false;
	}
	return true;
}

void items_count(const struct items *items, struct item_count *ret)
{
	*ret = (struct item_count){ 0 };
	for (size_t i = 0; i < items->n; i++) {
		const struct item *item = &items->v[i];

		if (item->epic || item->status == ITEM_DROPPED)
			continue;
		ret->total += item->status != ITEM_PROPOSED;
		ret->by[item->status]++;
		ret->ready += item_is_ready(items, item);
	}
}

/* True when 'item' waits for 'target', however far. marks[i] is set once the i-th was looked at. */
static bool leads_to(const struct items *items, const struct item *item, const char *target,
		     bool *marks)
{
	for (size_t i = 0; i < item->n_needs; i++) {
		const struct item *other = items_find(items, item->needs[i]);

		if (!strcmp(item->needs[i], target))
			return true;
		if (!other || marks[other - items->v])
			continue;
		marks[other - items->v] = true;
		if (leads_to(items, other, target, marks))
			return true;
	}
	return false;
}

int items_check(const struct items *items, struct err *err)
{
	_cleanup_free_ bool *marks = calloc(items->n + 1, sizeof(*marks));

	for (size_t i = 0; marks && i < items->n; i++) {
		const struct item *item = &items->v[i];

		for (size_t j = 0; j < item->n_needs; j++)
			if (!items_find(items, item->needs[j]))
				return err_usage(err, "'%s' waits for '%s', which is nowhere",
						 item->id, item->needs[j]);
		memset(marks, 0, items->n);
		if (leads_to(items, item, item->id, marks)) {
			err_usage(err, "'%s' (%.80s) waits for itself, by way of '%s'", item->id,
				  item->title, item->needs[0]);
			err->code = ELOOP;
			return -ELOOP;
		}
	}
	return 0;
}
