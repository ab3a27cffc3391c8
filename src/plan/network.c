/* SPDX-License-Identifier: MIT */
/*
 * The network of a sandbox: pasta's arguments, and the resolver's file.
 *
 * pasta by itself opens the host's loopback twice (forwarded ports, the gateway's address): the
 * arguments close both. Name queries go to an address that only pasta answers for; it passes them
 * on to the host's own resolver, be that on loopback or not.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "os/linux/landlock.h"
#include "plan/plan.h"

#define DNS_ADDRESS "169.254.1.1"
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
	"--dns-forward",
	DNS_ADDRESS,
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

static int plan_pasta(struct plan *plan, const struct host *host, struct err *err)
{
	if (!host->tools.pasta) {
		err_set(err, ENOENT, "the open network needs pasta, which is not installed");
		return err_hint(err, "install the package 'passt', or use --network none");
	}
	if (!host->tun) {
		err_set(err, EACCES, "the open network needs /dev/net/tun, which cannot be opened");
		return err_hint(err, "sudo modprobe tun; sudo chmod 0666 /dev/net/tun; "
				     "or use --network none");
	}
	plan->eager_net = !host->seccomp_notify;
	strv_add(&plan->arena, &plan->pasta, host->tools.pasta);
	for (size_t i = 0; i < ARRAY_LEN(pasta_args); i++)
		strv_add(&plan->arena, &plan->pasta, pasta_args[i]);
	return 0;
}

static int plan_host_network(struct plan *plan, const struct host *host, struct err *err)
{
	if (host->inside)
		return 0; /* "the host" is the outer sandbox */
	if (!landlock_has_scopes(plan->landlock_abi)) {
		err_set(err, EOPNOTSUPP,
			"--network host shares abstract sockets (the desktop's among them), and "
			"this "
			"kernel cannot close them (Landlock ABI 6, Linux 6.12)");
		return err_hint(err, "use --network open");
	}
	strv_add(&plan->arena, &plan->weaker,
		 "network: the sandbox reaches every service on this host's loopback");
	return 0;
}

static int plan_filter(struct plan *plan, const struct spec *spec, const struct host *host,
		       struct err *err)
{
	if (!host->seccomp_notify) {
		err_set(err, EOPNOTSUPP, "the filtered network needs seccomp notifications%s",
			host->inside ? ", and the outer sandbox has them already" : "");
		return err_hint(err, "Linux 5.0 or newer, outside of other sandboxes");
	}
	for (size_t i = 0; i < spec->n_rules; i++)
		strv_add(&plan->arena, spec->rules[i].deny ? &plan->deny : &plan->allow,
			 spec->rules[i].text);
	return 0;
}

static const char *resolver_of(enum net_mode mode)
{
	return mode == NET_OPEN ? DNS_ADDRESS : mode == NET_FILTERED ? FILTER_DNS : NULL;
}

int plan_network(struct plan *plan, const struct spec *spec, const struct host *host,
		 struct err *err)
{
	const char *server = resolver_of(plan->net);
	/* Search domains would turn one question into several that are denied. */
	const char *file = plan->net == NET_NONE       ? NULL
			   : plan->net == NET_FILTERED ? "options timeout:2 attempts:2\n"
						       : host->resolv_conf;

	plan_add(plan, OP_FILE, "/etc/resolv.conf", resolver_file(&plan->arena, file, server), 0)
		->mode = 0644;
	switch (plan->net) {
	case NET_OPEN:
		return plan_pasta(plan, host, err);
	case NET_HOST:
		return plan_host_network(plan, host, err);
	case NET_FILTERED:
		return plan_filter(plan, spec, host, err);
	default:
		return 0;
	}
}
