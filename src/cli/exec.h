/* SPDX-License-Identifier: MIT */
/* The command line of 'wrapix exec' and of 'srt', for exec.c and srt.c. */
#pragma once

#include "cli/cli.h"
#include "spec/exec.h"

struct exec_args {
	const char *settings, *string, *violations;
	const char *from;    /* whose settings: "srt", "claude"; NULL: as the place has them */
	const char *project; /* of Claude Code's; NULL: looked for */
	const char *server;  /* the socket to serve commands on; NULL: run one */
	bool debug, json, version, annotate;
	bool encoded;       /* string has %XX */
	const char *report; /* --report: "reads", "changes"; NULL */
	int control_fd;     /* -1: none */
	int pass_fds[EXEC_PASS_MAX];
	size_t n_pass_fds;
	char **words;  /* the command, NULL-terminated; NULL: none */
	bool dashed;   /* it stood after '--' */
	bool srt;      /* srt's words and exit statuses */
	bool seatbelt; /* with plan: the profile that macOS gets */
	bool plan;     /* print what would be done, and do nothing */
};

/* Text as a descriptor of at least 3; -1 when it is none. */
int exec_parse_fd(const char *text);

/* exec_claude.c: the settings that count, by the arguments and the place; *ret_use is false for srt's. */
struct claude_where;
int exec_choose(const struct exec_args *args, struct arena *arena, struct claude_where *ret,
		bool *ret_use, struct err *err);
/* The text with each %XX as the byte it stands for; NULL when something else follows a '%'. */
char *exec_decode(struct arena *arena, const char *text);
const char *const *exec_from_words(const char *name);

/* exec_server.c: serves commands until it is told to end. */
int exec_server(const struct exec_args *args);

/* From arguments to the exit status. */
int exec_main(const struct exec_args *args);
