/* SPDX-License-Identifier: MIT */
/* The range of ids that this user may have in a user namespace, and the programs that give it. */
#include <fcntl.h>
#include <string.h>

#include "os/fs.h"
#include "os/proc.h"
#include "spec/host_priv.h"

enum { IDS_FROM = 100000, IDS_IN_RANGE = 65536 }; /* as useradd(8) has it */

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

/* Past the ranges of a file: all of them or, of a 'gap', those in the way of one that begins at 'from'. */
static uint64_t pass_taken(const char *file, uint64_t from, bool gap)
{
	_cleanup_free_ char *text = NULL;
	char *line, *rest;

	if (os_read_file_at(AT_FDCWD, file, 1 << 20, &text, NULL) < 0)
		return from;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		unsigned long long first, count;

		strsep(&line, ":");
		if (line && sscanf(line, "%10llu:%10llu", &first, &count) == 2 &&
		    first + count > from && (!gap || first < from + IDS_IN_RANGE))
			from = first + count;
	}
	return from;
}

/* The first of a range that nobody has in either file; 0: there is none. */
static unsigned find_free(bool gap)
{
	uint64_t from = IDS_FROM, was;

	do {
		was = from;
		from = pass_taken("/etc/subuid", from, gap);
		from = pass_taken("/etc/subgid", from, gap);
	} while (gap && from != was);
	return from + IDS_IN_RANGE <= UINT32_MAX ? (unsigned)from : 0;
}

/* Whoever shares a range has the other's files in reach. Some give away all ids to the last one, for
 * podman's --userns=auto: then there is a gap below. */
char *host_ids_advice(struct arena *arena, const char *user)
{
	unsigned first = find_free(false), last;

	first = first ? first : find_free(true);
	last = first + IDS_IN_RANGE - 1;
	if (!first)
		return arena_strdup(arena, "a range for you in /etc/subuid and /etc/subgid, of ids "
					   "that nobody has");
	return arena_printf(arena, "sudo usermod --add-subuids %u-%u --add-subgids %u-%u %s", first,
			    last, first, last, user);
}

static void probe_ids(char **environment, struct host *host)
{
	const char *path = host_raw_env(environment, "PATH");

	host->ids.newuidmap = os_find_program(&host->arena, "newuidmap", path, NULL);
	host->ids.newgidmap = os_find_program(&host->arena, "newgidmap", path, NULL);
	find_range(host, "/etc/subuid", &host->ids.first_uid, &host->ids.n_uids);
	find_range(host, "/etc/subgid", &host->ids.first_gid, &host->ids.n_gids);
	host->ids.advice = host_ids_advice(&host->arena, host->user);
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
