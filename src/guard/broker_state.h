/* SPDX-License-Identifier: MIT */
/* What the broker knows from one call to the next; broker_priv.h has what it knows of one call. */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "guard/broker.h"
#include "spec/file_denied.h"

/* Links on one path, as the kernel has it, and what their texts can come to. */
enum { LINKS_MAX = 40, BROKER_REST = (LINKS_MAX + 2) * PATH_MAX };

enum {
	BROKER_TASKS = 128,
	BROKER_DIRS = 64,
	BROKER_IDS = 1024,
	BROKER_WORKERS = 64,
	BROKER_SEEN = 64,
	BROKER_NEWS = 2
};

/* A directory that can be written, and what it is called inside and outside. Of one without
 * a descriptor only the names are known. */
struct anchor {
	const char *inside; /* the same as path, where the sandbox has the host's names */
	size_t inside_len;
	const char *path;
	size_t len;
	int fd;
	/* Of broker_private.c: something else stands there than on the host, which calls that so ("":
	 * nobody changes it). NULL: of any other. */
	const char *home;
	bool changed; /* something in it was, of such a one */
	bool fixed;   /* HEAD, the index and the like stay as they are */
};

/* A thread that called, as long as its directory in /proc is its own. */
struct task {
	uint32_t tid, tgid;
	int proc;                 /* /proc/TID, O_PATH; -1: free */
	int umask;                /* -1: not read yet */
	char *cwd;                /* NULL: not asked yet */
	struct timespec known_at; /* when it was seen to be still itself */
};

/* The working directory of the last caller, which may use it again. */
struct kept {
	uint32_t tid; /* of who was in one last, whether it is kept or not */
	int fd;       /* O_PATH; -1: it is not */
	dev_t dev;
	ino_t ino;
	struct timespec at;
	uint32_t movers[32]; /* threads that were about to go elsewhere, not heard of since */
	size_t n_movers;
	bool is_over; /* there were more */
};

/* A directory of the writable tree that was used lately. */
struct dir {
	char *path;
	int fd;
	dev_t dev;
	ino_t ino;
};

/* A directory of the sandbox's view that a call was looked at in lately. */
struct seen {
	char *path; /* NULL: free */
	size_t len;
	int fd; /* O_PATH */
	unsigned round;
	uint8_t state;
	bool readonly;
};

/* A number that is free again is soon another file's, which was born later. */
struct file_id {
	dev_t dev;
	ino_t ino;    /* 0: there is none */
	int64_t born; /* nanoseconds; 0: the file system does not say */
};

/* The last BROKER_IDS files of a kind. */
struct id_ring {
	size_t next;
	struct file_id ids[BROKER_IDS];
};

struct worker {
	pid_t pid; /* 0: free */
	uint64_t id;
	const struct notify *notify;
	struct broker *broker;
	struct loop_source end; /* its pidfd; -1: none, and it is reaped with the next call */
};

struct broker {
	struct arena arena;
	const struct file_rules *rules, *given; /* 'given' is without those of broker_hooked.c */
	struct broker_hooks hooks;
	const struct notify *notify;
	int view, proc, own_fds; /* the sandbox's root, /proc, /proc/self/fd */
	int home;                /* our working directory; -1: it is not left */
	struct timespec home_at; /* when it could be gone back to */
	enum file_reads reads;
	struct strv covers; /* mounts that stand for denied directories */
	struct strv passed; /* of them, those in which something can be read */
	bool holed;         /* one of these says of names in it that they are not there */
	struct timespec covers_seen;
	/* The namespace that has them, as /proc calls it; "": nobody was looked at yet. */
	char mounts[32];
	bool nested, has_caps, mapped; /* mapped: names inside are not the host's */
	bool watches;          /* nothing is done or refused here, so no right is given up for it */
	uint64_t writable[16]; /* the last mounts that were found to be so, by their numbers */
	unsigned n_writable;
	mode_t umask; /* our own */
	size_t n_workers;
	struct path_map anchored; /* the directories of rules that have an anchor */
	struct anchor *anchors;
	size_t n_anchors;
	struct task tasks[BROKER_TASKS];
	struct kept kept;
	struct dir dirs[BROKER_DIRS];
	struct seen seen[BROKER_SEEN];
	unsigned seen_round; /* what was seen in an earlier one is forgotten */
	struct timespec seen_at;
	struct gate *gate; /* 'wrapix run'; NULL: none */
	size_t n_private;  /* of the anchors, the first ones */
	struct id_ring bound, git_dirs, by_content;
	unsigned news;         /* files in a row that were made where one could have been there */
	const char *turn_path; /* NULL: there is none to wait for */
	int turn;              /* -1: not opened yet */
	struct path_map plain; /* directories that lie in no git directory */
	struct path_map hooked_dirs; /* of which, and of all above, the hooks are known */
	struct timespec lately_at;   /* when both began */
	struct path_map looks;       /* at hooks, by the directory that has the '.git' */
	struct file_denied hooked;   /* what these lead to */
	struct file_rules own;       /* those that were given, borrowed, and that */
	struct worker workers[BROKER_WORKERS];
	uint32_t arch;          /* the machine's own; any other is its 32-bit sister */
	uint8_t rows[2][1024];  /* by arch and number: one more than the row; 0: none */
	char rest[BROKER_REST]; /* of a walk's path; what task_directory() read */
};
