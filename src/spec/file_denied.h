/* SPDX-License-Identifier: MIT */
/*
 * Paths that are not written, one by one and many: each is a denyWrite of a plain path, as file_rules.h has them, but a decision costs
 * the same however many there are. Pure, as these.
 */
#pragma once

#include "base/path_map.h"
#include "spec/file_rules.h"

struct file_denied {
	struct path_map paths; /* and all directories above them */
};

/* The path is absolute and clean. More than can be remembered is all there is: nothing is written then. */
void file_denied_add(struct file_denied *denied, const char *path, const char *key);
/* The rule of the path, or of the nearest above it that has one; NULL: none. */
const struct file_rule *file_denied_cover(const struct file_denied *denied, const char *path);
/* One that covers a name below the one differently from the same name below the other; NULL: none does. */
const struct file_rule *file_denied_difference(const struct file_denied *denied, const char *from,
					       const char *to);
/* Each in turn, from 0 on; NULL after the last. */
const struct file_rule *file_denied_next(const struct file_denied *denied, size_t *at);
void file_denied_release(struct file_denied *denied);
