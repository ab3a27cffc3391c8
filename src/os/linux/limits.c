/* SPDX-License-Identifier: MIT */
/* Which way holds which limit, in words; rlimits.c does what is left to rlimits. */
#include "os/linux/cgroup_priv.h"

#include <inttypes.h>
#include <string.h>

/* The defaults. pids: threads count too; a browser takes some 300, each node 11, a parallel test run
 * with browsers 2,000. Fewer on a machine that could not carry so many. */
enum {
	PIDS_MAX = CGROUP_PIDS_MAX,
	PIDS_MIN = 512,
	BYTES_PER_PID = 256 * 1024, /* what a process of a fork bomb costs the kernel, with room */
	MEMORY_NUM = 3,
	MEMORY_DEN = 4,
};

static void lower(uint64_t *value, uint64_t ceiling)
{
	if (ceiling && (*value == 0 || *value > ceiling))
		*value = ceiling;
}

/* A group elsewhere leaves the limits of the one we stand in: they go along. */
static void keep_below_ceiling(struct cgroup_limits *limits, const struct cgroup_limits *ceiling)
{
	lower(&limits->memory, ceiling->memory);
	lower(&limits->pids, ceiling->pids);
	if (ceiling->cpus > 0 && (limits->cpus <= 0 || limits->cpus > ceiling->cpus))
		limits->cpus = ceiling->cpus;
}

void cgroup_limits_default(struct cgroup_limits *limits, const struct cgroup_facts *facts)
{
	enum cgroup_kind kind;

	if (!(limits->asked & LIMIT_BIT(LIMIT_MEMORY)))
		limits->memory = facts->ram / MEMORY_DEN * MEMORY_NUM;
	if (!(limits->asked & LIMIT_BIT(LIMIT_PIDS)))
		limits->pids = MAX(MIN(facts->ram / BYTES_PER_PID, PIDS_MAX), PIDS_MIN);
	kind = cgroup_choose(facts, limits);
	if (kind == CGROUP_V2 || kind == CGROUP_SYSTEMD)
		keep_below_ceiling(limits, &facts->ceiling);
}

unsigned cgroup_wanted(const struct cgroup_limits *limits)
{
	unsigned bits = 0;

	if (limits->memory)
		bits |= LIMIT_BIT(LIMIT_MEMORY);
	if (limits->pids)
		bits |= LIMIT_BIT(LIMIT_PIDS);
	if (limits->cpus > 0)
		bits |= LIMIT_BIT(LIMIT_CPUS);
	return bits;
}

unsigned cgroup_holds(const struct cgroup_facts *facts, enum cgroup_kind kind)
{
	switch (kind) {
	case CGROUP_V2:
		return facts->v2;
	case CGROUP_V1:
		return facts->v1;
	case CGROUP_SYSTEMD:
		return facts->systemd;
	case CGROUP_NONE:
		break;
	}
	return 0;
}

enum cgroup_kind cgroup_choose(const struct cgroup_facts *facts, const struct cgroup_limits *limits)
{
	static const enum cgroup_kind cheap[] = { CGROUP_V2, CGROUP_V1 };
	unsigned want = cgroup_wanted(limits);
	unsigned asked = limits->asked & want;

	/* In systemd's own tree it may take the cpu controller back when its last unit that needs
	 * it ends; a scope of its own keeps it. Memory and pids it never takes back. */
	if ((asked & facts->systemd & LIMIT_BIT(LIMIT_CPUS)) && (asked & ~facts->systemd) == 0)
		return CGROUP_SYSTEMD;
	for (size_t i = 0; i < ARRAY_LEN(cheap); i++) {
		unsigned held = cgroup_holds(facts, cheap[i]);

		if ((held & want) && (asked & ~held) == 0)
			return cheap[i];
	}
	if ((limits->patient ? want : asked) & facts->systemd)
		return CGROUP_SYSTEMD;
	for (size_t i = 0; i < ARRAY_LEN(cheap); i++)
		if (cgroup_holds(facts, cheap[i]) & want)
			return cheap[i];
	return CGROUP_NONE;
}

const char *cgroup_kind_name(enum cgroup_kind kind)
{
	static const char *const names[] = {
		[CGROUP_NONE] = "rlimits",
		[CGROUP_V2] = "cgroup v2",
		[CGROUP_V1] = "cgroup v1",
		[CGROUP_SYSTEMD] = "systemd scope",
	};

	return names[kind];
}

/* "memory 1.5 GiB", "pids 8192", "cpus 1.5"; bare "memory" when there is no limit. */
static void format_limit(const struct cgroup_limits *limits, enum limit limit, char *buf,
			 size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)limits->memory;
	size_t unit = 0;

	switch (limit) {
	case LIMIT_MEMORY:
		for (; value >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
			value /= 1024;
		(void)snprintf(buf, size, limits->memory ? "memory %.4g %s" : "memory", value,
			       units[unit]);
		break;
	case LIMIT_PIDS:
		(void)snprintf(buf, size, limits->pids ? "pids %" PRIu64 : "pids", limits->pids);
		break;
	default:
		(void)snprintf(buf, size, limits->cpus > 0 ? "cpus %.4g" : "cpus", limits->cpus);
		break;
	}
}

/* How a limit that no group holds is held: words, and whether anything holds it at all, and
 * whether that is for the sandbox as a whole. */
static const char *weaker_way(const struct cgroup_facts *facts, const struct cgroup_limits *limits,
			      enum limit limit, bool *ret_held, bool *ret_whole)
{
	*ret_held = true;
	*ret_whole = false;
	if (limit == LIMIT_CPUS)
		return "affinity to whole processors, which a program inside can lift";
	if (limit == LIMIT_MEMORY && (limits->asked & LIMIT_BIT(LIMIT_MEMORY)))
		return "each process on its own (RLIMIT_DATA), not the whole sandbox";
	if (limit == LIMIT_PIDS && facts->uid != 0) {
		*ret_whole = facts->nproc_is_own;
		return facts->nproc_is_own
			       ? "RLIMIT_NPROC (whole sandbox)"
			       : "RLIMIT_NPROC, which counts all of this user's processes";
	}
	*ret_held = false;
	if (limit == LIMIT_PIDS)
		return "not limited (RLIMIT_NPROC does not bind root)";
	return facts->systemd & LIMIT_BIT(LIMIT_MEMORY)
		       ? "not limited (a limit you name would be, by a systemd scope)"
		       : "not limited (only a control group could)";
}

bool cgroup_describe(const struct cgroup_facts *facts, const struct cgroup_limits *limits,
		     enum limit limit, char *buf, size_t size)
{
	const struct cgroup_limits none = { 0 };
	enum cgroup_kind kind = cgroup_choose(facts, limits);
	bool wanted = cgroup_wanted(limits) & LIMIT_BIT(limit), held = true, whole = true;
	const char *way = "no limit";
	char name[64];

	if (wanted && (cgroup_holds(facts, kind) & LIMIT_BIT(limit)))
		way = NULL;
	else if (wanted)
		way = weaker_way(facts, limits, limit, &held, &whole);
	format_limit(held ? limits : &none, limit, name, sizeof(name));
	if (way)
		(void)snprintf(buf, size, "%s: %s", name, way);
	else
		(void)snprintf(buf, size, "%s: %s (whole sandbox)", name, cgroup_kind_name(kind));
	return whole;
}

/* The parts in which a fix names the user. */
#define DELEGATE "/etc/systemd/system/user@.service.d"

static const char fix_delegate[] =
	"sudo mkdir -p " DELEGATE "\n"
	"printf '[Service]\\nDelegate=cpu cpuset io memory pids\\n' | sudo tee " DELEGATE
	"/delegate.conf\n"
	"sudo systemctl daemon-reload && sudo systemctl restart user@%u.service # ends its "
	"sessions";
static const char fix_manager[] = "sudo loginctl enable-linger %u\n"
				  "export XDG_RUNTIME_DIR=/run/user/%u";
static const char fix_v1[] =
	"for c in memory pids cpu; do sudo mkdir -p /sys/fs/cgroup/$c/wrapix.%u && "
	"sudo chown -R %u /sys/fs/cgroup/$c/wrapix.%u; done";
static const char fix_v2[] =
	"sudo sh -c 'cd /sys/fs/cgroup && mkdir -p user.%u/shell && "
	"echo +memory +pids +cpu | tee cgroup.subtree_control user.%u/cgroup.subtree_control && "
	"chown -R %u user.%u && echo '$$' >user.%u/shell/cgroup.procs'";
static const char fix_kernel[] =
	"mount a cgroup2 file system on /sys/fs/cgroup (uid %u has none to use)";

void cgroup_fix(const struct cgroup_facts *facts, char *buf, size_t size)
{
	unsigned held = facts->v2 | facts->v1 | facts->systemd;
	unsigned uid = (unsigned)facts->uid;

	buf[0] = '\0';
	if (held == LIMIT_ALL)
		return;
	if (facts->layout == CGROUP_LAYOUT_V2 && facts->systemd_booted) {
		if (facts->systemd_socket[0])
			(void)snprintf(buf, size, fix_delegate, uid);
		else
			(void)snprintf(buf, size, fix_manager, uid, uid);
	} else if (facts->layout == CGROUP_LAYOUT_V2) {
		(void)snprintf(buf, size, fix_v2, uid, uid, uid, uid, uid);
	} else if (facts->layout == CGROUP_LAYOUT_V1) {
		(void)snprintf(buf, size, fix_v1, uid, uid, uid);
	} else {
		(void)snprintf(buf, size, fix_kernel, uid);
	}
}
