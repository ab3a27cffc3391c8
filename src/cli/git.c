/* SPDX-License-Identifier: MIT */
/* wrapix git: what sessions with a private git directory did not hand over, and what becomes of it. */
#include "cli/git_job.h"

#include <errno.h>
#include <string.h>

#include "api/repository.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "os/fs.h"
#include "os/proc.h"

/* --- which session --- */

/* Those of the project around this directory. */
static int find_sessions(struct git_job *job, struct err *err)
{
	struct git_info *all = NULL;
	size_t n = 0;
	int r = git_list(&job->arena, job->state, job->here, true, &all, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (!(all[i].beside || all[i].lasting) || all[i].held)
			*(struct git_info *)arena_grow(&job->arena, &job->list, &job->n,
						       sizeof(all[i])) = all[i];
	return r;
}

/* What was killed in the project around this directory is put right before any command. */
void git_begin(void)
{
	struct arena arena = { 0 };
	struct strv says = { 0 };
	char *state = cli_state_home(&arena), *here = os_realpath(&arena, ".");

	if (state && here)
		repository_repair_here(state, here, &arena, &says);
	for (size_t i = 0; i < says.len; i++)
		fprintf(stderr, "wrapix: %s\n", says.v[i]);
	arena_release(&arena);
}

static bool has_store(const struct git_job *job, const char *id)
{
	for (size_t i = 0; i < job->n; i++)
		if (!strcmp(job->list[i].id, id))
			return true;
	return false;
}

static int open_store(struct git_job *job, struct git_store *ret, const char *id, struct err *err)
{
	char *project = job->n ? job->list[0].project : NULL;

	return git_open(ret, job->state, id,
			os_find_program(&job->arena, "git", getenv("PATH"), project), err);
}

/* --- actions --- */

static int git_status(struct git_job *job, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	(void)err;
	str_add(&out, "[");
	for (size_t i = 0; i < job->n; i++) {
		const struct git_info *info = &job->list[i];

		str_addf(&out, "%s\n  {\"id\": \"%s\", \"project\": ", i ? "," : "", info->id);
		json_add_string(&out, info->project);
		str_addf(&out, ", \"running\": %s, \"held\": %zu}",
			 info->running ? "true" : "false", info->held);
		if (job->args.json)
			continue;
		printf("%-10s %-8s %zu held  ", info->id, info->running ? "running" : "ended",
		       info->held);
		git_print(info->project);
		putchar('\n');
	}
	for (size_t i = 0; !job->args.json && i < job->n_aparts; i++) {
		printf("%-10s %-8s dir:", job->aparts[i].id,
		       job->aparts[i].running ? "running" : "ended");
		git_print(job->aparts[i].path);
		printf(" is held  ");
		git_print(job->aparts[i].project);
		putchar('\n');
	}
	str_add(&out, job->n ? "\n]\n" : "]\n");
	if (job->args.json)
		fputs(out.s, stdout);
	else if (!job->n && !job->n_aparts)
		printf("No session of this project holds anything back.\n");
	return 0;
}

/* One session's; 'group' under a line with its id. */
static int held_of(struct git_job *job, const char *id, bool group, struct str *json, size_t *shown,
		   struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	const char *indent = group ? "  " : "";
	struct git_held *held;
	size_t n = 0;
	int r = open_store(job, &store, id, err);

	if (r == 0)
		r = git_held_read(&store, &job->arena, &held, &n, err);
	if (r == 0 && group && n && !job->args.json)
		printf("%s:\n", id);
	for (size_t i = 0; r == 0 && i < n; i++) {
		_cleanup_str_ struct str more = { 0 };

		if (job->args.json && job->args.show)
			git_show_held_json(job, &store, &held[i], &more);
		git_held_add_json(json, id, &held[i], more.s ? more.s : "", (*shown)++ == 0);
		if (job->args.json)
			continue;
		printf("%s", indent);
		git_print(held[i].where);
		printf("%s%s:", *held[i].where ? "//" : "", held[i].kind);
		git_print(held[i].name);
		printf("  %s\n", held[i].why);
		if (job->args.show)
			git_show_held(job, &store, &held[i], indent);
	}
	return r;
}

/* Of the session that is named, or of all here. */
static int git_held(struct git_job *job, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	const char *id = job->n_words ? job->words[0] : NULL;
	size_t shown = 0;
	int r = 0;

	str_add(&out, "[");
	for (size_t i = 0; i < job->n_aparts; i++)
		if (!id || !strcmp(id, job->aparts[i].id))
			git_print_apart(job, &job->aparts[i], &out, shown++ == 0);
	for (size_t i = 0; r == 0 && !id && i < job->n; i++)
		r = held_of(job, job->list[i].id, job->n > 1, &out, &shown, err);
	if (id && (has_store(job, id) || !git_has_apart(job, id)))
		r = held_of(job, id, false, &out, &shown, err);
	if (r < 0)
		return r;
	str_add(&out, shown ? "\n]\n" : "]\n");
	if (job->args.json)
		fputs(out.s, stdout);
	else if (!shown)
		printf("Nothing is held back here.\n");
	return 0;
}

/* What is left of a session that ended and holds nothing any more. */
static int tidy(struct git_job *job, struct git_store *store, struct err *err)
{
	struct git_held *held;
	struct err ignored;
	size_t n;
	int r = git_held_read(store, &job->arena, &held, &n, err);

	if (r < 0 || n || git_lock(store, &ignored) < 0)
		return r;
	return git_remove(store, err);
}

/* "KIND:NAME", or "WHERE//KIND:NAME" of a submodule: a path has no empty component. */
static int parse_held(struct arena *a, const char *word, struct git_held *ret, struct err *err)
{
	const char *rest = strstr(word, "//"), *colon = strchr(word, ':');

	*ret = (struct git_held){ .where = "" };
	if (rest && colon && rest < colon) {
		ret->where = arena_strndup(a, word, (size_t)(rest - word));
		word = rest + 2;
		colon = strchr(word, ':');
	}
	if (!colon)
		return err_usage(err, "'%s' is not KIND:NAME, as 'wrapix git held' prints it",
				 word);
	ret->kind = arena_strndup(a, word, (size_t)(colon - word));
	ret->name = arena_strdup(a, colon + 1);
	return 0;
}

static int decide(struct git_job *job, struct git_store *store,
		  int (*act)(struct git_store *, const struct git_held *, struct err *),
		  const char *did, struct err *err)
{
	for (size_t i = 1; i < job->n_words; i++) {
		struct git_held held;
		int r = parse_held(&job->arena, job->words[i], &held, err);

		held.anyway = job->args.theirs;
		if (r == 0)
			r = act(store, &held, err);
		if (r < 0)
			return r;
		printf("%s ", did);
		git_print(job->words[i]);
		putchar('\n');
	}
	return tidy(job, store, err);
}

/* Where one session alone holds something, 'held' does not name it. */
static int say_what(const struct git_job *job, const char *verb, struct err *err)
{
	_cleanup_str_ struct str word = { 0 };

	if (job->n != 1)
		return err_hint(err, "'wrapix git held' lists both");
	if (job->n_words && strcmp(job->words[0], job->list[0].id) != 0)
		str_add_shell(&word, job->words[0]);
	else
		str_add(&word, "KIND:NAME");
	return err_hint(err, "'wrapix git held' lists what; then: wrapix git %s %s %s", verb,
			job->list[0].id, word.s);
}

static int accept_what(const struct git_job *job, struct err *err)
{
	err_usage(err,
		  "'git accept' takes a session and what to accept of it, or a path that is held");
	return say_what(job, "accept", err);
}

static int drop_what(const struct git_job *job, struct err *err)
{
	err_usage(err,
		  "'git drop' takes a session, and what to drop of it, or a path that is held");
	return say_what(job, "drop", err);
}

static int git_do_accept(struct git_job *job, struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	int r;

	r = git_decide_apart(job, git_accept_apart, "accepted", err);
	if (r == 0 && job->args.ours && job->n_words > 1) {
		err_usage(err, "--ours is for files of directories that are held");
		return err_hint(err, "'wrapix git drop' forgets what the session has");
	}
	if (r != 0)
		return MIN(r, 0);
	if (job->n_words < 2)
		return accept_what(job, err);
	r = open_store(job, &store, job->words[0], err);
	if (r == 0 && !store.program)
		r = err_set(err, ENOENT, "git is not installed");
	return r < 0 ? r : decide(job, &store, git_accept, "accepted", err);
}

static void print_removed(const char *id, size_t n)
{
	if (n)
		printf("removed %zu of refs/wrapix/%s/was\n", n, id);
}

static int drop_store(struct git_store *store, struct err *err)
{
	size_t n = 0;
	int r = git_lock(store, err);

	if (r == 0 && store->program)
		r = git_drop_kept(store, &n, err);
	if (r == 0)
		r = git_remove(store, err);
	if (r < 0)
		return r;
	printf("dropped all that the session %s held\n", store->id);
	print_removed(store->id, n);
	return 0;
}

/* Of a session whose git directory is gone, or never was; 'gone' says so, where it holds nothing else. */
static int drop_kept(struct git_job *job, const char *id, const struct err *gone, struct err *err)
{
	size_t n = 0;
	int r = repository_drop_kept(job->state, job->here, id, &n, err);

	if (r == 0 && !n && gone) {
		*err = *gone;
		return -err->code;
	}
	if (r == 0 && !gone)
		printf("dropped all that the session %s held\n", id);
	print_removed(id, n);
	return r;
}

static int git_do_drop(struct git_job *job, struct err *err)
{
	_cleanup_git_ struct git_store store = GIT_STORE_NONE;
	bool dropped = false;
	struct err gone;
	int r;

	if (job->n_words < 1)
		return drop_what(job, err);
	r = git_decide_apart(job, git_drop_apart, "dropped", err);
	if (r != 0)
		return MIN(r, 0);
	for (size_t i = 0; r == 0 && job->n_words == 1 && i < job->n_aparts; i++)
		if (!strcmp(job->aparts[i].id, job->words[0])) {
			r = apart_drop(&job->aparts[i], NULL, err);
			dropped = true;
		}
	if (r < 0 || (dropped && !has_store(job, job->words[0])))
		return r < 0 ? r : drop_kept(job, job->words[0], NULL, err);
	r = open_store(job, &store, job->words[0], &gone);
	if (r == -ENOENT && job->n_words == 1 && strchr(job->words[0], ':'))
		return drop_what(job, err);
	if (r == -ENOENT && job->n_words == 1)
		return drop_kept(job, job->words[0], &gone, err);
	if (r < 0)
		*err = gone;
	if (r < 0 || job->n_words > 1)
		return r < 0 ? r : decide(job, &store, git_drop, "dropped", err);
	return drop_store(&store, err);
}

/* --- dispatching --- */

static const struct {
	const char *name;
	int (*run)(struct git_job *job, struct err *err);
} actions[] = {
	{ "status", git_status },
	{ "held", git_held },
	{ "accept", git_do_accept },
	{ "drop", git_do_drop },
};

static const char *const *action_words(_unused_ const char *name)
{
	static const char *words[ARRAY_LEN(actions) + 1];

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		words[i] = actions[i].name;
	return words;
}

static int run_action(struct git_job *job, const char *word, struct err *err)
{
	const char *near;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		int r;

		if (strcmp(actions[i].name, word))
			continue;
		job->state = cli_state_home(&job->arena);
		job->here = os_here(&job->arena, err);
		if (!job->here)
			return -err->code;
		r = find_sessions(job, err);
		if (r == 0)
			r = apart_list(job->state, job->here, &job->arena, &job->aparts,
				       &job->n_aparts, err);
		return r < 0 ? r : actions[i].run(job, err);
	}
	near = str_nearest(word, action_words(NULL), ARRAY_LEN(actions));
	err_usage(err, "unknown action '%s'", word);
	return near ? err_hint(err, "did you mean 'wrapix git %s'?", near)
		    : err_hint(err, "'wrapix help git' lists the actions");
}

static int cmd_git(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct git_job job = { .state = NULL };
	struct err err;
	int r, status = cli_parse(argc, argv, &job.args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (rest.n_operands) {
		job.words = rest.operands + 1;
		job.n_words = rest.n_operands - 1;
	}
	if (job.args.ours && job.args.theirs)
		return err_usage(&err, "--ours and --theirs exclude each other"), cli_fail(&err);
	r = run_action(&job, rest.n_operands ? rest.operands[0] : "status", &err);
	arena_release(&job.arena);
	if (job.left)
		printf("hint: both are as they were; --theirs takes the session's version, --ours "
		       "keeps yours and forgets the session's\n");
	return r < 0 ? cli_fail(&err) : job.left;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(git_args, json), .help = "status, held: print as JSON" },
	{ 0, "show", FLAG(git_args, show),
	  .help = "held: with the values of keys, the text of hooks, the commits of branches" },
	{ 0, "ours", FLAG(git_args, ours),
	  .help = "accept: what you changed meanwhile, keep as you have it" },
	{ 0, "theirs", FLAG(git_args, theirs),
	  .help = "accept: what you changed meanwhile, take as the session has it" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_git = {
	.name = "git",
	.section = SECTION_SESSIONS,
	.usage = "git [status|held|accept|drop] [SESSION] [WHAT...] [options]",
	.summary = "look at what a private git directory did not hand over",
	.description = "Of a session the repository takes over commits, branches, tags, the index, "
		       "the stash and harmless configuration. All else is held.\n"
		       "status lists the sessions of this project that hold something, and takes "
		       "over what one that was killed left; held lists what, and with --show what "
		       "accepting it would change; accept does it to the repository by your word; "
		       "drop forgets it, or the whole session with what is kept of branches that "
		       "it rewrote. WHAT is KIND:NAME as held prints it; a directory that is held, "
		       "or a file in it, is named by its path alone.",
	.examples = EXAMPLES("wrapix git held", "what the last session here tried",
			     "wrapix git held --show", "the same, with what would run",
			     "wrapix git accept k3x9 hook:pre-commit", "take over a hook it made",
			     "wrapix git accept .claude/settings.local.json",
			     "take over a file of a directory that is held"),
	.syntax = { opts, .max = -1U, .operand = "ACTION", .complete = COMPLETE_WORDS,
		    .words = action_words, .rest = COMPLETE_SESSION },
	.run = cmd_git,
};
