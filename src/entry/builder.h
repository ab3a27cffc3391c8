/* SPDX-License-Identifier: MIT */
/*
 * 'wrapix-entry builder': PID 1 of a machine for remote builds, whichever engine made it, as root of
 * its user namespace. What it reads is in BUILDER_STAGE, read-only: sshd_config, nix.conf,
 * authorized_keys, host_ed25519, and 'idle', seconds without a session until it ends (0: never).
 */
#pragma once

#define BUILDER_STAGE "/etc/wrapix/builder" /* what the engine hands in */
#define BUILDER_RUN "/run/wrapix-builder"   /* our copy of it, with the modes that sshd wants */
#define BUILDER_SOCKET "/run/nix/daemon.sock"
#define BUILDER_SSHD_PORT 22
#define BUILDER_BUILD_GROUP "nixbld"
#define BUILDER_BUILD_DIR "/nix/var/nix/builds"
#define BUILDER_PATH                                                      \
	"/nix/var/nix/profiles/default/bin:/usr/local/bin:/usr/bin:/bin:" \
	"/usr/local/sbin:/usr/sbin:/sbin"

/* What an image brings for its store, and what stands in a store that was filled from one. */
#define BUILDER_REGISTRATION "/nix/.wrapix-registration"

/* Its exit status. */
int entry_builder(void);
