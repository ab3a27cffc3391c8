/* SPDX-License-Identifier: MIT */
/*
 * What the open network is made of: its programs, and the host's way to the internet, which no packet is
 * sent to find.
 *
 * pasta copies the host's address and gateway into the sandbox. The one of 2023 finds them where the
 * main table has a default route with a gateway that the interface's network holds, and a link-local
 * address for IPv6. A VPN (a route without a gateway, two halves in place of a default), a gateway
 * outside of the network (/32, as some clouds have it), several gateways in one route, and no route
 * at all: it is told, and the host's own tables still decide where its connections go.
 */
#include "spec/host_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "os/fs.h"
#include "os/linux/netlink.h"
#include "os/linux/packets.h"
#include "os/proc.h"

/* Some address of the internet; only asked for, never sent to. */
static const char *const somewhere[] = { "198.41.0.4", "2001:503:ba3e::2:30" };
static const int families[] = { AF_INET, AF_INET6 };

struct way {
	bool there;
	char address[INET6_ADDRSTRLEN]; /* the host's own, by which it goes */
	char interface[IF_NAMESIZE];
	bool plain; /* a default route with one gateway */
	struct in_addr gateway;
};

/* Which address of ours the kernel would send from. */
static bool find_address(unsigned which, struct way *way)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(53) };
	struct sockaddr *sa = which ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
	void *in = which ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr;
	socklen_t len = which ? sizeof(v6) : sizeof(v4);
	_cleanup_close_ int fd = socket(families[which], SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(families[which], somewhere[which], in);
	return fd >= 0 && connect(fd, sa, len) == 0 && getsockname(fd, sa, &len) == 0 &&
	       inet_ntop(families[which], in, way->address, sizeof(way->address));
}

static void read_route(struct nl_in *body, struct way *way)
{
	struct rtmsg route;
	struct nl_attr attr;
	uint32_t index = 0;
	bool gateway = false, several = false;

	if (body->len < sizeof(route))
		return;
	memcpy(&route, body->data, sizeof(route));
	nl_skip(body, sizeof(route));
	while (nl_next_attr(body, &attr)) {
		if (attr.type == RTA_OIF)
			nl_get(&attr, &index, sizeof(index));
		else if (attr.type == RTA_MULTIPATH)
			several = true;
		else if (attr.type == RTA_GATEWAY)
			gateway = true;
		if (attr.type == RTA_GATEWAY && route.rtm_family == AF_INET)
			nl_get(&attr, &way->gateway, sizeof(way->gateway));
	}
	if (index)
		if_indextoname(index, way->interface);
	way->plain = gateway && !several && route.rtm_dst_len == 0;
}

/* The route itself that is taken, not what comes of it. */
static void find_route(int fd, unsigned which, struct way *way)
{
	uint8_t buffer[4096] __attribute__((aligned(4))), to[16];
	struct nl_out out = NL_OUT(buffer);
	const struct rtmsg request = {
		.rtm_family = (uint8_t)families[which],
		.rtm_dst_len = which ? 128 : 32,
		.rtm_flags = RTM_F_FIB_MATCH,
	};
	struct nl_message message;
	struct nl_in in;

	inet_pton(families[which], somewhere[which], to);
	nl_begin(&out, RTM_GETROUTE, 0, &request, sizeof(request));
	nl_put(&out, RTA_DST, to, which ? 16 : 4);
	nl_end(&out);
	if (nl_send(fd, &out) < 0)
		return;
	while (nl_receive(fd, buffer, sizeof(buffer), &in) == 0)
		while (nl_next_message(&in, &message))
			if (message.type == RTM_NEWROUTE)
				read_route(&message.body, way);
}

/* The gateway lies in the network of the interface's first address. */
static bool holds_gateway(const struct way *way)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_flags = 0 };
	struct sockaddr_in address, mask;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", way->interface);
	if (fd < 0 || ioctl(fd, SIOCGIFADDR, &request) < 0)
		return false;
	memcpy(&address, &request.ifr_addr, sizeof(address));
	if (ioctl(fd, SIOCGIFNETMASK, &request) < 0)
		return false;
	memcpy(&mask, &request.ifr_netmask, sizeof(mask));
	return ((address.sin_addr.s_addr ^ way->gateway.s_addr) & mask.sin_addr.s_addr) == 0;
}

/* Lines of /proc/net/if_inet6: address, index, prefix, scope, flags, name. */
static bool find_link_local(char ret_interface[IF_NAMESIZE], const char *wanted)
{
	_cleanup_free_ char *text = NULL;
	bool found = false;

	if (os_read_file_at(AT_FDCWD, "/proc/net/if_inet6", 1 << 20, &text, NULL) < 0)
		return false;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		char name[IF_NAMESIZE];

		line += *line == '\n';
		if (strncmp(line, "fe80", 4) || sscanf(line, "%*s %*s %*s %*s %*s %15s", name) != 1)
			continue;
		if (!found || !strcmp(name, wanted))
			memcpy(ret_interface, name, sizeof(name));
		found = true;
	}
	return found;
}

static void probe_route(struct host *host)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_ROUTE);
	struct way ways[2] = { 0 }, *v4 = &ways[0], *v6 = &ways[1];
	struct route_facts *ret = &host->route;
	char link_local[IF_NAMESIZE];
	const char *interface = "lo";

	for (unsigned i = 0; i < 2; i++) {
		ways[i].there = find_address(i, &ways[i]);
		if (ways[i].there && fd >= 0)
			find_route(fd, i, &ways[i]);
	}
	if (v4->plain && holds_gateway(v4) && (!v6->there || v6->plain))
		return;
	if (v4->there && v4->interface[0])
		interface = v4->interface;
	if (v6->there && find_link_local(link_local, v6->interface)) {
		interface = link_local;
		ret->v6 = arena_strdup(&host->arena, v6->address);
	}
	ret->interface = arena_strdup(&host->arena, interface);
	if (v4->there)
		ret->v4 = arena_strdup(&host->arena, v4->address);
}

void host_probe_uplink(char **environment, struct host *host)
{
	const char *path = host_raw_env(environment, "PATH");
	const char *not_in = host->project.top;

	host->tools.pasta = os_find_program(&host->arena, "pasta", path, not_in);
	host->tools.slirp = os_find_program(&host->arena, "slirp4netns", path, not_in);
	host->tun = access("/dev/net/tun", R_OK | W_OK) == 0;
	probe_route(host);
}
