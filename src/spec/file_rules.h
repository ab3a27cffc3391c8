/* SPDX-License-Identifier: MIT */
/*
 * What of the file system a command may change and read: the rules of a SandboxRuntimeConfig and the
 * protected names, and one decision for each path. Pure: nothing here looks at a file system.
 *
 * Paths to decide on are absolute and resolved (no symbolic link, no '..'); any byte but NUL may be
 * in them. A rule covers its path and all that lies below it; a glob covers each path it matches and
 * all below that. The order of the rules means nothing.
 *
 * Writes: what no allowWrite covers is refused. Of the rest a denyWrite refuses whatever it covers,
 * however narrow the allowWrite is; so does a protected name; and so does whatever refuses reading.
 *
 * Reads: all is allowed but what a denyRead covers. There the rule decides that covers the path by
 * the longest part of it, denyRead against allowRead and allowWrite; of two as long, allowRead wins
 * over denyRead and denyRead over allowWrite. A credential's denyRead wins over everything. A
 * denyRead of '/' leaves '/' itself, /proc, /dev and /sys alone.
 *
 * Protected names stand at any depth, whether something of the name exists or not, and are compared
 * without case. In the working directory only what lies inside of it counts (the project itself may
 * be in a directory called .vscode); in another writable place its own name counts as well (allowing
 * '~/.bashrc' by name does not lift its protection; 'protect.remove' does).
 */
#pragma once

/* Of this name and what follows it: where 'wrapix apply' has files ready that nobody has looked at by their own names. */
#define FILE_APPLY_DIR ".wrapix-apply-"

#include "base/err.h"
#include "base/path_map.h"

struct file_denied;
struct glob;

enum file_rule_kind {
	FILE_ALLOW_WRITE,
	FILE_DENY_WRITE,
	FILE_DENY_READ,
	FILE_ALLOW_READ,
	FILE_PROTECT,
};

struct file_rule {
	enum file_rule_kind kind;
	const char *text;   /* as it was written, or the protected name */
	const char *path;   /* absolute, clean; of a glob the directory before anything special;
			     * NULL for FILE_PROTECT */
	const char *key;    /* "filesystem.denyWrite[2]" */
	const char *origin; /* "FILE:LINE", or NULL */
	bool glob;
	bool firm;     /* FILE_DENY_READ of a credential: nothing lifts it */
	bool absent;   /* path was not there at the start: no mount can stand for the rule */
	bool fleeting; /* path was no directory then: a mount stands for the rule until a rename */
	bool folded;   /* path lies where case is ignored: a mount stands for one spelling alone */
	bool by_content; /* FILE_PROTECT: git's configuration, whose new version may be looked at */
	const struct glob *pattern;
	size_t before; /* of its list the next, see struct file_rules */
};

struct file_rules {
	struct arena arena;
	struct file_rule *rules;
	size_t n;
	/* By a rule's number, counted from 1, and its 'before': those of patterns, those of protected names. Of
	 * each plain path the table has them, so that a decision costs the same however many there are. */
	size_t patterns, protects;
	struct path_map places;
	const struct file_denied *denied; /* more that is not written; NULL: nothing */
	char *home, *cwd;                 /* canonical */
	/* Where a write may be allowed: the allowWrite places, of globs the directory before anything special; none lies in
	 * another. One may not exist yet. */
	struct strv roots;
	bool denies_read; /* some rule is a denyRead */
	bool asked;       /* reads are decided on, whatever these rules say: others may deny them */
	bool unwatched;   /* a read that a mount refuses need not be seen */
	bool disabled;    /* filesystem.disabled: everything is allowed */
	/* How the protected names begin, by their first byte in lower case: as far as it is plain text, in a component, where one
	 * name alone begins with it; "" where several do; NULL where none does. */
	const char *protect_first[256];
};

struct file_verdict {
	bool allowed;
	const struct file_rule *rule; /* what decided; NULL: no rule covers the path */
};

void file_rules_init(struct file_rules *rules, const char *home, const char *cwd);
void file_rules_release(struct file_rules *rules);

/* What a rule is made of; the strings are copied. literal: nothing in path is special. */
struct file_rule_source {
	enum file_rule_kind kind; /* not FILE_PROTECT */
	const char *text, *path, *key, *origin;
	bool literal, firm, absent, fleeting, folded;
};
int file_rules_add(struct file_rules *rules, const struct file_rule_source *source,
		   struct err *err);

/* Makes the built-in names protected, but those in remove (as file_rules_protected() lists them),
 * and those in add: "name", "dir/name", globs by component. allow_git_config leaves git's
 * configuration files out. */
int file_rules_protect(struct file_rules *rules, const struct strv *add, const struct strv *remove,
		       bool allow_git_config, struct err *err);
/* The i-th protected name, NULL after the last. */
const char *file_rules_protected(size_t i);

/* Who decides on reading among rules that cover a path by the same length: the higher; 0: says nothing of reading. */
int file_rule_read_rank(const struct file_rule *rule);

struct file_verdict file_rules_write(const struct file_rules *rules, const char *path);
struct file_verdict file_rules_read(const struct file_rules *rules, const char *path);

/*
 * rename(2), and link(2) with its existing file as 'from'. Both ends must be writable. A directory
 * may be moved only where no rule covers anything below it differently before and after: so nothing
 * gets out of a protected place, into one, or onto one, by a move of what lies above it. Nor may a
 * writable place itself be moved.
 */
struct file_verdict file_rules_move(const struct file_rules *rules, const char *from,
				    const char *to, bool is_dir);

/*
 * A symbolic link that is about to stand at a writable path. What lies behind it has other names, so
 * it may not stand where a rule is about names below: '.claude' as a link would have its settings.json
 * made under a name that nobody protects.
 */
struct file_verdict file_rules_symlink(const struct file_rules *rules, const char *path);

/* One of that kind, in the same words, is among them. */
bool file_rules_have(const struct file_rules *rules, const struct file_rule *rule);

/* What opening for reading takes. */
enum file_reads {
	FILE_READS_FREE,    /* nothing: no rule denies any, or only what mounts stand for, unseen */
	FILE_READS_WATCHED, /* a look: mounts stand for every rule */
	FILE_READS_ASKED,   /* a decision: a denyRead exists that mounts cannot stand for (a glob, a
			     * path that is not there, a file, because the mount on it goes when
			     * the host replaces it, or a name with other spellings) */
};
enum file_reads file_rules_reads(const struct file_rules *rules);

const char *file_rule_kind_name(enum file_rule_kind kind); /* "denyWrite"; stable, for events */
