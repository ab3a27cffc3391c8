/* SPDX-License-Identifier: MIT */
/*
 * One sandbox's control group: made, entered, asked, removed.
 *
 *   DIR            delegated to the user; cgroup_probe() found it
 *   DIR/wrapix-ID  carries the limits; our lock is on this directory
 *   .../in         holds the processes of a sandbox that may mount (--allow-nested): it can mount
 *                  its cgroup namespace's root, where the files belong to its own uid; with "in"
 *                  as that root the limits are out of its reach. "in" gets no controllers in
 *                  version 2, so its memory is charged to wrapix-ID directly. Others do without,
 *                  because each directory costs 20 to 100 us.
 *
 * memory.max without memory.high, which would throttle a leaking program for ever instead of ending
 * it; no swap, because a sandbox that thrashes takes the host's disk with it. memory.oom.group stays
 * off: the kernel kills the largest process, the agent sees its compiler "Killed" and goes on;
 * killing all would end the session for one greedy test.
 *
 * Sweeping: whoever makes a group holds a lock on its directory for as long as it lives, and the
 * kernel drops that with the process. A sweep takes only what it can lock; if it wins the moment
 * between our mkdir and our lock, the directory is gone once we have the lock, and we begin again.
 */
#include "os/linux/cgroup_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"

#define LEAF "in"

enum {
	CPU_PERIOD_US = 100000,
	CREATE_TRIES = 16,
	REMOVE_TRIES = 50,
	REMOVE_PAUSE_NS = 2 * 1000 * 1000,
	TREE_DEPTH_MAX = 8,
};

static int open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

static int write_control(int dir, const char *file, const char *value)
{
	_cleanup_close_ int fd = openat(dir, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		return -errno;
	return 0;
}

/* The control files of each version, and how a limit is written into them. */
enum value { VALUE_NUMBER, VALUE_ZERO, VALUE_PERIOD, VALUE_QUOTA, VALUE_QUOTA_PERIOD };

struct control {
	enum cgroup_kind kind;
	enum limit limit;
	const char *file;
	enum value value;
	bool optional; /* absent when the kernel does not account swap */
};

static const struct control controls[] = {
	{ CGROUP_V2, LIMIT_MEMORY, "memory.max", VALUE_NUMBER },
	{ CGROUP_V2, LIMIT_MEMORY, "memory.swap.max", VALUE_ZERO, .optional = true },
	{ CGROUP_V2, LIMIT_PIDS, "pids.max", VALUE_NUMBER },
	{ CGROUP_V2, LIMIT_CPUS, "cpu.max", VALUE_QUOTA_PERIOD },
	{ CGROUP_V1, LIMIT_MEMORY, "memory.limit_in_bytes", VALUE_NUMBER },
	{ CGROUP_V1, LIMIT_MEMORY, "memory.memsw.limit_in_bytes", VALUE_NUMBER, .optional = true },
	{ CGROUP_V1, LIMIT_PIDS, "pids.max", VALUE_NUMBER },
	{ CGROUP_V1, LIMIT_CPUS, "cpu.cfs_period_us", VALUE_PERIOD },
	{ CGROUP_V1, LIMIT_CPUS, "cpu.cfs_quota_us", VALUE_QUOTA },
};

static void format_value(const struct control *control, const struct cgroup_limits *limits,
			 char *buf, size_t size)
{
	uint64_t number = control->limit == LIMIT_MEMORY ? limits->memory : limits->pids;
	uint64_t quota = (uint64_t)(limits->cpus * CPU_PERIOD_US);

	quota = MAX(quota, 1000U); /* the kernel's least */
	switch (control->value) {
	case VALUE_NUMBER:
		(void)snprintf(buf, size, "%" PRIu64, number);
		break;
	case VALUE_ZERO:
		(void)snprintf(buf, size, "0");
		break;
	case VALUE_PERIOD:
		(void)snprintf(buf, size, "%d", CPU_PERIOD_US);
		break;
	case VALUE_QUOTA:
		(void)snprintf(buf, size, "%" PRIu64, quota);
		break;
	case VALUE_QUOTA_PERIOD:
		(void)snprintf(buf, size, "%" PRIu64 " %d", quota, CPU_PERIOD_US);
		break;
	}
}

/* The slot of a limit's hierarchy: version 2 has one for all. */
static size_t slot_of(enum cgroup_kind kind, enum limit limit)
{
	return kind == CGROUP_V1 ? limit : 0;
}

static int set_limits(const struct cgroup *cg, unsigned bits, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
		const struct control *control = &controls[i];
		char value[64];
		int r;

		if (control->kind != cg->kind || !(bits & LIMIT_BIT(control->limit)))
			continue;
		format_value(control, &cg->limits, value, sizeof(value));
		r = write_control(cg->dir[slot_of(cg->kind, control->limit)], control->file, value);
		if (r < 0 && !(control->optional && r == -ENOENT))
			return err_errno(err, -r, "setting the limit %s to %s", control->file,
					 value);
	}
	return 0;
}

/* One try at DIR/wrapix-ID/in. -EAGAIN: a sweep took the directory before it was locked. */
static int make_once(struct cgroup *cg, size_t slot)
{
	int r;

	if (mkdirat(cg->parent[slot], cg->name, 0755) < 0)
		return -errno;
	r = open_dir(cg->parent[slot], cg->name);
	if (r < 0)
		return r == -ENOENT ? -EAGAIN : r;
	cg->dir[slot] = r;
	if (flock(cg->dir[slot], LOCK_SH) < 0)
		return -errno;
	if (faccessat(cg->parent[slot], cg->name, F_OK, 0) < 0)
		return -EAGAIN;
	if (cg->limits.nested && mkdirat(cg->dir[slot], LEAF, 0755) < 0)
		return -errno;
	r = open_dir(cg->dir[slot], cg->limits.nested ? LEAF : ".");
	if (r < 0)
		return r;
	cg->leaf[slot] = r;
	return 0;
}

static void close_slot(int *fd)
{
	close_ptr(fd);
	*fd = -1;
}

static int make_group(struct cgroup *cg, size_t slot, const char *dir, struct err *err)
{
	int r = open_dir(AT_FDCWD, dir);

	if (r < 0)
		return err_errno(err, -r, "opening the control group '%s'", dir);
	cg->parent[slot] = r;
	for (int i = 0; i < CREATE_TRIES; i++) {
		r = make_once(cg, slot);
		if (r != -EAGAIN)
			break;
		close_slot(&cg->dir[slot]);
	}
	if (r < 0)
		return err_errno(err, -r, "making the control group '%s/%s'", dir, cg->name);
	return 0;
}

static int make_groups(struct cgroup *cg, const struct cgroup_facts *facts, unsigned bits,
		       struct err *err)
{
	int r = 0;

	if (cg->kind == CGROUP_V2)
		return make_group(cg, 0, facts->v2_dir, err);
	for (size_t i = 0; i < LIMIT_COUNT && r == 0; i++)
		if (bits & LIMIT_BIT(i))
			r = make_group(cg, i, facts->v1_dir[i], err);
	return r;
}

int cgroup_create(struct cgroup *cg, const struct cgroup_facts *facts, enum cgroup_kind kind,
		  const char *id, const struct cgroup_limits *limits, struct err *err)
{
	unsigned bits = cgroup_holds(facts, kind) & cgroup_wanted(limits);
	int r;

	*cg = (struct cgroup){ .kind = kind, .limits = *limits };
	for (size_t i = 0; i < LIMIT_COUNT; i++)
		cg->parent[i] = cg->dir[i] = cg->leaf[i] = -1;
	memcpy(cg->socket, facts->systemd_socket, sizeof(cg->socket));
	r = snprintf(cg->name, sizeof(cg->name), CGROUP_PREFIX "%s", id);
	if (r < 0 || (size_t)r >= sizeof(cg->name) || strchr(id, '/'))
		return err_set(err, EINVAL, "'%s' is no name for a control group", id);
	if (kind != CGROUP_V1 && kind != CGROUP_V2)
		return 0;
	r = make_groups(cg, facts, bits, err);
	if (r == 0)
		r = set_limits(cg, bits, err);
	if (r < 0)
		cgroup_remove(cg);
	return r;
}

int cgroup_fd(const struct cgroup *cg)
{
	return cg->kind == CGROUP_V2 ? cg->leaf[0] : -1;
}

int cgroup_enter(const struct cgroup *cg, pid_t pid, struct err *err)
{
	return cg->kind == CGROUP_SYSTEMD ? cgroup_systemd_enter(cg, pid, err) : 0;
}

int cgroup_follow(const struct cgroup *cg, pid_t pid, struct err *err)
{
	return cg->kind == CGROUP_SYSTEMD ? cgroup_systemd_follow(cg, pid, err) : 0;
}

/* Runs in the child. A single thread that moves itself ("0" to "tasks") needs no lock against the
 * forks of the whole system; every other way to move in version 1 waits for one. */
int cgroup_join(const struct cgroup *cg, struct err *err)
{
	if (cg->kind != CGROUP_V1)
		return 0;
	for (size_t i = 0; i < LIMIT_COUNT; i++) {
		int r = cg->leaf[i] < 0 ? 0 : write_control(cg->leaf[i], "tasks", "0");

		if (r < 0)
			return err_errno(err, -r, "entering the control group '%s' (%s)", cg->name,
					 cgroup_controllers[i]);
	}
	return 0;
}

uint64_t cgroup_count(int dir, const char *file, const char *key)
{
	char text[1024];
	size_t len = strlen(key);

	if (dir < 0 || os_read_start_at(dir, file, text, sizeof(text)) < 0)
		return 0;
	for (char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncmp(p, key, len) == 0 && p[len] == ' ')
			return strtoull(p + len, NULL, 10);
	return 0;
}

static uint64_t number_in(int dir, const char *file)
{
	char text[64];

	return dir < 0 || os_read_start_at(dir, file, text, sizeof(text)) < 0
		       ? 0
		       : strtoull(text, NULL, 10);
}

void cgroup_peaks(const struct cgroup *cg, struct cgroup_peaks *ret)
{
	*ret = (struct cgroup_peaks){ 0 };
	if (cg->kind == CGROUP_V2) {
		ret->memory = number_in(cg->dir[0], "memory.peak");  /* 5.19 */
		ret->processes = number_in(cg->dir[0], "pids.peak"); /* 6.1 */
		ret->cpu = cgroup_count(cg->dir[0], "cpu.stat", "usage_usec");
	} else if (cg->kind == CGROUP_V1) {
		ret->memory = number_in(cg->dir[LIMIT_MEMORY], "memory.max_usage_in_bytes");
		ret->processes = number_in(cg->dir[LIMIT_PIDS], "pids.peak");
		ret->cpu = number_in(cg->dir[LIMIT_CPUS], "cpuacct.usage") / 1000;
	}
}

/* rmdir of a group and of those that a nested sandbox made in it; the tree is as deep and wide as
 * an attacker liked, so the depth is bounded and the rest is left to lie empty. */
static int remove_tree(int parent, const char *name, int depth)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *entry;
	int fd;

	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != EBUSY || depth >= TREE_DEPTH_MAX)
		return -errno;
	fd = open_dir(parent, name);
	if (fd < 0)
		return fd;
	dir = os_dir_take(fd);
	if (!dir)
		return -errno;
	while ((entry = os_dir_next(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			(void)remove_tree(fd, entry->d_name, depth + 1);
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

void cgroup_close(struct cgroup *cg)
{
	for (size_t i = 0; i < LIMIT_COUNT; i++) {
		close_slot(&cg->leaf[i]);
		close_slot(&cg->dir[i]);
		close_slot(&cg->parent[i]);
	}
}

void cgroup_remove(struct cgroup *cg)
{
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };

	for (size_t i = 0; i < LIMIT_COUNT; i++) {
		/* Never made, or not ours: someone else's group of that name stays. */
		if (cg->dir[i] < 0)
			continue;
		for (int n = 0; n < REMOVE_TRIES; n++) {
			if (remove_tree(cg->parent[i], cg->name, 0) != -EBUSY)
				break;
			/* Somebody is in there still: on his way out, or helped out now (v2). */
			(void)write_control(cg->dir[i], "cgroup.kill", "1");
			nanosleep(&pause, NULL);
		}
	}
	cgroup_close(cg);
}

/* "wrapix-ID", and not systemd's "wrapix-ID.scope", which systemd removes itself. */
static bool is_ours(const char *name)
{
	return str_starts(name, CGROUP_PREFIX) && !strchr(name, '.');
}

static void sweep_dir(const char *path)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		_cleanup_close_ int fd = -1;

		if (!is_ours(entry->d_name))
			continue;
		fd = open_dir(dirfd(dir), entry->d_name);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			(void)remove_tree(dirfd(dir), entry->d_name, 0);
	}
}

void cgroup_sweep(const struct cgroup_facts *facts)
{
	if (facts->v2)
		sweep_dir(facts->v2_dir);
	for (size_t i = 0; i < LIMIT_COUNT; i++)
		if (facts->v1 & LIMIT_BIT(i))
			sweep_dir(facts->v1_dir[i]);
}
