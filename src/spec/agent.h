/* SPDX-License-Identifier: MIT */
/*
 * Agents as data (data/agents/README.md): which program, which arguments for unattended work, which
 * files are staged, which variables, which hosts. agent_probe() finds where its program is installed.
 */
#pragma once

#include "base/str.h"
#include "spec/credential.h"
#include "spec/host.h"

struct agent {
	char *name, *program;
	char *package; /* on npm, for the hint; may be NULL */
	struct strv args;
	struct credential *credentials;
	size_t n_credentials;
	struct env_fact *env;
	size_t n_env;
	struct staged_files files;
	struct strv domains;  /* hosts that it needs on a filtered network */
	struct strv sessions; /* directories of the home that are kept for the project */
	struct strv memory;   /* the user's own files that it may read, when asked */
	char *prompt;         /* where a word about the sandbox is put; may be NULL */
	/* Arguments for work without a terminal, the prompt on standard input. */
	struct strv headless;
	char *dialect; /* of what it prints then; see ralph/stream.h */
	char *ask;     /* the option that takes a first prompt on a terminal; "": a bare word */
	char *model, *budget; /* options for the model, and for a sum in dollars; may be NULL */
	char *settings;       /* the option for settings of one session; may be NULL */
	bool notifies;        /* its own hooks tell the user when it waits */
	char *approve_key; /* a variable whose value the files must know the end of; may be NULL */
	struct strv theme_from; /* JSON files of the user's whose "theme" becomes ${THEME} */
};

/* The agent a spec starts: named, the default one, or NULL when it names a command only. */
const char *agent_wanted(const struct spec *spec);

/* 1 when there is a definition of that name, 0 when not. config_home NULL: built in only. */
int agent_load(struct arena *arena, const char *name, const char *config_home, struct agent *ret,
	       struct err *err);
/* Reads one definition; 1, or -errno. */
int agent_read(struct arena *arena, const char *name, const char *text, size_t len,
	       const char *origin, struct agent *ret, struct err *err);
/* "claude, codex, ...": those that are built in. */
void agent_add_names(struct str *out);
bool agent_is_built_in(const char *name);
struct project_config;

/* The definition of the wanted agent, and the hosts that it needs, become a part of the spec. What the project widens by
 * naming it is added to 'project'. */
int spec_load_agent(struct spec *spec, const char *config_home, struct project_config *project,
		    struct err *err);

/* The variables of the host that hold credentials which go in as they are. */
void agent_pass_env(struct arena *arena, const struct spec *spec, struct strv *ret);
/* With agentMemory, the mounts for what the wanted agent reads of the user's own: CLAUDE.md, skills. */
int agent_add_memory(struct spec *spec, struct err *err);
void agent_probe(const struct spec *spec, const char *path_list, struct host *host);

/* The program's own file, canonical: on path_list, or in wrapix's own prefix below data_home; what lies
 * at or below 'except' is passed over. NULL when it is nowhere. */
char *agent_find_installed(struct arena *arena, const char *program, const char *path_list,
			   const char *data_home, const char *except);
/* The directory of the npm package that path lies in, or path itself: an installed program of one
 * file. wrapix's own prefix holds agents and what they need, side by side: all of it goes in. */
char *agent_package_root(struct arena *arena, const char *data_home, const char *path);
