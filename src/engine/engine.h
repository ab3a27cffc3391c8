/* SPDX-License-Identifier: MIT */
/* What every engine offers: carry out a plan, tell what happens, give back the exit status. */
#pragma once

#include "plan/plan.h"
#include "spec/protect.h"

struct loop;
struct net_event;
struct key_event;
struct denial;

enum engine_event {
	EVENT_STARTED,
	EVENT_QUIET, /* nothing happened for a while, for the first time */
	EVENT_STOPPED,
	EVENT_CONTINUED,
	EVENT_EXITED
};

/* A running sandbox, for changing its rules. */
struct engine_live;

/* The rules that it is to have from now on, all of them. */
struct engine_rules {
	struct strv allow, deny;        /* hosts; only with a filtered network */
	struct strv denied_resolved;    /* addresses that no name may lead to */
	const struct file_rules *files; /* must live as long as they are in force; NULL: none */
};

/* All of it or nothing. While the change is made nothing is allowed that the old or the new rules
 * refuse. */
int engine_set_rules(struct engine_live *live, const struct engine_rules *rules, struct err *err);

/* Ends it at once. */
void engine_kill(struct engine_live *live);

struct broker_gitdir;

struct engine_hooks {
	/* The file rules or the rule for UNIX sockets refused something, or a limit was reached or is about to
	 * be (session/denial.h). The strings live during the call; pid is the thread's on the host, 0 where the
	 * denial has its owner. */
	void (*on_denied)(void *ctx, const struct denial *denial, pid_t pid);
	/* Something was denied on the filtered network, or a connection of it ended. */
	void (*on_network)(void *ctx, const struct net_event *event);
	/* A signature was made with a deploy key, or refused. */
	void (*on_key)(void *ctx, const struct key_event *event);
	/* Asked once, a while after EVENT_STARTED, where rules can change: for the listening socket of
	 * the session (session/control.h), which the engine takes over; negative: there is none. */
	int (*take_control)(void *ctx);
	/* Before the command starts: a listening socket inside, for the relay of this credential of the
	 * plan's. It is taken over, also when this fails. */
	int (*take_relay)(void *ctx, size_t credential, int listener, struct err *err);
	/* A part of the sandbox failed while it ran, and stays closed. */
	void (*on_failure)(void *ctx, const struct err *err);
	/* The gate is about to cover a git directory of the host's: asked for a private one, as the place of
	 * that number (guard/gate.h). 0 or -errno. NULL: there never is one. */
	int (*on_repository)(void *ctx, const char *path, unsigned number);
	/* With a gate, before each change to the project (spec/protect.h). NULL: nobody asks. */
	enum protect_answer (*on_change)(void *ctx, const struct protect_change *change,
					 const char **ret_reason, size_t *ret_held);
	/* Something in this directory of engine_session.private, or of on_gitdir, is about to change. Once. */
	void (*on_private)(void *ctx, const char *path);
	/* As broker_hooks.on_gitdir. */
	size_t (*on_gitdir)(void *ctx, const char *dir, const char *gitdir, bool made,
			    const struct broker_gitdir **ret);
	/* A line that the user should see while it runs. */
	void (*on_note)(void *ctx, const char *text);
	/* At the end, where a group of the kernel's counted. */
	void (*on_peaks)(void *ctx, const struct cgroup_peaks *peaks);
	/* value: the host pid, the stop signal, nothing, the wait status */
	void (*on_event)(void *ctx, enum engine_event event, int value);
	/* Asked before the command runs, where it has a terminal: takes the master over, and carries its
	 * bytes. NULL: the engine does. */
	void (*take_terminal)(void *ctx, int master);
	/* A copy of what passes on the terminal, from the user or to him. */
	void (*on_terminal)(void *ctx, bool from_user, const char *bytes, size_t len);
	/* The supervisor's loop: guests may be added. NULL: it ends, and they must be gone. */
	void (*on_loop)(void *ctx, struct loop *loop);
	/* Asked once, before the loop runs: what engine_set_rules() takes from then on. NULL: it ends. */
	void (*on_live)(void *ctx, struct engine_live *live);
	bool stays; /* this process does not stop with the command; SIGCONT is passed on */
	void *ctx;
};

struct engine_spare;
struct gate_place;

/* A directory of the host's that the command has another one of: the plan mounts it, read-only, and the
 * supervisor changes it. */
struct engine_private {
	const char *path;
	int fd;     /* borrowed; -1: nothing is changed there */
	bool fixed; /* as broker_gitdir's */
};

struct engine_session {
	const char *id;
	const char *layers; /* the directory of its copy-on-write layers; NULL: none */
	/* The directory of an image's changes; NULL: they are in memory. */
	const char *image_changes;
	struct engine_spare *spare; /* taken over, and used where it fits; NULL: none */
	int gate; /* the directory of the gate's list, where the plan has a gate */
	const struct engine_private *private; /* as broker_add_private() takes them */
	size_t n_private;
	const char *turn;                 /* as broker_view.turn */
	const struct gate_place *carried; /* what is held of earlier sessions (guard/gate.h) */
	size_t n_carried;
	int asks; /* of a sandbox around, whose supervisor changes its files: it takes our listener by
		   * this (engine/native/lend.h); 0: none */
	bool asks_reads; /* and decides what is read of them */
	/* Not NULL: PID 1 need not be waited for where nobody else is left inside. Then it is our child
	 * still, on its way out, and this its pid; else 0. */
	pid_t *ret_left;
};

/*
 * A sandbox that was begun before its command is known: this part of a plan (plan_exec_begin()) is
 * carried out while the caller does other things. Plans that continue it start sooner. It holds a copy
 * of the mounts and nothing else of the user's, and ends with the calling process. None of its
 * descriptors is below 'floor'. 'at_once': its command comes as soon as it can be ready, which is what a
 * processor of its own is for. The plan is taken over. NULL: it cannot be made here.
 */
struct engine_spare *native_spare(struct plan *begun, int floor, bool at_once);
/* A descriptor on which poll() finds POLLPRI once it cannot be used any more. */
int native_spare_fd(const struct engine_spare *spare);
void native_spare_free(struct engine_spare *spare);

/* ret_status is a wait status. */
int native_run(const struct plan *plan, const struct engine_session *session,
	       const struct engine_hooks *hooks, int *ret_status, struct err *err);
/* Single commands on macOS. */
int seatbelt_run(const struct plan *plan, const struct engine_session *session,
		 const struct engine_hooks *hooks, int *ret_status, struct err *err);
/* Whether this machine can have that engine at all: a plan can be made anywhere. */
int apple_check(struct err *err);
int apple_run(const struct plan *plan, const struct engine_session *session,
	      const struct engine_hooks *hooks, int *ret_status, struct err *err);
int podman_run(const struct plan *plan, const struct engine_session *session,
	       const struct engine_hooks *hooks, int *ret_status, struct err *err);
