/* SPDX-License-Identifier: MIT */
/*
 * The settings of 'wrapix exec' and 'srt': a SandboxRuntimeConfig as sandbox-runtime 0.0.83 reads it,
 * and keys of our own (protect, limits). Every key is enforced, or refused by name, or has nothing to
 * do on Linux and is listed in srt(1); a key that nobody knows is warned about.
 *
 *	text --srt_parse()--> srt_config --srt_to_spec()--> spec, exec_spec
 *
 * srt_load.c, srt_walk.c and srt_paths.c look at the file system; the rest is pure.
 */
#pragma once

#include "base/str.h"
#include "spec/exec.h"
#include "spec/spec.h"

#define SRT_VERSION "0.0.83" /* the release whose configuration and command line this is */
#define SRT_SETTINGS ".srt-settings.json"

enum { SRT_MAX_TEXT = 1 << 20 };

/* An entry of filesystem.* or a credential's file. */
struct srt_path {
	enum file_rule_kind kind;
	char *text, *key;
	char *shown;  /* as its author wrote it, where that is something else; NULL */
	char *origin; /* "FILE:LINE" where that is not the text itself; NULL */
	unsigned line;
	bool literal, firm;
};

/* Where an entry of deniedDomains is written; in their order. */
struct srt_denied {
	char *key;    /* "network.deniedDomains[2]" */
	char *shown;  /* as its author wrote it, where that is something else; NULL */
	char *origin; /* "FILE:LINE" where that is not the text itself; NULL */
	unsigned line;
};

struct srt_reason {
	char *entry, *text;
};

/* Violations that nobody wants to hear of: lines that hold one of 'lines', of commands that hold
 * 'command'. */
struct srt_ignore {
	char *command; /* "*": every command */
	struct strv lines;
};

struct srt_config {
	struct arena arena;
	char *origin; /* the file's name; NULL: the built-in defaults */

	struct strv allowed, denied, denied_resolved;
	struct srt_denied *denied_at;
	size_t n_denied_at;
	struct srt_reason *reasons;
	size_t n_reasons;
	struct strv unix_sockets;
	bool all_unix_sockets;
	bool local_binding, pty; /* for Seatbelt; elsewhere both are always there */
	unsigned http_proxy_port, socks_proxy_port; /* 0: none */
	char *parent_http, *parent_https, *parent_no_proxy;

	struct srt_path *paths;
	size_t n_paths;
	bool allow_git_config, disabled;
	struct strv protect_add, protect_remove;

	struct strv unset_env;
	struct srt_ignore *ignores;
	size_t n_ignores;
	bool weaker_nested, nested_userns;
	struct strv safe_directories;
	struct strv limits; /* pairs: "memory", "4G" */

	struct strv warnings; /* what the user should hear once */
	struct strv unused;   /* "KEY: why there is nothing to do for it" */
};

void srt_config_release(struct srt_config *config);

/* 0, or -EINVAL with what is wrong in ret_why, to be read after the file's name: "is not valid JSON:
 * ...". origin is the file's name. */
int srt_parse(struct srt_config *ret, const char *text, size_t len, const char *origin,
	      struct str *ret_why);

enum srt_why {
	SRT_BY_DEFAULT, /* without one: the built-in defaults */
	SRT_BY_NAME, /* any readable file, a pipe too: '-s <(...)'; of others nobody is waited for */
	SRT_AGAIN,   /* the command runs */
	SRT_SERVED,  /* a client named it, who may go meanwhile */
};
/* The settings file. On failure ret_why holds the two lines for the user, the first beginning "Error: ". */
int srt_load(struct srt_config *ret, const char *path, enum srt_why asked, struct str *ret_why);
/* Such lines for somebody who says himself that it is an error. */
const char *srt_plain(const char *why);

/* What the configuration is applied to. Strings are canonical directories, or NULL where noted; files are named as they
 * were asked for, from '/' on: links and '..' on the way are kept as they are, too. */
struct srt_place {
	const char *home, *cwd;
	const char *settings; /* the settings file; NULL: there is none. Never writable */
	const char *report;   /* a file that the user reads afterwards; NULL. Never writable */
	/* What brings new settings, where it has a name; NULL. Never writable. */
	const char *control;
	const char *server; /* the socket that the command was asked for by; NULL. Never writable */
	struct strv own;    /* what wrapix obeys and remembers. Never writable */
	const char *tmpdir; /* CLAUDE_CODE_TMPDIR or CLAUDE_TMPDIR; NULL: a private one */
	/* Of the working directory's repository, where it lies elsewhere; NULL. */
	const char *git_dir;
	const char *git_count; /* GIT_CONFIG_COUNT of the environment; NULL */
};

/* Lines for the user, in an arena of the caller's. */
struct srt_notes {
	struct arena *arena;
	struct strv lines;
};

/* Fills the parts of both that the settings decide. */
int srt_to_spec(const struct srt_config *config, const struct srt_place *place, struct spec *spec,
		struct exec_spec *exec, struct srt_notes *notes, struct err *err);

/* The file rules alone, in srt_paths.c. */
int srt_file_rules(const struct srt_config *config, const struct srt_place *place,
		   struct file_rules *ret, struct srt_notes *notes, struct err *err);

/* Why the rule denies, in the user's own words; NULL: nothing was said. */
const char *srt_reason(const struct srt_config *config, const char *rule);
/* Where the deny rule is written, with "FILE:LINE" in the arena (NULL: nowhere); NULL: no such rule. */
const struct srt_denied *srt_denied_at(const struct srt_config *config, const char *rule,
				       struct arena *arena, const char **ret_origin);
/* True when nobody wants to hear of this violation of this command. */
bool srt_ignores(const struct srt_config *config, const char *command, const char *line);
