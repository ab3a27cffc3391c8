/* SPDX-License-Identifier: MIT */
/*
 * Running git: on the host's repository with nothing in it that starts another program, or confined
 * where what it reads is hostile.
 *
 * Confined means: namespaces of its own for users, processes, the network and System V objects; the
 * seccomp filter of every sandbox; Landlock, by which it reads the system's programs and the named
 * directories and writes to one; limits on time, memory and output. It is a second wall: what it
 * prints is believed no more for it.
 */
#pragma once

#include "base/str.h"
#include "git/git.h"

#define GIT_OUTPUT_MAX ((size_t)64 << 20)
#define GIT_PACK_MAX ((size_t)4 << 30)
#define GIT_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum { GIT_READS_MAX = 20 };

/* Something that a confined git may read. */
struct git_read {
	const char *path;
	bool plain; /* no link leads there */
};

struct git_run {
	const char *program; /* absolute */
	const char *const *args;
	const char *gitdir;
	/* Whose that is: git_open_host() opens it, and git is started in it; or NULL. */
	const struct git_store *host;
	const char *objects;    /* where new objects go; NULL: the git directory's */
	const char *alternates; /* further objects, or NULL */
	const char *index;      /* another one than the git directory's, or NULL */
	bool confined;
	struct git_read reads[GIT_READS_MAX];
	size_t n_reads;
	bool reads_all;     /* whatever these are */
	const char *writes; /* or NULL */
	const char *input;  /* NULL: as 'in' says */
	size_t input_len;
	int in, out;      /* 0: /dev/null, and into memory */
	unsigned seconds; /* 0: ten */
	/* It changes the host's: it comes to its end when we are killed, so that it leaves no lock, and
	 * the turn (or 0) is held until then. */
	bool finish;
	int turn;
	/* What it changes of references (locks.c; the host's, if it is to finish), and for whom; NULL: nothing. */
	const char *changes;
	const struct git_store *store;
	void (*on_step)(const char *what);
};

/* Returns the exit status, or -errno; -ETIMEDOUT when it took too long, -EPIPE when it was killed. What it printed is appended
 * to 'ret', unless that is NULL or it went to 'out'. */
int git_run(const struct git_run *run, struct str *ret);

/* The same, where anything but success is an error with words; EAGAIN when it was killed. */
int git_do(const struct git_run *run, struct str *ret, struct err *err);

/* ENXIO with its name where a FIFO, a socket or a device stands in place of a file in a git directory of the host's, for which
 * git would wait; the second: where that keeps from its objects, of which commands inside read as well. */
int git_check_plain(const struct git_store *store, const char *gitdir, struct err *err);
int git_check_objects(const struct git_store *store, struct err *err);

/* The host's objects, and those that they borrow. */
void git_may_read(struct git_run *run, struct git_store *store);
/* On the host's repository; in the private directory, read-only or to write. */
struct git_run git_on_host_write(struct git_store *store, const char *const *args);
/* The same for a change of references, there or in the private directory. */
struct git_run git_change(struct git_store *store, bool inwards, const char *const *args,
			  const char *changes);
struct git_run git_on_host(struct git_store *store, const char *const *args);
struct git_run git_in_private(struct git_store *store, const char *const *args, bool write);

/*
 * A directory of the host's repository. It may lie where sandboxes write, and while we look one of those may put a link
 * in the way, to what it may not reach itself. So no link is followed on the way to it, nor (git_is_strict()) in it; what is
 * reached by none is theirs. Or it may put another repository there: what is opened is the known one. A descriptor, or -1 with errno.
 */
int git_open_host(const struct git_store *store, const char *dir);

/* One round at a time in a repository, by a file in the state directory: the repository's own could be locked by a
 * command as well. Who has it is not waited for for ever. A descriptor, or -1 with errno; 0, or -1. */
int git_open_turn(const char *state, const char *common);
int git_take_turn(int fd);

/* The host's objects, and the same as a list of alternates. */
char *git_objects(struct git_store *store);
char *git_alternate(struct git_store *store);
