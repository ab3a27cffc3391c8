/* SPDX-License-Identifier: MIT */
/*
 * Whose connection was it: the process inside that has the socket, for the event log. Found only
 * where that is cheap, never guessed: the kernel says which socket it is (NETLINK_SOCK_DIAG), and the
 * processes that lately asked for a socket are looked at for that one.
 */
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#include "net/queue.h"

#define OWNER_ARGS_MAX 1024
#define OWNER_PARENTS_MAX 8

struct owner {
	unsigned refs;
	pid_t pid;     /* as the sandbox sees it */
	char comm[64]; /* what the kernel calls it */
	size_t len;
	char args[OWNER_ARGS_MAX]; /* its arguments, a NUL after each; what is longer is cut */
	/* Who started it, the nearest first, up to the sandbox's first process, which is left out. */
	struct {
		pid_t pid;
		char comm[64];
	} parents[OWNER_PARENTS_MAX];
	size_t n_parents;
	bool likely; /* that it was this one is not certain */
};

/* A thread that asked for a socket, and what was found out about it when it was looked at. */
struct owner_recent {
	pid_t thread; /* on the host */
	int fd;       /* where a socket was found; the next one is near */
	int cmdline; /* its arguments, open: read again they say whether it is still the same program; -1 */
	struct owner *owner;
	uint64_t looked; /* when it was looked at, in microseconds */
	uint64_t site;   /* where it called from then */
};

struct owners {
	struct owner_recent recent[32]; /* the latest first */
	size_t n_recent;
	time_t second;      /* the current one, */
	unsigned in_second; /* and how often somebody was looked for in it */
};

/* The end of a connection as the first packet of the other end would have shown it: TCP. */
bool packet_of_socket(int fd, struct queue_packet *ret);
/* The same from what a UDP socket with IPV6_PKTINFO (or IP_PKTINFO) received. */
bool packet_of_message(const struct msghdr *message, uint16_t own_port, struct queue_packet *ret);

/* A thread (by the host's number) that has asked for a socket of the network. */
void owners_note(struct owners *owners, pid_t thread);
/* A reference, or NULL when it is not known. diag is ns_sockets.diag. Call while the socket is
 * there: before a refusal, after a connection was made. */
struct owner *owners_find(struct owners *owners, int diag, const struct queue_packet *packet);
/* The same for a thread by its number on the host, and where in its memory it called (0: not known); NULL when there
 * were too many in this second. */
struct owner *owners_get(struct owners *owners, pid_t thread, uint64_t site);
/* The process of this number on the host, as a reference; NULL without memory. */
struct owner *owner_of(pid_t pid);
void owner_unref(struct owner *owner); /* NULL is fine */
void owners_release(struct owners *owners);
