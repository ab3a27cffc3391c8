/* SPDX-License-Identifier: MIT */
/* What of the session's stands behind a name that is held: all of it is hostile text. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "spec/gitkeys.h"

static void add_values(struct arena *a, const struct gitkeys *keys, const char *name,
		       struct strv *ret)
{
	struct git_items values;

	git_values_of(a, keys, name, &values);
	for (size_t i = 0; i < values.n; i++)
		strv_add(a, ret, values.v[i].value);
}

static int read_config(struct git_store *store, const char *name, struct arena *a,
		       struct git_content *ret, struct err *err)
{
	_cleanup_close_ int dir = open(store->private, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct gitkeys session, yours = { 0 };
	struct git_state host;
	size_t len;
	int r = git_read_host(store, a, &host, err);

	if (r < 0)
		return r;
	if (dir < 0 || git_read_file(dir, "config", GITKEYS_MAX, &text, &len) < 0 ||
	    gitkeys_parse(a, text, len, &session) < 0)
		return err_set(err, EINVAL, "the session's configuration cannot be read");
	gitkeys_gather(a, host.config, host.config_len, &yours);
	add_values(a, &session, name, &ret->is);
	add_values(a, &yours, name, &ret->was);
	return 0;
}

static void add_hook(int dir, const char *name, struct arena *a, struct strv *ret, size_t *size)
{
	_cleanup_free_ char *text = NULL;

	*size = 0;
	if (dir >= 0 && git_read_hook(dir, name, &text, size) == 0)
		strv_add(a, ret, text);
}

static int read_hook(struct git_store *store, const char *name, struct arena *a,
		     struct git_content *ret, struct err *err)
{
	char *hooks = path_join(a, store->private, "hooks");
	_cleanup_close_ int from = open(hooks, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int to = git_open_hooks(store, NULL);

	if (strchr(name, '/') || from < 0)
		return err_set(err, ENOENT, "the session has no hook '%s' that is a file", name);
	add_hook(from, name, a, &ret->is, &ret->is_size);
	if (!ret->is.len)
		return err_set(err, ENOENT,
			       "it is no file, or too large a one, and cannot be accepted");
	add_hook(to, name, a, &ret->was, &ret->was_size);
	ret->file = path_join(a, hooks, name);
	return 0;
}

static int read_ref(struct git_store *store, const char *name, struct arena *a,
		    struct git_content *ret, struct err *err)
{
	struct git_state host;
	const char *now, *new;
	int r = git_ref_ok(name) ? git_read_host(store, a, &host, err)
				 : err_set(err, EINVAL, "the host takes no such name");

	if (r < 0)
		return r;
	now = git_find(&host.refs, name);
	new = git_find(&host.refs,
		       arena_printf(a, "refs/wrapix/%s/diverged/%s", store->id, name + 5));
	if (now)
		strv_add(a, &ret->was, now);
	if (new)
		strv_add(a, &ret->is, new);
	return 0;
}

static const struct {
	const char *kind;
	int (*read)(struct git_store *store, const char *name, struct arena *a,
		    struct git_content *ret, struct err *err);
} kinds[] = {
	{ "config", read_config },
	{ "hook", read_hook },
	{ "branch", read_ref },
	{ "tag", read_ref },
};

int git_held_content(struct git_store *store, const struct git_held *held, struct arena *arena,
		     struct git_content *ret, struct err *err)
{
	*ret = (struct git_content){ .file = NULL };
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].kind, held->kind))
			return kinds[i].read(git_part_of(store, held->where), held->name, arena,
					     ret, err);
	return err_set(err, ENOTSUP, "there is nothing to accept of it");
}
