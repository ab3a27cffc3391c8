/* SPDX-License-Identifier: MIT */
/* Writing a file: old or new, never half, by several at once, and nothing beside it. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tap.h"
#include "os/fs.h"

enum { SIZE = 20000, TIMES = 150, WRITERS = 4 };

static int put(int dir, const char *name, char c, mode_t mode)
{
	char text[SIZE];
	struct err err;

	memset(text, c, sizeof(text));
	return os_write_file_soon(dir, name, text, sizeof(text), mode, &err);
}

/* The letter that the file is full of, or 0. */
static char get(int dir, const char *name)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (os_read_file_at(dir, name, SIZE, &text, &len) < 0 || len != SIZE)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (text[i] != text[0])
			return 0;
	return text[0];
}

static int count(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *list = fdopendir(fd);

	while (readdir(list))
		n++;
	closedir(list);
	return n - 2;
}

static void at_once(int dir)
{
	int whole = 0, looks = 0, status, left = WRITERS;

	for (char c = 'a'; c < 'a' + WRITERS; c++)
		if (fork() == 0) {
			int failed = 0;

			for (int i = 0; i < TIMES; i++)
				failed |= put(dir, "f", c, 0600);
			_exit(failed != 0);
		}
	while (left) {
		looks++;
		whole += get(dir, "f") != 0;
		if (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			ok(status == 0, "a writer among others succeeds each time");
		}
	}
	is_int(whole, looks, "whoever reads meanwhile reads one of them whole");
	is_int(count(dir), 1, "and nothing is left beside it");
}

int main(void)
{
	char path[] = "/tmp/wrapix-test-write.XXXXXX";
	int dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat st = { 0 };

	ok(put(dir, "f", 'x', 0640) == 0 && get(dir, "f") == 'x', "a file is made");
	ok(fstatat(dir, "f", &st, 0) == 0 && (st.st_mode & 0777) == 0640, "with its mode");
	ok(put(dir, "f", 'y', 0600) == 0 && get(dir, "f") == 'y', "another takes its place");
	ok(fstatat(dir, "f", &st, 0) == 0 && (st.st_mode & 0777) == 0600, "with a mode of its own");
	is_int(count(dir), 1, "nothing is left beside it");
	close(openat(dir, ".f.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	ok(put(dir, "f", 'z', 0600) == 0 && count(dir) == 1, "what one that was killed left goes");
	ok(symlinkat("/nonexistent", dir, ".f.new") == 0 && put(dir, "f", 'w', 0600) == 0 &&
		   get(dir, "f") == 'w' && count(dir) == 1,
	   "a link in that place, too");
	ok(mkdirat(dir, ".f.new", 0700) == 0 && put(dir, "f", 'v', 0600) == 0 &&
		   get(dir, "f") == 'v' && unlinkat(dir, ".f.new", AT_REMOVEDIR) == 0,
	   "a directory in that place stops nobody");
	at_once(dir);
	os_remove_tree(AT_FDCWD, path);
	return done();
}
