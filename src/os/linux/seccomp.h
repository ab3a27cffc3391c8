/* SPDX-License-Identifier: MIT */
/* The system call filters: made at build time from data/seccomp, loaded here without a library. */
#pragma once

#include "base/err.h"

struct sock_filter;

/* What a filter is chosen by. */
enum seccomp_flags {
	SECCOMP_NESTED = 1 << 0,     /* namespaces and mounts are allowed inside */
	SECCOMP_NOTIFY_NET = 1 << 1, /* a socket that needs the network asks the supervisor first */
	SECCOMP_NOTIFY_FILES = 1 << 2,   /* so does what changes a file or a name */
	SECCOMP_NOTIFY_READS = 1 << 3,   /* and opening for reading; needs SECCOMP_NOTIFY_FILES */
	SECCOMP_NOTIFY_CONNECT = 1 << 4, /* the supervisor connects */
	SECCOMP_NOTIFY_RENAME = 1 << 5,  /* and renames directories; not with the files */
	SECCOMP_NOTIFY_REFUSED = 1 << 6, /* it says no in the filter's place, and may tell of it */
	SECCOMP_ROOT = 1 << 7,           /* chroot is allowed, for a builder's sshd; alone */
	SECCOMP_NOTIFY_MEMORY = 1 << 8,  /* the supervisor looks at what asks for much memory */
	SECCOMP_NOTIFY_WATCH = 1 << 9,   /* what changes a file is looked at, and goes on */
};

/* The flags that need a supervisor with a listener. */
#define SECCOMP_NOTIFY                                                             \
	(SECCOMP_NOTIFY_NET | SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_READS |        \
	 SECCOMP_NOTIFY_CONNECT | SECCOMP_NOTIFY_RENAME | SECCOMP_NOTIFY_REFUSED | \
	 SECCOMP_NOTIFY_MEMORY | SECCOMP_NOTIFY_WATCH)

/* What this kernel can do. */
enum seccomp_features {
	SECCOMP_HAS_FILTER = 1 << 0,
	SECCOMP_HAS_NOTIFY = 1 << 1,        /* 5.0; ask and answer */
	SECCOMP_HAS_WAIT_KILLABLE = 1 << 2, /* 5.19; a signal does not break off what was asked */
};

/* Asks the kernel, without changing anything. Returns an or of enum seccomp_features. */
unsigned seccomp_features(void);
/* This process is under a filter already. */
bool seccomp_is_on(void);

/*
 * Puts the calling thread and all that it starts under the filter. Needs no_new_privs, or
 * CAP_SYS_ADMIN in its user namespace; sets nothing else. With a flag of SECCOMP_NOTIFY,
 * 'ret_listener' gets the descriptor that the supervisor reads from, close-on-exec; every call that
 * asks hangs until it is answered, and gives ENOSYS once the listener is closed. Without such a
 * flag 'ret_listener' may be NULL and is not written. Where the kernel has it, a question is broken
 * off by fatal signals only (see SECCOMP_HAS_WAIT_KILLABLE).
 */
int seccomp_load(unsigned flags, int *ret_listener, struct err *err);

/*
 * The two halves of it by themselves: what is refused, and what is asked about, to be laid over a filter
 * that there is. With SECCOMP_NOTIFY_REFUSED the first half leaves to the second what it
 * refuses with another errno than ENOSYS: a process under the first alone is not held by it, and takes
 * seccomp_load_base() without that flag as well.
 */
int seccomp_load_base(unsigned flags, struct err *err);
int seccomp_load_notify(unsigned flags, int *ret_listener, struct err *err);

/* A short name for the plan: "default", "nested", "default+notify-net". */
const char *seccomp_describe(unsigned flags);
/* The flags of such a name; false: it is none. */
bool seccomp_find(const char *name, unsigned *ret_flags);

/*
 * The programs themselves, from the generated file. 'default' and 'nested' are whole. A 'notify_*'
 * matches its calls and falls off its end otherwise: seccomp_compose() makes one filter of those
 * that are wanted.
 */
struct seccomp_call {
	const char *name; /* of the call, the same on both arches; NULL ends a list */
	uint32_t arch, nr;
};

struct seccomp_program {
	const struct sock_filter *insns;
	unsigned short len;
	const struct seccomp_call *calls; /* what a fragment asks about; NULL in whole programs */
};

extern const struct seccomp_program seccomp_default;
extern const struct seccomp_program seccomp_nested;
extern const struct seccomp_program seccomp_root;
/* The lists by names alone, for a container runtime (tools/seccomp-json.c). */
extern const char seccomp_json_default[], seccomp_json_nested[];
/* The same without what SECCOMP_NOTIFY_REFUSED leaves to the supervisor. */
extern const char seccomp_json_weak_default[], seccomp_json_weak_nested[];
extern const struct seccomp_program seccomp_notify_net;
extern const struct seccomp_program seccomp_notify_files;
extern const struct seccomp_program seccomp_notify_reads;
extern const struct seccomp_program seccomp_notify_connect;
extern const struct seccomp_program seccomp_notify_rename;
extern const struct seccomp_program seccomp_notify_memory;
/* 'default' and 'nested' in two: what is left of the filter, and the fragment (SECCOMP_NOTIFY_REFUSED). */
extern const struct seccomp_program seccomp_weak_default, seccomp_weak_nested;
extern const struct seccomp_program seccomp_refused_default, seccomp_refused_nested;

/* What most sandboxes have, in one piece: of 'exec', with reads, of 'run'. */
extern const struct seccomp_program seccomp_whole_exec, seccomp_whole_exec_reads, seccomp_whole_run,
	seccomp_whole_watch;

/* Which of the four goes with these flags. */
const char *seccomp_json(unsigned flags);
/* The fragment of SECCOMP_NOTIFY_REFUSED for these flags. */
const struct seccomp_program *seccomp_refused(unsigned flags);
/* What the filter of SECCOMP_NESTED or without it says to a call: 0, it may be made, or the errno. */
struct seccomp_data;
int seccomp_judge(bool nested, const struct seccomp_data *data);

/* Which of the fragment's calls it is; NULL: none of them. */
const char *seccomp_call_name(const struct seccomp_program *fragment, uint32_t arch, uint32_t nr);

#define SECCOMP_COMPOSED_MAX 640

#define SECCOMP_WHOLE_MAX (SECCOMP_COMPOSED_MAX + 256)

/* Fills 'insns' with the filter for the notify flags; returns its length, 0 when there is none. */
unsigned seccomp_compose(unsigned flags, struct sock_filter *insns /* [SECCOMP_COMPOSED_MAX] */);
/* The same with what is refused before it: what seccomp_load() loads. */
unsigned seccomp_whole(unsigned flags, struct sock_filter *insns /* [SECCOMP_WHOLE_MAX] */);
