/* SPDX-License-Identifier: MIT */
/*
 * Becomes a command with another home, where no session left anything for the next: forget HOME COMMAND...
 * What is prepared there stays, and no longer counts.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct dirent *entry;
	char path[512];
	DIR *dir;

	if (argc < 3 || setenv("HOME", argv[1], 1) < 0)
		return 2;
	snprintf(path, sizeof(path), "%s/.local/state/wrapix/gitready", argv[1]);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/made", entry->d_name);
		unlinkat(dirfd(dir), path, 0);
	}
	execv(argv[2], argv + 2);
	return 127;
}
