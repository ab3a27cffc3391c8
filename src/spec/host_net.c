/* SPDX-License-Identifier: MIT */
/* The host's network, as its environment and its files have it. */
#include "spec/host_priv.h"

#include <fcntl.h>

#include "os/fs.h"

void host_probe_proxy(const char *const *names, char **environment, struct host *host)
{
	const char *exempt = host_raw_env(environment, "no_proxy");

	for (; !host->proxy && *names; names++) {
		const char *value = host_raw_env(environment, *names);

		host->proxy = value && *value ? arena_strdup(&host->arena, value) : NULL;
	}
	host->no_proxy = arena_strdup(&host->arena,
				      exempt ? exempt : host_raw_env(environment, "NO_PROXY"));
}

void host_probe_network(const struct spec *spec, char **environment, struct host *host)
{
	static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
					     "ALL_PROXY",   "http_proxy",  NULL };
	_cleanup_free_ char *resolv = NULL;

	host_probe_proxy(names, environment, host);
	if (spec->net == NET_NONE || spec_is_filtered(spec))
		return;
	if (os_read_file_at(AT_FDCWD, "/etc/resolv.conf", 65536, &resolv, NULL) == 0)
		host->resolv_conf = arena_strdup(&host->arena, resolv);
	if (spec->net != NET_HOST)
		host_probe_uplink(environment, host);
}
