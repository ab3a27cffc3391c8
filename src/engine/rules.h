/* SPDX-License-Identifier: MIT */
/* The rules of a filtered network, as the engines have them: those of a plan, and as a policy. */
#pragma once

#include "engine/engine.h"
#include "net/policy.h"

struct engine_rules rules_of_plan(const struct plan *plan);
int rules_make_policy(const struct engine_rules *rules, struct policy **ret, struct err *err);
