/* SPDX-License-Identifier: MIT */
/* Going through a directory of a file system that does not say what its entries are, as XFS without ftype and several of FUSE's. */
#include "os/dir.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tap.h"

/* In place of the C library's, which it asks: it forgets the type. */
struct dirent *readdir(DIR *list)
{
	static struct dirent *(*real)(DIR *);
	struct dirent *entry;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	entry = real(list);
	if (entry)
		entry->d_type = DT_UNKNOWN;
	return entry;
}

int main(void)
{
	static const struct {
		const char *name;
		int type;
	} kinds[] = {
		{ "dir", DT_DIR }, { "file", DT_REG }, { "link", DT_LNK }, { "fifo", DT_FIFO }
	};
	char path[] = "/tmp/test-dir.XXXXXX";
	int at = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	size_t seen = 0;
	struct dirent *entry;
	DIR *list;

	ok(mkdirat(at, "dir", 0700) == 0 && symlinkat("dir", at, "link") == 0 &&
		   mkfifoat(at, "fifo", 0600) == 0 &&
		   close(openat(at, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0,
	   "one of each");
	list = os_dir_open(at, ".");
	while ((entry = os_dir_next(list)) != NULL)
		for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
			if (!strcmp(entry->d_name, kinds[i].name)) {
				is_int(entry->d_type, kinds[i].type, "the type of a %s",
				       kinds[i].name);
				seen++;
			}
	is_int((long long)seen, ARRAY_LEN(kinds), "all of them");
	closedir_ptr(&list);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		unlinkat(at, kinds[i].name, kinds[i].type == DT_DIR ? AT_REMOVEDIR : 0);
	close(at);
	rmdir(path);
	return done();
}
