/* SPDX-License-Identifier: MIT */
/*
 * The root a sandbox sees: the host's programs read-only, of /etc what programs need and nothing
 * else, private writable places, a minimal /dev, a masked /proc. Data first, code after.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"
#include "spec/gitconfig.h"

static const char nsswitch[] = "passwd: files\n"
			       "group: files\n"
			       "shadow: files\n"
			       "hosts: files dns\n"
			       "networks: files\n"
			       "protocols: files\n"
			       "services: files\n";

/* Writable places of the session's own, gone with it. */
static const struct {
	const char *dest;
	unsigned mode;
} scratch[] = {
	{ "/tmp", 01777 },
	{ "/var/tmp", 01777 },
	{ "/run", 0755 },
	{ "/dev/shm", 01777 },
};

static const struct {
	const char *dest, *target;
} links[] = {
	{ "/var/run", "../run" },
	{ "/var/lock", "../run/lock" },
	{ "/dev/fd", "/proc/self/fd" },
	{ "/dev/stdin", "/proc/self/fd/0" },
	{ "/dev/stdout", "/proc/self/fd/1" },
	{ "/dev/stderr", "/proc/self/fd/2" },
	{ "/dev/ptmx", "pts/ptmx" },
	{ "/etc/mtab", "/proc/self/mounts" },
};

static bool in_system(const char *path)
{
	return path_is_below(path, "/usr") || path_is_below(path, "/nix/store");
}

/* Something of the host's, read-only at its own place: a link where its target is there anyway. */
static void add_host_path(struct plan *plan, const struct path_fact *fact)
{
	const char *real = fact->target ? fact->target : fact->path;
	unsigned dir = fact->kind == PATH_DIR ? OPF_DIR | OPF_RECURSIVE : 0;

	if (fact->target && in_system(real))
		plan_add(plan, OP_LINK, fact->path, real, 0);
	else
		plan_add(plan, OP_BIND, fact->path, real, OPF_RO | OPF_OPTIONAL | dir);
}

static void add_programs(struct plan *plan, const struct host *host)
{
	for (size_t i = 0; i < host->top.len; i++) {
		const struct path_fact *fact = &host->top.v[i];

		if (fact->kind == PATH_LINK)
			plan_add(plan, OP_LINK, fact->path, fact->target, 0);
		else
			plan_add(plan, OP_BIND, fact->path, fact->path,
				 OPF_RO | OPF_DIR | OPF_RECURSIVE);
	}
}

/* The image's own system, writable and thrown away. */
static void add_image(struct plan *plan, const struct host *host)
{
	for (size_t i = 0; i < host->image_top.len; i++) {
		const struct path_fact *fact = &host->image_top.v[i];

		if (fact->kind == PATH_LINK)
			plan_add(plan, OP_LINK, fact->path, fact->target, 0);
		else
			plan_add(plan, OP_IMAGE, fact->path,
				 arena_printf(&plan->arena, "%s%s", host->image_root, fact->path),
				 OPF_DIR);
	}
}

static void add_file(struct plan *plan, const char *dest, unsigned mode, const char *content)
{
	plan_add(plan, OP_FILE, dest, content, 0)->mode = mode;
}

/* The names of this machine, for a sandbox that may reach a service of it. */
static const char *host_names(const struct spec *spec)
{
	for (size_t i = 0; i < spec->n_ports; i++)
		if (spec->ports[i].into)
			return "127.0.0.1 host.wrapix.internal host.containers.internal\n";
	return "";
}

void plan_hosts(struct plan *plan, const struct spec *spec)
{
	add_file(plan, "/etc/hosts", 0644,
		 arena_printf(&plan->arena,
			      "127.0.0.1 localhost %s\n::1 localhost ip6-localhost\n%s",
			      plan->hostname, host_names(spec)));
}

static void add_identity(struct plan *plan, const struct spec *spec, const struct host *host)
{
	struct arena *a = &plan->arena;
	unsigned uid = host->uid, gid = host->gid;
	const char *root = uid ? "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n" : "";

	add_file(plan, "/etc/passwd", 0644,
		 arena_printf(a,
			      "%s%s:x:%u:%u::%s:%s\n"
			      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			      root, host->user, uid, gid, HOME_INSIDE, host->tools.shell));
	add_file(plan, "/etc/group", 0644,
		 arena_printf(a, "%s%s:x:%u:\nnogroup:x:65534:\n", gid ? "root:x:0:\n" : "",
			      host->user, gid));
	add_file(plan, "/etc/hostname", 0644, arena_printf(a, "%s\n", plan->hostname));
	plan_hosts(plan, spec);
	add_file(plan, "/etc/nsswitch.conf", 0644, nsswitch);
}

/* What a profile's programs write to. Below what is writable anyway there is nothing to do. */
static void add_writable(struct plan *plan, const char *dir)
{
	bool writable = path_is_below(dir, HOME_INSIDE) || path_is_below(dir, WORKSPACE_INSIDE);

	for (size_t i = 0; i < ARRAY_LEN(scratch); i++)
		writable |= path_is_below(dir, scratch[i].dest);
	if (!writable)
		plan_add(plan, OP_SCRATCH, dir, NULL, 0)->mode = 0755;
}

void plan_links(struct plan *plan)
{
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		plan_add(plan, OP_LINK, links[i].dest, links[i].target, 0);
}

static void add_scratch(struct plan *plan, const struct spec *spec, const struct host *host)
{
	for (size_t i = 0; i < ARRAY_LEN(scratch); i++)
		plan_add(plan, OP_SCRATCH, scratch[i].dest, NULL, 0)->mode = scratch[i].mode;
	for (size_t i = 0; i < spec->from_profile.writable.len; i++)
		add_writable(plan, spec->from_profile.writable.v[i]);
	plan_add(plan, OP_DIR, arena_printf(&plan->arena, "/run/user/%u", host->uid), NULL, 0)
		->mode = 0700;
	plan_add(plan, OP_DIR, "/run/lock", NULL, 0)->mode = 0755;
	plan_links(plan);
}

static void add_home(struct plan *plan, const struct spec *spec, const struct host *host)
{
	struct arena *a = &plan->arena;

	if (spec->home == HOME_KEEP)
		plan_add(plan, OP_BIND, HOME_INSIDE,
			 arena_printf(a, "%s/wrapix/homes/%s", host->state_home, plan->home_key),
			 OPF_DIR | OPF_MAKE | OPF_CHECK);
	else
		plan_add(plan, OP_SCRATCH, HOME_INSIDE, NULL, 0)->mode = 0700;
	if (host->git_name && host->git_email)
		plan_add(plan, OP_FILE, HOME_INSIDE "/.gitconfig",
			 arena_printf(a, "[user]\n\tname = \"%s\"\n\temail = \"%s\"\n",
				      gitconfig_quote(a, host->git_name),
				      gitconfig_quote(a, host->git_email)),
			 OPF_OPTIONAL)
			->mode = 0644;
}

void plan_places(struct plan *plan, const struct spec *spec, const struct host *host)
{
	add_scratch(plan, spec, host);
	add_home(plan, spec, host);
}

/* A masked /proc cannot be mounted a second time by a sandbox inside, so --allow-nested leaves the
 * masks out; for any uid but 0 the files behind them are closed by their owner and mode anyway. */
static void add_proc(struct plan *plan, const struct host *host)
{
	plan_add(plan, OP_PROC, "/proc", NULL, 0);
	for (size_t i = 0; !plan->nested && i < host->masks.len; i++) {
		const struct path_fact *fact = &host->masks.v[i];
		bool writable = fact->target != NULL; /* "ro": stays visible, read-only */

		plan_add(plan, writable ? OP_READONLY : OP_HIDE, fact->path, NULL,
			 fact->kind == PATH_DIR ? OPF_DIR : 0);
	}
}

static void add_dev(struct plan *plan, const struct host *host)
{
	for (size_t i = 0; i < host->extra.len; i++) {
		const struct path_fact *fact = &host->extra.v[i];

		if (fact->kind == PATH_OTHER)
			/* A device on a read-only mount works as one; its mode is not root's to change. */
			plan_add(plan, OP_BIND, fact->path, fact->path, OPF_DEV | OPF_RO);
		else if (!host->image_root || path_is_below(fact->path, "/sys"))
			add_host_path(plan, fact);
	}
	plan_add(plan, OP_DEVPTS, "/dev/pts", NULL, 0);
}

static void add_rule(struct plan *plan, const char *path, enum access_class class)
{
	struct access_rule *rule = arena_grow(&plan->arena, &plan->rules, &plan->n_rules,
					      sizeof(*rule));

	*rule = (struct access_rule){ path, class };
}

/* Landlock says again what the mounts say, from the list of operations, so the two cannot differ. */
void plan_access_rules(struct plan *plan)
{
	if (plan->nested || (plan_root_of_host(plan) && !plan_is_brokered(plan)))
		return; /* any handled file right would forbid mounting; nothing is to be said */
	/* A command may read what the mounts show, and Landlock asks nothing on the way. */
	if (!plan_root_of_host(plan))
		add_rule(plan, "/", ACCESS_READ);
	add_rule(plan, "/dev", ACCESS_DEV);
	add_rule(plan, "/proc", ACCESS_DEV);
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];
		/* Private places come to stand in what is held. */
		bool gated = plan->gate && (op->flags & OPF_HELD);
		bool bind = op->kind == OP_BIND && (gated || !(op->flags & (OPF_RO | OPF_GATE)));

		if (bind || op->kind == OP_COW || op->kind == OP_IMAGE ||
		    (op->kind == OP_SCRATCH && !(op->flags & OPF_RO)))
			add_rule(plan, op->dest, ACCESS_WRITE);
	}
}

static void add_system(struct plan *plan, const struct host *host)
{
	add_programs(plan, host);
	for (size_t i = 0; i < host->etc.len; i++)
		add_host_path(plan, &host->etc.v[i]);
}

void plan_system(struct plan *plan, const struct host *host)
{
	if (host->image_root)
		add_image(plan, host);
	else
		add_system(plan, host);
}

void plan_kernel(struct plan *plan, const struct host *host)
{
	add_dev(plan, host);
	add_proc(plan, host);
}

int plan_root(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err)
{
	if (plan->nested && host->uid == 0) {
		err_set(err, EPERM, "--allow-nested as root would leave /proc/sys writable");
		return err_hint(err, "run wrapix as an ordinary user");
	}
	if (host->image_changes && spec->limits.disk)
		strv_add(&plan->arena, &plan->weaker,
			 "--disk: this kernel (before Linux 6.6) keeps the changes of an image on "
			 "the disk until the session ends, and they are not bounded");
	plan_system(plan, host);
	add_identity(plan, spec, host);
	plan_places(plan, spec, host);
	plan_kernel(plan, host);
	return 0;
}
