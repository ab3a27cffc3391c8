/* SPDX-License-Identifier: MIT */
/*
 * The kernel side of the filtered network (net/nsconf.c, net/nft.c, net/queue.c) in a real network
 * namespace, as an ordinary user: a guest inside connects, the test is the supervisor. Prints TAP.
 * Hostile guests and lesser kernels: netns_edges_driver.c.
 *
 * No time is compared. What is late is late because a packet had to be sent again, and that shows:
 * the queue then sees it twice.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "lib/tap.h"
#include "netns_world.h"

#define FAR4 "203.0.113.7"
#define FAR6 "2001:db8::7"
#define OWN4 "198.18.0.2"
#define OWN6 "fd53:b0c5::2"

static const char *const far[] = { FAR4, FAR6 };

static bool same(const struct in6_addr *addr, const char *text)
{
	struct in6_addr want = guest_addr(text);

	return memcmp(addr, &want, sizeof(want)) == 0;
}

static struct guest_reply strong(struct world *w, enum guest_op op, int family, const char *text)
{
	struct guest_request q = { .op = op, .family = family };

	snprintf(q.text, sizeof(q.text), "%s", text);
	return world_ask(w, STRONG, &q);
}

static int forget(struct world *w)
{
	return world_ask(w, WEAK, &(struct guest_request){ .op = GUEST_FORGET }).code;
}

static void test_before(struct world *w)
{
	struct guest_request q = { .op = GUEST_LOOKUP, .family = AF_INET };

	is_int(strong(w, GUEST_LO_UP, 0, "").code, 0, "loopback up");
	is_int(world_ask(w, WEAK, &q).code, EAI_NONAME,
	       "with loopback alone AI_ADDRCONFIG finds no IPv4");
	q.family = AF_INET6;
	is_int(world_ask(w, WEAK, &q).code, EAI_NONAME, "... and no IPv6");
	is_int(world_connect(w, FAR4, 80).code, ENETUNREACH, "no IPv4 before it is configured");
	is_int(world_connect(w, FAR6, 80).code, ENETUNREACH, "no IPv6 before it is configured");
}

static void test_configure(struct world *w)
{
	struct guest_request q = { .op = GUEST_LOOKUP, .family = AF_INET };

	is_int(world_configure(w, &(struct nft_options){ .best = TIER_QUEUE }), 0, "configured");
	if (w->err.msg[0])
		diag("%s", w->err.msg);
	diag("sockets %u us, routes %u us, rules %u us", w->us[0], w->us[1], w->us[2]);
	is_int(w->tier, TIER_QUEUE, "with a queue");
	ok(w->ipv6, "with IPv6");
	is_int(world_ask(w, WEAK, &q).code, 0, "AI_ADDRCONFIG finds IPv4");
	q.family = AF_INET6;
	is_int(world_ask(w, WEAK, &q).code, 0, "AI_ADDRCONFIG finds IPv6");
	is_str(strong(w, GUEST_READ, 0, "/proc/sys/net/ipv4/tcp_rmem").text,
	       "4096\t131072\t262144\n", "TCP's buffers are bounded there");
}

static void test_refusals(struct world *w)
{
	static const struct {
		enum queue_verdict verdict;
		int code;
		const char *name;
	} cases[] = {
		{ QUEUE_REFUSE, ECONNREFUSED, "refused" },
		{ QUEUE_HOST_UNREACHABLE, EHOSTUNREACH, "host unreachable" },
		{ QUEUE_NO_ROUTE, ENETUNREACH, "no route" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(far); i++) {
		const char *to = far[i % 2];
		struct guest_reply reply;

		w->verdict = cases[i / 2].verdict;
		reply = world_connect(w, to, 4000);
		is_int(reply.code, cases[i / 2].code, "%s: %s", to, cases[i / 2].name);
		is_int(w->seen.queued, 1, "... at the first packet");
		ok(same(&w->seen.packet.dst, to) && w->seen.packet.dport == 4000,
		   "... whose destination we know");
		ok(same(&w->seen.packet.src, i % 2 ? OWN6 : OWN4), "... and its source");
		is_int(w->seen.accepted, 0, "... and it did not come to the relay");
		diag("%u us", reply.us);
	}
	w->verdict = QUEUE_REFUSE;
}

/* Dropped packets come again, until they get an answer. */
static void test_drop(struct world *w)
{
	for (size_t i = 0; i < 2; i++) {
		w->drop = 1;
		is_int(world_connect(w, far[i], 80).code, ECONNREFUSED,
		       "%s: refused when it comes again", far[i]);
		is_int(w->seen.queued, 2, "... after it was dropped once");
	}
}

static void test_pass(struct world *w)
{
	w->verdict = QUEUE_PASS;
	for (size_t i = 0; i < 2; i++) {
		struct guest_reply reply = world_connect(w, far[i], 8443);

		is_int(reply.code, 0, "%s: passed", far[i]);
		is_str(reply.text, "relay", "... to our listener");
		is_int(w->seen.queued, 1, "... with its first packet");
		ok(same(&w->seen.local.sin6_addr, far[i]) && w->seen.local.sin6_port == htons(8443),
		   "... which knows the address and port it was for");
		ok(memcmp(&w->seen.peer.sin6_addr, &w->seen.packet.src, 16) == 0 &&
			   ntohs(w->seen.peer.sin6_port) == w->seen.packet.sport,
		   "... and where it comes from, as the queue had it");
		ok(memcmp(&w->seen.peer.sin6_addr, &reply.local.sin6_addr, 16) == 0 &&
			   w->seen.peer.sin6_port == reply.local.sin6_port,
		   "... as the guest has it");
		diag("%u us", reply.us);
	}
	w->verdict = QUEUE_REFUSE;
}

/* A dual-stack socket reaches IPv4 with ::ffff:a.b.c.d. */
static void test_mapped(struct world *w)
{
	struct guest_request q = {
		.op = GUEST_CONNECT,
		.family = AF_INET6,
		.to = guest_addr(FAR4),
		.port = 80,
	};

	is_int(world_ask(w, WEAK, &q).code, ECONNREFUSED, "::ffff:%s: refused", FAR4);
	is_int(w->seen.packet.family, AF_INET, "... as IPv4");
}

/* Every port but the two that are ours reaches the queue, and port 0 is nothing special. */
static void test_ports(struct world *w)
{
	static const uint16_t ports[] = { 1, 22, 25, 80, 443, 8080, 40000, 65535 };

	for (size_t i = 0; i < ARRAY_LEN(ports); i++)
		for (size_t k = 0; k < 2; k++) {
			struct guest_reply reply = world_connect(w, far[k], ports[i]);

			ok(reply.code == ECONNREFUSED && w->seen.queued == 1 &&
				   w->seen.packet.dport == ports[i] && !w->seen.accepted,
			   "%s port %u: asked about, and refused", far[k], ports[i]);
		}
}

static void test_own_servers(struct world *w)
{
	static const char *const on[] = { "127.0.0.1", "127.9.9.9", OWN4, "::1", OWN6 };

	is_int(world_listen(w, "::", 5000), 0, "a server inside, on every address");
	for (size_t i = 0; i < ARRAY_LEN(on); i++) {
		struct in6_addr to = guest_addr(on[i]);
		struct guest_request q = {
			.op = GUEST_CONNECT,
			.family = IN6_IS_ADDR_V4MAPPED(&to) ? AF_INET : AF_INET6,
			.to = to,
			.port = 5000,
			.number = 1,
		};

		is_int(world_ask(w, WEAK, &q).code, 0, "reached at %s", on[i]);
		is_int(w->seen.queued + w->seen.accepted, 0, "... without us");
		is_int(world_connect(w, on[i], 5001).code, ECONNREFUSED, "%s, no server: refused",
		       on[i]);
		is_int(w->seen.queued, 0, "... without us");
	}
	w->verdict = QUEUE_PASS;
	for (size_t i = 0; i < 2; i++) {
		is_str(world_connect(w, far[i], 5000).text, "relay",
		       "%s, the same port: comes to us", far[i]);
		w->verdict = QUEUE_PASS;
	}
	w->verdict = QUEUE_REFUSE;
	for (size_t i = 0; i < 2; i++)
		is_int(world_connect(w, far[i], 5000).code, ECONNREFUSED,
		       "... and is refused when we say so");
	is_int(forget(w), 0, "no server any more");
}

/* Without a source in the route, the first of these connects to itself. */
static void test_self_connect(struct world *w)
{
	for (size_t i = 0; i < 2; i++) {
		struct guest_request q = {
			.op = GUEST_CONNECT,
			.family = i ? AF_INET6 : AF_INET,
			.to = guest_addr(far[i]),
			.from = i ? in6addr_any : guest_addr("0.0.0.0"),
			.port = 6000,
			.from_port = 6000,
		};

		is_int(world_ask(w, WEAK, &q).code, ECONNREFUSED,
		       "%s from the same port: no connection to itself", far[i]);
		ok(same(&w->seen.packet.src, i ? OWN6 : OWN4), "... its source is our address");
		q.from = q.to; /* IPv4 lets one bind to any address that is routed to oneself */
		is_int(world_ask(w, WEAK, &q).code, i ? EADDRNOTAVAIL : ECONNREFUSED,
		       "%s from that very address and port: none either", far[i]);
		is_int(w->seen.queued, i ? 0 : 1, "... no other way");
	}
}

static void test_udp(struct world *w)
{
	for (size_t i = 0; i < 2; i++) {
		struct guest_reply reply = world_udp(w, far[i], 123);

		is_int(reply.code, ECONNREFUSED, "%s: UDP is refused", far[i]);
		is_int(w->seen.logged, 1, "... with a line in the log");
		ok(same(&w->seen.log.dst, far[i]) && w->seen.log.dport == 123 &&
			   w->seen.log.proto == IPPROTO_UDP && w->seen.log.sport != 0,
		   "... that says where to");
		diag("%u us", reply.us);
	}
}

/* Above the rate of the log, and above the host's ration of ICMP errors. */
static void test_udp_flood(struct world *w)
{
	for (size_t i = 0; i < 2; i++) {
		struct guest_request q = {
			.op = GUEST_FLOOD,
			.family = i ? AF_INET6 : AF_INET,
			.to = guest_addr(far[i]),
			.port = 443,
			.number = 200,
		};

		is_int(world_ask(w, WEAK, &q).code, 200, "%s: each of 200 UDP packets is refused",
		       far[i]);
		ok(w->seen.logged < 100, "... and %u of them are in the log", w->seen.logged);
	}
}

static void test_dns(struct world *w)
{
	static const char *const servers[] = {
		"198.18.0.1", "8.8.8.8", "127.0.0.53", OWN4, "2001:4860:4860::8888", "::1", OWN6
	};

	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		struct guest_reply reply = world_udp(w, servers[i], 53);

		is_int(reply.code, 0, "DNS at %s", servers[i]);
		is_str(reply.text, "dns", "... answers, from that address");
		ok(same(&w->seen.local.sin6_addr, servers[i]), "... which we know");
		reply = world_connect(w, servers[i], 53);
		is_str(reply.text, "dns", "... by TCP too");
		ok(same(&w->seen.local.sin6_addr, servers[i]), "... which we know");
		is_int(w->seen.queued + w->seen.logged, 0, "... without queue and log");
	}
}

/* Nobody inside gets our ports, whatever the rights. */
static void test_our_ports(struct world *w)
{
	static const struct {
		const char *on;
		uint16_t port;
	} cases[] = { { "0.0.0.0", 53 }, { "8.8.8.8", 53 },  { "::", 53 }, { OWN6, 53 },
		      { "0.0.0.0", 1 },  { "127.0.0.1", 1 }, { "::", 1 },  { OWN6, 1 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct in6_addr on = guest_addr(cases[i].on);
		struct guest_request q = {
			.op = GUEST_LISTEN,
			.family = IN6_IS_ADDR_V4MAPPED(&on) ? AF_INET : AF_INET6,
			.from = on,
			.from_port = cases[i].port,
		};

		is_int(world_ask(w, STRONG, &q).code, EADDRINUSE, "port %u at %s is taken",
		       cases[i].port, cases[i].on);
		q.op = GUEST_BIND_UDP;
		if (cases[i].port == 53)
			is_int(world_ask(w, STRONG, &q).code, EADDRINUSE, "... for UDP too");
	}
}

/* The relay's port as an address of its own: accepted, and it knows it is none of the queue's. */
static void test_relay_port(struct world *w)
{
	struct guest_reply reply = world_connect(w, "127.0.0.1", NSCONF_RELAY_PORT);

	is_str(reply.text, "relay", "127.0.0.1 port 1 reaches the relay itself");
	is_int(w->seen.queued, 0, "... without a queued packet to belong to");
	ok(same(&w->seen.local.sin6_addr, "127.0.0.1"), "... and it can tell");
}

static void test_publish(struct world *w)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7000) };
	struct err err;
	int fds[100], r;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	is_int(world_listen(w, "127.0.0.1", 7000), 0, "a server inside, on its loopback");
	r = nsconf_refill(w->netns, fds, ARRAY_LEN(fds), AF_INET, &err);
	is_int(r, 0, "100 sockets inside");
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(fds); i++) {
		int code = connect(fds[i], (struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;

		if (code != 0 && code != EINPROGRESS)
			r = -code;
		close(fds[i]);
	}
	is_int(r, 0, "... connect to it");
	is_int(forget(w), 0, "no server any more");
}

/* The supervisor is gone: everything fails, at once, also where a server inside has that port. */
static void test_closed(struct world *w)
{
	static const char *const to[] = { FAR4, FAR6, "198.18.1.5", "fd53:b0c5:0:1::5" };

	is_int(world_listen(w, "::", 5000), 0, "a server inside");
	nsconf_close(&w->sockets);
	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		is_int(world_connect(w, to[i], 80).code, ECONNREFUSED, "closed: %s is refused",
		       to[i]);
		is_int(world_connect(w, to[i], 5000).code, ECONNREFUSED,
		       "... also where a server inside has the port");
		is_int(world_connect(w, to[i], 53).code, ECONNREFUSED, "... DNS by TCP");
		is_int(world_udp(w, to[i], 53).code, ECONNREFUSED, "... DNS by UDP");
		is_int(world_udp(w, to[i], 443).code, ECONNREFUSED, "... UDP");
	}
	is_int(forget(w), 0, "no server any more");
}

int main(void)
{
	struct world w;

	world_start(&w);
	test_before(&w);
	test_configure(&w);
	test_refusals(&w);
	test_drop(&w);
	test_pass(&w);
	test_mapped(&w);
	test_ports(&w);
	test_own_servers(&w);
	test_self_connect(&w);
	test_udp(&w);
	test_udp_flood(&w);
	test_dns(&w);
	test_our_ports(&w);
	test_relay_port(&w);
	test_publish(&w);
	test_closed(&w);
	world_stop(&w);
	return done();
}
