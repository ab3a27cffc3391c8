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

static char dir[64];

static void clean_up(void)
{
	(void)os_remove_tree(AT_FDCWD, dir);
}

static void write_input(const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/wrapix/credentials.json", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || os_write_all(fd, data, size) < 0)
		abort();
	close(fd);
}

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
	_cleanup_str_ struct str old = { 0 }, new = { 0 };
	struct vault vault = { .config_home = dir };
	struct strv before = { 0 }, after = { 0 };
	struct arena arena = { 0 };
	struct secret value = { 0 };
	struct err err;

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/wrapix-fuzz.XXXXXX");
		if (!mkdtemp(dir) ||
		    os_mkdirs(arena_printf(&arena, "%s/wrapix", dir), 0700, &err) < 0)
			abort();
		atexit(clean_up);
	}
	write_input(data, size);
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
