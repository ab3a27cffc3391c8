/* SPDX-License-Identifier: MIT */
/* Decisions on paths; file_rules.h says by what order of precedence. */
#include "spec/file_rules.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "spec/file_denied.h"
#include "spec/glob.h"

void file_rules_init(struct file_rules *rules, const char *home, const char *cwd)
{
	*rules = (struct file_rules){ 0 };
	rules->home = arena_strdup(&rules->arena, home);
	rules->cwd = arena_strdup(&rules->arena, cwd);
}

void file_rules_release(struct file_rules *rules)
{
	arena_release(&rules->arena);
	*rules = (struct file_rules){ 0 };
}

const char *file_rule_kind_name(enum file_rule_kind kind)
{
	static const char *const names[] = {
		[FILE_ALLOW_WRITE] = "allowWrite", [FILE_DENY_WRITE] = "denyWrite",
		[FILE_DENY_READ] = "denyRead",     [FILE_ALLOW_READ] = "allowRead",
		[FILE_PROTECT] = "protect",
	};

	return names[kind];
}

/* Keeps the roots free of those that lie in another. */
static void add_root(struct file_rules *rules, const char *path)
{
	struct strv old = rules->roots;

	for (size_t i = 0; i < old.len; i++)
		if (path_is_below(path, old.v[i]))
			return;
	rules->roots = (struct strv){ 0 };
	for (size_t i = 0; i < old.len; i++)
		if (!path_is_below(old.v[i], path))
			strv_add(&rules->arena, &rules->roots, old.v[i]);
	strv_add(&rules->arena, &rules->roots, path);
}

static struct file_rule *new_rule(struct file_rules *rules)
{
	return arena_grow(&rules->arena, (void *)&rules->rules, &rules->n, sizeof(*rules->rules));
}

int file_rules_add(struct file_rules *rules, const struct file_rule_source *source, struct err *err)
{
	struct arena *arena = &rules->arena;
	struct glob *pattern;
	struct file_rule *rule;
	char *prefix;

	pattern = glob_compile(arena, source->path, source->literal ? GLOB_PLAIN : 0, err);
	if (!pattern)
		return err_wrap(err, "%s", source->key);
	prefix = source->literal ? path_join(arena, "/", source->path)
				 : glob_prefix(arena, source->path);
	rule = new_rule(rules);
	*rule = (struct file_rule){
		.kind = source->kind,
		.text = arena_strdup(arena, source->text),
		.path = prefix,
		.key = arena_strdup(arena, source->key),
		.origin = source->origin ? arena_strdup(arena, source->origin) : NULL,
		.glob = !source->literal && !glob_is_literal(pattern),
		.firm = source->firm,
		.absent = source->absent,
		.fleeting = source->fleeting,
		.pattern = pattern,
	};
	if (rule->kind == FILE_ALLOW_WRITE)
		add_root(rules, rule->path);
	return 0;
}

/* '/' as a denyRead means its children but those that a process cannot be without. */
static bool exempt_from_root(const char *path)
{
	static const char *const kept[] = { "/proc", "/dev", "/sys" };

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (path_is_below(path, kept[i]))
			return true;
	return !strcmp(path, "/");
}

/* How much of path the rule covers it by; -1: it does not. */
static ssize_t covers(const struct file_rule *rule, const char *path)
{
	if (rule->kind == FILE_DENY_READ && !rule->glob && !strcmp(rule->path, "/") &&
	    exempt_from_root(path))
		return -1;
	return glob_cover(rule->pattern, path);
}

/* Among rules that cover a path by the same length. */
static int read_rank(const struct file_rule *rule)
{
	switch (rule->kind) {
	case FILE_ALLOW_WRITE:
		return 1;
	case FILE_DENY_READ:
		return rule->firm ? 4 : 2;
	case FILE_ALLOW_READ:
		return 3;
	default:
		return 0;
	}
}

struct file_verdict file_rules_read(const struct file_rules *rules, const char *path)
{
	struct file_verdict verdict = { .allowed = true };
	ssize_t best = -1;
	bool denied = false;

	if (rules->disabled)
		return verdict;
	for (size_t i = 0; i < rules->n; i++) {
		const struct file_rule *rule = &rules->rules[i];
		ssize_t len;

		if (!read_rank(rule))
			continue;
		len = covers(rule, path);
		if (len < 0)
			continue;
		if (rule->firm)
			return (struct file_verdict){ .rule = rule };
		denied = denied || rule->kind == FILE_DENY_READ;
		if (len > best || (len == best && read_rank(rule) > read_rank(verdict.rule))) {
			best = len;
			verdict.rule = rule;
		}
	}
	/* Where nothing is denied, nothing is allowed again. */
	if (!denied)
		return (struct file_verdict){ .allowed = true };
	verdict.allowed = verdict.rule->kind != FILE_DENY_READ;
	return verdict;
}

/* From which byte of path on the end of a protected name counts; see file_rules.h. */
static size_t protected_from(const struct file_rules *rules, const char *path)
{
	if (path_is_below(path, rules->cwd))
		return strlen(rules->cwd) + 1;
	for (size_t i = 0; i < rules->roots.len; i++)
		if (path_is_below(path, rules->roots.v[i]))
			return strlen(rules->roots.v[i]);
	return 0;
}

/* A cheap look that spares most paths the comparison. */
static bool may_be_protected(const struct file_rules *rules, const char *path)
{
	for (const char *s = path; *s; s++) {
		unsigned char first = (unsigned char)s[1];

		if (*s == '/' && (first >= 0x80 || rules->protect_first[tolower(first)]))
			return true;
	}
	return false;
}

static const struct file_rule *find_protect(const struct file_rules *rules, const char *path)
{
	size_t from;

	if (!may_be_protected(rules, path))
		return NULL;
	from = protected_from(rules, path);
	for (size_t i = 0; i < rules->n; i++) {
		const struct file_rule *rule = &rules->rules[i];

		if (rule->kind == FILE_PROTECT && glob_cover(rule->pattern, path) >= (ssize_t)from)
			return rule;
	}
	return NULL;
}

struct file_verdict file_rules_write(const struct file_rules *rules, const char *path)
{
	const struct file_rule *allow = NULL, *deny = NULL;
	struct file_verdict read;

	if (rules->disabled)
		return (struct file_verdict){ .allowed = true };
	if (strcasestr(path, "/" FILE_APPLY_DIR))
		return (struct file_verdict){ 0 };
	for (size_t i = 0; i < rules->n && !deny; i++) {
		const struct file_rule *rule = &rules->rules[i];

		if (rule->kind == FILE_ALLOW_WRITE && !allow && covers(rule, path) >= 0)
			allow = rule;
		else if (rule->kind == FILE_DENY_WRITE && covers(rule, path) >= 0)
			deny = rule;
	}
	if (!deny && rules->denied)
		deny = file_denied_cover(rules->denied, path);
	if (!deny && !allow)
		return (struct file_verdict){ 0 };
	if (!deny)
		deny = find_protect(rules, path);
	if (deny)
		return (struct file_verdict){ .rule = deny };
	read = file_rules_read(rules, path);
	if (!read.allowed)
		return read;
	return (struct file_verdict){ .allowed = true, .rule = allow };
}

/* Whether the rule says the same of each name below 'from' and below 'to'. */
static bool same_below(const struct file_rule *rule, const char *from, const char *to)
{
	bool from_covered = covers(rule, from) >= 0, to_covered = covers(rule, to) >= 0;

	/* Both ends are readable, so where a plain denyRead covers one, something more specific lifts
	 * it for all that lies below. */
	if (rule->kind == FILE_DENY_READ && !rule->glob && (from_covered || to_covered))
		return true;
	/* A shorter match of an allowing rule is weaker than all that may be denied below. */
	if (rule->kind != FILE_ALLOW_READ && rule->kind != FILE_ALLOW_WRITE &&
	    from_covered != to_covered)
		return false;
	return glob_same_below(rule->pattern, from, to);
}

/* What a move of a directory would lift or bring about; the moved name itself is judged elsewhere. */
static const struct file_rule *find_difference(const struct file_rules *rules, const char *from,
					       const char *to)
{
	const struct file_rule *found = NULL;
	bool denies = false;

	for (size_t i = 0; i < rules->n; i++)
		denies = denies || rules->rules[i].kind == FILE_DENY_READ;
	for (size_t i = 0; i < rules->n && !found; i++) {
		const struct file_rule *rule = &rules->rules[i];
		bool allows = rule->kind == FILE_ALLOW_READ || rule->kind == FILE_ALLOW_WRITE;

		/* What allows matters where it may lift a denyRead. */
		if ((!allows || denies) && !same_below(rule, from, to))
			found = rule;
	}
	if (!found && rules->denied)
		found = file_denied_difference(rules->denied, from, to);
	return found;
}

struct file_verdict file_rules_move(const struct file_rules *rules, const char *from,
				    const char *to, bool is_dir)
{
	struct file_verdict verdict = file_rules_write(rules, from);

	if (!verdict.allowed || rules->disabled)
		return verdict;
	verdict = file_rules_write(rules, to);
	if (!verdict.allowed || !is_dir)
		return verdict;
	if (strv_has(&rules->roots, from) || strv_has(&rules->roots, to))
		return (struct file_verdict){ 0 };
	verdict.rule = find_difference(rules, from, to);
	verdict.allowed = !verdict.rule;
	return verdict;
}

struct file_verdict file_rules_symlink(const struct file_rules *rules, const char *path)
{
	struct file_verdict verdict = { .allowed = true };
	_cleanup_str_ struct str beside = { 0 };

	if (rules->disabled)
		return verdict;
	/* A name that no rule is about. */
	str_addf(&beside, "%.*s/:", (int)(strrchr(path, '/') - path), path);
	verdict.rule = find_difference(rules, beside.s, path);
	verdict.allowed = !verdict.rule;
	return verdict;
}

bool file_rules_have(const struct file_rules *rules, const struct file_rule *rule)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->rules[i].kind == rule->kind && !strcmp(rules->rules[i].text, rule->text))
			return true;
	return false;
}

enum file_reads file_rules_reads(const struct file_rules *rules)
{
	enum file_reads reads = FILE_READS_FREE;

	if (rules->asked)
		return FILE_READS_ASKED;
	for (size_t i = 0; i < rules->n && !rules->disabled; i++) {
		const struct file_rule *rule = &rules->rules[i];

		if (rule->kind != FILE_DENY_READ)
			continue;
		if (rule->glob || rule->absent || rule->fleeting)
			return FILE_READS_ASKED;
		if (!rules->unwatched)
			reads = FILE_READS_WATCHED;
	}
	return reads;
}
