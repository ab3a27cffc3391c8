/* SPDX-License-Identifier: MIT */
/* The ports inside where brokered credentials are used. */
#pragma once

#include "engine/sandbox.h"

/* Before the command starts; sandbox->netns is there. Whoever runs the engine serves them. */
int relays_enter(struct sandbox *sandbox, struct err *err);
