/* SPDX-License-Identifier: MIT */
/* What the files of the broker share; broker.h says what each is for. */
#pragma once

#include "guard/broker_state.h"
#include "guard/caller.h"

struct open_how;

/* Answer of a step: not in the broker's care, let the kernel do the call. */
enum { OUTSIDE = 100 };
/* Answer of a step: what stood in the way is arranged, let the kernel do the call. */
enum { RETRY = 101 };
/* Answer of a step: the call means another place now, and is looked at once more. */
enum { AGAIN = 102 };

/* Of the flags of an open file those that can be set. */
#define BROKER_SETTABLE (O_APPEND | O_DIRECT | O_NOATIME | O_ASYNC)

struct request;

/* Of a file of the host's: nobody becomes the user, or gets his group, by starting it. */
static inline mode_t plain_mode(mode_t mode)
{
	return mode & ~(mode_t)(S_ISUID | S_ISGID);
}

/* One call: who does it, and which argument is what (-1: there is none). */
struct row {
	const char *name;
	int (*fn)(struct request *r);
	int8_t dir, path;   /* a directory's descriptor (or the file's, without path) and a path */
	int8_t dir2, path2; /* the new name of link and rename */
	int8_t arg;         /* what else it takes, from here on */
	int8_t flags;       /* AT_ flags */
	int fixed;          /* flags that the call implies */
	bool names;         /* after it a path may lead elsewhere */
};

struct request {
	struct broker *b;
	const struct notify *notify; /* whom to answer */
	const struct seccomp_notif *notif;
	const struct row *row;
	struct task *task;
	int root; /* the caller's, borrowed or 'own_root' */
	int own_root;
	bool has_umask; /* our umask is the caller's now */
	bool has_turn;  /* nobody else changes anything */
	bool compat;    /* called with 32-bit conventions */
	bool is_known;  /* the task's entry was found to be the caller's */
	bool quiet;     /* a question and no attempt: not worth an event */
	bool nested;    /* the caller may have a root and mounts of its own */
	bool lent;      /* it is none of the sandbox's, but stands in a copy of its mounts */
	bool has_kept;  /* a place of its may have borrowed the kept directory */
	bool is_ahead;  /* the second path was read with the first one */
	char ahead[CALLER_PIECE];
};

/* A name in a directory, found in the sandbox's view, then in the writable tree. */
struct place {
	int view; /* the directory as the sandbox sees it, O_PATH; borrowed where it is the broker's 'kept' one */
	int object; /* the file itself, where no name led to it: by a descriptor, by /proc */
	int dir;    /* the directory in the writable tree; borrowed from the broker or 'own_dir' */
	int own_dir;
	bool is_kept;   /* the view is borrowed */
	bool slash;     /* the path ended in one */
	bool is_anchor; /* the writable place itself; no dir then */
	const struct anchor *anchor;
	bool exists;             /* st is filled */
	bool looked;             /* whether it does was asked */
	bool unmounted;          /* it lies in the directory itself, and is no mount's root */
	struct stat st;          /* in the sandbox's view, links not followed */
	char name[NAME_MAX + 2]; /* the last component, with '/' where the path had one;
				   * "": the directory itself ('.', '..', '/') */
	size_t dir_len;          /* of path */
	char path[PATH_MAX + NAME_MAX + 2]; /* resolved, absolute */
};

#define PLACE_NONE                                                 \
	{                                                          \
		.view = -1, .object = -1, .dir = -1, .own_dir = -1 \
	}
void place_release(struct place *p);
#define _cleanup_place_ _cleanup_(place_release)

/* ---- broker.c */
uint64_t request_arg(const struct request *r, int i);
/* The directory's descriptor that is this argument; AT_FDCWD where the call has none (-1). */
int request_dir(const struct request *r, int arg);
/* Reports and returns -EACCES. */
int request_denied(struct request *r, const char *path, const struct file_rule *rule,
		   const char *reason);
/* Reports a rename or link out of what is writable, or into it, and returns -EXDEV: who copies instead is judged by that.
 * made: there is no such name yet. */
int request_apart(struct request *r, const char *path, bool made);
/* Reports what the kernel is going to refuse, or did when we tried. */
void request_predicted(struct request *r, const char *path, bool made);
/* 0 when the caller is still there; call it between the last look at it and the deed. OUTSIDE: it does that itself. */
int request_check(struct request *r);
/* NOTIFY_DONE or -errno, from what a system call returned. */
int request_result(int ret);
int request_read_path(struct request *r, int arg, char buf[PATH_MAX]);
int request_read(struct request *r, int arg, void *buf, size_t len);
/* No link is followed; "": the directory itself. */
struct file_id file_id_at(int dir, const char *name);
bool id_ring_has(const struct id_ring *ring, struct file_id id);
void id_ring_add(struct id_ring *ring, struct file_id id);
void id_ring_drop(struct id_ring *ring, dev_t dev, ino_t ino);
/* "/proc/self/fd/N" */
const char *fd_path(int fd, char buf[32]);

/* ---- broker_task.c */
/* Finds or makes the caller's entry; 0 or -errno. */
int task_find(struct request *r);
/* An O_PATH descriptor of what lies in the caller's /proc directory: "cwd", "root", "fd/7". */
int task_open(struct request *r, const char *name);
/* What the caller's working directory or its descriptor is called, as far as is known; NULL: nothing is.
 * Until the next walk. */
const char *task_directory(struct request *r, int dirfd);
void tasks_forget_directories(struct broker *b);
int do_chdir(struct request *r);
/* The caller's umask becomes ours until it is given back, when the call was served at the latest. 0 or -errno. */
int task_take_umask(struct request *r);
void task_give_umask(struct request *r);
/* The process (or the thread) as it is called in its own namespace. */
int task_number(struct request *r, bool thread, char buf[32]);
int do_umask(struct request *r);

/* ---- broker_kept.c */
/* Somebody calls: so it has come to where it was going. */
void kept_arrived(struct broker *b, uint32_t tid);
/* The caller is about to go elsewhere. */
void kept_leave(struct broker *b, uint32_t tid);
/* Its working directory, O_PATH; -errno. Where it is not kept, it becomes the caller's to close as well. */
int kept_start(struct request *r, int *ret_own);
void kept_release(struct broker *b);

/* ---- broker_turn.c */
/* From the first look at what is to be changed; 0 or -errno. It is given back when the call was served. */
int turn_take(struct request *r);
void turn_give(struct request *r);

/* ---- broker_walk.c */
enum { PROC_ROOT_INO = 1 };
/* Where a path starts: the caller's working directory or its descriptor; -errno. */
int walk_start(struct request *r, int dirfd);
/* Of a procfs: a link there leads to a file and not to a name. */
bool in_proc(int fd);
/* A directory, all links followed, O_PATH; 'links' counts. */
int walk_dir(struct request *r, int start, const char *path, int *links);
/* The same, a component at a time. */
int walk_by_hand(struct request *r, int start, const char *path, int *links);

/* ---- broker_watch.c */
/* Without looking further: no mount is going to refuse the call. */
bool watch_passes(struct request *r);

/* ---- broker_find.c */
/* Finds the place that a path means. 0, OUTSIDE, -errno. */
enum follow {
	FOLLOW = 1,     /* a link as the last component */
	FOLLOW_NEW = 2, /* unless a '/' comes after it, which no new file can have */
};
int place_find(struct request *r, int dirfd, const char *path, int follow, struct place *p);
/* The caller may have another root than the sandbox has (--allow-nested): r->root is its own from then on. */
int place_set_root(struct request *r);
/* Which makes the kernel follow a link, whatever the call says. */
bool ends_in_slash(const char *path);
/* What exists at the place, into p->st; 0 also when nothing does. */
int place_stat(struct place *p);

/* ---- broker_place.c, broker_path.c, broker_nested.c */
/* The name without the slash that the path may have had. */
const char *place_bare_name(const struct place *p, char buf[NAME_MAX + 2]);
int place_take_name(struct place *p, const char *name, size_t n);
/* The place of an open file, which it is in the sandbox's view; takes the descriptor. */
int place_of(struct request *r, int object, struct place *p);
/* The writable place that an open file lies in, whatever the caller mounted where; its path, as we have it,
 * becomes the host's. NULL: none is known. */
const struct anchor *place_by_mount(struct request *r, int fd, char *path, size_t size);
/* Finds the directory in the writable tree, and the resolved path. 0, OUTSIDE, -errno. */
int place_map(struct request *r, struct place *p);
/* The current path of a descriptor, in the mount tree that the file lies in: its length, 0 where
 * there is none, -errno. */
int place_path(struct broker *b, int fd, char buf[PATH_MAX]);
/* The same of a directory, faster, and then it is known that it has not been removed. */
int place_dir_path(struct request *r, int fd, char buf[PATH_MAX], bool *ret_is_there);
/* Once, before that. */
void place_settle(struct broker *b);
/* Of the first n bytes. */
unsigned place_hash(const char *path, size_t n);
/* Turns a path of the sandbox's into the host's, in place: false where the file is the sandbox's own.
 * size is the buffer's; what does not fit is nobody's. */
bool place_to_host(struct broker *b, char *path, size_t size);
/* Before another place is mapped: makes the directory this place's own. */
int place_keep(struct place *p);
/* The path may lie where the rules have a say about writing. */
bool place_is_ours(struct broker *b, const char *path);
/* The sandbox sees at the place what is there. */
bool place_is_same(const struct place *p);
/* The kernel will refuse it, and that is worth an event. Returns OUTSIDE. */
int place_outside(struct request *r, struct place *p, bool creates);
/* Whether what has this name there lies on a read-only mount; it may be one of its own. */
bool place_is_readonly(int dir, const char *name);
/* Both of place_find() with the row's first path, and place_map(). */
int place_get(struct request *r, struct place *p, int follow);
/* Another name in the directory of a mapped place, mapped as well; -EINVAL where that is not so
 * simple. */
int place_beside(const struct place *p, const char *name, struct place *ret);
/* An O_PATH descriptor of the file itself, in the writable tree. */
int place_open(const struct place *p);

/* ---- broker_git.c */
enum git_act {
	GIT_CREATE, /* a link, a node, a socket, a file without a name */
	GIT_OPEN,   /* a new file or a write into one */
	GIT_MKDIR,
	GIT_TOUCH, /* only what is known about it */
	GIT_REMOVE,
	GIT_REPLACE, /* a rename onto it, whose content can be looked at */
	GIT_LEAVE,   /* a rename away from it */
};
/* Decides on a write: the rules, then what is known about git. 0 or -errno (reported). */
int judge(struct request *r, struct place *p, enum git_act act);
/* What stays to be asked where the rules have allowed it. */
int git_judge_name(struct request *r, struct place *p, enum git_act act);
/* A symbolic link is about to stand in a place of git's. 0 or -errno (reported). */
int git_judge_link(struct request *r, struct place *p, const char *text);
/* A directory is about to be moved there. */
int git_judge_dir(struct request *r, const struct place *from, struct place *to);
/* A rename that the rules refuse, or onto git's configuration. 0: not git's business; 1: it was
 * done, -errno. */
int git_replace(struct request *r, struct place *from, struct place *to,
		const struct file_rule *rule);
/* A directory was made. */
void git_made_dir(struct request *r, const struct place *p);
/* .git/worktrees/ID/commondir, the one file of these that is written in place. 0: it is not that. */
int git_open_commondir(struct request *r, struct place *p, int flags);

/* How much of the place's path is the git directory that it lies in, at any depth; 0: in none. */
size_t git_dir_len(const struct place *p);
/* Would git take the directory, with this name added, for one of its own? */
bool git_is_dir(int dir, const char *added, size_t len);

/* No name that git obeys, and in no directory of such. */
bool git_means_nothing(const struct place *p);

/* The settings have not lifted the protection of a name: allowGitConfig, protect.remove. */
bool git_protects(const struct request *r, const char *name);

/* ---- broker_twins.c */
/* A file with several names is about to be changed in place. 0, or -errno where one of them may not be written (reported). */
int twins_judge(struct request *r, const struct place *p);

/* ---- broker_hooked.c */
/* Before the rules are asked about a place: what hooks of the repositories around it lead to. */
void hooked_look(struct request *r, const struct place *p);
/* ... and of the one that the place itself is, which is about to be moved. */
void hooked_look_in(struct request *r, const struct place *p);
/* There are other rules. */
void hooked_extend(struct broker *b);
void hooked_release(struct broker *b);

/* ---- broker_lately.c */
/* A call comes: whether the clock has gone on. */
void lately_begin(struct broker *b);
bool lately_has(const struct path_map *lately, const char *dir, size_t len);
void lately_add(struct path_map *lately, const char *dir, size_t len);
/* Of all kinds: a directory is about to be another, or to be git's. */
void lately_forget(struct broker *b);

/* ---- broker_gate.c: with a gate, instead of what broker_git.c does */
/* 0, RETRY or -errno (reported). */
int gate_judge(struct request *r, struct place *p, enum git_act act);
/* A directory comes to the place by a rename. */
int gate_judge_dir(struct request *r, const struct place *from, struct place *to);
/* Somebody is about to go to a directory. */
void gate_entered(struct request *r);
/* It is to be made private. */
bool gate_makes(const struct request *r, const struct place *p);
int gate_mkdir(struct request *r, struct place *p, mode_t mode);
int gate_open(struct request *r, struct place *p, int flags);

/* ---- broker_private.c */
/* Before a change that is allowed. 0 or -errno (reported). */
int private_judge(struct request *r, const struct place *p);
/* A clone of a private repository is about to say where it has objects from. */
void private_lend(struct request *r, const struct place *from, const struct place *to);
/* The name of the place for what we have opened in it, in the buffer of a path; its new length. */
int private_name(const struct broker *b, char buf[PATH_MAX], int len);
/* May it be read? The host's own objects that stand in a private place count by the host's name of them as well. */
struct file_verdict private_read(const struct broker *b, const char *path);

/* ---- broker_repository.c */
/* Before a change that is allowed, in no private place: 0, AGAIN, or -errno (reported). */
int repository_judge(struct request *r, const struct place *p);
/* Somebody is about to go to a directory. */
void repository_entered(struct request *r);
/* A directory has another name: so have those below it. */
void repository_moved(struct request *r, const char *old, const char *new, bool exchanged);

/* ---- the rows of broker_open.c, broker_names.c and broker_attrs.c */
int do_open(struct request *r);
int do_openat2(struct request *r);
int do_mkdir(struct request *r);
int do_mknod(struct request *r);
int do_symlink(struct request *r);
int do_link(struct request *r);
int do_rename(struct request *r);
int do_unlink(struct request *r);
int do_bind(struct request *r);
int do_chmod(struct request *r);
int do_chown(struct request *r);
int do_truncate(struct request *r);
int do_access(struct request *r);
int do_utime(struct request *r);
int do_xattr(struct request *r);

/* ---- broker_inject.c */
/* Puts the descriptor into the caller as the call's result. */
int open_inject(struct request *r, int fd, int flags);
/* Of the sandbox's own view: a directory will do as well. */
int open_inject_any(struct request *r, int fd, int flags);
/* A regular file: who only reads it keeps nobody from starting it. */
int open_inject_file(struct request *r, int fd, int flags);
/* open_inject() of a file whose mode was seen before; of a new one that which it was to have. */
int open_inject_as(struct request *r, int fd, int flags, mode_t mode);

/* ---- broker_later.c */
/* A child waits until the file, which an O_PATH descriptor holds, can be opened, and answers. */
int open_later(struct request *r, int object, int flags);
void workers_reap(struct broker *b);
/* Those that answer there; NULL: all. */
void workers_end(struct broker *b, const struct notify *notify);

/* ---- broker_seen.c */
/* The directory that an absolute path is in, and the name; NULL: nothing is known of it. For looks alone:
 * it may be elsewhere by now. */
const struct seen *seen_find(struct request *r, const char *path, bool at_once,
			     const char **ret_name);
/* Some path may lead elsewhere from now on. */
void seen_forget(struct broker *b);
/* The kernel's clock, which goes on every few milliseconds, has done so since that time, which is now. */
bool clock_ticked(struct timespec *at);
void seen_release(struct broker *b);

/* ---- broker_cover.c */
/* The sandbox can be looked into. */
void covers_enter(struct broker *b);
/* Where one is gone, reads are decided on. Looks once in a tick of the kernel's clock. */
void covers_check(struct broker *b);
/* Of this caller's paths nothing can be told by a look. */
bool covers_are_others(struct request *r);

/* ---- broker_view.c */
/* The file that the place is, as the sandbox sees it; 0 or -errno. */
int view_find(struct place *p);
/* False for a file that came from outside by a descriptor: standard input, say. What has no name
 * (any more) is nobody else's. */
bool in_view(struct request *r, int object, const struct stat *st);
int view_open(struct request *r, struct place *p, int flags);
/* A file that is not there. AGAIN: now it is. */
int view_make(struct request *r, const char *path, int flags, mode_t mode);

/* ---- broker_read.c */
int open_read(struct request *r, const char *path, int flags);
/* The same by openat2(2), whatever it is to open that is there. -ENOSYS: callers know how to do without. */
int open_resolved(struct request *r, const char *path, const struct open_how *how);
/* Where mounts decide: OUTSIDE, or -EACCES, reported, where they would refuse it as well. */
int look_at_read(struct request *r, const char *path, int flags);
