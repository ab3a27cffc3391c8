/* SPDX-License-Identifier: MIT */
/* Documents of an image: an index, a manifest and a configuration that are all the same hostile text. */
#include <fcntl.h>
#include <string.h>

#include "image/store.h"
#include "os/fs.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/wrapix-fuzz-oci.XXXXXX";
	struct oci_image image = { 0 };
	struct oci_index index;
	struct store store;
	struct err err = { 0 };

	check(mkdtemp(path) != NULL && layout_open(&store, path, &err) == 0);
	check(os_write_file_atomic(store.dir, "index.json", data, size, 0644, &err) == 0);
	check(blob_put(store.blobs, data, size, &image.manifest, &err) == 0);
	if (oci_read_image(store.blobs, &image, &err) == 0)
		check(image.n_layers <= OCI_MAX_LAYERS);
	else
		check(err.msg[0]);
	oci_image_release(&image);
	if (oci_read_index(store.dir, &index, &err) == 0) {
		check(index.n <= OCI_MAX_IMAGES);
		/* What was read can be written, and read again. */
		check(oci_write_index(store.dir, &index, &err) == 0);
		oci_index_release(&index);
		check(oci_read_index(store.dir, &index, &err) == 0);
		oci_index_release(&index);
	}
	layout_close(&store);
	os_remove_tree(AT_FDCWD, path);
	return 0;
}
