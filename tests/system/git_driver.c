/* SPDX-License-Identifier: MIT */
/*
 * Publishes what a session did in git, and is killed on the way: git_driver STATE ID prepare PROJECT makes
 * the private git directory of a repository; git_driver STATE ID publish [STEP] publishes it. Ends with 99
 * when it was killed before that step (its number, or the first of that name), with 0 when there is none.
 * git_driver STATE ID publish NAME COMMAND: what the user does meanwhile, before the first step of that name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "git/git.h"

static unsigned long at, last = ~0UL;
static const char *name, *during, *command;

static void on_step(const char *what)
{
	if (command && !strcmp(what, during)) {
		if (system(command) != 0)
			exit(1);
		command = NULL;
	}
	if (at++ != last && (!name || strcmp(what, name) != 0))
		return;
	printf("%s\n", what);
	fflush(stdout);
	_exit(99);
}

static int prepare(struct git_store *store, const char *state, const char *id, const char *project,
		   struct err *err)
{
	struct arena a = { 0 };
	struct strv none = { 0 };
	char *gitdir = path_join(&a, project, ".git");
	struct git_about about = {
		.state_home = state,
		.id = id,
		.project = project,
		.top = project,
		.real = gitdir,
		.common = gitdir,
		.program = "/usr/bin/git",
		.borrowed = &none,
	};
	int r = git_prepare(store, &about, err);

	arena_release(&a);
	return r;
}

static int publish(struct git_store *store, const char *state, const char *id, struct err *err)
{
	struct git_report report = { 0 };
	int r = git_open(store, state, id, "/usr/bin/git", err);

	if (r < 0)
		return r;
	store->on_step = on_step;
	r = git_publish(store, true, &report, err);
	git_report_release(&report);
	return r;
}

int main(int argc, char **argv)
{
	struct git_store store = GIT_STORE_NONE;
	struct err err;
	int r;

	if (argc < 4)
		return 2;
	if (!strcmp(argv[3], "prepare") && argc == 5) {
		r = prepare(&store, argv[1], argv[2], argv[4], &err);
	} else {
		if (argc == 5 && strspn(argv[4], "0123456789") == strlen(argv[4]))
			last = strtoul(argv[4], NULL, 10);
		else if (argc == 5)
			name = argv[4];
		if (argc == 6) {
			during = argv[4];
			command = argv[5];
		}
		r = publish(&store, argv[1], argv[2], &err);
	}
	if (r < 0)
		fprintf(stderr, "%s\n", err.msg);
	git_close(&store);
	return r < 0 ? 1 : 0;
}
