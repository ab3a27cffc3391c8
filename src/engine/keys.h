/* SPDX-License-Identifier: MIT */
/* The supervisor's ssh-agent, where the plan has one. */
#pragma once

#include "engine/sandbox.h"
#include "keys/agent.h"

/* After the child was made, which is a copy of us, and before there is a command. From here on nobody
 * may look into this process. */
int keys_load(struct sandbox *sandbox, struct err *err);
/* The loop's guest. key_agent_stop() ends it. */
int keys_serve(struct key_agent *agent, struct loop *loop, struct sandbox *sandbox,
	       struct err *err);
