/* SPDX-License-Identifier: MIT */
/* The private git directory of a run: made before it, published while it runs and at its end. */
#pragma once

#include "git/watch.h"
#include "plan/plan.h"

struct repository {
	bool on;
	struct git_store store;
	struct git_watch watch;
	struct git_about about; /* for the next session's */
};
#define REPOSITORY_NONE                                           \
	{                                                         \
		.store = GIT_STORE_NONE, .watch = GIT_WATCH_NONE, \
	}

/* A session that goes on has the git directory that it had, unless the user says otherwise. */
void repository_choose(struct spec *spec, const struct host *host);
/* Files of the project that git obeys because the repository's configuration names them. */
void repository_protect(struct spec *spec, const struct host *host);

/* Nothing to do where the plan has none, but for what a run that was killed left to publish. */
int repository_begin(struct repository *repository, const struct plan *plan,
		     const struct host *host, const char *id, struct arena *arena,
		     struct strv *ret_says, struct err *err);
/* The session is removed: its git goes with it, and what it published beside the host's branches. */
int repository_forget(const char *state_home, const char *id, const char *project, struct err *err);
/* PID 1 of the sandbox, which must be gone before anybody else publishes. */
void repository_started(struct repository *repository, pid_t init);
/* Guest of the loop; NULL before it goes. */
void repository_watch(struct repository *repository, struct loop *loop,
		      void (*on_failure)(void *ctx, const char *text), void *ctx);
/* Publishes what is left, and adds what the user should be told. */
void repository_end(struct repository *repository, struct arena *arena, struct strv *ret_says);

/* The same for each project around this directory. Costs nothing where there is nothing. */
void repository_repair_here(const char *state_home, const char *here, struct arena *arena,
			    struct strv *ret_says);
/* The sandbox is gone: everything goes to the host, and what has nothing left is removed. */
void repository_finish(struct git_store *store, struct arena *arena, struct strv *ret_says);
/* A line for each thing that is held, and for each old end that is kept, as far as they are few, for somebody in a directory. */
void repository_tell(const struct git_store *store, const struct git_report *report,
		     const char *dir, struct arena *arena, struct strv *ret_says);
/* Removes what the session 'id', which is gone, left of the branches of the repository around 'here'. *ret_n: how many there were. */
int repository_drop_kept(const char *state_home, const char *here, const char *id, size_t *ret_n,
			 struct err *err);
/* The repositories of its submodules, with names below its own modules. */
struct project_facts;
void repository_take_modules(const struct project_facts *project, struct arena *arena,
			     struct git_about *about);
/* git, but none that the project brings along; NULL: there is none. */
char *repository_program(struct arena *arena, const char *project);
