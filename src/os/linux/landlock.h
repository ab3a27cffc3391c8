/* SPDX-License-Identifier: MIT */
/*
 * Landlock: the second wall behind the mounts. It cannot be shed by any process inside, and it
 * bounds signals, abstract sockets and ptrace to the sandbox's own processes.
 */
#pragma once

#include "base/err.h"

/* 0 when the kernel has none. */
int landlock_abi(void);

enum landlock_class {
	LANDLOCK_READ,  /* look and execute */
	LANDLOCK_WRITE, /* everything a file system offers */
	LANDLOCK_DEV,   /* read, write, ioctl; no new names */
};

struct landlock_rule {
	const char *path;
	enum landlock_class class;
	bool plain; /* no link leads there */
};

/*
 * Restricts the calling process and its children to the rules, as far as abi goes. Without rules
 * (n == 0) no file right is handled: mounting stays possible for nested sandboxes, and only the
 * scopes hold. Without a rule of LANDLOCK_READ everything may be read. Files on descriptors 0 to 2 stay
 * open to programs that open /dev/stdout by name, in the direction they were given in. The caller has no_new_privs.
 */
int landlock_restrict(int abi, const struct landlock_rule *rules, size_t n, struct err *err);
/* The same for who is under the file broker as well. Reading costs nothing then: what cuts a file off without having it
 * open for writing is the broker's to refuse (guard/broker_open.c), and nobody else's. */
int landlock_restrict_guarded(int abi, const struct landlock_rule *rules, size_t n,
			      struct err *err);

/* True when file rights can be handled without breaking renames between directories (ABI 2). */
bool landlock_handles_files(int abi);
bool landlock_has_scopes(int abi);
