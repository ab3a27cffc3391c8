/* SPDX-License-Identifier: MIT */
/* Writing a layer: libarchive makes the tar, which is hashed, compressed and hashed again. */
#include "image/layer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "image/pack.h"

static int on_packed(void *ctx, const void *data, size_t len)
{
	struct layer_writer *layer = ctx;

	return blob_write(&layer->blob, data, len, &layer->failure);
}

static la_ssize_t on_tar(_unused_ struct archive *tar, void *ctx, const void *data, size_t len)
{
	struct layer_writer *layer = ctx;

	EVP_DigestUpdate(layer->plain, data, len);
	return packer_add(layer->packer, data, len) < 0 ? -1 : (la_ssize_t)len;
}

static int tar_failed(struct layer_writer *layer, const char *what, struct err *err)
{
	if (layer->failure.code) {
		*err = layer->failure;
		return -err->code;
	}
	return err_set(err, EIO, "%s: %s", what, archive_error_string(layer->tar) ?: "no reason");
}

int layer_begin(struct layer_writer *layer, int blobs, enum compression how, struct err *err)
{
	int r;

	*layer = (struct layer_writer){ .blob.fd = -1 };
	r = blob_begin(&layer->blob, blobs, err);
	if (r < 0)
		return r;
	layer->plain = digest_begin();
	layer->tar = archive_write_new();
	layer->packer = packer_new(how, on_packed, layer);
	if (!layer->plain || !layer->tar || !layer->packer) {
		layer_abort(layer);
		return err_errno(err, ENOMEM, "making a layer");
	}
	if (archive_write_set_format_pax_restricted(layer->tar) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(layer->tar, 65536) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(layer->tar, 512) != ARCHIVE_OK ||
	    archive_write_open(layer->tar, layer, NULL, on_tar, NULL) != ARCHIVE_OK) {
		r = tar_failed(layer, "making a layer", err);
		layer_abort(layer);
	}
	return r;
}

int layer_add(struct layer_writer *layer, struct archive_entry *entry, struct err *err)
{
	archive_entry_set_mtime(entry, LAYER_TIME, 0);
	archive_entry_unset_atime(entry);
	archive_entry_unset_ctime(entry);
	archive_entry_unset_birthtime(entry);
	archive_entry_set_uname(entry, NULL);
	archive_entry_set_gname(entry, NULL);
	archive_entry_set_fflags(entry, 0, 0);
	layer->entries++;
	if (archive_write_header(layer->tar, entry) == ARCHIVE_OK)
		return 0;
	return tar_failed(layer, "adding to a layer", err);
}

int layer_data(struct layer_writer *layer, const void *data, size_t len, struct err *err)
{
	if (archive_write_data(layer->tar, data, len) == (la_ssize_t)len)
		return 0;
	return tar_failed(layer, "adding to a layer", err);
}

int layer_end(struct layer_writer *layer, struct layer_ref *ret, struct err *err)
{
	int r = 0;

	if (archive_write_close(layer->tar) != ARCHIVE_OK)
		r = tar_failed(layer, "ending a layer", err);
	if (r == 0 && packer_end(layer->packer) < 0)
		r = tar_failed(layer, "ending a layer", err);
	if (r == 0) {
		ret->entries = layer->entries;
		ret->compression = packer_how(layer->packer);
		digest_finish(layer->plain, ret->diff_id);
		r = blob_end(&layer->blob, &ret->blob, err);
	}
	layer_abort(layer);
	return r;
}

void layer_abort(struct layer_writer *layer)
{
	if (layer->tar)
		archive_write_free(layer->tar);
	layer->tar = NULL;
	packer_free(layer->packer);
	layer->packer = NULL;
	EVP_MD_CTX_free(layer->plain);
	layer->plain = NULL;
	blob_abort(&layer->blob);
}
