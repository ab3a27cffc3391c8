/* SPDX-License-Identifier: MIT */
/* wrapix git: directories that sessions were kept apart from, and the user's word about them. */
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/cow.h"
#include "cli/git_job.h"
#include "cow/paths.h"

void git_print(const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	str_add_escaped(&out, text);
	fputs(out.s ? out.s : "", stdout);
}

/* The name in the directory. */
static const char *name_in(const struct apart *apart, const struct later_change *change)
{
	return change->path + strlen(apart->path) + 1;
}

static void print_change(struct git_job *job, const struct apart *apart,
			 const struct later_change *change, struct str *json, bool first)
{
	const char *event = sensitive_event(change->as);
	struct strv diff = { 0 };

	str_add(json, first ? "\n    {\"name\": " : ",\n    {\"name\": ");
	json_add_string(json, name_in(apart, change));
	str_addf(json, ", \"change\": \"%s\"", later_word(change));
	if (event) {
		str_add(json, ", \"when\": ");
		json_add_string(json, event);
	}
	str_add(json, "}");
	if (job->args.json)
		return;
	printf("  %s ", change->is ? "+" : "-");
	git_print(name_in(apart, change));
	printf("  %s%s%s\n", later_word(change), event ? ": it counts when " : "",
	       event ? event : "");
	later_diff(change, &job->arena, &diff);
	for (size_t i = 0; i < diff.len; i++) {
		printf("  ");
		git_print(diff.v[i]);
		putchar('\n');
	}
}

void git_print_apart(struct git_job *job, const struct apart *apart, struct str *json, bool first)
{
	struct later_list list = { .v = NULL };

	apart_changes(apart, NULL, &list);
	str_addf(json, "%s\n  {\"session\": \"%s\", \"where\": \"\", \"kind\": \"dir\", \"name\": ",
		 first ? "" : ",", apart->id);
	json_add_string(json, apart->path);
	str_addf(json, ", \"running\": %s, \"why\": \"files in it run later\", \"files\": [",
		 apart->running ? "true" : "false");
	if (!job->args.json) {
		printf("dir:");
		git_print(apart->path);
		printf("  files in it run later (session %s%s)\n", apart->id,
		       apart->running ? ", which has it still" : "");
	}
	for (size_t i = 0; i < list.n; i++)
		print_change(job, apart, &list.v[i], json, i == 0);
	str_add(json, list.n ? "\n  ]}" : "]}");
	later_list_release(&list);
}

bool git_has_apart(const struct git_job *job, const char *id)
{
	for (size_t i = 0; i < job->n_aparts; i++)
		if (!strcmp(job->aparts[i].id, id))
			return true;
	return false;
}

/* The directory that a path names or lies in, and the file in it; of that session, or NULL: of any. */
static const struct apart *find_apart(struct git_job *job, const char *id, const char *word,
				      const char **ret_file)
{
	const char *text = str_starts(word, "dir:") ? word + strlen("dir:") : word;

	for (size_t i = 0; i < job->n_aparts; i++) {
		const struct apart *apart = &job->aparts[i];
		/* From here, or as it is printed. */
		const char *bases[] = { job->here, apart->project };
		char *dir = path_join(&job->arena, apart->project, apart->path);

		for (size_t k = 0; k < ARRAY_LEN(bases); k++) {
			const char *below = path_below(path_join(&job->arena, bases[k], text), dir);

			if (!below || (id && strcmp(apart->id, id) != 0))
				continue;
			*ret_file = *below ? below : NULL;
			return apart;
		}
	}
	return NULL;
}

static bool has_change(const struct apart *apart, const char *file)
{
	struct later_list list = { .v = NULL };
	bool found = false;

	apart_changes(apart, NULL, &list);
	for (size_t i = 0; i < list.n; i++)
		found |= path_below(name_in(apart, &list.v[i]), file) != NULL;
	later_list_release(&list);
	return found;
}

/* 1: the words were such directories or files, and it is done. */
int git_drop_apart(_unused_ struct git_job *job, const struct apart *apart, const char *file,
		   struct err *err)
{
	return apart_drop(apart, file, err);
}

int git_accept_apart(struct git_job *job, const struct apart *apart, const char *file,
		     struct err *err)
{
	struct apply_report report = { 0 };
	enum resolution resolution = job->args.ours     ? CONFLICTS_OURS
				     : job->args.theirs ? CONFLICTS_THEIRS
							: CONFLICTS_MERGE;
	int r = apart_accept(apart, file, resolution, &report, err);

	for (size_t i = 0; i < report.n; i++)
		cli_print_result(&report.v[i]);
	if (r == 0 && cli_report_status(&report)) {
		job->left = true;
		r = 1;
	}
	apply_report_release(&report);
	return r;
}

int git_decide_apart(struct git_job *job, git_apart_fn *act, const char *did, struct err *err)
{
	const char *id = job->n_words > 1 && git_has_apart(job, job->words[0]) ? job->words[0]
									       : NULL;
	size_t first = id ? 1 : 0;
	const char *file;

	for (size_t i = first; i < job->n_words; i++)
		if (!find_apart(job, id, job->words[i], &file))
			return 0;
	for (size_t i = first; i < job->n_words; i++) {
		const struct apart *apart = find_apart(job, id, job->words[i], &file);
		int r = file && !has_change(apart, file)
				? err_usage(err, "nothing is held of '%s'", job->words[i])
				: act(job, apart, file, err);

		if (r < 0)
			return r;
		printf("%s%s ", r > 0 ? "not all is " : "", did);
		git_print(job->words[i]);
		putchar('\n');
	}
	return job->n_words > first;
}
