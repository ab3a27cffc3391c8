/* SPDX-License-Identifier: MIT */
/*
 * wrapix doctor on macOS: what a virtual machine by Apple's container needs, and what a VPN may have done to its
 * network. A VPN that sends everything through itself also takes the machines' subnet, unless a route is
 * narrower than its own; and it may answer for names alone.
 */
#include <string.h>

#include "base/arena.h"
#include "cli/doctor.h"
#include "os/darwin/container.h"
#include "os/proc.h"

static void check_macos(const struct patient *p, struct finding *f)
{
	const struct apple_facts *apple = &p->host->apple;

	str_addf(&f->text, "macOS %u, %s", apple->macos,
		 apple->silicon ? "Apple silicon" : "not Apple silicon");
	if (apple->macos >= 26 && apple->silicon)
		return;
	f->verdict = BROKEN;
	str_add(&f->fix,
		"Apple's container needs macOS 26 on Apple silicon; 'wrapix exec' does not");
}

static void check_container(const struct patient *p, struct finding *f)
{
	const struct apple_facts *apple = &p->host->apple;
	unsigned v = apple->version;

	if (!apple->program) {
		f->verdict = BROKEN;
		str_add(&f->text, "container is not installed");
		str_add(&f->fix, "brew install container");
		return;
	}
	str_addf(&f->text, "%s %u.%u.%u", apple->program, v / 10000, v / 100 % 100, v % 100);
	if (v >= CONTAINER_RELAYS)
		return;
	f->verdict = v < CONTAINER_OLDEST ? BROKEN : WEAKER;
	str_add(&f->text,
		v < CONTAINER_OLDEST
			? ": an image could write outside of its directory (before 0.8.0)"
			: ": relays no sockets and has no '--network none' (before 1.1.0): "
			  "the open network alone, messages over TCP");
	str_add(&f->fix,
		"brew upgrade container, then container system stop; container system start");
}

static void check_service(const struct patient *p, struct finding *f)
{
	str_add(&f->text, p->host->apple.service ? "runs" : "container's service is not running");
	if (p->host->apple.service)
		return;
	f->verdict = BROKEN;
	str_add(&f->fix, "container system start");
}

static void check_image(const struct patient *p, struct finding *f)
{
	const struct apple_facts *apple = &p->host->apple;

	if (apple->image) {
		str_addf(&f->text, "%s%s", apple->image,
			 apple->loaded ? "" : ", which the next start gives to container");
		return;
	}
	f->verdict = MISSING;
	str_add(&f->text, "there is no image 'base'");
	str_add(&f->fix, "on Linux: wrapix image build base --agent claude -o base.oci.tar; here: "
			 "wrapix image load base.oci.tar --into store --name base");
}

/* The interface by which an address is reached; NULL: not known. */
static char *interface_to(struct arena *a, const char *address)
{
	const char *path = getenv("PATH");
	char *argv[] = { os_find_program(a, "route",
					 arena_printf(a, "%s:/sbin:/usr/sbin", path ? path : ""),
					 NULL),
			 (char *)"-n", (char *)"get", (char *)address, NULL };
	_cleanup_free_ char *says = NULL;
	char *line;

	if (!argv[0] || os_capture(argv, "/", 65536, &says) != 0 || !says)
		return NULL;
	line = strstr(says, "interface: ");
	if (!line)
		return NULL;
	line += strlen("interface: ");
	return arena_strndup(a, line, strcspn(line, " \n"));
}

static bool is_tunnel(const char *interface)
{
	return interface && (!strncmp(interface, "utun", 4) || !strncmp(interface, "ppp", 3) ||
			     !strncmp(interface, "ipsec", 5));
}

/* "192.168.64.0/24" in two halves, each of which is narrower than a route to all of it. */
static void add_halves(struct str *out, const char *subnet)
{
	unsigned a, b, c;

	if (sscanf(subnet, "%3u.%3u.%3u.", &a, &b, &c) != 3)
		return;
	str_addf(
		out,
		"sudo route -n add -net %u.%u.%u.0/25 -interface bridge100; "
		"sudo route -n add -net %u.%u.%u.128/25 -interface bridge100; or let the VPN leave "
		"local networks alone",
		a, b, c, a, b, c);
}

static void check_network(const struct patient *p, struct finding *f)
{
	const struct apple_facts *apple = &p->host->apple;
	struct container_network network = { 0 };
	struct arena a = { 0 };
	char *to_all, *to_machines;
	struct err err;

	if (!apple->service) {
		f->verdict = MISSING;
		str_add(&f->text, "not known while the service does not run");
		return;
	}
	if (container_ask_network(&a, apple->program, "default", &network, &err) < 0 ||
	    !network.gateway) {
		f->verdict = WEAKER;
		str_add(&f->text, "container does not say its network: it comes with the first "
				  "machine");
		arena_release(&a);
		return;
	}
	to_all = interface_to(&a, "default");
	to_machines = interface_to(&a, network.gateway);
	str_addf(&f->text, "%s, gateway %s", network.subnet ? network.subnet : "?",
		 network.gateway);
	if (is_tunnel(to_machines)) {
		f->verdict = BROKEN;
		str_addf(&f->text,
			 ": a VPN (%s) has taken this subnet, so that answers to the machines are "
			 "lost",
			 to_machines);
		add_halves(&f->fix, network.subnet ? network.subnet : network.gateway);
	} else if (is_tunnel(to_all)) {
		str_addf(&f->text, "; a VPN (%s) has the default route, and leaves it alone",
			 to_all);
	}
	arena_release(&a);
}

/* What a machine with an open network would be told to ask. */
static void check_names(const struct patient *p, struct finding *f)
{
	const struct plan *plan = p->plan;
	struct arena a = { 0 };
	bool vpn = is_tunnel(interface_to(&a, "default"));

	if (!plan) {
		f->verdict = MISSING;
		str_add(&f->text, "not known before the rest works");
	}
	for (size_t i = 0; plan && i < plan->apple.dns.len; i++)
		str_addf(&f->text, "%s%s", i ? ", " : "asks ", plan->apple.dns.v[i]);
	if (!f->text.len) {
		f->verdict = WEAKER;
		str_addf(&f->text,
			 "this Mac asks nobody whom a machine could ask; that asks its gateway%s",
			 vpn ? ", which does not answer while a VPN has the default route" : "");
		str_add(&f->fix,
			vpn ? "let the VPN leave DNS alone, or use --network filtered, where "
			      "this Mac asks for the machine"
			    : "if names are not found inside: --network filtered, where this "
			      "Mac asks for the machine");
	}
	arena_release(&a);
}

static void check_keychain(const struct patient *p, struct finding *f)
{
	struct arena a = { 0 };
	const char *path = getenv("PATH");
	char *program = os_find_program(&a, "security",
					arena_printf(&a, "/usr/bin:%s", path ? path : ""), NULL);

	(void)p;
	str_add(&f->text, program ? "'wrapix secret' keeps values there"
				  : "there is no security(1): 'wrapix secret' uses a file");
	if (!program)
		f->verdict = WEAKER;
	arena_release(&a);
}

static void check_messages(const struct patient *p, struct finding *f)
{
	static const char *const names[] = { "terminal-notifier", "osascript" };
	struct arena a = { 0 };
	const char *path = getenv("PATH");
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(names) && !found; i++)
		found = os_find_program(&a, names[i],
					arena_printf(&a, "%s:/usr/bin", path ? path : ""), NULL);
	if (found && p->host->tools.notifyd) {
		str_addf(&f->text, "shown by %s", found);
	} else {
		f->verdict = WEAKER;
		str_add(&f->text, found ? "wrapix-notifyd is not installed beside wrapix"
					: "nothing shows them but the terminal");
		str_add(&f->fix,
			found ? "install all of wrapix" : "brew install terminal-notifier");
	}
	arena_release(&a);
}

const struct doctor_check mac_checks[] = {
	{ "macos", check_macos },       { "container", check_container },
	{ "service", check_service },   { "image", check_image },
	{ "network", check_network },   { "names", check_names },
	{ "messages", check_messages }, { "keychain", check_keychain },
	{ "project", check_project },   { NULL, NULL },
};
