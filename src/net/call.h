/* SPDX-License-Identifier: MIT */
/* A connection through a port: accepted on one side, dialled on the other, then the relay's. */
#pragma once

#include "net/ports.h"

/* In the order in which they are tried. */
#define CALL_FAMILIES 2
extern const int call_families[CALL_FAMILIES];

/* 127.0.0.1 or ::1. */
socklen_t call_loopback(int family, uint16_t port, struct sockaddr_storage *ret);

/* Takes an unbound socket of the sandbox's, by the number of its family, from the pool, which is
 * filled when it is empty. */
int call_take_inside(struct ports *ports, unsigned family, struct err *err);

/* Takes the socket over. */
void call_begin(struct forward *forward, int accepted);
/* Resets a connection that there is no room for; why is said once, as whoever is turned away sees it
 * by himself. code 0: there are too many. */
void call_turn_away(struct ports *ports, int accepted, int code);
/* Gives those up that nobody answers. */
void call_expire(struct ports *ports);
/* The sandbox is dead. A server that answered and ended at once has answered: all that are connected
 * become the relay's. */
void call_finish(struct ports *ports);
/* For the relay. */
void call_on_ended(void *ctx, void *tag, const struct relay_stats *stats);
