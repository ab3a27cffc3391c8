/* SPDX-License-Identifier: MIT */
/*
 * What 'wrapix exec' wants beyond a spec: one command at the host's own paths, under the rules of a
 * SandboxRuntimeConfig. The settings' reader fills it; who may be reached is in the spec itself
 * (rules, ports, NET_FILTERED), and so are variables that are set (env) and allow_nested.
 */
#pragma once

#include "spec/file_rules.h"

enum { EXEC_PASS_MAX = 64 };

struct exec_spec {
	struct file_rules files;
	/* Of allowUnixSockets: absolute and resolved; each itself and all below. */
	struct strv unix_sockets;
	bool all_unix_sockets;
	bool local_binding, pty;     /* of Seatbelt alone */
	struct strv denied_resolved; /* deniedResolvedAddresses, as net/policy.h takes them */
	char *proxy, *no_proxy;      /* parentProxy; NULL: what the environment says */
	struct strv unset_env;       /* credentials.envVars */
	char *tmpdir;   /* a directory on the host, made when missing; NULL: a private one */
	bool host_proc; /* enableWeakerNestedSandbox */
	int *pass_fds;  /* none below 3, at most EXEC_PASS_MAX */
	size_t n_pass_fds;
};
