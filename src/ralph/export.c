/* SPDX-License-Identifier: MIT */
/* The database as lines of JSON, and back. The files may be anybody's: they come with a clone. */
#include "ralph/export.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/sha256.h"
#include "os/dir.h"
#include "os/fs.h"
#include "ralph/lines.h"

enum { EXPORT_MAX = 32 << 20 };

static void add_int(struct str *out, const char *key, int64_t value)
{
	json_add_key(out, key);
	str_addf(out, "%lld", (long long)value);
}

static void add_feature(struct str *out, const struct feature *feature)
{
	_cleanup_str_ struct str line = { 0 };

	str_add(&line, "{");
	json_add_member(&line, "kind", "feature");
	json_add_member(&line, "name", feature->name);
	json_add_member(&line, "spec", feature->spec);
	json_add_member(&line, "title", feature->title);
	add_int(&line, "created", feature->created);
	add_int(&line, "updated", feature->updated);
	str_addf(out, "%s}\n", line.s);
}

/* What runs here is open for everybody else, and what somebody says to run runs not here. */
static enum item_status shared_status(enum item_status status)
{
	return status == ITEM_RUNNING || status == ITEM_LANDING ? ITEM_OPEN : status;
}

static void add_item(struct str *out, const struct item *item)
{
	_cleanup_str_ struct str line = { 0 };

	str_add(&line, "{");
	json_add_member(&line, "kind", item->epic ? "epic" : "task");
	json_add_member(&line, "id", item->id);
	json_add_member(&line, "feature", item->feature);
	json_add_member(&line, "title", item->title);
	json_add_member(&line, "status", item_status_name(shared_status(item->status)));
	json_add_member(&line, "text", item->text);
	if (item->n_needs) {
		json_add_key(&line, "needs");
		for (size_t i = 0; i < item->n_needs; i++) {
			str_add(&line, i ? ", " : "[");
			json_add_string(&line, item->needs[i]);
		}
		str_add(&line, "]");
	}
	add_int(&line, "rank", item->rank);
	add_int(&line, "attempts", item->attempts);
	json_add_member(&line, "notes", item->notes);
	json_add_member(&line, "reason", item->reason);
	json_add_member(&line, "answer", item->answer);
	json_add_member(&line, "commit", item->commit);
	add_int(&line, "created", item->created);
	add_int(&line, "updated", item->updated);
	str_addf(out, "%s}\n", line.s);
}

/* By time of birth: a new item is a new line at the end, whatever its rank. */
static int by_birth(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->created != y->created)
		return x->created < y->created ? -1 : 1;
	return strcmp(x->id, y->id);
}

int export_text(struct db *db, const struct feature *feature, struct str *out, struct err *err)
{
	struct items items;
	int r = items_load(db, feature->name, &items, err);

	if (r < 0)
		return r;
	add_feature(out, feature);
	if (items.n)
		qsort(items.v, items.n, sizeof(*items.v), by_birth);
	for (size_t i = 0; i < items.n; i++)
		add_item(out, &items.v[i]);
	items_release(&items);
	return 0;
}

struct merge {
	struct db *db;
	struct arena arena;
	struct items items;
	struct feature *features;
	size_t n_features;
	size_t taken, passed;
	bool hidden; /* of the files beside hidden specs */
	int r;
	struct err *err;
};

static char *text_of(struct merge *merge, struct json_object *record, const char *key)
{
	struct json_object *value = json_object_object_get(record, key);

	return json_object_is_type(value, json_type_string)
		       ? arena_strdup(&merge->arena, json_object_get_string(value))
		       : NULL;
}

static int64_t int_of(struct json_object *record, const char *key)
{
	struct json_object *value = json_object_object_get(record, key);

	return json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : 0;
}

static bool is_id(const char *id)
{
	size_t n = id ? strlen(id) : 0;

	return n && n <= 60 && strcmp(id, "new") != 0 &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

static struct feature *find_feature(const struct merge *merge, const char *name)
{
	for (size_t i = 0; i < merge->n_features; i++)
		if (!strcmp(merge->features[i].name, name))
			return &merge->features[i];
	return NULL;
}

static bool merge_feature(struct merge *merge, struct json_object *record)
{
	struct feature *have;
	struct feature f = {
		.name = text_of(merge, record, "name"),
		.spec = text_of(merge, record, "spec"),
		.title = text_of(merge, record, "title"),
		.hidden = merge->hidden,
		.created = int_of(record, "created"),
		.updated = int_of(record, "updated"),
	};
	struct err ignored;

	if (!f.name || !f.spec || feature_check_name(f.name, &ignored) < 0 || f.spec[0] == '/' ||
	    strstr(f.spec, ".."))
		return false;
	have = find_feature(merge, f.name);
	/* A file of the project does not speak for a hidden feature. */
	if (have && (have->updated >= f.updated || (have->hidden && !merge->hidden)))
		return true;
	if (have) {
		f.hidden = have->hidden;
		f.reviews = have->reviews;
	}
	merge->r = feature_add(merge->db, &f, merge->err);
	/* The same name may come again. */
	if (!have)
		have = arena_grow(&merge->arena, &merge->features, &merge->n_features,
				  sizeof(*have));
	*have = f;
	merge->taken++;
	return true;
}

static void read_needs(struct merge *merge, struct json_object *record, struct item *item)
{
	struct json_object *list = json_object_object_get(record, "needs");
	struct strv needs = { 0 };

	if (!json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list) && i < 1000; i++) {
		const char *id = json_object_get_string(json_object_array_get_idx(list, i));

		if (is_id(id))
			strv_add(&merge->arena, &needs, id);
	}
	item->needs = needs.v;
	item->n_needs = needs.len;
}

static bool merge_item(struct merge *merge, struct json_object *record, bool epic)
{
	const struct item *have;
	struct item item = {
		.id = text_of(merge, record, "id"),
		.feature = text_of(merge, record, "feature"),
		.title = item_title_of(&merge->arena, text_of(merge, record, "title")),
		.text = text_of(merge, record, "text"),
		.epic = epic,
		.status = shared_status(item_status_of(text_of(merge, record, "status"))),
		.rank = int_of(record, "rank"),
		.attempts = int_of(record, "attempts"),
		.notes = text_of(merge, record, "notes"),
		.reason = text_of(merge, record, "reason"),
		.answer = text_of(merge, record, "answer"),
		.commit = text_of(merge, record, "commit"),
		.created = int_of(record, "created"),
		.updated = int_of(record, "updated"),
	};
	struct err ignored;

	if (!is_id(item.id) || !item.title || !item.feature ||
	    feature_check_name(item.feature, &ignored) < 0 || item.status == ITEM_STATUS_COUNT)
		return false;
	have = items_find(&merge->items, item.id);
	if (have && (have->updated >= item.updated || have->status == ITEM_RUNNING ||
		     have->status == ITEM_LANDING))
		return true;
	read_needs(merge, record, &item);
	merge->r = item_put(merge->db, &item, merge->err);
	if (merge->r == 0) { /* the same id may come again */
		struct item *known = have ? items_find(&merge->items, item.id)
					  : arena_grow(&merge->items.arena, &merge->items.v,
						       &merge->items.n, sizeof(*known));

		*known = item;
	}
	merge->taken++;
	return true;
}

static void on_line(void *ctx, const char *line, size_t len)
{
	_cleanup_json_ struct json_object *record = NULL;
	struct merge *merge = ctx;
	struct err ignored;
	const char *kind;
	bool known = false;

	if (merge->r < 0 || !len)
		return;
	if (line && json_parse(line, len, "ralph", &record, &ignored) == 0 &&
	    json_object_is_type(record, json_type_object)) {
		kind = text_of(merge, record, "kind");
		if (kind && !strcmp(kind, "feature"))
			known = merge_feature(merge, record);
		else if (kind && (!strcmp(kind, "task") || !strcmp(kind, "epic")))
			known = merge_item(merge, record, !strcmp(kind, "epic"));
	}
	merge->passed += !known; /* a mark of git's, or of a later version */
}

int export_merge(struct db *db, const char *text, size_t len, bool hidden, size_t *ret_taken,
		 size_t *ret_passed, struct err *err)
{
	struct merge merge = { .db = db, .hidden = hidden, .err = err };
	struct lines lines = { .on_line = on_line, .ctx = &merge };

	merge.r = items_load(db, NULL, &merge.items, err);
	if (merge.r == 0)
		merge.r = feature_list(db, &merge.arena, &merge.features, &merge.n_features, err);
	if (merge.r == 0) {
		lines_feed(&lines, text, len);
		lines_end(&lines);
	}
	*ret_taken = merge.taken;
	*ret_passed = merge.passed;
	lines_release(&lines);
	items_release(&merge.items);
	arena_release(&merge.arena);
	return merge.r;
}

/* What the file was when we wrote or read it last. */
static char *mark_of(struct arena *arena, const char *name)
{
	return arena_printf(arena, "exported:%s", name);
}

static int read_one(struct db *db, struct arena *arena, int dir, const char *name, bool hidden,
		    struct err *err)
{
	_cleanup_free_ char *text = NULL;
	char sum[SHA256_HEX], *known;
	size_t len, taken, passed;
	int r = os_read_file_at(dir, name, EXPORT_MAX, &text, &len);

	if (r < 0)
		return r == -ENOENT ? 0 : err_errno(err, -r, "reading '%s/%s'", EXPORT_DIR, name);
	sha256_hex(text, len, sum);
	r = db_get(db, arena, mark_of(arena, name), &known, err);
	if (r < 0 || (known && !strcmp(known, sum)))
		return r;
	r = db_begin(db, err);
	if (r == 0)
		r = export_merge(db, text, len, hidden, &taken, &passed, err);
	if (r == 0)
		r = db_set(db, mark_of(arena, name), sum, err);
	if (r == 0)
		return db_commit(db, err);
	db_rollback(db);
	return r;
}

static int read_all(struct db *db, struct arena *arena, int dir, bool hidden, struct err *err)
{
	_cleanup_dir_ DIR *list = os_dir_open(dir, ".");
	struct dirent *entry;
	int r = 0;

	if (!list)
		return err_errno(err, errno, "reading '%s'", EXPORT_DIR);
	while (r == 0 && (entry = os_dir_next(list))) {
		size_t n = strlen(entry->d_name);

		if (n > 6 && !strcmp(entry->d_name + n - 6, ".jsonl"))
			r = read_one(db, arena, dir, entry->d_name, hidden, err);
	}
	return r;
}

static int write_one(struct db *db, struct arena *arena, int dir, const struct feature *feature,
		     struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	char sum[SHA256_HEX], *known, *name = arena_printf(arena, "%s.jsonl", feature->name);
	int r = export_text(db, feature, &text, err);

	if (r < 0)
		return r;
	sha256_hex(text.s, text.len, sum);
	r = db_get(db, arena, mark_of(arena, name), &known, err);
	if (r < 0 || (known && !strcmp(known, sum) && faccessat(dir, name, F_OK, 0) == 0))
		return r;
	r = os_write_file_soon(dir, name, text.s, text.len, 0644, err);
	if (r < 0)
		return r;
	db_relax(db, true); /* without the mark the file is read once more */
	r = db_set(db, mark_of(arena, name), sum, err);
	db_relax(db, false);
	return r;
}

static int write_attributes(int dir, struct err *err)
{
	static const char text[] = "*.jsonl merge=union\n";

	if (faccessat(dir, ".gitattributes", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return os_write_file_atomic(dir, ".gitattributes", text, strlen(text), 0644, err);
}

int export_sync(struct db *db, const struct site *site, struct err *err)
{
	struct arena arena = { 0 };
	struct feature *features = NULL;
	_cleanup_close_ int own = -1, hidden = open(path_join(&arena, site->state, "specs"),
						    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t n = 0;
	int r = 0;

	own = site_open_dir(site, EXPORT_DIR, false, err);
	if (own >= 0)
		r = read_all(db, &arena, own, false, err);
	if (r == 0 && hidden >= 0)
		r = read_all(db, &arena, hidden, true, err);
	if (r == 0)
		r = feature_list(db, &arena, &features, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!features[i].hidden && own < 0) {
			own = site_open_dir(site, EXPORT_DIR, true, err);
			r = own < 0 ? own : write_attributes(own, err);
		}
		if (r == 0)
			r = write_one(db, &arena, features[i].hidden ? hidden : own, &features[i],
				      err);
	}
	arena_release(&arena);
	return r;
}
