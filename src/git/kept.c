/* SPDX-License-Identifier: MIT */
/*
 * What the host's branches were before a session rewrote or deleted them stays in reach as refs/wrapix/ID/was. Nothing waits
 * there for a decision, so the session may be gone when the user has no more use for it.
 */
#include <errno.h>
#include <unistd.h>

#include "git/priv.h"

int git_delete_refs(struct git_store *store, const char *prefix, size_t *ret_n, struct err *err)
{
	_cleanup_str_ struct str lines = { 0 };
	struct git_state host;
	struct git_run run;
	int r = git_read_host(store, &store->arena, &host, err);

	*ret_n = 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < host.refs.n; i++)
		if (str_starts(host.refs.v[i].name, prefix)) {
			str_addf(&lines, "delete %s %s\n", host.refs.v[i].name,
				 host.refs.v[i].value);
			++*ret_n;
		}
	run = git_change(store, false, GIT_ARGS("update-ref", "--stdin"), lines.s);
	run.input = lines.s;
	run.input_len = lines.len;
	return *ret_n ? git_do(&run, NULL, err) : 0;
}

static int drop_kept(struct git_store *store, size_t *ret_n, struct err *err)
{
	char *prefix = arena_printf(&store->arena, "refs/wrapix/%s/was/", store->id);
	int r;

	*ret_n = 0;
	if (store->tree || !git_is_same(store)) /* they are the repository's, or gone with it */
		return 0;
	r = git_begin_turn(store, err);
	if (r < 0)
		return r;
	r = git_delete_refs(store, prefix, ret_n, err);
	git_end_turn(store);
	return r;
}

int git_drop_kept(struct git_store *store, size_t *ret_n, struct err *err)
{
	int r = drop_kept(store, ret_n, err);

	for (size_t i = 0; r == 0 && i < store->n_parts; i++) {
		size_t n;

		r = drop_kept(&store->parts[i], &n, err);
		*ret_n += n;
	}
	return r;
}

/* A record for as long as it takes: what our git locks is noted there. One that somebody makes at this moment is left alone. */
int git_drop_kept_of(const struct git_about *about, size_t *ret_n, struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	struct err ignored;
	int r = git_store_describe(&store, about, err);

	if (r < 0)
		return r;
	git_add_modules(&store, about);
	r = git_store_make_record(&store, err);
	if (r == 0)
		r = git_lock(&store, err);
	if (r == 0 && faccessat(store.dir, "meta", F_OK, 0) == 0)
		r = err_set(err, EBUSY, "the session '%s' is starting", store.id);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < store.n_parts; i++)
		r = git_store_make_record(&store.parts[i], err);
	if (r == 0)
		r = git_drop_kept(&store, ret_n, err);
	(void)git_remove(&store, &ignored);
	return r;
}
