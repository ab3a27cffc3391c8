/* SPDX-License-Identifier: MIT */
/*
 * What this host lets this user do with control groups, found with a handful of system calls.
 *
 * Version 2: we may make a group in any directory from our own group upwards that is ours to write,
 * whose cgroup.procs we may write too (a process moves only when the common ancestor of where it
 * is and where it goes permits it), and that already hands controllers down (cgroup.subtree_control:
 * a group with processes in it cannot, so it is never our own group but often its parent; under
 * systemd, app.slice or user@UID.service). The nearest that hands down memory and pids wins: the
 * higher we go, the more limits of others we would leave behind; what we do leave goes along as the
 * ceiling.
 *
 * Version 1: our own group of each hierarchy, or wrapix.UID at its top, which an administrator made
 * for us. A group with processes may have children there, and no common ancestor is asked.
 *
 * Only what the files say is claimed: a mounted version 2 without the memory controller does not
 * hold memory.
 */
#include "os/linux/cgroup_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "os/fs.h"

const char *const cgroup_controllers[LIMIT_COUNT] = { "memory", "pids", "cpu" };

enum { DEPTH_MAX = 32, BASIC = LIMIT_BIT(LIMIT_MEMORY) | LIMIT_BIT(LIMIT_PIDS) };

static bool writable(const char *path)
{
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Also W_OK on its cgroup.procs: what moving a process takes. */
static bool group_writable(const char *dir)
{
	char procs[CGROUP_DIR_MAX + 16];

	(void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	return writable(dir) && writable(procs);
}

/* The LIMIT_BITs of the controllers named in a list like "cpu io memory\n" or "cpu,cpuacct". */
static unsigned controller_bits(const char *list, const char *separators)
{
	unsigned bits = 0;

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, separators);

		for (size_t i = 0; i < LIMIT_COUNT; i++)
			if (len == strlen(cgroup_controllers[i]) &&
			    strncmp(p, cgroup_controllers[i], len) == 0)
				bits |= LIMIT_BIT(i);
		p += len;
		p += strspn(p, separators);
	}
	return bits;
}

static unsigned file_bits(const char *dir, const char *file)
{
	char path[CGROUP_DIR_MAX + 32], text[256];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (os_read_start_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	return controller_bits(text, " \n");
}

/* Memory and pids count most: they are what keeps the host alive. */
static int worth(unsigned bits)
{
	return 2 * __builtin_popcount(bits & BASIC) + __builtin_popcount(bits);
}

/* The first number of a control file; 0 for "max", for no file and for a file without one. */
static uint64_t read_number(const char *dir, const char *file, uint64_t *ret_second)
{
	char path[CGROUP_DIR_MAX + 32], text[64], *end;
	uint64_t value;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (os_read_start_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	value = strtoull(text, &end, 10);
	if (end == text)
		return 0;
	if (ret_second)
		*ret_second = strtoull(end, NULL, 10);
	return value;
}

/* Lowers the ceiling to the limits of one group that we would move out of. */
static void add_ceiling(struct cgroup_limits *ceiling, const char *dir)
{
	uint64_t memory = read_number(dir, "memory.max", NULL);
	uint64_t pids = read_number(dir, "pids.max", NULL);
	uint64_t period = 0, quota = read_number(dir, "cpu.max", &period);
	double cpus = period ? (double)quota / (double)period : 0;

	if (memory && (!ceiling->memory || memory < ceiling->memory))
		ceiling->memory = memory;
	if (pids && (!ceiling->pids || pids < ceiling->pids))
		ceiling->pids = pids;
	if (cpus > 0 && (ceiling->cpus <= 0 || cpus < ceiling->cpus))
		ceiling->cpus = cpus;
}

static void probe_v2(struct cgroup_facts *facts, const char *mount, const char *path)
{
	struct cgroup_limits ceiling = { 0 };
	char dir[CGROUP_DIR_MAX];
	size_t top = strlen(mount);

	/* "/..": we stand outside our cgroup namespace's root, and cannot name where we are. */
	if (strncmp(path, "/..", 3) == 0)
		return;
	if ((size_t)snprintf(dir, sizeof(dir), "%s%s", mount, strcmp(path, "/") ? path : "") >=
	    sizeof(dir))
		return;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		unsigned bits = 0;

		if (group_writable(dir))
			bits = file_bits(dir, "cgroup.subtree_control");
		if (worth(bits) > worth(facts->v2)) {
			facts->v2 = bits;
			facts->ceiling = ceiling;
			memcpy(facts->v2_dir, dir, sizeof(dir));
		}
		if (strlen(dir) <= top || (facts->v2 & BASIC) == BASIC)
			break;
		add_ceiling(&ceiling, dir);
		*strrchr(dir, '/') = '\0';
	}
	/* Without a directory of our own it is a scope, and that may be anywhere. */
	if (!facts->v2)
		facts->ceiling = ceiling;
}

static void probe_v1(struct cgroup_facts *facts, const char *root, enum limit limit,
		     const char *path)
{
	const char *ctrl = cgroup_controllers[limit];
	char dir[CGROUP_DIR_MAX];
	int n;

	n = snprintf(dir, sizeof(dir), "%s/%s%s", root, ctrl, strcmp(path, "/") ? path : "");
	if (n < 0 || (size_t)n >= sizeof(dir))
		return;
	if (!group_writable(dir)) {
		(void)snprintf(dir, sizeof(dir), "%s/%s/wrapix.%u", root, ctrl,
			       (unsigned)facts->uid);
		if (!group_writable(dir))
			return;
	}
	facts->v1 |= LIMIT_BIT(limit);
	memcpy(facts->v1_dir[limit], dir, sizeof(dir));
}

/* What the user's manager can hold is what was delegated to it, whatever it accepts over D-Bus. */
static void probe_systemd(struct cgroup_facts *facts, const char *root, const char *runtime)
{
	char dir[CGROUP_DIR_MAX];
	unsigned uid = (unsigned)facts->uid;
	int n;

	n = snprintf(facts->systemd_socket, sizeof(facts->systemd_socket), "%s/systemd/private",
		     runtime);
	if (n < 0 || (size_t)n >= sizeof(facts->systemd_socket) ||
	    !writable(facts->systemd_socket)) {
		facts->systemd_socket[0] = '\0';
		return;
	}
	(void)snprintf(dir, sizeof(dir), "%s/user.slice/user-%u.slice/user@%u.service", root, uid,
		       uid);
	facts->systemd = file_bits(dir, "cgroup.controllers");
}

/* One line of /proc/self/cgroup, cut into its fields: "ID:controllers:path". */
static void probe_line(struct cgroup_facts *facts, const char *root, const char *controllers,
		       const char *path)
{
	unsigned bits = controller_bits(controllers, ",");
	char hybrid[CGROUP_DIR_MAX];

	if (controllers[0] == '\0') {
		(void)snprintf(hybrid, sizeof(hybrid), "%s/unified", root);
		probe_v2(facts, facts->layout == CGROUP_LAYOUT_V2 ? root : hybrid, path);
		return;
	}
	for (size_t i = 0; i < LIMIT_COUNT; i++)
		if (bits & LIMIT_BIT(i))
			probe_v1(facts, root, i, path);
}

static enum cgroup_layout probe_layout(const char *root)
{
	static const struct {
		const char *file;
		enum cgroup_layout layout;
	} signs[] = {
		{ "cgroup.controllers", CGROUP_LAYOUT_V2 },
		{ "memory/cgroup.procs", CGROUP_LAYOUT_V1 },
		{ "pids/cgroup.procs", CGROUP_LAYOUT_V1 },
	};
	char path[CGROUP_DIR_MAX];

	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, signs[i].file);
		if (access(path, F_OK) == 0)
			return signs[i].layout;
	}
	return CGROUP_LAYOUT_NONE;
}

void cgroup_probe_in(struct cgroup_facts *ret, const char *proc, const char *root,
		     const char *runtime)
{
	char line[CGROUP_DIR_MAX];

	*ret = (struct cgroup_facts){ .uid = geteuid(), .layout = probe_layout(root) };
	for (const char *p = proc; *p && ret->layout != CGROUP_LAYOUT_NONE;) {
		size_t len = strcspn(p, "\n");
		char *controllers, *path;

		(void)snprintf(line, sizeof(line), "%.*s", (int)MIN(len, sizeof(line)), p);
		p += len + (p[len] == '\n');
		controllers = strchr(line, ':');
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path || len >= sizeof(line))
			continue; /* too long to be used, or not a line of this file */
		*path++ = '\0';
		probe_line(ret, root, controllers + 1, path);
	}
	if (ret->layout == CGROUP_LAYOUT_V2)
		probe_systemd(ret, root, runtime);
}

/* Since 5.14 a user namespace has process counts of its own. */
static bool nproc_is_own(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	if (uname(&name) < 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 14);
}

void cgroup_probe(struct cgroup_facts *ret)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char proc[4096], fallback[64];
	struct sysinfo info;

	if (!runtime || runtime[0] != '/') {
		(void)snprintf(fallback, sizeof(fallback), "/run/user/%u", (unsigned)geteuid());
		runtime = fallback;
	}
	/* Unreadable counts as empty: then there is no group to use. */
	(void)os_read_start_at(AT_FDCWD, "/proc/self/cgroup", proc, sizeof(proc));
	cgroup_probe_in(ret, proc, "/sys/fs/cgroup", runtime);
	if (sysinfo(&info) == 0)
		ret->ram = (uint64_t)info.totalram * info.mem_unit;
	ret->nproc_is_own = nproc_is_own();
	ret->systemd_booted = access("/run/systemd/system", F_OK) == 0;
}
