/* SPDX-License-Identifier: MIT */
/*
 * Where Claude Code's settings lie: reads every file that counts for a directory, and whether the
 * user has told Claude Code to trust the project. A file that is there and cannot be read is an
 * error: it could hold what denies.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_span.h"
#include "base/path.h"
#include "os/fs.h"
#include "spec/claude.h"
#include "spec/config.h"

#ifdef __APPLE__
#define MANAGED_DIR "/Library/Application Support/ClaudeCode"
#else
#define MANAGED_DIR "/etc/claude-code"
#endif

enum { RECORD_MAX = 32 << 20 }; /* Claude Code's own record of projects grows */

/* An absent file is fine; 'must' says otherwise. */
static int add_file(struct claude_files *files, enum claude_scope scope, const char *path,
		    bool must, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct claude_source *source;
	size_t len = 0;
	int r;

	strv_add(&files->arena, &files->watch, path);
	r = config_read(path, &text, &len, err);
	if (r == 0 && !text && must)
		r = err_errno(err, ENOENT, "reading '%s'", path);
	if (r < 0)
		return err_hint(err, "settings that cannot be read could hold rules that deny");
	if (!text)
		return 0;
	source = arena_grow(&files->arena, &files->sources, &files->n, sizeof(*source));
	*source = (struct claude_source){ .scope = scope,
					  .path = arena_strdup(&files->arena, path),
					  .text = arena_strndup(&files->arena, text, len),
					  .len = len };
	return 0;
}

static int is_json_file(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".json");
}

/* managed-settings.json, then what lies in managed-settings.d, by name. */
static int add_managed(struct claude_files *files, struct err *err)
{
	static const char dir[] = MANAGED_DIR "/managed-settings.d";
	struct dirent **list = NULL;
	int n, r = add_file(files, CLAUDE_MANAGED, MANAGED_DIR "/managed-settings.json", false,
			    err);

	if (r < 0)
		return r;
	strv_add(&files->arena, &files->watch, dir);
	n = scandir(dir, &list, is_json_file, alphasort);
	if (n < 0 && errno != ENOENT && errno != ENOTDIR)
		return err_errno(err, errno, "reading '%s'", dir);
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = add_file(files, CLAUDE_MANAGED,
				     path_join(&files->arena, dir, list[i]->d_name), true, err);
		free(list[i]);
	}
	free(list);
	return r;
}

static int add_flag(struct claude_files *files, const char *settings, struct err *err)
{
	struct claude_source *source;
	const char *path;

	if (!settings)
		return 0;
	if (settings[strspn(settings, " \t\r\n")] != '{') {
		path = os_realpath(&files->arena, settings);
		if (!path)
			return err_errno(err, errno, "reading '%s'", settings);
		files->place.flag_dir = path_parent(&files->arena, path);
		return add_file(files, CLAUDE_FLAG, path, true, err);
	}
	source = arena_grow(&files->arena, &files->sources, &files->n, sizeof(*source));
	*source = (struct claude_source){ .scope = CLAUDE_FLAG,
					  .path = "--settings",
					  .text = arena_strdup(&files->arena, settings),
					  .len = strlen(settings) };
	return 0;
}

/* Another user's, or a link of his, in a directory where everybody may write are none of this project's. */
static bool is_ours(const char *path, uid_t owner)
{
	struct stat link, st;

	if (lstat(path, &link) < 0 || stat(path, &st) < 0)
		return false;
	return (link.st_uid == owner || link.st_uid == geteuid() || link.st_uid == 0) &&
	       (st.st_uid == owner || st.st_uid == geteuid() || st.st_uid == 0);
}

/* What may not be looked at is there: to read it is an error then. */
static bool has_settings(struct arena *arena, const char *dir, uid_t owner)
{
	static const char *const names[] = { "settings.json", "settings.local.json" };
	const char *at = path_join(arena, dir, ".claude");

	if (!is_ours(at, owner))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (access(path_join(arena, at, names[i]), F_OK) == 0 || errno == EACCES)
			return true;
	return false;
}

/* The nearest directory with settings of its own, not above the home directory; NULL when there is none. A '.git' on
 * the way ends nothing: a command that the settings hold can have made it. */
static const char *find_project(struct arena *arena, const struct claude_place *place)
{
	struct stat st = { .st_uid = geteuid() };

	(void)stat(place->cwd, &st); /* who may not look at it reads nothing of it, either */
	for (const char *dir = place->cwd;; dir = path_parent(arena, dir)) {
		bool users = !strcmp(path_join(arena, dir, ".claude"), place->config);

		if (!users && has_settings(arena, dir, st.st_uid))
			return dir;
		if (!strcmp(dir, place->home) || !strcmp(dir, "/"))
			return NULL;
	}
}

/* Claude Code keeps the user's answer to "do you trust this folder" by path; it holds below too. */
static bool is_trusted(struct arena *arena, const char *record, const char *project)
{
	_cleanup_json_doc_ struct json_doc doc = { .spans = NULL };
	_cleanup_close_ int fd = os_open_settings(record, O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	const struct json_span *projects;
	struct err err;
	size_t len = 0;

	if (fd < 0 || os_read_fd(fd, RECORD_MAX, &text, &len) < 0 ||
	    json_doc_parse(&doc, text, len, RECORD_MAX, record, &err) < 0)
		return false;
	projects = json_span_get(&doc, json_doc_top(&doc), "projects");
	for (const char *dir = project;; dir = path_parent(arena, dir)) {
		const struct json_span *entry = json_span_get(&doc, projects, dir);
		const struct json_span *yes = json_span_get(&doc, entry, "hasTrustDialogAccepted");

		if (yes && yes->kind == JSON_SPAN_TRUE)
			return true;
		if (!strcmp(dir, "/"))
			return false;
	}
}

static void find_place(struct claude_files *files, const struct claude_where *where)
{
	struct claude_place *place = &files->place;
	struct arena *arena = &files->arena;
	const char *found;

	place->home = arena_strdup(arena, where->home);
	place->config = where->config ? path_join(arena, where->dir, where->config)
				      : path_join(arena, where->home, ".claude");
	place->cwd = arena_strdup(arena, where->dir);
	found = where->project ? path_join(arena, where->dir, where->project)
			       : find_project(arena, place);
	files->found = found != NULL;
	place->project = found ? found : place->cwd;
	place->trusted = where->trust ||
			 is_trusted(arena,
				    path_join(arena, where->config ? place->config : place->home,
					      CLAUDE_RECORD),
				    place->project);
}

bool claude_is_project(const struct claude_where *where)
{
	struct claude_files files = { .n = 0 };
	bool found;

	find_place(&files, where);
	found = files.found;
	claude_files_release(&files);
	return found;
}

static int claude_files_load(struct claude_files *ret, const struct claude_where *where,
			     struct err *err)
{
	const char *shared;
	int r;

	*ret = (struct claude_files){ .n = 0 };
	find_place(ret, where);
	shared = path_join(&ret->arena, ret->place.project, ".claude/settings.json");
	ret->local = path_join(&ret->arena, ret->place.project, ".claude/settings.local.json");
	r = add_file(ret, CLAUDE_USER, path_join(&ret->arena, ret->place.config, "settings.json"),
		     false, err);
	/* In the home directory the project's file would be the user's. */
	if (r == 0 && strcmp(path_parent(&ret->arena, shared), ret->place.config))
		r = add_file(ret, CLAUDE_PROJECT, shared, false, err);
	if (r == 0)
		r = add_file(ret, CLAUDE_LOCAL, ret->local, false, err);
	if (r == 0)
		r = add_flag(ret, where->settings, err);
	return r < 0 ? r : add_managed(ret, err);
}

void claude_files_release(struct claude_files *files)
{
	arena_release(&files->arena);
	*files = (struct claude_files){ .n = 0 };
}

int claude_load(struct claude_settings *ret, const struct claude_where *where,
		struct claude_files *ret_files, struct err *err)
{
	int r = claude_files_load(ret_files, where, err);

	*ret = (struct claude_settings){ .n = 0 };
	return r < 0 ? r
		     : claude_settings_parse(ret, ret_files->sources, ret_files->n,
					     &ret_files->place, err);
}
