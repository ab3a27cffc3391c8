/* SPDX-License-Identifier: MIT */
/* Between srt_paths.c and srt_spec.c. */
#pragma once

#include "spec/srt.h"

/* An entry that allows, absolute and resolved; "" and a warning when it goes through a link that the
 * sandbox may have made; NULL on failure. Strings live in the arena. */
char *srt_resolve_allowed(struct arena *arena, const struct srt_place *place, const char *text,
			  const char *key, struct srt_notes *notes, struct err *err);
