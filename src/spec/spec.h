/* SPDX-License-Identifier: MIT */
/*
 * What the user wants: every flag, every key of wrapix.json, every field of a profile ends up here.
 * "Unset, then filled": a field starts as unset, layers are laid over each other from the weakest
 * to the strongest (built-in, profile, user configuration, files around, project file, flags), and the plan gives
 * what is still unset its default.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

#define HOME_INSIDE "/home/wrapix"
#define WORKSPACE_INSIDE "/workspace"

/* Where a value came from, weakest first. */
enum layer {
	LAYER_BUILTIN,
	LAYER_PROFILE,
	LAYER_USER,
	LAYER_AROUND, /* limits of a wrapix.json in a directory above the project's own */
	LAYER_PROJECT,
	LAYER_FLAG
};

enum engine_kind {
	ENGINE_UNSET,
	ENGINE_AUTO,
	ENGINE_NATIVE,
	ENGINE_PODMAN,
	ENGINE_DOCKER, /* known, and refused with the reason */
	ENGINE_APPLE,
	ENGINE_SEATBELT, /* of single commands on macOS; nobody asks for it by name */
};
/* What podman starts the container with: its own choice, or krun, which makes a virtual machine of it. */
enum runtime_kind { RUNTIME_UNSET, RUNTIME_DEFAULT, RUNTIME_KRUN };
enum net_mode { NET_UNSET, NET_OPEN, NET_NONE, NET_HOST, NET_FILTERED };
/* The best way to catch connections that may be used; the numbers are net/nft.h's plus one. */
enum filter_tier { FILTER_UNSET, FILTER_QUEUE, FILTER_STATIC, FILTER_PORTS };
enum home_mode { HOME_UNSET, HOME_FRESH, HOME_KEEP };
/* How a deploy key is used: by asking the supervisor, or as a file inside. */
enum key_mode { KEY_MODE_UNSET, KEY_MODE_AGENT, KEY_MODE_FILE };
/* Whose git directory stands inside: the host's own, or one made for the session (git/git.h). */
enum git_mode { GIT_MODE_UNSET, GIT_MODE_DIRECT, GIT_MODE_PRIVATE };
/* Files of the project that somebody outside obeys or runs later (cow/paths.h has their names), and what
 * becomes of changes to them. */
enum protect_class {
	PROTECT_GIT,
	PROTECT_SHELL,
	PROTECT_EDITOR,
	PROTECT_AGENT,
	PROTECT_BUILD,
	PROTECT_CI,
	PROTECT_CLASSES
};
enum protect_level {
	PROTECT_UNSET,  /* directories of git, editor and agent are held, all else is reported */
	PROTECT_ALLOW,  /* nothing is said */
	PROTECT_REPORT, /* told at the end */
	PROTECT_HOLD, /* directories: kept apart until the user accepts them; files are reported */
	PROTECT_RO,   /* refused */
};
/* What is said of one path of the project, and of all that is below it. */
struct aliases;
struct protect_path {
	const char *path; /* relative, clean */
	size_t len;
	enum protect_level level;
	unsigned layer;
};
struct protection {
	enum protect_level levels[PROTECT_CLASSES];
	struct protect_path *paths; /* they count more than the classes, and the longest the most */
	size_t n_paths;
	const struct aliases *aliases; /* other names of what counts (cow/aliases.h); NULL: none */
};
enum workspace_mode { WORKSPACE_UNSET, WORKSPACE_DIRECT, WORKSPACE_COW };

struct mount_spec {
	char *src;  /* as written, before expansion; relative to the project when layer is
		     * LAYER_PROJECT, to the working directory when it is LAYER_FLAG */
	char *dest; /* a clean absolute path inside; given with a leading '~', the home inside */
	bool rw, optional;
	enum layer layer;
	uint32_t dest_hash; /* set by spec_check_mount() */
};

struct env_spec {
	char *name;
	char *value; /* NULL: take the host's value */
	enum layer layer;
};

/* Who may be reached with --network filtered: "HOST[:PORT]", judged by net/policy.h. */
struct rule_spec {
	char *text;
	char *where;   /* in which file, or NULL: given by hand */
	char *file;    /* the same without the place in it; NULL */
	unsigned line; /* 0: not known */
	bool deny;
	enum layer layer;
};

/* A port of the sandbox's that the host offers, or one of the host's loopback that the sandbox may
 * reach. */
struct port_spec {
	char *address; /* on the host; 127.0.0.1 when nothing is said */
	uint16_t host, inside;
	bool into; /* from the sandbox to the host's service */
	enum layer layer;
};

/* A package of a profile's, by the name that its source has for it. */
struct package_spec {
	char *source; /* one of package_sources */
	char *name;
};
extern const char *const package_sources[]; /* "debian", "fedora", "nix"; NULL-terminated */

/* What profiles alone say. */
struct profile_spec {
	char *about; /* one sentence or two */
	struct package_spec *packages;
	size_t n_packages;
	struct strv writable;   /* directories inside that programs write to */
	struct strv registries; /* tools whose own configuration names hosts: spec/registry.h */
	struct strv checks;     /* command lines that show that a tool is there */
};

/* What the user is told, and when; see notify/. */
enum notify_mode { NOTIFY_UNSET, NOTIFY_ON, NOTIFY_OFF };
enum waiting_mode { WAITING_UNSET, WAITING_AUTO, WAITING_ON, WAITING_OFF };
enum { NOTIFY_IDLE_SECONDS = 10 }; /* where nobody says */

struct notify_spec {
	enum notify_mode mode;
	enum waiting_mode waiting; /* notice by ourselves that the agent waits */
	uint64_t idle;             /* ... after this many seconds of silence; 0: unset */
	char *quiet;               /* times without messages, see spec/quiet.h */
	char *sound, *webhook;
	bool always;     /* also when the user is looking */
	bool violations; /* tell what is refused */
};

/* 0 means unset in each. */
struct limits {
	double cpus;
	uint64_t memory, pids, disk; /* bytes, processes, bytes */
};

enum {
	SPEC_KEYS = 64,
	SPEC_MAX_MOUNTS = 10000,
	SPEC_MAX_ENV = 10000,
	SPEC_MAX_RULES = 10000,
	SPEC_MAX_PORTS = 256
};

struct exec_spec;
struct credential;

struct spec {
	struct arena arena;

	char *dir;        /* as given; "." by default */
	char *config_dir; /* canonical: where the project's wrapix.json or profiles are; or NULL */
	/* What the project is called from where the file stands that is being read; NULL: it stands in it. */
	const char *below;
	struct strv around; /* files of directories above whose limits hold here */
	char **cmd;         /* NULL: the agent */
	/* Canonical: those that the user named and that were obeyed as his own. */
	struct strv files;

	char *profile, *agent, *name;
	const struct agent *definition; /* of the agent that it wants; NULL: there is none */
	enum engine_kind engine;
	enum runtime_kind runtime;
	enum net_mode net;
	enum home_mode home;
	enum workspace_mode workspace;
	char *image; /* the name of an image whose programs are used instead of the host's */
	struct strv packages; /* beyond the profile's: an image is made with them */
	enum git_mode git;
	struct protection protect;
	char *resume; /* the id of a copy-on-write session to go on with */
	struct mount_spec *mounts;
	size_t n_mounts;
	struct env_spec *env;
	size_t n_env;
	struct limits limits;
	struct notify_spec notify;
	enum filter_tier filter_tier;
	bool agent_memory; /* the agent reads what the user has written for it */
	bool explain;      /* tell programs over the refused connection why */
	struct rule_spec *rules;
	size_t n_rules;
	struct port_spec *ports;
	size_t n_ports;
	bool publish_auto; /* every port that something inside listens on */
	char *deploy_key;  /* the name of a pair of keys; NULL: none */
	enum key_mode deploy_key_mode;
	bool deploy_key_confirm;        /* the user is asked for each signature */
	struct credential *credentials; /* those that somebody named: spec/credential.h */
	size_t n_credentials;

	struct profile_spec from_profile;

	char **agent_args; /* instead of the agent's own; NULL: those */
	/* Paths of the project that stand read-only; a directory ends in '/'. */
	struct strv read_only;
	struct strv closed; /* those that do so where nobody is asked about changes */
	bool agentless;     /* the command gets nothing of an agent that the project names */
	bool keyless;       /* no deploy key, whatever is configured */

	bool only;         /* mount DIR alone, without its repository */
	bool force;        /* accept '/' and the home directory as DIR */
	bool allow_nested; /* user namespaces inside */
	bool lends;        /* whoever runs the plan is 'wrapix', and can lend a process */
	bool as_root;      /* root stays root instead of becoming the owner of DIR */

	const struct exec_spec *held; /* of 'run': file rules and addresses to deny, by settings of
				       * Claude Code's; owned by who made it; NULL: none */
	const struct builder_spec *builder; /* 'wrapix-builder' (spec/builder.h); NULL: none */
	struct exec_spec *exec; /* 'wrapix exec' (spec/exec.h), owned by who made it; NULL: 'run' */

	unsigned char set_by[SPEC_KEYS]; /* see spec_layer() */
};

void spec_init(struct spec *spec);
void spec_release(struct spec *spec);

/*
 * Layers may be laid in any order: a value never replaces one of a stronger layer. Among mounts of
 * one layer a destination stands once (in profiles, the child's replaces the parent's).
 */

/* One "SRC:DEST[:ro|rw][,optional]" as the --mount flag takes it; rw when nothing is said. */
int spec_add_mount_string(struct spec *spec, const char *text, enum layer layer, struct err *err);
int spec_add_mount(struct spec *spec, const struct mount_spec *mount, struct err *err);
/* The two halves of it, for who wants to look before anything is added: read the string; check a
 * mount and make its dest clean and absolute. Strings live in the spec's arena. */
int spec_parse_mount(struct spec *spec, const char *text, struct mount_spec *ret, struct err *err);
int spec_check_mount(struct spec *spec, struct mount_spec *mount, struct err *err);

/* One "K=V" or "K"; a later one of the same name wins. */
int spec_add_env_string(struct spec *spec, const char *text, enum layer layer, struct err *err);
int spec_add_env(struct spec *spec, const char *name, const char *value, enum layer layer,
		 struct err *err);
/* A rule of the filtered network. Every one counts, whichever its layer. */
int spec_add_rule(struct spec *spec, const char *text, bool deny, enum layer layer,
		  struct err *err);
/* True when somebody but the profile named a host, and when the network will be filtered. */
bool spec_names_hosts(const struct spec *spec);
bool spec_is_filtered(const struct spec *spec);
/* "[IP:]HOST[:SANDBOX]", by default the same port on both sides, or "auto". */
int spec_add_publish(struct spec *spec, const char *text, enum layer layer, struct err *err);
/* "PORT" on the host's loopback. */
int spec_add_host_port(struct spec *spec, const char *text, enum layer layer, struct err *err);

const struct env_spec *spec_find_env(const struct spec *spec, const char *name);

/* Scalars by name, shared by flags and configuration files: profile agent name engine runtime network home
 * cpus memory pids disk only allowNested. The error names the key, the value and what is valid. */
int spec_set(struct spec *spec, const char *key, const char *value, enum layer layer,
	     struct err *err);
/* True when the key has a value; *ret_layer says whose. One that was written into the struct
 * directly counts as a flag's; one that the project repeats (no string) is the user's. */
bool spec_layer(const struct spec *spec, const char *key, enum layer *ret_layer);

/* True when something was set in one of them that was not, or is another, in the other. */
bool spec_values_differ(const struct spec *a, const struct spec *b);

int spec_add_package(struct spec *spec, const char *name, struct err *err);
/* With packages, the image is one of its own: gives it a name that is the same for the same profile and
 * packages, and no others. Call it when every layer is laid. */
int spec_derive_image(struct spec *spec, struct err *err);
/* The image to run from, which the engines of podman and Apple cannot do without: by default that of the profile.
 * NULL: none. */
const char *spec_image(const struct spec *spec);

/* "4G", "512M", "1048576", "1GiB"; powers of 1024. */
int parse_size(const char *text, uint64_t *ret_bytes, struct err *err);

/* The words a choice key takes, for messages and completion; NULL-terminated. */
const char *const *spec_choices(const char *key);
/* "git", "shell" ... PROTECT_CLASSES: none of them. */
enum protect_class protect_class_of(const char *word);
const char *protect_class_name(enum protect_class class);
const char *protect_level_name(enum protect_level level);
/* What a class is held to where nobody says anything; dir: of its directories. */
enum protect_level protect_default(enum protect_class class, bool dir);
/* "CLASS=LEVEL" or "PATH=LEVEL", as --protect takes it. A path has a '/' or a '.' in it. */
int spec_add_protect(struct spec *spec, const char *text, enum layer layer, struct err *err);
/* Of a path alone. */
int spec_protect_path(struct spec *spec, const char *path, const char *level, enum layer layer,
		      struct err *err);
const char *engine_name(enum engine_kind kind);
const char *net_mode_name(enum net_mode mode);
const char *filter_tier_name(enum filter_tier tier);
