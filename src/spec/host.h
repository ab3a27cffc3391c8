/* SPDX-License-Identifier: MIT */
/*
 * What is possible here: every fact about this machine that a plan depends on, so that planning
 * itself needs no system call. host_probe() looks; host_load() reads the same facts from a file
 * (wrapix plan --host FILE), which is how plans for other machines are made and tested.
 */
#pragma once

#include "os/linux/cgroup.h"
#include "spec/spec.h"

enum path_kind { PATH_ABSENT, PATH_FILE, PATH_DIR, PATH_LINK, PATH_OTHER };

struct path_fact {
	char *path;
	enum path_kind kind;
	char *target; /* of a link */
};

struct path_facts {
	struct path_fact *v;
	size_t len;
};

enum git_layout {
	GIT_NONE,
	GIT_PLAIN,  /* .git is a directory */
	GIT_LINKED, /* .git is a file: a linked worktree, a submodule, --separate-git-dir */
};

/* Where the objects of the host's repositories stand inside: the first one's is 0/objects. */
#define GIT_OBJECTS_INSIDE "/run/wrapix-git/real"

struct project_facts {
	char *dir; /* canonical */
	char *way; /* the link by which one came to it and left another project; or NULL */
	uid_t owner;
	char *top; /* the repository's top when dir lies below one, else dir */
	enum git_layout git;
	char *gitdir;      /* GIT_LINKED: where .git points to, canonical */
	char *commondir;   /* what must be mounted for it: gitdir itself or the repository's .git */
	bool git_relative; /* the link is relative, so it dangles at another place */
	char *note;        /* what the user should know of it, or NULL */
	struct path_facts modules;  /* git directories of submodules; target: where their files are,
				      below the top, or NULL */
	struct path_facts borrowed; /* object directories; target: their place inside */
	bool lacks_git;             /* it is a repository, and there is no git on this machine */
	bool has_config;            /* wrapix.json */
	bool has_wrapix_dir;        /* .wrapix/ */
};

/* The agent's program, and all that must be visible for it to start. */
struct agent_facts {
	char *name;
	char *program; /* the path to execute inside, NULL when the agent is not installed */
	char *root;    /* the file or directory to mount for it, NULL when /usr has it already */
	char *inner;   /* where root stands inside */
	char *interpreter; /* outside /usr: mounted beside it */
	char *theme;       /* that the user has chosen for it; NULL: none */
};

/* The pair of keys that the spec names: the paths of the private halves, the public ones as text. */
struct deploy_key_facts {
	char *name; /* NULL: none was looked for */
	char *deploy, *signing;
	char *deploy_public, *signing_public;
	char *origin;      /* the URL of the repository's remote, as the project has it; or NULL */
	char *known_hosts; /* what the user trusts beside the built-in ones */
	char *asker;       /* the program that asks the user; NULL: there is none */
};

struct env_fact {
	char *name, *value;
};

/* What pasta must be told of the way to the internet. */
struct route_facts {
	char *interface; /* NULL: nothing, it finds out by itself */
	char *v4, *v6;   /* the host's own addresses; NULL: it has no way there */
};

struct tool_facts {
	char *pasta, *slirp;    /* path, or NULL */
	char *notify, *notifyd; /* the client for inside, the daemon for outside; or NULL */
	char *entry;            /* wrapix-entry, for a builder; or NULL */
	char *relay;            /* for brokered credentials; or NULL */
	char *self;             /* wrapix; NULL: this is another program */
	char *srt;              /* which needs no library; or NULL */
	char *shell;            /* the user's, or another that exists inside */
};

/* For the podman engine; looked for only when it is to be used. */
struct podman_facts {
	char *program;       /* NULL: it is not installed */
	unsigned version;    /* 50402: 5.4.2; 0: not known */
	char *docker;        /* instead of it, or beside it */
	bool socket;         /* of docker's daemon: it can be opened */
	bool docker_own;     /* which is the user's, not root's */
	bool docker_shim;    /* 'docker' is podman by another name */
	char *newuidmap;     /* gives podman the user's range of ids */
	bool subids;         /* there is such a range */
	bool selinux;        /* SELinux enforces: mounts need its labels */
	char *krun;          /* the runtime that makes a virtual machine */
	bool kvm;            /* and what that needs: /dev/kvm can be opened */
	bool kvm_there;      /* it is there, at least */
	bool kvm_by_group;   /* opened by right of a group of the user's */
	char *init, *loader; /* our own: PID 1 inside; wrapix-image */
};

/* For a builder; looked for only then. */
struct id_facts {
	char *newuidmap, *newgidmap; /* programs, or NULL */
	unsigned first_uid, n_uids;  /* the user's range in /etc/subuid; 0: none */
	unsigned first_gid, n_gids;
	char *advice; /* how to have one */
};

/* For the engine of macOS; looked for only when it is to be used. */
struct apple_facts {
	char *program;    /* container; NULL: it is not installed */
	unsigned version; /* os/darwin/container.h; 0: not known */
	unsigned macos;   /* the major version */
	bool silicon;     /* of Apple's own making */
	bool service;     /* container's runs */
	char *image;      /* as container calls it; NULL: there is none of that name */
	bool loaded;      /* container has it */
	char *gateway;    /* of its default network; NULL: not known */
	unsigned cpus;
	char *loader; /* wrapix-image */
};

/* Where copy-on-write sessions are kept that the state directory cannot hold, by uid: a place where anybody can make one. */
#define HOST_SPARE "/var/tmp/wrapix-%u"

struct host {
	struct arena arena;
	char *platform; /* "linux" or "darwin" */
	uid_t uid;
	gid_t gid;
	char *user;
	char *home;        /* $HOME, canonical */
	char *passwd_home; /* the same by the user database; NULL when that knows none */
	char *state_home, *config_home, *cache_home, *data_home;
	char *runtime_dir; /* state_home where there is none */
	/* Where wrapix's part of these really lies, if elsewhere than they say. */
	struct path_facts own;
	char *no_state; /* why nothing can be written in state_home; NULL: it can */

	char *image_root;            /* the unpacked image, or NULL */
	struct path_facts image_top; /* its directories and links at the top */
	struct env_fact *image_env;  /* the variables that it sets */
	size_t n_image_env;
	char *image_changes; /* where its changes must be kept; NULL: memory holds them */

	struct path_facts top;   /* /bin, /lib64, ...: directories or links into /usr */
	struct path_facts etc;   /* what exists of the table of needed files in /etc */
	struct path_facts extra; /* /nix/store, /sys/devices/system/cpu, device nodes, ... */
	struct path_facts masks; /* what exists of the table of files in /proc that are hidden */
	int landlock_abi;
	bool seccomp_notify; /* system calls can be answered by a supervisor */
	bool inside;         /* this is a sandbox of wrapix itself */
	bool tun;            /* /dev/net/tun can be opened */
	char *resolv_conf;   /* the host's */
	struct route_facts route;
	char *proxy, *no_proxy; /* HTTPS_PROXY and NO_PROXY; not in the facts' JSON: a password */
	char *git_name, *git_email; /* from the user's own git configuration */
	struct env_fact *env;       /* the allow-listed and the named variables that are set */
	size_t n_env;
	struct tool_facts tools;
	struct podman_facts podman;
	struct id_facts ids;
	struct apple_facts apple;
	struct cgroup_facts cgroup;
	char *cow_base;   /* where copy-on-write sessions are kept; NULL: nobody asked */
	bool cow_overlay; /* overlayfs can be mounted with its changes there */
	bool tty[3];      /* which of standard input, output and error are a terminal */

	struct project_facts project;
	struct path_facts mounts; /* one for each of spec->mounts, canonical; target: the link by
				     which it leaves the project, or NULL */
	struct path_facts points; /* spec->exec: what stands at the paths of its file rules */
	char *resolv_path;        /* spec->exec: what /etc/resolv.conf is */
	struct agent_facts agent;
	struct deploy_key_facts keys;
};

/* wrapix's own programs for messages to the user; host_probe() does it, but for 'exec'. */
void host_probe_notify(struct host *host);
/* Where a copy-on-write session is kept: in the state directory, or where an overlay can be; RESUME or NULL is one to
 * go on with. */
void host_probe_cow(struct host *host, const char *resume);

void host_release(struct host *host);
/* The masks alone. What only root may open is closed to everybody else already. */
void host_probe_masks(struct host *host);
/* Which of Windows' subsystems for Linux this is: 1 translates system calls and has no kernel, 2 has one
 * in a virtual machine. 0: neither. */
int host_wsl(void);
/* Wrapix's part of one of the user's directories: where it really lies, and what it is a link to if it is one, are
 * added to 'own'; the first is returned. */
char *host_own_dir(struct arena *arena, const char *home, struct strv *own);
int host_no_image(const char *name, struct err *err); /* says so, and how to get it */
int host_probe(const struct spec *spec, char **environment, struct host *ret, struct err *err);

int host_load(const char *json, size_t len, struct host *ret, struct err *err);
void host_print_json(const struct host *host, FILE *out);
/* The directory that the project's file speaks for: its relative sources begin there. */
static inline const char *host_config_base(const struct spec *spec, const struct host *host)
{
	return spec->config_dir ? spec->config_dir : host->project.dir;
}

/* Takes each mount of the spec that the facts say nothing of for a directory that exists. */
void host_assume_mounts(const struct spec *spec, struct host *host);
/* Facts tell of the agent they were taken for: any other is taken for not installed, but a shell. */
void host_assume_agent(const struct spec *spec, struct host *host);

/* True when the user has a range of ids in this file (/etc/subuid, /etc/subgid). */
bool host_has_subids(const struct host *host, const char *file);
/* What gives the user a range in both that is nobody else's. */
char *host_ids_advice(struct arena *arena, const char *user);
void host_probe_podman(char **environment, struct host *host);
void host_probe_apple(const struct spec *spec, char **environment, struct host *host);
/* The engine, where nobody has named one: that of the platform. */
enum engine_kind host_engine(const struct spec *spec, const char *platform);

/* A program of wrapix's own: beside this one, in the build's tree (relative to this one), or installed;
 * NULL when it is nowhere. */
char *host_find_own(struct host *host, const char *name, const char *in_build);

const char *host_env(const struct host *host, const char *name);

/* $HOME; where it is not set the home that the user database has. */
const char *user_home(struct arena *arena);
/* True for the user's home directory and every directory above it. */
bool host_holds_home(const struct host *host, const char *dir);
/* True for the variables that come in without being named: terminal, locale, git identity. */
bool host_env_allowed(const char *name);
/* By their paths. */
void path_facts_sort(struct path_facts *facts);
const struct path_fact *path_facts_find(const struct path_facts *facts, const char *path);
