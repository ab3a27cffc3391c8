/* SPDX-License-Identifier: MIT */
/*
 * Files with several names. The rules speak of names, and a write into a file changes what each of its names shows: by a
 * hard link of the user's it may be a hook of git's, or a shell's start-up file. So, before a file with several names is
 * changed in place, it is looked for where one of them could be that may not be written: what the rules deny or protect,
 * in the working directory and in the home, and the hooks of the repositories of the file and of the working directory.
 * These are a few places, each looked at by itself and one level deep; no walk looks for more.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/path.h"
#include "base/str.h"
#include "guard/broker_priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "spec/file_denied.h"
#include "spec/gitnamed.h"
#include "spec/glob.h"

struct twins {
	struct arena arena;
	struct request *r;
	const struct stat *st;
};

/* 'always': no rule has to say so. */
static bool is_kept(const struct twins *t, const char *path, const struct stat *st, bool always)
{
	return os_same_file(st, t->st) &&
	       (always || !file_rules_write(t->r->b->rules, path).allowed);
}

/* The path, or one in the directory that it is, which is the file and may not be written; NULL: neither. */
static const char *look_at(struct twins *t, const char *path, bool always)
{
	_cleanup_dir_ DIR *list = NULL;
	const struct dirent *entry;
	struct stat st;

	if (stat(path, &st) < 0)
		return NULL;
	if (is_kept(t, path, &st, always))
		return path;
	list = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
	while ((entry = os_dir_next(list)) != NULL) {
		const char *inner = path_join(&t->arena, path, entry->d_name);

		if (fstatat(dirfd(list), entry->d_name, &st, 0) == 0 &&
		    is_kept(t, inner, &st, always))
			return inner;
	}
	return NULL;
}

static const char *find_protected(struct twins *t, const char *name)
{
	const struct file_rules *rules = t->r->b->rules;
	const char *below = glob_prefix(&t->arena, path_join(&t->arena, "/", name)) + 1;
	const char *found = look_at(t, path_join(&t->arena, rules->cwd, below), false);

	return found ? found : look_at(t, path_join(&t->arena, rules->home, below), false);
}

static const char *find_by_rules(struct twins *t)
{
	const struct file_rules *rules = t->r->b->rules;
	const struct file_rule *denied;
	const char *found = NULL;
	size_t at = 0;

	for (size_t i = 0; i < rules->n && !found; i++) {
		const struct file_rule *rule = &rules->rules[i];

		if (rule->kind == FILE_PROTECT)
			found = find_protected(t, rule->text);
		else if (rule->kind == FILE_DENY_WRITE || rule->kind == FILE_DENY_READ)
			found = look_at(t, rule->path, false);
	}
	while (!found && (denied = file_denied_next(&t->r->b->hooked, &at)) != NULL)
		found = look_at(t, denied->path, false);
	return found;
}

/* Of the repository around the directory, wherever they lie. */
static const char *find_in_hooks(struct twins *t, const char *dir)
{
	bool protects = git_protects(t->r, ".git/hooks");
	struct gitnamed_list named;
	const char *found = NULL;

	gitnamed_find_in(&t->arena, dir, true, &named);
	for (size_t i = 0; i < named.hooks.len && !found; i++)
		found = look_at(t, named.hooks.v[i], i == 0 && protects);
	return found;
}

int twins_judge(struct request *r, const struct place *p)
{
	_cleanup_str_ struct str shown = { 0 }, reason = { 0 };
	struct twins t = { .r = r, .st = &p->st };
	const char *other = find_by_rules(&t);
	int e = 0;

	if (!other)
		other = find_in_hooks(&t, r->b->rules->cwd);
	if (!other)
		other = find_in_hooks(&t, path_parent(&t.arena, p->path));
	if (other) {
		str_addf(&reason, "%s is the same file", str_quote(&shown, other));
		e = request_denied(r, p->path, NULL, reason.s);
	}
	arena_release(&t.arena);
	return e;
}
