/* SPDX-License-Identifier: MIT */
/*
 * A command in a sandbox, or on the host where the user wants that, as a guest of the loop: its output
 * comes in pieces, its end once. It ends with us, however we end.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "os/loop.h"

struct process_mount {
	const char *src, *dest;
	bool rw;
};

struct process_spec {
	const char *dir;    /* the project */
	const char *name;   /* the session's */
	const char *resume; /* the id of a copy-on-write session to go on with; NULL: a new one */
	bool host;          /* on the host, without a sandbox */
	bool offline;       /* without a network */
	const char *agent;  /* NULL: wrapix's choice */
	char **agent_args;  /* the agent with these; or */
	char **command;     /* this */
	struct process_mount mounts[4];
	size_t n_mounts;
	struct strv env;       /* as --env takes them */
	struct strv read_only; /* paths of the project; a directory ends in '/' */
	bool terminal; /* it has ours: no output is taken, and signals of the keyboard reach it */
	int in;        /* -1: /dev/null */
	int err;       /* where its errors go; -1: to its output */
};

struct process {
	struct loop *loop;
	pid_t pid;  /* 0: not running */
	int status; /* of wait, once ended */
	struct loop_source end, out;
	void (*on_bytes)(void *ctx, const char *bytes, size_t len);
	void (*on_end)(void *ctx, int exit_status); /* 128+n for signal n */
	void *ctx;
};
#define PROCESS_NONE                        \
	{                                   \
		.end.fd = -1, .out.fd = -1, \
	}

int process_start(struct process *process, struct loop *loop, const struct process_spec *spec,
		  struct err *err);
void process_kill(struct process *process, int signal_no);
/* Kills it and waits; on_end is not called. Safe for one that does not run. */
void process_stop(struct process *process);

/* Runs it to its end, on the terminal or with its output added to 'out' (may be NULL, at most the last
 * 64 KiB). The exit status or -errno. */
int process_run(const struct process_spec *spec, struct str *out, struct err *err);
