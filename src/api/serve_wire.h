/* SPDX-License-Identifier: MIT */
/*
 * The lines between a server of commands ('wrapix exec --server') and its clients; wrapix-protocol(7)
 * is the format. Pure. One connection is one command: the client's first line says what to run, its
 * further lines are messages to the command that runs. Both are read strictly: what is not known is
 * refused, because a key that was ignored might have been a restriction.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	SERVE_LINE_MAX = 1 << 20, /* bytes of a line */
	SERVE_FDS_MAX = 64,       /* descriptors that come along */
	SERVE_FD_TOP = 256,       /* what a descriptor may be called inside is below */
};

struct serve_request {
	const char *command; /* a line for the shell; NULL: words */
	struct strv argv;
	const char *cwd; /* NULL: the server's */
	bool has_env;
	struct strv env;        /* the whole environment; without has_env the server's */
	const char *settings;   /* a file; NULL: the server's choice */
	const char *text;       /* the settings themselves; NULL: in a file */
	int umask;              /* -1: the server's */
	bool srt;               /* a single word may be a line, as srt reads it */
	int fds[SERVE_FDS_MAX]; /* what the descriptors that came are called inside, in order */
	size_t n_fds;
};

/* n_fds descriptors came along with the line. Strings are in the arena. */
int serve_request_parse(struct arena *arena, const char *line, size_t len, size_t n_fds,
			struct serve_request *ret, struct err *err);
/* The line, with its end. */
void serve_request_add(struct str *out, const struct serve_request *request);

/* A later line of the client's: a signal, or new settings. */
struct serve_message {
	int signal_no;    /* 0: none */
	const char *text; /* settings; NULL: none */
};

int serve_message_parse(struct arena *arena, const char *line, size_t len,
			struct serve_message *ret, struct err *err);

/* A line of the server's. */
enum serve_kind {
	SERVE_OUTPUT,   /* descriptors come along: the command's output and errors */
	SERVE_WARNING,  /* text */
	SERVE_DENY,     /* the whole line is the event */
	SERVE_SETTINGS, /* new settings hold, or, with a text, do not */
	SERVE_STOPPED,  /* number: the signal */
	SERVE_ERROR,    /* text, hint: why it was not run */
	SERVE_EXIT,     /* number: the exit status; the last line */
	SERVE_OTHER,    /* one of a newer server */
};

struct serve_line {
	enum serve_kind kind;
	int number;
	const char *text, *hint; /* NULL: none */
};

void serve_line_add(struct str *out, const struct serve_line *line);
int serve_line_parse(struct arena *arena, const char *line, size_t len, struct serve_line *ret,
		     struct err *err);
