/* SPDX-License-Identifier: MIT */
/*
 * The macOS Keychain, by way of its program security(1).
 *
 * Commands go to 'security -i' on standard input, where no other process sees them, with the value in
 * hexadecimal digits (-X). It reads lines of at most 4096 bytes, so what is longer is not for this
 * store. A password comes back as text where it is text, else as digits of a form that text may have as
 * well; so a value that is more than plain text is kept as the text "hex:" and its digits.
 * Items are generic passwords of the service "wrapix", with the secret's name as their account.
 *
 * A locked Keychain asks for its password; a no comes back as an error.
 *
 * Written from the program's manual and tested with a stand-in: it has not been run on macOS.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "keys/vault.h"
#include "keys/wire.h"
#include "os/proc.h"

#define SERVICE "wrapix"
#define LINE_LEN 4000 /* of a command, with its end */
#define HEX "hex:"

/* security(1) has these statuses; others are failures that are not told apart. */
enum { STATUS_NOT_FOUND = 44, STATUS_CANCELED = 128, STATUS_NO_INTERACTION = 36, STATUS_AUTH = 51 };

static int explain(int status, const char *name, struct err *err)
{
	if (status < 0)
		return err_errno(err, -status, "asking the Keychain");
	switch (WIFEXITED(status) ? WEXITSTATUS(status) : -1) {
	case 0:
		return 0;
	case STATUS_NOT_FOUND:
		return err_set(err, ENOENT, "there is no secret '%s'", name);
	case STATUS_CANCELED:
	case STATUS_NO_INTERACTION:
	case STATUS_AUTH:
		err_set(err, EACCES, "the keyring is locked");
		return err_hint(err, "security unlock-keychain");
	default:
		return err_set(err, EIO, "the Keychain failed");
	}
}

/* A pipe that holds the script: it is shorter than what a pipe takes without a reader. */
static int script_pipe(const uint8_t *script, size_t len)
{
	int fds[2];
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	n = write(fds[1], script, len);
	close(fds[1]);
	if (n != (ssize_t)len) {
		close(fds[0]);
		return -EMSGSIZE;
	}
	fcntl(fds[0], F_SETFL, 0);
	return fds[0];
}

/* Where every Mac has it; elsewhere it is a stand-in's. */
static char *find_program(const struct vault *vault, struct arena *arena)
{
	static const char usual[] = "/usr/bin/security";
	char *found = NULL;

	if (vault->security)
		return (char *)vault->security;
	if (access(usual, X_OK) < 0)
		found = os_find_program(arena, "security", getenv("PATH"), NULL);
	return found ? found : (char *)usual;
}

/* Runs one command; answer may be NULL. */
static int run(struct vault *vault, const struct wire_out *script, const char *name,
	       struct secret *answer, size_t *ret_len, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	char *argv[] = { find_program(vault, &arena), (char *)"-i", NULL };
	_cleanup_close_ int in = script_pipe(script->p, script->len);
	_cleanup_close_ int from = -1, to = -1;
	int fds[2], r;
	ssize_t n = 1;

	if (in < 0)
		return err_errno(err, -in, "asking the Keychain");
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, errno, "asking the Keychain");
	from = fds[0];
	to = fds[1];
	/* An answer is shorter than what a pipe holds: nobody has to read meanwhile. */
	r = os_run(&(struct os_command){
		.argv = argv, .env = environ, .cwd = "/", .in = in, .out = to });
	close(take_fd(&to));
	while (r >= 0 && answer && n > 0 && *ret_len < LINE_LEN) {
		n = read(from, answer->data + *ret_len, LINE_LEN - *ret_len);
		*ret_len += n > 0 ? (size_t)n : 0;
	}
	return explain(r, name, err);
}

static void put(struct wire_out *out, const char *text)
{
	wire_put_bytes(out, text, strlen(text));
}

static void put_hex(struct wire_out *out, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		wire_put_byte(out, (uint8_t)digits[data[i] >> 4]);
		wire_put_byte(out, (uint8_t)digits[data[i] & 15]);
	}
}

/* Names need no quotes: vault_name_check() has seen them. */
static int begin(struct secret *memory, struct wire_out *out, const char *verb, const char *name,
		 struct err *err)
{
	int r = secret_alloc(memory, LINE_LEN, err);

	*out = (struct wire_out){ .p = memory->data, .size = LINE_LEN };
	put(out, verb);
	put(out, " -s " SERVICE);
	put(out, name ? " -a " : "");
	put(out, name ? name : "");
	return r;
}

static int digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_plain(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] <= ' ' || data[i] > '~')
			return false;
	return len < strlen(HEX) || memcmp(data, HEX, strlen(HEX)) != 0;
}

static int decode(const uint8_t *text, size_t len, struct secret *ret, size_t *ret_len,
		  struct err *err)
{
	if (len && text[len - 1] == '\n')
		len--;
	if (!len || secret_alloc(ret, VAULT_VALUE_MAX, err) < 0)
		return err_set(err, EBADMSG, "the Keychain's answer is not understood");
	if (is_plain(text, len)) {
		memcpy(ret->data, text, len);
		*ret_len = len;
		return 0;
	}
	*ret_len = (len - strlen(HEX)) / 2;
	for (size_t i = 0; len >= strlen(HEX) && !memcmp(text, HEX, strlen(HEX)) && i <= *ret_len;
	     i++) {
		const uint8_t *p = text + strlen(HEX) + 2 * i;
		int high, low;

		if (i == *ret_len && (size_t)(p - text) == len)
			return 0;
		high = i == *ret_len ? -1 : digit(p[0]);
		low = high < 0 ? -1 : digit(p[1]);
		if (low < 0)
			break;
		ret->data[i] = (uint8_t)(high << 4 | low);
	}
	secret_free(ret);
	return err_set(err, EBADMSG, "the Keychain's answer is not understood");
}

static int keychain_get(struct vault *vault, const char *name, struct secret *ret, size_t *ret_len,
			struct err *err)
{
	_cleanup_secret_ struct secret memory = { 0 }, answer = { 0 };
	struct wire_out out;
	size_t len = 0;
	int r = begin(&memory, &out, "find-generic-password", name, err);

	put(&out, " -w\n");
	if (r == 0)
		r = secret_alloc(&answer, LINE_LEN, err);
	if (r == 0)
		r = run(vault, &out, name, &answer, &len, err);
	return r == 0 ? decode(answer.data, len, ret, ret_len, err) : r;
}

static int keychain_set(struct vault *vault, const char *name, const struct secret *value,
			size_t len, struct err *err)
{
	_cleanup_secret_ struct secret memory = { 0 };
	_cleanup_secret_ struct secret text = { 0 };
	struct wire_out out, kept = { .size = LINE_LEN };
	int r = begin(&memory, &out, "add-generic-password -U", name, err);

	if (r == 0)
		r = secret_alloc(&text, LINE_LEN, err);
	if (r < 0)
		return r;
	kept.p = text.data;
	if (is_plain(value->data, len)) {
		wire_put_bytes(&kept, value->data, len);
	} else {
		put(&kept, HEX);
		put_hex(&kept, value->data, len);
	}
	put(&out, " -X ");
	put_hex(&out, kept.p, kept.len);
	put(&out, "\n");
	if (kept.overflow || out.overflow)
		return err_set(err, EMSGSIZE, "the value is too long for the Keychain");
	return run(vault, &out, name, NULL, NULL, err);
}

static int keychain_remove(struct vault *vault, const char *name, struct err *err)
{
	_cleanup_secret_ struct secret memory = { 0 };
	struct wire_out out;
	int r = begin(&memory, &out, "delete-generic-password", name, err);

	put(&out, "\n");
	return r == 0 ? run(vault, &out, name, NULL, NULL, err) : r;
}

/* security(1) lists whole keychains only, with what is everybody's; so there is nothing to list. */
static int keychain_list(_unused_ struct vault *vault, _unused_ struct arena *arena,
			 _unused_ struct strv *ret, _unused_ struct err *err)
{
	return 0;
}

const struct vault_store vault_keychain = { keychain_get, keychain_set, keychain_remove,
					    keychain_list };
