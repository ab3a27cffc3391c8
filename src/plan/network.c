/* SPDX-License-Identifier: MIT */
/*
 * The network of a sandbox: the programs that attach the open one, and the resolver's file.
 *
 * pasta by itself opens the host's loopback twice (forwarded ports, the gateway's address): the
 * arguments close both, and so they do for slirp4netns. Name queries go to an address that only these
 * programs answer for; they pass them on to the host's own resolver, be that on loopback or not. It is
 * the same for both, because the file is written before one of them is tried.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "os/linux/landlock.h"
#include "plan/parts.h"
#include "spec/exec.h"

#define DNS_V4 "10.0.2.3" /* slirp4netns has them there, and pasta where it is told */
#define DNS_V6 "fd00::3"
#define MADE_UP_V4 "10.0.2.100"
#define FILTER_RELAY_PORT 1 /* as net/nsconf.h has them */
#define FILTER_DNS_PORT 53
#define FILTER_DNS "198.18.0.1" /* any address reaches the responder; this one says whose it is */

static const char *const pasta_args[] = {
	"--config-net",
	"--foreground",
	"--quiet",
	/* no port in either direction */
	"--tcp-ports",
	"none",
	"--udp-ports",
	"none",
	"--tcp-ns",
	"none",
	"--udp-ns",
	"none",
	/* the gateway's address is not the host's loopback */
	"--no-map-gw",
	/* whose pid it is given ends as soon as it is attached (net/lazy.c): newer ones would end with it */
	"--no-netns-quit",
	"--dns-forward",
	DNS_V4,
	"--dns-forward",
	DNS_V6,
	/* says there when it is ready */
	"--pid",
	"/proc/self/fd/1",
};

/* Its own --enable-sandbox wants to be root inside, which a sandbox of ours has none of. */
static const char *const slirp_args[] = {
	"--configure",
	"--mtu=65520",
	"--disable-host-loopback",
	"--enable-ipv6",
	"--enable-seccomp",
	"--ready-fd=3",
	"PID",
	"tap0",
};

/* The host's resolv.conf with its servers replaced; search domains and options stay. */
static char *resolver_file(struct arena *arena, const char *host_file, const char *server)
{
	_cleanup_str_ struct str out = { 0 };

	if (server)
		str_addf(&out, "nameserver %s\n", server);
	for (const char *line = host_file; line && *line;) {
		size_t len = strcspn(line, "\n");

		if (str_starts(line, "search ") || str_starts(line, "domain ") ||
		    str_starts(line, "options ") || (!server && str_starts(line, "nameserver "))) {
			str_addn(&out, line, len);
			str_add(&out, "\n");
		}
		line += len + (line[len] == '\n');
	}
	return arena_strdup(arena, out.s ? out.s : "");
}

/* Whether the host asks a server of that kind for names. */
static bool asks_server(const char *resolv_conf, bool v6)
{
	for (const char *line = resolv_conf; line && *line;) {
		size_t len = strcspn(line, "\n");

		if (str_starts(line, "nameserver ") && !memchr(line, ':', len) == !v6)
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}

/* Over IPv6 only where the host has no other server. */
static const char *open_resolver(const struct host *host)
{
	return asks_server(host->resolv_conf, true) && !asks_server(host->resolv_conf, false)
		       ? DNS_V6
		       : DNS_V4;
}

/* Another address than the host's, in its neighbourhood. What is sent there goes where it would go
 * from the host; it only has to look like a gateway. */
static char *gateway_beside(struct arena *arena, const char *address)
{
	int most = (int)strlen(address) - 1;
	char last = address[most];

	if (last == ':')
		return arena_printf(arena, "%s1", address);
	return arena_printf(arena, "%.*s%c", most, address, last == '1' ? '2' : '1');
}

static void add_all(struct plan *plan, struct strv *words, const char *const *more, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strv_add(&plan->arena, words, more[i]);
}

/* What pasta of 2023 does not find out by itself. */
static void add_route(struct plan *plan, struct strv *words, const struct host *host)
{
	const struct route_facts *route = &host->route;
	bool names_by_v4 = !strcmp(open_resolver(host), DNS_V4);
	const char *v4 = route->v4;

	if (!route->interface)
		return;
	if (!v4 && (names_by_v4 || !route->v6))
		v4 = MADE_UP_V4;
	add_all(plan, words,
		(const char *[]){ "--interface", route->interface, "--ns-ifname", "eth0",
				  "--mac-addr", "9a:55:9a:55:9a:55" },
		6);
	if (v4)
		add_all(plan, words,
			(const char *[]){ "--address", v4, "--netmask", "24", "--gateway",
					  gateway_beside(&plan->arena, v4) },
			6);
	if (route->v6)
		add_all(plan, words,
			(const char *[]){ "--address", route->v6, "--gateway",
					  gateway_beside(&plan->arena, route->v6) },
			4);
}

static void plan_pasta(struct plan *plan, const struct host *host)
{
	struct strv *words = &plan->uplinks[plan->n_uplinks++];

	strv_add(&plan->arena, words, host->tools.pasta);
	add_all(plan, words, pasta_args, ARRAY_LEN(pasta_args));
	add_route(plan, words, host);
	if (host->uid == 0) /* as nobody, its default then, it could not look at our namespaces */
		add_all(plan, words, (const char *[]){ "--runas", "0:0" }, 2);
	strv_add(&plan->arena, words, "PID");
}

static void plan_slirp(struct plan *plan, const struct host *host)
{
	struct strv *words = &plan->uplinks[plan->n_uplinks++];

	strv_add(&plan->arena, words, host->tools.slirp);
	add_all(plan, words, slirp_args, ARRAY_LEN(slirp_args));
	if (!host->tools.pasta)
		strv_add(&plan->arena, &plan->weaker,
			 "network: without pasta (package 'passt'), by slirp4netns: services of "
			 "this host that listen on all its addresses can be reached by them");
}

static int plan_open(struct plan *plan, const struct host *host, struct err *err)
{
	if (host->inside) {
		err_set(err, EOPNOTSUPP,
			"a sandbox inside a sandbox cannot have an open network of its own");
		return err_hint(err, "--network host shares the outer sandbox's");
	}
	if (!host->tools.pasta && !host->tools.slirp) {
		err_set(err, ENOENT, "the open network needs pasta, which is not installed");
		return err_hint(err, "install the package 'passt', or use --network none");
	}
	if (!host->tun) {
		err_set(err, EACCES, "the open network needs /dev/net/tun, which cannot be opened");
		return err_hint(err, "sudo modprobe tun; sudo chmod 0666 /dev/net/tun; "
				     "or use --network none");
	}
	plan->eager_net = !host->seccomp_notify;
	if (host->tools.pasta)
		plan_pasta(plan, host);
	if (host->tools.slirp)
		plan_slirp(plan, host);
	return 0;
}

static int plan_host_network(struct plan *plan, const struct host *host, struct err *err)
{
	if (host->inside)
		return 0; /* "the host" is the outer sandbox */
	if (!landlock_has_scopes(plan->landlock_abi)) {
		err_set(err, EOPNOTSUPP,
			"--network host shares abstract sockets (the desktop's among them), and "
			"this kernel cannot close them (Landlock ABI 6, Linux 6.12)");
		return err_hint(err, "use --network open");
	}
	strv_add(&plan->arena, &plan->weaker,
		 "network: the sandbox reaches every service on this host's loopback");
	return 0;
}

static void add_rule(struct plan *plan, const struct rule_spec *rule)
{
	strv_add(&plan->arena, rule->deny ? &plan->deny : &plan->allow, rule->text);
	if (rule->deny && rule->line)
		strv_addf(&plan->arena, &plan->deny_at, "%s:%u", rule->file, rule->line);
	else if (rule->deny)
		strv_add(&plan->arena, &plan->deny_at, rule->file ? rule->file : "");
}

void plan_filter_rules(struct plan *plan, const struct spec *spec, const struct host *host)
{
	if (spec->exec && spec->exec->proxy) {
		plan->proxy = arena_strdup(&plan->arena, spec->exec->proxy);
		plan->no_proxy = arena_strdup(&plan->arena, spec->exec->no_proxy);
	} else {
		plan->proxy = arena_strdup(&plan->arena, host->proxy);
		plan->no_proxy = arena_strdup(&plan->arena, host->no_proxy);
	}
	plan->explain = spec->explain;
	plan->filter_tier = spec->filter_tier ? spec->filter_tier : FILTER_QUEUE;
	for (size_t i = 0; i < spec->n_rules; i++)
		add_rule(plan, &spec->rules[i]);
}

static int plan_filter(struct plan *plan, const struct spec *spec, const struct host *host,
		       struct err *err)
{
	if (!host->seccomp_notify && plan->engine != ENGINE_SEATBELT) {
		err_set(err, EOPNOTSUPP, "the filtered network needs seccomp notifications%s",
			host->inside ? ", and the outer sandbox has them already" : "");
		return err_hint(err, "Linux 5.0 or newer, outside of other sandboxes");
	}
	plan_filter_rules(plan, spec, host);
	return 0;
}

/* What would be an endless loop of ours, or take a port that the filter needs. */
static int check_port(const struct plan *plan, const struct spec *spec,
		      const struct port_spec *port, struct err *err)
{
	bool filter = plan->net == NET_FILTERED &&
		      (port->inside == FILTER_RELAY_PORT || port->inside == FILTER_DNS_PORT);

	if (filter)
		return err_usage(err, "port %u inside is needed by --network filtered itself",
				 port->inside);
	if (port->into)
		return 0;
	for (size_t i = 0; i < spec->n_ports; i++) {
		const struct port_spec *other = &spec->ports[i];

		if (other->into && (other->host == port->host || other->host == port->inside))
			return err_usage(err,
					 "port %u is a service of this machine's (--host-port) and "
					 "cannot be published",
					 other->host);
	}
	return 0;
}

int plan_ports(struct plan *plan, const struct spec *spec, struct err *err)
{
	int r = 0;

	if (plan->net == NET_HOST && (spec->n_ports || spec->publish_auto)) {
		err_usage(err, "ports are published or asked for, and the network is 'host'");
		return err_hint(err, "with --network host the ports inside are this machine's own");
	}
	plan->publish_auto = spec->publish_auto;
	for (size_t i = 0; r == 0 && i < spec->n_ports; i++) {
		struct port_spec *port = arena_grow(&plan->arena, &plan->ports, &plan->n_ports,
						    sizeof(*port));

		*port = spec->ports[i];
		port->address = arena_strdup(&plan->arena, port->address);
		r = check_port(plan, spec, port, err);
	}
	return r;
}

static const char *resolver_of(enum net_mode mode, const struct host *host)
{
	return mode == NET_OPEN ? open_resolver(host) : mode == NET_FILTERED ? FILTER_DNS : NULL;
}

char *plan_resolver(struct plan *plan, const struct host *host)
{
	/* Search domains would turn one question into several that are denied. */
	const char *file = plan->net == NET_NONE       ? NULL
			   : plan->net != NET_FILTERED ? host->resolv_conf
			   : plan_is_machine(plan)     ? "options timeout:2 attempts:2 use-vc\n"
						       : "options timeout:2 attempts:2\n";

	return resolver_file(&plan->arena, file, resolver_of(plan->net, host));
}

int plan_reach(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err)
{
	if (plan_ports(plan, spec, err) < 0)
		return -err->code;
	switch (plan->net) {
	case NET_OPEN:
		return plan_open(plan, host, err);
	case NET_HOST:
		return plan_host_network(plan, host, err);
	case NET_FILTERED:
		return plan_filter(plan, spec, host, err);
	default:
		return 0;
	}
}

int plan_network(struct plan *plan, const struct spec *spec, const struct host *host,
		 struct err *err)
{
	plan_add(plan, OP_FILE, "/etc/resolv.conf", plan_resolver(plan, host), 0)->mode = 0644;
	return plan_reach(plan, spec, host, err);
}
