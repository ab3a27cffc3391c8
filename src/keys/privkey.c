/* SPDX-License-Identifier: MIT */
/* Private keys as ssh-keygen writes them. */
#include "keys/privkey.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "keys/secret.h"
#include "os/fs.h"

static const char begin_line[] = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
static const char end_line[] = "-----END OPENSSH PRIVATE KEY-----";
static const char magic[] = "openssh-key-v1"; /* with its NUL */

/* The base64 between the lines, pushed together in place and decoded in place. */
static int unwrap(char *text, size_t len, struct blob *ret, struct err *err)
{
	size_t head = sizeof(begin_line) - 1, n = 0;
	const char *end;
	ssize_t bytes;

	known(text);
	if (len < head || memcmp(text, begin_line, head))
		return err_set(err, EINVAL, "not a private key in OpenSSH's format");
	end = memmem(text, len, end_line, sizeof(end_line) - 1);
	if (!end)
		return err_set(err, EINVAL, "the private key is cut short");
	for (const char *p = text + head; p < end; p++)
		if (*p != '\n' && *p != '\r')
			text[n++] = *p;
	bytes = base64_decode(text, n, text, n);
	if (bytes < 0)
		return err_set(err, EINVAL, "the private key is damaged");
	*ret = (struct blob){ (const uint8_t *)text, (size_t)bytes };
	return 0;
}

static bool padding_is_right(struct blob in)
{
	for (size_t i = 0; i < in.len; i++)
		if (in.p[i] != i + 1)
			return false;
	return in.len < 8;
}

/* The public half stands at the beginning of the file as well. */
static bool is_same(struct blob outer, struct blob public)
{
	struct blob type, key;

	return wire_string(&outer, &type) && blob_is(type, "ssh-ed25519") &&
	       wire_string(&outer, &key) && !outer.len && blob_equal(key, public);
}

/* The part that a passphrase would have encrypted. */
static int parse_secret(struct blob in, struct blob outer, uint8_t *ret_seed, uint8_t *ret_public,
			struct err *err)
{
	struct blob type, public, private, comment;
	uint32_t check[2];

	if (!wire_u32(&in, &check[0]) || !wire_u32(&in, &check[1]) || check[0] != check[1] ||
	    !wire_string(&in, &type))
		return err_set(err, EINVAL, "the private key is damaged");
	if (!blob_is(type, "ssh-ed25519")) {
		err_set(err, EINVAL, "only Ed25519 keys can be used");
		return err_hint(err, "'wrapix key add' makes one");
	}
	if (!wire_string(&in, &public) || !wire_string(&in, &private) ||
	    !wire_string(&in, &comment) || public.len != ED25519_KEY ||
	    private.len != 2 * ED25519_KEY ||
	    memcmp(private.p + ED25519_KEY, public.p, ED25519_KEY) != 0 ||
	    !is_same(outer, public) || !padding_is_right(in))
		return err_set(err, EINVAL, "the private key is damaged");
	memcpy(ret_seed, private.p, ED25519_KEY);
	memcpy(ret_public, public.p, ED25519_KEY);
	return 0;
}

int privkey_parse(char *text, size_t len, uint8_t ret_seed[ED25519_KEY],
		  uint8_t ret_public[ED25519_KEY], struct err *err)
{
	struct blob in = { 0 }, cipher, kdf, options, public, secret;
	uint32_t n;
	int r = unwrap(text, len, &in, err);

	if (r < 0)
		return r;
	if (in.len < sizeof(magic) || memcmp(in.p, magic, sizeof(magic)) != 0)
		return err_set(err, EINVAL, "not a private key in OpenSSH's format");
	in.p += sizeof(magic);
	in.len -= sizeof(magic);
	if (!wire_string(&in, &cipher) || !wire_string(&in, &kdf) || !wire_string(&in, &options) ||
	    !wire_u32(&in, &n) || n != 1 || !wire_string(&in, &public) ||
	    !wire_string(&in, &secret) || in.len)
		return err_set(err, EINVAL, "the private key is damaged");
	if (!blob_is(cipher, "none")) {
		err_set(err, EINVAL, "the private key has a passphrase");
		return err_hint(err, "'ssh-keygen -p' takes it off; wrapix keeps the key outside "
				     "the sandbox");
	}
	if (!blob_is(kdf, "none") || options.len)
		return err_set(err, EINVAL, "the private key is damaged");
	return parse_secret(secret, public, ret_seed, ret_public, err);
}

static int check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "looking at '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "'%s' is not a file", path);
	if (st.st_uid != geteuid()) {
		err_set(err, EPERM, "'%s' belongs to uid %u, not to you", path, st.st_uid);
		return err_hint(err, "if it is your key: sudo chown %u '%s'", geteuid(), path);
	}
	if (st.st_mode & 077) {
		err_set(err, EPERM, "'%s' can be read by others (mode %04o)", path,
			st.st_mode & 07777);
		return err_hint(err, "chmod 600 '%s'; others may know the key by now", path);
	}
	if (st.st_size > PRIVKEY_MAX)
		return err_set(err, EFBIG, "'%s' is too large for a key", path);
	return 0;
}

static int read_all(int fd, struct secret *text, size_t *ret_len)
{
	ssize_t n = os_read_full(fd, text->data, text->size);

	*ret_len = n < 0 ? 0 : (size_t)n;
	return n < 0 ? (int)n : 0;
}

int privkey_load(const char *path, uint8_t ret_seed[ED25519_KEY], uint8_t ret_public[ED25519_KEY],
		 struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_secret_ struct secret text = { 0 };
	uint8_t derived[ED25519_KEY];
	size_t len = 0;
	int r;

	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", path);
	r = check_file(fd, path, err);
	if (r == 0)
		r = secret_alloc(&text, PRIVKEY_MAX, err);
	if (r < 0)
		return r;
	r = read_all(fd, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading '%s'", path);
	r = privkey_parse((char *)text.data, len, ret_seed, ret_public, err);
	if (r < 0)
		return err_wrap(err, "'%s'", path);
	r = crypto_ed25519_public(ret_seed, derived);
	if (r < 0 || memcmp(derived, ret_public, ED25519_KEY) != 0) {
		explicit_bzero(ret_seed, ED25519_KEY);
		return err_set(err, EINVAL, "'%s': its two halves do not belong together", path);
	}
	return 0;
}
