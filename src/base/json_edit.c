/* SPDX-License-Identifier: MIT */
/*
 * Changing one value of a JSON text. Only the bytes of that value change, or a member is added
 * behind the last one of its object, in the way the text itself is laid out: members on lines of
 * their own are joined by a line with the same indentation, others stay on the line.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_span.h"

/* What a byte range is replaced by. */
static void splice(const struct json_doc *doc, size_t start, size_t end, const char *with,
		   struct str *out)
{
	str_addn(out, doc->text, start);
	str_add(out, with);
	str_addn(out, doc->text + end, doc->len - end);
}

/* The white space before pos on its line; false when something else stands there. */
static bool indentation(const struct json_doc *doc, size_t pos, struct str *out)
{
	size_t start = pos;

	while (start > 0 && (doc->text[start - 1] == ' ' || doc->text[start - 1] == '\t'))
		start--;
	str_addn(out, doc->text + start, pos - start);
	return start == 0 || doc->text[start - 1] == '\n';
}

/* The indentation of the line pos is on. */
static void line_indentation(const struct json_doc *doc, size_t pos, struct str *out)
{
	size_t start = pos, end;

	while (start > 0 && doc->text[start - 1] != '\n')
		start--;
	for (end = start; end < pos && (doc->text[end] == ' ' || doc->text[end] == '\t');)
		end++;
	str_addn(out, doc->text + start, end - start);
}

/* One step of indentation as the text has it: the top's first member; two spaces otherwise. */
static void indent_step(const struct json_doc *doc, struct str *out)
{
	const struct json_span *first = json_span_first(doc, json_doc_top(doc));

	if (first && indentation(doc, first->key_end ? first->key_start : first->start, out) &&
	    out->len)
		return;
	str_release(out);
	str_add(out, "  ");
}

/* The line end in use. */
static const char *newline(const struct json_doc *doc)
{
	const char *lf = memchr(doc->text, '\n', doc->len);

	return lf && lf > doc->text && lf[-1] == '\r' ? "\r\n" : "\n";
}

/* Adds keys[0]: { keys[1]: ... value }, nested members on lines of their own behind 'indent'. */
static void add_members(const struct json_doc *doc, const char *const *keys, size_t n,
			const char *value, const char *indent, struct str *out)
{
	_cleanup_str_ struct str inner = { 0 }, step = { 0 };

	if (n == 0) {
		str_add(out, value);
		return;
	}
	json_add_string(out, keys[0]);
	str_add(out, ": ");
	if (n == 1) {
		str_add(out, value);
		return;
	}
	indent_step(doc, &step);
	str_addf(&inner, "%s%s", indent, step.s);
	str_addf(out, "{%s%s", newline(doc), inner.s);
	add_members(doc, keys + 1, n - 1, value, inner.s, out);
	str_addf(out, "%s%s}", newline(doc), indent);
}

/* Where the line of the element ends when nothing but a comma and a // comment follows it there;
 * else 0. */
static size_t comment_end(const struct json_doc *doc, const struct json_span *last)
{
	const char *p = doc->text + last->end, *end = doc->text + doc->len;

	while (p < end && (*p == ' ' || *p == '\t' || *p == ','))
		p++;
	if (end - p < 2 || p[0] != '/' || p[1] != '/')
		return 0;
	while (p < end && *p != '\n')
		p++;
	return (size_t)((p[-1] == '\r' ? p - 1 : p) - doc->text);
}

static bool comma_follows(const struct json_doc *doc, const struct json_span *last)
{
	const char *p = doc->text + last->end;

	while (*p == ' ' || *p == '\t')
		p++;
	return *p == ',';
}

/* Behind the last element of a list or object that has some. */
static void add_behind(const struct json_doc *doc, const struct json_span *last,
		       const char *const *keys, size_t n, const char *value, struct str *out)
{
	_cleanup_str_ struct str indent = { 0 }, with = { 0 };
	bool line = indentation(doc, last->key_end ? last->key_start : last->start, &indent);
	size_t at = line ? comment_end(doc, last) : 0;
	bool comma = at && comma_follows(doc, last);

	if (line) {
		str_addf(&with, "%s%s", newline(doc), indent.s ? indent.s : "");
	} else {
		str_release(&indent);
		line_indentation(doc, last->start, &indent);
		str_add(&with, " ");
	}
	add_members(doc, keys, n, value, indent.s ? indent.s : "", &with);
	/* A comma that follows the last element goes on to follow the new one. */
	str_addn(out, doc->text, last->end);
	str_add(out, comma ? "" : ",");
	at = at ? at : last->end;
	str_addn(out, doc->text + last->end, at - last->end);
	str_add(out, with.s);
	str_add(out, comma ? "," : "");
	str_addn(out, doc->text + at, doc->len - at);
}

/* Into an empty one: on a line of its own in an object, beside the brackets in a list. */
static void add_first(const struct json_doc *doc, const struct json_span *parent,
		      const char *const *keys, size_t n, const char *value, struct str *out)
{
	_cleanup_str_ struct str outer = { 0 }, inner = { 0 }, with = { 0 };

	known(parent);
	line_indentation(doc, parent->start, &outer);
	indent_step(doc, &inner);
	if (outer.len) {
		_cleanup_str_ struct str step = inner;

		inner = (struct str){ 0 };
		str_addf(&inner, "%s%s", outer.s, step.s);
	}
	if (parent->kind == JSON_SPAN_ARRAY) {
		splice(doc, parent->start + 1, parent->start + 1, value, out);
		return;
	}
	str_addf(&with, "%s%s", newline(doc), inner.s);
	add_members(doc, keys, n, value, inner.s, &with);
	/* What stood between the brackets is space or a comment: it stays, behind. */
	if (parent->end - parent->start == 2)
		str_addf(&with, "%s%s", newline(doc), outer.s ? outer.s : "");
	splice(doc, parent->start + 1, parent->start + 1, with.s, out);
}

static void add_child(const struct json_doc *doc, const struct json_span *parent,
		      const char *const *keys, size_t n, const char *value, struct str *out)
{
	const struct json_span *last = NULL;

	for (const struct json_span *c = json_span_first(doc, parent); c;
	     c = json_span_next(doc, c))
		last = c;
	if (last)
		add_behind(doc, last, keys, n, value, out);
	else
		add_first(doc, parent, keys, n, value, out);
}

static int wrong_kind(const struct json_doc *doc, const struct json_span *span, const char *want,
		      struct err *err)
{
	return err_usage(err, "%s:%u:%u: must be %s, not %s", doc->origin, span->line, span->column,
			 want, json_span_phrase(span));
}

/* As far as the path exists: *ret is the last span on it, *ret_depth how many keys lead there. */
static int walk(const struct json_doc *doc, const char *const *keys, size_t n,
		const struct json_span **ret, size_t *ret_depth, struct err *err)
{
	const struct json_span *at = json_doc_top(doc);
	size_t i = 0;

	for (; i < n; i++) {
		const struct json_span *next = json_span_get(doc, at, keys[i]);

		if (at->kind != JSON_SPAN_OBJECT)
			return wrong_kind(doc, at, "an object", err);
		if (!next)
			break;
		at = next;
	}
	*ret = at;
	*ret_depth = i;
	return 0;
}

int json_doc_set(const struct json_doc *doc, const char *const *keys, size_t n, const char *value,
		 struct str *out, struct err *err)
{
	const struct json_span *at = NULL;
	size_t depth = 0;
	int r = walk(doc, keys, n, &at, &depth, err);

	if (r < 0)
		return r;
	if (depth == n)
		splice(doc, at->start, at->end, value, out);
	else
		add_child(doc, at, keys + depth, n - depth, value, out);
	return 0;
}

int json_doc_append(const struct json_doc *doc, const char *const *keys, size_t n,
		    const char *value, struct str *out, struct err *err)
{
	_cleanup_str_ struct str list = { 0 };
	const struct json_span *at = NULL;
	size_t depth = 0;
	int r = walk(doc, keys, n, &at, &depth, err);

	if (r < 0)
		return r;
	if (depth < n) {
		str_addf(&list, "[%s]", value);
		add_child(doc, at, keys + depth, n - depth, list.s, out);
		return 0;
	}
	if (at->kind != JSON_SPAN_ARRAY)
		return wrong_kind(doc, at, "a list", err);
	add_child(doc, at, NULL, 0, value, out);
	return 0;
}
