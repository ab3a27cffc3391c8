/* SPDX-License-Identifier: MIT */
/* Which of the names that dials wait for is looked up next. For dial.c. */
#pragma once

#include "net/dial.h"

/* What is to be resolved: the host, or the proxy that leads to it. */
const char *asking_name(const struct dial *dial);
bool asking_awaits(const struct dial *dial, const char *name);
/* The dial that waits longest, of those whose name may be asked for now; NULL: none. */
struct dial *asking_next(const struct dial_list *list);
/* Its name has been asked for, by it and for all who wait for the same one. */
void asking_done(struct dial *dial);
/* Somebody has asked for its name already. */
bool asking_is_done(const struct dial *dial);
