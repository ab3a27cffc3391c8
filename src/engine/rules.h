/* SPDX-License-Identifier: MIT */
/* The rules of a filtered network, as the engines have them, as a policy. */
#pragma once

#include "engine/engine.h"
#include "net/policy.h"

int rules_make_policy(const struct engine_rules *rules, struct policy **ret, struct err *err);
