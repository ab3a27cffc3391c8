/* SPDX-License-Identifier: MIT */
/* The ports inside where brokered credentials are used. */
#pragma once

#include "engine/sandbox.h"

/* Makes a listening socket for each, which whoever runs the engine serves; 'n' counts from 0. */
int relays_offer(const struct sandbox *sandbox,
		 int (*listen_at)(void *ctx, size_t n, uint16_t port, int *ret, struct err *err),
		 void *ctx, struct err *err);
/* The same in the sandbox's own network. Before the command starts; sandbox->netns is there. */
int relays_enter(struct sandbox *sandbox, struct err *err);
