/* SPDX-License-Identifier: MIT */
/*
 * ENGINE_PODMAN, in podman's grammar: the operations become arguments and files in a directory of the session's on the host,
 * STAGE, which the engine makes:
 *
 *	STAGE/seccomp.json	podman's filter
 *	STAGE/hooks/...		what podman asks before it makes the container: see engine/podman/hook.c
 *	STAGE/init/...		at STAGE_INSIDE, for wrapix-init: see engine/podman/stage.h
 *	STAGE/dirs/DEST/...	directories of ours that stand inside whole, read-only
 *	STAGE/files/N		single files of ours, by the number of the operation
 */
#pragma once

#include "plan/plan.h"

struct str;

#define STAGE_INSIDE AGENT_INSIDE "/init"
#define INIT_INSIDE AGENT_INSIDE "/bin/wrapix-init"

enum stage_kind {
	STAGE_NOT,  /* a mount, or the image's own business */
	STAGE_DIR,  /* in a directory that stands inside whole */
	STAGE_FILE, /* a file that is mounted by itself */
	STAGE_TREE, /* made by wrapix-init, in a place that is the sandbox's to write */
};
enum stage_kind podman_stage(const struct plan *plan, const struct op *op);
/* Where it stands in STAGE. */
char *podman_staged(struct arena *arena, const struct plan *plan, const struct op *op,
		    const char *stage);
/* The whole command line, for this session and its STAGE. */
void podman_argv(struct arena *arena, const struct plan *plan, const char *stage,
		 const char *session, struct strv *ret);
/* What a plan's print has for podman alone. */
void podman_print(struct str *out, const struct plan *plan);
void podman_print_json(struct str *out, const struct plan *plan);
