/* SPDX-License-Identifier: MIT */
/* Copying an image out of the store: a layout is links or copies of blobs, an archive a tar of them. */
#include "image/export.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/str.h"
#include "image/layer.h"
#include "os/fs.h"

typedef int blob_fn(void *ctx, const struct blob_ref *blob, struct err *err);

static int each_blob(const struct oci_image *image, blob_fn *fn, void *ctx, struct err *err)
{
	int r = fn(ctx, &image->config, err);

	for (size_t i = 0; r == 0 && i < image->n_layers; i++)
		r = fn(ctx, &image->layers[i].blob, err);
	return r;
}

/* --- a layout --- */

struct copy {
	struct store *from, to;
};

static int copy_blob(void *ctx, const struct blob_ref *blob, struct err *err)
{
	struct copy *copy = ctx;
	_cleanup_close_ int fd = blob_open(copy->from->blobs, blob, err);
	struct blob_writer writer;
	struct blob_ref written;
	char buffer[65536];
	ssize_t n = 0;
	int r = fd < 0 ? fd : blob_begin(&writer, copy->to.blobs, err);

	if (r < 0)
		return r;
	while (r == 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		r = blob_write(&writer, buffer, (size_t)n, err);
	if (r == 0 && n < 0)
		r = err_errno(err, errno, "reading the blob %s", blob->digest);
	if (r < 0) {
		blob_abort(&writer);
		return r;
	}
	r = blob_end(&writer, &written, err);
	if (r == 0 && strcmp(written.digest, blob->digest))
		r = err_set(err, EBADMSG, "the blob %s has been changed", blob->digest);
	return r;
}

static int export_layout(struct store *store, struct oci_image *image, const char *name,
			 const char *path, struct err *err)
{
	struct copy copy = { store, STORE_NONE };
	int r = store_open(&copy.to, path, err);

	if (r == 0)
		r = each_blob(image, copy_blob, &copy, err);
	if (r == 0)
		r = copy_blob(&copy, &image->manifest, err);
	if (r == 0)
		r = store_name(&copy.to, name, &image->manifest, err);
	store_close(&copy.to);
	return r;
}

/* --- docker's archive --- */

struct pack {
	struct store *from;
	struct archive *tar;
};

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
		r = err_set(err, EIO, "writing an archive: %s", archive_error_string(tar));
	archive_entry_free(entry);
	return r;
}

static int pack_blob(void *ctx, const struct blob_ref *blob, struct err *err)
{
	struct pack *pack = ctx;
	_cleanup_close_ int fd = blob_open(pack->from->blobs, blob, err);
	char buffer[65536];
	ssize_t n = 0;
	int r = fd < 0 ? fd : begin_entry(pack->tar, blob->digest, blob->size, err);

	while (r == 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		if (archive_write_data(pack->tar, buffer, (size_t)n) != n)
			r = err_set(err, EIO, "writing an archive: %s",
				    archive_error_string(pack->tar));
	return r == 0 && n < 0 ? err_errno(err, errno, "reading a blob") : r;
}

static int pack_manifest(struct archive *tar, const struct oci_image *image, const char *name,
			 struct err *err)
{
	_cleanup_str_ struct str text = { 0 }, tag = { 0 };
	int r;

	str_addf(&tag, "localhost/wrapix-%s:%.12s", name, image->manifest.digest);
	str_addf(&text, "[{\"Config\":\"%s\",\"RepoTags\":[", image->config.digest);
	json_add_string(&text, tag.s);
	str_add(&text, "],\"Layers\":[");
	for (size_t i = 0; i < image->n_layers; i++)
		str_addf(&text, "%s\"%s\"", i ? "," : "", image->layers[i].blob.digest);
	str_add(&text, "]}]\n");
	r = begin_entry(tar, "manifest.json", text.len, err);
	if (r == 0 && archive_write_data(tar, text.s, text.len) != (la_ssize_t)text.len)
		r = err_set(err, EIO, "writing an archive: %s", archive_error_string(tar));
	return r;
}

static int export_archive(struct store *store, struct oci_image *image, const char *name,
			  const char *path, struct err *err)
{
	struct pack pack = { store, archive_write_new() };
	int r = 0;

	if (!pack.tar)
		return err_errno(err, ENOMEM, "writing '%s'", path);
	if (archive_write_set_format_ustar(pack.tar) != ARCHIVE_OK ||
	    archive_write_open_filename(pack.tar, path) != ARCHIVE_OK)
		r = err_set(err, EIO, "writing '%s': %s", path, archive_error_string(pack.tar));
	if (r == 0)
		r = each_blob(image, pack_blob, &pack, err);
	if (r == 0)
		r = pack_manifest(pack.tar, image, name, err);
	if (archive_write_close(pack.tar) != ARCHIVE_OK && r == 0)
		r = err_set(err, EIO, "writing '%s': %s", path, archive_error_string(pack.tar));
	archive_write_free(pack.tar);
	return r;
}

int image_export(struct store *store, struct oci_image *image, const char *name, const char *path,
		 struct err *err)
{
	size_t len = strlen(path);

	return (len > 4 && !strcmp(path + len - 4, ".tar") ? export_archive : export_layout)(
		store, image, name, path, err);
}
