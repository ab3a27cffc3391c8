/* SPDX-License-Identifier: MIT */
/* wrapix key add: makes a pair, and registers it where GitHub's own program can. */
#include <errno.h>
#include <string.h>

#include "cli/key.h"

static void print_line(const char *title, const struct key_file *file, const char *comment)
{
	printf("%-12s %s %s\n", title, file->line ? file->line : "?", comment);
}

/* One step of gh; a failure is shown and leaves the rest to the user. */
static bool gh(struct key_job *job, const char *const *argv, const char *what)
{
	_cleanup_str_ struct str text = { 0 };
	char *said = NULL;
	struct err err;
	int status = key_job_run(job, argv, &said, &err);

	if (status == 0) {
		printf("Registered the %s with GitHub.\n", what);
		return true;
	}
	str_add_escaped(&text, status < 0 ? err.msg : said);
	cli_warn("gh did not register the %s: %s", what, text.s ? text.s : "");
	return false;
}

/* True when nothing is left to paste. */
static bool register_keys(struct key_job *job, const struct key_pair *pair)
{
	char *program = job->args.no_gh ? NULL : key_job_program(job, "gh"), *said;
	const char *status[] = { program, "auth", "status", "--hostname", "github.com", NULL };
	struct err ignored;
	bool deploy, signing;

	if (!program || !job->has_remote || forge_of(job->remote.host) != FORGE_GITHUB ||
	    key_job_run(job, status, &said, &ignored) != 0)
		return false;
	deploy = gh(job,
		    (const char *const[]){ program, "repo", "deploy-key", "add",
					   arena_printf(&job->arena, "%s.pub", pair->deploy.path),
					   "--repo", job->remote.name, "--title", pair->name,
					   "--allow-write", NULL },
		    "deploy key");
	signing = gh(job,
		     (const char *const[]){ program, "ssh-key", "add",
					    arena_printf(&job->arena, "%s.pub", pair->signing.path),
					    "--type", "signing", "--title",
					    arena_printf(&job->arena, "signing-%s", pair->name),
					    NULL },
		     "signing key");
	if (!signing)
		printf("hint: gh auth refresh -h github.com -s admin:ssh_signing_key\n");
	return deploy && signing;
}

static void say_next(struct key_job *job, const char *name)
{
	_cleanup_str_ struct str advice = { 0 };

	forge_add_places(&advice, job->has_remote ? &job->remote : NULL, true);
	printf("\nPaste each where it belongs:\n%s", advice.s);
	if (job->has_remote)
		printf("\nThen see whether it works: wrapix key test %s\n", name);
}

int key_add(struct key_job *job, struct err *err)
{
	char *keygen = key_job_program(job, "ssh-keygen"), *name, *backup;
	struct key_pair pair = { 0 };
	int r = key_job_name(job, &name, err);

	if (r < 0)
		return r;
	if (!keygen)
		return key_job_without("ssh-keygen", err);
	r = key_store_make(&job->arena, job->home, name, keygen, job->args.force, &backup, err);
	if (r == 0)
		r = key_store_find(&job->arena, job->home, name, &pair, err);
	if (r < 0)
		return r;
	if (backup)
		printf("What was there before is in %s\n", backup);
	print_line("deploy key", &pair.deploy, arena_printf(&job->arena, "deploy-key-%s", name));
	print_line("signing key", &pair.signing, arena_printf(&job->arena, "signing-key-%s", name));
	if (!register_keys(job, &pair))
		say_next(job, name);
	printf("\nUse the pair: wrapix run --deploy-key %s, or \"deployKey\": \"%s\" in "
	       "wrapix.json\n",
	       name, name);
	return 0;
}
