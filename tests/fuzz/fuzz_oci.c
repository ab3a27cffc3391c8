/* SPDX-License-Identifier: MIT */
/* Documents of an image: an index, a manifest and a configuration that are all the same hostile text. */
#include <fcntl.h>
#include <string.h>

#include "image/store.h"
#include "os/fs.h"
#include "fuzz.h"

/* What was read can be written, and is the same when it is read again; each is found by its name and by its digest. */
static void check_again(const struct store *store, const struct oci_index *index)
{
	struct oci_index again;
	struct err err;

	check(oci_write_index(store->dir, index, &err) == 0);
	check(oci_read_index(store->dir, &again, &err) == 0 && again.n == index->n);
	for (size_t i = 0; i < index->n; i++) {
		const struct oci_name *a = &index->names[i], *b = &again.names[i];

		check(!strcmp(a->name, b->name) && a->manifest.size == b->manifest.size &&
		      !strcmp(a->manifest.digest, b->manifest.digest));
		check(!a->name[0] || oci_index_find(&again, a->name));
		check(oci_index_find(&again, a->manifest.digest));
	}
	oci_index_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[FUZZ_DIR_MAX];
	struct oci_image image = { 0 };
	struct oci_index index;
	struct store store;
	struct err err = { 0 };

	close(fuzz_make_dir(path));
	check(layout_open(&store, path, &err) == 0);
	check(os_write_file_atomic(store.dir, "index.json", data, size, 0644, &err) == 0);
	check(blob_put(store.blobs, data, size, &image.manifest, &err) == 0);
	if (oci_read_image(store.blobs, &image, &err) == 0)
		check(image.n_layers <= OCI_MAX_LAYERS);
	else
		check(err.msg[0]);
	oci_image_release(&image);
	if (oci_read_index(store.dir, &index, &err) == 0) {
		check(index.n <= OCI_MAX_IMAGES);
		check_again(&store, &index);
		oci_index_release(&index);
	}
	layout_close(&store);
	os_remove_tree(AT_FDCWD, path);
	return 0;
}
