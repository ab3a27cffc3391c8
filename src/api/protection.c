/* SPDX-License-Identifier: MIT */
/* Levels of paths: what is said of a path counts more than what is said of its class, the longest path the most. */
#include "api/protection.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/aliases.h"
#include "cow/paths.h"
#include "os/fs.h"

/* Whatever case the names have: some file systems do not tell. */
static const struct protect_path *longest(const struct protection *protection, const char *path,
					  size_t n)
{
	const struct protect_path *found = NULL;

	for (size_t i = 0; i < protection->n_paths; i++) {
		const struct protect_path *rule = &protection->paths[i];

		if (rule->len <= n && !strncasecmp(rule->path, path, rule->len) &&
		    (rule->len == n || path[rule->len] == '/') &&
		    (!found || found->len < rule->len))
			found = rule;
	}
	return found;
}

static enum protect_level of_class(const struct protection *protection, const char *class, bool dir)
{
	enum protect_class number = protect_class_of(class);

	if (number == PROTECT_CLASSES)
		return PROTECT_ALLOW;
	return protection->levels[number] == PROTECT_UNSET ? protect_default(number, dir)
							   : protection->levels[number];
}

/* The directory that the first n bytes name is held as a whole. */
static bool holds(const struct protection *protection, const char *path, size_t n)
{
	const struct protect_path *rule = longest(protection, path, n);
	const char *class = sensitive_dir(path, n);

	if (rule && (rule->len == n || class))
		return rule->level == PROTECT_HOLD;
	return class && of_class(protection, class, true) == PROTECT_HOLD;
}

enum protect_level protection_said(const struct protection *protection, const char *path)
{
	const struct protect_path *rule = longest(protection, path, strlen(path));

	return rule ? rule->level : PROTECT_UNSET;
}

/* By the path as it stands. */
static struct ruling ruling_of(const struct protection *protection, const char *path)
{
	size_t len = strlen(path);
	const struct protect_path *rule = longest(protection, path, len);
	enum protect_level said = rule ? rule->level : PROTECT_UNSET;
	struct ruling ruling = { .class = sensitive_class(path, NULL),
				 .path = rule ? rule->path : NULL };
	/* What a package manager fills is too much to hold, and nobody opens a project in there. */
	bool bulk = sensitive_bulk(path) && !said;

	for (size_t n = strcspn(path, "/"); n < len && !bulk; n += 1 + strcspn(path + n + 1, "/"))
		if (holds(protection, path, n)) {
			ruling.level = PROTECT_HOLD;
			ruling.held = n;
			return ruling;
		}
	ruling.level = said ? said : of_class(protection, ruling.class, sensitive_dir(path, len));
	if (bulk && ruling.level == PROTECT_HOLD)
		ruling.level = PROTECT_REPORT;
	ruling.dir = ruling.level == PROTECT_HOLD && sensitive_dir(path, len);
	return ruling;
}

/* What the link that leads there is held as, for the path itself: where the link lies in such a directory, or is one,
 * what it leads to is one. A file by itself cannot be held. */
static struct ruling by_link(const struct ruling *other, const struct alias *alias, size_t len)
{
	struct ruling ruling = *other;
	size_t link = strlen(alias->link);

	if (other->level != PROTECT_HOLD)
		return ruling;
	ruling.held = len == alias->len    ? 0
		      : other->held > link ? alias->len + other->held - link
					   : alias->len;
	ruling.dir = len == alias->len;
	if (!alias->dir || (!ruling.dir && !other->held))
		ruling = (struct ruling){ .level = PROTECT_REPORT, .class = other->class };
	return ruling;
}

struct ruling protection_of(const struct protection *protection, const char *path)
{
	struct ruling ruling = ruling_of(protection, path);
	const struct aliases *aliases = protection->aliases;
	char buf[PATH_MAX];

	if (!aliases || protection_said(protection, path))
		return ruling;
	for (size_t i = 0; i < aliases->n; i++)
		if (aliases_name(aliases, i, path, buf)) {
			struct ruling other = ruling_of(protection, buf);

			other = by_link(&other, &aliases->v[i], strlen(path));
			if (other.level > ruling.level)
				ruling = other;
		}
	return ruling;
}

static bool is_closed(const struct protection *protection, const char *path, const char *name)
{
	char buf[PATH_MAX];
	struct ruling ruling;

	if (snprintf(buf, sizeof(buf), "%s/%s/x", path, name) >= (int)sizeof(buf))
		return true;
	ruling = protection_of(protection, buf);
	if (ruling.level == PROTECT_ALLOW) { /* a file of that name, then */
		buf[strlen(buf) - 2] = '\0';
		ruling = protection_of(protection, buf);
	}
	return ruling.level == PROTECT_RO || (ruling.level == PROTECT_HOLD && ruling.held);
}

/* The rule is about something below the path: what it is called from there; NULL: it is not. */
static const char *rule_below(const struct protect_path *rule, const char *path, size_t len)
{
	return rule->level >= PROTECT_HOLD && rule->len > len + 1 && rule->path[len] == '/' &&
			       !strncasecmp(rule->path, path, len)
		       ? rule->path + len + 1
		       : NULL;
}

bool protection_leads(const struct protection *protection, const char *path)
{
	for (size_t i = 0; i < protection->n_paths; i++)
		if (rule_below(&protection->paths[i], path, strlen(path)))
			return true;
	return false;
}

const char *protection_brings(const struct protection *protection, int dir, const char *path)
{
	static char second[64];
	size_t len = strlen(path);
	char first[32];

	for (size_t i = 0; sensitive_pair(i, first, second); i++)
		if (!strcasecmp(path_name(path), first) && os_exists_at(dir, second) &&
		    is_closed(protection, path, second))
			return second;
	for (size_t i = 0; i < protection->n_paths; i++) {
		const char *below = rule_below(&protection->paths[i], path, len);

		if (below && os_exists_at(dir, below))
			return below;
	}
	return NULL;
}

void protection_add(struct str *out, const struct protection *protection)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *comma = "";

	for (enum protect_class i = 0; i < PROTECT_CLASSES; i++)
		if (protection->levels[i]) {
			str_addf(out, "%s\"%s=%s\"", comma, protect_class_name(i),
				 protect_level_name(protection->levels[i]));
			comma = ", ";
		}
	for (size_t i = 0; i < protection->n_paths; i++) {
		str_add(out, comma);
		json_add_string(out, arena_printf(&arena, "./%s=%s", protection->paths[i].path,
						  protect_level_name(protection->paths[i].level)));
		comma = ", ";
	}
}

void protection_read(struct protection *protection, struct json_object *list, struct arena *arena)
{
	struct spec spec = { .arena = *arena };
	struct err ignored; /* it was written by us, maybe by another version */

	for (size_t i = 0;
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));

		if (text)
			(void)spec_add_protect(&spec, text, LAYER_FLAG, &ignored);
	}
	*arena = spec.arena;
	*protection = spec.protect;
}
