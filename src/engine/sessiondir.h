/* SPDX-License-Identifier: MIT */
/* The directory of a session whose sandbox another program makes: the user's alone, locked while we live, gone
 * when the session ends or, after a crash, when the next one starts. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct arena;
struct err;

/* Makes 'dir' in 'base'; *ret_lock is held until it is closed. */
int sessiondir_make(struct arena *arena, const char *base, const char *dir, int *ret_lock,
		    struct err *err);
/* Removes it, and lets go of the lock (-1: none). */
void sessiondir_remove(const char *dir, int lock);

/* A new file in it; a directory, mode 0 leaving what mkdir makes. */
int sessiondir_write(const char *path, const void *data, size_t len, mode_t mode, struct err *err);
int sessiondir_mkdir(const char *path, mode_t mode, struct err *err);

/* Every directory in 'base' whose supervisor is gone goes, once end() has ended what belongs to it. */
void sessiondir_sweep(const char *base, int (*end)(const void *ctx, const char *id),
		      const void *ctx);
