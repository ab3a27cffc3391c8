/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a change to the project (protect, spec/protect.h): it is made, noted before it is made, made in a
 * view, or refused.
 * What has several names counts by each of them (gated_links.c).
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/gated_priv.h"
#include "api/protection.h"
#include "base/path.h"
#include "base/str.h"
#include "cow/paths.h"
#include "os/fs.h"

static enum protect_answer refuse(struct gated *gated, const char **ret_reason, const char *what,
				  const char *why)
{
	_cleanup_str_ struct str name = { 0 };

	snprintf(gated->reason, sizeof(gated->reason), "%s%s%s", what ? str_quote(&name, what) : "",
		 what ? " " : "", why);
	*ret_reason = gated->reason;
	return ANSWER_REFUSE;
}

static enum protect_answer refuse_ro(struct gated *gated, const struct ruling *ruling,
				     const char **ret_reason)
{
	_cleanup_str_ struct str path = { 0 };

	if (ruling->path)
		snprintf(gated->reason, sizeof(gated->reason), "protect says that %s is ro",
			 str_quote(&path, ruling->path));
	else
		snprintf(gated->reason, sizeof(gated->reason),
			 "it runs later, and protect.%s is ro", ruling->class);
	*ret_reason = gated->reason;
	return ANSWER_REFUSE;
}

/* A file that is not sensitive by the name that was used. */
static enum protect_answer judge_linked(struct gated *gated, const struct protect_change *change,
					const char **ret_reason)
{
	_cleanup_close_ int root = -1, dir = -1;
	enum protect_level level;
	bool partial;
	const char *other = gated_other_name(gated, change->st, &partial);

	if (!other)
		return partial ? refuse(gated, ret_reason, NULL,
					"it has several names, and the project is too large or too "
					"deep to look for them: one may be a file that runs later")
			       : ANSWER_GO_ON;
	if (is_in_git(other))
		return refuse(gated, ret_reason, other, "is the same file, which git obeys");
	level = protection_of(&gated->before.protection, other).level;
	if (level == PROTECT_HOLD || level == PROTECT_RO)
		return refuse(gated, ret_reason, other,
			      "is the same file, which runs later and is kept");
	root = os_open_plain(gated->project);
	dir = root < 0 ? -1 : later_open_above(root, &gated->arena, other);
	if (dir >= 0)
		later_note(&gated->before, dir, path_name(other), other);
	return ANSWER_GO_ON;
}

/* ------------------------------------------------------------------ decisions */

static enum protect_answer note(struct gated *gated, const struct protect_change *change,
				const char *below, const char **ret_reason)
{
	return later_note(&gated->before, change->dir, change->name, below)
		       ? ANSWER_GO_ON
		       : refuse(gated, ret_reason, NULL,
				"what runs later is in it, and protect says ro");
}

static bool removes_link(const struct protect_change *change)
{
	return change->removes && change->st && S_ISLNK(change->st->st_mode);
}

static enum protect_answer judge_held(struct gated *gated, const struct protect_change *change,
				      const char *below, const struct ruling *ruling,
				      const char **ret_reason, size_t *ret_held)
{
	if (ruling->held) {
		gated_keep_base(gated, below, ruling->held);
		*ret_held = (size_t)(below - change->path) + ruling->held;
		return ANSWER_HOLD;
	}
	/* An empty directory does no harm; what comes into it is held. A link is what somebody follows. */
	if (change->makes_dir || (ruling->dir && change->stays && !removes_link(change)))
		return ANSWER_GO_ON;
	if (ruling->dir || change->moves_dir)
		return refuse(gated, ret_reason, NULL,
			      "it is held, and made or changed in place only");
	return note(gated, change, below, ret_reason);
}

static enum protect_answer judge_any(struct gated *gated, const struct protect_change *change,
				     const char *below, const char **ret_reason)
{
	const char *brought = NULL;

	if (change->from >= 0)
		brought = protection_brings(&gated->before.protection, change->from, below);
	if (brought)
		return refuse(gated, ret_reason, brought, "in it runs later, and is kept");
	/* There may be something in it that counts. */
	if (change->moves_dir)
		return note(gated, change, below, ret_reason);
	if (change->st && S_ISREG(change->st->st_mode) && change->st->st_nlink > 1 &&
	    !change->removes)
		return judge_linked(gated, change, ret_reason);
	return ANSWER_GO_ON;
}

/* Who goes into such a directory finds the view. */
static enum protect_answer judge_entering(struct gated *gated, const struct protect_change *change,
					  const char *below, size_t *ret_held)
{
	char inside[PATH_MAX];
	struct ruling ruling;

	if (snprintf(inside, sizeof(inside), "%s/x", below) >= (int)sizeof(inside))
		return ANSWER_GO_ON;
	ruling = protection_of(&gated->before.protection, inside);
	if (!ruling.held)
		return ANSWER_GO_ON;
	gated_keep_base(gated, inside, ruling.held);
	*ret_held = (size_t)(below - change->path) + ruling.held;
	return ANSWER_HOLD;
}

/* wrapix.json and .wrapix of the project: where they are, they are read-only (plan/workspace.c); where they are not,
 * none is made. What a widening one would give waits for 'wrapix trust' in any case; this keeps the question from
 * being asked in the agent's words, and a tightening one, which counts unasked, from being the agent's. */
static bool is_own_config(const struct protection *protection, const char *below)
{
	return (!strcasecmp(below, "wrapix.json") ||
		(!strncasecmp(below, ".wrapix", 7) && (!below[7] || below[7] == '/'))) &&
	       protection->levels[PROTECT_AGENT] != PROTECT_ALLOW &&
	       protection_said(protection, below) != PROTECT_ALLOW;
}

enum protect_answer gated_change(struct gated *gated, const struct protect_change *change,
				 const char **ret_reason, size_t *ret_held)
{
	const char *below = path_below(change->path, gated->project);
	struct ruling ruling;

	if (!gated->on || !below || !*below)
		return ANSWER_GO_ON;
	gated_find_aliases(gated);
	if (change->enters)
		return judge_entering(gated, change, below, ret_held);
	if (is_own_config(&gated->before.protection, below))
		return refuse(gated, ret_reason, NULL, "it decides about the next session here");
	ruling = protection_of(&gated->before.protection, below);
	/* A link there, or a move of it, would leave that rule behind. */
	if (ruling.level < PROTECT_HOLD && !change->makes_dir && !change->stays &&
	    protection_leads(&gated->before.protection, below))
		return refuse(gated, ret_reason, NULL,
			      "what is held or read-only is in it, by its path");
	switch (ruling.level) {
	case PROTECT_HOLD:
		return judge_held(gated, change, below, &ruling, ret_reason, ret_held);
	case PROTECT_RO:
		return refuse_ro(gated, &ruling, ret_reason);
	case PROTECT_ALLOW:
		return judge_any(gated, change, below, ret_reason);
	default:
		if (change->from >= 0 || change->moves_dir)
			return judge_any(gated, change, below, ret_reason);
		/* One that is made has nothing in it yet. */
		return change->makes_dir ? ANSWER_GO_ON : note(gated, change, below, ret_reason);
	}
}
