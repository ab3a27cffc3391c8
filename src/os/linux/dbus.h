/* SPDX-License-Identifier: MIT */
/*
 * Just enough D-Bus to make one call to a peer and hear its signals, without a bus and without a
 * library: a message is written front to back into a fixed buffer, and read the same way.
 */
#pragma once

#include <time.h>

#include "base/util.h"

enum { DBUS_CALL = 1, DBUS_RETURN = 2, DBUS_ERROR = 3, DBUS_SIGNAL = 4 };
enum { DBUS_MESSAGE_MAX = 16 * 1024 };

/* A message being written. What we send is short; a call that did not fit is not sent. */
struct dbus_writer {
	uint8_t buf[16 * 1024];
	size_t len, body_at;
	bool full;
};

/* Header and fields; what is put after it is the body, which signature describes. */
void dbus_call(struct dbus_writer *w, const char *destination, const char *path,
	       const char *interface, const char *member, const char *signature);

void dbus_put_u32(struct dbus_writer *w, uint32_t value);
void dbus_put_bool(struct dbus_writer *w, bool value);
void dbus_put_bytes(struct dbus_writer *w, const void *data, size_t len); /* "ay" */
void dbus_put_u64(struct dbus_writer *w, uint64_t value);
void dbus_put_string(struct dbus_writer *w, const char *s);
void dbus_put_signature(struct dbus_writer *w, const char *s);
void dbus_align(struct dbus_writer *w, size_t align); /* 8 before a struct */

/* An array begins with its length, which is known at its end and does not count the padding
 * before the first element. */
struct dbus_array {
	size_t length_at, start;
};
struct dbus_array dbus_open_array(struct dbus_writer *w, size_t element_align);
void dbus_close_array(struct dbus_writer *w, struct dbus_array array);

/* The connection, with a deadline for all that is done on it. fd is -1 or to be closed. */
struct dbus_peer {
	int fd;
	struct timespec deadline;
};

/* Each returns 0 or -errno; -ETIMEDOUT after the deadline. */
int dbus_connect(struct dbus_peer *peer, const char *path, int seconds);
int dbus_send(const struct dbus_peer *peer, struct dbus_writer *w); /* the first, and only, call */
/* The same in steps, for more than one call. */
int dbus_greet(const struct dbus_peer *peer);
int dbus_send_as(const struct dbus_peer *peer, struct dbus_writer *w, uint32_t serial);

/* A received message, read from front to back; running past its end makes it bad for good. */
struct dbus_message {
	uint8_t buf[DBUS_MESSAGE_MAX];
	size_t len, at;
	bool bad;
	uint8_t type; /* 0: it was longer than we care for and was skipped */
	char member[64];
	char error[96];    /* DBUS_ERROR: its name */
	uint32_t reply_to; /* the serial of the call that it answers */
};

int dbus_receive(const struct dbus_peer *peer, struct dbus_message *m); /* left at its body */
uint32_t dbus_get_u32(struct dbus_message *m);
/* "ay": points into m; *ret_len is 0 when it is bad. */
const uint8_t *dbus_get_bytes(struct dbus_message *m, size_t *ret_len);
/* The end of an array, to be compared with m->at; elements begin at a multiple of align. */
size_t dbus_enter_array(struct dbus_message *m, size_t align);
void dbus_enter_struct(struct dbus_message *m);
const char *dbus_get_signature(struct dbus_message *m);
const char *dbus_get_string(struct dbus_message *m); /* points into m; "" when it is bad */
