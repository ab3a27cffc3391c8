/* SPDX-License-Identifier: MIT */
/* The JSON reader: what it takes, what it refuses and where, getters, and writing strings. */
#include "base/json.h"

#include "lib/tap.h"

/* json-c's own text of what was read, or the message. */
static void check(const char *text, size_t len, const char *want, const char *name)
{
	_cleanup_json_ struct json_object *value = NULL;
	struct err err = { 0 };

	if (json_parse(text, len, "f", &value, &err) < 0) {
		is_str(err.msg, want, "%s", name);
		is_int(err.exit, EXIT_USAGE, "%s: a usage error", name);
		return;
	}
	is_str(value ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN) : "null", want,
	       "%s", name);
}

static void test_good(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{}", "{}" },
		{ " [ ] ", "[]" },
		{ "[1,-2,0,-0]", "[1,-2,0,0]" },
		{ "[1.5,2e3,-0.25E-2]", "[1.5,2e3,-0.25E-2]" },
		{ "[9223372036854775807,-9223372036854775808]",
		  "[9223372036854775807,-9223372036854775808]" },
		{ "[true,false,null]", "[true,false,null]" },
		{ "null", "null" },
		{ "\"x\"", "\"x\"" },
		{ "{\"a\":{\"b\":[\"c\"]}}", "{\"a\":{\"b\":[\"c\"]}}" },
		{ "// one\n{ /* two */ \"a\" /* three */ : 1 // four\n}\n// five", "{\"a\":1}" },
		{ "/**/1/***/", "1" },
		{ "\xef\xbb\xbf{}", "{}" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"" },
		{ "\"\\u00fc \\u20AC \\ud83d\\ude00\"",
		  "\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\"" },
		{ "\"// no comment\"", "\"\\/\\/ no comment\"" },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
		  "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(cases[i].text, strlen(cases[i].text), cases[i].want, cases[i].text);
}

static void test_bad(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "f:1:1: the text ends too early" },
		{ "{", "f:1:2: the text ends too early" },
		{ "{\"a\":1", "f:1:7: the text ends too early" },
		{ "{} x", "f:1:4: something stands after the end" },
		{ "{}\n{}", "f:2:1: something stands after the end" },
		{ "{\"a\":1,\n \"a\":2}", "f:2:2: the key \"a\" stands twice" },
		{ "{\"a\":1,\"\\u0061\":2}", "f:1:8: the key \"a\" stands twice" },
		{ "{\"x\":{\"k\":1,\"k\":null}}", "f:1:13: the key \"k\" stands twice" },
		{ "{\"n\":null,\"n\":1}", "f:1:11: the key \"n\" stands twice" },
		{ "NaN", "f:1:1: expected a value" },
		{ "[Infinity]", "f:1:2: expected a value" },
		{ "[-Infinity]", "f:1:3: a number needs a digit here" },
		{ "TRUE", "f:1:1: expected a value" },
		{ "nul", "f:1:1: expected a value" },
		{ "nullx", "f:1:5: something stands after the end" },
		{ "'x'", "f:1:1: expected a value" },
		{ "[1,]", "f:1:4: a comma after the last element" },
		{ "{\"a\":1,}", "f:1:8: a comma after the last element" },
		{ "[1 2]", "f:1:4: expected ',' or ']'" },
		{ "{\"a\" 1}", "f:1:6: expected ':' after the key" },
		{ "{a:1}", "f:1:2: expected a key in double quotes" },
		{ "[01]", "f:1:2: a number cannot begin with 0" },
		{ "[+1]", "f:1:2: expected a value" },
		{ "[1.]", "f:1:4: a number needs a digit here" },
		{ "[.5]", "f:1:2: expected a value" },
		{ "[1e]", "f:1:4: a number needs a digit here" },
		{ "[9223372036854775808]", "f:1:2: a number out of range" },
		{ "[1e999]", "f:1:2: a number out of range" },
		{ "[1111111111111111111111111111111111111111111111111111111111111111111]",
		  "f:1:2: a number of too many digits" },
		{ "\"abc", "f:1:1: a string that does not end" },
		{ "\"a\nb\"", "f:1:1: a string that does not end" },
		{ "\"a\tb\"", "f:1:3: a tab in a string; write it as \\t" },
		{ "\"\\x\"", "f:1:3: an unknown escape in a string" },
		{ "\"\\u12g4\"", "f:1:6: '\\u' needs four hexadecimal digits" },
		{ "\"\\u0000\"", "f:1:2: a string cannot hold the NUL character" },
		{ "\"\\ud800\"", "f:1:2: half of a surrogate pair" },
		{ "\"\\ud800\\u0041\"", "f:1:2: half of a surrogate pair" },
		{ "\"\\udfff\"", "f:1:2: half of a surrogate pair" },
		{ "/* no end", "f:1:1: a comment that does not end" },
		{ "1 /", "f:1:3: something stands after the end" },
		{ "\"\xc3\xbc\" \xff", "f:1:5: a byte that is not UTF-8" },
		{ "// \xc0\x80\n1", "f:1:4: a byte that is not UTF-8" },
		{ "\"\x1b[0m\"", "f:1:2: a control character; in a string write it as \\uXXXX" },
		{ "{\"\x1b\":1}", "f:1:3: a control character; in a string write it as \\uXXXX" },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
		  "f:1:33: nested too deeply" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(cases[i].text, strlen(cases[i].text), cases[i].want, cases[i].text);
	check("\"a\0b\"", 5, "f:1:3: a control character; in a string write it as \\uXXXX",
	      "a NUL byte in a string");
	check("1\0", 2, "f:1:2: a control character; in a string write it as \\uXXXX",
	      "a NUL byte after the end");
	check("{\"\\u001b\":1,\"\\u001b\":1}", 23, "f:1:13: the key \"\\x1b\" stands twice",
	      "a key is shown escaped");
}

static void test_size(void)
{
	char *text = malloc(JSON_MAX_SIZE + 1);

	if (!text)
		abort();
	memset(text, ' ', JSON_MAX_SIZE + 1);
	text[0] = '7';
	check(text, JSON_MAX_SIZE, "7", "the largest text");
	check(text, JSON_MAX_SIZE + 1, "f:1:1: larger than 1 MiB", "one byte more");
	free(text);
}

/* Any bytes survive being written and read again. */
static void test_write(void)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{ "", "\"\"" },
		{ "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
		{ "\n\t\r\x01\x7f", "\"\\n\\t\\u000d\\u0001\\u007f\"" },
		{ "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "\xff\x80", "\"\\udcff\\udc80\"" },
		{ "\xed\xb3\xbf", "\"\\udced\\udcb3\\udcbf\"" },
		{ "\xe2\x80\xae", "\"\\u202e\"" },
		{ "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_json_ struct json_object *value = NULL;
		_cleanup_str_ struct str out = { 0 };
		struct err err = { 0 };

		json_add_string(&out, cases[i].in);
		is_str(out.s, cases[i].want, "written: %s", cases[i].want);
		ok(json_parse(out.s, out.len, "f", &value, &err) == 0, "read: %s", err.msg);
		is_str(json_object_get_string(value), cases[i].in, "the same again");
	}
}

static void test_getters(void)
{
	static const char text[] = "{\"a\":[{\"b\":7},\"x\",null,true,[],1.5,\"\\u001b\"]}";
	static const char *const words[] = { "mode", "source" };
	const struct json_at *top = JSON_KEY(NULL, "a"), *b = JSON_KEY(JSON_INDEX(top, 0), "b");
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *list, *seven;
	struct err err = { 0 };
	const char *s = NULL;
	bool on = false;

	ok(json_parse(text, sizeof(text) - 1, "f", &root, &err) == 0, "the text is read");
	list = json_object_object_get(root, "a");
	seven = json_object_object_get(json_object_array_get_idx(list, 0), "b");
	ok(json_get_string(JSON_INDEX(top, 1), json_object_array_get_idx(list, 1), &s, &err) == 0,
	   "a string");
	is_str(s, "x", "its value");
	ok(json_get_bool(JSON_INDEX(top, 3), json_object_array_get_idx(list, 3), &on, &err) == 0 &&
		   on,
	   "a boolean");
	json_get_string(b, seven, &s, &err);
	is_str(err.msg, "a[0].b: must be a string, not 7", "a number is no string");
	json_get_bool(JSON_INDEX(top, 2), NULL, &on, &err);
	is_str(err.msg, "a[2]: must be true or false, not null", "null is no boolean");
	json_check_type(JSON_INDEX(top, 4), json_object_array_get_idx(list, 4), json_type_object,
			&err);
	is_str(err.msg, "a[4]: must be an object, not a list", "a list is no object");
	json_err_type(JSON_INDEX(top, 6), json_object_array_get_idx(list, 6), "visible", &err);
	is_str(err.msg, "a[6]: must be visible, not \"\\x1b\"", "a value is shown escaped");
	json_err_type(NULL, json_object_array_get_idx(list, 5), "whole", &err);
	is_str(err.msg, "must be whole, not 1.5", "without a place");
	json_err_key(JSON_KEY(top, "mdoe"), words, ARRAY_LEN(words), &err);
	is_str(err.msg, "a.mdoe: unknown key", "an unknown key");
	is_str(err.hint, "did you mean \"mode\"?", "the nearest");
	json_err_key(JSON_KEY(top, "zzzzzzz"), words, ARRAY_LEN(words), &err);
	ok(strstr(err.hint, "the keys there are ") && strstr(err.hint, "mode"),
	   "where none is near: all of them");
}

int main(void)
{
	test_good();
	test_bad();
	test_size();
	test_write();
	test_getters();
	return done();
}
