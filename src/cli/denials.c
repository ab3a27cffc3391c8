/* SPDX-License-Identifier: MIT */
/* The end of a command that was refused something. */
#include "cli/denials.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

void denials_add(struct denials *denials, const char *text, const char *fix)
{
	char whole[sizeof(denials->v[0].text)];
	size_t i = 0;

	snprintf(whole, sizeof(whole), "%s%s%s", text, fix ? "; to allow it: " : "",
		 fix ? fix : "");
	while (i < denials->n && strcmp(denials->v[i].text, whole))
		i++;
	if (i == ARRAY_LEN(denials->v)) {
		denials->others++;
		return;
	}
	if (i == denials->n)
		memcpy(denials->v[denials->n++].text, whole, sizeof(whole));
	denials->v[i].count++;
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
