/* SPDX-License-Identifier: MIT */
/* The range of ids that this user may have in a user namespace, and the programs that give it. */
#include <fcntl.h>
#include <string.h>

#include "os/fs.h"
#include "os/proc.h"
#include "spec/host_priv.h"

/* "name:first:count" or "uid:first:count": the largest one. */
static void find_range(const struct host *host, const char *file, unsigned *ret_first,
		       unsigned *ret_count)
{
	_cleanup_free_ char *text = NULL;
	char number[16], *line, *rest;

	snprintf(number, sizeof(number), "%u", host->uid);
	if (os_read_file_at(AT_FDCWD, file, 1 << 20, &text, NULL) < 0)
		return;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		char *name = strsep(&line, ":");
		unsigned first, count;

		if (!line || sscanf(line, "%u:%u", &first, &count) != 2 || count <= *ret_count ||
		    (strcmp(name, host->user) && strcmp(name, number)))
			continue;
		*ret_first = first;
		*ret_count = count;
	}
}

static void probe_ids(char **environment, struct host *host)
{
	const char *path = host_raw_env(environment, "PATH");

	host->ids.newuidmap = os_find_program(&host->arena, "newuidmap", path, NULL);
	host->ids.newgidmap = os_find_program(&host->arena, "newgidmap", path, NULL);
	find_range(host, "/etc/subuid", &host->ids.first_uid, &host->ids.n_uids);
	find_range(host, "/etc/subgid", &host->ids.first_gid, &host->ids.n_gids);
}

/* Nothing of a project's, an agent's or a user's. */
int host_probe_builder(const struct spec *spec, char **environment, struct host *host,
		       struct err *err)
{
	int r;

	host_probe_system(host);
	r = host_probe_image(spec, host, err);
	if (r < 0)
		return r;
	host_probe_network(spec, environment, host);
	cgroup_probe(&host->cgroup);
	host_probe_kernel(host);
	probe_ids(environment, host);
	host->tools.entry = host_find_own(host, "wrapix-entry", "../entry/wrapix-entry");
	return 0;
}
