/* SPDX-License-Identifier: MIT */
/* spec + host -> plan. Pure. */
#include "plan/plan.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/sha256.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "plan/parts.h"
#include "spec/file_rules.h"

struct op *plan_add(struct plan *plan, enum op_kind kind, const char *dest, const char *src,
		    unsigned flags)
{
	struct op *op = arena_grow(&plan->arena, &plan->ops, &plan->n_ops, sizeof(*op));

	*op = (struct op){
		.kind = kind,
		.flags = flags,
		.dest = arena_strdup(&plan->arena, dest),
		.src = arena_strdup(&plan->arena, src),
	};
	return op;
}

static int choose_engine(struct plan *plan, const struct spec *spec, const struct host *host,
			 struct err *err)
{
	if (spec->exec && !strcmp(host->platform, "darwin")) {
		plan->engine = ENGINE_SEATBELT;
		return 0;
	}
	plan->engine = host_engine(spec, host->platform);
	if (spec->runtime == RUNTIME_KRUN && plan->engine != ENGINE_PODMAN) {
		err_usage(err, "--runtime is podman's, and the engine is '%s'",
			  engine_name(plan->engine));
		return err_hint(err, "add --engine podman");
	}
	if (plan->engine == ENGINE_APPLE)
		return 0; /* its plan says what it needs */
	if (plan->engine == ENGINE_DOCKER)
		return plan_no_docker(host, err);
	if (strcmp(host->platform, "linux"))
		return err_set(err, ENOSYS, "the %s engine needs Linux, not '%s'",
			       engine_name(plan->engine), host->platform);
	return 0;
}

/* How the limits are held, and what is weaker than it sounds. */
static void plan_limits(struct plan *plan, const struct spec *spec, const struct host *host)
{
	plan->cgroup = host->cgroup;
	plan->limits = (struct cgroup_limits){
		.memory = spec->limits.memory,
		.pids = spec->limits.pids,
		.cpus = spec->limits.cpus,
		.asked = (spec->limits.memory ? LIMIT_BIT(LIMIT_MEMORY) : 0) |
			 (spec->limits.pids ? LIMIT_BIT(LIMIT_PIDS) : 0) |
			 (spec->limits.cpus > 0 ? LIMIT_BIT(LIMIT_CPUS) : 0),
		.nested = spec->allow_nested,
		.patient = !spec->cmd,
	};
	/* A single command has the limits that it is given. */
	if (!spec->exec)
		cgroup_limits_default(&plan->limits, &host->cgroup);
	plan->root_size = ROOT_SIZE;
	plan->scratch_size = spec->limits.disk ? spec->limits.disk : SCRATCH_SIZE;
	plan->scratch_asked = spec->limits.disk;
	if (plan->engine == ENGINE_PODMAN) {
		plan_podman_limits(plan);
		return;
	}
	if (plan->engine == ENGINE_APPLE) {
		plan_apple_limits(plan, spec, host);
		return;
	}
	plan->limits_by = cgroup_choose(&host->cgroup, &plan->limits);
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		char line[256];

		/* A fork bomb is the one thing that must be bounded without being asked for. */
		if (((plan->limits.asked | (spec->exec ? 0 : LIMIT_BIT(LIMIT_PIDS))) &
		     LIMIT_BIT(limit)) &&
		    !cgroup_describe(&host->cgroup, &plan->limits, limit, line, sizeof(line)))
			strv_add(&plan->arena, &plan->weaker, line);
	}
}

static void note_landlock(struct plan *plan)
{
	if ((plan->engine == ENGINE_PODMAN && plan->nested) || plan->engine == ENGINE_APPLE)
		return; /* said with the rest */
	if (plan_root_of_host(
		    plan)) /* a second wall behind the mounts, and the supervisor does the rest */
		return;
	if (plan->nested)
		strv_add(&plan->arena, &plan->weaker,
			 "--allow-nested: file rules stand on the mounts alone (Landlock would "
			 "forbid mounting inside), /proc is not masked, and a file given as "
			 "standard input or output can be opened again for both");
	else if (!landlock_handles_files(plan->landlock_abi))
		strv_add(&plan->arena, &plan->weaker,
			 "Landlock: this kernel has no usable file rules (ABI 2, Linux 5.19); file "
			 "rules stand on the mounts alone");
}

/* A sandbox inside a sandbox has no /dev/net/tun, and the outer one's network is already apart. */
static enum net_mode default_network(const struct spec *spec, const struct host *host)
{
	/* Who names hosts means these and no others. */
	if (spec_names_hosts(spec))
		return NET_FILTERED;
	return host->inside ? NET_HOST : NET_OPEN;
}

/* The directory's name, in the letters that --name takes: it is typed after 'wrapix stop'. */
static char *default_name(struct arena *arena, const char *dir)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"._-";
	const char *last = path_name(dir);
	char *name = arena_strndup(arena, last, strnlen(last, 63));

	for (char *p = name; *p; p++)
		if (!strchr(letters, *p))
			*p = '-';
	if (!strcmp(dir, "/"))
		return arena_strdup(arena, "root");
	if (*name == '.' || *name == '-')
		*name = '_';
	return name;
}

static void init(struct plan *plan, const struct spec *spec, const struct host *host)
{
	char hash[SHA256_HEX];

	sha256_hex(host->project.dir, strlen(host->project.dir), hash);
	*plan = (struct plan){
		.uid = host->uid,
		.gid = host->gid,
		.net = spec->net == NET_UNSET ? default_network(spec, host) : spec->net,
		.landlock_abi = host->landlock_abi,
		.nested = spec->allow_nested,
		.inside = host->inside,
	};
	memcpy(plan->tty, host->tty, sizeof(plan->tty));
	plan->hostname = arena_strdup(&plan->arena, "wrapix");
	plan->home_key = arena_strndup(&plan->arena, hash, 16);
	plan->name = spec->name ? arena_strdup(&plan->arena, spec->name)
				: default_name(&plan->arena, host->project.dir);
}

/* The program, under both of its names, where it is not among the host's that are there anyway. In an image,
 * which has other libraries, it is srt, which needs none. */
static void add_self(struct plan *plan, const struct host *host)
{
	const char *self = host->tools.self;

	if (host->image_root) {
		plan_add(plan, OP_BIND, AGENT_INSIDE "/bin/srt", host->tools.srt, OPF_RO);
		plan_add(plan, OP_LINK, AGENT_INSIDE "/bin/wrapix", "srt", 0);
		return;
	}
	if (!self || path_is_below(self, "/usr") || path_is_below(self, "/nix/store"))
		return;
	plan_add(plan, OP_BIND, AGENT_INSIDE "/bin/wrapix", self, OPF_RO | OPF_OPTIONAL);
	plan_add(plan, OP_LINK, AGENT_INSIDE "/bin/srt", "wrapix", 0);
}

/* An 'exec' inside can have no listener of its own, so the supervisor lends it a process that can:
 * where it is 'wrapix' itself, and under no filter. It asks about files as this sandbox does. In an
 * image there must be a program that runs in any. */
static void add_door(struct plan *plan, const struct spec *spec, const struct host *host)
{
	plan->door = spec->lends && plan->engine == ENGINE_NATIVE && !host->inside &&
		     host->seccomp_notify && (!host->image_root || host->tools.srt);
	if (!plan->door)
		return;
	plan_add(plan, OP_SOCKET, EXEC_DOOR_INSIDE, NULL, 0)->mode = EXEC_DOOR_MODE;
	add_self(plan, host);
}

typedef int plan_fn(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err);

/* What the engines plan each in their own way. */
static const struct {
	plan_fn *root, *network;
} ways[] = {
	[ENGINE_NATIVE] = { plan_root, plan_network },
	[ENGINE_PODMAN] = { plan_podman, plan_podman_network },
	[ENGINE_APPLE] = { plan_apple, plan_apple_network },
};

/* A machine of the command's own: 'wrapix run'. */
static int plan_run(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err)
{
	int r = ways[plan->engine].root(plan, spec, host, err);

	if (r == 0)
		r = plan_choose_git(plan, spec, host, err);
	if (r == 0)
		r = plan_take_rules(plan, spec, host, err);
	if (r == 0)
		r = plan_workspace(plan, spec, host, err);
	if (r == 0)
		r = ways[plan->engine].network(plan, spec, host, err);
	if (r == 0) {
		plan_env(plan, spec, host);
		plan_notify(plan, spec, host);
		r = plan_deploy_key(plan, spec, host, err);
		add_door(plan, spec, host);
	}
	if (r == 0)
		r = plan_agent(plan, spec, host, err);
	/* Last: a file of ours that came after would be written into the user's tree. */
	if (r == 0)
		r = plan_mounts(plan, spec, host, err);
	if (r == 0)
		r = plan_machine_check(plan, err);
	if (r == 0)
		r = plan_check_rules(plan, spec, err);
	return r == 0 && plan->engine == ENGINE_APPLE ? plan_apple_check(plan, err) : r;
}

char *op_session_source(struct arena *arena, const struct op *op, const char *id)
{
	return arena_printf(arena, "%s/%s%s%s", op->src, id, op->layer ? "/" : "",
			    op->layer ? op->layer : "");
}

int plan_make(const struct spec *spec, const struct host *host, struct plan *ret, struct err *err)
{
	struct plan plan;
	int r;

	init(&plan, spec, host);
	r = choose_engine(&plan, spec, host, err);
	plan.tell_calls = host->seccomp_notify && spec->runtime != RUNTIME_KRUN &&
			  (plan.engine == ENGINE_NATIVE || plan.engine == ENGINE_PODMAN);
	if (r == 0)
		r = spec->exec      ? plan_exec(&plan, spec, host, err)
		    : spec->builder ? plan_builder(&plan, spec, host, err)
				    : plan_run(&plan, spec, host, err);
	if (r < 0) {
		plan_release(&plan);
		return r;
	}
	/* A sandbox inside may want the listener, and has mounts of its own. */
	plan.tell_writes = plan.tell_calls && !spec->exec && !plan.nested;
	plan_access_rules(&plan);
	plan_limits(&plan, spec, host);
	note_landlock(&plan);
	*ret = plan;
	return 0;
}

unsigned plan_watched_limits(const struct plan *plan)
{
	unsigned watched = plan->limits.asked & LIMIT_BIT(LIMIT_MEMORY);

	/* podman bounds memory by a group or not at all, and its own processes count with the sandbox's. One that
	 * may mount can show what it likes in /proc, and may want the listener itself. */
	if (!plan->tell_calls || plan->nested || plan->engine != ENGINE_NATIVE)
		return 0;
	if (plan->limits.pids && plan->cgroup.nproc_is_own && plan->cgroup.uid != 0)
		watched |= LIMIT_BIT(LIMIT_PIDS);
	return watched & ~cgroup_holds(&plan->cgroup, plan->limits_by);
}

/* A sandbox inside may want a listener of its own, of which there can be one: none for this alone. */
static unsigned refused_flag(const struct plan *plan, unsigned flags)
{
	return plan->tell_calls && (!plan->nested || (flags & SECCOMP_NOTIFY))
		       ? SECCOMP_NOTIFY_REFUSED
		       : 0;
}

unsigned plan_seccomp(const struct plan *plan)
{
	unsigned flags = (plan->nested ? SECCOMP_NESTED : 0) |
			 (plan->ids.count ? SECCOMP_ROOT : 0) |
			 (plan_is_lazy(plan) && !plan_is_machine(plan) ? SECCOMP_NOTIFY_NET : 0) |
			 (plan->guard_unix ? SECCOMP_NOTIFY_CONNECT : 0) |
			 (plan_is_brokered(plan)  ? SECCOMP_NOTIFY_FILES
			  : plan_is_watched(plan) ? SECCOMP_NOTIFY_WATCH
			  : plan->move_dirs       ? SECCOMP_NOTIFY_RENAME
						  : 0) |
			 (plan_reads(plan) != FILE_READS_FREE ? SECCOMP_NOTIFY_READS : 0);

	if (plan_watched_limits(plan) & LIMIT_BIT(LIMIT_MEMORY))
		flags |= SECCOMP_NOTIFY_MEMORY;
	return flags | refused_flag(plan, flags);
}

enum file_reads plan_reads(const struct plan *plan)
{
	if (!plan_is_brokered(plan))
		return FILE_READS_FREE;
	if (plan_root_of_host(plan))
		return file_rules_reads(plan->files);
	return plan->ask_reads ? FILE_READS_ASKED : FILE_READS_FREE;
}

bool plan_is_brokered(const struct plan *plan)
{
	return plan->files && !plan->files->disabled;
}

bool plan_is_watched(const struct plan *plan)
{
	return plan->tell_writes && !plan->files;
}

bool plan_has_listener(const struct plan *plan)
{
	return plan_seccomp(plan) & SECCOMP_NOTIFY;
}

void plan_release(struct plan *plan)
{
	if (plan->own_files)
		file_rules_release(plan->own_files);
	arena_release(&plan->arena);
	*plan = (struct plan){ 0 };
}
