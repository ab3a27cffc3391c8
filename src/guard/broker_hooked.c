/* SPDX-License-Identifier: MIT */
/*
 * Hooks that are links. What a hook of the working directory's repository is a link to is denied by a rule that comes
 * with the settings (spec/srt_paths.c). Of the other repositories nobody knows at the start, and no walk looks for them: the first
 * change below one has a look at its hooks, and what these lead to is denied from then on by a rule of the same kind,
 * until the command ends. A directory, and those above it, are looked at once in a tick of the kernel's clock.
 */
#include <string.h>

#include "base/path.h"
#include "guard/broker_priv.h"
#include "os/dir.h"
#include "spec/gitnamed.h"
#include "spec/project.h"

static void add_rule(struct broker *b, const char *path)
{
	const struct file_rule_source rule = { .kind = FILE_DENY_WRITE,
					       .text = path,
					       .path = path,
					       .key = "protect",
					       .literal = true };
	struct err ignored; /* nothing in a plain path is wrong */

	(void)file_rules_add(&b->own, &rule, &ignored);
}

/* The rules that were given, and ours. */
void hooked_extend(struct broker *b)
{
	struct arena arena = b->own.arena;

	b->rules = b->given;
	if (!b->hooked.len)
		return;
	b->own = *b->given;
	b->own.arena = arena;
	b->own.rules = NULL;
	b->own.n = 0;
	for (size_t i = 0; i < b->given->n; i++)
		*(struct file_rule *)arena_grow(&b->own.arena, (void *)&b->own.rules, &b->own.n,
						sizeof(*b->own.rules)) = b->given->rules[i];
	for (size_t i = 0; i < b->hooked.len; i++)
		add_rule(b, b->hooked.v[i]);
	b->rules = &b->own;
}

static void deny(struct broker *b, const char *path)
{
	strv_add(&b->arena, &b->hooked, path);
	if (b->rules == &b->own)
		add_rule(b, path);
	else
		hooked_extend(b);
}

/* What hooks of the repository with files there lead to, wherever that is. What lies in its git directory is looked at there. */
static void look_at(struct broker *b, const char *top)
{
	struct arena a = { 0 };
	char *linked = project_git_dir(&a, top, b->rules->home);
	const char *git = linked ? linked : path_join(&a, top, ".git");
	const char *hooks = path_join(&a, git, "hooks");
	_cleanup_dir_ DIR *list = opendir(hooks);
	const struct dirent *entry;
	struct strv ways = { 0 };

	gitnamed_way(&a, hooks, &ways);
	while ((entry = os_dir_next(list)) != NULL)
		if (entry->d_type == DT_LNK)
			gitnamed_way(&a, path_join(&a, hooks, entry->d_name), &ways);
	for (size_t i = 0; i < ways.len; i++)
		if (!path_is_below(ways.v[i], git) && file_rules_write(b->rules, ways.v[i]).allowed)
			deny(b, ways.v[i]);
	arena_release(&a);
}

/* The directory, and all above it, were looked at; if not, they are now. */
static bool was_looked_at(struct broker *b, const char *dir)
{
	char **known = &b->hooked_dirs[place_hash(dir, strlen(dir)) % BROKER_DIRS];

	if (*known && !strcmp(*known, dir))
		return true;
	free(*known);
	*known = strdup(dir);
	return false;
}

void hooked_forget(struct broker *b)
{
	for (size_t i = 0; i < BROKER_DIRS; i++) {
		free(b->hooked_dirs[i]);
		b->hooked_dirs[i] = NULL;
	}
}

void hooked_look(struct request *r, const struct place *p)
{
	struct broker *b = r->b;
	char dir[PATH_MAX + NAME_MAX + 2];
	struct stat st;
	bool found;

	if (b->gate || b->watches || p->dir < 0 || p->anchor->home || b->rules->disabled)
		return;
	if (clock_ticked(&b->hooked_at))
		hooked_forget(b);
	memcpy(dir, p->path, p->dir_len);
	for (size_t n = p->dir_len; n > 1; n = (size_t)(strrchr(dir, '/') - dir)) {
		dir[n] = '\0';
		if (was_looked_at(b, dir))
			return;
		memcpy(dir + n, "/.git", sizeof("/.git"));
		found = lstat(dir, &st) == 0 && st.st_uid == geteuid();
		dir[n] = '\0';
		if (found && git_protects(r, ".git/hooks"))
			look_at(b, dir);
	}
}
