/* SPDX-License-Identifier: MIT */
/* How the commands of ralph begin, speak and end. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/ralph/ralph.h"
#include "os/proc.h"

static void add_plain(struct str *out, const char *text)
{
	str_add(out, "");
	str_add_visible(out, text ? text : "", text ? strlen(text) : 0);
}

void print_plain(const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	add_plain(&out, text);
	fputs(out.s, stdout);
}

void print_title(const char *name, const char *title)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "%s%s", name, title ? ": " : "");
	str_add_escaped(&out, title ? title : "");
	fputs(out.s, stdout);
}

static void on_say(_unused_ void *ctx, const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	add_plain(&out, text);
	printf("%s\n", out.s);
	fflush(stdout);
}

/* One line for each thing that an agent does. */
static void on_act(void *ctx, const char *who, enum act act, const char *text)
{
	static const struct {
		const char *mark, *color;
		bool verbose;
	} marks[] = {
		[ACT_TEXT] = { "  ", "0", false },   [ACT_THINKING] = { "~ ", "2", true },
		[ACT_TOOL] = { "> ", "36", false },  [ACT_RESULT] = { "< ", "2", true },
		[ACT_ERROR] = { "! ", "31", false }, [ACT_END] = { "= ", "1", true },
		[ACT_NOISE] = { "? ", "2", true },
	};
	_cleanup_str_ struct str out = { 0 };
	bool color = cli_color(stdout);

	if ((marks[act].verbose && !*(bool *)ctx) || !*text)
		return;
	str_add_escaped(&out, text);
	if (color)
		printf("%s \x1b[%sm%s%s\x1b[0m\n", who, marks[act].color, marks[act].mark, out.s);
	else
		printf("%s %s%s\n", who, marks[act].mark, out.s);
	fflush(stdout);
}

int ralph_fail(const struct err *err)
{
	cli_print_err(err);
	return err->exit == EXIT_USAGE ? EXIT_USAGE : 1;
}

void ralph_next(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("next: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int ralph_open(struct work *work, const char *agent, const struct opt_rest *rest,
	       struct feature *feature, bool verbose)
{
	static bool shown;
	struct err err = { 0 };
	int r;

	shown = verbose;
	work->view = (struct work_view){ .act = on_act, .say = on_say, .ctx = &shown };
	r = work_open(work, agent, &err);
	if (r == 0 && feature)
		r = work_feature(work, rest && rest->n_operands ? rest->operands[0] : NULL, feature,
				 &err);
	if (r == 0)
		return CLI_GO_ON;
	work_close(work);
	return ralph_fail(&err);
}

void add_duration(struct str *out, int64_t ms)
{
	int64_t s = ms / 1000;

	if (s >= 3600)
		str_addf(out, "%lldh %lldm", (long long)(s / 3600), (long long)(s / 60 % 60));
	else if (s >= 60)
		str_addf(out, "%lldm %llds", (long long)(s / 60), (long long)(s % 60));
	else
		str_addf(out, "%lld.%llds", (long long)s, (long long)(ms / 100 % 10));
}
