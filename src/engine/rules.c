/* SPDX-License-Identifier: MIT */
/* Rules of a plan, and as a policy. */
#include "engine/rules.h"

#include <errno.h>

struct engine_rules rules_of_plan(const struct plan *plan)
{
	return (struct engine_rules){ .allow = plan->allow,
				      .deny = plan->deny,
				      .denied_resolved = plan->denied_resolved };
}

int rules_make_policy(const struct engine_rules *rules, struct policy **ret, struct err *err)
{
	struct policy *policy = policy_new();
	int r = policy ? 0 : err_errno(err, ENOMEM, "the network's rules");

	for (size_t i = 0; r == 0 && i < rules->allow.len; i++)
		r = policy_add(policy, rules->allow.v[i], 0, err);
	for (size_t i = 0; r == 0 && i < rules->deny.len; i++)
		r = policy_add(policy, rules->deny.v[i], RULE_DENY, err);
	for (size_t i = 0; r == 0 && i < rules->denied_resolved.len; i++)
		r = policy_deny_resolved(policy, rules->denied_resolved.v[i], err);
	if (r < 0)
		policy_unref(policy);
	else
		*ret = policy;
	return r;
}
