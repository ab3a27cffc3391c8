/* SPDX-License-Identifier: MIT */
/* JSON with places: lines and columns, what is refused, and edits that keep every other byte. */
#include "base/json_span.h"

#include "base/json.h"
#include "lib/tap.h"

static struct err err;

static const struct json_span *find(const struct json_doc *doc, const char *const *keys)
{
	const struct json_span *at = json_doc_top(doc);

	for (; at && *keys; keys++)
		at = json_span_get(doc, at, *keys);
	return at;
}
#define FIND(doc, ...) find(doc, (const char *const[]){ __VA_ARGS__, NULL })

static void test_places(void)
{
	static const char text[] = "// first\n"
				   "{\n"
				   "\t\"a\": { \"b\": [1, \"zw\\u00f6lf\", true,] },\n"
				   "  /* \xc3\xbc */ \"c\": null,\n"
				   "}\n";
	_cleanup_json_doc_ struct json_doc doc;
	const struct json_span *list, *c;

	if (!is_int(json_doc_parse(&doc, text, strlen(text), 1 << 20, "f", &err), 0, "reads"))
		return;
	list = FIND(&doc, "a", "b");
	ok(list && list->kind == JSON_SPAN_ARRAY && list->count == 3, "a list of three");
	is_int(list->line, 3, "its line");
	is_int(list->column, 14, "its column");
	c = json_span_next(&doc, json_span_first(&doc, list));
	is_str(c->string, "zw\xc3\xb6lf", "a string is decoded");
	is_str(json_span_text(&doc.arena, &doc, c, 0), "\"zw\\u00f6lf\"", "and kept as written");
	c = FIND(&doc, "c");
	is_int(c->line, 4, "a line behind a comment");
	is_int(c->column, 16, "columns are characters");
	ok(!FIND(&doc, "x") && !FIND(&doc, "c", "x"), "what is not there is not found");
}

static void test_refused(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "f:1:1: the text ends too early" },
		{ "{\"a\":1,\n\"b\":2,\n\"a\":3}", "f:3:1: the key \"a\" stands twice" },
		{ "{\"a\" 1}", "f:1:6: expected ':' after the key" },
		{ "{,}", "f:1:2: expected a key in double quotes" },
		{ "[1,,]", "f:1:4: expected a value" },
		{ "[1] 2", "f:1:5: something stands after the end" },
		{ "[\"\\u0000\"]", "f:1:3: a string cannot hold the NUL character" },
		{ "[1.]", "f:1:4: a number needs a digit here" },
		{ "{\"a\":tru", "f:1:6: expected a value" },
		{ "/* x", "f:1:1: a comment that does not end" },
	};
	_cleanup_json_doc_ struct json_doc doc;
	char deep[100];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_json_doc_ struct json_doc bad;

		json_doc_parse(&bad, cases[i].text, strlen(cases[i].text), 1 << 20, "f", &err);
		is_str(err.msg, cases[i].want, "refused: %s", cases[i].text);
	}
	memset(deep, '[', sizeof(deep));
	ok(json_doc_parse(&doc, deep, sizeof(deep), 1 << 20, "f", &err) < 0, "refused: deep");
	ok(strstr(err.msg, "nested too deeply"), "and it says so");
}

/* A line of half a million values costs no more than lines of few. */
static void test_large(void)
{
	_cleanup_json_doc_ struct json_doc doc;
	_cleanup_str_ struct str text = { 0 };

	str_add(&text, "[");
	for (int i = 0; i < 400000; i++)
		str_add(&text, "1,");
	str_add(&text, "2]");
	is_int(json_doc_parse(&doc, text.s, text.len, 1 << 20, "f", &err), 0, "many values");
	is_int(doc.spans[doc.n_spans - 1].column, 800002, "the last one's column");
	json_doc_release(&doc);
	ok(json_doc_parse(&doc, text.s, text.len, 1 << 10, "f", &err) < 0, "capped by size");
}

/* keys are divided by dots. */
static void edit(const char *text, const char *path, const char *value, bool append,
		 const char *want)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str out = { 0 };
	_cleanup_json_doc_ struct json_doc doc;
	char *copy = arena_strdup(&arena, path), *save = NULL;
	const char *keys[8];
	size_t n = 0;
	int r;

	for (char *k = strtok_r(copy, ".", &save); k; k = strtok_r(NULL, ".", &save))
		keys[n++] = k;
	r = json_doc_parse(&doc, text, strlen(text), 1 << 20, "f", &err);
	if (r == 0)
		r = append ? json_doc_append(&doc, keys, n, value, &out, &err)
			   : json_doc_set(&doc, keys, n, value, &out, &err);
	is_str(r < 0 ? err.msg : out.s, want, "%s %s in %s", append ? "append" : "set", path, text);
}

static void test_set(void)
{
	static const struct {
		const char *text, *path, *want;
	} cases[] = {
		{ "{}", "a", "{\n  \"a\": true\n}" },
		{ "{}\n", "a.b", "{\n  \"a\": {\n    \"b\": true\n  }\n}\n" },
		{ "{\"a\":1}", "a", "{\"a\":true}" },
		{ "{\"a\":1}", "b", "{\"a\":1, \"b\": true}" },
		{ "{ \"a\": {\"b\": 0 /* why */} , }", "a.b",
		  "{ \"a\": {\"b\": true /* why */} , }" },
		{ "{\n\t\"a\": 1\n}\n", "b", "{\n\t\"a\": 1,\n\t\"b\": true\n}\n" },
		{ "{\r\n\t\"a\": 1\r\n}\r\n", "b.c",
		  "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": true\r\n\t}\r\n}\r\n" },
		{ "{\n  \"a\": 1,\n}\n", "b", "{\n  \"a\": 1,\n  \"b\": true,\n}\n" },
		{ "{\n  \"a\": 1 // one\n}\n", "b", "{\n  \"a\": 1, // one\n  \"b\": true\n}\n" },
		{ "{\n  \"a\": 1, // one\n}\n", "b", "{\n  \"a\": 1, // one\n  \"b\": true,\n}\n" },
		{ "{\n  \"a\": {}\n}\n", "a.b", "{\n  \"a\": {\n    \"b\": true\n  }\n}\n" },
		{ "{ // nothing yet\n}\n", "a", "{\n  \"a\": true // nothing yet\n}\n" },
		{ "[]", "a", "f:1:1: must be an object, not a list" },
		{ "{\"a\":\n 1}", "a.b", "f:2:2: must be an object, not a number" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		edit(cases[i].text, cases[i].path, "true", false, cases[i].want);
}

static void test_append(void)
{
	static const struct {
		const char *text, *path, *want;
	} cases[] = {
		{ "{}", "a", "{\n  \"a\": [\"x\"]\n}" },
		{ "{\"a\":[]}", "a", "{\"a\":[\"x\"]}" },
		{ "{\"a\":[1]}", "a", "{\"a\":[1, \"x\"]}" },
		{ "{\n \"a\": [\n  1\n ]\n}", "a", "{\n \"a\": [\n  1,\n  \"x\"\n ]\n}" },
		{ "{\"a\":{}}", "a", "f:1:6: must be a list, not an object" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		edit(cases[i].text, cases[i].path, "\"x\"", true, cases[i].want);
}

int main(void)
{
	test_places();
	test_refused();
	test_large();
	test_set();
	test_append();
	return done();
}
