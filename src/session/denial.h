/* SPDX-License-Identifier: MIT */
/*
 * A refusal, whoever refused it: the one form that the event log, what the user is told, 'learn' and
 * 'report' share; and the shortest change of settings that would allow it.
 *
 *	struct denial --denial_add_members()--> a line of the log --denial_read()--> struct denial
 *	              --fix_make()--> struct fix
 *
 * Pure: nothing here looks at a file. What a denial holds comes from inside a sandbox and is hostile;
 * texts made here are safe for a terminal.
 */
#pragma once

#include "base/arena.h"
#include "base/json.h"

struct owner;

struct denial {
	/* "write", "read", "connect", "lookup", "send", "sign", "call", "limit" */
	const char *what;
	const char *call;    /* the system call, of files, UNIX sockets, "call", "limit"; NULL */
	const char *args;    /* of "call", those that matter, as one would write them; NULL */
	const char *path;    /* of a file or a UNIX socket; NULL */
	const char *name;    /* of a host; NULL: by its address */
	const char *address; /* NULL: not known */
	uint16_t port;       /* 0: none */
	const char *reason;  /* one word; of git's rules a sentence */
	const char *rule;    /* that decided, as it is written; NULL: none did */
	const char *key;     /* of the rule: "filesystem.denyWrite[2]"; NULL */
	const char *origin;  /* where it is written: "FILE:LINE"; NULL */
	const char *text;    /* what the settings say about it; NULL */
	const char *comm;    /* who it was, where the log alone knows; NULL: ask for its pid */
	const struct owner *owner; /* who it was, where that is known; NULL: ask for its pid */
	uint64_t site;             /* where the program called from; 0: not known */
	unsigned times;            /* at once; 0 is 1 */
	bool firm;                 /* a rule that nothing lifts */
	bool made;                 /* the path is not there, and was to be made */
	bool predicted;            /* left to the kernel, which was going to refuse it */
};

/* A reason begins so where the repository cannot be written at the moment, whatever the settings say; then why. */
#define DENIAL_SEALED "its repository is read-only: "

/* Of a limit that was reached: the number of processes, or bytes. 'text' becomes its rule. */
enum denial_limit { DENIAL_MEMORY, DENIAL_PROCESSES, DENIAL_DISK, DENIAL_LIMITS };
#define DENIAL_LIMIT_MAX 32
void denial_of_limit(struct denial *ret, enum denial_limit limit, uint64_t value,
		     char text[DENIAL_LIMIT_MAX]);
/* False when it is none of a limit. */
bool denial_find_limit(const struct denial *denial, enum denial_limit *ret);

/* The members of a JSON object, "type" first. */
void denial_add_members(struct str *out, const struct denial *denial);
/* False when the event is no refusal. The strings are the event's. */
bool denial_read(struct json_object *event, struct denial *ret);

/* "writing ~/x", "connecting to evil.example:443"; home NULL: full paths. */
void denial_add_act(struct str *out, const struct denial *denial, const char *home);
/* "no allowWrite covers it", "'keep' is in filesystem.denyWrite[2] (FILE:4)" */
void denial_add_why(struct str *out, const struct denial *denial);
/* As sandbox-runtime has it: "deny file-write /w/x (protect: .vscode)". */
void denial_add_line(struct str *out, const struct denial *denial);

/* Both texts of the last one: of a flood all are mostly the same, and to compare is cheaper than to write. */
struct denial_texts {
	struct str key, other; /* what it was about; a buffer for the next one */
	struct str line, members;
};
void denial_texts_make(struct denial_texts *texts, const struct denial *denial);
void denial_texts_release(struct denial_texts *texts);

/* A path, with the home directory as '~'. */
void denial_add_path(struct str *out, const char *path, const char *home);

/* Whose settings decide. */
enum fix_dialect { FIX_RUN, FIX_SRT, FIX_CLAUDE };

struct fix_place {
	enum fix_dialect dialect;
	const char *file; /* where a change belongs: wrapix.json, the settings; NULL: not known */
	const char *home, *cwd;
	/* Of Claude Code's settings: the policy that leaves hosts, or paths to read, to the managed files alone, and
	 * where it is written; NULL: none does. */
	const char *hosts_lock, *paths_lock;
};

struct fix {
	const char *key;   /* "filesystem.allowWrite"; NULL: no setting would do */
	const char *value; /* an entry of that list; NULL: the key is to be true */
	const char *path;  /* what the entry covers, of a list of paths; not in the JSON */
	bool remove;       /* the entry is to go; else it is to be added */
	bool raise;   /* the value is a limit that is too low; how high it should be is not known */
	bool literal; /* the entry is to be taken as it stands, and no pattern */
	const char *risk; /* what to think of first; NULL: nothing */
	const char *none; /* without a key: why */
};

/* Strings live in the arena, or in the denial. */
void fix_make(struct arena *arena, const struct denial *denial, const struct fix_place *place,
	      struct fix *ret);
/* {"key":...,"add":...,"risk":...} */
void fix_add_json(struct str *out, const struct fix *fix);
/* False when the event has none. The strings are the event's. */
bool fix_read(struct json_object *event, struct fix *ret);
/* "add \"~/x\" to filesystem.allowWrite" */
void fix_add_text(struct str *out, const struct fix *fix);
/* The value as JSON. */
void fix_add_value(struct str *out, const struct fix *fix);

const char *fix_dialect_name(enum fix_dialect dialect); /* "run", "srt", "claude" */
bool fix_dialect_parse(const char *name, enum fix_dialect *ret);
/* Why allowing this path needs a thought; NULL: it does not. */
const char *fix_path_risk(const char *path, bool write, const char *home);
/* The directory may be proposed for what is in it. */
bool fix_may_be_parent(const struct fix_place *place, const char *dir, bool write);
/* It is the first name of a hard link, whose second one would have been allowed. */
bool denial_is_link(const struct denial *denial);
