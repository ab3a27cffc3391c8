/* SPDX-License-Identifier: MIT */
/* What a project's file may not do before it is trusted; for config.c. */
#pragma once

#include "spec/config.h"

/* Each looks at one value of the project's file before it is laid over spec, and notes it in
 * project when it widens. place is where it stands: "mounts[0]", "limits.memory". A mount was
 * checked already. */
void widen_mount(struct project_config *project, const char *place, const struct mount_spec *mount);
void widen_env(struct project_config *project, const struct spec *spec, const char *name,
	       const char *value);
void widen_protect(struct project_config *project, const struct spec *spec, const char *place,
		   const char *path, const char *level);
void widen_scalar(struct project_config *project, const struct spec *spec, const char *place,
		  const char *key, const char *value);
/* A host that the project wants to reach, and a port that it wants opened. */
void widen_rule(struct project_config *project, const struct spec *spec, const char *place,
		const char *text);
void widen_port(struct project_config *project, const char *place, const char *text);
/* A profile that is not the project's own, but by its choice. */
void widen_profile(struct project_config *project, const char *place, const char *name);
/* A secret of the user's that it wants to use; shown is JSON. */
void widen_credential(struct project_config *project, const char *place, const char *shown);
/* The agent that the project names, if it is that: once its definition is there. */
void widen_agent(struct project_config *project, const struct spec *spec);
