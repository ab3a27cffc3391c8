/* SPDX-License-Identifier: MIT */
/*
 * Apple's 'container' program: the words of its command line, what it answers, what this release can do.
 * No idea of wrapix; whoever wants a container on a Mac writes a command line with these and runs it:
 *
 *	struct strv words = { 0 };
 *
 *	strv_add(arena, &words, program);
 *	strv_add(arena, &words, "run");
 *	container_add_option(arena, &words, "--name", "my-name");
 *	r = container_add_dir(arena, &words, "/Users/me/p", "/workspace", false, err);
 *	r = container_add_port(arena, &words, 2222, 22, err);       (on 127.0.0.1 alone)
 *	container_add_memory(arena, &words, 4ULL << 30);
 *	container_add_image(arena, &words, image);                  ("--" and the image: the command follows)
 *	strv_add(arena, &words, "/bin/sh");
 *
 * and asks before: container_version() >= CONTAINER_OLDEST, container_service_runs(), container_has_image();
 * and afterwards: container_inspect(). Every function that cannot say what is asked of it in container's own
 * grammar, which has no escaping, refuses and says why.
 *
 * Everything was written from its documentation and source (0.8 to 1.4); nothing was run on a Mac.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* 10203: 1.2.3 */
#define CONTAINER_VERSION(major, minor, patch) ((major)*10000u + (minor)*100u + (patch))
/* Before it, an archive of an image could write outside its directory (CVE-2026-20613). */
#define CONTAINER_OLDEST CONTAINER_VERSION(0, 8, 0)
/* From it on a socket of the host's is relayed into the guest, and there is '--network none'. */
#define CONTAINER_RELAYS CONTAINER_VERSION(1, 1, 0)

/* --- words --- */

/* An option and its value, as two words. */
void container_add_option(struct arena *arena, struct strv *words, const char *option,
			  const char *value);
void container_add_env(struct arena *arena, struct strv *words, const char *name,
		       const char *value);
/* A label's value has no '='. */
int container_add_label(struct arena *arena, struct strv *words, const char *name,
			const char *value, struct err *err);
/* A directory of the host's, which must exist: --volume, or --mount where a colon stands in a path. */
int container_add_dir(struct arena *arena, struct strv *words, const char *src, const char *dest,
		      bool read_only, struct err *err);
/* A listening socket of the host's, which the guest may connect to (CONTAINER_RELAYS). No link may lead to
 * dest in the guest: /run, not /var/run. */
int container_add_socket(struct arena *arena, struct strv *words, const char *src, const char *dest,
			 struct err *err);
/* A TCP port of the guest's, on the host's loopback. */
int container_add_port(struct arena *arena, struct strv *words, unsigned host, unsigned guest,
		       struct err *err);
/* Rounded up to a MiB, which is what there is. */
void container_add_memory(struct arena *arena, struct strv *words, uint64_t bytes);
/* Without the "--" options of the guest's command would be taken for container's own. */
void container_add_image(struct arena *arena, struct strv *words, const char *image);

/* --- what it answers --- */

enum container_state {
	CONTAINER_NONE, /* there is none of that name */
	CONTAINER_STOPPED,
	CONTAINER_RUNNING,
	CONTAINER_BETWEEN, /* it is being made or ended */
};

struct container_info {
	char *id;
	enum container_state state;
	struct strv labels; /* "NAME=VALUE" */
};

struct container_network {
	char *subnet, *gateway; /* IPv4; NULL: not said */
};

/* "container CLI version 1.2.0 (build: release, commit: 1234567)"; 0: something else. */
unsigned container_parse_version(const char *text);
/* Of 'list --format json' and 'inspect', in both shapes that they have had. */
int container_read_list(struct arena *arena, const char *text, size_t len,
			struct container_info **ret, size_t *ret_n, struct err *err);
/* Of 'network inspect NAME', in both shapes. */
int container_read_network(struct arena *arena, const char *text, size_t len,
			   struct container_network *ret, struct err *err);

/* --- asking it --- */

unsigned container_version(const char *program); /* 0: it does not say */
bool container_service_runs(const char *program);
/* The image is in its store, by this reference. */
bool container_has_image(const char *program, const char *image);
/* ret->state says whether there is one of that name. */
int container_inspect(struct arena *arena, const char *program, const char *name,
		      struct container_info *ret, struct err *err);
int container_ask_network(struct arena *arena, const char *program, const char *name,
			  struct container_network *ret, struct err *err);
/* Ends and removes it; one that is not there is fine. */
int container_remove(const char *program, const char *name, struct err *err);
