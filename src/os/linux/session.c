/* SPDX-License-Identifier: MIT */
/* The processes of a session, by /proc. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/dir.h"
#include "os/proc.h"

enum { ROUNDS = 64 }; /* one that forks faster than we look has them all */

static bool is_dead(const char *name)
{
	char path[300], line[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	file = fopen(path, "re");
	if (!file)
		return true;
	state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return !state || state[2] == 'Z' || state[2] == 'X';
}

static bool kill_once(pid_t session)
{
	_cleanup_dir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;
	bool any = false;

	while ((entry = os_dir_next(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 1 || pid == session || getsid(pid) != session || is_dead(entry->d_name))
			continue;
		any |= kill(pid, SIGKILL) == 0;
	}
	return any;
}

void os_kill_session(pid_t session)
{
	for (int i = 0; i < ROUNDS && kill_once(session); i++)
		;
}
