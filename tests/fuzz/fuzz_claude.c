/* SPDX-License-Identifier: MIT */
/*
 * A settings text, and behind the first NUL a command: read as each source's file, with and without
 * trust. Every value has a fate; the SandboxRuntimeConfig is JSON with a source for each line; a
 * lock and a deny rule hold whatever the text says.
 */
#include <string.h>

#include "base/json_span.h"
#include "spec/claude_check.h"
#include "fuzz.h"

static void check_values(const struct claude_settings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct claude_value *v = &s->values[i];

		check(v->name && v->path && v->line && v->fate < CLAUDE_FATES);
		check(v->key || v->fate == CLAUDE_NOT_POLICY || v->fate == CLAUDE_UNKNOWN);
		check(!v->key || v->json);
	}
}

static void check_srt(struct claude_settings *s)
{
	_cleanup_json_doc_ struct json_doc doc = { .spans = NULL };
	struct claude_srt srt;
	struct err err = { 0 };

	claude_to_srt(s, &srt);
	check(json_doc_parse(&doc, srt.text.s, srt.text.len, SIZE_MAX, "srt", &err) == 0 ||
	      strstr(err.msg, "too deeply") || strstr(err.msg, "stands twice"));
	for (size_t i = 0; i < doc.n_spans; i++)
		check(doc.spans[i].line <= srt.n_lines);
	claude_srt_release(&srt);
}

/* Under a lock and a deny rule, a project's file neither widens nor allows. */
static void check_locked(const struct claude_settings *s, const char *command)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_verdict verdict;

	check(!claude_get(s, "sandbox.filesystem.allowWrite") &&
	      !claude_get(s, "sandbox.excludedCommands") &&
	      !claude_get(s, "sandbox.network.allowedDomains") &&
	      !claude_get(s, "sandbox.filesystem.disabled"));
	check(claude_mode(s) != CLAUDE_DISABLED);
	claude_check(&arena, s, &(struct claude_question){ .command = command }, &verdict);
	check(verdict.why && verdict.answer == CLAUDE_DENY);
}

static void read_as(const char *text, size_t len, enum claude_scope scope, bool trusted,
		    const char *command)
{
	static const char policy[] =
		"{\"sandbox\":{\"enabled\":true,\"allowUnsandboxedCommands\":false},"
		"\"permissions\":{\"deny\":[\"Bash\"]}}";
	struct claude_place place = { "/h", "/h/.claude", "/p", "/p", NULL, trusted };
	struct claude_source sources[] = { { scope, "f", text, len },
					   { CLAUDE_MANAGED, "m", policy, sizeof(policy) - 1 } };
	_cleanup_claude_ struct claude_settings s = { .n = 0 }, locked = { .n = 0 };
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_verdict verdict;
	struct err err = { 0 };

	if (claude_settings_parse(&s, sources, 1, &place, &err) < 0) {
		check(err.msg[0] && err.exit == EXIT_USAGE);
		return;
	}
	check_values(&s);
	check_srt(&s);
	claude_check(&arena, &s, &(struct claude_question){ .command = command }, &verdict);
	check(verdict.why != NULL);
	if (claude_settings_parse(&locked, sources, 2, &place, &err) == 0 &&
	    (scope == CLAUDE_PROJECT || scope == CLAUDE_LOCAL))
		check_locked(&locked, command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *nul = memchr(data, 0, size);
	size_t len = nul ? (size_t)(nul - text) : size;
	_cleanup_str_ struct str command = { 0 };

	str_add(&command, "");
	if (nul)
		str_addn(&command, nul + 1, size - len - 1);
	for (int scope = 0; scope < CLAUDE_SCOPES; scope++) {
		read_as(text, len, (enum claude_scope)scope, true, command.s);
		read_as(text, len, (enum claude_scope)scope, false, command.s);
	}
	return 0;
}
