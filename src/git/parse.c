/* SPDX-License-Identifier: MIT */
/* What git prints about a repository, read with distrust. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "git/state.h"

#define NAME_MAX_LEN 250
#define HEX "0123456789abcdef"

bool git_oid_ok(const char *oid, size_t len)
{
	return (len == 40 || len == 64) && strspn(oid, HEX) >= len;
}

static bool component_ok(const char *s, size_t len)
{
	if (len == 0 || s[0] == '.' || s[0] == '-' || s[len - 1] == '.')
		return false;
	return len < 5 || memcmp(s + len - 5, ".lock", 5) != 0;
}

/* What check-ref-format(1) says, and nothing that looks like an option or an object. */
bool git_ref_ok(const char *name)
{
	const char *rest = str_starts(name, "refs/heads/")     ? name + 11
			   : str_starts(name, "refs/tags/")    ? name + 10
			   : str_starts(name, "refs/remotes/") ? name + 13
							       : NULL;

	if (!rest || strlen(name) > NAME_MAX_LEN || strstr(name, "..") || strstr(name, "@{") ||
	    !strcmp(rest, "@") || !strcasecmp(rest, "HEAD") || git_oid_ok(rest, strlen(rest)))
		return false;
	for (const char *p = rest; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 127 || strchr("~^:?*[\\", *p))
			return false;
	for (const char *p = rest;; p++) {
		size_t len = strcspn(p, "/");

		if (!component_ok(p, len))
			return false;
		p += len;
		if (!*p)
			return true;
	}
}

static bool is_dot_git(const char *s, size_t len)
{
	/* Names that other file systems take for ".git" are not for the host either. */
	return (len == 4 && !strncasecmp(s, ".git", 4)) ||
	       (len == 5 && !strncasecmp(s, "git~1", 5));
}

bool git_path_ok(const char *path)
{
	if (!*path || *path == '/' || strlen(path) > 4000)
		return false;
	for (const char *p = path;; p++) {
		size_t len = strcspn(p, "/");

		if (len == 0 || (len == 1 && p[0] == '.') || (len == 2 && !memcmp(p, "..", 2)) ||
		    is_dot_git(p, len))
			return false;
		p += len;
		if (!*p)
			return true;
	}
}

void git_add_item(struct arena *arena, struct git_items *items, const char *name, const char *value)
{
	struct git_item *item = arena_grow(arena, &items->v, &items->n, sizeof(*item));

	item->name = name;
	item->value = value;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct git_item *)a)->name, ((const struct git_item *)b)->name);
}

int git_sort(struct git_items *items)
{
	bool sorted = true;

	for (size_t i = 1; sorted && i < items->n; i++)
		sorted = by_name(&items->v[i - 1], &items->v[i]) < 0;
	if (!sorted)
		qsort(items->v, items->n, sizeof(*items->v), by_name);
	for (size_t i = 1; !sorted && i < items->n; i++)
		if (!strcmp(items->v[i - 1].name, items->v[i].name))
			return -EINVAL;
	items->sorted = true;
	return 0;
}

static int add_ref(struct arena *arena, const char *line, size_t len, struct git_items *ret)
{
	const char *space = memchr(line, ' ', len), *name, *end;
	size_t oid_len = space ? (size_t)(space - line) : 0;

	if (!space || !git_oid_ok(line, oid_len) || ret->n >= GIT_REFS_MAX)
		return -EINVAL;
	name = space + 1;
	end = memchr(name, ' ', len - oid_len - 1);
	if (end && end + 1 < line + len)
		return 0; /* symbolic */
	git_add_item(arena, ret,
		     arena_strndup(arena, name, end ? (size_t)(end - name) : len - oid_len - 1),
		     arena_strndup(arena, line, oid_len));
	return 0;
}

static int add_stash(struct arena *arena, const char *line, size_t len, struct git_items *ret)
{
	const char *space = memchr(line, ' ', len);
	size_t oid_len = space ? (size_t)(space - line) : len;
	char *oid;

	if (!git_oid_ok(line, oid_len) || ret->n >= GIT_NEW_REFS_MAX)
		return -EINVAL;
	oid = arena_strndup(arena, line, oid_len);
	if (!git_find(ret, oid)) /* a set */
		git_add_item(arena, ret, oid,
			     space ? arena_strndup(arena, space + 1, len - oid_len - 1) : "");
	return 0;
}

typedef int line_fn(struct arena *arena, const char *line, size_t len, struct git_items *ret);

static int each_line(struct arena *arena, const char *text, size_t len, line_fn *fn,
		     struct git_items *ret)
{
	*ret = (struct git_items){ 0 };
	for (const char *p = text, *end = text + len; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		int r = newline && !memchr(p, 0, (size_t)(newline - p))
				? fn(arena, p, (size_t)(newline - p), ret)
				: -EINVAL;

		if (r < 0)
			return r;
		p = newline + 1;
	}
	return 0;
}

int git_parse_refs(struct arena *arena, const char *text, size_t len, struct git_items *ret)
{
	int r = each_line(arena, text, len, add_ref, ret);

	return r < 0 ? r : git_sort(ret);
}

int git_parse_stash(struct arena *arena, const char *text, size_t len, struct git_items *ret)
{
	return each_line(arena, text, len, add_stash, ret);
}

/* "MODE OID STAGE" of a length. */
static bool entry_ok(const char *s, size_t len)
{
	static const char *const modes[] = { "100644 ", "100755 ", "120000 ", "160000 " };
	bool mode = false;

	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		mode |= !strncmp(s, modes[i], 7);
	return mode && len > 9 && git_oid_ok(s + 7, len - 9) && s[len - 2] == ' ' &&
	       s[len - 1] >= '0' && s[len - 1] <= '3';
}

int git_parse_index(struct arena *arena, const char *text, size_t len, struct git_items *ret)
{
	*ret = (struct git_items){ 0 };
	for (const char *p = text, *end = text + len; p < end;) {
		const char *nul = memchr(p, 0, (size_t)(end - p));
		const char *tab = nul ? memchr(p, '\t', (size_t)(nul - p)) : NULL;
		struct git_item *last = ret->n ? &ret->v[ret->n - 1] : NULL;

		if (!tab || !entry_ok(p, (size_t)(tab - p)) || !git_path_ok(tab + 1))
			return -EINVAL;
		if (last && !strcmp(last->name, tab + 1)) /* another stage of it */
			last->value = arena_printf(arena, "%s\n%.*s", last->value, (int)(tab - p),
						   p);
		else
			git_add_item(arena, ret, arena_strdup(arena, tab + 1),
				     arena_strndup(arena, p, (size_t)(tab - p)));
		p = nul + 1;
	}
	return git_sort(ret);
}

const char *git_parse_head(struct arena *arena, const char *text, size_t len)
{
	char *head;

	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	if (memchr(text, 0, len) || len > NAME_MAX_LEN + 5)
		return NULL;
	head = arena_strndup(arena, text, len);
	if (git_oid_ok(head, len))
		return head;
	if (!str_starts(head, "ref: refs/heads/") || !git_ref_ok(head + 5))
		return NULL;
	return head;
}

/* The stash is the only list that is not sorted, and it is short. */
const char *git_find(const struct git_items *items, const char *name)
{
	const struct git_item key = { .name = name }, *found;

	if (items->sorted) {
		found = items->n ? bsearch(&key, items->v, items->n, sizeof(key), by_name) : NULL;
		return found ? found->value : NULL;
	}
	for (size_t i = 0; i < items->n; i++)
		if (!strcmp(items->v[i].name, name))
			return items->v[i].value;
	return NULL;
}

bool git_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* NULL behind the last. */
static const char *name_at(const struct git_items *list, size_t at)
{
	return at < list->n ? list->v[at].name : NULL;
}

int git_each(const struct git_items *base, const struct git_items *session,
	     const struct git_items *host, git_each_fn *fn, void *ctx, struct err *err)
{
	const struct git_items *lists[] = { base, session, host };
	size_t at[3] = { 0 };

	for (;;) {
		const char *name = NULL, *values[3] = { 0 };
		int r;

		for (int i = 0; i < 3; i++) {
			const char *own = name_at(lists[i], at[i]);

			if (own && (!name || strcmp(own, name) < 0))
				name = own;
		}
		if (!name)
			return 0;
		for (int i = 0; i < 3; i++)
			if (git_same(name_at(lists[i], at[i]), name))
				values[i] = lists[i]->v[at[i]++].value;
		r = fn(ctx, name, values[0], values[1], values[2], err);
		if (r < 0)
			return r;
	}
}
