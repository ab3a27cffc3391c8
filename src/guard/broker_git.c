/* SPDX-License-Identifier: MIT */
/*
 * Git's own files. Git trusts whatever it finds in a git directory: a configuration or a hook that
 * the sandbox put there would be run outside. So, in every writable place and for every directory
 * that git would take for one of its own (HEAD and objects and refs, or HEAD and commondir; called
 * .git or not):
 *
 * - a configuration changes only by a rename onto it, as git itself does it; the new text is read,
 *   compared with the present one key by key (spec/gitkeys.h), and written anew: the file that the
 *   sandbox has may still be open for writing somewhere;
 * - hooks are not made; the samples that 'git init' copies are, because git does not run them;
 * - a directory becomes a git directory only with a configuration and hooks that would be allowed
 *   in one, and its configuration is then a new file as well;
 * - commondir, which leads to another configuration, is made by 'git worktree add' alone. It always
 *   says the same there; we write that, and the caller's own words go nowhere.
 *
 * What the rules protect by name (.git/config, .git/hooks) comes here as well, for the exceptions.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "guard/broker_priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "spec/gitkeys.h"

#define COMMONDIR "../..\n"
#define HOOKS_MAX 1000
enum { LINKS_LOOK = 100000, LINKS_DEPTH = 16 };

enum part {
	PART_NONE,
	PART_HEAD,
	PART_OBJECTS,
	PART_REFS,
	PART_COMMONDIR,
	PART_CONFIG,
	PART_HOOKS,
};

static enum part part_of(const char *name, size_t n)
{
	static const struct {
		const char *name;
		enum part part;
	} parts[] = {
		{ "HEAD", PART_HEAD },     { "objects", PART_OBJECTS },
		{ "refs", PART_REFS },     { "commondir", PART_COMMONDIR },
		{ "config", PART_CONFIG }, { "config.worktree", PART_CONFIG },
		{ "hooks", PART_HOOKS },
	};

	/* Without case, as a file system may be that ignores it. */
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strlen(parts[i].name) == n && !strncasecmp(parts[i].name, name, n))
			return parts[i].part;
	return PART_NONE;
}

/* Would git take the directory, with this part added, for one of its own? */
static bool is_git_dir(int dir, enum part added)
{
	if (added != PART_HEAD && !os_exists_at(dir, "HEAD"))
		return false;
	if (added == PART_COMMONDIR || os_exists_at(dir, "commondir"))
		return true;
	return (added == PART_OBJECTS || os_exists_at(dir, "objects")) &&
	       (added == PART_REFS || os_exists_at(dir, "refs"));
}

bool git_is_dir(int dir, const char *added, size_t len)
{
	enum part part = added ? part_of(added, len) : PART_NONE;

	return (!added || part != PART_NONE) && is_git_dir(dir, part);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcasecmp(s + n - m, end);
}

/* The path of the place's directory ends so. */
static bool dir_ends_in(const struct place *p, const char *end)
{
	size_t m = strlen(end);

	return p->dir_len >= m && !strncasecmp(p->path + p->dir_len - m, end, m);
}

/* .git/worktrees/ID, below a directory that is called .git or that is private. */
static bool in_worktrees(const struct place *p)
{
	static const char name[] = "/worktrees/";
	size_t at = p->dir_len, n = strlen(name);

	while (at > 0 && p->path[at - 1] != '/')
		at--;
	if (at < n || strncmp(p->path + at - n, name, n) != 0)
		return false;
	return (p->anchor && p->anchor->home && at - n == p->anchor->len) ||
	       (at >= n + 5 && !strncmp(p->path + at - n - 5, "/.git", 5));
}

bool git_means_nothing(const struct place *p)
{
	return part_of(p->name, strcspn(p->name, "/")) == PART_NONE && !dir_ends_in(p, "/hooks");
}

bool git_protects(const struct request *r, const char *name)
{
	const struct file_rules *rules = r->b->rules;

	for (size_t i = 0; i < rules->n; i++)
		if (rules->rules[i].kind == FILE_PROTECT && !strcmp(rules->rules[i].text, name))
			return true;
	return false;
}

/* ------------------------------------------------------------------ content */

static int read_config(int dir, const char *name, char **ret, size_t *ret_len, mode_t *ret_mode)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	*ret_mode = st.st_mode & 0777;
	return os_read_fd(fd, GITKEYS_MAX, ret, ret_len);
}

/* The same text under the same name, in a file that nobody has open. */
static int renew(int dir, const char *name, const char *text, size_t len, mode_t mode)
{
	_cleanup_close_ int fd = -1;

	if (unlinkat(dir, name, 0) < 0)
		return -errno;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return -errno;
	return os_write_all(fd, text, len);
}

/* NULL, or why this text may not become the configuration 'old_name' of the directory. */
static const char *check_config(struct arena *arena, struct place *p, const char *old_name,
				const char *text, size_t len)
{
	_cleanup_free_ char *old = NULL;
	size_t old_len = 0;
	mode_t mode;
	int e = old_name ? read_config(p->dir, old_name, &old, &old_len, &mode) : -ENOENT;

	if (e < 0 && e != -ENOENT)
		return "the present one cannot be read";
	return gitkeys_check(arena, old ? old : "", old_len, text, len,
			     arena_strndup(arena, p->path, p->dir_len));
}

/* Nothing but samples in it. */
static bool hooks_are_samples(int dir)
{
	int fd = openat(dir, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_dir_ DIR *list = os_dir_take(fd);
	const struct dirent *entry;
	bool fine = true;
	int n = 0;

	if (fd < 0)
		return errno == ENOENT;
	while (fine && (entry = os_dir_next(list)) != NULL)
		fine = ++n < HOOKS_MAX && ends_in(entry->d_name, ".sample");
	return list && fine;
}

/* Anything in it that git would write through, or read a whole directory through; too much to be looked at
 * counts as such. Objects are no exception: from there it could be moved. */
static bool has_links(int at, const char *name, int depth, int *left)
{
	_cleanup_dir_ DIR *list = os_dir_open(at, name);
	const struct dirent *entry;
	bool found = !list || depth == 0;

	while (!found && (entry = os_dir_next(list)) != NULL)
		found = --*left < 0 || entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK ||
			(entry->d_type == DT_DIR &&
			 has_links(dirfd(list), entry->d_name, depth - 1, left));
	return found;
}

/* The directory is about to become git's: NULL, or what in it must not be there. */
static const char *adopt(struct arena *arena, struct place *p)
{
	static const char *const names[] = { "config", "config.worktree" };
	const char *why = NULL;
	int left = LINKS_LOOK;

	if (has_links(p->dir, ".", LINKS_DEPTH, &left))
		return "it would make a git directory with links in it";
	if (!hooks_are_samples(p->dir))
		return "it would make a git directory with hooks";
	for (size_t i = 0; i < ARRAY_LEN(names) && !why; i++) {
		_cleanup_free_ char *text = NULL;
		size_t len = 0;
		mode_t mode = 0;
		int e = read_config(p->dir, names[i], &text, &len, &mode);

		if (e == -ENOENT)
			continue;
		why = e < 0 ? "it would make a git directory with a strange configuration"
			    : check_config(arena, p, NULL, text, len);
		if (!why && renew(p->dir, names[i], text, len, mode) < 0)
			why = "its git configuration cannot be written anew";
	}
	return why;
}

/* ------------------------------------------------------------------ decisions */

static const char *judge_part(struct request *r, struct arena *arena, struct place *p,
			      enum part part, enum git_act act)
{
	bool is_git = is_git_dir(p->dir, PART_NONE);
	const char *why;

	if (act == GIT_TOUCH)
		return NULL;
	if (part == PART_CONFIG)
		return is_git && git_protects(r, ".git/config")
			       ? "a git configuration is changed by git, through a new file"
			       : NULL;
	if (part == PART_HOOKS)
		return is_git && act != GIT_MKDIR && git_protects(r, ".git/hooks")
			       ? "git runs what is in hooks"
			       : NULL;
	if (part == PART_COMMONDIR && (is_git || in_worktrees(p)))
		return "commondir leads git to another configuration";
	if (is_git || !is_git_dir(p->dir, part))
		return NULL;
	if (in_worktrees(p))
		return NULL; /* its commondir is ours */
	if (part == PART_COMMONDIR || os_exists_at(p->dir, "commondir"))
		return "commondir leads git to another configuration";
	why = adopt(arena, p);
	if (!why) /* the command's own, by any name */
		id_ring_add(&r->b->git_dirs, file_id_at(p->dir, ""));
	lately_forget(r->b);
	return why;
}

int git_judge_name(struct request *r, struct place *p, enum git_act act)
{
	struct arena arena = { 0 };
	size_t n = strcspn(p->name, "/");
	enum part part = part_of(p->name, n);
	const char *why = NULL;
	int e = 0;

	if (r->b->gate)
		return gate_judge(r, p, act);
	e = private_judge(r, p);
	if (e < 0 || p->dir < 0 || act == GIT_REMOVE)
		return e;
	if (part != PART_NONE && !dir_ends_in(p, "/.git"))
		why = judge_part(r, &arena, p, part, act);
	else if (act == GIT_REPLACE &&
		 (dir_ends_in(p, "/.git/worktrees") || ends_in(p->path, "/.git/worktrees")))
		why = "a work tree is made by git, in place";
	else if (dir_ends_in(p, "/hooks") && !ends_in(p->name, ".sample")) {
		_cleanup_close_ int up = openat(p->dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if ((up < 0 || is_git_dir(up, PART_NONE)) && git_protects(r, ".git/hooks"))
			why = "git runs what is in hooks";
	}
	if (why)
		e = request_denied(r, p->path, NULL, why);
	arena_release(&arena);
	return e;
}

size_t git_dir_len(const struct place *p)
{
	_cleanup_close_ int at = -1;
	size_t end = p->dir_len;

	for (const char *s = p->path; s < p->path + p->dir_len; s++)
		if (!strncasecmp(s, "/.git/", 6))
			return (size_t)(s - p->path) + 5;
	at = fcntl(p->dir, F_DUPFD_CLOEXEC, 0);
	while (at >= 0 && !is_git_dir(at, PART_NONE)) {
		int up;

		while (end > p->anchor->len && p->path[end - 1] != '/')
			end--;
		if (end <= p->anchor->len)
			return 0;
		end--;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	return MAX(end, (size_t)1);
}

static bool in_git_dir(const struct place *p)
{
	return git_dir_len(p) > 0;
}

/* With it the directory is one of git's. */
static bool completes_git_dir(const struct place *p)
{
	enum part part = part_of(p->name, strcspn(p->name, "/"));

	return part != PART_NONE && p->dir >= 0 && is_git_dir(p->dir, part);
}

/* Git writes through links: logs/HEAD as one to a shell's start-up file would bring a commit's words
 * there. It makes links itself only to try whether they can be made. */
int git_judge_link(struct request *r, struct place *p, const char *text)
{
	bool plain = !strchr(text, '/') && text[0] != '.' &&
		     part_of(text, strlen(text)) == PART_NONE;

	if (r->b->gate)
		return 0; /* there are no such places in the host's tree */
	if (!completes_git_dir(p) && (plain || !in_git_dir(p)))
		return 0;
	return request_denied(r, p->path, NULL, "git would write through the link");
}

int git_judge_dir(struct request *r, const struct place *from, struct place *to)
{
	size_t len = strcspn(to->name, "/"), n;
	char name[NAME_MAX + 2];
	int left = LINKS_LOOK;

	if (r->b->gate)
		return gate_judge_dir(r, from, to);
	n = git_dir_len(to);
	if (!n && !git_is_dir(to->dir, to->name, len))
		return 0;
	/* What another one holds was put there before it was git's. */
	if (n && (git_dir_len(from) != n || strncmp(from->path, to->path, n) != 0))
		return request_denied(r, to->path, NULL, "git would obey what is in the directory");
	return has_links(from->dir, place_bare_name(from, name), LINKS_DEPTH, &left)
		       ? request_denied(r, to->path, NULL, "git would write through a link in it")
		       : 0;
}

/* What 'git init', 'git clone' and 'rm -r' of such a repository need of the protected names. */
static bool is_exception(struct request *r, struct place *p, const struct file_rule *rule,
			 enum git_act act)
{
	size_t n = strcspn(p->name, "/");

	if (rule->kind != FILE_PROTECT || !str_starts(rule->text, ".git/"))
		return false;
	if (ends_in(rule->text, "hooks") && part_of(p->name, n) == PART_HOOKS)
		return act == GIT_MKDIR || (act == GIT_REMOVE && S_ISDIR(p->st.st_mode));
	if (ends_in(rule->text, "hooks") && dir_ends_in(p, "/hooks"))
		return ends_in(p->name, ".sample") && act != GIT_REPLACE;
	return rule->by_content && (act == GIT_REMOVE || act == GIT_TOUCH) &&
	       id_ring_has(&r->b->git_dirs, file_id_at(p->dir, ""));
}

/* What its other names show changes as well; times are nothing that anybody obeys. */
static bool changes_twins(const struct request *r, const struct place *p, enum git_act act)
{
	return p->exists && S_ISREG(p->st.st_mode) && p->st.st_nlink > 1 && !r->b->gate &&
	       !r->b->watches &&
	       (act == GIT_OPEN || act == GIT_CREATE ||
		(act == GIT_TOUCH && r->row->fn != do_utime));
}

int judge(struct request *r, struct place *p, enum git_act act)
{
	struct file_verdict v = file_rules_write(r->b->rules, p->path);
	int e = v.allowed && changes_twins(r, p, act) ? twins_judge(r, p) : 0;

	if (e < 0)
		return e;
	if (v.allowed)
		return git_judge_name(r, p, act);
	if (!v.rule)
		return place_outside(r, p, act != GIT_REMOVE && !p->exists);
	if (p->dir >= 0 && is_exception(r, p, v.rule, act))
		return private_judge(r, p);
	return request_denied(r, p->path, v.rule, NULL);
}

int git_replace(struct request *r, struct place *from, struct place *to,
		const struct file_rule *rule)
{
	_cleanup_free_ char *text = NULL;
	struct arena arena = { 0 };
	const char *why;
	size_t len = 0;
	mode_t mode = 0;
	int e;

	if (r->b->gate || part_of(to->name, strlen(to->name)) != PART_CONFIG ||
	    !S_ISREG(from->st.st_mode))
		return 0;
	if (rule ? !rule->by_content
		 : !is_git_dir(to->dir, PART_NONE) || !git_protects(r, ".git/config"))
		return 0;
	if (!file_rules_write(r->b->rules, from->path).allowed)
		return 0; /* the source is what the rule refuses */
	e = read_config(from->dir, from->name, &text, &len, &mode);
	why = e < 0 ? "the new one cannot be read" : check_config(&arena, to, to->name, text, len);
	if (why)
		e = request_denied(r, to->path, rule, why);
	arena_release(&arena);
	if (e == 0)
		e = private_judge(r, to);
	if (e == 0)
		e = request_check(r);
	if (e == 0)
		e = renew(from->dir, from->name, text, len, mode);
	if (e < 0)
		return e;
	return request_result(renameat(from->dir, from->name, to->dir, to->name));
}

void git_made_dir(struct request *r, const struct place *p)
{
	if (r->b->gate)
		return;
	if (!ends_in(p->path, "/.git") && !strstr(p->path, "/.git/modules/"))
		return;
	id_ring_add(&r->b->git_dirs, file_id_at(p->dir, p->name));
	lately_forget(r->b);
}

int git_open_commondir(struct request *r, struct place *p, int flags)
{
	_cleanup_close_ int fd = -1, nowhere = -1;
	int e;

	if (r->b->gate || part_of(p->name, strlen(p->name)) != PART_COMMONDIR || !in_worktrees(p) ||
	    p->exists || !file_rules_write(r->b->rules, p->path).allowed)
		return 0;
	e = private_judge(r, p);
	if (e == 0)
		e = task_take_umask(r);
	if (e == 0)
		e = request_check(r);
	if (e < 0)
		return e;
	nowhere = openat(p->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (nowhere < 0)
		return -errno;
	fd = openat(p->dir, p->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	e = fd < 0 ? -errno : os_write_all(fd, COMMONDIR, strlen(COMMONDIR));
	return e < 0 ? e : open_inject(r, nowhere, flags);
}
