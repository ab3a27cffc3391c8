/* SPDX-License-Identifier: MIT */
/* A build for macOS: its network. The virtual machine's is container's to make, so that there is no route to find. */
#include <fcntl.h>

#include "os/fs.h"
#include "spec/host_priv.h"

void host_probe_network(const struct spec *spec, char **environment, struct host *host)
{
	_cleanup_free_ char *resolv = NULL;

	host_probe_proxy(environment, host);
	if (spec->net == NET_NONE || spec_is_filtered(spec))
		return;
	if (os_read_file_at(AT_FDCWD, "/etc/resolv.conf", 65536, &resolv, NULL) == 0)
		host->resolv_conf = arena_strdup(&host->arena, resolv);
}
