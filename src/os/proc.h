/* SPDX-License-Identifier: MIT */
/* Processes: pidfds, descriptors that must not leak, programs on PATH. */
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/err.h"

/* Closes every descriptor from first upwards but those in keep, n of them. */
void os_close_all_but(int first, const int *keep, size_t n);

/* As many descriptors as we may have; a program that is started later has as many. How many that is. */
size_t os_raise_descriptors(void);
/* Room for n at a time beside the few that everything takes: 0, or -EMFILE where not even raising brings it. */
int os_need_descriptors(size_t n);
/* What a program is to have that we start: as many as we were given. */
void os_restore_descriptors(void);

int os_pidfd_open(pid_t pid);                /* descriptor or -errno */
int os_pidfd_kill(int pidfd, int signal_no); /* 0 or -errno */

/* These five: 0 (os_dumpable(): what it is), or -1 with errno; where a kernel has no such thing, 0. */
/* This signal comes when our parent ends, which may have been before: ask getppid() afterwards. Where
 * there is no such thing, a child is told by the end of its input. */
int os_die_with_parent(int signal_no);
/* A fork of ours that works on for its parent, and ends with it: in a session of its own, and with nothing
 * of it open but 'keep', n of them. */
void os_become_worker(pid_t parent, const int *keep, size_t n);
/* May other processes of this user look into this one, and may it leave a core? */
int os_dumpable(void);
int os_set_dumpable(int dumpable);
/* No program that is executed from now on gets rights that we do not have. */
int os_no_new_privileges(void);
/* Whose parent has ended becomes our child. */
int os_adopt_orphans(void);

/* Kills every process of the session but its leader, until there is none: the caller leads it, or it has
 * lost its leader. */
void os_kill_session(pid_t session);

/* A program without a dynamic loader must not ask the C library for names of users or hosts: it would
 * load modules of another version of that library. */
bool os_is_static(void);
/* The same of the program at path: it needs no library, and runs in any root. */
bool os_is_static_file(const char *path);

/* Whether the C library may be asked who a user is: a directory service may know. */
bool os_has_names(void);

/* From here on the C library asks files and DNS for such names, and loads nothing for it. Called where the root is
 * still a trusted one. False: it cannot do without modules. */
bool os_pin_names(void);

/* Every signal back to its default action and unblocked: what a program expects at its start. */
void os_reset_signals(void);

/* Where programs are for who has no PATH at all, as cron's jobs may. */
#define OS_USUAL_PATH "/usr/bin:/bin"

/* The program's absolute path, looked up in path_list (NULL: the usual one); relative directories are passed over, and so
 * is what lies at or below 'except' (a hostile project, canonical) by whatever name. NULL when it is
 * nowhere. */
char *os_find_program(struct arena *arena, const char *name, const char *path_list,
		      const char *except);

/* Runs a program in dir to its end with its standard output caught; for probes, which get ten seconds.
 * Standard input and error are /dev/null. Returns the wait status, or -errno. Output of more than max
 * bytes counts as none. */
int os_capture(char *const argv[], const char *dir, size_t max, char **ret_output);
/* The same in '/' with standard error caught as well, for programs that do something and say how it
 * went. */
int os_capture_all(char *const argv[], unsigned seconds, size_t max, char **ret_output);

/* Waits for the end of a child: its wait status, or -errno (ECHILD: there is no such child of ours). */
int os_await(pid_t pid);
/* The same of one whose exit code is an errno: 0 or that, negative; -EIO where it was killed. */
int os_await_errno(pid_t pid);
/* What a shell would say of a wait status: the exit code, or 128 and the signal. */
static inline int os_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
/* Children that ended wait for us, whatever whoever started us had ignored. First in a main(). */
void os_keep_children(void);

/* How os_run() starts a program. */
struct os_command {
	char *const *argv; /* argv[0] is an absolute path */
	char *const *env;
	const char *cwd;
	int in, out; /* -1: /dev/null */
	int said;    /* where its errors go (os_said_open()), or 0: /dev/null */
	int keep;    /* what it inherits beside these, or 0 */
};
/* Runs a program to its end, which comes with ours; returns the wait status, or -errno. */
int os_run(const struct os_command *command);

/* What a program says of its errors: a file without a name that takes so many bytes (macOS: all of them), and what is said
 * beyond is lost. -1 and errno. */
enum { OS_SAID_MAX = 4096 };
int os_said_open(void);
/* The first or the last line of it, escaped. False: it ended without a word. */
struct str;
bool os_said_line(int fd, bool last, struct str *ret);

/* Pages that a child does not get and a core does not hold; then, of such pages, that a child gets all the
 * same. 0, or -1 with errno. */
int os_hide_memory(void *pages, size_t len);
int os_share_memory(void *pages, size_t len);

/*
 * Unmaps the pages of the program and of its libraries that were touched so far: the start needs most
 * of them, waiting few. Those few come back from the page cache when they are used again.
 */
void os_drop_code(void);
