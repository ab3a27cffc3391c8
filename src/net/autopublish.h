/* SPDX-License-Identifier: MIT */
/* --publish auto: what listens inside appears on the host's 127.0.0.1, and goes when it stops. */
#pragma once

#include "base/err.h"

struct ports;
struct auto_publish;

/* After ports_enter() and with a loop. *ret is to be stopped also when this fails. */
int auto_publish_start(struct auto_publish **ret, struct ports *ports, struct err *err);
/* Safe for NULL; the forwards that it has made are the ports' to close. */
void auto_publish_stop(struct auto_publish **publisher);

/* The i-th port of the host's to try for a port inside; the last is 0, the kernel's choice, and
 * after it comes -1. */
int auto_publish_candidate(uint16_t inside, unsigned i);
