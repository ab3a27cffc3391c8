/* SPDX-License-Identifier: MIT */
/* Where keys are registered at the host of a repository. Pure. */
#pragma once

#include "base/str.h"
#include "spec/remote.h"

enum forge { FORGE_UNKNOWN, FORGE_GITHUB, FORGE_GITLAB, FORGE_GITEA };

enum forge forge_of(const char *host);

/* The places, and with how what to tick; remote may be NULL. */
void forge_add_places(struct str *out, const struct remote *remote, bool how);
