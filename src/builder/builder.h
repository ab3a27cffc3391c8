/* SPDX-License-Identifier: MIT */
/*
 * wrapix-builder: a Linux machine for Nix's remote builds, at ssh-ng://builder@localhost:PORT.
 *
 *	outside (the user)                          inside (root of a user namespace)
 *	---------------------------------           ------------------------------------------
 *	keys, settings, the store's place
 *	fill the store from the image
 *	start: native, podman, container  --------> wrapix-entry builder (entry/builder.c)
 *	wait for sshd's greeting          <--------   nix-daemon, then sshd
 *	                                              no session for a while: the end
 *
 * What there is of it on the disk:
 *
 *	~/.local/share/wrapix/builder-keys	host_ed25519, client_ed25519 (and .pub); known_hosts, ssh_config
 *	~/.local/share/wrapix/builder-nix	the builder's /nix
 *	~/.local/share/wrapix/builder.json	the settings that it was last started with
 *	~/.local/state/wrapix/builder	lock, running, log, stage: of the one that runs
 */
#pragma once

#include "base/str.h"
#include "spec/spec.h"

#define BUILDER_NAME "wrapix-builder" /* the host's name, for ssh and Nix; the container's */
#define BUILDER_USER "builder"
#define BUILDER_PORT 2222

struct builder_settings {
	enum engine_kind engine; /* ENGINE_AUTO: native on Linux, apple on macOS */
	char *image;             /* NULL: this machine's own programs, or an image that we make */
	uint64_t port;
	uint64_t cores;    /* 0: as many as there are */
	uint64_t memory;   /* bytes; 0: as much as there is */
	uint64_t idle;     /* seconds without a session until it stops; 0: it does not */
	enum net_mode net; /* NET_OPEN or NET_NONE */
};

struct builder {
	struct arena arena;
	char *user;   /* whose it is */
	char *data;   /* ~/.local/share/wrapix */
	char *keys;   /* .../builder-keys */
	char *nix;    /* .../builder-nix */
	char *state;  /* ~/.local/state/wrapix/builder */
	char *config; /* .../builder.json */
	struct builder_settings settings;
	/* Lines about what takes long; may be NULL. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

/* Of this user, or of another by name: then by the user database alone. Reads the settings. */
int builder_open(struct builder *builder, const char *user, struct err *err);
void builder_close(struct builder *builder);
void builder_say(const struct builder *builder, const char *fmt, ...) _printf_(2, 3);

/* settings.c. The error of a value names the option. */
int builder_set(struct builder *builder, const char *key, const char *value, struct err *err);
int builder_save(struct builder *builder, struct err *err);
int builder_parse_settings(struct builder *builder, const char *text, size_t len, struct err *err);
void builder_add_settings(struct str *out, const struct builder_settings *settings);
/* Cores for Nix: what is set, or what there is. */
unsigned builder_cores(const struct builder *builder);

/* keys.c: makes what is missing. */
int builder_make_keys(struct builder *builder, struct err *err);
/* The public half of "host" or "client", "ssh-ed25519 BASE64"; NULL and an error when there is none. */
char *builder_public_key(struct builder *builder, const char *which, struct err *err);
char *builder_key_path(struct builder *builder, const char *which);

/* texts.c: what is written for ssh and for Nix. Pure but for the key that they pin. */
char *builder_ssh_config(struct arena *arena, const struct builder_settings *settings,
			 const char *identity, const char *known_hosts);
char *builder_known_hosts(struct arena *arena, const struct builder_settings *settings,
			  const char *host_key);
char *builder_machine(struct arena *arena, const struct builder *builder, const char *identity,
		      const char *host_key);
enum builder_snippet { SNIPPET_NIX_CONF, SNIPPET_NIXOS, SNIPPET_DARWIN, SNIPPET_SSH };
char *builder_snippet(struct arena *arena, const struct builder *builder, enum builder_snippet what,
		      const char *identity, const char *host_key);
/* address: what sshd listens on, inside. */
char *builder_sshd_config(struct arena *arena, const char *address);
char *builder_nix_conf(struct arena *arena, const struct builder *builder, enum engine_kind engine);
/* "x86_64-linux": what it builds for. */
const char *builder_system(void);
