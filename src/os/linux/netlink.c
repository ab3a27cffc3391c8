/* SPDX-License-Identifier: MIT */
/*
 * Netlink: messages built into, and read from, buffers of fixed size.
 *
 * What comes in was made by the kernel, but a part of it (packets, names) by whoever it reports on,
 * and any process with rights over the same network namespace can write to our socket: so only what
 * the kernel sent is read, and no length is believed before it is compared.
 */
#include "os/linux/netlink.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define FOREIGN_MAX 64 /* datagrams of others passed over in one call */

int nl_prepare(int fd)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const int on = 1;

	/* A socket that is connected to the kernel takes nothing from anybody else. */
	if (connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	/* Without these two (Linux 4.3, 4.12) errors are longer and say less. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	return 0;
}

/* Room for len bytes and their padding, zeroed; NULL when there is none. */
static void *reserve(struct nl_out *out, size_t len)
{
	size_t whole = NLMSG_ALIGN(len);
	void *ret;

	if (out->overflow || len > out->size || whole > out->size - out->len) {
		out->overflow = true;
		return NULL;
	}
	ret = out->data + out->len;
	memset(ret, 0, whole);
	out->len += whole;
	return ret;
}

uint32_t nl_begin(struct nl_out *out, uint16_t type, uint16_t flags, const void *header,
		  size_t header_len)
{
	struct nlmsghdr *message;
	void *own;

	out->seq++;
	out->message = out->len;
	message = reserve(out, sizeof(*message));
	if (message)
		*message = (struct nlmsghdr){
			.nlmsg_type = type,
			.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags),
			.nlmsg_seq = out->seq,
		};
	own = reserve(out, header_len);
	if (own && header_len)
		memcpy(own, header, header_len);
	return out->seq;
}

void nl_end(struct nl_out *out)
{
	struct nlmsghdr *message = (struct nlmsghdr *)(out->data + out->message);

	if (!out->overflow)
		message->nlmsg_len = (uint32_t)(out->len - out->message);
}

void nl_want_ack(struct nl_out *out)
{
	struct nlmsghdr *message = (struct nlmsghdr *)(out->data + out->message);

	if (!out->overflow)
		message->nlmsg_flags |= NLM_F_ACK;
}

void nl_put(struct nl_out *out, uint16_t type, const void *data, size_t len)
{
	struct nlattr *attr;

	if (len > UINT16_MAX - NLA_HDRLEN) {
		out->overflow = true;
		return;
	}
	attr = reserve(out, NLA_HDRLEN + len);
	if (!attr)
		return;
	attr->nla_type = type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + len);
	if (len)
		memcpy((uint8_t *)attr + NLA_HDRLEN, data, len);
}

void nl_put_u8(struct nl_out *out, uint16_t type, uint8_t value)
{
	nl_put(out, type, &value, sizeof(value));
}

void nl_put_u32(struct nl_out *out, uint16_t type, uint32_t value)
{
	nl_put(out, type, &value, sizeof(value));
}

void nl_put_be16(struct nl_out *out, uint16_t type, uint16_t value)
{
	value = htons(value);
	nl_put(out, type, &value, sizeof(value));
}

void nl_put_be32(struct nl_out *out, uint16_t type, uint32_t value)
{
	value = htonl(value);
	nl_put(out, type, &value, sizeof(value));
}

void nl_put_be64(struct nl_out *out, uint16_t type, uint64_t value)
{
	value = htobe64(value);
	nl_put(out, type, &value, sizeof(value));
}

void nl_put_str(struct nl_out *out, uint16_t type, const char *value)
{
	nl_put(out, type, value, strlen(value) + 1);
}

size_t nl_nest(struct nl_out *out, uint16_t type)
{
	size_t nest = out->len;

	nl_put(out, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void nl_unnest(struct nl_out *out, size_t nest)
{
	struct nlattr *attr = (struct nlattr *)(out->data + nest);

	if (out->overflow)
		return;
	if (out->len - nest > UINT16_MAX)
		out->overflow = true;
	else
		attr->nla_len = (uint16_t)(out->len - nest);
}

bool nl_skip(struct nl_in *in, size_t len)
{
	if (len > in->len)
		return false;
	in->data += len;
	in->len -= len;
	return true;
}

bool nl_next_message(struct nl_in *in, struct nl_message *ret)
{
	struct nlmsghdr header;
	size_t len;

	if (in->len < sizeof(header))
		return false;
	memcpy(&header, in->data, sizeof(header));
	len = header.nlmsg_len;
	if (len < sizeof(header) || len > in->len)
		return false;
	*ret = (struct nl_message){
		.type = header.nlmsg_type,
		.flags = header.nlmsg_flags,
		.seq = header.nlmsg_seq,
		.body = { in->data + sizeof(header), len - sizeof(header) },
	};
	return nl_skip(in, MIN(NLMSG_ALIGN(len), in->len)); /* the last may lack its padding */
}

bool nl_next_attr(struct nl_in *in, struct nl_attr *ret)
{
	struct nlattr header;
	size_t len;

	if (in->len < sizeof(header))
		return false;
	memcpy(&header, in->data, sizeof(header));
	len = header.nla_len;
	if (len < sizeof(header) || len > in->len)
		return false;
	*ret = (struct nl_attr){
		.type = header.nla_type & NLA_TYPE_MASK,
		.value = { in->data + sizeof(header), len - sizeof(header) },
	};
	return nl_skip(in, MIN((size_t)NLA_ALIGN(len), in->len));
}

bool nl_get(const struct nl_attr *attr, void *ret, size_t len)
{
	if (attr->value.len != len)
		return false;
	memcpy(ret, attr->value.data, len);
	return true;
}

int nl_receive(int fd, void *buffer, size_t size, struct nl_in *ret)
{
	for (int i = 0; i < FOREIGN_MAX; i++) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_len = sizeof(from);
		ssize_t len = recvfrom(fd, buffer, size, MSG_DONTWAIT | MSG_TRUNC,
				       (struct sockaddr *)&from, &from_len);

		if (len < 0)
			return -errno;
		if (from_len != sizeof(from) || from.nl_pid != 0 || (size_t)len > size)
			continue;
		*ret = (struct nl_in){ buffer, (size_t)len };
		return 0;
	}
	return -EAGAIN;
}

int nl_send(int fd, const struct nl_out *out)
{
	ssize_t len;

	if (out->overflow)
		return -EMSGSIZE;
	len = send(fd, out->data, out->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (len < 0)
		return -errno;
	return (size_t)len == out->len ? 0 : -EIO;
}

/* What stands behind an error: where in our message it lies, and a sentence. */
static void parse_details(struct nl_in in, struct nl_ack *ack)
{
	struct nl_attr attr;

	while (nl_next_attr(&in, &attr)) {
		if (attr.type == NLMSGERR_ATTR_OFFS)
			nl_get(&attr, &ack->offset, sizeof(ack->offset));
		else if (attr.type == NLMSGERR_ATTR_MSG)
			snprintf(ack->text, sizeof(ack->text), "%.*s",
				 (int)MIN(attr.value.len, sizeof(ack->text)),
				 (const char *)attr.value.data);
	}
}

static bool parse_ack(const struct nl_message *message, struct nl_ack *ret)
{
	struct nl_in in = message->body;
	struct nlmsgerr error;
	size_t echoed;

	if (message->type != NLMSG_ERROR || in.len < sizeof(error))
		return false;
	memcpy(&error, in.data, sizeof(error));
	*ret = (struct nl_ack){
		.seq = error.msg.nlmsg_seq,
		/* The negation of INT_MIN is none. */
		.code = error.error > 0 || error.error < -4095 ? EIO : -error.error,
	};
	echoed = sizeof(error);
	if (!(message->flags & NLM_F_CAPPED) && ret->code)
		echoed += NLMSG_ALIGN((size_t)error.msg.nlmsg_len) - sizeof(error.msg);
	if ((message->flags & NLM_F_ACK_TLVS) && nl_skip(&in, echoed))
		parse_details(in, ret);
	return true;
}

int nl_transact(int fd, const struct nl_out *out, struct nl_ack *acks, size_t n)
{
	uint8_t buffer[8192] __attribute__((aligned(4)));
	struct nl_in in = { 0 };
	size_t count = 0;
	int r = nl_send(fd, out);

	if (r < 0)
		return r;
	while ((r = nl_receive(fd, buffer, sizeof(buffer), &in)) == 0) {
		struct nl_message message;
		struct nl_ack ack;

		while (nl_next_message(&in, &message))
			if (parse_ack(&message, &ack) && count < n)
				acks[count++] = ack;
	}
	return r == -EAGAIN ? (int)count : r;
}
