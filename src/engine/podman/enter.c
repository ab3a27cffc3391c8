/* SPDX-License-Identifier: MIT */
/*
 * The way into a container that podman made: its network namespace, its root, the listener of its filter.
 * podman wrote down which process wrapix-init is on the host before that one ran, and it waits for us now;
 * nothing else has run in the container. We need no right but this: podman's user namespace is the
 * user's, and who owns a user namespace has every right over those below it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "engine/podman/container.h"
#include "engine/relays.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/proc.h"

static int no_way(struct err *err, int code, const char *what)
{
	err_errno(err, code, "podman's container: %s", what);
	return err_hint(err,
			"--network open without ports needs no way in; the native engine needs "
			"none at all");
}

static int find_init(struct container *c, pid_t *ret_pid, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	long pid;

	if (os_read_file_at(AT_FDCWD, path_join(&c->arena, c->stage, "pid"), 64, &text, NULL) < 0)
		return err_set(err, EIO, "podman did not write the container's pid down");
	pid = strtol(text, &end, 10);
	if (end == text || pid <= 1)
		return err_set(err, EIO, "podman wrote no pid down");
	c->init = os_pidfd_open((pid_t)pid);
	*ret_pid = (pid_t)pid;
	return c->init < 0 ? no_way(err, -c->init, "finding wrapix-init") : 0;
}

/* What /proc has of wrapix-init. Its number cannot have become another process's while it is alive, as
 * container_enter() makes sure afterwards. */
static int open_of(pid_t pid, const char *name, int flags, int *ret, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	*ret = open(path, flags | O_CLOEXEC);
	return *ret < 0 ? no_way(err, errno, name) : 0;
}

/* What we do in there would be done to the host's own network. */
static int check_netns(int netns, struct err *err)
{
	struct stat inside, own;

	if (fstat(netns, &inside) < 0 || stat("/proc/self/ns/net", &own) < 0)
		return no_way(err, errno, "its network");
	if (os_same_file(&inside, &own))
		return err_set(err, EINVAL, "podman's container has no network of its own");
	return 0;
}

static int enter_network(struct container *c, pid_t pid, struct err *err)
{
	struct sandbox *sandbox = &c->sandbox;
	const struct plan *plan = sandbox->plan;
	int r = open_of(pid, "ns/net", O_RDONLY, &sandbox->netns, err);

	if (r == 0)
		r = check_netns(sandbox->netns, err);
	if (r == 0 && plan_has_ports(plan))
		r = ports_enter(&sandbox->ports, plan->ports, plan->n_ports, sandbox->netns, err);
	return r == 0 ? relays_enter(sandbox, err) : r;
}

/* There is something that container_make_writable() is for. */
static bool plan_writes(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_COW ||
		    (plan->ops[i].kind == OP_BIND && !(plan->ops[i].flags & OPF_RO)))
			return true;
	return false;
}

int container_enter(struct container *c, struct err *err)
{
	const struct plan *plan = c->sandbox.plan;
	bool needed = plan_needs_netns(plan) || plan_has_view(plan) || plan_has_listener(plan) ||
		      plan_writes(plan);
	pid_t pid = 0;
	int r = find_init(c, &pid, err);

	if (!needed && r < 0) /* its limits are not watched, then */
		return 0;
	if (r == 0 && plan_needs_netns(plan))
		r = enter_network(c, pid, err);
	if (r == 0 && plan_has_view(plan))
		r = open_of(pid, "root", O_PATH | O_DIRECTORY, &c->sandbox.view, err);
	if (r == 0)
		r = container_make_writable(c, err);
	if (r == 0 && os_pidfd_kill(c->init, 0) < 0)
		r = err_set(err, ECHILD, "wrapix-init ended while it was looked at");
	if (r == 0)
		c->sandbox.first = pid;
	return r;
}

int container_take_listener(struct container *c, int number, struct err *err)
{
	if (!plan_has_listener(c->sandbox.plan) || c->init < 0 || c->sandbox.listener >= 0)
		return err_set(err, EPROTO, "wrapix-init has a listener, and none is wanted");
	c->sandbox.listener = (int)syscall(SYS_pidfd_getfd, c->init, number, 0);
	if (c->sandbox.listener < 0)
		return no_way(err, errno, "taking its filter's listener");
	return 0;
}
