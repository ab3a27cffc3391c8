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
	SERVE_LINE_MAX = 4 << 20, /* bytes of a line: a command line and an environment fit */
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
	bool dashed;            /* the words stood after '--' */
	int fds[SERVE_FDS_MAX]; /* what the descriptors that came are called inside, in order */
	size_t n_fds;
	bool terminal;       /* the client carries the bytes of a terminal */
	int control;         /* of these descriptors the one that brings new settings; -1: none */
	const char *from;    /* whose settings: "claude", "srt"; NULL: as the place has them */
	const char *project; /* of Claude Code's; NULL: looked for */
	const char *report;  /* a file that the command must not write; NULL */
	bool unseen;         /* a read that a mount refuses need not be reported */
	bool debug;          /* tell programs so */
	bool detail;         /* the client is 'wrapix exec', and shows all that it would itself */
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
	SERVE_SETTINGS, /* new settings hold, or, with a text, do not; number: by the descriptor */
	SERVE_STOPPED,  /* number: the signal */
	SERVE_TERMINAL, /* a descriptor comes along: the master */
	SERVE_WEAKER,   /* text; with 'detail', as the next three */
	SERVE_DEBUG,    /* text */
	SERVE_DENIED, /* line; text, hint: what was refused and what allows it, unless as before */
	SERVE_LOGGED, /* text: the session whose log has what was refused */
	SERVE_ERROR,  /* text, hint: why it was not run; number: it is the settings' own lines */
	SERVE_EXIT,   /* number: the exit status; the last line */
	SERVE_OTHER,  /* one of a newer server */
};

struct serve_line {
	enum serve_kind kind;
	int number;
	const char *text, *hint; /* NULL: none */
	const char *line;        /* SERVE_DENIED */
};

void serve_line_add(struct str *out, const struct serve_line *line);
int serve_line_parse(struct arena *arena, const char *line, size_t len, struct serve_line *ret,
		     struct err *err);
