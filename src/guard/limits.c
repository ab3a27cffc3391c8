/* SPDX-License-Identifier: MIT */
/*
 * Who is about to run into RLIMIT_DATA; see limits.h. It counts the private writable memory of one process.
 * /proc/PID/statm has that, with the stack; what seems too much is looked at again exactly.
 */
#include "guard/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/str.h"
#include "guard/caller.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/linux/seccomp.h"

#define MAPS_MAX (4u << 20) /* bytes of /proc/PID/maps */

/* The caller's own limit, which may be less than the sandbox's; 0: none, or it is gone. */
static uint64_t limit_of(const struct seccomp_notif *call)
{
	struct rlimit limit;

	if (prlimit((pid_t)call->pid, RLIMIT_DATA, NULL, &limit) < 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return limit.rlim_cur;
}

uint64_t limits_private(const char *maps, uint64_t from, uint64_t to, bool writable)
{
	uint64_t sum = 0;

	for (const char *line = maps; line && *line;
	     line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		unsigned long long start, end;
		char mode[5] = "";

		if (sscanf(line, "%llx-%llx %4s", &start, &end, mode) != 3 || mode[3] != 'p' ||
		    (mode[1] == 'w') != writable || start >= to || end <= from)
			continue;
		sum += MIN(end, to) - MAX(start, from);
	}
	return sum;
}

/* The bytes that the call would add. What a mapping is now is looked up where it matters. */
static uint64_t added(const struct seccomp_notif *call, const char *name)
{
	const __u64 *args = call->data.args;
	_cleanup_free_ char *maps = NULL;
	char path[64];

	if (str_starts(name, "mmap")) { /* or mmap2; over what is there is not counted as more */
		unsigned kind = (unsigned)args[3] & (MAP_TYPE | MAP_FIXED | MAP_GROWSDOWN);

		return kind == MAP_PRIVATE ? args[1] : 0;
	}
	snprintf(path, sizeof(path), "/proc/%u/maps", call->pid);
	if (os_read_file_at(AT_FDCWD, path, MAPS_MAX, &maps, NULL) < 0)
		return 0;
	if (!strcmp(name, "mprotect"))
		return args[0] + args[1] < args[0]
			       ? 0
			       : limits_private(maps, args[0], args[0] + args[1], false);
	return args[2] > args[1] && limits_private(maps, args[0], args[0] + 1, true)
		       ? args[2] - args[1]
		       : 0;
}

/* At most so much may become private writable memory by the call. */
static uint64_t at_most(const struct seccomp_notif *call, const char *name)
{
	return strcmp(name, "mremap") ? call->data.args[1] : call->data.args[2];
}

/* Pages, the stack's among them: less is not there. */
static uint64_t roughly_used(const struct seccomp_notif *call)
{
	unsigned long long data = 0;
	char text[160];

	if (caller_read_proc(call, "statm", text, sizeof(text)) < 0 ||
	    sscanf(text, "%*u %*u %*u %*u %*u %llu", &data) != 1)
		return 0;
	return data * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t exactly_used(const struct seccomp_notif *call)
{
	unsigned long long kib = 0;
	const char *at;
	char text[4096];

	if (caller_read_proc(call, "status", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "\nVmData:");
	return at && sscanf(at, "\nVmData: %llu", &kib) == 1 ? kib * 1024 : 0;
}

int limits_memory(void *ctx, const struct seccomp_notif *call)
{
	const char *name = seccomp_call_name(&seccomp_notify_memory, call->data.arch,
					     (uint32_t)call->data.nr);
	const struct limit_guard *l = ctx;
	uint64_t limit, more, used;

	/* The old mmap of the 32-bit sister has its arguments in memory; nobody uses it. */
	if (!name ||
	    (call->data.arch != seccomp_notify_memory.calls[0].arch && !strcmp(name, "mmap")))
		return NOTIFY_CONTINUE;
	limit = limit_of(call);
	used = limit ? roughly_used(call) : 0;
	if (!used || (at_most(call, name) <= limit && used <= limit - at_most(call, name)))
		return NOTIFY_CONTINUE;
	more = added(call, name);
	used = more ? exactly_used(call) : 0;
	/* What was read was the caller's only if it is there still. */
	if (used && (more > limit || used > limit - more) && notify_is_valid(l->notify, call->id))
		l->fn(l->ctx, &(struct limit_hit){ name, limit, (pid_t)call->pid });
	return NOTIFY_CONTINUE;
}
