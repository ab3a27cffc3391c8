/* SPDX-License-Identifier: MIT */
/* Between filter.c and filter_rules.c: putting the policy in place, and another in its place. */
#pragma once

#include "net/filter.h"

/* The rules of old with these added, which have the last word and must have an effect: a new policy, and
 * the added ones by themselves. */
int rules_add(const struct policy *old, const struct strv *allow, const struct strv *deny,
	      struct policy **ret_next, struct policy **ret_added, struct err *err);
/* Tells of each of them. */
void rules_tell(const struct policy *added, net_event_fn *on_event, void *ctx);

/* Kernel rules and listeners, as the policy wants them. Sets filter->tier. */
int filter_enforce(struct filter *filter, struct err *err);
void filter_unlisten(struct filter *filter);

/* Takes what waits at a listener of the filter's. */
int filter_accept(struct filter *filter, int listener);
