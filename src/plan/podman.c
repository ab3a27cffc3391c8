/* SPDX-License-Identifier: MIT */
/*
 * A plan for podman: the image has the programs, podman makes the namespaces, and the rest is the same
 * plan. What podman here cannot do, or not as well, is refused or said.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"
#include "plan/podman.h"

#define VERSION(major, minor) ((major)*10000u + (minor)*100u)

static int no_podman(const struct host *host, struct err *err)
{
	const struct podman_facts *podman = &host->podman;

	err_set(err, ENOENT, "podman is not installed%s",
		!podman->docker       ? ""
		: podman->docker_shim ? ", and 'docker' is a name for it alone"
				      : ", and docker, which is, cannot take its place");
	return err_hint(err, "install the package 'podman', or leave --engine away");
}

/* Its daemon makes the namespaces, as root: nobody else can enter them, so that there would be no
 * filtered network, no ports, no relay and no listener; and files would have the ids of the machine's
 * root unless the image were trusted to become somebody else. One without root is the user's, but
 * what it starts is its own child, and lives on when wrapix is killed. */
static const char *why_no_docker(const struct podman_facts *podman)
{
	if (!podman->docker)
		return "it is not installed here";
	if (podman->docker_shim)
		return "what has that name here is podman";
	if (!podman->socket)
		return "its socket cannot be opened";
	return podman->docker_own ? "its daemon keeps what it starts, also when wrapix is gone"
				  : "its daemon is root, and so is whoever may use its socket";
}

int plan_no_docker(const struct host *host, struct err *err)
{
	const struct podman_facts *podman = &host->podman;

	err_set(err, ENOTSUP, "docker is not driven: %s", why_no_docker(podman));
	return err_hint(err, podman->program
				     ? "--engine podman runs the same images without root"
				     : "podman runs the same images without root: install it, and "
				       "use --engine podman; 'wrapix export compose' writes a file "
				       "for docker");
}

static int check_podman(const struct host *host, struct err *err)
{
	const struct podman_facts *podman = &host->podman;

	if (!podman->program)
		return no_podman(host, err);
	if (host->uid == 0) {
		err_set(err, EPERM, "the podman engine is for podman without root");
		return err_hint(err, "run wrapix as an ordinary user");
	}
	if (podman->version < VERSION(4, 4)) {
		err_set(err, ENOTSUP, "podman 4.4 or newer is needed, and '%s' %s", podman->program,
			podman->version ? "is older" : "does not say its version");
		return err_hint(err, "the native engine needs none: leave --engine away");
	}
	if (!podman->subids || !podman->newuidmap) {
		err_set(err, EPERM, "podman needs %s",
			podman->subids ? "newuidmap, which is not installed"
				       : "a range of subordinate ids for you");
		return podman->subids ? err_hint(err, "install the package 'uidmap'")
				      : err_hint(err, "'wrapix doctor' names one that nobody has, "
						      "and the command that makes it yours");
	}
	if (!podman->init)
		return err_set(err, ENOENT, "wrapix-init is not installed beside wrapix");
	return 0;
}

/* What is done by the native engine's supervisor alone. */
/* podman's word for a view of a directory is cut at these, and cannot be quoted. */
static int check_view(const struct host *host, struct err *err)
{
	const char *paths[] = { host->project.dir, host->project.top, host->cow_base };

	if (!host->cow_overlay) {
		err_set(err, ENOTSUP,
			"podman needs overlayfs for a copy-on-write workspace, and it "
			"cannot be used here");
		return err_hint(err, "the native engine copies the project: leave --engine away");
	}
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (paths[i] && paths[i][strcspn(paths[i], ":,\\")]) {
			err_set(err, ENOTSUP,
				"podman cannot make a view of '%s', for the sake of its name",
				paths[i]);
			return err_hint(err, "the native engine can: leave --engine away");
		}
	return 0;
}

static int check_wishes(const struct spec *spec, const struct host *host, struct err *err)
{
	if (host->inside)
		return err_set(err, ENOTSUP, "a sandbox of wrapix has no podman inside");
	return spec->workspace == WORKSPACE_COW ? check_view(host, err) : 0;
}

/* What says why there is no 'wrapix exec'. */
static void add_refusal(struct plan *plan, const struct host *host)
{
	if (!host->tools.srt)
		return;
	plan_add(plan, OP_BIND, AGENT_INSIDE "/bin/srt", host->tools.srt, OPF_RO);
	plan_add(plan, OP_BIND, AGENT_INSIDE "/bin/wrapix", host->tools.srt, OPF_RO);
}

static void note_differences(struct plan *plan)
{
	const struct {
		bool here;
		const char *what;
	} list[] = {
		{ plan->net == NET_OPEN,
		  "network: podman attaches it before the command starts, used or not" },
		{ true, "names in the project are guarded by a copy-on-write workspace alone, not "
			"by a gate or file rules" },
		{ !plan->tell_calls, "system calls that are refused are no events: there is no "
				     "listener here that could tell of them" },
		{ true, "the image is read-only, where the native engine's may be written to until "
			"the end" },
		{ true, "'wrapix exec' is refused inside: it is lent by the native engine's "
			"supervisor" },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (list[i].here)
			strv_add(&plan->arena, &plan->podman.differs, list[i].what);
}

/* What the kernel shows of this machine: as much as the native engine lets through. podman mounts and
 * closes the rest of /proc itself. */
static void add_kernel(struct plan *plan, const struct host *host)
{
	plan_add(plan, OP_SCRATCH, "/sys", NULL, OPF_RO);
	plan_add(plan, OP_SCRATCH, "/sys/fs/cgroup", NULL, OPF_RO);
	for (size_t i = 0; i < host->extra.len; i++) {
		const struct path_fact *fact = &host->extra.v[i];

		if (fact->kind == PATH_DIR && path_is_below(fact->path, "/sys"))
			plan_add(plan, OP_BIND, fact->path, fact->path, OPF_RO | OPF_DIR);
	}
	for (size_t i = 0; !plan->nested && i < host->masks.len; i++)
		if (!host->masks.v[i].target) /* the others are read-only by podman */
			plan_add(plan, OP_HIDE, host->masks.v[i].path, NULL,
				 host->masks.v[i].kind == PATH_DIR ? OPF_DIR : 0);
}

int plan_podman(struct plan *plan, const struct spec *spec, const struct host *host,
		struct err *err)
{
	struct arena *a = &plan->arena;
	const char *name = spec_image(spec);
	int r = check_podman(host, err);

	if (r == 0)
		r = check_wishes(spec, host, err);
	if (r == 0)
		r = plan_machine_can(spec, host, err);
	if (r == 0 && !host->image_root)
		r = host_no_image(name, err);
	if (r < 0)
		return r;
	plan->podman = (struct plan_podman){
		.program = arena_strdup(a, host->podman.program),
		.base = arena_printf(a, "%s/wrapix/podman",
				     host->runtime_dir ? host->runtime_dir : host->state_home),
		.version = host->podman.version,
		.name = arena_strdup(a, name),
		.image = arena_printf(a, "localhost/wrapix-%s:%.12s", name,
				      path_name(host->image_root)),
		.root = arena_strdup(a, host->image_root),
		.init = arena_strdup(a, host->podman.init),
		.loader = arena_strdup(a, host->podman.loader),
		.user = arena_strdup(a, host->user),
		.shell = arena_strdup(a, host->tools.shell),
		.selinux = host->podman.selinux,
	};
	plan_machine(plan, spec, host);
	plan_hosts(plan, spec);
	plan_places(plan, spec, host);
	add_kernel(plan, host);
	plan_add(plan, OP_BIND, INIT_INSIDE, host->podman.init, OPF_RO);
	add_refusal(plan, host);
	if (plan->nested)
		strv_add(a, &plan->weaker,
			 "--allow-nested: file rules stand on the mounts alone, and /proc is not "
			 "masked");
	if (plan->podman.selinux)
		strv_add(a, &plan->weaker,
			 "SELinux enforces: what is mounted gets the label of containers, and "
			 "keeps it");
	note_differences(plan);
	if (spec->limits.disk)
		strv_add(a, &plan->weaker,
			 "--disk: each private place (home, /tmp, ...) may be as large by itself");
	return 0;
}

/* pasta as podman starts it has no port open in either direction and no way to the host's loopback;
 * since 5.3 podman gives the host's other addresses a name, which is taken back. */
static const char *name_network(const struct plan *plan)
{
	switch (plan->net) {
	case NET_OPEN:
		return plan->podman.version >= VERSION(5, 3) ? "pasta:--map-guest-addr,none"
							     : "pasta";
	case NET_FILTERED: /* what there is in it is the supervisor's */
		return "none";
	default:
		return net_mode_name(plan->net);
	}
}

int plan_podman_network(struct plan *plan, const struct spec *spec, const struct host *host,
			struct err *err)
{
	plan->podman.network = arena_strdup(&plan->arena, name_network(plan));
	/* podman attaches the open one, and writes the resolver's file; a machine cannot ask later */
	plan->eager_net = plan->net == NET_OPEN || plan_is_machine(plan);
	return plan->net == NET_OPEN ? plan_ports(plan, spec, err)
				     : plan_network(plan, spec, host, err);
}

/* Rootless podman holds limits where cgroups v2 were delegated to the user. */
void plan_podman_limits(struct plan *plan)
{
	const struct cgroup_facts *cgroup = &plan->cgroup;
	static const char *const names[] = { "memory", "processes", "processors" };
	static const char instead[] =
		": an rlimit counts podman's own processes and those of your other containers "
		"with them, and reaching it is no event";

	if (cgroup->layout == CGROUP_LAYOUT_V2)
		plan->podman.held = cgroup->systemd | cgroup->v2;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		if ((plan->limits.asked & ~plan->podman.held) & LIMIT_BIT(limit))
			strv_addf(&plan->arena, &plan->weaker,
				  "limits: podman cannot limit %s here, where cgroups "
				  "v2 are not delegated to you%s",
				  names[limit],
				  limit == LIMIT_PIDS && !plan_is_machine(plan) ? instead : "");
	plan_machine_limits(plan);
}
