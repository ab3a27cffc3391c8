/* SPDX-License-Identifier: MIT */
/* Words for files that run later and were changed. */
#include <stdlib.h>
#include <string.h>

#include "api/later_priv.h"
#include "base/json.h"
#include "base/str.h"
#include "cow/paths.h"
#include "cow/unified.h"

enum { LINES_MAX = 40, TOLD_MAX = 20 };

const char *later_word(const struct later_change *change)
{
	return !change->was ? "added" : !change->is ? "removed" : "changed";
}

void later_add_members(struct str *out, const struct later_change *change)
{
	const char *class = sensitive_class(change->as, NULL);
	const char *event = sensitive_event(change->as);

	json_add_member(out, "type", "later");
	json_add_member(out, "path", change->path);
	if (change->as != change->path)
		json_add_member(out, "as", change->as);
	json_add_member(out, "change", later_word(change));
	if (class)
		json_add_member(out, "class", class);
	if (event)
		json_add_member(out, "when", event);
	if (change->held) {
		json_add_key(out, "held");
		str_add(out, "true");
	}
}

void later_diff(const struct later_change *change, struct arena *arena, struct strv *ret)
{
	_cleanup_str_ struct str out = { 0 };
	const struct later_file *a = change->was, *b = change->is;
	struct unified_stat stat;
	int n = 0;

	if ((a && !a->text) || (b && !b->text))
		return;
	if (a && b && a->mode != b->mode)
		strv_addf(arena, ret, "  mode %o, was %o", b->mode & 07777, a->mode & 07777);
	unified_add(&out, a ? a->text : "", a ? a->len : 0, b ? b->text : "", b ? b->len : 0,
		    &stat);
	for (char *line = out.s, *end; line && *line && n <= LINES_MAX; line = end + 1, n++) {
		end = strchr(line, '\n');
		if (!end)
			end = line + strlen(line) - 1;
		strv_addf(arena, ret, "  %s",
			  n == LINES_MAX ? "..."
					 : arena_strndup(arena, line,
							 (size_t)(end - line) + (*end != '\n')));
	}
}

/* What a sandbox would rather have at the end of a long list comes first. */
static int rank(const struct later_change *change)
{
	static const int ranks[] = {
		[PROTECT_GIT] = 0,     [PROTECT_AGENT] = 1, [PROTECT_EDITOR] = 2,
		[PROTECT_SHELL] = 3,   [PROTECT_BUILD] = 5, [PROTECT_CI] = 4,
		[PROTECT_CLASSES] = 0,
	};

	return ranks[protect_class_of(sensitive_class(change->as, NULL))];
}

static int by_rank(const void *a, const void *b)
{
	const struct later_change *x = a, *y = b;
	int order = rank(x) - rank(y);

	return order ? order : strcmp(x->path, y->path);
}

static void tell(const struct later_change *change, struct arena *arena, struct strv *says)
{
	const char *event = sensitive_event(change->as);
	_cleanup_str_ struct str name = { 0 }, as = { 0 };
	bool linked = change->as != change->path;

	strv_addf(arena, says, "%s%s%s%s was %s by the session%s%s%s",
		  str_quote(&name, change->path), linked ? ", which is " : "",
		  linked ? str_quote(&as, change->as) : "", linked ? "," : "", later_word(change),
		  change->held ? ", and is held" : "", event ? ": it counts when " : "",
		  event ? event : "");
	later_diff(change, arena, says);
}

static void tell_rest(const struct later_list *list, const char *id, size_t rest,
		      struct arena *arena, struct strv *says)
{
	_cleanup_str_ struct str name = { 0 };

	if (rest)
		strv_addf(arena, says,
			  "... and %zu more files that run later were changed; 'wrapix log %s' "
			  "names them",
			  rest, id);
	if (list->more)
		strv_addf(
			arena, says,
			"... and files that run later were changed %zu times more: too many to be "
			"named",
			list->more);
	for (size_t i = 0; i < list->trees.len; i++) {
		strv_addf(
			arena, says,
			"%s was changed by the session: programs in it are run by what you build, "
			"test or start",
			str_quote(&name, list->trees.v[i]));
	}
	for (size_t i = 0; i < list->unseen.len; i++) {
		strv_addf(arena, says,
			  "%s was moved or made by the session, and is too large to look through "
			  "for files that run later",
			  str_quote(&name, list->unseen.v[i]));
	}
}

void later_tell(struct later_list *list, const char *id, struct arena *arena, struct strv *says)
{
	size_t told = 0;

	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_rank);
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].fresh && ++told <= TOLD_MAX)
			tell(&list->v[i], arena, says);
	tell_rest(list, id, told > TOLD_MAX ? told - TOLD_MAX : 0, arena, says);
}
