/* SPDX-License-Identifier: MIT */
/*
 * First packets of connections, held by the kernel until we have dialled (NFQUEUE), and copies of
 * packets that the kernel refused by itself (NFLOG).
 *
 * A verdict is "accept" with a mark: the rules after the queue turn the mark into a connection to
 * our listener, a reset or an ICMP error, see net/nft.c. A queue without a reader lets packets pass
 * unmarked, which those rules refuse: so the supervisor's death closes the network, and at once.
 *
 * The packets are made by the sandbox, headers and all. Of each the kernel copies the first 80
 * bytes: IPv4's longest header and TCP's shortest. An IPv6 packet with extension headers is none
 * that connect() makes, and is dropped.
 */
#include "net/queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "os/linux/netlink.h"
#include "os/linux/packets.h"

#define COPY_BYTES 80
#define QUEUE_LEN 4096 /* connections that wait for a verdict; more are dropped, and come again */
#define BUFFER_BYTES (1 << 20) /* asked for; the host may give less */
#define BAD_MAX 64             /* bad packets dropped in one call */

enum { IPV4_HEADER = 20, IPV6_HEADER = 40, TCP_HEADER = 20, PORTS = 4, TCP_FLAGS = 13 };
enum { TCP_SYN = 0x02, TCP_ACK = 0x10 };

static uint16_t get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void map_v4(const uint8_t *v4, struct in6_addr *ret)
{
	*ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&ret->s6_addr[12], v4, 4);
}

/* Leaves the transport header in *in. */
static bool parse_v4(struct nl_in *in, struct queue_packet *ret)
{
	const uint8_t *p = in->data;
	size_t header;

	if (in->len < IPV4_HEADER)
		return false;
	header = (size_t)(p[0] & 0x0f) * 4;
	if (header < IPV4_HEADER || (get_be16(p + 6) & 0x1fff) != 0) /* not the first fragment */
		return false;
	ret->family = AF_INET;
	ret->proto = p[9];
	map_v4(p + 12, &ret->src);
	map_v4(p + 16, &ret->dst);
	return nl_skip(in, header);
}

static bool parse_v6(struct nl_in *in, struct queue_packet *ret)
{
	const uint8_t *p = in->data;

	if (in->len < IPV6_HEADER)
		return false;
	ret->family = AF_INET6;
	ret->proto = p[6];
	memcpy(&ret->src, p + 8, sizeof(ret->src));
	memcpy(&ret->dst, p + 24, sizeof(ret->dst));
	return nl_skip(in, IPV6_HEADER);
}

static bool parse_packet(struct nl_in in, struct queue_packet *ret)
{
	uint8_t version = in.len ? in.data[0] >> 4 : 0;
	size_t need;

	*ret = (struct queue_packet){ 0 };
	if (!(version == 4 ? parse_v4(&in, ret) : version == 6 && parse_v6(&in, ret)))
		return false;
	if (ret->proto != IPPROTO_TCP && ret->proto != IPPROTO_UDP)
		return false;
	need = ret->proto == IPPROTO_TCP ? TCP_HEADER : PORTS;
	if (in.len < need)
		return false;
	ret->sport = get_be16(in.data);
	ret->dport = get_be16(in.data + 2);
	if (ret->proto == IPPROTO_TCP)
		ret->syn = (in.data[TCP_FLAGS] & (TCP_SYN | TCP_ACK)) == TCP_SYN;
	return true;
}

/* The attributes of the datagram's first message, if it is of this type. */
static bool find_message(const void *data, size_t len, uint16_t type, struct nl_in *ret)
{
	struct nl_in in = { data, len };
	struct nl_message message;

	if (!nl_next_message(&in, &message) || message.type != type)
		return false;
	*ret = message.body;
	return nl_skip(ret, sizeof(struct nfgenmsg));
}

int queue_parse(const void *data, size_t len, struct queue_packet *ret, uint32_t *ret_id)
{
	struct nfqnl_msg_packet_hdr header;
	bool have_id = false, have_packet = false;
	struct queue_packet packet = { 0 };
	struct nl_attr attr;
	struct nl_in in;

	if (!find_message(data, len, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET, &in))
		return -EBADMSG;
	while (nl_next_attr(&in, &attr)) {
		if (attr.type == NFQA_PACKET_HDR && nl_get(&attr, &header, sizeof(header)))
			have_id = true;
		else if (attr.type == NFQA_PAYLOAD)
			have_packet = parse_packet(attr.value, &packet);
	}
	if (!have_id)
		return -EBADMSG;
	packet.id = *ret_id = ntohl(header.packet_id);
	if (!have_packet || !packet.syn)
		return -EPROTO;
	*ret = packet;
	return 0;
}

int log_parse(const void *data, size_t len, struct queue_packet *ret)
{
	struct queue_packet packet = { 0 };
	bool have_packet = false;
	struct nl_attr attr;
	struct nl_in in;

	if (!find_message(data, len, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET, &in))
		return -EBADMSG;
	while (nl_next_attr(&in, &attr))
		if (attr.type == NFULA_PAYLOAD)
			have_packet = parse_packet(attr.value, &packet);
	if (!have_packet)
		return -EPROTO;
	*ret = packet;
	return 0;
}

/* Sends one message of configuration and takes its answer. */
static int configure(int fd, struct nl_out *out)
{
	const int on = 1, bytes = BUFFER_BYTES;
	struct nl_ack ack;
	int n;

	if (fd < 0)
		return -EPROTONOSUPPORT;
	/* What does not fit is dropped by the kernel, and comes again: no error to hear about. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	n = nl_transact(fd, out, &ack, 1);
	if (n < 0)
		return n;
	return n == 1 ? -ack.code : -EIO;
}

int queue_bind(int fd, struct err *err)
{
	const struct nfgenmsg header = { .nfgen_family = AF_UNSPEC, .res_id = htons(QUEUE_NUM) };
	const struct nfqnl_msg_config_cmd cmd = { .command = NFQNL_CFG_CMD_BIND };
	const struct nfqnl_msg_config_params params = {
		.copy_range = htonl(COPY_BYTES),
		.copy_mode = NFQNL_COPY_PACKET,
	};
	uint8_t buffer[128] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	int r;

	nl_begin(&out, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG, NLM_F_ACK, &header,
		 sizeof(header));
	nl_put(&out, NFQA_CFG_CMD, &cmd, sizeof(cmd));
	nl_put(&out, NFQA_CFG_PARAMS, &params, sizeof(params));
	nl_put_be32(&out, NFQA_CFG_QUEUE_MAXLEN, QUEUE_LEN);
	nl_end(&out);
	r = configure(fd, &out);
	if (r < 0)
		return err_errno(err, -r, "the kernel's packet queue (nfnetlink_queue)");
	return 0;
}

int log_bind(int fd, struct err *err)
{
	const struct nfgenmsg header = { .nfgen_family = AF_UNSPEC, .res_id = htons(LOG_GROUP) };
	const struct nfulnl_msg_config_cmd cmd = { .command = NFULNL_CFG_CMD_BIND };
	const struct nfulnl_msg_config_mode mode = {
		.copy_range = htonl(COPY_BYTES),
		.copy_mode = NFULNL_COPY_PACKET,
	};
	uint8_t buffer[128] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	int r;

	nl_begin(&out, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG, NLM_F_ACK, &header,
		 sizeof(header));
	nl_put(&out, NFULA_CFG_CMD, &cmd, sizeof(cmd));
	nl_put(&out, NFULA_CFG_MODE, &mode, sizeof(mode));
	nl_put_be32(&out, NFULA_CFG_QTHRESH, 1); /* each at once, not a hundred together */
	nl_end(&out);
	r = configure(fd, &out);
	if (r < 0)
		return err_errno(err, -r, "the kernel's packet log (nfnetlink_log)");
	return 0;
}

int queue_receive(int fd, struct queue_packet *ret)
{
	uint8_t buffer[2048] __attribute__((aligned(4)));

	for (int i = 0; i < BAD_MAX; i++) {
		struct nl_in in;
		uint32_t id = 0;
		int r = nl_receive(fd, buffer, sizeof(buffer), &in);

		if (r == 0)
			r = queue_parse(in.data, in.len, ret, &id);
		if (r == -EPROTO)
			(void)queue_verdict(fd, id, QUEUE_DROP); /* else it stays there, unseen */
		else if (r != -EBADMSG) /* that one is an answer to a verdict that came too late */
			return r;
	}
	return -EAGAIN; /* the loop comes back */
}

int queue_verdict(int fd, uint32_t id, enum queue_verdict verdict)
{
	const struct nfgenmsg header = { .nfgen_family = AF_UNSPEC, .res_id = htons(QUEUE_NUM) };
	const struct nfqnl_msg_verdict_hdr hdr = {
		.verdict = htonl(verdict == QUEUE_DROP ? NF_DROP : NF_ACCEPT),
		.id = htonl(id),
	};
	uint8_t buffer[64] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);

	nl_begin(&out, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_VERDICT, 0, &header, sizeof(header));
	nl_put(&out, NFQA_VERDICT_HDR, &hdr, sizeof(hdr));
	nl_put_be32(&out, NFQA_MARK, verdict);
	nl_end(&out);
	return nl_send(fd, &out);
}

int log_receive(int fd, struct queue_packet *ret)
{
	uint8_t buffer[4096] __attribute__((aligned(4)));

	for (int i = 0; i < BAD_MAX; i++) {
		struct nl_in in;
		int r = nl_receive(fd, buffer, sizeof(buffer), &in);

		if (r == 0)
			r = log_parse(in.data, in.len, ret);
		if (r != -EPROTO && r != -EBADMSG)
			return r;
	}
	return -EAGAIN;
}
