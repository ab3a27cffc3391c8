/* SPDX-License-Identifier: MIT */
/* A template, and after a NUL the value of its variable: the value comes out as it went in. */
#include <string.h>

#include "ralph/template.h"
#include "fuzz.h"

static const char *text;
static size_t text_len;

static int find(const struct template_source *source, struct arena *arena, const char *name,
		const char **ret_text, size_t *ret_len, struct err *err)
{
	(void)source;
	(void)arena;
	if (strcmp(name, "main") != 0 && strcmp(name, "part") != 0)
		return err_usage(err, "no such template");
	*ret_text = strcmp(name, "main") ? "{{X}}" : text;
	*ret_len = strcmp(name, "main") ? 5 : text_len;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { NULL };
	char *all = arena_strndup(&arena, size ? (const char *)data : "", size);
	const struct template_source source = { find, -1 };
	struct template_var var = { "X", "" };
	struct str plain = { 0 }, out = { 0 };
	struct err err;

	text = all;
	text_len = strlen(all);
	var.value = text_len < size ? all + text_len + 1 : "{{X}}&";
	if (template_render(&out, &source, "main", &var, 1, &err) == 0) {
		const char *value = var.value;
		size_t n;

		var.value = "";
		if (template_render(&plain, &source, "main", &var, 1, &err) < 0)
			abort();
		n = out.len - plain.len;
		if (strlen(value) ? n % strlen(value) : n)
			abort();
	}
	str_release(&plain);
	str_release(&out);
	arena_release(&arena);
	return 0;
}
