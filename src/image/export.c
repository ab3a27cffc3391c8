/* SPDX-License-Identifier: MIT */
/* Copying an image out of the store: a layout is links or copies of blobs, an archive a tar of them. */
#include "image/export.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/str.h"
#include "image/interrupt.h"
#include "image/layer.h"

/* --- a layout --- */

enum { LOOK_MS = 100 };

/*
 * For two that write here at once; a file system without it has one. Whoever may read the directory can hold it, for
 * as long as they like: a signal that waits is heard.
 */
static int lock_layout(int dir, struct err *err)
{
	while (flock(dir, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		if (interrupt_check(err) < 0)
			return -err->code;
		(void)poll(NULL, 0, LOOK_MS);
	}
	return 0;
}

static int export_layout(struct store *store, struct oci_image *image, const char *name,
			 const char *path, struct err *err)
{
	struct store to;
	int r = layout_open_other(&to, path, err);

	if (r == 0)
		r = lock_layout(to.dir, err);
	if (r == 0)
		r = blob_copy(store->blobs, to.blobs, &image->config, err);
	for (size_t i = 0; r == 0 && i < image->n_layers; i++)
		r = blob_copy(store->blobs, to.blobs, &image->layers[i].blob, err);
	if (r == 0)
		r = blob_copy(store->blobs, to.blobs, &image->manifest, err);
	if (r == 0)
		r = layout_put(&to, name, &image->manifest, err);
	layout_close(&to);
	return r;
}

/* --- archives --- */

struct pack {
	struct store *from;
	struct archive *tar;
	const char *prefix; /* of blobs' names */
};

static int pack_failed(struct archive *tar, struct err *err)
{
	return err_set(err, EIO, "writing an archive: %s", archive_error_string(tar) ?: "");
}

static int begin_entry(struct archive *tar, const char *name, uint64_t size, struct err *err)
{
	struct archive_entry *entry = archive_entry_new();
	int r = 0;

	if (!entry)
		return err_errno(err, ENOMEM, "writing an archive");
	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, S_IFREG | 0644);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_mtime(entry, LAYER_TIME, 0);
	if (archive_write_header(tar, entry) != ARCHIVE_OK)
		r = pack_failed(tar, err);
	archive_entry_free(entry);
	return r;
}

/* Some programs make missing ones as root's, which they may not. */
static int pack_dir(struct archive *tar, const char *name, struct err *err)
{
	struct archive_entry *entry = archive_entry_new();
	int r = 0;

	if (!entry)
		return err_errno(err, ENOMEM, "writing an archive");
	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, S_IFDIR | 0755);
	archive_entry_set_mtime(entry, LAYER_TIME, 0);
	if (archive_write_header(tar, entry) != ARCHIVE_OK)
		r = pack_failed(tar, err);
	archive_entry_free(entry);
	return r;
}

static int pack_text(struct archive *tar, const char *name, const char *text, struct err *err)
{
	int r = begin_entry(tar, name, strlen(text), err);

	if (r == 0 && archive_write_data(tar, text, strlen(text)) != (la_ssize_t)strlen(text))
		r = pack_failed(tar, err);
	return r;
}

static int pack_blob(struct pack *pack, const struct blob_ref *blob, struct err *err)
{
	_cleanup_close_ int fd = blob_open(pack->from->blobs, blob, err);
	char buffer[65536], name[DIGEST_HEX + 32];
	ssize_t n = 0;
	int r;

	snprintf(name, sizeof(name), "%s%s", pack->prefix, blob->digest);
	r = fd < 0 ? fd : begin_entry(pack->tar, name, blob->size, err);
	while (r == 0 && (r = interrupt_check(err)) == 0 &&
	       (n = read(fd, buffer, sizeof(buffer))) > 0)
		if (archive_write_data(pack->tar, buffer, (size_t)n) != n)
			r = pack_failed(pack->tar, err);
	return r == 0 && n < 0 ? err_errno(err, errno, "reading a blob") : r;
}

/* Layers that several places of the image have are in the archive once. */
static int pack_layers(struct pack *pack, const struct oci_image *image, struct err *err)
{
	int r = pack_blob(pack, &image->config, err);

	for (size_t i = 0; r == 0 && i < image->n_layers; i++) {
		size_t first = 0;

		while (strcmp(image->layers[first].blob.digest, image->layers[i].blob.digest))
			first++;
		if (first == i)
			r = pack_blob(pack, &image->layers[i].blob, err);
	}
	return r;
}

static int pack_docker(struct pack *pack, const struct oci_image *image, const char *name,
		       struct err *err)
{
	_cleanup_str_ struct str text = { 0 }, tag = { 0 };
	int r = pack_layers(pack, image, err);

	str_addf(&tag, "localhost/wrapix-%s:%.12s", name, image->manifest.digest);
	str_addf(&text, "[{\"Config\":\"%s\",\"RepoTags\":[", image->config.digest);
	json_add_string(&text, tag.s);
	str_add(&text, "],\"Layers\":[");
	for (size_t i = 0; i < image->n_layers; i++)
		str_addf(&text, "%s\"%s\"", i ? "," : "", image->layers[i].blob.digest);
	str_add(&text, "]}]\n");
	return r < 0 ? r : pack_text(pack->tar, "manifest.json", text.s, err);
}

static int pack_oci(struct pack *pack, const struct oci_image *image, const char *name,
		    struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	struct oci_index index = { 0 };
	int r;

	pack->prefix = "blobs/sha256/";
	oci_index_put(&index, name, &image->manifest);
	oci_format_index(&index, &text);
	oci_index_release(&index);
	r = pack_text(pack->tar, "oci-layout", oci_layout_text, err);
	if (r == 0)
		r = pack_text(pack->tar, "index.json", text.s, err);
	if (r == 0)
		r = pack_dir(pack->tar, "blobs", err);
	if (r == 0)
		r = pack_dir(pack->tar, "blobs/sha256", err);
	if (r == 0)
		r = pack_blob(pack, &image->manifest, err);
	return r < 0 ? r : pack_layers(pack, image, err);
}

typedef int pack_fn(struct pack *pack, const struct oci_image *image, const char *name,
		    struct err *err);

static int export_archive(struct store *store, struct oci_image *image, const char *name,
			  const char *path, pack_fn *fill, struct err *err)
{
	struct pack pack = { store, archive_write_new(), "" };
	_cleanup_str_ struct str part = { 0 };
	_cleanup_close_ int fd = -1;
	int r = 0;

	if (!pack.tar)
		return err_errno(err, ENOMEM, "writing '%s'", path);
	/* That of one that was killed goes; in a directory of everybody's it is nobody else's, nor a link. */
	str_addf(&part, "%s.part", path);
	unlink(part.s);
	fd = open(part.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		archive_write_free(pack.tar);
		return err_errno(err, errno, "making '%s'", part.s);
	}
	if (archive_write_set_format_ustar(pack.tar) != ARCHIVE_OK ||
	    archive_write_open_fd(pack.tar, fd) != ARCHIVE_OK)
		r = pack_failed(pack.tar, err);
	if (r == 0)
		r = fill(&pack, image, name, err);
	if (archive_write_close(pack.tar) != ARCHIVE_OK && r == 0)
		r = pack_failed(pack.tar, err);
	archive_write_free(pack.tar);
	if (r == 0 && rename(part.s, path) < 0)
		r = err_errno(err, errno, "renaming");
	if (r < 0)
		unlink(part.s);
	return r < 0 ? err_wrap(err, "'%s'", path) : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len > strlen(end) && !strcmp(text + len - strlen(end), end);
}

int image_export(struct store *store, struct oci_image *image, const char *name, const char *path,
		 struct err *err)
{
	if (ends_with(path, ".oci.tar"))
		return export_archive(store, image, name, path, pack_oci, err);
	if (ends_with(path, ".tar"))
		return export_archive(store, image, name, path, pack_docker, err);
	return export_layout(store, image, name, path, err);
}
