/* SPDX-License-Identifier: MIT */
/*
 * The plan: ordered operations with nothing left to decide. plan_make() is pure: the same spec and
 * the same host facts give the same plan, on any machine. Engines carry it out and never add to it.
 */
#pragma once

#include "os/linux/cgroup.h"
#include "spec/credential.h"
#include "spec/host.h"
#include "spec/spec.h"

#define AGENT_INSIDE "/opt/wrapix"
#define AGENT_SOCKET_INSIDE "/etc/wrapix/ssh/agent"
/* Where an 'exec' inside asks the supervisor; the mode of a socket that takes orders
 * (session/control.h). */
#define EXEC_DOOR_INSIDE "/etc/wrapix/exec"
#define EXEC_DOOR_MODE 01600

/* The layers of a copy-on-write session, each a directory in the session's own. */
#define LAYER_DIR_PROJECT "project"
#define LAYER_DIR_GIT "git"

/* Private git directories in the state directory, each by its session's id; and where the one of a
 * project whose .git is a file, and the host's objects, stand inside. */
#define GIT_PRIVATE_DIR "wrapix/gitdirs"
#define GIT_DIR_INSIDE "/run/wrapix-git/dir"

/* What the gate makes private (guard/gate.h): in the state directory, by session. */
#define GATE_DIR "wrapix/gatedirs"

/* What builds the root, in order. Parents are made on the way in our own tmpfs, never in a tree
 * of the user's. */
enum op_kind {
	OP_ROOT,    /* the host's tree is the root, instead of a tmpfs of ours; comes first */
	OP_DIR,     /* a directory of our own */
	OP_FILE,    /* a generated file: content */
	OP_LINK,    /* a symbolic link to target */
	OP_BIND,    /* the host's src at dest */
	OP_SCRATCH, /* a directory of the session's private tmpfs, writable */
	OP_PROC,
	OP_DEVPTS,
	OP_COVER,    /* a generated file over one that is there: content */
	OP_HIDE,     /* an empty file or directory over what is there */
	OP_READONLY, /* what is there, read-only */
	OP_SOCKET,   /* a socket of our own on which the supervisor listens */
	OP_DENY,     /* a file or directory that cannot be opened over what is there */
	OP_PASS,  /* a denied directory that what comes next in the plan stands in: every other name
			in it is denied */
	OP_IMAGE, /* a directory of an image: changes go to the session's private tmpfs */
	OP_COW,   /* a view of the host's src: changes go to a layer of the session's */
};

/* Bytes, where the user names no size. */
#define ROOT_SIZE (16ULL << 20)
#define SCRATCH_SIZE (4096ULL << 20)

enum op_flags {
	OPF_RO = 1 << 0, /* OP_SCRATCH: nothing but what is mounted in it; podman alone has it */
	OPF_DEV = 1 << 1,
	OPF_RECURSIVE = 1 << 2,
	OPF_OPTIONAL = 1 << 3, /* OP_BIND: skipped when the source is gone by then; OP_FILE: what
				  is there stays; OP_HIDE, OP_COVER, OP_DENY: skipped where there
				  is nothing to reach */
	OPF_DIR = 1 << 4,      /* the source is a directory */
	OPF_CHECK = 1 << 6,    /* the source must be what the supervisor saw, by no symbolic link */
	OPF_COPY = 1 << 7,     /* OP_COW: the layer is a whole copy of src */
	OPF_MAKE = 1 << 5,     /* the source is a directory of ours and is made when missing */
	OPF_HELD = 1 << 9,     /* OP_BIND, read-only: what the file rules allow is changed for the
				  sandbox (guard/broker.h) */
	OPF_SESSION = 1 << 8,  /* the source is what the session's id names in that directory */
	OPF_GATE = 1 << 10,    /* OP_BIND: for the supervisor alone, under what comes next there */
	OPF_SOCKET = 1 << 11,  /* OP_BIND: the source is a listening socket */
	OPF_PLAIN = 1 << 12,   /* OP_BIND: no symbolic link leads to the source */
};

struct op {
	enum op_kind kind;
	unsigned flags;
	unsigned mode;
	const char *dest;
	const char *src;   /* OP_BIND: host path; OP_LINK: target; OP_FILE: content */
	const char *layer; /* OP_COW, OPF_SESSION: its name in the session's directory, or NULL */
};

enum access_class { ACCESS_READ, ACCESS_WRITE, ACCESS_DEV };

struct file_rules;

struct access_rule {
	const char *path;
	enum access_class class;
};

/* A deploy key. The paths are the private halves, outside; either may be NULL. */
struct plan_keys {
	bool agent; /* the supervisor signs with them; else they stand inside as files */
	char *name; /* NULL: there is none */
	char *deploy, *signing;
	char *trusted; /* host keys that the user pinned beside the built-in ones; or NULL */
	char *asker;   /* the program that asks the user first; NULL: nobody asks */
};

/* A credential: a variable whose value is fetched at the start, or one that the relay adds. */
struct plan_credential {
	struct credential about;
	bool named;               /* the user asked for it: the start fails without it */
	bool is_set;              /* the user's environment has it, and so has the plan's */
	struct upstream upstream; /* brokered */
	uint16_t port;            /* brokered: inside, on 127.0.0.1; else 0 */
};

/* ENGINE_PODMAN. */
struct plan_podman {
	char *program;
	char *base;          /* the directory of all STAGEs */
	unsigned version;    /* as spec/host.h has it */
	char *image, *name;  /* as podman calls it, and as we do */
	char *root;          /* the image's files, as wrapix-image unpacked them */
	char *init;          /* wrapix-init, on the host */
	char *loader;        /* wrapix-image, which gives it to podman */
	char *user, *shell;  /* inside */
	char *network;       /* podman's word for it */
	char *runtime;       /* the program that makes a virtual machine; NULL: podman's own */
	bool keep_groups;    /* it needs the user's groups, for /dev/kvm */
	unsigned held;       /* LIMIT_BITs that podman can hold here */
	bool selinux;        /* mounts need labels */
	struct strv differs; /* what the native engine does otherwise; 'wrapix plan' shows it */
};

/* How messages to the user come out of a virtual machine. */
enum apple_notify {
	APPLE_NOTIFY_NONE,
	APPLE_NOTIFY_SOCKET, /* the session's socket, relayed */
	APPLE_NOTIFY_TCP,    /* a port at the gateway's address, with a token of the session */
};

/* ENGINE_APPLE. */
struct plan_apple {
	char *program;
	char *base;         /* the directory of all STAGEs */
	unsigned version;   /* os/darwin/container.h */
	bool relays;        /* sockets of ours can be given to the machine */
	char *image, *name; /* as container calls it, and as we do */
	char *loader;       /* wrapix-image, which gives it to container */
	char *user;         /* inside */
	unsigned cpus;
	uint64_t memory;
	char *gateway; /* the address at which the machine reaches us; NULL: it finds out */
	enum apple_notify notify;
	struct strv dns, search; /* servers of the host's; none: container's own choice */
	struct strv differs;     /* what the native engine does otherwise */
};

/* A git directory beside the project's own, of which the session has a private one as well. */
struct plan_module {
	char *gitdir;
	char *name;  /* below modules/ of the project's */
	char *where; /* its files, below the top; NULL: not checked out */
};

/* A builder's: root inside is the user, the ids from 1 on are his range. */
struct plan_ids {
	char *newuidmap, *newgidmap;
	uid_t uid; /* on the host */
	gid_t gid;
	unsigned first_uid, first_gid;
	unsigned count; /* 0: there is one user inside, and it is him */
};

struct plan {
	struct arena arena;
	enum engine_kind engine;
	const struct exec_spec *exec; /* ENGINE_SEATBELT: what its profile is made of; borrowed */
	char *name;
	char *home_key; /* names the kept home of this project */

	uid_t uid;
	gid_t gid;
	struct plan_ids ids;
	char *hostname; /* NULL: as it is */

	struct op *ops;
	size_t n_ops;
	uint64_t root_size, scratch_size; /* bytes */
	bool scratch_asked;               /* the second is the user's */

	struct strv argv, env;
	char *cwd;

	enum net_mode net;
	/* NET_OPEN: the programs that attach it, tried in this order; "PID" stands for a process in the
	 * sandbox's network namespace. */
	struct strv uplinks[2];
	size_t n_uplinks;
	bool eager_net;          /* attached before the start: the kernel cannot ask later */
	struct strv allow, deny; /* NET_FILTERED: the rules, as written */
	struct strv deny_at;     /* where those of deny are written, "FILE:LINE", "FILE" or "" */
	struct port_spec *ports; /* in both directions */
	size_t n_ports;
	bool publish_auto; /* what listens inside, as it comes */
	enum filter_tier filter_tier;
	bool explain;
	char *proxy, *no_proxy; /* of the host, or NULL; may hold a password: never printed */

	int landlock_abi;
	struct access_rule *rules;
	size_t n_rules;
	bool nested;
	bool inside; /* of another sandbox of ours */
	bool door;   /* the supervisor lends a process to 'exec' inside */
	struct cgroup_facts cgroup;
	struct cgroup_limits limits;
	enum cgroup_kind limits_by;
	bool tty[3];

	struct plan_podman podman;
	struct plan_apple apple;
	struct plan_keys keys;
	struct plan_credential *credentials;
	size_t n_credentials, n_relays;
	char *key_due; /* the credential whose end the staged files will hold; or NULL */
	char *relay;   /* the program; NULL: nothing is brokered */
	/* 'wrapix exec', and 'wrapix run' under Claude Code's settings. The rules and the lists are the
	 * spec's, which must outlive the plan; the rules speak of the host's names. */
	const struct file_rules *files; /* NULL: none */
	struct file_rules *own_files;   /* 'files', where they are the plan's own */
	bool gate;                      /* of 'run': names that git obeys are made private */
	struct protection protect;      /* changes to files that run later */
	char *protection;               /* what somebody has said of them; NULL: nothing */
	bool ask_reads;                 /* of 'run': they deny reading something that is mounted */
	bool guard_unix;                /* UNIX sockets of the host's are out of reach, but for: */
	struct strv unix_sockets;
	struct strv denied_resolved; /* addresses that no name may lead to */
	const int *pass_fds;
	size_t n_pass_fds;
	/* Messages to the user: the daemon that shows them (NULL: none are wanted), and whether to notice
	 * by ourselves that the command waits (seconds of silence; 0: no). */
	char *notifyd;
	uint64_t notify_idle;
	struct notify_spec notify; /* what the daemon is told; its strings are the plan's */

	char *project;  /* on the host */
	char *cow_base; /* where the copy-on-write session is kept; NULL: the project is direct */
	char *git_real,
		*git_common; /* the git directory and its repository's, which the session has
				      * a private one of; NULL: it has none */
	bool tell_calls;     /* the supervisor refuses system calls in the filter's place */
	bool tell_writes; /* it looks at what changes files, and lets all go on: plan_is_watched() */
	bool git_read_only;              /* there is no git that could take over anything */
	struct plan_module *git_modules; /* further ones: submodules' */
	size_t n_git_modules;
	struct strv git_borrowed; /* object directories that they borrow from */
	bool move_dirs;           /* in that session the supervisor renames directories */
	char *resume;             /* the session's id, where it is not a new one */
	uint64_t cow_limit;       /* bytes that its changes may take; 0: as many as there are */
	struct strv says;         /* lines the user is told at the start */
	struct strv weaker;       /* what holds less here than it could, one line each */
};

/* OPF_SESSION: the source, once the session has an id. */
char *op_session_source(struct arena *arena, const struct op *op, const char *id);

int plan_make(const struct spec *spec, const struct host *host, struct plan *ret, struct err *err);
void plan_release(struct plan *plan);
/* The network alone, as plan_make() would plan it. */
int plan_network(struct plan *plan, const struct spec *spec, const struct host *host,
		 struct err *err);

/* How the plan of an ordinary user's command begins, whatever the command and the settings are: it can
 * be built before they are known. 'masks': of a sandbox around; NULL: there is none. */
void plan_exec_begin(struct plan *ret, uid_t uid, gid_t gid, const struct path_facts *masks);
/* All that is missing when 'begun' was carried out are the operations after its last, and what a
 * command has besides a root. */
bool plan_continues(const struct plan *plan, const struct plan *begun);
void plan_print(const struct plan *plan, FILE *out);
void plan_print_json(const struct plan *plan, FILE *out);

/* What may be changed is decided by name, and done by the supervisor. */
bool plan_is_brokered(const struct plan *plan);
/* Mounts decide that, and the supervisor tells of what they refuse. */
bool plan_is_watched(const struct plan *plan);
/* The supervisor resolves paths as the command does. */
static inline bool plan_has_view(const struct plan *plan)
{
	return plan->files || plan_is_watched(plan);
}

/* The command runs under a kernel of its own: nothing passes but files, the terminal's bytes and
 * connections; no descriptor, no socket, no signal, no listener. */
static inline bool plan_is_machine(const struct plan *plan)
{
	return plan->podman.runtime;
}

/* The network is attached on first use. */
static inline bool plan_is_lazy(const struct plan *plan)
{
	if (plan->engine == ENGINE_APPLE)
		return false;
	return plan->net == NET_FILTERED || (plan->net == NET_OPEN && !plan->eager_net);
}

static inline bool plan_has_ports(const struct plan *plan)
{
	return plan->n_ports || plan->publish_auto;
}

/* The supervisor works in the sandbox's network namespace. */
static inline bool plan_needs_netns(const struct plan *plan)
{
	if (plan->engine == ENGINE_APPLE)
		return false;
	return plan_is_lazy(plan) || plan_has_ports(plan) || plan->n_relays;
}

/* The supervisor answers as an ssh-agent. */
static inline bool plan_has_key_agent(const struct plan *plan)
{
	return plan->keys.name && plan->keys.agent;
}

static inline bool plan_has_tty(const struct plan *plan)
{
	return plan->tty[0] || plan->tty[1] || plan->tty[2];
}

/* The terminal is there to read and to write: what an engine makes that passes all of it or nothing. */
static inline bool plan_is_interactive(const struct plan *plan)
{
	return plan->tty[0] && plan->tty[1];
}

/* The system is an image's. */
static inline bool plan_has_image(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_IMAGE)
			return true;
	return false;
}

/* The host's tree is the root, so names of ours are only where something of ours is mounted. */
static inline bool plan_root_of_host(const struct plan *plan)
{
	return plan->n_ops && plan->ops[0].kind == OP_ROOT;
}

/* How many trees are held. */
static inline size_t plan_count_held(const struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_ops; i++)
		n += plan->ops[i].kind == OP_BIND && (plan->ops[i].flags & OPF_HELD);
	return n;
}

/* Opening for reading is asked about. */
enum file_reads plan_reads(const struct plan *plan);

/* What an operation shows of the user's or the system's files, by the names that rules speak of. */
static inline bool op_shows_host(const struct op *op)
{
	return op->kind == OP_BIND && !(op->flags & (OPF_MAKE | OPF_SESSION | OPF_DEV));
}

/* An operation without these flags that shows what the rule could be about; NULL: none does. */
struct file_rule;
const struct op *plan_rule_concerns(const struct plan *plan, const struct file_rules *rules,
				    const struct file_rule *rule, unsigned without);

/* The LIMIT_BITs that an rlimit alone holds, and that the supervisor looks after. */
unsigned plan_watched_limits(const struct plan *plan);
/* The seccomp filter, as flags of os/linux/seccomp.h. */
unsigned plan_seccomp(const struct plan *plan);
/* Some of the sandbox's system calls are answered by the supervisor. */
bool plan_has_listener(const struct plan *plan);

/* For whoever runs it: what is known only then. Strings are copied into the plan. */
struct op *plan_add(struct plan *plan, enum op_kind kind, const char *dest, const char *src,
		    unsigned flags);
void plan_setenv(struct plan *plan, const char *name, const char *value);
/* The daemon and the user's wishes alone: for a supervisor that has something to say itself. */
void plan_take_notify(struct plan *plan, const struct spec *spec, const struct host *host);
/* Sets a variable for the run; the entry, "NAME=VALUE", stays the caller's. */
void plan_give_credential(struct plan *plan, char *entry);
/* Then: the staged files know the end of the key, or that there is none. */
void plan_fill_key_end(struct plan *plan);
