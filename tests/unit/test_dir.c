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

/* A second name of the same file stands for a file system that ignores case. */
static void test_case(void)
{
	char path[] = "/tmp/test-case.XXXXXX", name[64];
	int at = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	snprintf(name, sizeof(name), "%s/dir/name", path);
	ok(mkdirat(at, "dir", 0700) == 0 && !os_ignores_case(name),
	   "an empty directory tells nothing");
	ok(close(openat(at, "dir/1", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0 &&
		   !os_ignores_case(name),
	   "nor does a name without letters");
	ok(close(openat(at, "dir/4bC", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0 &&
		   !os_ignores_case(name),
	   "a name with one spelling");
	ok(linkat(at, "dir/4bC", at, "dir/4BC", 0) == 0 && os_ignores_case(name),
	   "one beside it with two");
	ok(close(openat(at, "dir/name", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0 &&
		   !os_ignores_case(name),
	   "what is there is looked at itself");
	ok(linkat(at, "dir/name", at, "dir/Name", 0) == 0 && os_ignores_case(name),
	   "and has two spellings");
	for (size_t i = 0; i < 5; i++)
		unlinkat(at,
			 ((const char *[]){ "dir/1", "dir/4bC", "dir/4BC", "dir/name",
					    "dir/Name" })[i],
			 0);
	unlinkat(at, "dir", AT_REMOVEDIR);
	close(at);
	rmdir(path);
	ok(!os_ignores_case("/") && !os_ignores_case("/nothing/of/this"), "the root");
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
	test_case();
	return done();
}
