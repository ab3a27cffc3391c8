/* SPDX-License-Identifier: MIT */
/* Blobs by digest: writing, reading, checking. */
#include "image/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "image/interrupt.h"
#include "os/fs.h"

EVP_MD_CTX *digest_begin(void)
{
	EVP_MD_CTX *hash = EVP_MD_CTX_new();

	if (hash && !EVP_DigestInit_ex(hash, EVP_sha256(), NULL)) {
		EVP_MD_CTX_free(hash);
		hash = NULL;
	}
	return hash;
}

void digest_finish(EVP_MD_CTX *hash, char ret[DIGEST_HEX])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	EVP_DigestFinal_ex(hash, sum, &len);
	for (unsigned i = 0; i < 32; i++)
		snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}

bool digest_parse(const char *text, char ret[DIGEST_HEX])
{
	const char *hex = text + strlen(DIGEST_PREFIX);

	if (strncmp(text, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) || strlen(hex) != DIGEST_HEX - 1 ||
	    strspn(hex, "0123456789abcdef") != DIGEST_HEX - 1)
		return false;
	memcpy(ret, hex, DIGEST_HEX);
	return true;
}

int blob_begin(struct blob_writer *writer, int dir, struct err *err)
{
	uint64_t random;

	*writer = (struct blob_writer){ .dir = dir, .fd = -1, .hash = digest_begin() };
	if (!writer->hash)
		return err_errno(err, ENOMEM, "hashing");
	if (getentropy(&random, sizeof(random)) < 0)
		return err_errno(err, errno, "a random name");
	snprintf(writer->temporary, sizeof(writer->temporary), ".new-%016llx",
		 (unsigned long long)random);
	writer->fd = openat(dir, writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return writer->fd < 0 ? err_errno(err, errno, "making a blob") : 0;
}

int blob_write(struct blob_writer *writer, const void *data, size_t len, struct err *err)
{
	int r = interrupt_check(err);

	if (r < 0)
		return r;
	r = os_write_all(writer->fd, data, len);
	if (r < 0)
		return err_errno(err, -r, "writing a blob");
	EVP_DigestUpdate(writer->hash, data, len);
	writer->size += len;
	return 0;
}

int blob_end(struct blob_writer *writer, struct blob_ref *ret, struct err *err)
{
	struct stat st;
	int r = 0;

	ret->size = writer->size;
	digest_finish(writer->hash, ret->digest);
	if (fstatat(writer->dir, ret->digest, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)st.st_size == writer->size) {
		blob_abort(writer);
		return 0;
	}
	/* What a document names must be on the disk before the document is. */
	if (fsync(writer->fd) < 0 ||
	    renameat(writer->dir, writer->temporary, writer->dir, ret->digest) < 0)
		r = err_errno(err, errno, "keeping the blob %s", ret->digest);
	else
		writer->temporary[0] = '\0';
	blob_abort(writer);
	return r;
}

void blob_abort(struct blob_writer *writer)
{
	if (writer->fd >= 0) {
		close(writer->fd);
		if (writer->temporary[0])
			unlinkat(writer->dir, writer->temporary, 0);
	}
	writer->fd = -1;
	EVP_MD_CTX_free(writer->hash);
	writer->hash = NULL;
}

int blob_put(int dir, const void *data, size_t len, struct blob_ref *ret, struct err *err)
{
	struct blob_writer writer;
	int r = blob_begin(&writer, dir, err);

	if (r == 0)
		r = blob_write(&writer, data, len, err);
	if (r == 0)
		return blob_end(&writer, ret, err);
	blob_abort(&writer);
	return r;
}

int blob_open(int dir, const struct blob_ref *ref, struct err *err)
{
	int fd = openat(dir, ref->digest, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_errno(err, errno, "opening the blob %s", ref->digest);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == ref->size)
		return fd;
	close(fd);
	return err_set(err, EBADMSG, "the blob %s is not a file of %llu bytes", ref->digest,
		       (unsigned long long)ref->size);
}

int blob_copy(int from, int to, const struct blob_ref *ref, struct err *err)
{
	_cleanup_close_ int fd = blob_open(from, ref, err);
	struct blob_writer writer;
	struct blob_ref written;
	char buffer[65536];
	ssize_t n = 0;
	int r = fd < 0 ? fd : blob_begin(&writer, to, err);

	if (r < 0)
		return r;
	while (r == 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		r = blob_write(&writer, buffer, (size_t)n, err);
	if (r == 0 && n < 0)
		r = err_errno(err, errno, "reading the blob %s", ref->digest);
	if (r < 0) {
		blob_abort(&writer);
		return r;
	}
	r = blob_end(&writer, &written, err);
	if (r == 0 && strcmp(written.digest, ref->digest))
		r = err_set(err, EBADMSG, "the blob %s has been changed", ref->digest);
	return r;
}

int blob_verify(int dir, const struct blob_ref *ref, struct err *err)
{
	_cleanup_close_ int fd = blob_open(dir, ref, err);
	EVP_MD_CTX *hash;
	char buffer[65536], digest[DIGEST_HEX];
	ssize_t n;

	if (fd < 0)
		return fd;
	hash = digest_begin();
	if (!hash)
		return err_errno(err, ENOMEM, "hashing");
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		EVP_DigestUpdate(hash, buffer, (size_t)n);
	digest_finish(hash, digest);
	EVP_MD_CTX_free(hash);
	if (n < 0)
		return err_errno(err, errno, "reading the blob %s", ref->digest);
	return strcmp(digest, ref->digest)
		       ? err_set(err, EBADMSG, "the blob %s has been changed: it is %s now",
				 ref->digest, digest)
		       : 0;
}

int blob_get(int dir, const struct blob_ref *ref, size_t max, char **ret, struct err *err)
{
	_cleanup_close_ int fd = -1;
	EVP_MD_CTX *hash;
	char digest[DIGEST_HEX], *text = NULL;
	size_t len;
	int r;

	if (ref->size > max)
		return err_set(err, EFBIG, "the blob %s has %llu bytes; at most %zu are read",
			       ref->digest, (unsigned long long)ref->size, max);
	fd = blob_open(dir, ref, err);
	if (fd < 0)
		return fd;
	r = os_read_fd(fd, max, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading the blob %s", ref->digest);
	hash = digest_begin();
	if (hash) {
		EVP_DigestUpdate(hash, text, len);
		digest_finish(hash, digest);
	}
	EVP_MD_CTX_free(hash);
	if (!hash || strcmp(digest, ref->digest)) {
		free(text);
		return err_set(err, EBADMSG, "the blob %s has been changed", ref->digest);
	}
	*ret = text;
	return 0;
}
