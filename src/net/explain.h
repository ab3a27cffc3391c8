/* SPDX-License-Identifier: MIT */
/*
 * Guest of the loop: tells a program over the refused connection itself why it was refused, so that
 * an agent reads the reason where it looks: HTTP 403 on port 80, the TLS alert "access denied" on
 * port 443.
 */
#pragma once

#include "net/policy.h"
#include "os/ticker.h"

struct farewell;

struct explainer {
	struct loop *loop;
	struct ticker ticker;
	struct farewell *head;
	size_t n;
};

int explainer_start(struct explainer *explainer, struct loop *loop, struct err *err);
void explainer_stop(struct explainer *explainer);

bool explainer_can(uint16_t port);
/* Takes the connection over; when there are too many already it is closed without a word. */
void explainer_tell(struct explainer *explainer, int fd, const char *name, uint16_t port,
		    enum net_reason reason);
