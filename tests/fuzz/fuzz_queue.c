/* SPDX-License-Identifier: MIT */
/* Datagrams of the queue and the log: read within their bounds, and with sense. */
#include <errno.h>
#include <string.h>

#include "net/queue.h"
#include "os/linux/netlink.h"
#include "fuzz.h"

static void check_packet(const struct queue_packet *p)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&p->src) && IN6_IS_ADDR_V4MAPPED(&p->dst);

	check(p->family == AF_INET || p->family == AF_INET6);
	check(p->family != AF_INET || v4);
	check(p->proto == IPPROTO_TCP || p->proto == IPPROTO_UDP);
	check(!p->syn || p->proto == IPPROTO_TCP);
}

/* Everything that can be walked over lies within the input, and each step gets nearer to its end. */
static void walk(struct nl_in in, const uint8_t *end)
{
	struct nl_message message;
	struct nl_attr attr;
	size_t before = in.len;

	while (nl_next_message(&in, &message)) {
		check(in.len < before && message.body.data + message.body.len <= end);
		before = in.len;
		while (nl_next_attr(&message.body, &attr))
			check(attr.value.data + attr.value.len <= end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct queue_packet p;
	uint32_t id = 0;
	int r = queue_parse(data, size, &p, &id);

	check(r == 0 || r == -EBADMSG || r == -EPROTO);
	if (r == 0) {
		check_packet(&p);
		check(p.syn && p.id == id);
	}
	r = log_parse(data, size, &p);
	check(r == 0 || r == -EBADMSG || r == -EPROTO);
	if (r == 0) {
		check_packet(&p);
		check(p.id == 0);
	}
	walk((struct nl_in){ data, size }, data + size);
	return 0;
}
