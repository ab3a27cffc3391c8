/* SPDX-License-Identifier: MIT */
/*
 * Between the supervisor and wrapix-relay: messages on a SOCK_SEQPACKET pair, which is the relay's
 * descriptor 3; 4 is the socket that it listens on. Whoever goes, the other sees the end.
 *
 *	to the relay	RULES	the fields of struct relay_rules, each with a NUL after it; once, first
 *			VALUE	the credential
 *			KEEP	there is no newer one to be had: the old one holds on
 *	from it		WANT	the value was used, and is not fresh any more
 *			SAID	a line for the log
 */
#pragma once

#include "base/err.h"
#include "keys/secret.h"
#include "relay/request.h"

#define RELAY_DOOR 3
#define RELAY_LISTENER 4
#define RELAY_FRESH 30 /* seconds */
#define RELAY_MESSAGE_MAX 16384

enum relay_message {
	RELAY_RULES = 'R',
	RELAY_VALUE = 'V',
	RELAY_KEEP = 'K',
	RELAY_WANT = 'W',
	RELAY_SAID = 'S'
};

int relay_send(int door, enum relay_message type, const void *data, size_t len);
/* The rules' message is made and read by these. The strings point into the text. */
size_t relay_rules_put(const struct relay_rules *rules, char *text, size_t size);
bool relay_rules_get(struct relay_rules *rules, const char *text, size_t len);

/* Starts the program, which takes listener over. ret_door is the supervisor's end. */
int relay_spawn(const char *program, int listener, int *ret_door, pid_t *ret_pid, struct err *err);
