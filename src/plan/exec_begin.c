/* SPDX-License-Identifier: MIT */
/*
 * The part of a command's plan that is known before the command is, so that an engine can carry it out
 * ahead. Which plans continue it is decided here, strictly: what is not recognised does not.
 */
#include <string.h>

#include "base/path.h"
#include "plan/parts.h"
#include "spec/exec.h"

void plan_exec_begin(struct plan *ret, uid_t uid, gid_t gid, const struct path_facts *masks)
{
	const struct host host = {
		.uid = uid,
		.inside = masks != NULL,
		.masks = masks ? *masks : (struct path_facts){ 0 },
	};
	const struct exec_spec exec = { 0 };

	*ret = (struct plan){
		.engine = ENGINE_NATIVE,
		.uid = uid,
		.gid = gid,
		.net = NET_FILTERED,
		.root_size = ROOT_SIZE,
		.scratch_size = SCRATCH_SIZE,
		.limits_by = CGROUP_NONE,
	};
	plan_exec_root(ret, &exec, &host);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_op(const struct op *a, const struct op *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->mode == b->mode &&
	       same_text(a->dest, b->dest) && same_text(a->src, b->src) &&
	       same_text(a->layer, b->layer);
}

/* What lies over the host's tree, and neither in the directories of ours, which are closed by then, nor
 * from where they lie. */
static bool can_follow(const struct op *op)
{
	static const bool kinds[OP_COW + 1] = {
		[OP_BIND] = true,
		[OP_COVER] = true,
		[OP_DENY] = true,
		[OP_PASS] = true,
	};
	static const char *const own[] = { "/dev", "/proc" };

	if (op->kind > OP_COW || !kinds[op->kind] ||
	    (op->flags & (OPF_CHECK | OPF_MAKE | OPF_SESSION | OPF_COPY)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (path_is_below(op->dest, own[i]) ||
		    (op->kind == OP_BIND && path_is_below(op->src, own[i])))
			return false;
	return true;
}

bool plan_continues(const struct plan *plan, const struct plan *begun)
{
	if (plan->engine != begun->engine || plan->uid != begun->uid || plan->gid != begun->gid ||
	    plan->net != begun->net || plan->limits_by != begun->limits_by || plan->hostname ||
	    plan->root_size != begun->root_size || plan->scratch_size != begun->scratch_size)
		return false;
	if (plan->eager_net || plan_has_ports(plan) || plan_has_key_agent(plan) || plan->n_relays ||
	    plan->cow_base || !plan->files || plan->n_ops < begun->n_ops)
		return false;
	for (size_t i = 0; i < plan->n_ops; i++)
		if (i < begun->n_ops ? !same_op(&plan->ops[i], &begun->ops[i])
				     : !can_follow(&plan->ops[i]))
			return false;
	return true;
}
