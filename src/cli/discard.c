/* SPDX-License-Identifier: MIT */
/* wrapix discard: removes copy-on-write sessions. */
#include <string.h>

#include "cli/cli.h"
#include "cli/cow.h"
#include "api/repository.h"
#include "cow/apply.h"

struct discard_args {
	bool yes, old;
};

/* How many changes would be lost. */
static int count_unapplied(struct cow *cow, size_t *ret, struct err *err)
{
	struct changes changes;
	int r = cow_open_project(cow, err);

	*ret = 0;
	if (r < 0)
		return r;
	r = changes_find(&changes, cow, err);
	for (size_t i = 0; r == 0 && i < changes.n; i++)
		*ret += !change_is_implied(&changes, i);
	if (r == 0)
		changes_release(&changes);
	return r;
}

/* Nobody's work is removed without a word. */
static int may_go(struct cow *cow, bool yes, struct err *err)
{
	char question[256];
	size_t n;

	if (yes)
		return 0;
	if (count_unapplied(cow, &n, err) < 0) /* the project is gone, or cannot be read */
		n = 1;
	if (!n && !apply_is_interrupted(cow))
		return 0;
	if (!isatty(STDIN_FILENO)) {
		err_set(err, 1, "the session '%s' holds %zu %s not applied", cow->id, n,
			n == 1 ? "change that was" : "changes that were");
		return err_hint(err, "'wrapix diff %s' shows what; --yes removes it", cow->id);
	}
	snprintf(question, sizeof(question), "%s (%s) holds %zu %s not applied. Remove it?",
		 cow->id, cow->project, n, n == 1 ? "change that was" : "changes that were");
	return cli_ask(question) ? 0 : err_set(err, 1, "'%s' was kept", cow->id);
}

static int discard(const char *base, const char *id, bool yes, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	_cleanup_str_ struct str size = { 0 };
	int r = cow_open(&cow, base, id, err);

	if (r == 0)
		r = cow_lock(&cow, err);
	if (r == 0)
		r = may_go(&cow, yes, err);
	if (r < 0)
		return r;
	add_size(&size, cow_usage(base, id));
	r = repository_forget(cli_state_home(&cow.arena), id, cow.project, err);
	if (r == 0)
		r = cow_remove(&cow, err);
	if (r == 0)
		printf("%s was removed (%s)\n", id, size.s);
	return r;
}

static int discard_old(bool yes, struct err *err)
{
	struct arena arena = { 0 };
	struct cow_info *list;
	size_t n, old = 0;
	int r = cli_cow_list(&arena, &list, &n, err), failed = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!cow_is_old(&list[i]))
			continue;
		old++;
		if (discard(list[i].base, list[i].id, yes, err) < 0) {
			cli_print_err(err);
			failed = 1;
		}
	}
	if (r == 0 && !old)
		printf("No session is older than 14 days.\n");
	arena_release(&arena);
	return r < 0 ? r : failed;
}

static int discard_named(char *const *words, size_t n, bool yes, struct err *err)
{
	int status = 0;

	/* Without a name, the latest one of this project. */
	for (size_t i = 0; i < MAX(n, (size_t)1); i++) {
		struct cow_target target = COW_TARGET_NONE;
		int r = cli_cow_open(&target, words + i, n ? 1 : 0, err);

		if (r == 0 && target.n_paths)
			r = err_usage(err, "there is no copy-on-write session '%s'", words[i]);
		if (r == 0)
			r = discard(target.cow.base, target.cow.id, yes, err);
		cli_cow_close(&target);
		if (r < 0)
			status = cli_fail(err);
	}
	return status;
}

static int cmd_discard(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct discard_args args = { 0 };
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (!args.old)
		return discard_named(rest.operands, rest.n_operands, args.yes, &err);
	if (rest.n_operands)
		return err_usage(&err, "--old takes no session"), cli_fail(&err);
	r = discard_old(args.yes, &err);
	return r < 0 ? cli_fail(&err) : r;
}

static const struct opt opts[] = {
	{ 0, "old", FLAG(discard_args, old),
	  .help = "all that were started more than 14 days ago" },
	{ 'y', "yes", FLAG(discard_args, yes),
	  .help = "also what was not applied, without asking" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_discard = {
	.name = "discard",
	.section = SECTION_SESSIONS,
	.usage = "discard [SESSION...] [options]",
	.summary = "remove copy-on-write sessions",
	.description = "Removes what a session changed, what was kept for 'wrapix undo', and the "
		       "session itself. Asks when changes were not applied. The project stays as "
		       "it is.",
	.examples = EXAMPLES("wrapix discard", "the latest session here", "wrapix discard --old",
			     "all that are old"),
	.syntax = { opts, .max = -1U, .operand = "SESSION", .complete = COMPLETE_SESSION },
	.run = cmd_discard,
};
