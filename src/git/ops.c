/* SPDX-License-Identifier: MIT */
/* Operations that are not finished: a merge, a cherry-pick and a revert are the names of objects, and these travel. For lists
 * of commands see lists.c. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"
#include "session/record.h"

enum { OP_FILE_MAX = 4096 };

/* In the order of their names. */
static const struct {
	const char *file, *what;
} ops[] = {
	{ "CHERRY_PICK_HEAD", "cherry-pick" },
	{ "MERGE_HEAD", "merge" },
	{ "REVERT_HEAD", "revert" },
};

/* What git keeps beside those, and takes away with them. */
static const char *const beside[] = { "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE" };

/* One object to a line; here they are joined by commas. NULL for anything else. */
const char *git_parse_op(struct arena *arena, const char *text, size_t len)
{
	_cleanup_str_ struct str out = { 0 };

	for (const char *p = text, *end = text + len; p < end;) {
		const char *stop = p;

		while (stop < end && !strchr("\n,", *stop))
			stop++;
		if (!git_oid_ok(p, (size_t)(stop - p)))
			return NULL;
		str_addf(&out, "%s%.*s", out.len ? "," : "", (int)(stop - p), p);
		p = stop + 1;
	}
	return out.len ? arena_strdup(arena, out.s) : NULL;
}

int git_ops_read(struct arena *arena, int dir, struct git_items *ret)
{
	*ret = (struct git_items){ .sorted = true };
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		_cleanup_free_ char *text = NULL;
		const char *value;
		size_t len;
		int r = git_read_file(dir, ops[i].file, OP_FILE_MAX, &text, &len);

		if (r == -ENOENT)
			continue;
		value = r < 0 ? NULL : git_parse_op(arena, text, len);
		if (!value)
			return r < 0 ? r : -EINVAL;
		git_add_item(arena, ret, ops[i].file, value);
	}
	git_lists_read(arena, dir, ret);
	return 0;
}

static const char *find_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (strlen(ops[i].file) == len && !strncmp(ops[i].file, name, len))
			return ops[i].file;
	return git_list_named(name, len);
}

/* "VALUE NAME\n"..., of a file of ours. */
int git_parse_ops(struct arena *arena, const char *text, size_t len, struct git_items *ret)
{
	*ret = (struct git_items){ .sorted = true };
	for (const char *p = text, *end = text + len; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *space = newline ? memchr(p, ' ', (size_t)(newline - p)) : NULL;
		const char *value = space ? git_parse_op(arena, p, (size_t)(space - p)) : NULL;
		const char *name = value ? find_name(space + 1, (size_t)(newline - space - 1))
					 : NULL;

		if (!name)
			return -EINVAL;
		git_add_item(arena, ret, name, value);
		p = newline + 1;
	}
	return git_sort(ret);
}

static bool same_ops(const struct git_items *a, const struct git_items *b)
{
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (!git_same(git_find(a, ops[i].file), git_find(b, ops[i].file)))
			return false;
	return true;
}

bool git_host_is_busy(const struct git_round *round)
{
	struct arena a = { 0 };
	bool locked = access(path_join(&a, round->store->real, "HEAD.lock"), F_OK) == 0;

	arena_release(&a);
	return locked || (git_has_list(round->store->real) && !git_lists_ended(round)) ||
	       (!same_ops(&round->host.ops, &round->base.ops) &&
		!same_ops(&round->host.ops, &round->session.ops));
}

void git_want_ops(struct git_round *round)
{
	const struct git_items *session = &round->session.ops;

	for (size_t i = 0; i < session->n; i++) {
		const char *name = session->v[i].name;

		for (const char *p = session->v[i].value;
		     *p && !git_list_named(name, strlen(name));) {
			size_t len = strcspn(p, ",");

			git_want(round, arena_strndup(&round->arena, p, len));
			p += len + (p[len] == ',');
		}
	}
}

/* What a commit of the host's says, with one newline at its end; NULL: it is none. */
static char *commit_text(struct git_round *round, const char *oid)
{
	const struct git_run run = git_on_host(
		round->store,
		GIT_ARGS("rev-list", "--no-walk", "--encoding=UTF-8", "--format=%B", oid, "--"));
	_cleanup_str_ struct str out = { 0 };
	const char *text;
	size_t len;

	if (git_run(&run, &out) != 0 || !out.s || !str_starts(out.s, "commit "))
		return NULL;
	text = out.s + strcspn(out.s, "\n");
	text += strspn(text, "\n");
	len = strlen(text);
	while (len && text[len - 1] == '\n')
		len--;
	return len ? arena_printf(&round->arena, "%.*s\n", (int)len, text) : NULL;
}

/* The message that 'git commit' offers. The session's own is text that nobody has looked at, and says what it likes; this
 * one is what git would write, of objects that the host has taken. Where there is none, the user writes one. */
static char *message_of(struct git_round *round, const char *file, const char *value)
{
	int len = (int)strcspn(value, ",");
	char *oid = arena_strndup(&round->arena, value, (size_t)len), *text;

	if (!strcmp(file, "MERGE_HEAD"))
		return arena_printf(&round->arena, "Merge commit '%s'\n", oid);
	text = commit_text(round, oid);
	if (!text || !strcmp(file, "CHERRY_PICK_HEAD"))
		return text;
	return arena_printf(&round->arena, "Revert \"%.*s\"\n\nThis reverts commit %s.\n",
			    (int)strcspn(text, "\n"), text, oid);
}

/* A message that is there is the user's, unless it belongs to what this takes the place of. */
static int set_op(struct git_round *round, int dir, const char *file, const char *value,
		  struct err *err)
{
	bool keep = !git_find(&round->host.ops, file) &&
		    faccessat(dir, "MERGE_MSG", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	char *text = arena_printf(&round->arena, "%s\n", value);
	char *message = keep ? NULL : message_of(round, file, value);
	int r = 0;

	for (char *p = text; *p; p++)
		if (*p == ',')
			*p = '\n';
	git_step(round->store, file);
	if (message)
		r = os_write_file_atomic(dir, "MERGE_MSG", message, strlen(message), 0644, err);
	return r < 0 ? r : os_write_file_atomic(dir, file, text, strlen(text), 0644, err);
}

static void unset_op(struct git_round *round, int dir, const char *file)
{
	git_step(round->store, file);
	unlinkat(dir, file, 0);
	for (size_t i = 0; i < ARRAY_LEN(beside); i++)
		unlinkat(dir, beside[i], 0);
	round->changed = true;
}

/* Neither is in the middle of a list of commands, and they stand on the same. */
static bool is_comparable(const struct git_round *round)
{
	return !git_has_list(round->store->private) && !git_has_list(round->store->real) &&
	       !git_heads_diverged(round);
}

static int apply_op(struct git_round *round, int dir, size_t i, bool comparable, struct err *err)
{
	const char *file = ops[i].file;
	const char *base = git_find(&round->base.ops, file);
	const char *session = git_find(&round->session.ops, file);
	const char *host = git_find(&round->host.ops, file);

	if (git_same(session, host) || (comparable && git_same(session, base)))
		return 0;
	if (session && (!comparable || !git_same(host, base))) {
		git_hold(round->report, "state", ops[i].what,
			 "it was left unfinished in the session, and is not carried over");
	} else if (session && !git_same(session, base)) {
		round->changed = true;
		return set_op(round, dir, file, session, err);
	} else if (!session && base && git_same(host, base)) {
		unset_op(round, dir, file);
	}
	return 0;
}

/* Those that ended first: they take their message with them. */
int git_apply_ops(struct git_round *round, struct err *err)
{
	_cleanup_close_ int dir = git_open_host(round->store, round->store->real);
	bool comparable = is_comparable(round);
	int r = 0;

	for (int goes_on = 0; goes_on <= 1; goes_on++)
		for (size_t i = 0; r == 0 && dir >= 0 && i < ARRAY_LEN(ops); i++)
			if (!git_find(&round->session.ops, ops[i].file) == !goes_on)
				r = apply_op(round, dir, i, comparable, err);
	return r;
}

/* What the user began, with the user's own message; the names of the commits last. */
static void take_op(struct git_round *round, int from, int to, const char *file)
{
	struct err ignored;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(beside); i++)
		r = git_copy_file(from, beside[i], to, &ignored);
	if (r == 0)
		r = git_copy_file(from, file, to, &ignored);
	if (r < 0)
		unset_op(round, to, file); /* until the next time */
}

bool git_stands_still(const struct git_round *round)
{
	return git_same(round->session.head, round->host.head) ||
	       git_same(round->session.head, round->base.head);
}

void git_apply_ops_in(struct git_round *round)
{
	_cleanup_close_ int from = git_open_host(round->store, round->store->real);
	_cleanup_close_ int to = record_open_dir(AT_FDCWD, round->store->private);

	if (from < 0 || to < 0 || !is_comparable(round) || !git_stands_still(round))
		return;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		const char *file = ops[i].file;
		const char *session = git_find(&round->session.ops, file);
		const char *host = git_find(&round->host.ops, file);

		if (git_same(session, host) || !git_same(session, git_find(&round->base.ops, file)))
			continue;
		unset_op(round, to, file);
		if (host)
			take_op(round, from, to, file);
	}
}
