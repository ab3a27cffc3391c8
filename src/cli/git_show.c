/* SPDX-License-Identifier: MIT */
/* wrapix git held --show: the values and texts behind what is held, before the user accepts them. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/git_job.h"
#include "cow/unified.h"

enum { LINES_MAX = 400, COLUMNS_MAX = 2000 };

static void print_line(const char *indent, const char *mark, const char *text, size_t len)
{
	_cleanup_str_ struct str out = { 0 };
	struct arena arena = { 0 };

	str_add_escaped(&out, arena_strndup(&arena, text, MIN(len, (size_t)COLUMNS_MAX)));
	printf("%s  %s%s", indent, mark, out.s ? out.s : "");
	if (len > COLUMNS_MAX)
		printf("... and %zu bytes more", len - COLUMNS_MAX);
	putchar('\n');
	arena_release(&arena);
}

static void print_values(const char *indent, const char *mark, const struct strv *values)
{
	for (size_t i = 0; i < values->len; i++)
		print_line(indent, mark, values->v[i], strlen(values->v[i]));
}

static const char *text_of(const struct strv *list)
{
	return list->len ? list->v[0] : "";
}

static bool is_program(const struct git_content *c)
{
	return strlen(text_of(&c->is)) != c->is_size || strlen(text_of(&c->was)) != c->was_size;
}

/* What makes the session's of the user's. */
static void print_file(const char *indent, const struct git_content *c)
{
	_cleanup_str_ struct str diff = { 0 };
	struct unified_stat stat;
	size_t n = 0;

	if (is_program(c)) {
		printf("%s  no text, %zu bytes: ", indent, c->is_size);
		git_print(c->file);
		putchar('\n');
		return;
	}
	unified_add(&diff, text_of(&c->was), c->was_size, text_of(&c->is), c->is_size, &stat);
	for (const char *line = diff.s; line && *line; n++) {
		size_t len = strcspn(line, "\n");

		if (n < LINES_MAX)
			print_line(indent, "", line, len);
		line += len + (line[len] == '\n');
	}
	if (n <= LINES_MAX)
		return;
	printf("%s  ... and %zu lines more: ", indent, n - LINES_MAX);
	git_print(c->file);
	putchar('\n');
}

void git_show_held(struct git_job *job, struct git_store *store, const struct git_held *held,
		   const char *indent)
{
	struct git_content content;
	struct err err;

	if (git_held_content(store, held, &job->arena, &content, &err) < 0) {
		printf("%s  (", indent);
		git_print(err.msg);
		printf(")\n");
	} else if (content.file) {
		print_file(indent, &content);
	} else {
		print_values(indent, "- ", &content.was);
		print_values(indent, "+ ", &content.is);
	}
}

void git_show_held_json(struct git_job *job, struct git_store *store, const struct git_held *held,
			struct str *json)
{
	struct git_content content;
	struct err err;

	if (git_held_content(store, held, &job->arena, &content, &err) < 0)
		return;
	str_add(json, ", \"was\": ");
	json_add_strings(json, &content.was);
	str_add(json, ", \"is\": ");
	json_add_strings(json, &content.is);
	if (content.file) {
		str_addf(json, ", \"bytes\": %zu, \"file\": ", content.is_size);
		json_add_string(json, content.file);
	}
}
