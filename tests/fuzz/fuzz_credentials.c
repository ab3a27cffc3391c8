/* SPDX-License-Identifier: MIT */
/* The file of secrets: whatever stands in it is read or refused, and what is written to one that could
 * be read can be read back, beside all that was there. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "keys/vault.h"
#include "os/fs.h"
#include "fuzz.h"

static bool has(struct vault *vault, const char *name, const char *want)
{
	struct secret value = { 0 };
	struct err err;
	size_t len = 0;
	bool same = vault_file.get(vault, name, &value, &len, &err) == 0 && len == strlen(want) &&
		    !memcmp(value.data, want, len);

	secret_free(&value);
	return same;
}

/* The values of these, or that there is none, one after the other. */
static void read_all(struct vault *vault, const struct strv *names, struct str *out)
{
	str_add(out, "");
	for (size_t i = 0; i < names->len; i++) {
		struct secret value = { 0 };
		struct err err;
		size_t len = 0;

		if (strcmp(names->v[i], "new-one") == 0)
			continue;
		if (vault_file.get(vault, names->v[i], &value, &len, &err) == 0) {
			str_addf(out, "%s %zu ", names->v[i], len);
			str_addn(out, (const char *)value.data, len);
		}
		secret_free(&value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const dirs[] = { "wrapix" };
	static int top = -1;
	_cleanup_str_ struct str old = { 0 }, new = { 0 };
	struct vault vault = { .config_home = fuzz_top };
	struct strv before = { 0 }, after = { 0 };
	struct arena arena = { 0 };
	struct secret value = { 0 };
	struct err err;

	if (top < 0)
		top = fuzz_open_top(dirs, ARRAY_LEN(dirs));
	fuzz_write(top, "wrapix/credentials.json", data, size);
	(void)has(&vault, "one", "");
	if (secret_alloc(&value, 8, &err) < 0)
		abort();
	memcpy(value.data, "value", 5);
	if (vault_file.list(&vault, &arena, &before, &err) == 0)
		read_all(&vault, &before, &old);
	if (old.s && vault_file.set(&vault, "new-one", &value, 5, &err) == 0) {
		if (!has(&vault, "new-one", "value") ||
		    vault_file.list(&vault, &arena, &after, &err) < 0)
			abort();
		for (size_t i = 0; i < before.len; i++)
			if (!strv_has(&after, before.v[i]))
				abort();
		read_all(&vault, &before, &new);
		check(old.len == new.len && !memcmp(old.s, new.s, old.len));
		check(vault_file.remove(&vault, "new-one", &err) == 0 &&
		      !has(&vault, "new-one", "value"));
	}
	secret_free(&value);
	arena_release(&arena);
	return 0;
}
