/* SPDX-License-Identifier: MIT */
/* Serves the sockets of one namespace while a guest does what it was asked to. */
#include "netns_world.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define PATIENCE_MS 20000

static _Noreturn void bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void world_start(struct world *world)
{
	*world = (struct world){ .extra = -1, .verdict = QUEUE_REFUSE };
	memset(&world->sockets, 0xff, sizeof(world->sockets)); /* -1 */
	world->pid = guest_start(world->guests, &world->netns);
	if (world->pid < 0) {
		errno = -world->pid;
		bail("making a network namespace");
	}
}

void world_stop(struct world *world)
{
	nsconf_close(&world->sockets);
	if (world->extra >= 0)
		close(world->extra);
	close(world->guests[STRONG]);
	close(world->guests[WEAK]);
	close(world->netns);
	kill(world->pid, SIGKILL);
	waitpid(world->pid, NULL, 0);
}

int world_configure(struct world *world, const struct nft_options *options)
{
	double a = now_us(), b, c, d;
	int r = nsconf_open(world->netns, &world->sockets, &world->err);

	b = now_us();
	if (r == 0)
		r = nsconf_routes(&world->sockets, &world->ipv6, &world->err);
	c = now_us();
	if (r == 0)
		r = nft_apply(&world->sockets, options, &world->tier, &world->err);
	d = now_us();
	world->us[0] = (unsigned)(b - a);
	world->us[1] = (unsigned)(c - b);
	world->us[2] = (unsigned)(d - c);
	return r;
}

static void on_queue(struct world *world)
{
	struct queue_packet packet;

	while (queue_receive(world->sockets.queue, &packet) == 0) {
		enum queue_verdict verdict = world->drop ? QUEUE_DROP : world->verdict;

		world->seen.queued++;
		world->seen.packet = packet;
		if (queue_verdict(world->sockets.queue, packet.id, verdict) < 0)
			bail("verdict");
		world->drop -= world->drop > 0;
	}
}

static void on_log(struct world *world)
{
	struct queue_packet packet;

	while (log_receive(world->sockets.log, &packet) == 0) {
		world->seen.logged++;
		world->seen.log = packet;
	}
}

/* Says who it is and hangs up. */
static void on_listener(struct world *world, int fd, const char *name, unsigned *count)
{
	_cleanup_close_ int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (conn < 0)
		return;
	++*count;
	if (guest_name(conn, false, &world->seen.local) < 0)
		bail("getsockname");
	/* A peer that has gone already is nobody's mistake. */
	if (guest_name(conn, true, &world->seen.peer) == 0)
		(void)send(conn, name, strlen(name), MSG_NOSIGNAL);
}

/* The address that was asked, which an answer's control message then holds as its source. */
static bool take_asked(struct world *world, struct msghdr *msg)
{
	bool found = false;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct in6_pktinfo v6;
		struct in_pktinfo v4;

		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&v6, CMSG_DATA(c), sizeof(v6));
			v6.ipi6_ifindex = 0;
			world->seen.local.sin6_addr = v6.ipi6_addr;
			memcpy(CMSG_DATA(c), &v6, sizeof(v6));
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO &&
			   world->sockets.family == AF_INET) {
			memcpy(&v4, CMSG_DATA(c), sizeof(v4));
			v4.ipi_ifindex = 0;
			v4.ipi_spec_dst = v4.ipi_addr;
			world->seen.local.sin6_addr = guest_addr("0.0.0.0");
			memcpy(&world->seen.local.sin6_addr.s6_addr[12], &v4.ipi_addr, 4);
			memcpy(CMSG_DATA(c), &v4, sizeof(v4));
		} else {
			continue;
		}
		memmove(msg->msg_control, c, c->cmsg_len);
		msg->msg_controllen = CMSG_ALIGN(c->cmsg_len);
		found = true;
		break;
	}
	return found;
}

/* Answers from the address that was asked, as the DNS responder does. */
static void on_dns(struct world *world)
{
	char control[256] __attribute__((aligned(8)));
	char text[64];
	struct iovec iov = { text, sizeof(text) };
	struct msghdr msg = {
		.msg_name = &world->seen.peer,
		.msg_namelen = sizeof(world->seen.peer),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};

	if (recvmsg(world->sockets.udp, &msg, MSG_DONTWAIT) < 0)
		return;
	world->seen.asked++;
	iov = (struct iovec){ (char[]){ "dns" }, 3 };
	if (!take_asked(world, &msg) || sendmsg(world->sockets.udp, &msg, 0) < 0)
		bail("answering a DNS query");
}

static void serve(struct world *world)
{
	struct ns_sockets *s = &world->sockets;

	if (s->queue >= 0)
		on_queue(world);
	if (s->log >= 0)
		on_log(world);
	if (s->tcp >= 0)
		on_listener(world, s->tcp, "relay", &world->seen.accepted);
	if (s->dns_tcp >= 0)
		on_listener(world, s->dns_tcp, "dns", &world->seen.asked);
	if (s->udp >= 0)
		on_dns(world);
	if (world->extra >= 0)
		on_listener(world, world->extra, "extra", &world->seen.accepted);
}

struct guest_reply world_ask(struct world *world, enum guest guest, const struct guest_request *q)
{
	const struct ns_sockets *s = &world->sockets;
	struct guest_reply reply;
	struct pollfd fds[] = {
		{ world->guests[guest], POLLIN, 0 },
		{ s->queue, POLLIN, 0 },
		{ s->log, POLLIN, 0 },
		{ s->tcp, POLLIN, 0 },
		{ s->dns_tcp, POLLIN, 0 },
		{ s->udp, POLLIN, 0 },
		{ world->extra, POLLIN, 0 },
	};

	world->seen = (struct seen){ 0 };
	if (send(fds[0].fd, q, sizeof(*q), MSG_NOSIGNAL) < 0)
		bail("asking the guest");
	for (;;) {
		if (poll(fds, ARRAY_LEN(fds), PATIENCE_MS) <= 0)
			bail("waiting for the guest");
		/* In this order: what happened inside is known before its answer. */
		serve(world);
		if (fds[0].revents)
			break;
	}
	if (recv(fds[0].fd, &reply, sizeof(reply), 0) != sizeof(reply))
		bail("hearing from the guest");
	return reply;
}

static struct guest_request request(enum guest_op op, const char *to, uint16_t port)
{
	struct in6_addr addr = guest_addr(to);

	return (struct guest_request){
		.op = op,
		.family = IN6_IS_ADDR_V4MAPPED(&addr) ? AF_INET : AF_INET6,
		.to = addr,
		.port = port,
	};
}

struct guest_reply world_connect(struct world *world, const char *to, uint16_t port)
{
	struct guest_request q = request(GUEST_CONNECT, to, port);

	return world_ask(world, WEAK, &q);
}

struct guest_reply world_udp(struct world *world, const char *to, uint16_t port)
{
	struct guest_request q = request(GUEST_UDP, to, port);

	return world_ask(world, WEAK, &q);
}

int world_listen(struct world *world, const char *on, uint16_t port)
{
	struct guest_request q = request(GUEST_LISTEN, on, 0);

	q.from = q.to;
	q.from_port = port;
	return world_ask(world, WEAK, &q).code;
}
