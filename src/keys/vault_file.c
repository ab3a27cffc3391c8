/* SPDX-License-Identifier: MIT */
/*
 * Secrets in a file, for machines without a keyring: a JSON object of names and values, the values in
 * hexadecimal digits because they may hold anything. Read and written through protected memory;
 * written anew beside the old one, which it then replaces, under a lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/path.h"
#include "keys/vault.h"
#include "keys/wire.h"
#include "notify/scan.h"
#include "os/fs.h"

#define FILE_NAME "credentials.json"
#define FILE_MAX ((size_t)256 << 10)
#define NAME_SIZE 64
#define HEX_SIZE (2 * VAULT_VALUE_MAX + 1)

/* The directory; -ENOENT where there is none. */
static int open_dir(const struct vault *vault, bool make, struct err *err)
{
	struct arena arena = { 0 };
	char *path = path_join(&arena, vault->config_home, "wrapix");
	int fd = -1, r = make ? os_mkdirs(path, 0700, err) : 0;

	if (r == 0) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			r = err_errno(err, errno, "opening '%s'", path);
	}
	arena_release(&arena);
	return r < 0 ? r : fd;
}

static int check(int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "looking at " FILE_NAME);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, EPERM, FILE_NAME " is not a file of yours");
	if (st.st_mode & 077) {
		err_set(err, EPERM, FILE_NAME " can be read by others");
		return err_hint(err, "chmod 600 ~/.config/wrapix/" FILE_NAME
				     "; others may know what is in it by now");
	}
	if ((size_t)st.st_size > FILE_MAX)
		return err_set(err, EFBIG, FILE_NAME " is too large");
	return 0;
}

/* All of it; *ret_len is 0 where there is none. */
static int load(int dir, struct secret *text, size_t *ret_len, struct err *err)
{
	_cleanup_close_ int fd = openat(dir, FILE_NAME,
					O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = 1;
	int r;

	*ret_len = 0;
	if (fd < 0 && errno == ENOENT)
		return secret_alloc(text, 1, err);
	if (fd < 0)
		return err_errno(err, errno, "opening " FILE_NAME);
	r = check(fd, err);
	if (r == 0)
		r = secret_alloc(text, FILE_MAX + 1, err);
	while (r == 0 && n > 0 && *ret_len < FILE_MAX) {
		n = read(fd, text->data + *ret_len, FILE_MAX - *ret_len);
		if (n < 0 && errno != EINTR)
			r = err_errno(err, errno, "reading " FILE_NAME);
		*ret_len += n > 0 ? (size_t)n : 0;
	}
	return r;
}

/* One entry after the other; hex has HEX_SIZE bytes. false at the end, or where it is damaged. */
struct entries {
	struct scan scan;
	bool begun;
	char name[NAME_SIZE];
};

static bool next_entry(struct entries *e, char *hex)
{
	bool more = e->begun ? scan_next(&e->scan, '}') : scan_open(&e->scan, '{');
	struct err ignored;

	e->begun = true;
	if (!more || !scan_key(&e->scan, e->name, sizeof(e->name)) ||
	    !scan_text(&e->scan, hex, HEX_SIZE))
		return false;
	known(hex);
	/* Whatever we did not write ourselves we could not write again. */
	if (vault_name_check(e->name, &ignored) < 0 || hex[strspn(hex, "0123456789abcdef")])
		e->scan.bad = true;
	return !e->scan.bad;
}

/* next_entry() has seen to it that it is one. */
static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static int decode(const char *hex, struct secret *ret, size_t *ret_len, struct err *err)
{
	size_t len = strlen(hex) / 2;
	int r = strlen(hex) % 2 || len > VAULT_VALUE_MAX
			? err_set(err, EBADMSG, FILE_NAME " is damaged")
			: secret_alloc(ret, VAULT_VALUE_MAX, err);

	for (size_t i = 0; r == 0 && i < len; i++) {
		ret->data[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	}
	*ret_len = len;
	return r;
}

/* All that is kept; 'hex' is room for one value. */
static int open_entries(struct vault *vault, struct secret *text, struct secret *hex,
			struct entries *ret, struct err *err)
{
	_cleanup_close_ int dir = open_dir(vault, false, err);
	size_t len;
	int r = dir < 0 ? dir : load(dir, text, &len, err);

	if (r == 0)
		r = secret_alloc(hex, HEX_SIZE, err);
	if (r == 0)
		scan_init(&ret->scan, (const char *)text->data, len);
	return r;
}

static int no_such(const char *name, struct err *err)
{
	return err_set(err, ENOENT, "there is no secret '%s'", name);
}

static int file_get(struct vault *vault, const char *name, struct secret *ret, size_t *ret_len,
		    struct err *err)
{
	_cleanup_secret_ struct secret text = { 0 }, hex = { 0 };
	struct entries e = { .begun = false };
	int r = open_entries(vault, &text, &hex, &e, err);

	if (r < 0)
		return r == -ENOENT ? no_such(name, err) : r;
	while (next_entry(&e, (char *)hex.data))
		if (!strcmp(e.name, name))
			return decode((const char *)hex.data, ret, ret_len, err);
	return no_such(name, err);
}

static void put_entry(struct wire_out *out, const char *name, const char *hex)
{
	wire_put_bytes(out, out->len > 1 ? ",\n \"" : "\n \"", out->len > 1 ? 4 : 3);
	wire_put_bytes(out, name, strlen(name));
	wire_put_bytes(out, "\": \"", 4);
	wire_put_bytes(out, hex, strlen(hex));
	wire_put_bytes(out, "\"", 1);
}

/* The file without the name, or with its new value. *ret_found: it was there. */
static int compose(const struct secret *text, size_t len, const char *name, const char *new,
		   struct wire_out *out, bool *ret_found, struct err *err)
{
	_cleanup_secret_ struct secret hex = { 0 };
	struct entries e = { .begun = false };
	int r = secret_alloc(&hex, HEX_SIZE, err);

	if (r < 0)
		return r;
	*ret_found = false;
	wire_put_bytes(out, "{", 1);
	scan_init(&e.scan, (const char *)text->data, len);
	while (next_entry(&e, (char *)hex.data))
		if (!strcmp(e.name, name))
			*ret_found = true;
		else
			put_entry(out, e.name, (const char *)hex.data);
	/* What cannot be read must not be lost by writing the rest. */
	if (len && !scan_end(&e.scan))
		return err_set(err, EBADMSG, FILE_NAME " is damaged");
	if (new)
		put_entry(out, name, new);
	wire_put_bytes(out, "\n}\n", 3);
	return out->overflow ? err_set(err, EFBIG, FILE_NAME " would be too large") : 0;
}

/* new: hexadecimal, or NULL to remove it. */
static int rewrite(struct vault *vault, const char *name, const char *new, struct err *err)
{
	_cleanup_close_ int dir = open_dir(vault, new != NULL, err);
	_cleanup_secret_ struct secret text = { 0 }, whole = { 0 };
	struct wire_out out = { .size = FILE_MAX };
	bool found = false;
	size_t len;
	int r = dir < 0 ? dir : 0;

	if (r == -ENOENT && !new)
		return no_such(name, err);
	if (r == 0 && flock(dir, LOCK_EX) < 0)
		r = err_errno(err, errno, "locking " FILE_NAME);
	if (r == 0)
		r = load(dir, &text, &len, err);
	if (r == 0)
		r = secret_alloc(&whole, FILE_MAX, err);
	out.p = whole.data;
	if (r == 0)
		r = compose(&text, len, name, new, &out, &found, err);
	if (r == 0 && !new && !found)
		return no_such(name, err);
	if (r == 0)
		r = os_write_file_atomic(dir, FILE_NAME, out.p, out.len, 0600, err);
	if (r == 0 && fsync(dir) < 0)
		r = err_errno(err, errno, "writing " FILE_NAME);
	return r;
}

static int file_set(struct vault *vault, const char *name, const struct secret *value, size_t len,
		    struct err *err)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_secret_ struct secret hex = { 0 };
	int r = secret_alloc(&hex, HEX_SIZE, err);

	for (size_t i = 0; r == 0 && i < len; i++) {
		hex.data[2 * i] = (uint8_t)digits[value->data[i] >> 4];
		hex.data[2 * i + 1] = (uint8_t)digits[value->data[i] & 15];
	}
	return r == 0 ? rewrite(vault, name, (const char *)hex.data, err) : r;
}

static int file_remove(struct vault *vault, const char *name, struct err *err)
{
	return rewrite(vault, name, NULL, err);
}

static int file_list(struct vault *vault, struct arena *arena, struct strv *ret, struct err *err)
{
	_cleanup_secret_ struct secret text = { 0 }, hex = { 0 };
	struct entries e = { .begun = false };
	int r = open_entries(vault, &text, &hex, &e, err);

	if (r < 0)
		return r;
	while (next_entry(&e, (char *)hex.data))
		strv_add(arena, ret, e.name);
	return 0;
}

const struct vault_store vault_file = { file_get, file_set, file_remove, file_list };
