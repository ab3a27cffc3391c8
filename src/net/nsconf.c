/* SPDX-License-Identifier: MIT */
/*
 * Sockets, addresses and routes in the sandbox's network namespace, made from outside.
 *
 * A socket keeps the network namespace that it was made in, and who made it, for life. So one short
 * visit is enough: a helper joins the sandbox's user and network namespaces, makes the sockets, and
 * ends. It shares our memory and descriptors (as vfork's child does, and like it runs while we
 * stand still), so that nothing needs to be passed back. Everything later happens from here, on
 * those descriptors: the supervisor's user owns the sandbox's user namespace and stands outside
 * of it, and so has every right over what belongs to it.
 *
 * The helper is in the host's PID namespace: nothing in the sandbox can see it, let alone reach our
 * memory through it. What the sandbox controls is the state of its namespace, if it has the rights:
 * it can make these calls fail, which leaves it without a network.
 *
 * Routes: a local route for every address makes the kernel deliver everything to lo. It carries a
 * source address, because without one a socket gets its destination's for its own and may, with the
 * right port, connect to itself. Both families need an address that is not a loopback's: getaddrinfo
 * with AI_ADDRCONFIG looks for one before it asks for such names.
 */
#include "net/nsconf.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "os/linux/kernel.h"
#include "os/linux/netif.h"
#include "os/linux/netlink.h"
#include "os/linux/packets.h"
#include "os/linux/processor.h"
#include "os/proc.h"

#define HELPER_STACK (32 * 1024)
#define BACKLOG 4096
#define LOOPBACK 1 /* its index in every network namespace */

/* One socket to be made. A row without 'needed' may be unknown to the kernel. */
struct order {
	int *ret_fd;
	int family, type, protocol;
	bool needed;
	int *ret_other; /* a pair's; NULL: it is none */
};

struct visit {
	int userns, netns;
	const struct order *orders;
	size_t n;
	bool sysctls;
	const char *doing; /* what failed, and why */
	int code;
};

/*
 * For this namespace only: bounds what connections that nobody reads from can pin down, because TCP's
 * memory is the whole host's. A comfort: the relay bounds its own sockets by itself, and a /proc that
 * is read-only is no reason to stay without a network.
 */
static const struct {
	const char *path, *value;
} sysctls[] = {
	{ "/proc/sys/net/ipv4/tcp_rmem", "4096 131072 262144" },
	{ "/proc/sys/net/ipv4/tcp_wmem", "4096 65536 262144" },
};

/* In the helper. */
static void set_sysctls(void)
{
	for (size_t i = 0; i < ARRAY_LEN(sysctls); i++)
		netif_set(sysctls[i].path, sysctls[i].value);
}

static bool is_unknown(int code)
{
	return code == EAFNOSUPPORT || code == EPROTONOSUPPORT || code == ESOCKTNOSUPPORT;
}

static int fail_visit(struct visit *visit, const char *doing)
{
	visit->doing = doing;
	visit->code = errno;
	return 0;
}

static int make_one(const struct order *order)
{
	int type = order->type | SOCK_CLOEXEC, fds[2] = { -1, -1 };

	if (order->ret_other && socketpair(order->family, type, order->protocol, fds) < 0)
		return -1;
	if (order->ret_other)
		*order->ret_other = fds[1];
	else
		fds[0] = socket(order->family, type | SOCK_NONBLOCK, order->protocol);
	*order->ret_fd = fds[0];
	return fds[0] < 0 ? -1 : 0;
}

/*
 * The helper: in the host's namespaces but for the user and the network namespace, which it joins.
 * It writes into the memory of its parent, which waits, and calls nothing that takes a lock.
 */
static int helper(void *arg)
{
	struct visit *visit = arg;

	/* EINVAL: it is our own, as root without a user namespace has it; setns(net) will tell. */
	if (setns(visit->userns, CLONE_NEWUSER) < 0 && errno != EINVAL)
		return fail_visit(visit, "joining the sandbox's user namespace");
	if (setns(visit->netns, CLONE_NEWNET) < 0)
		return fail_visit(visit, "joining the sandbox's network namespace");
	for (size_t i = 0; i < visit->n; i++) {
		const struct order *order = &visit->orders[i];

		if (make_one(order) < 0 && (order->needed || !is_unknown(errno)))
			return fail_visit(visit, "making a socket in the sandbox's network");
	}
	if (visit->sysctls)
		set_sysctls();
	return 0;
}

/* With every signal blocked: a handler in the helper would run on our memory. And on our processor: it runs while we stand
 * still, and on another it may wait for milliseconds behind others. */
static int run_helper(struct visit *visit)
{
	static char stack[HELPER_STACK] __attribute__((aligned(16)));
	int dumpable = os_dumpable();
	struct processor_kept kept;
	sigset_t all, old;
	pid_t pid;
	int r = 0;

	processor_keep(0, &kept);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	/* No signal at its end: only we wait for it. */
	pid = clone(helper, stack + sizeof(stack), CLONE_VM | CLONE_FILES | CLONE_VFORK, visit);
	if (pid < 0)
		r = -errno;
	else
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	sigprocmask(SIG_SETMASK, &old, NULL);
	processor_release(0, &kept);
	/* Joining made the memory, and that is ours, one that nobody may look at. */
	if (dumpable == 1)
		os_set_dumpable(1);
	return r;
}

static void close_orders(const struct order *orders, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (*orders[i].ret_fd >= 0)
			close(*orders[i].ret_fd);
		*orders[i].ret_fd = -1;
	}
}

/* All or none; -EAFNOSUPPORT and the like when a needed one is unknown to the kernel. */
static int visit(int netns, const struct order *orders, size_t n, bool with_sysctls,
		 struct err *err)
{
	_cleanup_close_ int userns = ioctl(netns, NS_GET_USERNS);
	struct visit v = { userns, netns, orders, n, with_sysctls, "", 0 };
	int r;

	for (size_t i = 0; i < n; i++)
		*orders[i].ret_fd = -1;
	if (userns < 0)
		return err_errno(err, errno, "finding the user namespace of the network");
	r = run_helper(&v);
	if (r < 0)
		return err_errno(err, -r, "starting a helper for the sandbox's network");
	if (v.code == 0)
		return 0;
	close_orders(orders, n);
	return err_errno(err, v.code, "%s", v.doing);
}

struct option {
	int level, name;
};

static int set_options(int fd, const struct option *options, size_t n)
{
	const int on = 1;

	for (size_t i = 0; i < n; i++)
		if (setsockopt(fd, options[i].level, options[i].name, &on, sizeof(on)) < 0)
			return -errno;
	return 0;
}

static int bind_any(int fd, int family, uint16_t port)
{
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	const void *addr = family == AF_INET6 ? (const void *)&any6 : &any4;
	const int off = 0;

	/* A host may have made IPv6 sockets deaf to IPv4 (net.ipv6.bindv6only). */
	if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0)
		return -errno;
	if (bind(fd, addr, family == AF_INET6 ? sizeof(any6) : sizeof(any4)) < 0)
		return -errno;
	return 0;
}

/* Each of them first in the list of an IPv4 socket, the rest for IPv6 only. */
static const struct option listener_options[] = {
	{ SOL_SOCKET, SO_REUSEADDR },
};
/* A port of the host's (net/ports.h) has the loopback's address of the same port. */
static const struct option shared_options[] = {
	{ SOL_SOCKET, SO_REUSEADDR },
	{ SOL_SOCKET, SO_REUSEPORT },
};
static const struct option relay_options[] = {
	{ SOL_SOCKET, SO_REUSEADDR },
	{ IPPROTO_IP, IP_TRANSPARENT },
	{ IPPROTO_IPV6, IPV6_TRANSPARENT },
};
/* Answers come from the address that was asked; without 'transparent' IPv6 refuses to send those. */
static const struct option dns_options[] = {
	{ IPPROTO_IP, IP_PKTINFO },
	{ IPPROTO_IP, IP_TRANSPARENT },
	{ IPPROTO_IPV6, IPV6_RECVPKTINFO },
	{ IPPROTO_IPV6, IPV6_TRANSPARENT },
};

static int open_port(int fd, int family, uint16_t port, const struct option *options, size_t n,
		     struct err *err)
{
	int type = 0, r;
	socklen_t len = sizeof(type);

	while (family == AF_INET && n > 0 && options[n - 1].level == IPPROTO_IPV6)
		n--;
	r = set_options(fd, options, n);
	if (r == 0)
		r = bind_any(fd, family, port);
	if (r == 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		r = -errno;
	if (r == 0 && type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return err_errno(err, -r, "taking port %u in the sandbox's network", port);
	return 0;
}

static int open_ports(const struct ns_sockets *s, struct err *err)
{
	int r = open_port(s->tcp, s->family, NSCONF_RELAY_PORT, relay_options,
			  ARRAY_LEN(relay_options), err);

	if (r == 0)
		r = open_port(s->udp, s->family, NSCONF_DNS_PORT, dns_options,
			      ARRAY_LEN(dns_options), err);
	if (r == 0)
		r = open_port(s->dns_tcp, s->family, NSCONF_DNS_PORT, listener_options,
			      ARRAY_LEN(listener_options), err);
	return r;
}

static int prepare_netlink(const struct ns_sockets *s, struct err *err)
{
	const int fds[] = { s->route, s->diag, s->nft, s->queue, s->log };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(fds); i++)
		r = fds[i] < 0 ? 0 : nl_prepare(fds[i]);
	return r < 0 ? err_errno(err, -r, "connecting to the kernel's netlink") : 0;
}

static int make_sockets(int netns, struct ns_sockets *s, int family, struct err *err)
{
	const struct order orders[] = {
		{ &s->tcp, family, SOCK_STREAM, 0, true },
		{ &s->udp, family, SOCK_DGRAM, 0, true },
		{ &s->dns_tcp, family, SOCK_STREAM, 0, true },
		{ &s->route, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, true },
		{ &s->diag, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG, false },
		{ &s->nft, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, false },
		{ &s->queue, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, false },
		{ &s->log, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, false },
	};

	s->family = family;
	return visit(netns, orders, ARRAY_LEN(orders), true, err);
}

int nsconf_open(int netns, struct ns_sockets *ret, struct err *err)
{
	struct ns_sockets s;
	int r = make_sockets(netns, &s, AF_INET6, err);

	if (is_unknown(-r))
		r = make_sockets(netns, &s, AF_INET, err);
	if (r < 0)
		return r;
	r = prepare_netlink(&s, err);
	if (r == 0)
		r = open_ports(&s, err);
	if (r < 0)
		nsconf_close(&s);
	else
		*ret = s;
	return r;
}

void nsconf_close(struct ns_sockets *s)
{
	int *const fds[] = { &s->tcp,  &s->udp, &s->dns_tcp, &s->route,
			     &s->diag, &s->nft, &s->queue,   &s->log };

	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int nsconf_refill(int netns, int *ret_fds, size_t n, int family, struct err *err)
{
	struct order orders[64];
	size_t done = 0;
	int r = 0;

	while (r == 0 && done < n) {
		size_t now = MIN(n - done, ARRAY_LEN(orders));

		for (size_t i = 0; i < now; i++)
			orders[i] = (struct order){ &ret_fds[done + i], family, SOCK_STREAM, 0,
						    true };
		r = visit(netns, orders, now, false, err);
		if (r == 0)
			done += now;
	}
	if (r == 0)
		return 0;
	while (done > 0)
		close(ret_fds[--done]);
	return r;
}

int nsconf_diag(int netns, int *ret_fd, struct err *err)
{
	const struct order order = { ret_fd, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG, true };
	int r = visit(netns, &order, 1, false, err);

	if (r < 0)
		return r;
	r = nl_prepare(*ret_fd);
	return r < 0 ? err_errno(err, -r, "connecting to the kernel's netlink") : 0;
}

int nsconf_pair(int netns, int type, int ret_fds[2], struct err *err)
{
	const struct order order = { &ret_fds[0], AF_UNIX, type, 0, true, &ret_fds[1] };

	return visit(netns, &order, 1, false, err);
}

int nsconf_listen(int netns, int family, uint16_t port, int *ret_fd, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r = nsconf_refill(netns, &fd, 1, family, err);

	if (r == 0)
		r = open_port(fd, family, port, shared_options, ARRAY_LEN(shared_options), err);
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

static const uint32_t own_v4 = NSCONF_OWN_V4;
static const struct in6_addr own_v6 = NSCONF_OWN_V6;

static void put_link_up(struct nl_out *out)
{
	const struct ifinfomsg link = {
		.ifi_index = LOOPBACK,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};

	nl_begin(out, RTM_NEWLINK, NLM_F_ACK, &link, sizeof(link));
	nl_end(out);
}

static void put_own(struct nl_out *out, int family, uint16_t type)
{
	if (family == AF_INET)
		nl_put_be32(out, type, own_v4);
	else
		nl_put(out, type, &own_v6, sizeof(own_v6));
}

static void put_address(struct nl_out *out, int family)
{
	const struct ifaddrmsg addr = {
		.ifa_family = (uint8_t)family,
		.ifa_prefixlen = family == AF_INET ? 32 : 128,
		.ifa_scope = RT_SCOPE_UNIVERSE,
		.ifa_index = LOOPBACK,
		/* Else it is tentative until a worker of the kernel's has run, and no source yet. */
		.ifa_flags = family == AF_INET ? 0 : IFA_F_NODAD,
	};

	nl_begin(out, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &addr, sizeof(addr));
	put_own(out, family, IFA_LOCAL);
	put_own(out, family, IFA_ADDRESS);
	nl_end(out);
}

static void put_route(struct nl_out *out, int family)
{
	const struct rtmsg route = {
		.rtm_family = (uint8_t)family,
		.rtm_table = RT_TABLE_LOCAL,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_HOST,
		.rtm_type = RTN_LOCAL,
	};

	nl_begin(out, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &route,
		 sizeof(route));
	nl_put_u32(out, RTA_OIF, LOOPBACK);
	put_own(out, family, RTA_PREFSRC);
	nl_end(out);
}

enum { MSG_UP = 1, MSG_ADDR4, MSG_ROUTE4, MSG_ADDR6, MSG_ROUTE6, N_MSGS = MSG_ROUTE6 };

static const char *const needed[] = {
	[MSG_UP] = "bringing the sandbox's loopback interface up",
	[MSG_ADDR4] = "giving the sandbox an IPv4 address",
	[MSG_ROUTE4] = "routing all of IPv4 to the sandbox itself",
};

int nsconf_routes(const struct ns_sockets *sockets, bool *ret_ipv6, struct err *err)
{
	uint8_t buffer[1024] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	struct nl_ack acks[N_MSGS];
	int codes[N_MSGS + 1];
	int n;

	put_link_up(&out);
	put_address(&out, AF_INET);
	put_route(&out, AF_INET);
	put_address(&out, AF_INET6);
	put_route(&out, AF_INET6);
	n = nl_transact(sockets->route, &out, acks, ARRAY_LEN(acks));
	if (n < 0)
		return err_errno(err, -n, "configuring the sandbox's network");
	for (int i = MSG_UP; i <= N_MSGS; i++)
		codes[i] = EIO; /* no answer */
	for (int i = 0; i < n; i++)
		if (acks[i].seq >= MSG_UP && acks[i].seq <= N_MSGS)
			codes[acks[i].seq] = acks[i].code == EEXIST ? 0 : acks[i].code;
	for (int i = MSG_UP; i <= MSG_ROUTE4; i++)
		if (codes[i])
			return err_errno(err, codes[i], "%s", needed[i]);
	/* Without IPv6 in the kernel, or with it disabled, names have IPv4 addresses alone. */
	*ret_ipv6 = sockets->family == AF_INET6 && !codes[MSG_ADDR6] && !codes[MSG_ROUTE6];
	return 0;
}
