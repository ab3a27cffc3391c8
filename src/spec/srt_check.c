/* SPDX-License-Identifier: MIT */
/* A text against the tables of srt_schema.c: every issue is collected, in the order of the tables. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "spec/glob.h"
#include "spec/srt_schema.h"

#define MAX_ISSUES_TEXT (64 << 10)

/* Where the check stands: "network.allowedDomains.0". */
struct place {
	const struct place *up;
	const char *key; /* NULL: an index */
	size_t index;
};

struct check {
	const struct json_doc *doc;
	struct srt_findings *found;
};

static void add_place(struct str *out, const struct place *at)
{
	if (at->up && at->up->up) {
		add_place(out, at->up);
		str_add(out, ".");
	}
	if (at->key)
		str_add_escaped(out, at->key);
	else
		str_addf(out, "%zu", at->index);
}

static char *place_name(const struct check *c, const struct place *at)
{
	_cleanup_str_ struct str name = { 0 };

	if (!at->up)
		return arena_strdup(c->found->arena, "(root)");
	add_place(&name, at);
	return arena_strdup(c->found->arena, name.s);
}

void srt_add_issue(struct srt_findings *findings, const char *path, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(findings->arena, fmt, ap);
	va_end(ap);
	if (findings->issues.len < MAX_ISSUES_TEXT)
		str_addf(&findings->issues, "%s%s: %s", findings->issues.len ? "; " : "", path,
			 text);
}

static void issue(const struct check *c, const struct place *at, const char *text)
{
	srt_add_issue(c->found, place_name(c, at), "%s", text);
}

static const char *kind_name(const struct json_span *span)
{
	static const char *const names[] = {
		[JSON_SPAN_NULL] = "null",     [JSON_SPAN_FALSE] = "boolean",
		[JSON_SPAN_TRUE] = "boolean",  [JSON_SPAN_NUMBER] = "number",
		[JSON_SPAN_STRING] = "string", [JSON_SPAN_ARRAY] = "array",
		[JSON_SPAN_OBJECT] = "object",
	};

	return names[span->kind];
}

/* False, and said, when the value is of another kind. */
static bool expect(const struct check *c, const struct place *at, const struct json_span *span,
		   bool is, const char *what)
{
	if (!is)
		srt_add_issue(c->found, place_name(c, at), "Expected %s, received %s", what,
			      kind_name(span));
	return is;
}

static void check_value(const struct check *c, const struct place *at, const struct srt_type *type,
			const struct json_span *span);

double srt_number(const struct json_doc *doc, const struct json_span *span)
{
	const char *text = doc->text + span->start;
	_cleanup_json_ struct json_object *value = NULL;
	struct err ignored;

	if (json_parse(text, span->end - span->start, "a number", &value, &ignored) < 0)
		return *text == '-' ? -HUGE_VAL : HUGE_VAL;
	return json_object_get_double(value);
}

static void check_int(const struct check *c, const struct place *at, const struct srt_type *type,
		      const struct json_span *span)
{
	double value;
	bool small;

	if (!expect(c, at, span, span->kind == JSON_SPAN_NUMBER, "number"))
		return;
	value = srt_number(c->doc, span);
	small = value > -1e15 && value < 1e15; /* all beyond are whole */
	if (small && value != (double)(int64_t)value)
		issue(c, at, "Expected integer, received float");
	else if (value < (double)type->min)
		srt_add_issue(c->found, place_name(c, at),
			      "Number must be greater than or equal to %ld", type->min);
	else if (value > (double)type->max)
		srt_add_issue(c->found, place_name(c, at),
			      "Number must be less than or equal to %ld", type->max);
}

static void check_string(const struct check *c, const struct place *at, const struct srt_type *type,
			 const struct json_span *span)
{
	const char *wrong;

	if (!expect(c, at, span, span->kind == JSON_SPAN_STRING, "string"))
		return;
	if (type->empty && !span->string[0])
		issue(c, at, type->empty);
	wrong = type->check ? type->check(span->string) : NULL;
	if (wrong)
		issue(c, at, wrong);
}

static void check_enum(const struct check *c, const struct place *at, const struct srt_type *type,
		       const struct json_span *span)
{
	_cleanup_str_ struct str words = { 0 }, got = { 0 };

	for (const char *const *w = type->words; *w; w++) {
		if (span->kind == JSON_SPAN_STRING && !strcmp(span->string, *w))
			return;
		str_addf(&words, "%s'%s'", words.len ? " | " : "", *w);
	}
	if (!expect(c, at, span, span->kind == JSON_SPAN_STRING, words.s))
		return;
	str_add_escaped(&got, span->string);
	srt_add_issue(c->found, place_name(c, at), "Invalid enum value. Expected %s, received '%s'",
		      words.s, got.s ? got.s : "");
}

/* The keys that the table does not have. */
static void check_unknown(const struct check *c, const struct place *at,
			  const struct srt_type *type, const struct json_span *span)
{
	_cleanup_str_ struct str strict = { 0 };
	const char *names[64], *near;
	size_t n = 0;

	for (const struct srt_key *key = type->keys; key->name && n < ARRAY_LEN(names); key++)
		names[n++] = key->name;
	for (const struct json_span *s = json_span_first(c->doc, span); s;
	     s = json_span_next(c->doc, s)) {
		const struct place here = { at, s->key, 0 };
		bool known = false;

		for (size_t i = 0; i < n && !known; i++)
			known = !strcmp(names[i], s->key);
		if (known)
			continue;
		near = str_nearest(s->key, names, n);
		str_addf(&strict, "%s'", strict.len ? ", " : "");
		str_add_escaped(&strict, s->key);
		str_add(&strict, "'");
		if (type->strict)
			continue;
		strv_add(c->found->arena, &c->found->unknown, place_name(c, &here));
		strv_add(c->found->arena, &c->found->nearest, near ? near : "");
	}
	if (type->strict && strict.len)
		srt_add_issue(c->found, place_name(c, at), "Unrecognized key(s) in object: %s",
			      strict.s);
}

/* Whether a value asks for anything. */
static bool asks(const struct json_span *span)
{
	return span->kind != JSON_SPAN_FALSE && !(span->kind == JSON_SPAN_ARRAY && !span->count);
}

static void check_object(const struct check *c, const struct place *at, const struct srt_type *type,
			 const struct json_span *span)
{
	size_t before = c->found->issues.len;
	const char *wrong;

	if (!expect(c, at, span, span->kind == JSON_SPAN_OBJECT, "object"))
		return;
	for (const struct srt_key *key = type->keys; key->name; key++) {
		const struct json_span *value = json_span_get(c->doc, span, key->name);
		const struct place here = { at, key->name, 0 };

		if (!value && key->flags & SRT_REQUIRED)
			issue(c, &here, "Required");
		if (!value)
			continue;
		check_value(c, &here, key->type, value);
		if (key->flags & SRT_REFUSED && asks(value))
			strv_add(c->found->arena, &c->found->refused, place_name(c, &here));
		if (key->flags & ~(unsigned)(SRT_REQUIRED | SRT_REFUSED)) {
			strv_add(c->found->arena, &c->found->unused, place_name(c, &here));
			strv_add(c->found->arena, &c->found->states, srt_key_state(key->flags));
		}
	}
	check_unknown(c, at, type, span);
	wrong = type->refine && c->found->issues.len == before ? type->refine(c->doc, span) : NULL;
	if (wrong)
		issue(c, at, wrong);
}

static void check_array(const struct check *c, const struct place *at, const struct srt_type *type,
			const struct json_span *span)
{
	size_t before = c->found->issues.len;
	struct place here = { at, NULL, 0 };
	const char *wrong;

	if (!expect(c, at, span, span->kind == JSON_SPAN_ARRAY, "array"))
		return;
	if (span->count < type->min)
		srt_add_issue(c->found, place_name(c, at),
			      "Array must contain at least %ld element(s)", type->min);
	else if (type->max && span->count > type->max)
		srt_add_issue(c->found, place_name(c, at),
			      "Array must contain at most %ld element(s)", type->max);
	for (const struct json_span *s = json_span_first(c->doc, span); s;
	     s = json_span_next(c->doc, s)) {
		check_value(c, &here, type->of, s);
		here.index++;
	}
	wrong = type->refine && c->found->issues.len == before ? type->refine(c->doc, span) : NULL;
	if (wrong)
		issue(c, at, wrong);
}

static void check_record(const struct check *c, const struct place *at, const struct srt_type *type,
			 const struct json_span *span)
{
	if (!expect(c, at, span, span->kind == JSON_SPAN_OBJECT, "object"))
		return;
	for (const struct json_span *s = json_span_first(c->doc, span); s;
	     s = json_span_next(c->doc, s))
		check_value(c, &(const struct place){ at, s->key, 0 }, type->of, s);
}

/* {"path": "x", "literal": true} and nothing else. */
static void check_path(const struct check *c, const struct place *at, const struct srt_type *type,
		       const struct json_span *span)
{
	const struct srt_type shape = {
		.kind = SRT_OBJECT,
		.strict = true,
		.keys = (const struct srt_key[]){ { .name = "path" },
						  { .name = "literal" },
						  { .name = NULL } },
	};
	const struct json_span *path = json_span_get(c->doc, span, "path");
	const struct json_span *literal = json_span_get(c->doc, span, "literal");
	const struct place below = { at, "path", 0 };

	if (span->kind == JSON_SPAN_STRING) {
		if (!span->string[0])
			issue(c, at, type->empty);
		return;
	}
	if (!path || path->kind != JSON_SPAN_STRING || !literal ||
	    literal->kind != JSON_SPAN_TRUE) {
		issue(c, at, "Expected a path, or { \"path\": \"<path>\", \"literal\": true }");
		return;
	}
	if (!path->string[0])
		issue(c, &below, type->empty);
	check_unknown(c, at, &shape, span);
}

static void check_value(const struct check *c, const struct place *at, const struct srt_type *type,
			const struct json_span *span)
{
	switch (type->kind) {
	case SRT_OBJECT:
		check_object(c, at, type, span);
		break;
	case SRT_RECORD:
		check_record(c, at, type, span);
		break;
	case SRT_ARRAY:
		check_array(c, at, type, span);
		break;
	case SRT_BOOL:
		expect(c, at, span, span->kind == JSON_SPAN_TRUE || span->kind == JSON_SPAN_FALSE,
		       "boolean");
		break;
	case SRT_INT:
		check_int(c, at, type, span);
		break;
	case SRT_STRING:
		check_string(c, at, type, span);
		break;
	case SRT_ENUM:
		check_enum(c, at, type, span);
		break;
	case SRT_PATH:
		check_path(c, at, type, span);
		break;
	case SRT_SIZE:
		expect(c, at, span,
		       span->kind == JSON_SPAN_NUMBER || span->kind == JSON_SPAN_STRING,
		       "number or string");
		break;
	case SRT_FUNCTION:
		issue(c, at, "filterRequest must be a function");
		break;
	}
}

void srt_check(const struct json_doc *doc, struct srt_findings *findings)
{
	const struct check c = { doc, findings };

	check_value(&c, &(const struct place){ 0 }, &srt_config_type, json_doc_top(doc));
}
