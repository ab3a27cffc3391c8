/* SPDX-License-Identifier: MIT */
/* What git obeys because a configuration names it. */
#include "spec/gitnamed.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "spec/gitkeys.h"
#include "spec/project.h"

/* Of includes git's own, of links the kernel's. */
enum { DEPTH_MAX = 10, FILES_MAX = 200, LINKS_MAX = 40 };

struct search {
	struct arena *arena;
	const struct host *host;
	struct gitnamed_list *ret;
	int files;
	bool dirs; /* of hooks, and nothing else */
};

/* Keys whose value git runs, by their names as gitkeys_gather() makes them. What runs when the user types its name is told of,
 * as what 'make' runs is; the rest runs with commands that say nothing of it. */
static const struct {
	const char *key;
	enum protect_level level;
} commands[] = {
	{ "alias.*", PROTECT_REPORT },
	{ "*command", PROTECT_RO },
	{ "*cmd", PROTECT_RO },
	{ "*editor", PROTECT_RO },
	{ "*filter", PROTECT_RO },
	{ "*hook", PROTECT_RO },
	{ "*.askpass", PROTECT_RO },
	{ "*.browser", PROTECT_RO },
	{ "*.clean", PROTECT_RO },
	{ "*.driver", PROTECT_RO },
	{ "*.external", PROTECT_RO },
	{ "*.fsmonitor", PROTECT_RO },
	{ "*.gitproxy", PROTECT_RO },
	{ "*.helper", PROTECT_RO },
	{ "*.pager", PROTECT_RO },
	{ "pager.*", PROTECT_RO },
	{ "*.process", PROTECT_RO },
	{ "*.program", PROTECT_RO },
	{ "*.receivepack", PROTECT_RO },
	{ "*.smudge", PROTECT_RO },
	{ "*.textconv", PROTECT_RO },
	{ "*.uploadpack", PROTECT_RO },
	{ "*tool.*.path", PROTECT_RO },
	{ "lfs.*.path", PROTECT_RO },
	{ "submodule.*.update", PROTECT_RO },
};

static void add(const struct search *s, const char *path, enum protect_level level)
{
	const char *below = path ? path_below(path, s->host->project.dir) : NULL;
	struct gitnamed *entry;

	if (!below || !*below)
		return;
	for (size_t i = 0; i < s->ret->n; i++)
		if (!strcmp(s->ret->v[i].path, below)) {
			s->ret->v[i].level = MAX(s->ret->v[i].level, level);
			return;
		}
	entry = arena_grow(s->arena, (void *)&s->ret->v, &s->ret->n, sizeof(*entry));
	*entry = (struct gitnamed){ arena_strdup(s->arena, below), level };
}

/* A path with the first link on it followed; NULL: there is none. */
static char *follow_one(struct arena *arena, const char *path)
{
	char target[PATH_MAX];

	for (const char *end = path; *end;) {
		const char *link;
		ssize_t n;

		end += strspn(end, "/");
		end += strcspn(end, "/");
		link = arena_strndup(arena, path, (size_t)(end - path));
		n = readlink(link, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		link = path_join(arena, path_parent(arena, link), target);
		return path_join(arena, link, end + strspn(end, "/"));
	}
	return NULL;
}

void gitnamed_way(struct arena *arena, const char *path, struct strv *ret)
{
	const char *real = os_realpath(arena, path);

	if (real)
		strv_add(arena, ret, real);
	for (int i = 0; i < LINKS_MAX && path; i++) {
		strv_add(arena, ret, path);
		path = follow_one(arena, path);
	}
}

/* The path that a value means; NULL: that of somebody else's home. */
static char *expand(const struct search *s, const char *base, const char *value)
{
	if (str_starts(value, "~/"))
		return path_join(s->arena, s->host->home, value + 2);
	return *value == '~' ? NULL : path_join(s->arena, base, value);
}

/* The same, and it is added. */
static char *name(const struct search *s, const char *base, const char *value,
		  enum protect_level level)
{
	char *path = expand(s, base, value);
	struct strv way = { 0 };

	if (path && !s->dirs)
		gitnamed_way(s->arena, path, &way);
	for (size_t i = 0; i < way.len; i++)
		add(s, way.v[i], level);
	return path;
}

/* Each may be a link to a file of the tree. */
static void name_hooks(const struct search *s, const char *base, const char *value)
{
	char *path = name(s, base, value, PROTECT_HOLD);
	_cleanup_dir_ DIR *dir = path && !s->dirs ? opendir(path) : NULL;
	const struct dirent *entry;

	if (path)
		strv_add(s->arena, &s->ret->hooks, path);
	while ((entry = os_dir_next(dir)) != NULL)
		if (entry->d_type == DT_LNK)
			name(s, path, entry->d_name, PROTECT_RO);
}

/* The words of a command are cut in three ways: not at all, at quotes, and wherever a shell could. */
static const char *const cuts[] = { "", "\"'", " \t\n\"'`;|&()<>${}=!" };
enum { CUT_WORDS = 2 };

static bool is_file(const struct search *s, const char *word, bool when_absent)
{
	const char *path = expand(s, s->host->project.top, word);
	struct stat st;

	return path && (stat(path, &st) == 0 ? S_ISREG(st.st_mode) : when_absent);
}

/* A path may come to be; what is none is an argument, or looked for in $PATH. */
static bool is_program(const struct search *s, const char *word, bool first, size_t cut)
{
	bool path = strchr(word, '/') != NULL;

	return (path || !first) && *word != '-' && is_file(s, word, path && cut == CUT_WORDS);
}

/* Words that are files of the tree: git runs it at the top. Where it has what stands for the top in front
 * ('$(git rev-parse --show-toplevel)/x'), the rest begins with a '/'. */
static void name_words(const struct search *s, const char *text, size_t cut,
		       enum protect_level level)
{
	const char *top = s->host->project.top, *p = text + strspn(text, cuts[cut]);

	for (bool first = true; *p; first = false) {
		size_t n = strcspn(p, cuts[cut]);
		const char *word = arena_strndup(s->arena, p, n);
		const char *rest = word + strspn(word, "/");

		if (is_program(s, word, first, cut))
			name(s, top, word, level);
		if (rest != word && is_file(s, rest, false))
			name(s, top, rest, level);
		p += n + strspn(p + n, cuts[cut]);
	}
}

static void name_programs(const struct search *s, const char *key, const char *value)
{
	bool own = str_starts(key, "alias.") && *value != '!'; /* a command of git's */

	for (size_t i = 0; i < ARRAY_LEN(commands) && !own && !s->dirs; i++) {
		if (fnmatch(commands[i].key, key, FNM_NOESCAPE) != 0)
			continue;
		for (size_t cut = 0; cut < ARRAY_LEN(cuts); cut++)
			name_words(s, value, cut, commands[i].level);
		return;
	}
}

static void look_in(struct search *s, const char *file, int depth)
{
	_cleanup_free_ char *text = NULL;
	struct gitkeys keys = { 0 };
	size_t len;

	if (depth > DEPTH_MAX || ++s->files > FILES_MAX ||
	    os_read_file_at(AT_FDCWD, file, GITKEYS_MAX, &text, &len) < 0)
		return;
	gitkeys_gather(s->arena, text, len, &keys);
	for (size_t i = 0; i < keys.n; i++) {
		const char *key = keys.keys[i].name, *value = keys.keys[i].value, *path;

		if (!strcmp(key, "core.hookspath")) {
			name_hooks(s, s->host->project.top, value);
		} else if (str_starts(key, "include") && !strcmp(strrchr(key, '.'), ".path")) {
			path = name(s, path_parent(s->arena, file), value, PROTECT_RO);
			if (path)
				look_in(s, path, depth + 1);
		} else {
			name_programs(s, key, value);
		}
	}
}

static void search(struct search *s)
{
	struct arena *arena = s->arena;
	const struct host *host = s->host;
	const struct project_facts *project = &host->project;
	bool linked = project->git == GIT_LINKED;
	const char *own = linked ? project->gitdir : path_join(arena, project->top, ".git");
	const char *common = linked ? project->commondir : own;
	const char *global = getenv("GIT_CONFIG_GLOBAL");
	const char *const files[] = {
		path_join(arena, common, "config"),
		path_join(arena, own, "config.worktree"),
		path_join(arena, host->home, ".gitconfig"),
		path_join(arena, host->config_home, "git/config"),
		"/etc/gitconfig",
		global ? global : "",
	};

	*s->ret = (struct gitnamed_list){ 0 };
	if (project->git == GIT_NONE)
		return;
	name_hooks(s, common, "hooks");
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		look_in(s, files[i], 0);
}

void gitnamed_find(struct arena *arena, const struct host *host, struct gitnamed_list *ret)
{
	search(&(struct search){ .arena = arena, .host = host, .ret = ret });
}

void gitnamed_find_in(struct arena *arena, const char *dir, bool dirs, struct gitnamed_list *ret)
{
	struct host host = { .uid = geteuid() };
	const char *home = user_home(&host.arena), *config = getenv("XDG_CONFIG_HOME");

	host.home = os_realpath(&host.arena, home);
	if (!host.home)
		host.home = path_join(&host.arena, "/", home);
	host.config_home = config && config[0] == '/'
				   ? arena_strdup(&host.arena, config)
				   : path_join(&host.arena, host.home, ".config");
	host.project.dir = arena_strdup(&host.arena, dir);
	project_probe_git(&host);
	search(&(struct search){ .arena = arena, .host = &host, .ret = ret, .dirs = dirs });
	arena_release(&host.arena);
}
