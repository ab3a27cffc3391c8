/* SPDX-License-Identifier: MIT */
/*
 * One command under the settings of sandbox-runtime: settings -> spec -> plan -> engine, and new
 * settings while it runs. For 'wrapix exec' and 'srt'.
 */
#pragma once

#include "api/claude_policy.h"
#include "api/explain.h"
#include "api/messages.h"
#include "base/str.h"
#include "engine/engine.h"
#include "git/watch.h"
#include "session/config_watch.h"
#include "net/owner.h"
#include "session/events.h"

struct exec_hooks {
	/* A line for the user: what is wrong with the settings. */
	void (*on_warning)(void *ctx, const char *text);
	/* A key of the settings that is accepted and has no effect: "KEY: why". */
	void (*on_unused)(void *ctx, const char *text);
	/* What holds less here than it could, or less because the settings ask for that. */
	void (*on_weaker)(void *ctx, const char *text);
	/* Something was refused, each time that it is: also as a line of sandbox-runtime's form.
	 * Nothing that ignoreViolations names comes here. */
	void (*on_denied)(void *ctx, const struct denial *denial, const char *line);
	/* The same as a line of the event log (docs/events.md), in which the same within a second is
	 * counted. */
	void (*on_line)(void *ctx, const char *line);
	/* New settings came, and hold (why NULL) or do not. control: by the descriptor. */
	void (*on_settings)(void *ctx, bool control, const char *why);
	/* There is no log of it, or not all of it is there; once. */
	void (*on_unlogged)(void *ctx, const char *text);
	/* What happens, for the curious. */
	void (*on_debug)(void *ctx, const char *text);
	/* The supervisor's loop: guests may be added. NULL: it ends. May be NULL. */
	void (*on_loop)(void *ctx, struct loop *loop);
	/* Takes the master of the command's terminal over. NULL: this process carries its bytes. */
	void (*take_terminal)(void *ctx, int master);
	/* The command was stopped by this signal. NULL: this process stops with it, as a shell wants
	 * it; else SIGCONT, sent to this process, makes it go on. */
	void (*on_stopped)(void *ctx, int signal_no);
	void *ctx;
};

struct exec_request {
	const char *settings; /* NULL: ~/.srt-settings.json, or the defaults where there is none */
	const char *text;     /* the settings themselves instead; NULL: in files */
	const struct claude_where *claude; /* Claude Code's settings instead; NULL: srt's */
	char *const *argv;   /* what is executed; its first word is looked up on PATH */
	const char *command; /* the same as the user wrote it */
	const char *report;  /* a file that the command must not write; NULL */
	const char *server;  /* likewise, the absolute path of the socket that it came by; NULL */
	int control_fd;      /* brings new settings; -1: none */
	int *pass_fds;       /* that the command gets besides 0, 1 and 2 */
	size_t n_pass_fds;
	bool served;                /* by a server */
	bool debug;                 /* tell programs so */
	bool unseen_reads;          /* a read that a mount refuses need not be reported */
	struct engine_spare *spare; /* of exec_begin(), taken over; NULL: none */
	int asks;                   /* as engine_session.asks */
	bool asks_reads;            /* likewise */
};

/* A repository that the command works in (git/lasting.h). */
struct exec_repo {
	const char *place; /* its files, or the git directory where there are none */
	bool on;           /* there is a private git directory */
	bool changed;
	bool moved;         /* by the command */
	const char *sealed; /* why the host's is read-only, as a denial's reason; NULL: it is not */
	struct git_store store;
	struct git_watch watch;
	int host;                   /* the host's git directory, wherever it is moved to; -1 */
	struct broker_gitdir *dirs; /* none: it is judged by content */
	size_t n_dirs;
};

struct exec_git {
	struct exec_repo **repos; /* the working directory's, and those that the command came to */
	size_t n_repos;
	struct engine_private *private;
	size_t n_private;
	bool full; /* it was said that there are too many */
};

struct exec {
	struct arena arena;
	struct exec_request request;
	struct exec_hooks hooks;
	struct srt_place place;
	char *settings;                            /* absolute */
	const char *state, *spare_state, *secrets; /* of place.own what is not to be read */
	struct srt_config config;
	struct claude_policy claude; /* where the request wants it */
	struct strv watched;         /* srt's settings file */
	struct spec spec;
	struct exec_spec exec_spec;
	struct host host;
	struct plan plan;
	struct engine_spare *spare;
	char id[SESSION_ID_MAX];
	struct event_log log;
	struct owners owners; /* who was refused something lately */
	struct limit_places limits;
	struct messages messages;
	bool asked; /* whether the user wants to be shown what is refused */
	struct loop *loop;
	struct exec_git git;
	struct config_watch watch;
	struct engine_live *live;
	const struct exec_update *applied; /* while they are; else NULL */
	struct exec_update *update;  /* the last settings that came while it runs; NULL: none did */
	bool lost_control;           /* before the first line: the command is ended */
	struct loop_source patience; /* until it is killed */
	bool got_line;
	struct {
		int64_t until; /* os_now_ms(): bad lines are counted, no more; 0: none came */
		int64_t pause; /* how long that is, which grows while they go on */
		size_t n;
	} bad_lines;
	bool logged;    /* there is a log, and it has all */
	bool uncovered; /* the place of the state directory is none that could be made */
	pid_t left;     /* PID 1 of a sandbox that is empty, on its way out; 0: none */
};

/* Begins a sandbox for a command that is not known yet; it goes on while the caller finds out. None of
 * its descriptors is below 'floor'. 'at_once': as soon as it can be. 'lent': by a process that was lent to a
 * sandbox, whose masks count. NULL: there is nothing to be gained. */
struct engine_spare *exec_begin(int floor, bool at_once, bool lent);

/*
 * Reads the settings and makes the plan. The request's strings must live as long as x. On failure
 * either ret_why holds the two lines that srt's users know (wrong settings), or it is empty and err
 * says what is wrong. To be released in any case.
 */
int exec_prepare(struct exec *x, const struct exec_request *request, const struct exec_hooks *hooks,
		 struct str *ret_why, struct err *err);
/* To the end of the command. ret_status is an exit status, 128+n when signal n killed it. */
int exec_run(struct exec *x, int *ret_status, struct err *err);
/* Until the kernel has taken its empty sandbox down; exec_release() does so, too. */
void exec_wait(struct exec *x);
void exec_release(struct exec *x);
/* What a person is told of something that was refused: what and why, and what would allow it (which stays
 * empty where nothing would). */
void exec_explain(const struct exec *x, const struct denial *denial, struct str *ret_text,
		  struct str *ret_change);
/* Whose settings would allow it. */
struct fix_place exec_fix_place(const struct exec *x);

/* While it runs. New settings, as a line of the control descriptor's; and the end, at once. */
void exec_take_settings(struct exec *x, const char *text, size_t len);
void exec_kill(struct exec *x);

/* A command as somebody wrote it: a line for a shell, or words. */
struct exec_line {
	const char *string; /* NULL: words */
	char **words;       /* NULL-terminated */
	bool srt;           /* 'srt "echo hi"' means a line */
	bool dashed;        /* the words stood after '--' */
};

/* Fills the request's argv, and the command as one text. */
void exec_choose_argv(struct arena *arena, const struct exec_line *line,
		      struct exec_request *request);
