/* SPDX-License-Identifier: MIT */
/* Tasks as text, and back. */
#include "ralph/outline.h"

#include <errno.h>
#include <string.h>

static bool is_editable(const struct item *item)
{
	return item->status == ITEM_PROPOSED || item->status == ITEM_OPEN;
}

/* A line of a text that would be read as something else is written with one backslash more. */
static bool is_marked(const char *s, size_t n)
{
	while (n && *s == '\\')
		s++, n--;
	return n && (*s == '#' || (n > 6 && !memcmp(s, "after:", 6)));
}

static void add_text(struct str *out, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		if (is_marked(text, n))
			str_add(out, "\\");
		str_addn(out, text, n);
		str_add(out, "\n");
		text += n + (text[n] == '\n');
	}
}

void outline_print(const struct items *items, struct str *out)
{
	str_add(out, "");
	for (size_t i = 0; i < items->n; i++) {
		const struct item *item = &items->v[i];

		if (!is_editable(item))
			continue;
		str_addf(out, "%s %s: %s\n", item->epic ? "#" : "##", item->id, item->title);
		for (size_t j = 0; j < item->n_needs; j++)
			str_addf(out, "%s%s", j ? ", " : "after: ", item->needs[j]);
		str_add(out, item->n_needs ? "\n\n" : "\n");
		add_text(out, item->text);
		str_add(out, "\n");
	}
}

struct reader {
	struct db *db;
	struct arena arena;
	struct items *items;
	const char *feature;
	enum item_status status;
	bool *kept;
	struct item item; /* the section that is being read; id NULL: none */
	bool is_new;
	struct str text;
	int64_t rank;
	unsigned line;
};

static void cut_blanks(const char **s, size_t *n)
{
	while (*n && strchr(" \t\r", (*s)[0]))
		(*s)++, (*n)--;
	while (*n && strchr(" \t\r", (*s)[*n - 1]))
		(*n)--;
}

/* The section that ends here goes into the database. */
static int put(struct reader *r, struct err *err)
{
	const char *id;
	int k;

	if (!r->item.id && !r->is_new)
		return 0;
	while (r->text.len && strchr("\n ", r->text.s[r->text.len - 1]))
		r->text.s[--r->text.len] = '\0';
	r->item.text = r->text.len ? arena_strdup(&r->arena, r->text.s) : NULL;
	r->item.rank = r->rank += 1000;
	r->item.updated = db_now();
	if (r->is_new) {
		k = item_add(r->db, &r->arena, &r->item, &id, err);
		if (k == 0) {
			r->item.id = arena_strdup(&r->arena, id);
			r->item.created = db_now();
		}
	}
	k = item_put(r->db, &r->item, err);
	r->text.len = 0;
	r->item = (struct item){ 0 };
	r->is_new = false;
	return k;
}

static int read_heading(struct reader *r, const char *s, size_t n, struct err *err)
{
	bool epic = n < 2 || s[1] != '#';
	const char *colon = memchr(s, ':', n), *title;
	struct item *known;
	size_t len;
	char *id;
	int k = put(r, err);

	if (k < 0)
		return k;
	s += epic ? 1 : 2;
	if (!colon || colon < s)
		return err_usage(err, "line %u: '## ID: Title' is meant", r->line);
	title = colon + 1;
	len = n - (size_t)(title - (s - (epic ? 1 : 2)));
	n = (size_t)(colon - s);
	cut_blanks(&s, &n);
	cut_blanks(&title, &len);
	if (!len || len > 200)
		return err_usage(err, "line %u: a title has 1 to 200 bytes", r->line);
	id = arena_strndup(&r->arena, s, n);
	known = items_find(r->items, id);
	if (!known && strcmp(id, "new") != 0)
		return err_usage(err,
				 "line %u: there is no item '%.40s'; a new one is '## new: Title'",
				 r->line, id);
	if (known && (!is_editable(known) || r->kept[known - r->items->v]))
		return err_usage(err, "line %u: '%.40s' is %s", r->line, id,
				 is_editable(known) ? "there twice"
						    : item_status_name(known->status));
	if (known)
		r->kept[known - r->items->v] = true;
	r->is_new = !known;
	r->item = known ? *known
			: (struct item){ .feature = (char *)r->feature, .status = r->status };
	r->item.epic = epic;
	r->item.title = arena_strndup(&r->arena, title, len);
	r->item.needs = NULL;
	r->item.n_needs = 0;
	return 0;
}

static int read_after(struct reader *r, const char *s, size_t n, struct err *err)
{
	struct strv needs = { 0 };

	while (n) {
		size_t len = 0;

		while (len < n && s[len] != ',')
			len++;
		{
			const char *id = s;
			size_t id_len = len;

			cut_blanks(&id, &id_len);
			id = arena_strndup(&r->arena, id, id_len);
			if (id_len && !items_find(r->items, id))
				return err_usage(err, "line %u: there is no item '%.40s'", r->line,
						 id);
			if (id_len)
				strv_add(&r->arena, &needs, id);
		}
		s += MIN(len + 1, n);
		n -= MIN(len + 1, n);
	}
	r->item.needs = needs.v;
	r->item.n_needs = needs.len;
	return 0;
}

static int read_line(struct reader *r, const char *s, size_t n, struct err *err)
{
	r->line++;
	if (n && s[0] == '#')
		return read_heading(r, s, n, err);
	if (!r->item.feature) {
		cut_blanks(&s, &n);
		return n ? err_usage(err, "line %u: a text before the first '## ID: Title'",
				     r->line)
			 : 0;
	}
	if (!r->text.len && !r->item.n_needs && n > 6 && !memcmp(s, "after:", 6))
		return read_after(r, s + 6, n - 6, err);
	if (s[0] == '\\' && is_marked(s, n))
		s++, n--;
	if (!r->text.len && !n)
		return 0;
	str_addn(&r->text, s, n);
	str_add(&r->text, "\n");
	return 0;
}

static int drop_others(struct reader *r, struct err *err)
{
	int k = 0;

	for (size_t i = 0; k == 0 && i < r->items->n; i++)
		if (is_editable(&r->items->v[i]) && !r->kept[i])
			k = item_move(r->db, r->items->v[i].id, r->items->v[i].status, ITEM_DROPPED,
				      NULL, err);
	return k;
}

static int take(struct reader *r, const char *text, size_t len, struct err *err)
{
	int k = len && memchr(text, '\0', len) ? err_usage(err, "there is a NUL in the text") : 0;

	while (k == 0 && len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		k = read_line(r, text, n, err);
		n += end ? 1 : 0;
		text += n;
		len -= n;
	}
	if (k == 0)
		k = put(r, err);
	return k < 0 ? k : drop_others(r, err);
}

int outline_take(struct db *db, const char *feature, const char *text, size_t len,
		 enum item_status status, struct err *err)
{
	struct items items = { 0 }, after = { 0 };
	struct reader r = { .db = db, .items = &items, .feature = feature, .status = status };
	int k = db_begin(db, err);

	if (k == 0)
		k = items_load(db, feature, &items, err);
	r.kept = calloc(items.n + 1, sizeof(bool));
	for (size_t i = 0; i < items.n; i++) /* after what is past changing */
		if (!is_editable(&items.v[i]))
			r.rank = MAX(r.rank, items.v[i].rank);
	if (k == 0 && r.kept)
		k = take(&r, text, len, err);
	if (k == 0)
		k = items_load(db, feature, &after, err);
	if (k == 0)
		k = items_check(&after, err);
	if (k == 0)
		k = db_commit(db, err);
	else
		db_rollback(db);
	items_release(&after);
	items_release(&items);
	free(r.kept);
	str_release(&r.text);
	arena_release(&r.arena);
	return k;
}
