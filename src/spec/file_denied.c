/* SPDX-License-Identifier: MIT */
/* Denied paths, by a table of them and of what lies above; see file_denied.h. */
#include "spec/file_denied.h"

#include <string.h>

#include "base/path.h"

/* Of paths and what lies above them. */
enum { BYTES_MAX = 16 << 20 };

struct denied_path {
	const struct file_rule *rule;  /* NULL: it lies above one */
	const struct file_rule *below; /* the last that was added; NULL: none */
};

static struct denied_path *make(struct file_denied *denied, const char *path, size_t len)
{
	return path_map_make(&denied->paths, path, len, sizeof(struct denied_path));
}

void file_denied_add(struct file_denied *denied, const char *path, const char *key)
{
	struct file_rule *rule = arena_alloc(&denied->paths.arena, sizeof(*rule));
	size_t len;

	if (denied->paths.bytes >= BYTES_MAX)
		path = "/";
	rule->kind = FILE_DENY_WRITE;
	rule->text = rule->path = arena_strdup(&denied->paths.arena, path);
	rule->key = arena_strdup(&denied->paths.arena, key);
	len = strlen(path);
	make(denied, path, len)->rule = rule;
	while ((len = path_parent_len(path, len)) > 0)
		make(denied, path, len)->below = rule;
}

const struct file_rule *file_denied_cover(const struct file_denied *denied, const char *path)
{
	const struct denied_path *found;

	for (size_t n = strlen(path); n > 0; n = path_parent_len(path, n)) {
		found = path_map_get(&denied->paths, path, n);
		if (found && found->rule)
			return found->rule;
	}
	return NULL;
}

static const struct file_rule *below(const struct file_denied *denied, const char *path)
{
	const struct denied_path *found = path_map_get(&denied->paths, path, strlen(path));

	return found ? found->below : NULL;
}

const struct file_rule *file_denied_difference(const struct file_denied *denied, const char *from,
					       const char *to)
{
	const struct file_rule *here = file_denied_cover(denied, from);
	const struct file_rule *there = file_denied_cover(denied, to);

	if (!strcmp(from, to))
		return NULL;
	if (here != there)
		return here ? here : there;
	here = below(denied, from);
	return here ? here : below(denied, to);
}

const struct file_rule *file_denied_next(const struct file_denied *denied, size_t *at)
{
	while (*at < denied->paths.n_slots) {
		const struct denied_path *found = denied->paths.slots[(*at)++].value;

		if (found && found->rule)
			return found->rule;
	}
	return NULL;
}

void file_denied_release(struct file_denied *denied)
{
	path_map_release(&denied->paths);
}
