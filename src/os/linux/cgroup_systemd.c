/* SPDX-License-Identifier: MIT */
/*
 * A scope of the user's systemd for one sandbox, asked for over D-Bus.
 *
 * The manager listens on $XDG_RUNTIME_DIR/systemd/private, where systemctl talks to it too: a plain
 * D-Bus peer connection without a bus in between. One call, StartTransientUnit, makes the scope and
 * moves our process into it (through the system's manager when we were logged in by ssh and stand
 * outside the user's own tree); the signal JobRemoved says that it is done. dbus.c does that without
 * libsystemd, which would cost another 0.6 ms and a megabyte of the supervisor. Measured with
 * systemd 252: 2.3 to 3.5 ms, nearly all of it the manager's.
 *
 * Delegate=yes so that systemd does not end the whole scope after one OOM kill, and keeps the
 * controllers for us; CollectMode so that a failed scope is not kept. The scope goes by itself when
 * its last process ends, also after kill -9 of wrapix. No second level for a nested sandbox is
 * needed: systemd mounts with nsdelegate, and then a namespace's root cannot change its own limits.
 * A delegated scope also takes in who comes later ('wrapix exec' in a session): AttachProcessesToUnit.
 *
 * The other side is the user's own manager; all the same nothing it sends is trusted with a size.
 */
#include "os/linux/cgroup_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "os/linux/dbus.h"

enum { ASKED_S = 5, DEFAULT_S = 1 }; /* how long to wait: a default is not worth more */

/* Properties: (sv) each. */
static void property(struct dbus_writer *w, const char *name, const char *signature)
{
	dbus_align(w, 8);
	dbus_put_string(w, name);
	dbus_put_signature(w, signature);
}

static void property_string(struct dbus_writer *w, const char *name, const char *value)
{
	property(w, name, "s");
	dbus_put_string(w, value);
}

static void property_u64(struct dbus_writer *w, const char *name, uint64_t value)
{
	property(w, name, "t");
	dbus_put_u64(w, value);
}

static void put_properties(struct dbus_writer *w, const struct cgroup_limits *limits, pid_t pid)
{
	struct dbus_array all = dbus_open_array(w, 8), pids;

	property_string(w, "Description", "wrapix sandbox");
	property_string(w, "CollectMode", "inactive-or-failed");
	property(w, "Delegate", "b");
	dbus_put_u32(w, 1);
	property(w, "PIDs", "au");
	pids = dbus_open_array(w, 4);
	dbus_put_u32(w, (uint32_t)pid);
	dbus_close_array(w, pids);
	if (limits->memory) {
		property_u64(w, "MemoryMax", limits->memory);
		property_u64(w, "MemorySwapMax", 0);
	}
	if (limits->pids)
		property_u64(w, "TasksMax", limits->pids);
	if (limits->cpus > 0)
		property_u64(w, "CPUQuotaPerSecUSec", (uint64_t)(limits->cpus * 1e6));
	dbus_close_array(w, all);
}

static int wait_for_job(const struct dbus_peer *peer, const char *unit, struct err *err)
{
	struct dbus_message m;

	for (;;) {
		const char *name, *result;
		int r = dbus_receive(peer, &m);

		if (r < 0)
			return err_errno(err, -r, "waiting for systemd to start '%s'", unit);
		if (m.type == DBUS_ERROR)
			return err_set(err, EIO, "systemd refused to start '%s': %s", unit,
				       dbus_get_string(&m));
		if (m.type != DBUS_SIGNAL || strcmp(m.member, "JobRemoved") != 0)
			continue;
		(void)dbus_get_u32(&m);
		(void)dbus_get_string(&m);
		name = dbus_get_string(&m);
		result = dbus_get_string(&m);
		if (m.bad || strcmp(name, unit) != 0)
			continue;
		if (strcmp(result, "done") == 0)
			return 0;
		return err_set(err, EIO, "systemd could not start '%s': %s", unit, result);
	}
}

/* StartTransientUnit(s name, s mode, a(sv) properties, a(sa(sv)) auxiliary units) */
static int start_scope(const struct dbus_peer *peer, const struct cgroup *cg, const char *unit,
		       pid_t pid, struct err *err)
{
	struct dbus_writer w;
	int r;

	dbus_call(&w, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		  "org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))");
	dbus_put_string(&w, unit);
	dbus_put_string(&w, "fail");
	put_properties(&w, &cg->limits, pid);
	dbus_close_array(&w, dbus_open_array(&w, 8));
	r = dbus_send(peer, &w);
	if (r < 0)
		return err_errno(err, -r, "talking to systemd at '%s'", cg->socket);
	return wait_for_job(peer, unit, err);
}

/* systemd said done; the kernel has the last word. */
static int check_entered(pid_t pid, const char *unit, struct err *err)
{
	char path[64], text[4096];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return err_errno(err, errno, "reading '%s'", path);
	text[n] = '\0';
	if (!strstr(text, unit))
		return err_set(err, EIO, "systemd did not move process %d into '%s'", (int)pid,
			       unit);
	return 0;
}

/* AttachProcessesToUnit(s name, s group below it, au pids), of systemd 238 */
static int attach(const struct dbus_peer *peer, const struct cgroup *cg, const char *unit,
		  pid_t pid, struct err *err)
{
	struct dbus_message m = { .type = 0 };
	struct dbus_array pids;
	struct dbus_writer w;
	int r;

	dbus_call(&w, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		  "org.freedesktop.systemd1.Manager", "AttachProcessesToUnit", "ssau");
	dbus_put_string(&w, unit);
	dbus_put_string(&w, "");
	pids = dbus_open_array(&w, 4);
	dbus_put_u32(&w, (uint32_t)pid);
	dbus_close_array(&w, pids);
	r = dbus_send(peer, &w);
	while (r == 0 && m.type != DBUS_RETURN && m.type != DBUS_ERROR)
		r = dbus_receive(peer, &m);
	if (r < 0)
		return err_errno(err, -r, "talking to systemd at '%s'", cg->socket);
	return m.type == DBUS_RETURN ? 0
				     : err_set(err, EIO, "systemd let nobody into '%s': %s", unit,
					       dbus_get_string(&m));
}

static int ask(const struct cgroup *cg, pid_t pid,
	       int (*call)(const struct dbus_peer *, const struct cgroup *, const char *, pid_t,
			   struct err *),
	       struct err *err)
{
	struct dbus_peer peer = { .fd = -1 };
	char unit[80];
	int r;

	(void)snprintf(unit, sizeof(unit), "%s.scope", cg->name);
	r = dbus_connect(&peer, cg->socket, cg->limits.asked ? ASKED_S : DEFAULT_S);
	if (r < 0)
		r = err_errno(err, -r, "connecting to systemd at '%s'", cg->socket);
	else
		r = call(&peer, cg, unit, pid, err);
	close_ptr(&peer.fd);
	return r < 0 ? r : check_entered(pid, unit, err);
}

int cgroup_systemd_enter(const struct cgroup *cg, pid_t pid, struct err *err)
{
	return ask(cg, pid, start_scope, err);
}

int cgroup_systemd_follow(const struct cgroup *cg, pid_t pid, struct err *err)
{
	return ask(cg, pid, attach, err);
}
