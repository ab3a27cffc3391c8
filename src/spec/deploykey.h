/* SPDX-License-Identifier: MIT */
/* Deploy keys as facts of the host: where a pair's files are, and their public halves. */
#pragma once

#include "spec/host.h"

#define DEPLOY_KEYS_DIR ".ssh/deploy_keys"    /* in the user's home, as NAME and NAME-signing */
#define KNOWN_HOSTS_FILE "wrapix/known_hosts" /* in the user's configuration directory */

/* The host keys of public forges, as a known_hosts file. */
const char *known_hosts_builtin(void);

/* The first line of a .pub file without its comment, "ssh-ed25519 BASE64"; NULL for anything else. */
char *deploy_key_public(struct arena *arena, const char *text);

/* Looks for the pair that the spec names; nothing is an error here, plan_deploy_key() says it. */
void deploy_key_probe(const struct spec *spec, char **environment, struct host *host);
