/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over the files of its corpus and what fuzzing has learned, so that they are ordinary tests. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "base/base64.h"
#include "lib/tap.h"
#include "os/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly that size, so that a sanitizer sees a read past its end. */
static void replay(const char *text, size_t len)
{
	_cleanup_free_ uint8_t *data = malloc(len ? len : 1);

	if (!data)
		abort();
	memcpy(data, text, len);
	LLVMFuzzerTestOneInput(data, len);
}

/* A line each, in base64: learned.py has the format. */
static void replay_learned(const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len, n = 0;
	char *line, *rest;

	if (os_read_file_at(AT_FDCWD, path, (size_t)1 << 20, &text, &len) < 0)
		return; /* nothing was learned yet */
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest) {
		_cleanup_free_ char *data = *line == '#' ? NULL : malloc(strlen(line) + 1);
		ssize_t got = data ? base64_decode(line, strlen(line), data, strlen(line)) : 0;

		if (got > 0)
			replay(data, (size_t)got);
		n += got > 0;
	}
	ok(n > 0, "what was learned (%zu)", n);
}

int main(int argc, char **argv)
{
	struct dirent **names = NULL;
	int dir, n;

	if (argc != 3)
		return EXIT_FAILURE;
	dir = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	n = scandir(argv[1], &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ struct dirent *entry = names[i];
		_cleanup_free_ char *text = NULL;
		size_t len;
		int r;

		if (entry->d_name[0] == '.')
			continue;
		r = os_read_file_at(dir, entry->d_name, (size_t)1 << 21, &text, &len);
		if (r == 0)
			replay(text, len); /* the target aborts where something does not hold */
		ok(r == 0, "%s", entry->d_name);
	}
	free(names);
	replay_learned(argv[2]);
	return done();
}
