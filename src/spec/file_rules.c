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
	path_map_release(&rules->places);
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

/* What is known of a path in the table. It has all paths above those that are in it, and so it is a tree, too. */
struct place {
	size_t rules; /* the last of those that have this path */
	size_t root;  /* its number among the writable places, from 1; 0: it is none */
	struct place *below, *beside;
	bool in_tree;
};

static struct place *find_place(const struct file_rules *rules, const char *path, size_t len)
{
	return path_map_get(&rules->places, path, len);
}

static struct place *make_place(struct file_rules *rules, const char *path)
{
	size_t len = strlen(path);
	struct place *made = path_map_make(&rules->places, path, len, sizeof(*made)), *above;

	for (struct place *at = made; !at->in_tree; at = above) {
		at->in_tree = true;
		len = path_parent_len(path, len);
		if (!len)
			break;
		above = path_map_make(&rules->places, path, len, sizeof(*above));
		at->beside = above->below;
		above->below = at;
	}
	return made;
}

/* Of the root that a path lies in the length; 0: it lies in none. */
static size_t root_len(const struct file_rules *rules, const char *path)
{
	for (size_t n = strlen(path); n > 0; n = path_parent_len(path, n)) {
		const struct place *place = find_place(rules, path, n);

		if (place && place->root)
			return n;
	}
	return 0;
}

static bool is_root(const struct file_rules *rules, const char *path)
{
	const struct place *place = find_place(rules, path, strlen(path));

	return place && place->root;
}

/* The last one takes its number. */
static void drop_root(struct file_rules *rules, struct place *place)
{
	struct strv *roots = &rules->roots;
	const char *last = roots->v[roots->len - 1];

	find_place(rules, last, strlen(last))->root = place->root;
	roots->v[place->root - 1] = roots->v[roots->len - 1];
	roots->v[--roots->len] = NULL;
	place->root = 0;
}

/* What lies in a root has none below: each place is come to once, however many roots come to lie in others. */
static void drop_roots_below(struct file_rules *rules, struct place *place)
{
	for (struct place *at = place->below; at; at = at->beside)
		if (at->root)
			drop_root(rules, at);
		else
			drop_roots_below(rules, at);
}

/* Keeps the roots free of those that lie in another. */
static void add_root(struct file_rules *rules, const char *path)
{
	struct place *place;

	if (root_len(rules, path))
		return;
	place = make_place(rules, path);
	drop_roots_below(rules, place);
	strv_add(&rules->arena, &rules->roots, path);
	place->root = rules->roots.len;
}

/* Puts the newest rule into its list. */
static void list_rule(struct file_rules *rules, struct file_rule *rule)
{
	const char *path = glob_literal(rule->pattern);
	size_t *last = path ? &make_place(rules, path)->rules : &rules->patterns;

	rule->before = *last;
	*last = rules->n;
}

int file_rules_add(struct file_rules *rules, const struct file_rule_source *source, struct err *err)
{
	struct arena *arena = &rules->arena;
	struct glob *pattern;
	struct file_rule *rule;
	char *prefix;

	pattern = glob_compile(
		arena, source->path,
		(source->literal ? GLOB_PLAIN : 0) | (source->folded ? GLOB_FOLD : 0), err);
	if (!pattern)
		return err_wrap(err, "%s", source->key);
	prefix = source->literal ? path_join(arena, "/", source->path)
				 : glob_prefix(arena, source->path);
	rule = arena_grow(arena, (void *)&rules->rules, &rules->n, sizeof(*rules->rules));
	*rule = (struct file_rule){
		.kind = source->kind,
		.text = arena_strdup(arena, source->text),
		.path = prefix,
		.key = arena_strdup(arena, source->key),
		.origin = source->origin ? arena_strdup(arena, source->origin) : NULL,
		.glob = !source->literal &&
			(source->folded ? glob_is_special(source->path) : !glob_literal(pattern)),
		.firm = source->firm,
		.absent = source->absent,
		.fleeting = source->fleeting,
		.folded = source->folded,
		.pattern = pattern,
	};
	list_rule(rules, rule);
	rules->denies_read = rules->denies_read || rule->kind == FILE_DENY_READ;
	if (rule->kind == FILE_ALLOW_WRITE)
		add_root(rules, rule->path);
	return 0;
}

/* Goes through all rules that can cover a path, protected names aside: of the patterns each, of plain paths its own and those above. */
struct candidates {
	const struct file_rules *rules;
	const char *path;
	size_t len, next;
};

static struct candidates candidates_of(const struct file_rules *rules, const char *path)
{
	return (struct candidates){ rules, path, strlen(path), rules->patterns };
}

static const struct file_rule *next_candidate(struct candidates *c)
{
	const struct file_rule *rule;

	for (; !c->next && c->len; c->len = path_parent_len(c->path, c->len)) {
		const struct place *place = find_place(c->rules, c->path, c->len);

		c->next = place ? place->rules : 0;
	}
	if (!c->next)
		return NULL;
	rule = &c->rules->rules[c->next - 1];
	c->next = rule->before;
	return rule;
}

/* Of two that decide the same, the one that was written first is told of. */
static bool is_first(const struct file_rule *rule, const struct file_rule *other)
{
	return !other || rule < other;
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

int file_rule_read_rank(const struct file_rule *rule)
{
	switch (rule->kind) {
	case FILE_ALLOW_WRITE:
		return 1;
	case FILE_DENY_READ:
		return 2;
	case FILE_ALLOW_READ:
		return 3;
	default:
		return 0;
	}
}

/* Both cover a path, by so many bytes of it. */
static bool is_nearer(const struct file_rule *rule, ssize_t len, const struct file_rule *other,
		      ssize_t other_len)
{
	if (!other || len != other_len)
		return len > other_len;
	if (file_rule_read_rank(rule) != file_rule_read_rank(other))
		return file_rule_read_rank(rule) > file_rule_read_rank(other);
	return is_first(rule, other);
}

struct file_verdict file_rules_read(const struct file_rules *rules, const char *path)
{
	struct file_verdict verdict = { .allowed = true };
	struct candidates all = candidates_of(rules, path);
	const struct file_rule *rule, *firm = NULL;
	ssize_t best = -1;
	bool denied = false;

	if (rules->disabled)
		return verdict;
	while ((rule = next_candidate(&all))) {
		ssize_t len = file_rule_read_rank(rule) ? covers(rule, path) : -1;

		if (len < 0)
			continue;
		if (rule->firm && is_first(rule, firm))
			firm = rule;
		denied = denied || rule->kind == FILE_DENY_READ;
		if (is_nearer(rule, len, verdict.rule, best)) {
			best = len;
			verdict.rule = rule;
		}
	}
	if (firm)
		return (struct file_verdict){ .rule = firm };
	/* Where nothing is denied, nothing is allowed again. */
	if (!denied)
		return (struct file_verdict){ .allowed = true };
	verdict.allowed = verdict.rule->kind != FILE_DENY_READ;
	return verdict;
}

/* From which byte of path on the end of a protected name counts; see file_rules.h. */
static size_t protected_from(const struct file_rules *rules, const char *path)
{
	return path_is_below(path, rules->cwd) ? strlen(rules->cwd) + 1 : root_len(rules, path);
}

/* A byte beyond ASCII may stand for a letter, or for several. */
static bool begins_like(const char *s, const char *name)
{
	for (; *name && (unsigned char)*s < 0x80; s++, name++)
		if (tolower((unsigned char)*s) != tolower((unsigned char)*name))
			return false;
	return true;
}

/* A cheap look that spares most paths the comparison. */
static bool may_be_protected(const struct file_rules *rules, const char *path)
{
	for (const char *s = path; *s; s++) {
		unsigned char first = (unsigned char)s[1];
		const char *name = rules->protect_first[tolower(first)];

		if (*s == '/' && (first >= 0x80 || (name && begins_like(s + 1, name))))
			return true;
	}
	return false;
}

static const struct file_rule *find_protect(const struct file_rules *rules, const char *path)
{
	const struct file_rule *rule, *found = NULL;
	size_t from;

	if (!may_be_protected(rules, path))
		return NULL;
	from = protected_from(rules, path);
	for (size_t i = rules->protects; i; i = rule->before) {
		rule = &rules->rules[i - 1];
		if (glob_cover(rule->pattern, path) >= (ssize_t)from)
			found = rule; /* the first is the last to come */
	}
	return found;
}

/* In a directory of 'wrapix apply'. */
static bool is_applied(const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (at[1] == '.' && !strncasecmp(at + 1, FILE_APPLY_DIR, strlen(FILE_APPLY_DIR)))
			return true;
	return false;
}

struct file_verdict file_rules_write(const struct file_rules *rules, const char *path)
{
	const struct file_rule *rule, *allow = NULL, *deny = NULL;
	struct candidates all = candidates_of(rules, path);
	struct file_verdict read;

	if (rules->disabled)
		return (struct file_verdict){ .allowed = true };
	if (is_applied(path))
		return (struct file_verdict){ 0 };
	while ((rule = next_candidate(&all))) {
		const struct file_rule **first = rule->kind == FILE_ALLOW_WRITE  ? &allow
						 : rule->kind == FILE_DENY_WRITE ? &deny
										 : NULL;

		if (first && is_first(rule, *first) && covers(rule, path) >= 0)
			*first = rule;
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
struct difference {
	const struct file_rules *rules;
	const char *from, *to;
	const struct file_rule *found;
};

/* Those of a list, from its last on. */
static void compare_list(struct difference *d, size_t last)
{
	const struct file_rule *rule;

	for (size_t i = last; i; i = rule->before) {
		rule = &d->rules->rules[i - 1];
		/* What allows matters where it may lift a denyRead. */
		if ((rule->kind == FILE_ALLOW_READ || rule->kind == FILE_ALLOW_WRITE) &&
		    !d->rules->denies_read)
			continue;
		if (is_first(rule, d->found) && !same_below(rule, d->from, d->to))
			d->found = rule;
	}
}

static void compare_below(struct difference *d, const struct place *place)
{
	for (const struct place *at = place->below; at; at = at->beside) {
		compare_list(d, at->rules);
		compare_below(d, at);
	}
}

/* Of plain paths those that lie at the one or the other, above or below: no other says anything of either. */
static void compare_places(struct difference *d, const char *path)
{
	const struct place *place = find_place(d->rules, path, strlen(path));

	if (place)
		compare_below(d, place);
	for (size_t n = strlen(path); n > 0; n = path_parent_len(path, n)) {
		place = find_place(d->rules, path, n);
		compare_list(d, place ? place->rules : 0);
	}
}

static const struct file_rule *find_difference(const struct file_rules *rules, const char *from,
					       const char *to)
{
	struct difference d = { rules, from, to, NULL };

	compare_list(&d, rules->patterns);
	compare_list(&d, rules->protects);
	compare_places(&d, from);
	compare_places(&d, to);
	if (!d.found && rules->denied)
		d.found = file_denied_difference(rules->denied, from, to);
	return d.found;
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
	if (is_root(rules, from) || is_root(rules, to))
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
		if (rule->glob || rule->absent || rule->fleeting || rule->folded)
			return FILE_READS_ASKED;
		if (!rules->unwatched)
			reads = FILE_READS_WATCHED;
	}
	return reads;
}
