/* SPDX-License-Identifier: MIT */
/* The host's proxy, as its environment has it. */
#include "spec/host_priv.h"

void host_probe_proxy(char **environment, struct host *host)
{
	static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
					     "http_proxy" };
	const char *exempt = host_raw_env(environment, "no_proxy");

	for (size_t i = 0; !host->proxy && i < ARRAY_LEN(names); i++) {
		const char *value = host_raw_env(environment, names[i]);

		host->proxy = value && *value ? arena_strdup(&host->arena, value) : NULL;
	}
	host->no_proxy = arena_strdup(&host->arena,
				      exempt ? exempt : host_raw_env(environment, "NO_PROXY"));
}
