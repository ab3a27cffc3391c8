/* SPDX-License-Identifier: MIT */
/* A hostile layer onto a root that has a link out of it: nothing beside the root changes. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "image/unpack.h"
#include "os/fs.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[FUZZ_DIR_MAX];
	struct unpack_limits left = { .bytes = 1 << 20, .entries = 1000, .stream = 4 << 20 };
	struct err err = { 0 };
	struct stat before, after;
	int top, root, blob, r;

	top = fuzz_make_dir(dir);
	check(mkdirat(top, "root", 0755) == 0 && mkdirat(top, "outside", 0755) == 0);
	check(symlinkat("../outside", top, "root/out") == 0);
	root = openat(top, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	blob = memfd_create("layer", MFD_CLOEXEC);
	check(root >= 0 && blob >= 0 && os_write_all(blob, data, size) == 0);
	check(fstatat(top, "outside", &before, 0) == 0);
	r = unpack_layer(root, blob, &left, &err);
	check(r == 0 || err.msg[0]);
	check(fstatat(top, "outside", &after, 0) == 0);
	check(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
	      before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_mode == after.st_mode &&
	      after.st_nlink == before.st_nlink);
	close(root);
	close(blob);
	close(top);
	os_remove_tree(AT_FDCWD, dir);
	return 0;
}
