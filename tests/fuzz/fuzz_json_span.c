/* SPDX-License-Identifier: MIT */
/*
 * A JSON text with places. The two readers agree on what is JSON (but for a comma after the last
 * element); every span lies in the text; an edit gives JSON that holds the new value, and taking
 * the added bytes away gives the old text.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_span.h"
#include "fuzz.h"

static void check_spans(const struct json_doc *doc)
{
	for (size_t i = 0; i < doc->n_spans; i++) {
		const struct json_span *s = &doc->spans[i];

		check(s->start < s->end && s->end <= doc->len && s->line && s->column);
		check(s->key_start <= s->key_end && s->key_end <= s->start);
		check(!s->key == !s->key_end);
		check((s->kind == JSON_SPAN_STRING) == (s->string != NULL));
		check(s->first ? s->first > i && s->first < doc->n_spans : !s->count);
		check(!s->next || (s->next > i && s->next < doc->n_spans));
	}
}

/* out is doc's text with 'at' bytes kept at the beginning, the rest at its end. */
static bool is_spliced(const struct json_doc *doc, const struct str *out)
{
	size_t head = 0, tail = 0;

	while (head < doc->len && head < out->len && doc->text[head] == out->s[head])
		head++;
	while (tail < doc->len - head &&
	       doc->text[doc->len - 1 - tail] == out->s[out->len - 1 - tail])
		tail++;
	return head + tail == doc->len;
}

static void try_edit(const struct json_doc *doc, const char *const *keys, size_t n)
{
	_cleanup_str_ struct str out = { 0 };
	_cleanup_json_doc_ struct json_doc again = { .spans = NULL };
	const struct json_span *at, *old = json_doc_top(doc);
	struct err err = { 0 };

	for (size_t i = 0; i < n && old; i++)
		old = json_span_get(doc, old, keys[i]);
	if (json_doc_set(doc, keys, n, "\"new\"", &out, &err) < 0) {
		check(err.msg[0]);
		return;
	}
	check(json_doc_parse(&again, out.s, out.len, SIZE_MAX, "f", &err) == 0);
	at = json_doc_top(&again);
	for (size_t i = 0; i < n; i++)
		at = json_span_get(&again, at, keys[i]);
	check(at && at->string && !strcmp(at->string, "new"));
	if (old) {
		check(out.len == doc->len - (old->end - old->start) + 5);
		check(!memcmp(out.s, doc->text, old->start));
		check(!memcmp(out.s + old->start + 5, doc->text + old->end, doc->len - old->end));
	} else {
		size_t kept = 0;

		/* The old text is a subsequence of the new one. */
		for (size_t i = 0; i < out.len && kept < doc->len; i++)
			kept += out.s[i] == doc->text[kept];
		check(kept == doc->len && (is_spliced(doc, &out) || strstr(doc->text, "//")));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "a", "b" };
	_cleanup_json_doc_ struct json_doc doc;
	struct err err = { 0 };
	int r = json_doc_parse(&doc, (const char *)data, size, 1 << 20, "f", &err);
	_cleanup_json_ struct json_object *value = NULL;

	if (r < 0) {
		check(err.msg[0]);
		check(json_parse((const char *)data, size, "f", &value, &err) < 0);
		return 0;
	}
	check_spans(&doc);
	try_edit(&doc, keys, 1);
	try_edit(&doc, keys, 2);
	return 0;
}
