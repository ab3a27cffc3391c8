/* SPDX-License-Identifier: MIT */
/*
 * Netlink messages in buffers of fixed size: built, sent, and taken apart. Nothing allocates.
 *
 * Building past the end of the buffer writes nothing and is remembered: nl_send() refuses such a
 * message, so that a builder needs no check of its own. What is read is bounded by what was
 * received, whatever its length fields say.
 */
#pragma once

#include <linux/netlink.h>

#include "base/err.h"

/* Makes a netlink socket one that hears the kernel alone, and hears from it what it disliked. */
int nl_prepare(int fd);

/* Messages on their way to the kernel, one after the other. */
struct nl_out {
	uint8_t *data; /* aligned to 4 */
	size_t size, len;
	size_t message; /* where the one being built begins */
	uint32_t seq;   /* of the one being built; the first is 1 */
	bool overflow;
};

#define NL_OUT(buffer)                                               \
	(struct nl_out)                                              \
	{                                                            \
		.data = (uint8_t *)(buffer), .size = sizeof(buffer), \
	}

/* Begins a message with its family's own header; returns its number. NLM_F_REQUEST is implied. */
uint32_t nl_begin(struct nl_out *out, uint16_t type, uint16_t flags, const void *header,
		  size_t header_len);
void nl_end(struct nl_out *out);
/* Asks for an answer to the message that was just ended. */
void nl_want_ack(struct nl_out *out);

void nl_put(struct nl_out *out, uint16_t type, const void *data, size_t len);
void nl_put_u8(struct nl_out *out, uint16_t type, uint8_t value);
void nl_put_u32(struct nl_out *out, uint16_t type, uint32_t value);
void nl_put_be16(struct nl_out *out, uint16_t type, uint16_t value);
void nl_put_be32(struct nl_out *out, uint16_t type, uint32_t value);
void nl_put_be64(struct nl_out *out, uint16_t type, uint64_t value);
void nl_put_str(struct nl_out *out, uint16_t type, const char *value);
/* Attributes within an attribute, until nl_unnest() is given what nl_nest() returned. */
size_t nl_nest(struct nl_out *out, uint16_t type);
void nl_unnest(struct nl_out *out, size_t nest);

/* What is left to read: of a datagram, of a message, of an attribute with others in it. */
struct nl_in {
	const uint8_t *data;
	size_t len;
};

struct nl_message {
	uint16_t type, flags;
	uint32_t seq;
	struct nl_in body; /* behind the header */
};

struct nl_attr {
	uint16_t type; /* without its flags */
	struct nl_in value;
};

/* The next one; false at the end and at the first that is not whole. */
bool nl_next_message(struct nl_in *in, struct nl_message *ret);
bool nl_next_attr(struct nl_in *in, struct nl_attr *ret);
/* Passes over a header in front of the attributes; false when there is less. */
bool nl_skip(struct nl_in *in, size_t len);
/* Exactly len bytes; false when the attribute has another size. */
bool nl_get(const struct nl_attr *attr, void *ret, size_t len);

/* One datagram that the kernel itself sent, without waiting: 0, -EAGAIN when there is none, -errno.
 * Others are passed over, whoever sends them, and so are those that do not fit. */
int nl_receive(int fd, void *buffer, size_t size, struct nl_in *ret);

/* The kernel's answer to one message. */
struct nl_ack {
	uint32_t seq;
	int code; /* 0 or a positive errno */
	/* Of the attribute that it dislikes, in our message; 0 when it does not say. */
	uint32_t offset;
	char text[120]; /* in its own words; may be empty */
};

/* Sends without waiting for an answer; -EMSGSIZE when it did not fit into its buffer. */
int nl_send(int fd, const struct nl_out *out);

/*
 * Sends, and takes the answers, of which each message with NLM_F_ACK and each that fails has one:
 * the first n of them are in acks. The kernel answers before the send returns, so this never waits.
 * Returns how many there were, or -errno when sending or receiving failed.
 */
int nl_transact(int fd, const struct nl_out *out, struct nl_ack *acks, size_t n);
