/* SPDX-License-Identifier: MIT */
/* Programs inside: each request is one thing that a program in a sandbox does. */
#include "netns_guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "net/nft_rules.h"
#include "os/linux/caps.h"
#include "os/linux/netif.h"
#include "os/linux/netlink.h"
#include "os/linux/userns.h"

#define PATIENCE_MS 5000
#define SERVERS_MAX 16

static int servers[SERVERS_MAX];
static size_t n_servers;

struct in6_addr guest_addr(const char *text)
{
	struct in6_addr ret = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, text, &ret.s6_addr[12]) != 1 && inet_pton(AF_INET6, text, &ret) != 1)
		abort();
	return ret;
}

static socklen_t fill(struct sockaddr_storage *ret, int family, const struct in6_addr *addr,
		      uint16_t port)
{
	struct sockaddr_in6 v6 = { AF_INET6, htons(port), 0, *addr, 0 };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };

	memcpy(&v4.sin_addr, &addr->s6_addr[12], 4);
	memset(ret, 0, sizeof(*ret));
	if (family == AF_INET)
		memcpy(ret, &v4, sizeof(v4));
	else
		memcpy(ret, &v6, sizeof(v6));
	return family == AF_INET ? sizeof(v4) : sizeof(v6);
}

int guest_name(int fd, bool peer, struct sockaddr_in6 *ret)
{
	struct sockaddr_storage ss = { 0 };
	const struct sockaddr_in *v4 = (const void *)&ss;
	socklen_t len = sizeof(ss);

	if ((peer ? getpeername : getsockname)(fd, (struct sockaddr *)&ss, &len) < 0)
		return -errno;
	if (ss.ss_family == AF_INET6) {
		memcpy(ret, &ss, sizeof(*ret));
		return 0;
	}
	*ret = (struct sockaddr_in6){ AF_INET6, v4->sin_port, 0, guest_addr("0.0.0.0"), 0 };
	memcpy(&ret->sin6_addr.s6_addr[12], &v4->sin_addr, 4);
	return 0;
}

/* A socket, bound when the request says so. */
static int open_socket(const struct guest_request *q, int type)
{
	static const struct in6_addr any;
	int fd = socket(q->family, type | SOCK_CLOEXEC, 0);
	struct sockaddr_storage ss;
	const int on = 1;
	socklen_t len;

	if (fd < 0 || (!q->from_port && memcmp(&q->from, &any, sizeof(any)) == 0))
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	len = fill(&ss, q->family, &q->from, q->from_port);
	if (bind(fd, (struct sockaddr *)&ss, len) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Waits for an answer or an error; 0 or errno. */
static int read_answer(int fd, char *text, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, PATIENCE_MS) == 0)
		return ETIMEDOUT;
	n = recv(fd, text, size - 1, 0);
	if (n < 0)
		return errno;
	text[n] = '\0';
	return 0;
}

static int connect_to(int fd, const struct guest_request *q)
{
	struct sockaddr_storage ss;
	socklen_t len = fill(&ss, q->family, &q->to, q->port);

	return connect(fd, (struct sockaddr *)&ss, len) < 0 ? errno : 0;
}

static int do_connect(const struct guest_request *q, struct guest_reply *reply)
{
	_cleanup_close_ int fd = open_socket(q, SOCK_STREAM);
	int code = fd < 0 ? errno : connect_to(fd, q);

	if (code)
		return code;
	if (guest_name(fd, false, &reply->local) < 0)
		return EBADF;
	return q->number ? 0 : read_answer(fd, reply->text, sizeof(reply->text));
}

static int do_udp(const struct guest_request *q, struct guest_reply *reply)
{
	_cleanup_close_ int fd = open_socket(q, SOCK_DGRAM);
	int code = fd < 0 ? errno : connect_to(fd, q);

	if (code)
		return code;
	if (send(fd, "q", 1, 0) < 0)
		return errno;
	return read_answer(fd, reply->text, sizeof(reply->text));
}

static int do_listen(const struct guest_request *q)
{
	int fd = open_socket(q, SOCK_STREAM);

	if (fd < 0)
		return errno;
	if (n_servers == SERVERS_MAX || listen(fd, 64) < 0) {
		close(fd);
		return n_servers == SERVERS_MAX ? EMFILE : errno;
	}
	servers[n_servers++] = fd;
	return 0;
}

static int do_bind_udp(const struct guest_request *q)
{
	_cleanup_close_ int fd = open_socket(q, SOCK_DGRAM);

	return fd < 0 ? errno : 0;
}

static int do_lookup(const struct guest_request *q)
{
	const struct addrinfo hints = { .ai_family = q->family, .ai_flags = AI_ADDRCONFIG };
	struct addrinfo *list = NULL;
	/* A number, so that no server is needed; glibc looks at our addresses all the same. */
	int r = getaddrinfo(q->family == AF_INET ? "192.0.2.1" : "2001:db8::1", NULL, &hints,
			    &list);

	if (r == 0)
		freeaddrinfo(list);
	return r;
}

static int do_sysctl(const struct guest_request *q)
{
	char path[sizeof(q->text)];
	_cleanup_close_ int fd = -1;
	char *value;

	snprintf(path, sizeof(path), "%s", q->text);
	value = strchr(path, '=');
	if (!value)
		return EINVAL;
	*value++ = '\0';
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, value, strlen(value)) < 0 ? errno : 0;
}

static int do_read(const struct guest_request *q, struct guest_reply *reply)
{
	_cleanup_close_ int fd = open(q->text, O_RDONLY | O_CLOEXEC);

	return fd < 0 || read(fd, reply->text, sizeof(reply->text) - 1) < 0 ? errno : 0;
}

static int do_raw(const struct guest_request *q)
{
	_cleanup_close_ int fd = socket(q->family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	struct sockaddr_storage ss;
	socklen_t len = fill(&ss, q->family, &q->to, 0);

	if (fd < 0)
		return errno;
	return sendto(fd, q->data, q->len, 0, (struct sockaddr *)&ss, len) < 0 ? errno : 0;
}

static int do_spoof(const struct guest_request *q)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	const struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = q->number };

	if (fd < 0)
		return errno;
	return sendto(fd, q->data, q->len, 0, (const struct sockaddr *)&to, sizeof(to)) < 0 ? errno
											    : 0;
}

static void put_batch(struct nl_out *out, int type)
{
	const struct nfgenmsg header = { .res_id = htons(NFNL_SUBSYS_NFTABLES) };

	nl_begin(out, (uint16_t)type, 0, &header, sizeof(header));
	nl_end(out);
}

static int do_drop_table(void)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	const struct nfgenmsg header = { .nfgen_family = NFPROTO_INET };
	uint8_t buffer[256] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	struct nl_ack ack;
	int n;

	put_batch(&out, NFNL_MSG_BATCH_BEGIN);
	nl_begin(&out, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELTABLE, NLM_F_ACK, &header,
		 sizeof(header));
	nl_put_str(&out, NFTA_TABLE_NAME, NFT_TABLE);
	nl_end(&out);
	put_batch(&out, NFNL_MSG_BATCH_END);
	if (fd < 0 || nl_prepare(fd) < 0)
		return errno;
	n = nl_transact(fd, &out, &ack, 1);
	return n == 1 ? ack.code : EIO;
}

static int do_flood(const struct guest_request *q)
{
	int refused = 0;

	for (uint32_t i = 0; i < q->number; i++) {
		struct guest_reply ignored;

		refused += do_udp(q, &ignored) == ECONNREFUSED;
	}
	return refused;
}

static int do_forget(void)
{
	while (n_servers > 0)
		close(servers[--n_servers]);
	return 0;
}

static int serve(const struct guest_request *q, struct guest_reply *reply)
{
	struct err err;

	switch (q->op) {
	case GUEST_CONNECT:
		return do_connect(q, reply);
	case GUEST_UDP:
		return do_udp(q, reply);
	case GUEST_LISTEN:
		return do_listen(q);
	case GUEST_BIND_UDP:
		return do_bind_udp(q);
	case GUEST_FORGET:
		return do_forget();
	case GUEST_LOOKUP:
		return do_lookup(q);
	case GUEST_LO_UP:
		return -netif_loopback_up(&err);
	case GUEST_SYSCTL:
		return do_sysctl(q);
	case GUEST_READ:
		return do_read(q, reply);
	case GUEST_RAW:
		return do_raw(q);
	case GUEST_SPOOF:
		return do_spoof(q);
	case GUEST_DROP_TABLE:
		return do_drop_table();
	case GUEST_FLOOD:
		return do_flood(q);
	}
	return ENOSYS;
}

static _Noreturn void run(int fd)
{
	struct guest_request q;

	while (recv(fd, &q, sizeof(q), 0) == sizeof(q)) {
		struct guest_reply reply = { 0 };
		struct timespec a, b;

		clock_gettime(CLOCK_MONOTONIC, &a);
		reply.code = serve(&q, &reply);
		clock_gettime(CLOCK_MONOTONIC, &b);
		reply.us = (unsigned)((b.tv_sec - a.tv_sec) * 1000000 +
				      (b.tv_nsec - a.tv_nsec) / 1000);
		if (send(fd, &reply, sizeof(reply), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* In the new namespaces; 'strong' goes on with its rights, the other gives them up. */
static _Noreturn void start_both(int strong, int weak, uid_t uid, gid_t gid)
{
	struct err err;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (userns_map_self(uid, gid, &err) < 0)
		_exit(1);
	pid = fork();
	if (pid < 0)
		_exit(1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		close(strong);
		if (caps_drop_all(&err) < 0)
			_exit(1);
		run(weak);
	}
	close(weak);
	if (send(strong, "", 1, MSG_NOSIGNAL) != 1) /* the maps are written */
		_exit(1);
	run(strong);
}

pid_t guest_start(int ret_fds[2], int *ret_netns)
{
	_cleanup_close_ int pidfd = -1;
	int strong[2], weak[2];
	uid_t uid = getuid();
	gid_t gid = getgid();
	char path[64], byte;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, strong) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, weak) < 0)
		return -errno;
	pid = userns_clone(CLONE_NEWUSER | CLONE_NEWNET, -1, &pidfd);
	if (pid < 0)
		return pid;
	if (pid == 0) {
		close(strong[0]);
		close(weak[0]);
		start_both(strong[1], weak[1], uid, gid);
	}
	close(strong[1]);
	close(weak[1]);
	ret_fds[0] = strong[0];
	ret_fds[1] = weak[0];
	if (recv(strong[0], &byte, 1, 0) != 1)
		return -ECHILD;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	*ret_netns = open(path, O_RDONLY | O_CLOEXEC);
	return *ret_netns < 0 ? -errno : pid;
}
