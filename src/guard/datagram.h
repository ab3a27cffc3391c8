/* SPDX-License-Identifier: MIT */
/*
 * socket(AF_UNIX, SOCK_DGRAM) for a sandbox.
 *
 * Such a socket names a peer in any message, in memory that no filter sees, so that the sandbox never
 * has one: what it gets is an end of a pair of SOCK_SEQPACKET, which keeps messages apart and ignores
 * names. The supervisor holds the other end and carries each message to the one it is for:
 *	- within the sandbox to the end of the socket that is bound there, whose names (files, and abstract
 *	  ones) are known here, because it is here that they are bound;
 *	- to a socket of the host's that may be reached, by a datagram socket of the supervisor's own.
 * As no real one is inside, any call may go on in the kernel, whatever it finds there by then: it can
 * send to nobody but the supervisor.
 *
 * A filter knows a descriptor by its number only. So these have numbers with DATAGRAM_BIT in them, and
 * the calls that take or give an address are asked about for such numbers alone; nobody else pays. A
 * duplicate with another number can do all but that. Nothing that must not happen depends on it.
 *
 * What comes without a name goes into the pair at once, and is carried a little later; its sender does
 * not learn that nobody takes it.
 */
#pragma once

#include "guard/connect.h"

#define DATAGRAM_BIT 512

struct connect_job;
struct sockaddr_un;

/* socket(2): the answer. */
int datagram_socket(struct connect_guard *guard, const struct seccomp_notif *call);
/* This socket of the sandbox's stands in for one. */
bool datagram_is(const struct connect_guard *guard, int socket);
/* bind(2) of what is no file; NOTIFY_CONTINUE where the socket is no stand-in. */
int datagram_bind(struct connect_guard *guard, int socket, struct sockaddr_un *name, size_t len);
/* connect(2); NOTIFY_CONTINUE likewise. */
int datagram_connect(struct connect_guard *guard, const struct seccomp_notif *call,
		     struct connect_job *job);
/* sendto, sendmsg, sendmmsg, recvfrom, recvmsg, recvmmsg. */
int datagram_message(struct connect_guard *guard, const struct seccomp_notif *call,
		     const char *name);
/* A socket of the sandbox's was bound to a file, by a name that its caller gave. */
void datagram_bound(struct connect_guard *guard, int socket, const struct stat *st,
		    const struct sockaddr_un *name, size_t len);
/* What was sent is carried as far as there is room. */
void datagrams_stop(struct connect_guard *guard);
