/* SPDX-License-Identifier: MIT */
/*
 * The plan of a builder: a tier of its own, and a weaker one than that of 'run'. Root inside is root in
 * its user namespace, where a range of ids is mapped, so that sshd can become who logs in and Nix can
 * give each build a user: it keeps the few rights that this takes, over its own files and processes. The
 * rest is as everywhere: own namespaces, a root of our own, Landlock, no_new_privs, and the filter with
 * chroot, which sshd cannot do without.
 *
 * Nothing of the user's is inside but the store, which is the builder's alone, and the stage.
 */
#include <errno.h>
#include <string.h>

#include "entry/builder.h"
#include "plan/parts.h"
#include "spec/builder.h"

enum { IDS_NEEDED = 65535 };

#define ENTRY_INSIDE AGENT_INSIDE "/bin/wrapix-entry"

static const struct {
	const char *dest;
	unsigned mode;
} scratch[] = {
	{ "/tmp", 01777 }, { "/var", 0755 },  { "/run", 0755 },
	{ "/root", 0700 }, { "/home", 0755 }, { "/dev/shm", 01777 },
};

static int take_ids(struct plan *plan, const struct host *host, struct err *err)
{
	const struct id_facts *ids = &host->ids;

	if (host->uid == 0) {
		err_set(err, EPERM, "a builder is not root's: its root would be this machine's");
		return err_hint(err, "start it as an ordinary user; 'setup' is root's part");
	}
	if (!ids->newuidmap || !ids->newgidmap) {
		err_set(err, ENOENT, "a builder needs a range of ids, and there is no newuidmap");
		return err_hint(err, "apt install uidmap");
	}
	if (ids->n_uids < IDS_NEEDED || ids->n_gids < IDS_NEEDED) {
		err_set(err, ENOENT, "'%s' has no range of %d ids in /etc/subuid and /etc/subgid",
			host->user, IDS_NEEDED + 1);
		return err_hint(err, "%s", ids->advice ? ids->advice : "'wrapix doctor' names one");
	}
	if (!host->tools.entry) {
		err_set(err, ENOENT, "there is no wrapix-entry on this machine");
		return err_hint(
			err, "in a clone 'make' builds it; 'make install' installs it with wrapix");
	}
	plan->ids = (struct plan_ids){
		.newuidmap = arena_strdup(&plan->arena, ids->newuidmap),
		.newgidmap = arena_strdup(&plan->arena, ids->newgidmap),
		.uid = host->uid,
		.gid = host->gid,
		.first_uid = ids->first_uid,
		.first_gid = ids->first_gid,
		.count = IDS_NEEDED,
	};
	plan->uid = plan->gid = 0;
	return 0;
}

static void add_root(struct plan *plan, const struct spec *spec, const struct host *host)
{
	/* The entrypoint adds its users there; an image's directory is writable anyway. */
	if (!host->image_root)
		plan_add(plan, OP_SCRATCH, "/etc", NULL, 0)->mode = 0755;
	plan_system(plan, host);
	for (size_t i = 0; i < ARRAY_LEN(scratch); i++)
		plan_add(plan, OP_SCRATCH, scratch[i].dest, NULL, 0)->mode = scratch[i].mode;
	plan_add(plan, OP_DIR, "/var/tmp", NULL, 0)->mode = 01777;
	plan_links(plan);
	plan_kernel(plan, host);
	plan_hosts(plan, spec);
	plan_add(plan, OP_FILE, "/etc/nsswitch.conf",
		 "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n", 0)
		->mode = 0644;
}

int plan_builder(struct plan *plan, const struct spec *spec, const struct host *host,
		 struct err *err)
{
	const struct builder_spec *builder = spec->builder;
	int r = take_ids(plan, host, err);

	if (r < 0)
		return r;
	plan->tell_calls = false;
	plan->hostname = arena_strdup(&plan->arena, BUILDER_HOST);
	plan->name = arena_strdup(&plan->arena, BUILDER_HOST);
	plan->project = arena_strdup(&plan->arena, builder->nix);
	plan->cwd = arena_strdup(&plan->arena, "/");
	add_root(plan, spec, host);
	r = plan_network(plan, spec, host, err);
	plan->eager_net = plan->net == NET_OPEN;
	plan_add(plan, OP_BIND, "/nix", builder->nix, OPF_DIR | OPF_CHECK);
	plan_add(plan, OP_BIND, BUILDER_STAGE, builder->stage, OPF_DIR | OPF_RO | OPF_CHECK);
	plan_add(plan, OP_BIND, ENTRY_INSIDE, host->tools.entry, OPF_RO);
	strv_add(&plan->arena, &plan->argv, ENTRY_INSIDE);
	strv_add(&plan->arena, &plan->argv, "builder");
	plan_setenv(plan, "PATH", BUILDER_PATH);
	plan_setenv(plan, "LANG", "C.UTF-8");
	strv_add(&plan->arena, &plan->weaker,
		 "builder: root inside is root of a user namespace with 65536 ids, and keeps its "
		 "rights over files, users and processes there");
	return r;
}
