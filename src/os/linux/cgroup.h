/* SPDX-License-Identifier: MIT */
/*
 * Limits that really hold: a control group of the sandbox's own where the system gives us one,
 * rlimits where it does not, and plain words about which of the two it is.
 *
 * cgroup_probe() finds facts and changes nothing; the choice of a way and its description are pure,
 * so that a plan can be made and printed for any host. What was chosen is then really done, or the
 * call fails: nothing here falls back in silence.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

enum limit { LIMIT_MEMORY, LIMIT_PIDS, LIMIT_CPUS, LIMIT_COUNT };
#define LIMIT_BIT(limit) (1U << (limit))

struct cgroup_limits {
	uint64_t memory; /* bytes, swap included; 0: no limit */
	uint64_t pids;   /* processes and threads; 0: no limit */
	double cpus;     /* 1.5: one and a half; 0: no limit */
	unsigned asked;  /* LIMIT_BITs the user named; the others are our defaults */
	bool nested;     /* the sandbox may mount: keep the limits above what it can mount */
	bool patient;    /* a session for hours: the defaults too are worth systemd's 3 ms */
};

/* Ways to hold limits, from the strongest to the weakest. */
enum cgroup_kind {
	CGROUP_NONE,    /* rlimits only */
	CGROUP_V2,      /* a directory that was delegated to us: microseconds */
	CGROUP_V1,      /* the same in each controller's own hierarchy */
	CGROUP_SYSTEMD, /* a scope of the user's systemd: milliseconds */
};

#define CGROUP_DIR_MAX 512

/* What is mounted at /sys/fs/cgroup. */
enum cgroup_layout { CGROUP_LAYOUT_NONE, CGROUP_LAYOUT_V1, CGROUP_LAYOUT_V2 };

/* Plain data: a test or a plan for another host fills it by hand. */
struct cgroup_facts {
	enum cgroup_layout layout;
	unsigned v2, v1, systemd;                 /* LIMIT_BITs that can be held in each way */
	char v2_dir[CGROUP_DIR_MAX];              /* where our groups go */
	char v1_dir[LIMIT_COUNT][CGROUP_DIR_MAX]; /* one hierarchy each */
	char systemd_socket[108];                 /* of the user's manager; "" without one */
	bool systemd_booted;                      /* the system runs systemd at all */
	struct cgroup_limits ceiling;             /* of the groups we stand in and would leave */
	uint64_t ram;                             /* bytes */
	bool nproc_is_own; /* Linux 5.14: RLIMIT_NPROC counts the sandbox alone */
	uid_t uid;         /* whose facts these are; RLIMIT_NPROC does not bind 0 */
};

/* A handful of system calls, no D-Bus, no change. Never fails: no cgroup is a fact too. Run it
 * as the user who will own the sandbox. */
void cgroup_probe(struct cgroup_facts *ret);

/* Gives memory and pids their defaults where the user did not name them ('asked'), and lowers all to
 * the ceiling: a sandbox must not get out of limits that somebody put around wrapix. memory is three
 * quarters of the RAM; only a cgroup holds that, rlimits_apply() leaves a default out. */
void cgroup_limits_default(struct cgroup_limits *limits, const struct cgroup_facts *facts);

/* The way that these limits will be held on such a host. A scope of systemd's costs some 3 ms, more
 * than all the rest of a start: it is chosen only when nothing cheaper holds what the user named, or
 * when the session is a long one (patient). */
enum cgroup_kind cgroup_choose(const struct cgroup_facts *facts,
			       const struct cgroup_limits *limits);
/* The LIMIT_BITs which that way holds for the sandbox as a whole. */
unsigned cgroup_holds(const struct cgroup_facts *facts, enum cgroup_kind kind);

const char *cgroup_kind_name(enum cgroup_kind kind);

/* One line about one limit: "memory 1 GiB: cgroup v2 (whole sandbox)", or "memory 1 GiB: each
 * process on its own (RLIMIT_DATA)"; "memory: no limit". Returns true when the limit is held for
 * the sandbox as a whole (or there is none); false: cgroup_fix() says what to do. */
bool cgroup_describe(const struct cgroup_facts *facts, const struct cgroup_limits *limits,
		     enum limit limit, char *buf, size_t size);

/* The commands that give this user whole-sandbox limits here, one a line, ready to be typed;
 * "" when nothing is missing. For doctor and for hints. */
void cgroup_fix(const struct cgroup_facts *facts, char *buf, size_t size);

/* One sandbox's group; CGROUP_V2 uses the first of each three, CGROUP_V1 one for each limit. */
struct cgroup {
	enum cgroup_kind kind;
	struct cgroup_limits limits;
	char name[64];           /* "wrapix-ID" */
	char socket[108];        /* CGROUP_SYSTEMD */
	int parent[LIMIT_COUNT]; /* descriptors, -1 when there is none */
	int dir[LIMIT_COUNT];    /* the group, with a lock that keeps cgroup_sweep() off */
	int leaf[LIMIT_COUNT];   /* where the processes are; the same as dir unless nested */
};

/* Makes the group and sets its limits. id: letters, digits, '-', at most 48 bytes.
 * Always leaves cg ready for cgroup_remove(). CGROUP_NONE and CGROUP_SYSTEMD make nothing yet.
 * A failure here, in cgroup_enter() or in cgroup_join() must stop the start when the user named a
 * limit; when all were defaults the caller may warn and go on as if nothing had happened:
 * rlimits_apply() bounds the processes all the same. */
int cgroup_create(struct cgroup *cg, const struct cgroup_facts *facts, enum cgroup_kind kind,
		  const char *id, const struct cgroup_limits *limits, struct err *err);

/*
 * Each way has its own moment to get in; call all three, and each does nothing where it is not
 * the one that is needed:
 *   cgroup_fd()     CGROUP_V2: a descriptor for clone3()'s CLONE_INTO_CGROUP, -1 for the others.
 *   cgroup_enter()  CGROUP_SYSTEMD: in the parent, after clone, at most 5 s. It takes milliseconds:
 *                   call it while the child builds its mounts, and let it fork only afterwards.
 *   cgroup_join()   CGROUP_V1: in the child, single-threaded and before it forks. (Moved by the
 *                   parent it would wait 15 ms for a grace period of the kernel's.)
 * The child makes its cgroup namespace after that, with unshare(CLONE_NEWCGROUP): one made by the
 * same clone3() would have the user's own group as its root, and where the sandbox may mount
 * (--allow-nested) it could move itself there, out of its limits.
 */
int cgroup_fd(const struct cgroup *cg);
int cgroup_enter(const struct cgroup *cg, pid_t pid, struct err *err);
int cgroup_join(const struct cgroup *cg, struct err *err);
/* In place of cgroup_enter() for a process that comes later, when the group has its first. */
int cgroup_follow(const struct cgroup *cg, pid_t pid, struct err *err);

/* The most at once, and the sum; 0: not known here. */
struct cgroup_peaks {
	uint64_t memory;    /* bytes */
	uint64_t processes; /* and threads */
	uint64_t cpu;       /* microseconds */
};
void cgroup_peaks(const struct cgroup *cg, struct cgroup_peaks *ret);

/* Once the sandbox is dead. Also closes everything. */
void cgroup_remove(struct cgroup *cg);

/* In a process that must not hold the group open (PID 1 of the sandbox): closes, removes nothing. */
void cgroup_close(struct cgroup *cg);

/* Removes what a killed wrapix left: groups of ours that nobody holds and nobody is in. */
void cgroup_sweep(const struct cgroup_facts *facts);

/*
 * In the sandbox's process before exec, and inside its user namespace: RLIMIT_NPROC set before
 * that namespace exists would count the user's processes outside. RLIMIT_NPROC is set always;
 * beyond that it holds, for each process, what 'kind' does not hold for the whole. Core dumps are
 * off always. Allocates nothing.
 */
int rlimits_apply(const struct cgroup_facts *facts, enum cgroup_kind kind,
		  const struct cgroup_limits *limits, struct err *err);
