/* SPDX-License-Identifier: MIT */
/* A connection of a server of commands, for both sides: lines, and descriptors that come along. */
#pragma once

#include <sys/types.h>

#include "api/serve_wire.h"

enum { SERVE_OUT_MAX = 1 << 20 }; /* bytes that wait for a client that does not read */

struct serve_conn {
	int fd; /* -1: none */
	struct str in, out;
	size_t taken;  /* of in */
	size_t sent;   /* of out */
	uint64_t lost; /* lines that had no room */
	int fds[SERVE_FDS_MAX];
	size_t n_fds; /* that came and nobody took */
};

#define SERVE_CONN_NONE  \
	{                \
		.fd = -1 \
	}

/* Closes it, and the descriptors that nobody took. */
void serve_conn_close(struct serve_conn *conn);

/* Reads what is there: 1 something, 0 the other side's end, -errno; -EAGAIN where it does not wait. */
int serve_conn_fill(struct serve_conn *conn, int flags);
/* The next whole line, without its end; it lives until the next fill. NULL: there is none yet. */
char *serve_conn_line(struct serve_conn *conn, size_t *ret_len);
/* Reads until there is a line, and until then (os_now_ms(); -1: any time). NULL: the end, or err says why not. */
char *serve_conn_wait(struct serve_conn *conn, size_t *ret_len, int64_t until, struct err *err);

/* All of it, waiting for the other side; descriptors go along with the first byte. */
int serve_conn_send(struct serve_conn *conn, const char *text, size_t len, const int *fds,
		    size_t n_fds);
/* Sends what can be without waiting, and keeps the rest. A line that has no room is counted. */
void serve_conn_push(struct serve_conn *conn, const char *text, size_t len);
/* Sends on until then (0: what can be at once); true: nothing waits any more. */
bool serve_conn_flush(struct serve_conn *conn, int64_t until);
