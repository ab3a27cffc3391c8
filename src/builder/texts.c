/* SPDX-License-Identifier: MIT */
/*
 * The texts that ssh and Nix read, on both sides. Nobody is asked to trust a key on first use: the
 * host's own stands in every one of them that leads to the builder.
 */
#include <string.h>

#include "base/base64.h"
#include "builder/builder.h"
#include "entry/builder.h"

/* Old versions of Nix hand "localhost:2222" to ssh as a host's name; new ones know what a port is. */
#define SSH_HOST "Host " BUILDER_NAME " localhost:%llu\n"

/* A word of ssh's configuration: in quotes, with '%' doubled. */
static char *ssh_word(struct arena *arena, const char *path)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "\"");
	for (const char *p = path; *p; p++)
		str_addf(&out, *p == '%' ? "%%%%" : *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	str_add(&out, "\"");
	return arena_strdup(arena, out.s);
}

char *builder_ssh_config(struct arena *arena, const struct builder_settings *s,
			 const char *identity, const char *known_hosts)
{
	unsigned long long port = s->port;

	return arena_printf(arena,
			    "# written by wrapix-builder\n" SSH_HOST "\tHostName 127.0.0.1\n"
			    "\tPort %llu\n"
			    "\tUser " BUILDER_USER "\n"
			    "\tHostKeyAlias " BUILDER_NAME "\n"
			    "\tUserKnownHostsFile %s\n"
			    "\tGlobalKnownHostsFile /dev/null\n"
			    "\tStrictHostKeyChecking yes\n"
			    "\tIdentityFile %s\n"
			    "\tIdentitiesOnly yes\n"
			    "\tIdentityAgent none\n"
			    "\tPreferredAuthentications publickey\n"
			    "\tForwardAgent no\n"
			    "\tForwardX11 no\n",
			    port, port, ssh_word(arena, known_hosts), ssh_word(arena, identity));
}

char *builder_known_hosts(struct arena *arena, const struct builder_settings *s,
			  const char *host_key)
{
	unsigned long long port = s->port;

	return arena_printf(arena, BUILDER_NAME ",[localhost]:%llu,[127.0.0.1]:%llu %s\n", port,
			    port, host_key);
}

static char *encoded(struct arena *arena, const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	base64_add(&out, text, strlen(text));
	return arena_strdup(arena, out.s);
}

/* Nix divides the line at blanks and knows no quotes. */
char *builder_machine(struct arena *arena, const struct builder *b, const char *identity,
		      const char *host_key)
{
	return arena_printf(arena,
			    "ssh-ng://" BUILDER_USER "@" BUILDER_NAME
			    " %s %s %u 1 big-parallel,benchmark - %s",
			    builder_system(), identity, builder_cores(b), encoded(arena, host_key));
}

/* --- snippets --- */

/* As a string of Nix's. */
static char *nix_string(struct arena *arena, const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "\"");
	for (const char *p = text; *p; p++)
		if (*p == '\n')
			str_add(&out, "\\n");
		else
			str_addf(&out, strchr("\"\\$", *p) ? "\\%c" : "%c", *p);
	str_add(&out, "\"");
	return arena_strdup(arena, out.s);
}

static char *nix_machine(struct arena *arena, const struct builder *b, const char *identity,
			 const char *host_key)
{
	return arena_printf(arena,
			    "  nix.distributedBuilds = true;\n"
			    "  nix.settings.builders-use-substitutes = true;\n"
			    "  nix.buildMachines = [ {\n"
			    "    hostName = \"" BUILDER_NAME "\";\n"
			    "    protocol = \"ssh-ng\";\n"
			    "    sshUser = \"" BUILDER_USER "\";\n"
			    "    sshKey = %s;\n"
			    "    publicHostKey = \"%s\";\n"
			    "    systems = [ \"%s\" ];\n"
			    "    maxJobs = %u;\n"
			    "    supportedFeatures = [ \"big-parallel\" \"benchmark\" ];\n"
			    "  } ];\n",
			    nix_string(arena, identity), encoded(arena, host_key), builder_system(),
			    builder_cores(b));
}

/* A line a string: what stands in them is ssh's business and may hold anything. */
static char *nix_lines(struct arena *arena, const char *text)
{
	_cleanup_str_ struct str out = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");

		str_addf(&out, "    %s\n", nix_string(arena, arena_strndup(arena, text, len)));
		text += len + (text[len] == '\n');
	}
	return arena_strdup(arena, out.s);
}

char *builder_snippet(struct arena *arena, const struct builder *b, enum builder_snippet what,
		      const char *identity, const char *host_key)
{
	char *known = arena_printf(arena, "%s/known_hosts", b->keys);
	char *ssh = builder_ssh_config(arena, &b->settings, identity, known);

	switch (what) {
	case SNIPPET_SSH:
		return ssh;
	case SNIPPET_NIX_CONF:
		return arena_printf(arena,
				    "builders = %s\n"
				    "builders-use-substitutes = true\n",
				    builder_machine(arena, b, identity, host_key));
	case SNIPPET_NIXOS:
		return arena_printf(
			arena,
			"{\n%s"
			"  programs.ssh.extraConfig = builtins.concatStringsSep \"\\n\" [\n"
			"%s  ];\n"
			"}\n",
			nix_machine(arena, b, identity, host_key), nix_lines(arena, ssh));
	case SNIPPET_DARWIN:
		return arena_printf(arena,
				    "{\n%s"
				    "  environment.etc.\"ssh/ssh_config.d/100-" BUILDER_NAME
				    ".conf\".text = builtins.concatStringsSep \"\\n\" [\n"
				    "%s  ];\n"
				    "}\n",
				    nix_machine(arena, b, identity, host_key),
				    nix_lines(arena, ssh));
	}
	return NULL;
}

/* --- inside --- */

char *builder_sshd_config(struct arena *arena, const char *address)
{
	return arena_printf(arena,
			    "AddressFamily inet\n"
			    "ListenAddress %s:%d\n"
			    "HostKey " BUILDER_RUN "/host_ed25519\n"
			    "AuthorizedKeysFile " BUILDER_RUN "/authorized_keys\n"
			    "PidFile none\n"
			    "UsePAM no\n"
			    "AuthenticationMethods publickey\n"
			    "PasswordAuthentication no\n"
			    "KbdInteractiveAuthentication no\n"
			    "HostbasedAuthentication no\n"
			    "PermitEmptyPasswords no\n"
			    "PermitRootLogin no\n"
			    "AllowUsers " BUILDER_USER "\n"
			    "DisableForwarding yes\n"
			    "AllowTcpForwarding no\n"
			    "AllowStreamLocalForwarding no\n"
			    "AllowAgentForwarding no\n"
			    "X11Forwarding no\n"
			    "PermitTunnel no\n"
			    "GatewayPorts no\n"
			    "PermitUserEnvironment no\n"
			    "PermitUserRC no\n"
			    "PrintMotd no\n"
			    "PrintLastLog no\n"
			    "UseDNS no\n"
			    "MaxStartups 100\n"
			    "MaxSessions 100\n"
			    "ClientAliveInterval 60\n"
			    "ClientAliveCountMax 3\n"
			    "SetEnv NIX_CONF_DIR=" BUILDER_RUN
			    " NIX_DAEMON_SOCKET_PATH=" BUILDER_SOCKET " PATH=" BUILDER_PATH "\n",
			    address, BUILDER_SSHD_PORT);
}

/* A directory that a virtual machine shares shows all as root's, whoever made it: there a build's user
 * could not own what it builds, and root builds in the machine that is there for it. */
char *builder_nix_conf(struct arena *arena, const struct builder *b, enum engine_kind engine)
{
	return arena_printf(arena,
			    "build-users-group = %s\n"
			    "trusted-users = root " BUILDER_USER "\n"
			    "sandbox = false\n"
			    "max-jobs = %u\n"
			    "cores = %u\n"
			    "min-free = %llu\n"
			    "max-free = %llu\n"
			    "experimental-features = nix-command flakes\n"
			    "%s",
			    engine == ENGINE_APPLE ? "" : BUILDER_BUILD_GROUP, builder_cores(b),
			    builder_cores(b), 1ULL << 30, 3ULL << 30,
			    b->settings.net == NET_NONE ? "substituters =\n" : "");
}
