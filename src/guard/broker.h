/* SPDX-License-Identifier: MIT */
/*
 * The broker: does the changes to files that a sandbox may make, in its place, or says no.
 *
 * The sandbox sees every file read-only. Each call of its that changes one stops in the kernel
 * (data/seccomp/notify-files.list) and comes here. The arguments are copied once, the name is
 * resolved as the caller would have (its own root, directories, links), the rules decide on the
 * place that was found, and the broker makes the change there itself, on descriptors. A call that
 * leads elsewhere goes on in the kernel, where all is read-only or the sandbox's own: so CONTINUE
 * gives nothing away, whatever a caller swaps meanwhile, and without the broker all fails.
 *
 *	broker_call()      which call, by the rows of broker.c
 *	broker_task.c      the caller: working directory, descriptors, umask
 *	broker_kept.c      ... where it was a moment ago
 *	broker_find.c      a path to a directory and a name, in the sandbox's view
 *	broker_walk.c      ... the way to the directory
 *	broker_place.c     the same directory in the tree that can be written; the rules
 *	broker_nested.c    ... of callers that have mounts of their own
 *	broker_path.c      what an open file is called now
 *	broker_open.c      opening
 *	broker_later.c     ... of what may wait, by a child
 *	broker_inject.c    the descriptor is put into the caller
 *	broker_names.c     names made, moved and removed
 *	broker_attrs.c     modes, owners, times, attributes, lengths
 *	broker_view.c      ... in the sandbox's own view
 *	broker_read.c      reads: decided on, or looked at while mounts decide
 *	broker_seen.c      where such looks were lately
 *	broker_watch.c     nothing is decided, and what mounts refuse is told of
 *	broker_cover.c     whether these mounts are still there
 *	broker_turn.c      one change at a time, of all sandboxes of a user
 *	broker_twins.c     files with several names
 *	broker_hooked.c    files that hooks are links to
 *	broker_lately.c    of which directories something was found out in this moment
 *	broker_git.c       git's own files, by content ('wrapix exec')
 *	broker_gate.c      git's own files, made private ('wrapix run')
 *	broker_private.c   git directories that are private ('wrapix exec')
 *	broker_repository.c   ... from the moment that a command comes to them
 *
 * Where the sandbox has names of its own for parts of the host's tree ('wrapix run'), a place is turned
 * into the host's name of it before the rules see it.
 *
 * One process serves one call after the other, nothing else of the sandbox can change a brokered tree, and
 * other sandboxes' brokers wait for their turn: between the decision and the deed nothing inside can move a directory
 * away.
 */
#pragma once

#include "guard/notify.h"
#include "spec/file_rules.h"
#include "spec/protect.h"

struct broker;
struct gate;
struct sockaddr_un;
struct stat;

/* A refusal. The strings live until the function returns; what is in them is hostile. */
struct broker_denial {
	const char *call;             /* "openat" */
	const char *path;             /* resolved, absolute */
	const struct file_rule *rule; /* NULL: nothing allows it, or git's own rules refuse it */
	const char *reason;           /* NULL, or what is wrong beyond the rule */
	bool made;                    /* it is not there, and was to be made */
	bool predicted;               /* the call goes on, and the kernel will refuse it */
	pid_t pid;
	uint64_t site; /* where in the caller's memory the call is */
};

/* A git directory, and what the sandbox has instead. */
struct broker_gitdir {
	const char *path;
	const char *private;       /* NULL: nothing is changed there */
	const char *objects, *lfs; /* the host's, to be seen in it; or NULL */
	bool fixed;                /* what belongs to the files of its own is not changed */
};

struct broker_hooks {
	void (*on_denied)(void *ctx, const struct broker_denial *denial);
	/* With a gate, before each change. NULL: nobody asks. */
	enum protect_answer (*on_change)(void *ctx, const struct protect_change *change,
					 const char **ret_reason, size_t *ret_held);
	/* A socket of the caller's has got the name that it wanted; its file. NULL: nobody asks. */
	void (*on_bound)(void *ctx, int socket, int file, const struct sockaddr_un *name,
			 size_t len);
	/* Something in this place of broker_add_private() is about to change, for the first time. */
	void (*on_private)(void *ctx, const char *path);
	/* A git directory of the host's is about to be worked in, that of 'dir' (NULL: it is known by itself). Says what
	 * stands for it, and for those that belong to it, from now on; 0: it is judged by content. 'made': by
	 * the command. Without 'gitdir': some of those before were moved. NULL: nobody asks. */
	size_t (*on_gitdir)(void *ctx, const char *dir, const char *gitdir, bool made,
			    const struct broker_gitdir **ret);
	void *ctx;
};

/* A place of the sandbox's, and what it shows of the host's: the rules speak of the host's names. What they allow
 * is changed there where broker_take_tree() brings a tree to do it in. */
struct broker_map {
	const char *inside, *host; /* absolute, clean */
};

struct broker_view {
	/* NULL: the sandbox has the host's own names, and may write where the rules allow something. */
	const struct broker_map *maps;
	size_t n;
	enum file_reads reads; /* what opening for reading takes */
	/* Names that git obeys are made private; taken over. NULL: judged by content. */
	struct gate *gate;
	/* A file out of the sandbox's reach: brokers that have the same one change something one after the other. NULL:
	 * there is no other. */
	const char *turn;
	bool watches; /* mounts decide alone: every call goes on, and what they are going to refuse is told of */
};

/* Opens the writable places; the rules must outlive the broker. */
int broker_new(struct broker **ret, const struct file_rules *rules, const struct broker_view *view,
	       const struct broker_hooks *hooks, struct err *err);
void broker_free(struct broker *broker);

/*
 * Before the first call: whom to answer, and the sandbox's root directory (taken over). 'nested':
 * processes inside may have roots and mounts of their own, and each caller's own are used.
 */
void broker_enter(struct broker *broker, const struct notify *notify, int view, bool nested);

/* Before the first call: the tree of a map, by its name inside, to write in; taken over. Its files have
 * the names that they have inside. */
void broker_take_tree(struct broker *broker, const char *inside, int fd);

/*
 * Before the first call: a directory that the sandbox sees, read-only, in place of the host's. What the rules allow
 * is changed in the one that fd is, which is taken over; -1: nothing is. The innermost comes last.
 */
void broker_add_private(struct broker *broker, const char *path, int fd, bool fixed);

/* Before broker_enter(): a mount that stands for a denied directory. 'passed': something in it can be read. */
void broker_add_cover(struct broker *broker, const char *path, bool passed);

/* From the next call on; when it fails the old ones stay. Where reading was watched it is decided on
 * from now on: no mount stands for a new rule. */
int broker_set_rules(struct broker *broker, const struct file_rules *rules, struct err *err);

/* A notify_fn for the calls of seccomp_notify_files and seccomp_notify_reads. */
int broker_call(void *broker, const struct seccomp_notif *call);

/*
 * The same for who is not in the sandbox but in a copy of its mounts, and asks by a listener of its own
 * (engine/native/lend.h). What would have to be mounted for the sandbox is refused to it. Before the
 * listener goes it is forgotten.
 */
int broker_call_lent(struct broker *broker, const struct notify *notify,
		     const struct seccomp_notif *call);
void broker_forget(struct broker *broker, const struct notify *notify);

/* The sandbox itself bound the socket at this file, and the file system says that it is that file still. */
bool broker_bound(const struct broker *broker, int file);
