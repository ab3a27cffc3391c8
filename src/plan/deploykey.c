/* SPDX-License-Identifier: MIT */
/*
 * A deploy key inside: everything that makes ssh and git use it, in one read-only directory, and the
 * two places where they look. The private half stays outside (the agent's socket stands for it),
 * unless the user asked for the file.
 */
#include "spec/deploykey.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "plan/parts.h"
#include "spec/gitconfig.h"
#include "spec/remote.h"

#define HERE "/etc/wrapix/ssh"

static void add_file(struct plan *plan, const char *dest, const char *content)
{
	plan_add(plan, OP_FILE, dest, content, 0)->mode = 0644;
}

/* What the user says by name wins. */
static void set_env(struct plan *plan, const struct spec *spec, const char *name, const char *value)
{
	if (!spec_find_env(spec, name))
		plan_setenv(plan, name, value);
}

/* Hosts are the pinned ones and no others: an unknown one is refused, not learnt. */
static void add_ssh(struct plan *plan, const struct spec *spec, const struct host *host)
{
	struct arena *a = &plan->arena;
	const struct deploy_key_facts *keys = &host->keys;
	bool agent = plan->keys.agent;

	add_file(plan, HERE "/known_hosts",
		 arena_printf(a, "%s%s", known_hosts_builtin(),
			      keys->known_hosts ? keys->known_hosts : ""));
	add_file(plan, HERE "/config",
		 arena_printf(a,
			      "Host *\n"
			      "\tIdentityAgent %s\n"
			      "%s"
			      "\tIdentitiesOnly yes\n"
			      "\tStrictHostKeyChecking yes\n"
			      "\tUserKnownHostsFile " HERE "/known_hosts\n"
			      "\tGlobalKnownHostsFile /dev/null\n"
			      "\tUpdateHostKeys no\n"
			      "\tCheckHostIP no\n"
			      "\tForwardAgent no\n",
			      agent ? AGENT_SOCKET_INSIDE : "none",
			      !keys->deploy ? "\tIdentityFile none\n"
			      : agent       ? "\tIdentityFile " HERE "/deploy.pub\n"
					    : "\tIdentityFile " HERE "/deploy\n"));
	plan_add(plan, OP_LINK, "/etc/ssh/ssh_config", "../wrapix/ssh/config", 0);
	plan_add(plan, OP_LINK, "/etc/ssh/ssh_known_hosts", "../wrapix/ssh/known_hosts", 0);
	/* For programs that read this one and know of no other. */
	plan_add(plan, OP_DIR, HOME_INSIDE "/.ssh", NULL, 0)->mode = 0700;
	plan_add(plan, OP_FILE, HOME_INSIDE "/.ssh/config", "Include " HERE "/config\n",
		 OPF_OPTIONAL)
		->mode = 0600;
	set_env(plan, spec, "GIT_SSH_COMMAND", "ssh -F " HERE "/config");
	if (agent)
		set_env(plan, spec, "SSH_AUTH_SOCK", AGENT_SOCKET_INSIDE);
}

/* Who signs with this key, as far as the sandbox is concerned: the user, by any of his addresses. */
static char *signers(struct plan *plan, const struct host *host)
{
	const char *const emails[] = {
		host_env(host, "GIT_COMMITTER_EMAIL"),
		host_env(host, "GIT_AUTHOR_EMAIL"),
		host->git_email,
	};
	_cleanup_str_ struct str list = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(emails); i++) {
		const char *email = emails[i];

		/* What would end the word, or be a pattern, is no address. */
		if (email && *email && !email[strcspn(email, " \t\r\n\",*?!#")])
			str_addf(&list, "%s%s", list.len ? "," : "", email);
	}
	return arena_printf(&plan->arena, "%s namespaces=\"git\" %s\n", list.len ? list.s : "*",
			    host->keys.signing_public);
}

static void add_signing(struct plan *plan, const struct host *host, struct str *config)
{
	const char *wish = host_env(host, "WRAPIX_GIT_SIGN");
	bool sign = !wish || strcmp(wish, "0");

	if (!host->keys.signing)
		return;
	add_file(plan, HERE "/allowed_signers", signers(plan, host));
	str_addf(config,
		 "[user]\n\tsigningKey = %s\n"
		 "[gpg]\n\tformat = ssh\n"
		 "[gpg \"ssh\"]\n\tallowedSignersFile = " HERE "/allowed_signers\n%s",
		 plan->keys.agent ? HERE "/signing.pub" : HERE "/signing",
		 sign ? "[commit]\n\tgpgSign = true\n" : "");
}

/* True when a line of the text is about this host. */
static bool is_pinned(const char *text, const char *host)
{
	size_t len = strlen(host);

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (!strncmp(text, host, len) && text[len] == ' ')
			return true;
	return false;
}

/* A repository that was cloned over https is pushed to over ssh, where the key counts. */
static void add_origin(struct plan *plan, const struct host *host, struct str *config)
{
	struct arena *a = &plan->arena;
	const char *origin = host->keys.origin;
	struct remote remote;

	if (!host->keys.deploy || !origin || !remote_parse(a, origin, &remote) || remote.ssh ||
	    (!is_pinned(known_hosts_builtin(), remote.host) &&
	     !is_pinned(host->keys.known_hosts, remote.host)))
		return;
	str_addf(config, "[url \"ssh://%s@%s/%s\"]\n\tinsteadOf = \"%s\"\n", remote.user,
		 remote.host, remote.path, gitconfig_quote(a, origin));
}

static void add_git(struct plan *plan, const struct host *host)
{
	_cleanup_str_ struct str config = { 0 };

	add_signing(plan, host, &config);
	add_origin(plan, host, &config);
	if (config.s)
		add_file(plan, "/etc/gitconfig", config.s);
}

static void add_private(struct plan *plan, const char *name, const char *variable, const char *path)
{
	char *inside = arena_printf(&plan->arena, HERE "/%s", name);

	if (!path)
		return;
	plan_add(plan, OP_BIND, inside, path, OPF_RO | OPF_CHECK);
	plan_setenv(plan, variable, inside);
}

static void add_public(struct plan *plan, const char *name, const char *line)
{
	if (line)
		add_file(plan, arena_printf(&plan->arena, HERE "/%s.pub", name),
			 arena_printf(&plan->arena, "%s\n", line));
}

static int check(const struct spec *spec, const struct host *host, struct err *err)
{
	const struct deploy_key_facts *keys = &host->keys;
	const char *const halves[][2] = { { keys->deploy, keys->deploy_public },
					  { keys->signing, keys->signing_public } };

	if (!keys->name || strcmp(keys->name, spec->deploy_key) ||
	    (!keys->deploy && !keys->signing)) {
		err_set(err, ENOENT, "there is no deploy key '%s' in ~/" DEPLOY_KEYS_DIR,
			spec->deploy_key);
		return err_hint(err,
				"'wrapix key add %s' makes one; 'wrapix key list' shows those "
				"that are there",
				spec->deploy_key);
	}
	for (size_t i = 0; i < ARRAY_LEN(halves); i++)
		if (halves[i][0] && !halves[i][1]) {
			err_set(err, EINVAL, "'%s.pub' is not there, or no Ed25519 key",
				halves[i][0]);
			return err_hint(err, "ssh-keygen -y -f '%s' >'%s.pub' writes it anew",
					halves[i][0], halves[i][0]);
		}
	if (spec->deploy_key_confirm && !keys->asker) {
		err_set(err, ENOENT, "no program can ask you before a signature is made");
		return err_hint(err, "start wrapix-notifyd, install ssh-askpass, or let "
				     "SSH_ASKPASS name a program");
	}
	return 0;
}

int plan_deploy_key(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err)
{
	const struct deploy_key_facts *keys = &host->keys;
	struct arena *a = &plan->arena;
	int r;

	if (!spec->deploy_key || spec->keyless)
		return 0;
	r = check(spec, host, err);
	if (r < 0)
		return r;
	plan->keys = (struct plan_keys){
		.agent = spec->deploy_key_mode != KEY_MODE_FILE,
		.name = arena_strdup(a, keys->name),
		.deploy = arena_strdup(a, keys->deploy),
		.signing = arena_strdup(a, keys->signing),
		.asker = arena_strdup(a, keys->asker),
		.trusted = arena_strdup(a, keys->known_hosts),
	};
	add_public(plan, "deploy", keys->deploy_public);
	add_public(plan, "signing", keys->signing_public);
	add_ssh(plan, spec, host);
	add_git(plan, host);
	if (plan->keys.agent) {
		plan_add(plan, OP_SOCKET, AGENT_SOCKET_INSIDE, NULL, 0)->mode = 0600;
		return 0;
	}
	add_private(plan, "deploy", "WRAPIX_DEPLOY_KEY", keys->deploy);
	add_private(plan, "signing", "WRAPIX_SIGNING_KEY", keys->signing);
	strv_addf(a, &plan->weaker,
		  "deployKeyMode file: whatever runs inside can read the private keys of '%s', "
		  "and send them away",
		  keys->name);
	return 0;
}
