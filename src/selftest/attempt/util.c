/* SPDX-License-Identifier: MIT */
/* What the attempts share: facts about the victims, and looking for the secret. */
#include "selftest/attempt/attempt.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FACTS "facts" /* in the project, which is the working directory on both sides */

bool inside;

int unable(const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	printf("(%s) ", why);
	return UNABLE;
}

/* Ends the attempt from any depth; the status is what run_one() understands. */
_Noreturn static void give_up(const char *what, const char *key)
{
	printf("(%s %s) ", what, key);
	fflush(stdout);
	_exit(2);
}

const char *fact(const char *key)
{
	static char line[4096];
	size_t len = strlen(key);
	FILE *f = fopen(FACTS, "re");

	if (!f)
		give_up("no file", FACTS);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, len) && line[len] == '=') {
			char *value;

			(void)fclose(f);
			line[strcspn(line, "\n")] = '\0';
			value = strdup(line + len + 1);
			if (!value)
				give_up("no memory for", key);
			return value;
		}
	give_up("no fact", key);
}

long fact_number(const char *key)
{
	return strtol(fact(key), NULL, 0);
}

int outcome(long result)
{
	return result < 0 ? -errno : WORKED;
}

int find_secret(const char *bytes, size_t len)
{
	const char *token = fact("token");

	return memmem(bytes, len, token, strlen(token)) ? WORKED : -ENODATA;
}

int read_secret_fd(int fd)
{
	static char buf[1 << 16];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, sizeof(buf));
	if (n < 0)
		n = -errno;
	close(fd);
	return n < 0 ? (int)n : find_secret(buf, (size_t)n);
}

int read_secret_at(int dir_fd, const char *path)
{
	return read_secret_fd(openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

int read_secret(const char *path)
{
	return read_secret_at(AT_FDCWD, path);
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : outcome(write(fd, text, strlen(text)));

	if (fd >= 0)
		close(fd);
	return r;
}

const char *proc_path(long pid, const char *name)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	return path;
}

int for_each_process(int (*fn)(long pid))
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int r = dir ? -ESRCH : -errno;

	while (dir && r != WORKED && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0])) {
			int k = fn(strtol(entry->d_name, NULL, 10));

			r = k == UNABLE ? r : k;
		}
	if (dir)
		(void)closedir(dir);
	return r;
}
