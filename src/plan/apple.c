/* SPDX-License-Identifier: MIT */
/*
 * A plan for Apple's container, which makes a virtual machine of its own for each: the image has the programs,
 * the machine is the wall, and wrapix-entry does inside what the native engine does outside. What container
 * here cannot do, or not as well, is refused or said.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "os/darwin/container.h"
#include "plan/apple.h"
#include "plan/parts.h"

#define MACOS_OLDEST 26
#define MEMORY (4ULL << 30) /* where nobody says; the machine gives none of it back */
#define DNS_MAX 3

/* For a plan that is looked at elsewhere. */
static const struct apple_facts elsewhere = {
	.program = (char *)"/usr/local/bin/container",
	.version = CONTAINER_VERSION(1, 2, 0),
	.macos = MACOS_OLDEST,
	.silicon = true,
	.service = true,
	.loaded = true,
	.cpus = 8,
};

static int check_system(const struct apple_facts *apple, struct err *err)
{
	if (!apple->silicon) {
		err_set(err, ENOTSUP, "Apple's container needs a Mac with Apple silicon");
		return err_hint(err, "'wrapix exec' needs no virtual machine");
	}
	if (apple->macos < MACOS_OLDEST) {
		err_set(err, ENOTSUP, "Apple's container needs macOS %d, and this is %u",
			MACOS_OLDEST, apple->macos);
		return err_hint(err, "update macOS; 'wrapix exec' needs no virtual machine");
	}
	if (!apple->program) {
		err_set(err, ENOENT, "Apple's container is not installed");
		return err_hint(err, "brew install container, or the package of its latest release "
				     "(github.com/apple/container)");
	}
	if (apple->version < CONTAINER_OLDEST) {
		err_set(err, ENOTSUP, "container 0.8.0 or newer is needed, and '%s' %s",
			apple->program, apple->version ? "is older" : "does not say its version");
		return err_hint(err, "before 0.8.0 an image could write outside of its directory: "
				     "update it");
	}
	if (!apple->service) {
		err_set(err, ECONNREFUSED, "container's service is not running");
		return err_hint(err, "container system start");
	}
	return 0;
}

static int check_image(const struct apple_facts *apple, const char *name, struct err *err)
{
	if (!apple->image) {
		err_set(err, ENOENT, "there is no image '%s'", name);
		return err_hint(err,
				"'wrapix image build %s -o FILE' on a Linux machine makes one, "
				"'wrapix image load FILE --into store --name %s' takes it in here",
				name, name);
	}
	if (!apple->loaded && !apple->loader)
		return err_set(err, ENOENT, "wrapix-image is not installed beside wrapix");
	return 0;
}

static int check_wishes(const struct plan *plan, const struct spec *spec, struct err *err)
{
	if (spec->workspace == WORKSPACE_COW) {
		err_set(err, ENOTSUP, "a copy-on-write workspace needs Linux");
		return err_hint(err, "commit first, and look at 'git diff' afterwards");
	}
	if (plan->nested) {
		err_set(err, ENOTSUP, "--allow-nested is not known to the apple engine");
		return err_hint(err, "its virtual machine is the wall: leave it away");
	}
	return 0;
}

static void note_differences(struct plan *plan)
{
	const struct {
		bool here;
		const char *what;
	} list[] = {
		{ true, "the wall is a virtual machine: no seccomp filter and no Landlock inside, "
			"where everything but what is mounted read-only is the user's to change" },
		{ true, "no engine of ours was ever run on a Mac: see docs/macos.md" },
		{ plan->net == NET_OPEN, "network: the machine reaches this Mac's services that "
					 "listen on all addresses, by its gateway's" },
		{ plan->net == NET_FILTERED,
		  "network: by a proxy's variables; what does not know them reaches nothing" },
		{ true, "names in the project are guarded by read-only mounts inside alone, not by "
			"a gate or file rules" },
		{ true, "'wrapix exec' is refused inside: it is lent by the native engine's "
			"supervisor" },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (list[i].here)
			strv_add(&plan->arena, &plan->apple.differs, list[i].what);
}

static void note_weaker(struct plan *plan)
{
	struct arena *a = &plan->arena;

	if (!plan->apple.relays)
		strv_add(a, &plan->weaker,
			 "container before 1.1.0 relays no sockets: should wrapix be killed, the "
			 "machine runs on until the next 'wrapix run'");
}

int plan_apple(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err)
{
	bool here = !strcmp(host->platform, "darwin");
	struct apple_facts facts = here ? host->apple : elsewhere;
	struct arena *a = &plan->arena;
	const char *name = spec->image ? spec->image : spec->profile ? spec->profile : "base";
	int r;

	if (!here) {
		facts.image = arena_printf(a, "localhost/wrapix-%s:latest", name);
		strv_add(a, &plan->says,
			 "this machine is no Mac: this is what container 1.2.0 on "
			 "macOS 26 would be told");
	}
	r = check_system(&facts, err);
	if (r == 0)
		r = check_image(&facts, name, err);
	if (r == 0)
		r = check_wishes(plan, spec, err);
	if (r < 0)
		return r;
	plan->apple = (struct plan_apple){
		.program = arena_strdup(a, facts.program),
		.base = arena_printf(a, "%s/wrapix/apple", host->state_home),
		.version = facts.version,
		.relays = facts.version >= CONTAINER_RELAYS,
		.name = arena_strdup(a, name),
		.image = arena_strdup(a, facts.image),
		.loader = facts.loaded ? NULL : arena_strdup(a, facts.loader),
		.user = arena_strdup(a, host->user),
		.gateway = arena_strdup(a, facts.gateway),
		.cpus = facts.cpus,
	};
	plan->landlock_abi = 0;
	plan_hosts(plan, spec);
	plan_places(plan, spec, host);
	note_differences(plan);
	note_weaker(plan);
	if (spec->limits.disk)
		strv_add(a, &plan->weaker,
			 "--disk: container has no word for it; what the machine "
			 "writes to its own disk is not bounded");
	return 0;
}

/* --- network --- */

/* A server on the host's loopback is another machine's from inside. */
static bool is_reachable(const char *server)
{
	struct in_addr v4;

	return inet_pton(AF_INET, server, &v4) == 1 && (ntohl(v4.s_addr) >> 24) != 127;
}

/* The gateway of a machine's network forwards questions for names only as long as no VPN stands between;
 * what the Mac itself asks is right in both cases. */
static void take_resolvers(struct plan *plan, const char *resolv_conf)
{
	struct arena *a = &plan->arena;
	struct plan_apple *apple = &plan->apple;

	for (const char *line = resolv_conf; line && *line;) {
		size_t len = strcspn(line, "\n");
		char *text = arena_strndup(a, line, len), *save = NULL;
		char *word = strtok_r(text, " \t", &save), *value = strtok_r(NULL, " \t", &save);

		if (word && value && !strcmp(word, "nameserver") && is_reachable(value) &&
		    apple->dns.len < DNS_MAX)
			strv_add(a, &apple->dns, value);
		for (; word && value && !strcmp(word, "search");
		     value = strtok_r(NULL, " \t", &save))
			strv_add(a, &apple->search, value);
		line += len + (line[len] == '\n');
	}
}

static int needs_relays(struct err *err, const char *what)
{
	err_set(err, ENOTSUP, "%s needs container 1.1.0 or newer", what);
	return err_hint(err, "update container, or use --network open");
}

/* What the machine has instead of a network is a proxy on its loopback, which is a socket of ours. */
static int plan_filtered(struct plan *plan, const struct spec *spec, const struct host *host)
{
	static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY", "http_proxy",
					     "https_proxy" };
	char *url = arena_printf(&plan->arena, "http://127.0.0.1:%d", APPLE_PROXY_PORT);

	plan_filter_rules(plan, spec, host);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		plan_setenv(plan, names[i], url);
	plan_setenv(plan, "NO_PROXY", "localhost,127.0.0.1,::1");
	plan_setenv(plan, "no_proxy", "localhost,127.0.0.1,::1");
	return 0;
}

static int check_ports(const struct plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_ports; i++) {
		const struct port_spec *port = &plan->ports[i];

		if (port->into) {
			err_set(err, ENOTSUP, "--host-port is not known to the apple engine");
			return err_hint(err, "with --network open the machine reaches this Mac at "
					     "its gateway's address");
		}
		if (plan->net != NET_OPEN) {
			err_set(err, ENOTSUP, "container publishes ports of an open network alone");
			return err_hint(err, "use --network open, or publish none");
		}
		if (strcmp(port->address, "127.0.0.1"))
			return err_set(err, ENOTSUP,
				       "the apple engine publishes on 127.0.0.1 alone, not on %s",
				       port->address);
	}
	if (plan->publish_auto)
		return err_set(err, ENOTSUP, "--publish auto is not known to the apple engine");
	return 0;
}

int plan_apple_network(struct plan *plan, const struct spec *spec, const struct host *host,
		       struct err *err)
{
	int r = plan_ports(plan, spec, err);

	if (r == 0)
		r = check_ports(plan, err);
	if (r < 0)
		return r;
	switch (plan->net) {
	case NET_OPEN:
		take_resolvers(plan, host->resolv_conf);
		return 0;
	case NET_FILTERED:
		return plan->apple.relays ? plan_filtered(plan, spec, host)
					  : needs_relays(err, "--network filtered");
	case NET_NONE:
		return plan->apple.relays ? 0 : needs_relays(err, "--network none");
	default:
		err_set(err, ENOTSUP, "a virtual machine has a network of its own, not 'host'");
		return err_hint(err, "use --network open");
	}
}

/* --- limits --- */

void plan_apple_limits(struct plan *plan, const struct spec *spec, const struct host *host)
{
	struct plan_apple *apple = &plan->apple;
	unsigned all = apple->cpus ? apple->cpus : 1;

	(void)host;
	apple->cpus = spec->limits.cpus > 0 ? (unsigned)spec->limits.cpus : MAX(all / 2, 2u);
	if (spec->limits.cpus > apple->cpus)
		apple->cpus++; /* a machine has whole ones */
	apple->memory = spec->limits.memory ? spec->limits.memory : MEMORY;
	if (spec->limits.pids)
		strv_add(&plan->arena, &plan->weaker,
			 "--pids: container has no word for it; the machine's memory is the bound");
}

/* --- git, messages --- */

/* Private git directories are checked by processes that Landlock confines. */
void plan_apple_git(struct plan *plan, const struct spec *spec, const struct host *host)
{
	static const struct {
		const char *name;
		unsigned flags;
	} obeyed[] = { { "config", 0 }, { "hooks", OPF_DIR }, { "info", OPF_DIR } };
	const struct project_facts *project = &host->project;

	if (!plan_sees_git(spec, project))
		return;
	for (size_t i = 0; i < ARRAY_LEN(obeyed); i++)
		plan_add(plan, OP_READONLY,
			 project->git == GIT_PLAIN
				 ? path_join(&plan->arena, WORKSPACE_INSIDE "/.git", obeyed[i].name)
				 : path_join(&plan->arena, project->commondir, obeyed[i].name),
			 NULL, obeyed[i].flags);
	strv_add(&plan->arena, &plan->weaker,
		 "git: the repository's own .git is mounted, its configuration and hooks read-only "
		 "by the machine's kernel");
}

void plan_apple_notify(struct plan *plan, const struct host *host)
{
	struct plan_apple *apple = &plan->apple;

	if (apple->relays) {
		apple->notify = APPLE_NOTIFY_SOCKET;
		plan_add(plan, OP_BIND, APPLE_INSIDE "/notify.sock",
			 arena_printf(&plan->arena, "%s/wrapix/notify", host->runtime_dir),
			 OPF_OPTIONAL | OPF_SESSION | OPF_SOCKET)
			->layer = "notify.sock";
	} else if (plan->net == NET_OPEN) {
		apple->notify = APPLE_NOTIFY_TCP;
	}
}
