/* SPDX-License-Identifier: MIT */
/*
 * The macOS Keychain's store against a stand-in for security(1), which takes the grammar of its
 * interactive mode, refuses anything else, and keeps what it is told in files. Not run on macOS.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys/vault.h"
#include "lib/tap.h"
#include "os/fs.h"

static const char stand_in[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\" || exit 1\n"
	"[ \"$*\" = -i ] || { echo \"$*\" >bad; exit 2; }\n"
	"IFS= read -r line\n"
	"[ ${#line} -lt 4096 ] || { echo long >bad; exit 2; }\n"
	"cat >rest; [ ! -s rest ] || { echo more >bad; exit 2; }\n"
	"printf '%s\\n' \"$line\" >>asked\n"
	"if [ -e locked ]; then exit 36; fi\n"
	"set -f; set -- $line\n"
	"unhex() { printf \"$(printf '%s' \"$1\" | sed 's/../\\\\x&/g')\"; }\n"
	"case \"$# $line\" in\n"
	"8' add-generic-password -U -s wrapix -a '*' -X '*)\n"
	"	case $8 in *[!0-9a-f]* | '') echo digits >bad; exit 2 ;; esac\n"
	"	bash -c \"printf '$(printf '%s' \"$8\" | sed 's/../\\\\x&/g')'\" >\"item-$6\" ;;\n"
	"6' find-generic-password -s wrapix -a '*' -w')\n"
	"	[ -e \"item-$5\" ] || exit 44\n"
	"	cat \"item-$5\"; echo ;;\n"
	"5' delete-generic-password -s wrapix -a '*)\n"
	"	[ -e \"item-$5\" ] || exit 44\n"
	"	rm \"item-$5\" ;;\n"
	"*) echo \"$line\" >bad; exit 2 ;;\n"
	"esac\n";

static char dir[64];

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int set(struct vault *vault, const char *name, const void *value, size_t len)
{
	struct secret memory = { 0 };
	struct err err;
	int r = secret_alloc(&memory, VAULT_VALUE_MAX, &err);

	memcpy(memory.data, value, len);
	if (r == 0)
		r = vault_keychain.set(vault, name, &memory, len, &err);
	secret_free(&memory);
	return r;
}

static bool holds(struct vault *vault, const char *name, const void *value, size_t len)
{
	struct secret memory = { 0 };
	struct err err;
	size_t n = 0;
	bool same = vault_keychain.get(vault, name, &memory, &n, &err) == 0 && n == len &&
		    memcmp(memory.data, value, n) == 0;

	secret_free(&memory);
	return same;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0 || os_write_all(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

static void test_values(struct vault *vault)
{
	static const struct {
		const char *value;
		size_t len;
	} values[] = { { "sk-ant-oat01-token_with-all.kinds", 33 },
		       { "a b\"c'd\\e$f", 11 },
		       { "\0\n\xff", 3 },
		       { "hex:00", 6 },
		       { "deadbeef", 8 },
		       { "\n", 1 } };
	char longest[1900], too_long[VAULT_VALUE_MAX];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		ok(set(vault, "one", values[i].value, values[i].len) == 0, "value %zu is kept", i);
		ok(holds(vault, "one", values[i].value, values[i].len), "... and comes back");
	}
	memset(longest, 'x', sizeof(longest));
	ok(set(vault, "two", longest, sizeof(longest)) == 0 &&
		   holds(vault, "two", longest, sizeof(longest)),
	   "a long one");
	memset(too_long, 'x', sizeof(too_long));
	is_int(set(vault, "two", too_long, sizeof(too_long)), -EMSGSIZE, "one that is too long");
	ok(holds(vault, "two", longest, sizeof(longest)), "... changes nothing");
}

int main(void)
{
	struct vault vault = { 0 };
	struct secret memory = { 0 };
	char program[128];
	struct err err;
	size_t len;

	snprintf(dir, sizeof(dir), "/tmp/wrapix-keychain.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	write_file("security", stand_in, 0700);
	snprintf(program, sizeof(program), "%s/security", dir);
	vault.security = program;

	is_int(vault_keychain.get(&vault, "one", &memory, &len, &err), -ENOENT, "nothing yet");
	is_str(err.msg, "there is no secret 'one'", "... which is said");
	test_values(&vault);
	is_int(vault_keychain.remove(&vault, "one", &err), 0, "removed");
	is_int(vault_keychain.remove(&vault, "one", &err), -ENOENT, "... once");
	write_file("locked", "", 0600);
	is_int(vault_keychain.get(&vault, "two", &memory, &len, &err), -EACCES, "locked");
	is_str(err.hint, "security unlock-keychain", "... and what to type");
	unlink(in_dir("locked"));
	write_file("item-three", "what somebody else wrote: \xc3\xa4", 0600);
	is_int(vault_keychain.get(&vault, "three", &memory, &len, &err), -EBADMSG,
	       "what is not ours is not understood");
	write_file("item-three", "hex:abc", 0600);
	is_int(vault_keychain.get(&vault, "three", &memory, &len, &err), -EBADMSG,
	       "nor half a digit");
	ok(access(in_dir("bad"), F_OK) < 0, "the program was asked in its own grammar only");
	(void)os_remove_tree(AT_FDCWD, dir);
	return done();
}
