/* SPDX-License-Identifier: MIT */
/* wrapix exec in a project of Claude Code's: whose settings count, and commands from its hook. */
#include <errno.h>
#include <string.h>

#include "cli/exec.h"
#include "cli/settings.h"

static const char *const words[] = { "claude", "srt", NULL };

const char *const *exec_from_words(_unused_ const char *name)
{
	return words;
}

int exec_choose(const struct exec_args *args, struct arena *arena, struct claude_where *ret,
		bool *ret_use, struct err *err)
{
	const char *from = args->srt || args->settings ? "srt" : args->from;
	int r;

	*ret_use = false;
	if (args->from && args->settings && strcmp(args->from, "srt"))
		return err_usage(err, "-s FILE is srt's; --settings-from claude has its own files");
	if (from && !strcmp(from, "srt"))
		return 0;
	r = cli_claude_where(arena, NULL, args->project, ret, err);
	if (r == 0)
		*ret_use = from || args->project || claude_is_project(ret);
	return r;
}

static int hex(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *d = c ? strchr(digits, c) : NULL;

	return d ? (int)(d - digits) : -1;
}

char *exec_decode(struct arena *arena, const char *text)
{
	char *out = arena_strdup(arena, text), *to = out;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*to++ = *text;
			continue;
		}
		high = hex(text[1]);
		low = high < 0 ? -1 : hex(text[2]);
		if (low < 0)
			return NULL;
		*to++ = (char)(high << 4 | low);
		text += 2;
	}
	*to = '\0';
	return out;
}
