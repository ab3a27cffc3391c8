/* SPDX-License-Identifier: MIT */
/* For the files of guard/datagram.h. */
#pragma once

#include "guard/caller.h"
#include "guard/connect_priv.h"
#include "guard/datagram.h"
#include "os/linux/kernel.h"

enum {
	DATAGRAM_MAX = 256 << 10, /* more than a socket's buffer takes */
	DATAGRAM_FDS = 253,       /* SCM_MAX_FD */
	DATAGRAM_PARTS = 64,
};

/* What a socket is called; nothing: len is 0. */
struct datagram_name {
	socklen_t len;
	struct sockaddr_un un;
};

/* A message on its way. */
struct letter {
	struct letter *next;
	struct datagram *from; /* NULL: its socket is gone */
	struct seccomp_notif
		call;     /* what hangs until it is delivered; id 0: it came through the pair */
	int64_t deadline; /* of that call; 0: none */
	bool counts;      /* it is sendmmsg, and wants no length */
	size_t len, n_fds;
	int fds[DATAGRAM_FDS];
	char text[];
};

/* Who sent a message that was not read yet. */
struct sender {
	struct sender *next;
	struct datagram_name name;
};

/* A call that hangs until a message comes. */
struct receiver {
	struct receiver *next;
	struct seccomp_notif call;
	int64_t deadline; /* 0: none */
};

/* The supervisor's end of a socket, or a socket of its own to one of the host's. */
struct datagram {
	struct loop_source end;
	struct datagrams *all;
	struct datagram *next;
	uint64_t cookie; /* of the sandbox's end; 0: it is the host's */
	bool temporary;  /* of the host's, for one message */
	struct datagram_name name;
	dev_t dev; /* the file that it is bound to; ino is 0 where there is none */
	ino_t ino;
	struct datagram *peer;
	struct letter *waiting; /* for room here */
	bool stopped;           /* its own message waits elsewhere */
	bool deaf;              /* it will send nothing more */
	bool watched;
	struct sender *senders;
	struct receiver *receivers;
};

struct datagrams {
	struct connect_guard *guard;
	struct datagram *first;
	size_t n;
	struct loop_source timer;
	bool ticks;
};

/* ---- datagram.c: ends, and what goes from one to another */
/* The end behind a descriptor of the sandbox's; NULL: it is another kind. */
struct datagram *datagram_find(const struct connect_guard *guard, int socket);
struct datagram *datagram_find_name(const struct connect_guard *guard, const struct sockaddr_un *un,
				    socklen_t len);
struct datagram *datagram_find_file(const struct connect_guard *guard, const struct stat *st);
/* Takes the descriptor over, also when it fails; NULL: there are too many. */
struct datagram *datagram_new(struct connect_guard *guard, int fd, uint64_t cookie);
void datagram_release(struct datagram *d);
void datagram_set_peer(struct datagram *d, struct datagram *peer);
/* 0, or -errno: -EAGAIN without room. The letter stays the caller's. */
int datagram_deliver(struct datagram *to, const struct letter *letter);
/* Not too much waits already. */
bool datagram_may_wait(const struct datagrams *all, const struct letter *letter);
/* Takes the letter over until there is room. */
void datagram_wait(struct datagram *to, struct letter *letter);
/* Whether the call waits on: 0, or -errno when it is to wait no longer. */
int datagram_waits(const struct seccomp_notif *call, int64_t deadline);
/* The call hangs until a message comes. */
void datagram_add_receiver(struct datagram *d, const struct seccomp_notif *call, int socket);

/* ---- letter.c */
extern char datagram_text[DATAGRAM_MAX]; /* of the message that is being read */
/* Of the text there, and the rights of a message, where there is one. */
struct letter *letter_new(size_t len, struct msghdr *msg);
/* The next one at this socket; NULL with -errno. */
struct letter *letter_take(int socket, int flags, int *ret_error);
void letter_free(struct letter *letter);

/* ---- datagram_recv.c */
/* NOTIFY_LATER once it is answered; -EAGAIN: nothing is there. */
int datagram_receive(struct connect_guard *guard, const struct seccomp_notif *call,
		     struct datagram *d, int socket, const char *name);
/* Something came, or time went by. */
void datagram_try_receivers(struct datagram *d);
