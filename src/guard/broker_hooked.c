/* SPDX-License-Identifier: MIT */
/*
 * Hooks that are links. What a hook of the working directory's repository is a link to is denied by a rule that comes
 * with the settings (spec/srt_paths.c). Of the other repositories nobody knows at the start, and no walk looks for them: the first
 * change below one has a look at its hooks, and what these lead to is denied from then on by a rule of the same kind,
 * until the command ends.
 *
 * A directory, and those above it, are asked for a repository once in a tick of the kernel's clock. Its hooks are looked at
 * again at once where their directory is another or has changed, and else, because a link on the way may lead elsewhere, as
 * soon as a small share of the time is enough for that: a few links are looked at in each tick, thousands now and then.
 */
#include <string.h>

#include "base/path.h"
#include "guard/broker_priv.h"
#include "os/dir.h"
#include "os/timer.h"
#include "spec/gitnamed.h"
#include "spec/project.h"

/* FRESH_MS: what changed so lately may change once more and have the same time. */
enum { SHARE = 16, FRESH_MS = 20, LOOKS_MAX = 4096 };

/* The last at a directory of hooks. */
struct look {
	dev_t dev;
	ino_t ino; /* 0: there is none, or none to be relied on */
	struct timespec changed;
	int64_t due; /* the next, by os_now_ms() */
};

/* The rules that were given, and ours. */
static void extend(struct broker *b)
{
	b->rules = b->given;
	if (!b->hooked.paths.n)
		return;
	b->own = *b->given;
	b->own.denied = &b->hooked;
	b->rules = &b->own;
}

void hooked_extend(struct broker *b)
{
	extend(b);
	path_map_release(&b->looks); /* what was not to be written anyway may be now */
}

static void deny(struct broker *b, const char *path)
{
	file_denied_add(&b->hooked, path, "protect");
	if (b->rules != &b->own)
		extend(b);
}

/* What hooks of a git directory lead to, wherever that is. What lies in it is looked at there. */
static void deny_ways(struct broker *b, struct arena *a, const char *git, const char *hooks)
{
	_cleanup_dir_ DIR *list = opendir(hooks);
	const struct dirent *entry;
	struct strv ways = { 0 };

	gitnamed_way(a, hooks, &ways);
	while ((entry = os_dir_next(list)) != NULL)
		if (entry->d_type == DT_LNK)
			gitnamed_way(a, path_join(a, hooks, entry->d_name), &ways);
	for (size_t i = 0; i < ways.len; i++)
		if (!path_is_below(ways.v[i], git) && file_rules_write(b->rules, ways.v[i]).allowed)
			deny(b, ways.v[i]);
}

/* How the directory is now; only what has come to rest is the same another time. */
static struct look stamp(const char *hooks)
{
	struct timespec now;
	struct stat st;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	if (stat(hooks, &st) < 0)
		return (struct look){ 0 };
	age = (int64_t)(now.tv_sec - st.st_ctim.tv_sec) * 1000 +
	      (now.tv_nsec - st.st_ctim.tv_nsec) / 1000000;
	return (struct look){ .dev = st.st_dev,
			      .ino = age > -FRESH_MS && age < FRESH_MS ? 0 : st.st_ino,
			      .changed = st.st_ctim };
}

static bool is_same(const struct look *a, const struct look *b)
{
	return a->ino && a->ino == b->ino && a->dev == b->dev &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static struct look *last_look(struct broker *b, const char *top)
{
	void **value;

	if (b->looks.n >= LOOKS_MAX)
		path_map_release(&b->looks);
	value = path_map_add(&b->looks, top, strlen(top));
	if (!*value)
		*value = arena_alloc(&b->looks.arena, sizeof(struct look));
	return *value;
}

/* At hooks of the repository with files there, where that is due. */
static void look_at(struct broker *b, const char *top)
{
	_cleanup_(arena_release) struct arena a = { NULL };
	char *linked = project_obeyed_dir(&a, top, b->rules->home);
	const char *git = linked ? linked : path_join(&a, top, ".git");
	const char *hooks = path_join(&a, git, "hooks");
	struct look *last = last_look(b, top), now = stamp(hooks);
	int64_t begin = os_now_ms(), end;

	if (is_same(last, &now) && begin < last->due)
		return;
	deny_ways(b, &a, git, hooks);
	end = os_now_ms();
	now.due = end + SHARE * (end - begin);
	*last = now;
}

void hooked_release(struct broker *b)
{
	path_map_release(&b->looks);
	file_denied_release(&b->hooked);
}

/* At those of all repositories that the first so many bytes of the place's path lie in. */
static void look_around(struct request *r, const struct place *p, size_t len)
{
	struct broker *b = r->b;
	char dir[sizeof(p->path) + sizeof("/.git")];
	struct stat st;
	bool found;

	if (b->gate || b->watches || p->dir < 0 || p->anchor->home || b->rules->disabled)
		return;
	memcpy(dir, p->path, len);
	for (size_t n = len; n > 1; n = (size_t)(strrchr(dir, '/') - dir)) {
		if (lately_has(&b->hooked_dirs, dir, n))
			return;
		lately_add(&b->hooked_dirs, dir, n);
		memcpy(dir + n, "/.git", sizeof("/.git"));
		found = lstat(dir, &st) == 0 && st.st_uid == geteuid();
		dir[n] = '\0';
		if (found && git_protects(r, ".git/hooks"))
			look_at(b, dir);
	}
}

void hooked_look(struct request *r, const struct place *p)
{
	look_around(r, p, p->dir_len);
}

void hooked_look_in(struct request *r, const struct place *p)
{
	if (p->exists && S_ISDIR(p->st.st_mode))
		look_around(r, p, strlen(p->path));
}
