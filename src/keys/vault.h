/* SPDX-License-Identifier: MIT */
/*
 * Secrets at rest: named values in the user's keyring, or where there is none in a file.
 *
 *	keyring: the Secret Service (GNOME Keyring, KWallet, KeePassXC) over D-Bus; on macOS the Keychain
 *	file: ~/.config/wrapix/credentials.json, mode 0600
 *
 * The keyring is asked first. A value is never in both: writing to one takes it out of the other, so
 * that an old one cannot come back.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "keys/secret.h"

#define VAULT_VALUE_MAX 8192 /* bytes of a value */

enum vault_place { VAULT_KEYRING, VAULT_FILE, VAULT_PLACES };

struct vault {
	const char *config_home; /* the caller's */
	struct service *service; /* NULL: there is no keyring, or it was not asked yet */
	bool asked;
	struct err why;       /* there is none, or it took no value: why */
	const char *security; /* the program of the Keychain; NULL: /usr/bin/security */
};

/* One store. A value lies in protected memory; -ENOENT when there is none of that name. */
struct vault_store {
	int (*get)(struct vault *vault, const char *name, struct secret *ret, size_t *ret_len,
		   struct err *err);
	int (*set)(struct vault *vault, const char *name, const struct secret *value, size_t len,
		   struct err *err);
	int (*remove)(struct vault *vault, const char *name, struct err *err);
	int (*list)(struct vault *vault, struct arena *arena, struct strv *ret, struct err *err);
};
extern const struct vault_store vault_service, vault_keychain, vault_file;

int vault_name_check(const char *name, struct err *err);

/* Each says which store it was. ret is the caller's to free. */
int vault_get(struct vault *vault, const char *name, struct secret *ret, size_t *ret_len,
	      enum vault_place *ret_place, struct err *err);
int vault_set(struct vault *vault, const char *name, const struct secret *value, size_t len,
	      enum vault_place *ret_place, struct err *err);
/* From wherever it is. */
int vault_remove(struct vault *vault, const char *name, struct err *err);
int vault_list(struct vault *vault, struct arena *arena, struct strv ret[VAULT_PLACES],
	       struct err *err);
void vault_release(struct vault *vault);
void vault_service_free(struct service *service);
