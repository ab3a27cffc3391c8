/* SPDX-License-Identifier: MIT */
/* Signals: only as the whole last line, so that an agent that merely mentions one ends nothing. */
#include "ralph/verdict.h"

#include <string.h>

static const char *const names[VERDICT_COUNT] = {
	[VERDICT_NONE] = "running",       [VERDICT_COMPLETE] = "complete",
	[VERDICT_BLOCKED] = "blocked",    [VERDICT_CLARIFY] = "question",
	[VERDICT_FAILED] = "failed",      [VERDICT_CRASHED] = "crashed",
	[VERDICT_TIMEOUT] = "timeout",    [VERDICT_BUDGET] = "budget",
	[VERDICT_GATE] = "gate",          [VERDICT_CONFLICT] = "conflict",
	[VERDICT_REFUSED] = "refused",    [VERDICT_HOOK] = "hook",
	[VERDICT_KILLED] = "interrupted",
};

const char *verdict_name(enum verdict verdict)
{
	return names[verdict];
}

enum verdict verdict_of(const char *name)
{
	for (enum verdict v = VERDICT_NONE; name && v < VERDICT_COUNT; v++)
		if (!strcmp(names[v], name))
			return v;
	return VERDICT_NONE;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The last line with something in it, without the blanks at its ends. */
static const char *last_line(const char *text, size_t len, size_t *ret_len)
{
	const char *end = text + len, *start;

	while (end > text && is_blank(end[-1]))
		end--;
	start = end;
	while (start > text && start[-1] != '\n')
		start--;
	while (start < end && is_blank(*start))
		start++;
	*ret_len = (size_t)(end - start);
	return start;
}

bool verdict_last_line(const char *text, size_t len, const char *word, const char **ret_text,
		       size_t *ret_len)
{
	size_t n, word_len = strlen(word);
	const char *line = last_line(text, len, &n);

	if (n < word_len || memcmp(line, word, word_len) != 0)
		return false;
	line += word_len;
	n -= word_len;
	if (n && *line != ':')
		return false;
	for (line += n ? 1 : 0, n -= n ? 1 : 0; n && is_blank(*line); n--)
		line++;
	*ret_text = line;
	*ret_len = n;
	return true;
}

enum verdict verdict_signal(const char *text, size_t len, const char **ret_text, size_t *ret_len)
{
	static const struct {
		const char *word;
		enum verdict verdict;
		bool has_text;
	} signals[] = {
		{ "RALPH_COMPLETE", VERDICT_COMPLETE, false },
		{ "RALPH_BLOCKED", VERDICT_BLOCKED, true },
		{ "RALPH_CLARIFY", VERDICT_CLARIFY, true },
	};

	*ret_text = "";
	*ret_len = 0;
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		const char *rest;
		size_t n;

		if (!verdict_last_line(text, len, signals[i].word, &rest, &n))
			continue;
		/* "RALPH_COMPLETE: but" is no signal, and neither is a question without one. */
		if (signals[i].has_text != (n > 0) || (!n && rest[-1] == ':'))
			return VERDICT_NONE;
		*ret_text = rest;
		*ret_len = n;
		return signals[i].verdict;
	}
	return VERDICT_NONE;
}
