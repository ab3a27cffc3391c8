/* SPDX-License-Identifier: MIT */
/*
 * Claude Code's settings files as policy. Each value of every file is kept with the file and line it
 * stands at and with what became of it, so that nothing is ignored in silence:
 *
 *	files --claude_load()--> sources --claude_settings_parse()--> values, each with its fate
 *	values --claude_to_srt()--> a SandboxRuntimeConfig   --claude_check()--> what becomes of a command
 *
 * Sources, strongest first: managed, --settings, local, project, user. A scalar's strongest value
 * counts; lists are joined; deny beats allow. Values of a project's own files (project, local) that
 * would widen the sandbox are ignored once a policy locks them, or while the folder is not one that
 * the user has told Claude Code to trust. claude_files.c alone looks at the file system.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	CLAUDE_MAX_TEXT = 1 << 20, /* bytes of a settings file */
	CLAUDE_MAX_VALUES = 20000,
};

enum claude_scope { /* from the weakest to the strongest */
		    CLAUDE_USER,
		    CLAUDE_PROJECT,
		    CLAUDE_LOCAL,
		    CLAUDE_FLAG,
		    CLAUDE_MANAGED,
		    CLAUDE_SCOPES
};

/* Of one scope the later is the stronger. */
struct claude_source {
	enum claude_scope scope;
	const char *path;
	const char *text;
	size_t len;
};

/* In the home directory, or where CLAUDE_CONFIG_DIR says: which folders the user trusts. */
#define CLAUDE_RECORD ".claude.json"

/* What the settings are for. All are absolute and clean. */
struct claude_place {
	const char *home;
	const char *config;  /* ~/.claude, or what CLAUDE_CONFIG_DIR says */
	const char *project; /* where .claude/ is: the root of relative paths */
	const char *cwd;
	const char *flag_dir; /* of the --settings file; NULL: the project's */
	bool trusted;         /* the user trusts the project's files */
};

enum claude_fate {
	CLAUDE_COUNTS,
	CLAUDE_OVERRIDDEN,   /* a stronger source has the same key */
	CLAUDE_REPEATED,     /* a stronger source has the same list entry */
	CLAUDE_LOCKED,       /* a policy locks it */
	CLAUDE_UNTRUSTED,    /* widens, and the folder is not trusted */
	CLAUDE_NOT_PROJECT,  /* a key that a project's files may never set so */
	CLAUDE_MANAGED_ONLY, /* a key of managed settings alone */
	CLAUDE_INVALID,      /* a rule that cannot be read */
	CLAUDE_NO_EFFECT,    /* nothing to do for it on this platform or in our sandbox */
	CLAUDE_NOT_POLICY,   /* a key of Claude Code's own */
	CLAUDE_UNKNOWN,      /* a key of 'sandbox' or 'permissions' that nobody knows */
	CLAUDE_FATES
};

enum claude_kind {
	CLAUDE_BOOL,
	CLAUDE_PORT,
	CLAUDE_TEXT,
	CLAUDE_OBJECT,
	CLAUDE_LIST,
	CLAUDE_ENTRIES,
	CLAUDE_MAP
};

/* One key that means something here; see claude_keys.c. */
struct claude_key {
	const char *name; /* "sandbox.network.allowedDomains" */
	enum claude_kind kind;
	unsigned flags;
};

struct claude_value {
	const struct claude_key *key; /* NULL: one of CLAUDE_NOT_POLICY or CLAUDE_UNKNOWN */
	const char *name;             /* "sandbox.network.allowedDomains[2]" */
	const char *json; /* as it is written; NULL for keys of Claude Code's own: may be secret */
	const char *string; /* of a string */
	bool truth;         /* of a boolean */
	enum claude_scope scope;
	const char *path;
	unsigned line;
	enum claude_fate fate;
	const char *why;               /* more than the fate says; NULL: nothing */
	const struct claude_value *by; /* what overrides or locks it */
};

struct claude_settings {
	struct arena arena;
	struct claude_place place;
	struct claude_value *values; /* strongest first; of one source in its order */
	size_t n;
	const struct claude_value *lock;         /* of the project's files; NULL: none */
	const struct claude_value *domains_lock; /* allowManagedDomainsOnly */
	const struct claude_value *paths_lock;   /* allowManagedReadPathsOnly */
	const struct claude_value *rules_lock;   /* allowManagedPermissionRulesOnly */
};

/* A text that is no JSON, or a known key of the wrong form, is an error with "path:line:column". */
int claude_settings_parse(struct claude_settings *ret, const struct claude_source *sources,
			  size_t n, const struct claude_place *place, struct err *err);
void claude_settings_release(struct claude_settings *settings);
#define _cleanup_claude_ _cleanup_(claude_settings_release)

/* The value of a scalar that counts; NULL: none is set. */
const struct claude_value *claude_get(const struct claude_settings *settings, const char *name);
bool claude_get_bool(const struct claude_settings *settings, const char *name, bool unset);
/* The entries of a list that count: for (v = claude_each(s, NULL, name); v; v = ...(s, v, name)). */
const struct claude_value *claude_each(const struct claude_settings *settings,
				       const struct claude_value *after, const char *name);

enum claude_mode { CLAUDE_DISABLED, CLAUDE_REGULAR, CLAUDE_AUTO_ALLOW };
enum claude_mode claude_mode(const struct claude_settings *settings);
const char *claude_mode_name(enum claude_mode mode);
const char *const *claude_mode_names(const char *unused); /* NULL-terminated */

const char *claude_scope_name(enum claude_scope scope);
const char *claude_fate_name(enum claude_fate fate); /* "overridden"; stable, for JSON */
const char *claude_fate_phrase(enum claude_fate fate);
/* The i-th key, NULL after the last. */
const struct claude_key *claude_key(size_t i);
const struct claude_key *claude_key_find(const char *name);

/* --- permission rules, claude_rule.c --- */

struct claude_rule {
	const struct claude_value *value;
	const char *tool;
	const char *what; /* between the brackets; NULL: the whole tool */
};

/* "Tool" or "Tool(what)"; false when it is neither. */
bool claude_rule_parse(struct arena *arena, const char *text, struct claude_rule *ret);
/* True when a Bash rule ("git status", "git:*", "npm run *") covers a command's text. */
bool claude_rule_covers(const char *what, const char *text);

/* What a rule amounts to for the sandbox. */
enum claude_effect {
	CLAUDE_EFFECT_NONE,
	CLAUDE_EFFECT_ALLOW_WRITE,
	CLAUDE_EFFECT_DENY_WRITE,
	CLAUDE_EFFECT_DENY_READ,
	CLAUDE_EFFECT_ALLOW_DOMAIN,
	CLAUDE_EFFECT_DENY_DOMAIN,
};
/* list is "allow", "ask" or "deny"; *ret is the path (absolute, may be a glob) or the domain. */
enum claude_effect claude_rule_effect(struct arena *arena, const struct claude_rule *rule,
				      const char *list, const struct claude_place *place,
				      const char **ret);
/* A path of sandbox.filesystem, absolute. */
char *claude_path(struct arena *arena, const char *text, enum claude_scope scope,
		  const struct claude_place *place);

/* --- what it amounts to, claude_srt.c --- */

/* Where each line of the text comes from; NULL: from nowhere but us. */
struct claude_srt {
	struct str text;                   /* a SandboxRuntimeConfig, one value a line */
	const struct claude_value **lines; /* lines[i] for line i + 1 */
	size_t n_lines;
};
void claude_to_srt(struct claude_settings *settings, struct claude_srt *ret);
void claude_srt_release(struct claude_srt *srt);

/* --- files, claude_files.c --- */

struct claude_where {
	const char *dir;      /* where the command is to run; canonical */
	const char *project;  /* CLAUDE_PROJECT_DIR; NULL: looked for from dir upwards */
	const char *settings; /* --settings: a file, or JSON itself; NULL: none */
	const char *home;     /* canonical */
	const char *config;   /* CLAUDE_CONFIG_DIR; NULL: ~/.claude */
	bool trust;           /* whatever Claude Code's own record says */
};

struct claude_files {
	struct arena arena;
	struct claude_place place;
	struct claude_source *sources;
	size_t n;
	struct strv watch; /* every file that is, or could be, a source */
	const char *local; /* where the local settings are, present or not */
	bool found;        /* the project has settings of its own */
};

/* True when dir is in a project that has settings of its own. */
bool claude_is_project(const struct claude_where *where);
void claude_files_release(struct claude_files *files);
/* The files, and what they amount to. */
int claude_load(struct claude_settings *ret, const struct claude_where *where,
		struct claude_files *ret_files, struct err *err);
