/* SPDX-License-Identifier: MIT */
/*
 * The builder that runs, or is to. There is one for each user: whoever starts or stops it holds a lock
 * meanwhile, so that two starts make one machine.
 */
#pragma once

#include "builder/builder.h"

/* Where its programs come from. */
struct builder_root {
	char *image; /* its name; NULL: this machine's own programs */
	char *dir;   /* where it is unpacked; NULL: nowhere */
	char *ref;   /* what podman or container call it */
	char *stamp; /* what the store is filled from: changes with the image */
};

struct builder_machine {
	bool running;
	enum engine_kind engine;
	pid_t pid; /* of the supervisor; 0: somebody else's */
	uint64_t port;
	int64_t started;
	char *root;     /* the image, or "host" */
	char *settings; /* as a text, to compare */
};

/* Looks. What a killed one has left is no machine. */
int builder_look(struct builder *builder, struct builder_machine *ret, struct err *err);
/* Starts it and waits until it can be used: 0, or 1 when it was running. */
int builder_start(struct builder *builder, struct err *err);
/* 0, or 1 when there was none. */
int builder_stop(struct builder *builder, struct err *err);
/* Somebody starts or stops it just now. To ask sshd would be a visit, which keeps it from stopping. */
bool builder_is_locked(struct builder *builder);
/* Which engine that would be. */
enum engine_kind builder_engine(const struct builder *builder);

/* What each way of running one does. */
struct builder_kind {
	enum engine_kind engine;
	unsigned patience;  /* seconds until it must greet */
	const char *listen; /* where sshd listens, inside */
	/* Returns when it is on its way; *ret_watch then has a descriptor that becomes readable when it
	 * failed (a struct err, or nothing), or -1. */
	int (*start)(struct builder *builder, const struct builder_root *root, int *ret_watch,
		     struct err *err);
	int (*alive)(struct builder *builder, bool *ret_alive, pid_t *ret_pid, struct err *err);
	int (*stop)(struct builder *builder, struct err *err);
};
extern const struct builder_kind builder_native, builder_podman, builder_apple;

/* root.c: finds or makes it. */
int builder_find_root(struct builder *builder, enum engine_kind engine, struct builder_root *ret,
		      struct err *err);

/* Gives it to "podman" under its ref. */
int builder_load_root(struct builder *builder, const struct builder_root *root, const char *into,
		      struct err *err);

/* store.c: fills builder->nix from the image, where it has not been. */
int builder_fill_store(struct builder *builder, const struct builder_root *root, struct err *err);

/* The words of a program that shows what a virtual machine says; the others' log is a file. */
int builder_log_words(struct builder *builder, bool follow, const char *lines, struct strv *ret,
		      struct err *err);

/* Where the stage of the one that runs is; what it says. */
char *builder_stage(struct builder *builder);
char *builder_log(struct builder *builder);
