/* SPDX-License-Identifier: MIT */
/* The keyring first, then the file. */
#include "keys/vault.h"

#include <errno.h>
#include <string.h>

#include "os/platform.h"

static const struct vault_store *store_of(enum vault_place place)
{
	if (place == VAULT_FILE)
		return &vault_file;
	return os_is_darwin() ? &vault_keychain : &vault_service;
}

int vault_name_check(const char *name, struct err *err)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-";

	if (!*name || strlen(name) > 63 || name[strspn(name, chars)] || name[0] == '-')
		return err_usage(err, "a secret is named with at most 63 letters, digits, '.', '_' "
				      "and '-'");
	return 0;
}

/* What the keyring said is the better explanation, unless it is that there is nothing. */
int vault_get(struct vault *vault, const char *name, struct secret *ret, size_t *ret_len,
	      enum vault_place *ret_place, struct err *err)
{
	struct err first = { 0 };
	int r = -ENOENT;

	for (enum vault_place place = 0; r < 0 && place < VAULT_PLACES; place++) {
		r = store_of(place)->get(vault, name, ret, ret_len, err);
		*ret_place = place;
		if (r < 0 && place == VAULT_KEYRING)
			first = *err;
	}
	if (r < 0 && first.code != ENOENT)
		*err = first;
	return r;
}

int vault_set(struct vault *vault, const char *name, const struct secret *value, size_t len,
	      enum vault_place *ret_place, struct err *err)
{
	struct err ignored;
	int r = store_of(VAULT_KEYRING)->set(vault, name, value, len, err);

	*ret_place = r == 0 ? VAULT_KEYRING : VAULT_FILE;
	if (r < 0)
		vault->why = *err;
	if (r < 0)
		r = vault_file.set(vault, name, value, len, err);
	if (r < 0)
		return r;
	/* The other store's is old now. A keyring that cannot be reached keeps it, and a read would find
	 * that first: this is said. */
	r = store_of(!*ret_place)->remove(vault, name, &ignored);
	if (r < 0 && r != -ENOENT && *ret_place == VAULT_FILE) {
		*err = ignored;
		return err_wrap(err, "an older value stays in the keyring");
	}
	return 0;
}

int vault_remove(struct vault *vault, const char *name, struct err *err)
{
	struct err first = { 0 };
	int keyring = store_of(VAULT_KEYRING)->remove(vault, name, &first);
	int file = vault_file.remove(vault, name, err);

	if (keyring == 0 && (file == 0 || file == -ENOENT))
		return 0;
	if (keyring < 0 && keyring != -ENOENT) {
		*err = first;
		return keyring;
	}
	return file;
}

int vault_list(struct vault *vault, struct arena *arena, struct strv ret[VAULT_PLACES],
	       struct err *err)
{
	for (enum vault_place place = 0; place < VAULT_PLACES; place++) {
		int r;

		ret[place] = (struct strv){ 0 };
		r = store_of(place)->list(vault, arena, &ret[place], err);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

void vault_release(struct vault *vault)
{
	vault_service_free(vault->service);
	vault->service = NULL;
}
