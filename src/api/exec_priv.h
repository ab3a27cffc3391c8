/* SPDX-License-Identifier: MIT */
/* Between the files of exec. */
#pragma once

#include "api/exec.h"

struct net_event;
struct denial;

/* Calls fn, if there is one. */
void exec_say(const struct exec *x, void (*fn)(void *ctx, const char *text), const char *text);
/* ctx is the struct exec: what failed, as a warning; and what only who looks for a mistake is told. */
void exec_on_failure(void *ctx, const struct err *err);
void exec_on_note(void *ctx, const char *text);
/* Of rules that are to count: no place for what other sessions keep can be made by them where none was covered. */
int exec_check_state(struct exec *x, const struct file_rules *rules, struct err *err);
/* exec_update.c: those of the control descriptor that were only counted. */
void exec_tell_bad_lines(struct exec *x);

/* Hooks of the engine: exec_violation.c */
void exec_on_network(void *ctx, const struct net_event *event);
/* Of the log: a line about a refusal. */
void exec_on_line(void *ctx, const char *line);
void exec_on_denied(void *ctx, const struct denial *denial, pid_t pid);

/* exec_git.c */
/* Where there can be none, what is written to git's files is judged by content alone. */
void exec_git_begin(struct exec *x);
/* As engine_hooks.on_gitdir and on_private. */
size_t exec_git_come(void *ctx, const char *dir, const char *gitdir, bool made,
		     const struct broker_gitdir **ret);
void exec_git_change(void *ctx, const char *path);
/* Why nothing in the repository of this path is written, whatever the rules say; NULL: it is. */
const char *exec_git_sealed(const struct exec *x, const char *path);
/* The same before anything began: what a command would be told. */
const char *exec_git_waits(struct exec *x, const char *path);
/* The loop ends. */
void exec_git_unwatch(struct exec *x);
/* What the command did is the host's before we return. */
void exec_git_end(struct exec *x);

/* exec_repo.c: NULL, or why a repository has no private git directory. */
struct git_about;
struct git_tree;
const char *exec_git_obstacle(struct exec *x, const struct git_about *about);
/* What 'hooks' leads to, if it is a link and the command may read all that is there; else NULL. */
const char *exec_git_hooks(struct exec *x, const char *common);
/* The command may write the files of that work tree; of the repository's own. */
bool exec_git_writes_tree(struct exec *x, const struct git_tree *tree);
bool exec_git_writes_own(struct exec *x, const char *common);
/* A linked work tree, and not the only one that the command may write: the repository's takes its place. */
bool exec_git_is_shared(struct exec *x, const struct project_facts *project);

/* exec_update.c */
void exec_on_live(void *ctx, struct engine_live *live);
void exec_release_update(struct exec *x);
/* The settings that are in force. */
const struct srt_config *exec_config(const struct exec *x);
