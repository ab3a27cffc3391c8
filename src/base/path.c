/* SPDX-License-Identifier: MIT */
/* Paths as text. */
#include "base/path.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

/* Where the last component of the clean path out[0..len) begins. */
static size_t last_component(const char *out, size_t len)
{
	while (len && out[len - 1] != '/')
		len--;
	return len;
}

/* Appends the components of path to the clean path out[0..len), which does not end in '/'. */
static size_t add_components(char *out, size_t len, bool absolute, const char *path)
{
	while (*path) {
		size_t n, last = last_component(out, len);
		bool up, stuck;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		up = n == 2 && !memcmp(path, "..", 2);
		/* There is nothing above '/'; a relative path keeps the '..' that lead out of it. */
		stuck = !len || (len - last == 2 && !memcmp(out + last, "..", 2));
		if (up && !(stuck && !absolute)) {
			len = last ? last - 1 : 0;
		} else if (n && !(n == 1 && *path == '.')) {
			if (len || absolute)
				out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		path += n;
	}
	return len;
}

char *path_join(struct arena *arena, const char *base, const char *path)
{
	bool absolute = path[0] == '/' || base[0] == '/';
	char *out = arena_alloc(arena, strlen(base) + strlen(path) + 3);
	size_t len = 0;

	if (path[0] != '/')
		len = add_components(out, len, absolute, base);
	len = add_components(out, len, absolute, path);
	if (!len)
		out[len++] = absolute ? '/' : '.';
	out[len] = '\0';
	return out;
}

char *path_at(struct arena *arena, const char *base, const char *path)
{
	return path[0] == '/' ? arena_strdup(arena, path)
			      : arena_printf(arena, "%s/%s", base, path);
}

const char *path_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (!strcmp(dir, "/"))
		return path + 1;
	if (strncmp(path, dir, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

bool path_is_below(const char *path, const char *dir)
{
	return path_below(path, dir) != NULL;
}

size_t path_parent_len(const char *path, size_t len)
{
	if (len <= 1)
		return 0;
	while (len && path[len - 1] != '/')
		len--;
	return len ? MAX(len - 1, (size_t)1) : 0;
}

char *path_parent(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return arena_strdup(arena, ".");
	return slash == path ? arena_strdup(arena, "/")
			     : arena_strndup(arena, path, (size_t)(slash - path));
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* True when the name at s is exactly 'name', not the beginning of a longer one. */
static bool is_variable(const char *s, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(s, name, len) && !isalnum((unsigned char)s[len]) && s[len] != '_';
}

char *path_expand(struct arena *arena, const char *path, const char *home, const char *user)
{
	_cleanup_str_ struct str out = { 0 };

	if (path[0] == '~' && (!path[1] || path[1] == '/')) {
		str_add(&out, home);
		path++;
	}
	while (*path) {
		if (is_variable(path, "$HOME")) {
			str_add(&out, home);
			path += strlen("$HOME");
		} else if (is_variable(path, "$USER")) {
			str_add(&out, user);
			path += strlen("$USER");
		} else {
			str_addn(&out, path++, 1);
		}
	}
	return arena_strdup(arena, out.s ? out.s : "");
}

static bool list_has(const char *list, const char *dir, size_t len)
{
	for (; *list; list += strcspn(list, ":"), list += *list == ':')
		if (strcspn(list, ":") == len && !memcmp(list, dir, len))
			return true;
	return false;
}

char *path_list_add(struct arena *arena, const char *list, const char *more)
{
	char *both = arena_strdup(arena, list);

	for (; more && *more; more += strcspn(more, ":"), more += *more == ':') {
		size_t len = strcspn(more, ":");

		if (len && !list_has(both, more, len))
			both = arena_printf(arena, "%s:%.*s", both, (int)len, more);
	}
	return both;
}
