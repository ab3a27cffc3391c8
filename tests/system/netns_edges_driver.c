/* SPDX-License-Identifier: MIT */
/*
 * The kernel side of the filtered network where things are not as usual: guests with every right
 * over their namespace, and kernels that lack something (made so by asking for less, by a sysctl, or
 * by a filter that denies it). Prints TAP. The rest: netns_driver.c.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "lib/tap.h"
#include "netns_world.h"
#include "os/linux/netlink.h"

#define FAR4 "203.0.113.7"
#define FAR6 "2001:db8::7"
#define OWN4 "198.18.0.2"
#define OWN6 "fd53:b0c5::2"
#define NAME4 "198.18.1.5" /* as a name resolves to */
#define NAME6 "fd53:b0c5:0:1::5"

static bool same(const struct in6_addr *addr, const char *text)
{
	struct in6_addr want = guest_addr(text);

	return memcmp(addr, &want, sizeof(want)) == 0;
}

static struct guest_reply strong(struct world *w, enum guest_op op, const char *text)
{
	struct guest_request q = { .op = op };

	snprintf(q.text, sizeof(q.text), "%s", text);
	return world_ask(w, STRONG, &q);
}

static void start(struct world *w, enum net_tier best, const char *name)
{
	world_start(w);
	is_int(world_configure(w, &(struct nft_options){ .best = best }), 0, "%s: configured",
	       name);
	is_int(w->tier, best, "... as %s", net_tier_name(best));
	diag("sockets %u us, routes %u us, rules %u us", w->us[0], w->us[1], w->us[2]);
}

/* A first packet of TCP, from port 0x1001 to 0x2002; *at is where its header begins. */
static void put_tcp(struct guest_request *q, size_t at)
{
	memcpy(q->data + at, (uint8_t[20]){ 0x10, 0x01, 0x20, 0x02, [12] = 0x50, [13] = 0x02 }, 20);
	q->len = at + 20;
}

static void check_odd(struct world *w, const struct guest_request *q, bool seen, const char *name)
{
	is_int(world_ask(w, STRONG, q).code, 0, "a raw packet of %s", name);
	is_int(w->seen.queued, seen, seen ? "... is in the queue" : "... is dropped");
	if (seen)
		ok(w->seen.packet.sport == 0x1001 && w->seen.packet.dport == 0x2002,
		   "... with its real ports");
	is_int(w->seen.accepted, 0, "... and goes nowhere else");
}

/* First packets that connect() does not make. The queue must be right about them or drop them. */
static void test_odd_packets(struct world *w)
{
	const struct in6_addr own4 = guest_addr(OWN4), far4 = guest_addr(FAR4);
	const struct in6_addr own6 = guest_addr(OWN6), far6 = guest_addr(FAR6);
	struct guest_request q4 = { .op = GUEST_RAW, .family = AF_INET, .to = far4 };
	struct guest_request q6 = { .op = GUEST_RAW, .family = AF_INET6, .to = far6 };

	memcpy(q4.data, (uint8_t[12]){ 0x45, [8] = 64, IPPROTO_TCP }, 12);
	memcpy(q4.data + 12, &own4.s6_addr[12], 4);
	memcpy(q4.data + 16, &far4.s6_addr[12], 4);
	put_tcp(&q4, 20);
	check_odd(w, &q4, true, "IPv4");
	q4.data[0] = 0x4f;
	memset(q4.data + 20, 1, 40); /* forty times "no operation" */
	put_tcp(&q4, 60);
	check_odd(w, &q4, true, "IPv4 with options");

	memcpy(q6.data, (uint8_t[8]){ 0x60, [5] = 20, IPPROTO_TCP, 64 }, 8);
	memcpy(q6.data + 8, &own6, 16);
	memcpy(q6.data + 24, &far6, 16);
	put_tcp(&q6, 40);
	check_odd(w, &q6, true, "IPv6");
	q6.data[5] = 28;
	q6.data[6] = IPPROTO_HOPOPTS;
	memcpy(q6.data + 40, (uint8_t[8]){ IPPROTO_TCP, 0, 1, 4 }, 8); /* padding */
	put_tcp(&q6, 48);
	check_odd(w, &q6, false, "IPv6 with an extension header");
	is_int(world_connect(w, FAR6, 80).code, ECONNREFUSED, "the queue goes on after it");
}

/* Who has the rights can write to our netlink sockets. */
static void test_spoofed(struct world *w)
{
	struct sockaddr_nl us;
	socklen_t len = sizeof(us);
	struct guest_request q = { .op = GUEST_SPOOF, .len = 64 };

	getsockname(w->sockets.queue, (struct sockaddr *)&us, &len);
	q.number = us.nl_pid;
	ok(us.nl_pid != 0, "our socket has an address");
	is_int(world_ask(w, STRONG, &q).code, ECONNREFUSED, "... that takes nothing from inside");
	is_int(world_connect(w, FAR4, 80).code, ECONNREFUSED, "the queue goes on");
	is_int(w->seen.queued, 1, "... as before");
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The helper shares our descriptors, memory and signals: it leaves them as they were. */
static void test_helper(struct world *w)
{
	int *const fds = &w->sockets.tcp;
	int before = count_fds(), missing = 0;
	struct ns_sockets again;
	cpu_set_t cpus_before, cpus;
	sigset_t chld, pending;
	struct err err;

	sched_getaffinity(0, sizeof(cpus_before), &cpus_before);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	for (size_t i = 0; i < 8; i++)
		missing += fcntl(fds[i], F_GETFD) != FD_CLOEXEC ||
			   !(fcntl(fds[i], F_GETFL) & O_NONBLOCK);
	is_int(missing, 0, "all eight descriptors are close-on-exec and non-blocking");
	is_int(nsconf_open(w->netns, &again, &err), -EADDRINUSE, "a second set is refused");
	is_str(err.msg, "taking port 1 in the sandbox's network: Address already in use",
	       "... in these words");
	is_int(count_fds(), before, "... and leaves no descriptor behind");
	is_int(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1, "we can be looked at as before");
	sched_getaffinity(0, sizeof(cpus), &cpus);
	ok(CPU_EQUAL(&cpus, &cpus_before), "we run where we ran before");
	sigpending(&pending);
	ok(!sigismember(&pending, SIGCHLD), "no signal of the helper's end");
	sigprocmask(SIG_UNBLOCK, &chld, NULL);
	is_int(nsconf_open(STDIN_FILENO, &again, &err), -ENOTTY, "no namespace: an error");
}

/* A guest with every right takes the rules away: it has no network then, and our sockets stay. */
static void test_hostile(void)
{
	struct world w;

	start(&w, TIER_QUEUE, "hostile guest");
	test_odd_packets(&w);
	test_spoofed(&w);
	test_helper(&w);
	w.verdict = QUEUE_PASS;
	is_str(world_connect(&w, FAR4, 80).text, "relay", "a connection passes");
	is_int(strong(&w, GUEST_DROP_TABLE, "").code, 0, "the guest removes the rules");
	is_int(world_connect(&w, FAR4, 80).code, ECONNREFUSED, "its connections are refused");
	is_int(world_connect(&w, FAR6, 80).code, ECONNREFUSED, "... by IPv6 too");
	is_int(w.seen.queued + w.seen.accepted, 0, "... without us");
	world_stop(&w);
}

/* Refused by the kernel alone: no reader, no relay. */
static void check_refused(struct world *w, const char *to, uint16_t port)
{
	is_int(world_connect(w, to, port).code, ECONNREFUSED, "%s port %u: refused", to, port);
	is_int(w->seen.queued + w->seen.accepted, 0, "... without us");
}

static void check_relayed(struct world *w, const char *to, uint16_t port, const char *by)
{
	is_str(world_connect(w, to, port).text, by, "%s port %u: comes to us", to, port);
	ok(same(&w->seen.local.sin6_addr, to) && w->seen.local.sin6_port == htons(port),
	   "... for that address and port");
}

/* What holds in every tier; 'families': 1 without IPv6. */
static void check_common(struct world *w, size_t families)
{
	static const char *const far[] = { FAR4, FAR6 };
	static const char *const dns[] = { "8.8.8.8", "2001:4860:4860::8888" };

	for (size_t i = 0; i < families; i++) {
		is_int(world_udp(w, far[i], 443).code, ECONNREFUSED, "%s: UDP is refused", far[i]);
		is_int(w->seen.logged, w->tier == TIER_PORTS ? 0 : 1, "... in the log, if any");
		is_str(world_udp(w, dns[i], 53).text, "dns", "DNS at %s", dns[i]);
		ok(same(&w->seen.local.sin6_addr, dns[i]), "... known by its address");
		is_str(world_connect(w, dns[i], 53).text, "dns", "... by TCP too");
	}
}

static void check_closed(struct world *w, size_t families)
{
	static const char *const to[] = { FAR4, NAME4, FAR6, NAME6 };

	nsconf_close(&w->sockets);
	if (w->extra >= 0)
		close(w->extra);
	w->extra = -1;
	for (size_t i = 0; i < families * 2; i++) {
		check_refused(w, to[i], 443);
		check_refused(w, to[i], 53);
		is_int(world_udp(w, to[i], 53).code, ECONNREFUSED, "... UDP too");
	}
}

static const struct nft_range ranges[] = {
	{ .addr = { { { [10] = 0xff, 0xff, 203, 0, 113, 7 } } }, .bits = 128, 443, 443 },
	{ .addr = { { { [10] = 0xff, 0xff, 10, 0xff } } }, .bits = 96 + 9, 1000, 2000 },
	{ .addr = { { { 0x20, 0x01, 0x0d, 0xb8, 0, 8 } } }, .bits = 45 },
};

static void check_ranges(struct world *w)
{
	check_relayed(w, FAR4, 443, "relay");
	check_refused(w, FAR4, 80);
	is_int(w->seen.logged, 1, "... with a line in the log");
	ok(w->seen.log.proto == IPPROTO_TCP && w->seen.log.syn && same(&w->seen.log.dst, FAR4) &&
		   w->seen.log.dport == 80,
	   "... that says where to");
	check_refused(w, "203.0.113.6", 443);
	check_relayed(w, "10.128.0.1", 1000, "relay");
	check_relayed(w, "10.255.255.255", 2000, "relay");
	check_refused(w, "10.128.0.1", 999);
	check_refused(w, "10.128.0.1", 2001);
	check_refused(w, "10.127.255.255", 1000);
	check_relayed(w, "2001:db8:8::1", 1, "relay");
	check_relayed(w, "2001:db8:f:ffff::", 65535, "relay");
	check_refused(w, "2001:db8:10::1", 80);
	check_refused(w, "2001:db8:7::1", 80);
}

static void test_static(void)
{
	struct nft_range many[NFT_RANGES_MAX + 1];
	struct nft_options options = { .best = TIER_STATIC, .replace = true };
	struct world w;
	enum net_tier tier;
	struct err err;

	start(&w, TIER_STATIC, "no queue");
	check_relayed(&w, NAME4, 80, "relay");
	check_relayed(&w, NAME6, 80, "relay");
	check_refused(&w, FAR4, 443);
	check_refused(&w, FAR6, 443);
	check_refused(&w, OWN4, 443);
	check_refused(&w, "127.0.0.1", 443);
	check_common(&w, 2);
	options.direct = ranges;
	options.n_direct = ARRAY_LEN(ranges);
	is_int(nft_apply(&w.sockets, &options, &tier, &err), 0, "other rules in their place");
	is_int(tier, TIER_STATIC, "... of the same kind");
	check_ranges(&w);
	check_relayed(&w, NAME4, 80, "relay");
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = ranges[0];
	options.direct = many;
	options.n_direct = NFT_RANGES_MAX;
	is_int(nft_apply(&w.sockets, &options, &tier, &err), 0, "as many as fit");
	check_relayed(&w, FAR4, 443, "relay");
	check_refused(&w, FAR4, 80);
	options.n_direct++;
	is_int(nft_apply(&w.sockets, &options, &tier, &err), 0, "one more: all comes to us");
	check_relayed(&w, FAR4, 80, "relay");
	check_relayed(&w, FAR6, 80, "relay");
	options.n_direct = 0;
	is_int(nft_apply(&w.sockets, &options, &tier, &err), 0, "none again");
	check_refused(&w, FAR4, 443);
	check_closed(&w, 2);
	world_stop(&w);
}

static void check_ports_tier(struct world *w, size_t families)
{
	struct err err;
	int second = -1;

	is_int(w->tier, TIER_PORTS, "... by ports");
	is_int(nsconf_listen(w->netns, w->sockets.family, 443, &w->extra, &err), 0,
	       "a listener for a port");
	check_relayed(w, NAME4, 443, "extra");
	check_relayed(w, FAR4, 443, "extra");
	check_refused(w, NAME4, 80);
	if (families == 2) {
		check_relayed(w, NAME6, 443, "extra");
		check_refused(w, NAME6, 80);
	}
	is_int(nsconf_listen(w->netns, w->sockets.family, 443, &second, &err), 0,
	       "a second one beside it, as for a service of the host's");
	close(second);
	check_common(w, families);
	check_closed(w, families);
}

static void test_ports_tier(void)
{
	struct world w;

	start(&w, TIER_PORTS, "no packet filter");
	check_ports_tier(&w, 2);
	world_stop(&w);
}

/* A kernel without the queue alone. */
static void test_no_queue(void)
{
	struct world w;
	int queue;

	world_start(&w);
	is_int(nsconf_open(w.netns, &w.sockets, &w.err), 0, "no NFQUEUE: sockets");
	queue = w.sockets.queue;
	w.sockets.queue = -1;
	is_int(nft_apply(&w.sockets, &(struct nft_options){ .best = TIER_QUEUE }, &w.tier, &w.err),
	       0, "... rules");
	is_int(w.tier, TIER_STATIC, "... without a queue");
	is_str(w.err.msg, "the kernel's packet queue (nfnetlink_queue): Protocol not supported",
	       "... for this reason");
	close(queue);
	world_stop(&w);
}

static void test_ipv6_disabled(void)
{
	struct world w;

	world_start(&w);
	is_int(strong(&w, GUEST_SYSCTL, "/proc/sys/net/ipv6/conf/all/disable_ipv6=1").code, 0,
	       "IPv6 disabled in the namespace");
	is_int(world_configure(&w, &(struct nft_options){ .best = TIER_QUEUE }), 0, "configured");
	is_int(w.tier, TIER_QUEUE, "... with a queue");
	ok(!w.ipv6, "... without IPv6");
	is_int(world_connect(&w, FAR4, 80).code, ECONNREFUSED, "IPv4 works");
	is_int(w.seen.queued, 1, "... through the queue");
	check_common(&w, 1);
	is_int(world_connect(&w, FAR6, 80).code, EADDRNOTAVAIL, "IPv6 fails at once");
	check_closed(&w, 1);
	world_stop(&w);
}

/* From here on socket() with these arguments is as in a kernel that lacks it. -1: any protocol. */
static int deny_socket(int family, int protocol, int code)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)family, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)protocol, 0, protocol < 0 ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog fprog = { ARRAY_LEN(program), program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog) < 0)
		return -errno;
	return 0;
}

/* Cannot be taken back, so these come last. */
static void test_lesser_kernels(void)
{
	struct world w;

	is_int(deny_socket(AF_INET6, -1, EAFNOSUPPORT), 0, "a kernel without IPv6");
	start(&w, TIER_QUEUE, "... and");
	is_int(w.sockets.family, AF_INET, "... with sockets of IPv4");
	ok(!w.ipv6, "... without IPv6");
	is_int(world_connect(&w, FAR4, 80).code, ECONNREFUSED, "IPv4 works");
	is_int(w.seen.queued, 1, "... through the queue");
	w.verdict = QUEUE_PASS;
	is_str(world_connect(&w, FAR4, 80).text, "relay", "... and to the relay");
	check_common(&w, 1);
	check_closed(&w, 1);
	world_stop(&w);

	is_int(deny_socket(AF_NETLINK, NETLINK_NETFILTER, EPROTONOSUPPORT), 0,
	       "a kernel without netfilter");
	world_start(&w);
	is_int(world_configure(&w, &(struct nft_options){ .best = TIER_QUEUE }), 0, "configured");
	is_str(w.err.msg, "the kernel has no packet filter (CONFIG_NF_TABLES)", "... with less");
	check_ports_tier(&w, 1);
	world_stop(&w);

	is_int(deny_socket(AF_INET, -1, EMFILE), 0, "a kernel without sockets");
	world_start(&w);
	is_int(world_configure(&w, &(struct nft_options){ .best = TIER_QUEUE }), -EMFILE,
	       "not configured");
	is_str(w.err.msg, "making a socket in the sandbox's network: Too many open files",
	       "... and why");
	world_stop(&w);
}

int main(void)
{
	test_hostile();
	test_static();
	test_ports_tier();
	test_no_queue();
	test_ipv6_disabled();
	test_lesser_kernels();
	return done();
}
