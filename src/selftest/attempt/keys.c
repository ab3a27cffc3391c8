/* SPDX-License-Identifier: MIT */
/* A deploy key whose signatures the sandbox may ask for, and which it must not get. */
#include "selftest/attempt/attempt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* WORKED when the file is a private key. */
static int is_private_key(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[4096];
	ssize_t n = fd < 0 ? -errno : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return (int)n;
	return memmem(text, (size_t)n, "PRIVATE KEY", 11) ? WORKED : -ENODATA;
}

#define KEYS "keyhome/.ssh/deploy_keys" /* below the victim's directory */

static int at_its_place(void)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/" KEYS "/escape", fact("base"));
	return is_private_key(path);
}

/* Where the sandbox has its half of it; outside, where the user has his. */
static int beside_the_public_half(void)
{
	char dir[4096], path[8192];
	struct dirent *entry;
	int best = -ENOENT;
	DIR *d;

	(void)snprintf(dir, sizeof(dir), "%s%s", inside ? "" : fact("base"),
		       inside ? "/etc/wrapix/ssh" : "/" KEYS);
	d = opendir(dir);
	if (!d)
		return unable("%s cannot be opened", dir);
	while (best != WORKED && (entry = readdir(d))) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		best = is_private_key(path);
	}
	closedir(d);
	return best;
}

const struct attempt key_attempts[] = {
	{ "key-file", at_its_place, PLAIN, IN_KEYS },
	{ "key-beside-public", beside_the_public_half, PLAIN, IN_KEYS },
	{ 0 },
};
