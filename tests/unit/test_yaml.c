/* SPDX-License-Identifier: MIT */
/* YAML: what could be read as something else stands in quotes. tests/system/export.sh reads whole documents. */
#include "base/json.h"
#include "export/yaml.h"
#include "lib/tap.h"

static void check(const char *json, const char *yaml)
{
	_cleanup_json_ struct json_object *value = NULL;
	_cleanup_str_ struct str out = { 0 };
	struct err err;

	if (json_parse(json, strlen(json), "test", &value, &err) < 0) {
		ok(false, "%s: %s", json, err.msg);
		return;
	}
	yaml_add(&out, value);
	is_str(out.s, yaml, "%s", json);
}

int main(void)
{
	static const char *const quoted[] = { "yes",  "No", "on",  "null", "~",   "1",
					      "1.5",  "-",  "- x", "a: b", "#x",  "a #b",
					      "*x",   "&x", "!x",  "",     " x",  "x ",
					      "a\nb", "%h", "@x",  "0x10", "1e3", "\u00e9" };

	for (size_t i = 0; i < sizeof(quoted) / sizeof(*quoted); i++) {
		_cleanup_json_ struct json_object *value = json_object_new_string(quoted[i]);
		_cleanup_str_ struct str out = { 0 };

		yaml_add(&out, value);
		ok(out.s[0] == '"', "in quotes: %s", quoted[i]);
	}
	check("\"plain/word-1.x_y\"", "plain/word-1.x_y\n");
	check("{}", "{}\n");
	check("[]", "[]\n");
	check("{\"a\": 1, \"b\": true, \"c\": []}", "a: 1\nb: true\nc: []\n");
	check("{\"a\": {\"b\": {\"c\": \"d\"}}}", "a:\n  b:\n    c: d\n");
	check("{\"a\": [\"b\", {\"c\": 1, \"d\": [2]}, [3]]}",
	      "a:\n- b\n- c: 1\n  d:\n  - 2\n-   - 3\n");
	check("{\"a b\": 1}", "\"a b\": 1\n");
	check("{\"a\": \"one\\n\\ttwo\\n\\nthree\\n\"}", "a: |\n  one\n  \ttwo\n\n  three\n");
	check("{\"a\": \"one\\n\\n\"}", "a: \"one\\n\\n\"\n");
	check("{\"a\": \" one\\n\"}", "a: \" one\\n\"\n");
	return done();
}
