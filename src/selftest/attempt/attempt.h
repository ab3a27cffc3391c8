/* SPDX-License-Identifier: MIT */
/*
 * The escape suite's attempts: each is a function that really tries to reach what must be out of
 * reach, and is run twice. Outside (the control) it must work, or it would prove nothing; inside it
 * must be stopped. One program holds them all, linked statically, so that it runs in any root.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* How an attempt ends: WORKED, the -errno that stopped it, or UNABLE when it could not be made. */
enum { WORKED = 0, UNABLE = -4096 };

/* Where the control runs, so that what is tried can work. */
enum control {
	PLAIN,  /* as the same user, outside */
	USERNS, /* outside, as the root of fresh namespaces of its own */
	ROOT,   /* outside, as the machine's root */
	PASTA,  /* behind pasta with its defaults, which wrapix changes */
	LAID,   /* as the same user, with a file that the machine's root laid in the project */
};

/* The sandboxes in which it must be stopped. */
enum place {
	IN_NONE = 1 << 0,    /* wrapix run --network none */
	IN_OPEN = 1 << 1,    /* wrapix run --network open, on a made-up host: no packet leaves */
	IN_HOST = 1 << 2,    /* wrapix run --network host */
	IN_NESTED = 1 << 3,  /* wrapix run --network none --allow-nested */
	IN_ROOT = 1 << 4,    /* wrapix run --network none --as-root */
	IN_SMALL = 1 << 5,   /* with small limits */
	IN_TTY = 1 << 6,     /* on a terminal */
	IN_OFFLINE = 1 << 7, /* as IN_NONE, on the made-up host of IN_OPEN */
	IN_KEYS = 1 << 8,    /* as IN_NONE, with a deploy key */
	IN_USER = IN_NONE | IN_NESTED,
	IN_ALL = IN_USER | IN_ROOT | IN_KEYS,
};

/* A system call that must not get past the sandbox's filter. */
struct call {
	long number;
	long args[6];
	bool i386; /* through the gate of 32-bit programs */
};

struct attempt {
	const char *name;
	int (*try)(void); /* or: call */
	enum control control;
	unsigned where;
	bool evidence; /* judged by what the victim outside saw, not by what the attempt says */
	const struct call *call;
};

/* Each ends with an empty row. */
extern const struct attempt file_attempts[], config_attempts[], device_attempts[], mount_attempts[],
	nested_attempts[], host_process_attempts[], init_attempts[], ipc_attempts[],
	privilege_attempts[], kernel_attempts[], filter_attempts[], socket_attempts[],
	environment_attempts[], terminal_attempts[], limit_attempts[], key_attempts[];

/* True in the sandbox, false in the control. */
extern bool inside;

/* Says why the attempt could not be made. Returns UNABLE. */
__attribute__((format(printf, 1, 2))) int unable(const char *fmt, ...);

/* A value that the victim wrote down; ends the attempt as UNABLE where there is none. */
const char *fact(const char *key);
long fact_number(const char *key);

/* The last call's outcome: WORKED, or -errno. */
int outcome(long result);

/* WORKED when the file at path (below dir_fd) holds the secret. */
int read_secret_at(int dir_fd, const char *path);
int read_secret(const char *path);
/* The same for an open descriptor; it is closed. A negative one is taken as -errno. */
int read_secret_fd(int fd);
/* WORKED when the bytes hold the secret. */
int find_secret(const char *bytes, size_t len);

/* WORKED when the call gets past every filter of this process. It is never made. */
int reaches_kernel(const struct call *call);

int write_text(const char *path, const char *text);

/* unwritten.c: changing or holding a file that cannot be opened for writing. */
int lease_file(const char *path);
int flag_file(const char *path);
int touch_file(const char *path);
int empty_file(const char *path);
int chmod_link(const char *path);
int chmod_newer(const char *path);
int xattr_newer(const char *path);
int flag_newer(const char *path);

/* "/proc/PID/name" in a static buffer. */
const char *proc_path(long pid, const char *name);

/* For a result that does not matter. */
static inline void ignore(long result)
{
	(void)result;
}

/* Tools with a file of their own: what the attempts are after, and a terminal to make them on. */
int be_victim(char **args);
int run_on_terminal(char **args);

/* True when the words name a tool of the runner's, which has then been run. */
bool run_tool(int n, char **args, int *ret_status);

/* Calls fn for every process in /proc until it returns WORKED. Returns the best result. */
int for_each_process(int (*fn)(long pid));
