/* SPDX-License-Identifier: MIT */
/* The paths of the settings become rules on resolved paths (srt_walk.h); and the rules that are there without being asked for. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/dir.h"
#include "spec/glob.h"
#include "spec/srt_walk.h"

struct maker {
	const struct srt_config *config;
	const struct srt_place *place;
	struct file_rules *rules;
	struct srt_notes *notes;
	struct arena *arena;
};

static bool denies(enum file_rule_kind kind)
{
	return kind == FILE_DENY_READ || kind == FILE_DENY_WRITE;
}

static int add(const struct maker *m, const struct file_rule_source *source, struct err *err)
{
	return file_rules_add(m->rules, source, err);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* Something that the walk went through lies in it, and so it stays where it is. */
static bool holds_way(const struct srt_walk *w, const char *dir)
{
	for (size_t i = 0; i < w->links.len; i++)
		if (path_is_below(w->links.v[i], dir))
			return true;
	return path_is_below(w->done, dir);
}

/* In the place of a directory that '..' went up from a link could stand, and '..' would be the parent of what that leads
 * to. A rule for a name that nobody may write anyway keeps it where it is, and leaves all that is in it alone. */
static int keep_left(const struct maker *m, const struct srt_walk *w,
		     struct file_rule_source source, struct err *err)
{
	int r = 0;

	source.kind = FILE_DENY_WRITE;
	source.literal = source.absent = true;
	source.fleeting = false;
	for (size_t i = 0; r == 0 && i < w->left.len; i++) {
		if (holds_way(w, w->left.v[i]))
			continue;
		source.path = path_join(m->arena, w->left.v[i], FILE_APPLY_DIR);
		r = add(m, &source, err);
	}
	return r;
}

/* A deny rule at the end of the links, and at each of them against its replacement. */
static int add_resolved(const struct maker *m, struct file_rule_source source, const char *tail,
			struct err *err)
{
	struct srt_walk w = { .arena = m->arena, .cwd = m->place->cwd, .follow_all = true };
	int r = srt_walk(&w, source.path, err);

	if (r < 0)
		return err_wrap(err, "%s", source.key);
	source.path = *tail ? arena_printf(m->arena, "%s%s", strcmp(w.done, "/") ? w.done : "",
					   tail)
			    : w.done;
	source.absent = w.absent;
	source.folded = os_ignores_case(w.done);
	source.fleeting = !w.absent && !*tail && !is_dir(w.done);
	r = add(m, &source, err);
	for (size_t i = 0; r == 0 && i < w.links.len; i++) {
		struct file_rule_source link = source;

		link.kind = FILE_DENY_WRITE;
		link.path = w.links.v[i];
		link.literal = true;
		r = add(m, &link, err);
	}
	return r < 0 ? r : keep_left(m, &w, source, err);
}

/* A rule that allows, unless a link stops it. */
static int add_allowed(const struct maker *m, struct file_rule_source source, const char *tail,
		       struct err *err)
{
	char *path = srt_resolve_allowed(m->arena, m->place, source.path, source.key, m->notes,
					 err);

	if (!path)
		return -err->code;
	if (!*path)
		return 0;
	source.path = *tail ? arena_printf(m->arena, "%s%s", strcmp(path, "/") ? path : "", tail)
			    : path;
	return add(m, &source, err);
}

static int add_rule(const struct maker *m, struct file_rule_source source, struct err *err)
{
	char *prefix = source.literal ? NULL : glob_prefix(m->arena, source.path);
	const char *tail = "", *whole = source.path;
	struct stat st;
	int r;

	if (prefix && strcmp(prefix, source.path) != 0) {
		tail = source.path + (strcmp(prefix, "/") ? strlen(prefix) : 0);
		source.path = prefix;
	} else {
		source.literal = true;
	}
	r = denies(source.kind) ? add_resolved(m, source, tail, err)
				: add_allowed(m, source, tail, err);
	if (r < 0 || !*tail || lstat(whole, &st) < 0 ||
	    (!denies(source.kind) && S_ISLNK(st.st_mode)))
		return r;
	/* Something is really called like the pattern. */
	source.path = whole;
	source.literal = true;
	return denies(source.kind) ? add_resolved(m, source, "", err)
				   : add_allowed(m, source, "", err);
}

/* The sandbox has its own of these; the host's are never written. */
static bool is_private(const char *path)
{
	return path_is_below(path, "/dev") || path_is_below(path, "/proc") ||
	       path_is_below(path, "/sys");
}

/* As a shell would replace it: here it is a name like any other. */
static bool is_for_shell(const char *text)
{
	unsigned char next = (unsigned char)text[1];

	return (text[0] == '$' && (next == '{' || next == '_' || isalpha(next))) ||
	       (text[0] == '~' && isalpha(next));
}

/* Who writes '$HOME/.ssh' would think that it is denied. */
static void warn_for_shell(const struct maker *m, const struct srt_path *entry, const char *path)
{
	struct stat st;

	if (!entry->literal && is_for_shell(entry->text) && lstat(path, &st) < 0)
		strv_addf(m->notes->arena, &m->notes->lines,
			  "%s: '%s' is a name in the working directory: no variable is replaced "
			  "here, and of homes only '~/'",
			  entry->key, entry->text);
}

/* What the kernel means by an entry that denies, where that is another place than its text says. */
static int deny_as_kernel(const struct maker *m, const struct srt_path *entry,
			  struct file_rule_source source, struct err *err)
{
	char *raw = srt_raw(m->arena, m->place, entry->text);
	char *prefix = entry->literal ? raw : glob_prefix(m->arena, raw);
	const char *tail = raw + (strcmp(prefix, "/") ? strlen(prefix) : 0);
	struct srt_walk w = { .arena = m->arena };
	int r = srt_leads_elsewhere(m->place, prefix, &w, err);

	if (r <= 0)
		return r < 0 ? err_wrap(err, "%s", source.key) : 0;
	source.path = prefix;
	source.literal = !*tail;
	return add_resolved(m, source, *tail ? path_join(m->arena, "/", tail) : "", err);
}

static int add_entry(const struct maker *m, const struct srt_path *entry, struct err *err)
{
	char *path = srt_absolute(m->arena, m->place, entry->text);
	struct file_rule_source source = {
		.kind = entry->kind,
		.text = entry->shown ? entry->shown : entry->text,
		.path = path,
		.key = entry->key,
		.origin = entry->origin ? entry->origin
			  : m->config->origin
				  ? arena_printf(m->arena, "%s:%u", m->config->origin, entry->line)
				  : NULL,
		.literal = entry->literal,
		.firm = entry->firm,
	};
	int r;

	warn_for_shell(m, entry, path);
	if (entry->kind == FILE_ALLOW_WRITE && is_private(path)) {
		if (!path_is_below(path, "/dev"))
			strv_addf(m->notes->arena, &m->notes->lines,
				  "%s: '%s' cannot be made writable", entry->key, entry->text);
		return 0;
	}
	r = denies(entry->kind) ? deny_as_kernel(m, entry, source, err)
				: srt_is_ambiguous(m->arena, m->place, entry->text, entry->literal,
						   entry->key, m->notes, err);
	return r ? MIN(r, 0) : add_rule(m, source, err);
}

static int allow_write(const struct maker *m, const char *path, const char *key, struct err *err)
{
	return add_rule(m,
			(struct file_rule_source){ .kind = FILE_ALLOW_WRITE,
						   .text = path,
						   .path = path,
						   .key = key,
						   .literal = true },
			err);
}

static bool is_own_dir(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* What may be written without being asked for. A working directory that holds the home is too much to
 * be given away by standing in it. */
static int add_defaults(const struct maker *m, struct err *err)
{
	const struct srt_place *place = m->place;
	struct arena *a = m->arena;
	int r = 0;

	if (!path_is_below(place->home, place->cwd))
		r = allow_write(m, place->cwd, "the working directory", err);
	if (r == 0 && place->tmpdir)
		r = allow_write(m, place->tmpdir, "the temporary directory", err);
	if (r == 0 && is_own_dir("/tmp/claude"))
		r = allow_write(m, "/tmp/claude", "the temporary directory", err);
	if (r == 0 && place->git_dir)
		r = allow_write(m, place->git_dir, "the repository", err);
	if (r == 0)
		r = allow_write(m, path_join(a, place->home, ".npm/_logs"), "built in", err);
	if (r == 0)
		r = allow_write(m, path_join(a, place->home, ".claude/debug"), "built in", err);
	return r;
}

static int deny_write(const struct maker *m, const char *path, const char *key, struct err *err)
{
	return add_rule(m,
			(struct file_rule_source){ .kind = FILE_DENY_WRITE,
						   .text = path,
						   .path = path,
						   .key = key,
						   .literal = true },
			err);
}

/* Who could rewrite the settings could give himself everything; who could rewrite the link to a git
 * directory could have another one obeyed; of wrapix's own files the state is what the host takes over of git and
 * of copy-on-write sessions, the others are what the next sandbox is made of, and what runs outside of it. */
static int add_denials(const struct maker *m, struct err *err)
{
	const struct strv *own = &m->place->own;
	char *git = path_join(m->arena, m->place->cwd, ".git");
	struct stat st;
	int r = 0;

	if (m->place->settings)
		r = deny_write(m, m->place->settings, "the settings file", err);
	if (r == 0 && m->place->report)
		r = deny_write(m, m->place->report, "the report of violations", err);
	if (r == 0 && m->place->control)
		r = deny_write(m, m->place->control, "the control channel", err);
	if (r == 0 && m->place->server)
		r = deny_write(m, m->place->server, "the server's socket", err);
	for (size_t i = 0; r == 0 && i < own->len; i++)
		if (file_rules_write(m->rules, own->v[i]).allowed)
			r = deny_write(m, own->v[i], "wrapix's own files", err);
	if (r == 0 && !lstat(git, &st) && S_ISREG(st.st_mode))
		r = deny_write(m, git, "protect", err);
	return r;
}

/* The name in the directory is a link, or the first of two is. */
static bool is_behind_link(const struct maker *m, const char *dir, const char *name)
{
	size_t n = strcspn(name, "/");
	struct stat st;

	if (lstat(path_join(m->arena, dir, arena_strndup(m->arena, name, n)), &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode) && name[n] && lstat(path_join(m->arena, dir, name), &st) < 0)
		return false;
	return S_ISLNK(st.st_mode);
}

/* A protected name that is a link, or lies behind one: what it leads to is obeyed as well. */
static int deny_behind(const struct maker *m, const char *dir, const char *name, struct err *err)
{
	if (!is_behind_link(m, dir, name))
		return 0;
	return add_rule(m,
			(struct file_rule_source){ .kind = FILE_DENY_WRITE,
						   .text = name,
						   .path = path_join(m->arena, dir, name),
						   .key = "protect" },
			err);
}

/* Deeper ones would take a walk of the tree. Git's other files are looked at where they lie. */
static int add_linked(const struct maker *m, struct err *err)
{
	static const char *const more[] = { ".claude/settings.json",
					    ".claude/settings.local.json" };
	const char *dirs[] = { m->place->cwd, m->place->home };
	const char *name;
	int r = 0;

	for (size_t d = 0; d < ARRAY_LEN(dirs); d++) {
		for (size_t i = 0; r == 0 && (name = file_rules_protected(i)) != NULL; i++)
			if ((!str_starts(name, ".git/") || !strcmp(name, ".git/hooks")) &&
			    !strv_has(&m->config->protect_remove, name))
				r = deny_behind(m, dirs[d], name, err);
		for (size_t i = 0; r == 0 && i < ARRAY_LEN(more); i++)
			if (!strv_has(&m->config->protect_remove, ".claude/settings*.json"))
				r = deny_behind(m, dirs[d], more[i], err);
	}
	return r;
}

/* What a hook of the repository is a link to runs in its place. */
static int deny_hooks(const struct maker *m, struct err *err)
{
	const char *git = m->place->git_dir ? m->place->git_dir
					    : path_join(m->arena, m->place->cwd, ".git");
	_cleanup_dir_ DIR *list = opendir(path_join(m->arena, git, "hooks"));
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = os_dir_next(list)) != NULL)
		if (entry->d_type == DT_LNK)
			r = deny_behind(m, git, path_join(m->arena, "hooks", entry->d_name), err);
	return r;
}

/* Who allows a protected name by name means it, and must say so in another key. */
static void warn_protected(const struct maker *m)
{
	for (size_t i = 0; i < m->rules->n; i++) {
		const struct file_rule *rule = &m->rules->rules[i];
		struct file_verdict verdict;

		if (rule->kind != FILE_ALLOW_WRITE || rule->glob || !rule->origin)
			continue;
		verdict = file_rules_write(m->rules, rule->path);
		if (!verdict.allowed && verdict.rule->kind == FILE_PROTECT)
			strv_addf(m->notes->arena, &m->notes->lines,
				  "%s: '%s' stays protected; \"protect\": {\"remove\": [\"%s\"]} "
				  "would lift that",
				  rule->key, rule->text, verdict.rule->text);
	}
}

int srt_file_rules(const struct srt_config *config, const struct srt_place *place,
		   struct file_rules *ret, struct srt_notes *notes, struct err *err)
{
	struct file_rules rules;
	struct maker m = { config, place, &rules, notes, NULL };
	int r;

	file_rules_init(&rules, place->home, place->cwd);
	m.arena = &rules.arena;
	rules.disabled = config->disabled;
	r = add_defaults(&m, err);
	for (size_t i = 0; r == 0 && i < config->n_paths; i++)
		r = add_entry(&m, &config->paths[i], err);
	if (r == 0)
		r = add_denials(&m, err);
	if (r == 0 && !rules.disabled)
		r = add_linked(&m, err);
	if (r == 0 && !rules.disabled && !strv_has(&config->protect_remove, ".git/hooks"))
		r = deny_hooks(&m, err);
	if (r == 0)
		r = file_rules_protect(&rules, &config->protect_add, &config->protect_remove,
				       config->allow_git_config, err);
	if (r < 0) {
		file_rules_release(&rules);
		return r;
	}
	if (!rules.disabled)
		warn_protected(&m);
	*ret = rules;
	return 0;
}
