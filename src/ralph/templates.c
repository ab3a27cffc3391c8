/* SPDX-License-Identifier: MIT */
/* Which templates there are, what each may use, and where their text is. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/embed.h"
#include "os/fs.h"
#include "ralph/template.h"

extern const struct embedded builtin_templates[]; /* generated from data/ralph/ */

enum { TEMPLATE_MAX = 256 * 1024 };

#define VARS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct template_info infos[] = {
	{ "plan", "the interview that ends in a spec",
	  VARS("FEATURE", "SPEC_PATH", "PINNED", "EXISTING") },
	{ "ready", "cutting the spec into tasks",
	  VARS("FEATURE", "SPEC_PATH", "PINNED", "EXISTING_ITEMS") },
	{ "step", "one task",
	  VARS("FEATURE", "SPEC_PATH", "PINNED", "ITEM_ID", "TITLE", "DESCRIPTION", "NOTES",
	       "PREVIOUS_FAILURE", "PROTECTED", "GATE") },
	{ "check", "an independent reviewer of the finished work",
	  VARS("FEATURE", "SPEC_PATH", "PINNED", "ITEMS") },
	{ "judge", "one criterion of a spec",
	  VARS("FEATURE", "SPEC_PATH", "CRITERION", "RUBRIC_PATH") },
	{ "pin", "what an agent is told again when its memory was compacted",
	  VARS("FEATURE", "SPEC_PATH", "PINNED", "ITEM_ID", "TITLE") },
	{ "signals", "how an agent says how its task ended", NULL },
	{ "items", "how an agent uses 'ralph item'", NULL },
	{ "context", "where the agent is", NULL },
};

const struct template_info *template_info(size_t i)
{
	return i < ARRAY_LEN(infos) ? &infos[i] : NULL;
}

const struct template_info *template_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(infos); i++)
		if (!strcmp(infos[i].name, name))
			return &infos[i];
	return NULL;
}

const char *template_built_in(const char *name, size_t *ret_len)
{
	for (const struct embedded *e = builtin_templates; e->name; e++)
		if (!strcmp(e->name, name)) {
			*ret_len = e->len;
			return e->data;
		}
	return NULL;
}

int template_find(const struct template_source *source, struct arena *arena, const char *name,
		  const char **ret_text, size_t *ret_len, struct err *err)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	char file[80];
	int r;

	if (!template_named(name))
		return err_usage(err, "there is no template '%s'", name);
	snprintf(file, sizeof(file), "%s.md", name);
	/* The project's files are hostile: no link leads out of them. */
	if (source->dir >= 0)
		fd = os_openat2(source->dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (fd == -ENOENT || source->dir < 0) {
		*ret_text = template_built_in(name, ret_len);
		return *ret_text ? 0 : err_set(err, ENOENT, "the template '%s' is missing", name);
	}
	r = fd < 0 ? fd : os_read_fd(fd, TEMPLATE_MAX, &text, ret_len);
	if (r < 0)
		return err_errno(err, -r, "reading the template '%s' of the project", file);
	*ret_text = arena_strndup(arena, text, *ret_len);
	return 0;
}
