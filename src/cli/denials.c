/* SPDX-License-Identifier: MIT */
/* The end of a command that was refused something. */
#include "cli/denials.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

bool denials_again(struct denials *denials, const char *key)
{
	for (size_t i = 0; i < denials->n; i++)
		if (!strncmp(denials->v[i].key, key, sizeof(denials->v[i].key) - 1)) {
			denials->v[i].count++;
			return true;
		}
	if (denials->n < ARRAY_LEN(denials->v))
		return false;
	denials->others++;
	return true;
}

void denials_add(struct denials *denials, const char *key, const char *text, const char *fix)
{
	size_t i = denials->n;

	if (i == ARRAY_LEN(denials->v))
		return;
	snprintf(denials->v[i].key, sizeof(denials->v[i].key), "%s", key);
	snprintf(denials->v[i].text, sizeof(denials->v[i].text), "%s%s%s", text,
		 fix ? "; to allow it: " : "", fix ? fix : "");
	denials->v[i].count = 1;
	denials->n++;
}

void denials_print(const struct denials *denials, const char *hint)
{
	if (!denials->n)
		return;
	for (size_t i = 0; i < denials->n; i++) {
		fprintf(stderr, "wrapix: refused %s", denials->v[i].text);
		if (denials->v[i].count > 1)
			fprintf(stderr, " (%lu times)", denials->v[i].count);
		fputc('\n', stderr);
	}
	if (denials->others)
		fprintf(stderr, "wrapix: and refused %lu more\n", denials->others);
	if (!denials->log[0] && !hint)
		return;
	fprintf(stderr, "hint: %s%s", hint ? hint : "", hint && denials->log[0] ? "; " : "");
	if (denials->log[0])
		fprintf(stderr,
			"'wrapix log --violations %s' shows all, 'wrapix learn %s' proposes "
			"settings",
			denials->log, denials->log);
	fputc('\n', stderr);
}

/* Nothing in a line ends the block or begins another; the rest was escaped before. */
static void add_plain(struct str *out, const char *text)
{
	for (; *text; text++)
		if (*text != '<' && *text != '>')
			str_addn(out, text, 1);
}

void denials_add_line(struct denials *denials, const char *line, const char *fix)
{
	_cleanup_str_ struct str out = { 0 };

	if (denials->lines.len == DENIALS_ANNOTATED)
		return;
	add_plain(&out, line);
	if (fix) {
		str_add(&out, "; to allow it: ");
		add_plain(&out, fix);
	}
	if (!strv_has(&denials->lines, out.s))
		strv_add(&denials->arena, &denials->lines, out.s);
}

void denials_annotate(const struct denials *denials)
{
	if (!denials->lines.len)
		return;
	fputs("\n<sandbox_violations>\n", stderr);
	for (size_t i = 0; i < denials->lines.len; i++)
		fprintf(stderr, "%s\n", denials->lines.v[i]);
	fputs("</sandbox_violations>\n", stderr);
}

void denials_release(struct denials *denials)
{
	arena_release(&denials->arena);
}
