/* SPDX-License-Identifier: MIT */
/* By the user's word: what was held is done to the host, or forgotten. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"
#include "spec/gitkeys.h"

static int changed_meanwhile(const char *what, const char *name, struct err *err)
{
	err_set(err, EEXIST, "%s '%s' is not what the session began with: you changed it meanwhile",
		what, name);
	return err_hint(err, "nothing was changed; --theirs takes the session's, 'wrapix git drop' "
			     "forgets it");
}

/* The host's value is another than the one that the session began with, and than the session's. */
static int config_changed(struct git_store *store, const char *name,
			  const struct git_items *session, bool *ret, struct err *err)
{
	struct git_items base = { 0 }, host = { 0 };
	struct git_state states[2];
	struct gitkeys keys[2];
	int r = git_base_load(store, "start", &store->arena, &states[0], err);

	if (r == 0)
		r = git_read_host(store, &store->arena, &states[1], err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(states); i++)
		if (gitkeys_parse(&store->arena, states[i].config, states[i].config_len, &keys[i]) <
		    0)
			r = err_set(err, EINVAL, "the configuration is not a plain one");
	if (r < 0)
		return r;
	git_values_of(&store->arena, &keys[0], name, &base);
	git_values_of(&store->arena, &keys[1], name, &host);
	*ret = !git_same_values(&base, &host) && !git_same_values(session, &host);
	return 0;
}

static int accept_config(struct git_store *store, const struct git_held *held, struct err *err)
{
	_cleanup_close_ int dir = open(store->private, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct git_items values = { 0 };
	struct gitkeys keys;
	bool changed = false;
	size_t len;
	int r = 0;

	if (dir < 0 || git_read_file(dir, "config", GITKEYS_MAX, &text, &len) < 0 ||
	    gitkeys_parse(&store->arena, text, len, &keys) < 0)
		return err_set(err, EINVAL, "the session's configuration cannot be read");
	git_values_of(&store->arena, &keys, held->name, &values);
	if (!held->anyway)
		r = config_changed(store, held->name, &values, &changed, err);
	if (r == 0 && changed)
		r = changed_meanwhile("the key", held->name, err);
	return r < 0 ? r : git_config_set(store, held->name, &values, err);
}

/* The host's hook is neither the one that the session began with nor the session's. */
static bool hook_changed(const struct git_store *store, int host, const char *name,
			 const char *session, size_t session_len)
{
	_cleanup_close_ int base = openat(store->dir, "hooks",
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *was = NULL, *is = NULL;
	size_t was_len = 0, is_len = 0;

	if (git_read_hook(host, name, &is, &is_len) < 0) /* it is not there */
		return base >= 0 && git_read_hook(base, name, &was, &was_len) == 0;
	if (is_len == session_len && !memcmp(is, session, is_len))
		return false;
	return base < 0 || git_read_hook(base, name, &was, &was_len) < 0 || was_len != is_len ||
	       memcmp(was, is, is_len) != 0;
}

static int accept_hook(struct git_store *store, const struct git_held *held, struct err *err)
{
	struct arena *a = &store->arena;
	const char *name = held->name;
	_cleanup_close_ int from = open(path_join(a, store->private, "hooks"),
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int common = git_open_host(store, store->common), to = -1;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	if (common < 0 || (mkdirat(common, "hooks", 0755) < 0 && errno != EEXIST))
		return err_errno(err, errno, "making the directory of hooks");
	to = git_open_hooks(store, NULL);
	if (strchr(name, '/') || to < 0 || from < 0 || git_read_hook(from, name, &text, &len) < 0)
		return err_set(err, ENOENT, "the session has no hook '%s' that is a file", name);
	if (!held->anyway && hook_changed(store, to, name, text, len))
		return changed_meanwhile("the hook", name, err);
	return os_write_file_atomic(to, name, text, len, 0755, err);
}

/* It is the host's to delete, and not one that the host did not take. */
static int check_deleted(struct git_store *store, const char *name, struct err *err)
{
	_cleanup_close_ int dir = open(store->private, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct git_items refs = { 0 };

	if (dir < 0 || git_refs_read(&store->arena, dir, &refs, NULL) < 0)
		return err_set(err, EINVAL, "the session's references cannot be read");
	return git_find(&refs, name)
		       ? err_set(err, ENOTSUP, "the host's git did not take '%s'", name)
		       : 0;
}

/* The host's value stays in reach under refs/wrapix. */
static int accept_ref(struct git_store *store, const struct git_held *held, struct err *err)
{
	const char *name = held->name;
	struct arena *a = &store->arena;
	char *other, *was;
	struct git_state host;
	struct git_run keep, set;
	const char *now, *new;
	int r = git_ref_ok(name) ? git_read_host(store, a, &host, err)
				 : err_set(err, EINVAL, "the host takes no such name");

	if (r < 0)
		return r;
	other = arena_printf(a, "refs/wrapix/%s/diverged/%s", store->id, name + 5);
	now = git_find(&host.refs, name);
	new = git_find(&host.refs, other);
	if (!now && !new)
		return err_set(err, ENOENT, "there is nothing left to do");
	if (!new)
		r = check_deleted(store, name, err);
	if (r == 0 && now) {
		was = git_was_name(a, store, &host.refs, name, now);
		keep = git_change(store, false, GIT_ARGS("update-ref", was, now),
				  arena_printf(a, "update %s %s\n", was, now));
		r = git_do(&keep, NULL, err);
	}
	if (r == 0 && new)
		set = git_change(
			store, false,
			GIT_ARGS("update-ref", "-m", git_message(a, store, "accept"), name, new),
			arena_printf(a, "update %s %s\n", name, new));
	else
		set = git_change(store, false, GIT_ARGS("update-ref", "-d", name, now),
				 arena_printf(a, "delete %s %s\n", name, now));
	return r < 0 ? r : git_do(&set, NULL, err);
}

static const struct {
	const char *kind;
	int (*accept)(struct git_store *store, const struct git_held *held, struct err *err);
	bool live; /* it is what the session has right now, and runs on the host */
} kinds[] = {
	{ "config", accept_config, true },
	{ "hook", accept_hook, true },
	{ "branch", accept_ref, false },
	{ "tag", accept_ref, false },
};

/* Nobody writes there any more, so that what is taken is what the user has looked at. */
static int check_ended(struct git_store *store, struct err *err)
{
	int r = git_lock(store, err);

	return r < 0 ? err_wrap(err, "it could still change what you looked at") : 0;
}

static int find(struct git_store *store, const struct git_held *held, struct git_held **list,
		size_t *n, size_t *at, struct err *err)
{
	int r = git_held_read(store, &store->arena, list, n, err);

	if (r < 0)
		return r;
	for (*at = 0; *at < *n; ++*at)
		if (git_held_same(&(*list)[*at], held))
			return 0;
	err_set(err, ENOENT, "the session '%s' holds no %s '%s'", store->id, held->kind,
		held->name);
	return err_hint(err, "'wrapix git held %s' lists what it holds", store->id);
}

struct git_store *git_part_of(struct git_store *store, const char *where)
{
	for (size_t i = 0; i < store->n_parts; i++)
		if (*where &&
		    git_same(store->parts[i].where ? store->parts[i].where : store->parts[i].name,
			     where))
			return &store->parts[i];
	return store;
}

static int check_same(const struct git_store *store, struct err *err)
{
	return git_is_same(store)
		       ? 0
		       : err_set(err, ENOTSUP, "'%s' is another repository than the one of '%s'",
				 store->real, store->id);
}

int git_accept(struct git_store *store, const struct git_held *held, struct err *err)
{
	struct git_held *list;
	size_t n, at;
	int r = find(store, held, &list, &n, &at, err);

	if (r < 0)
		return r;
	r = check_same(store, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].kind, held->kind)) {
			struct git_store *part = git_part_of(store, held->where);

			r = kinds[i].live ? check_ended(store, err) : 0;
			if (r == 0)
				r = git_begin_turn(part, err);
			if (r < 0)
				return r;
			r = check_same(part, err); /* that may have taken long */
			if (r == 0)
				r = kinds[i].accept(part, held, err);
			git_end_turn(part);
			return r < 0 ? r : git_drop(store, held, err);
		}
	return err_set(err, ENOTSUP, "%s '%s' cannot be carried over: %s", held->kind, held->name,
		       list[at].why);
}

int git_drop(struct git_store *store, const struct git_held *held, struct err *err)
{
	struct git_held *list;
	size_t n, at;
	int r = find(store, held, &list, &n, &at, err);

	return r < 0 ? r : git_held_forget(store, list, n, at, err);
}
