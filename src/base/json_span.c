/* SPDX-License-Identifier: MIT */
/* JSON with the place of every value: one pass over the words of json_lex.h into a flat array. */
#include "base/json_span.h"

#include <string.h>

#include "base/json.h"
#include "base/json_lex.h"

struct scan {
	struct json_lex lex;
	struct json_doc *doc;
};

static int scan_value(struct scan *s, uint32_t *ret);

static uint32_t offset_of(const struct scan *s)
{
	return (uint32_t)(s->lex.p - s->lex.text);
}

/* Values come in order, so each place is counted from the last one. */
static void place(struct json_doc *doc, struct json_span *span)
{
	for (; doc->counted < span->start; doc->counted++) {
		if (doc->text[doc->counted] == '\n') {
			doc->line++;
			doc->column = 1;
		} else {
			doc->column += (doc->text[doc->counted] & 0xc0) != 0x80;
		}
	}
	span->line = doc->line;
	span->column = doc->column;
}

/* The span's index; the array may move with every new one. */
static int new_span(struct scan *s, uint32_t *ret)
{
	struct json_doc *doc = s->doc;
	struct json_span *span;

	if (doc->n_spans >= JSON_SPAN_MAX)
		return json_lex_fail(&s->lex, "too many values");
	*ret = (uint32_t)doc->n_spans;
	span = arena_grow(&doc->arena, &doc->spans, &doc->n_spans, sizeof(*span));
	*span = (struct json_span){ .start = offset_of(s) };
	place(doc, span);
	return 0;
}

static int scan_string(struct scan *s, const char **ret)
{
	_cleanup_str_ struct str text = { 0 };
	int r = json_lex_string(&s->lex, &text);

	if (r == 0)
		*ret = arena_strndup(&s->doc->arena, text.s, text.len);
	return r;
}

/* "key":, with the key's place. */
static int scan_key(struct scan *s, struct json_span *ret)
{
	int r;

	if (!json_lex_at(&s->lex, '"'))
		return json_lex_fail(&s->lex, "expected a key in double quotes");
	ret->key_start = offset_of(s);
	r = scan_string(s, &ret->key);
	ret->key_end = offset_of(s);
	if (r == 0)
		r = json_lex_space(&s->lex);
	if (r == 0 && !json_lex_take(&s->lex, ":"))
		r = json_lex_fail(&s->lex, "expected ':' after the key");
	return r < 0 ? r : json_lex_space(&s->lex);
}

static int by_key(const void *a, const void *b)
{
	const struct json_span *x = *(const struct json_span *const *)a,
			       *y = *(const struct json_span *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->key_start > y->key_start) - (x->key_start < y->key_start);
}

static int refuse_twice(struct scan *s, const struct json_span *object)
{
	const struct json_span **list, *c;
	size_t n = 0;
	int r = 0;

	if (object->count < 2)
		return 0;
	list = calloc(object->count, sizeof(struct json_span *));
	if (!list)
		abort();
	for (c = json_span_first(s->doc, object); c; c = json_span_next(s->doc, c))
		list[n++] = c;
	qsort(list, n, sizeof(*list), by_key);
	for (size_t i = 1; r == 0 && i < n; i++) {
		_cleanup_str_ struct str what = { 0 };

		if (strcmp(list[i - 1]->key, list[i]->key))
			continue;
		str_add(&what, "the key \"");
		str_add_escaped(&what, list[i]->key);
		str_add(&what, "\" stands twice");
		r = json_lex_fail_at(&s->lex, s->lex.text + list[i]->key_start, what.s);
	}
	free(list);
	return r;
}

/* The elements of the list or object at 'self', whose bracket is next. */
static int scan_children(struct scan *s, uint32_t self, char close)
{
	uint32_t last = 0;
	bool more;
	int r;

	s->lex.p++;
	r = json_lex_space(&s->lex);
	for (more = !json_lex_at(&s->lex, close); r == 0 && more;) {
		struct json_span key = { 0 };
		uint32_t child = 0;

		if (close == '}')
			r = scan_key(s, &key);
		if (r == 0)
			r = scan_value(s, &child);
		if (r < 0)
			return r;
		s->doc->spans[child].key = key.key;
		s->doc->spans[child].key_start = key.key_start;
		s->doc->spans[child].key_end = key.key_end;
		*(last ? &s->doc->spans[last].next : &s->doc->spans[self].first) = child;
		s->doc->spans[self].count++;
		last = child;
		r = json_lex_next(&s->lex, close, &more);
	}
	if (r < 0)
		return r;
	s->lex.p++;
	return close == '}' ? refuse_twice(s, &s->doc->spans[self]) : 0;
}

static int scan_nested(struct scan *s, uint32_t self)
{
	bool object = json_lex_at(&s->lex, '{');
	int r;

	if (++s->lex.depth > JSON_MAX_DEPTH)
		return json_lex_fail(&s->lex, "nested too deeply");
	s->doc->spans[self].kind = object ? JSON_SPAN_OBJECT : JSON_SPAN_ARRAY;
	r = scan_children(s, self, object ? '}' : ']');
	s->lex.depth--;
	return r;
}

static int scan_word(struct scan *s, struct json_span *span)
{
	static const struct {
		const char *word;
		enum json_span_kind kind;
	} words[] = { { "null", JSON_SPAN_NULL },
		      { "true", JSON_SPAN_TRUE },
		      { "false", JSON_SPAN_FALSE } };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (json_lex_take(&s->lex, words[i].word)) {
			span->kind = words[i].kind;
			return 0;
		}
	}
	return json_lex_fail(&s->lex, "expected a value");
}

static int scan_value(struct scan *s, uint32_t *ret)
{
	const char *string = NULL;
	bool whole;
	uint32_t self = 0;
	int r = new_span(s, &self);

	if (r < 0)
		return r;
	if (json_lex_at(&s->lex, '{') || json_lex_at(&s->lex, '[')) {
		r = scan_nested(s, self);
	} else if (json_lex_at(&s->lex, '"')) {
		s->doc->spans[self].kind = JSON_SPAN_STRING;
		r = scan_string(s, &string);
		s->doc->spans[self].string = string;
	} else if (s->lex.p < s->lex.end && memchr("-0123456789", *s->lex.p, 11)) {
		s->doc->spans[self].kind = JSON_SPAN_NUMBER;
		r = json_lex_number(&s->lex, &whole);
	} else {
		r = scan_word(s, &s->doc->spans[self]);
	}
	s->doc->spans[self].end = offset_of(s);
	*ret = self;
	return r;
}

int json_doc_parse(struct json_doc *doc, const char *text, size_t len, size_t max,
		   const char *origin, struct err *err)
{
	struct scan s = { .doc = doc };
	uint32_t top = 0;
	int r;

	*doc = (struct json_doc){ .line = 1, .column = 1, .len = len };
	doc->origin = arena_strdup(&doc->arena, origin);
	doc->text = arena_strndup(&doc->arena, text, MIN(len, max));
	s.lex = (struct json_lex){ .text = doc->text,
				   .p = doc->text,
				   .end = doc->text + len,
				   .origin = doc->origin,
				   .trailing_commas = true,
				   .err = err };
	r = json_lex_begin(&s.lex, MIN(max, (size_t)UINT32_MAX));
	if (r == 0)
		r = scan_value(&s, &top);
	return r < 0 ? r : json_lex_end(&s.lex);
}

void json_doc_release(struct json_doc *doc)
{
	arena_release(&doc->arena);
	*doc = (struct json_doc){ .spans = NULL };
}

const struct json_span *json_span_first(const struct json_doc *doc, const struct json_span *span)
{
	return span && span->first ? &doc->spans[span->first] : NULL;
}

const struct json_span *json_span_next(const struct json_doc *doc, const struct json_span *span)
{
	return span->next ? &doc->spans[span->next] : NULL;
}

const struct json_span *json_span_get(const struct json_doc *doc, const struct json_span *span,
				      const char *key)
{
	if (!span || span->kind != JSON_SPAN_OBJECT)
		return NULL;
	for (const struct json_span *c = json_span_first(doc, span); c; c = json_span_next(doc, c))
		if (!strcmp(c->key, key))
			return c;
	return NULL;
}

char *json_span_text(struct arena *arena, const struct json_doc *doc, const struct json_span *span,
		     size_t max)
{
	size_t len = span->end - span->start;

	if (!max || len <= max)
		return arena_strndup(arena, doc->text + span->start, len);
	return arena_printf(arena, "%.*s...", (int)max, doc->text + span->start);
}

void json_span_add(struct str *out, const struct json_doc *doc, const struct json_span *span)
{
	bool object = span->kind == JSON_SPAN_OBJECT;

	if (span->string) {
		json_add_string(out, span->string);
		return;
	}
	if (!object && span->kind != JSON_SPAN_ARRAY) {
		str_addn(out, doc->text + span->start, span->end - span->start);
		return;
	}
	str_add(out, object ? "{" : "[");
	for (const struct json_span *c = json_span_first(doc, span); c;
	     c = json_span_next(doc, c)) {
		if (object) {
			json_add_string(out, c->key);
			str_add(out, ":");
		}
		json_span_add(out, doc, c);
		str_add(out, c->next ? "," : "");
	}
	str_add(out, object ? "}" : "]");
}

const char *json_span_phrase(const struct json_span *span)
{
	static const char *const phrases[] = {
		[JSON_SPAN_NULL] = "null",        [JSON_SPAN_FALSE] = "false",
		[JSON_SPAN_TRUE] = "true",        [JSON_SPAN_NUMBER] = "a number",
		[JSON_SPAN_STRING] = "a string",  [JSON_SPAN_ARRAY] = "a list",
		[JSON_SPAN_OBJECT] = "an object",
	};

	return phrases[span->kind];
}
