/* SPDX-License-Identifier: MIT */
/* Where the other programs of ours are: beside this program, in the build's tree, or installed. */
#include <string.h>

#include "base/path.h"
#include "os/fs.h"
#include "spec/host_priv.h"

static char *find(struct host *host, const char *own, const char *name, const char *in_build)
{
	struct arena *a = &host->arena;
	char *places[] = {
		path_join(a, own, name),
		path_join(a, own, in_build),
		path_join(a, WRAPIX_BINDIR, name),
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char *real = os_realpath(a, places[i]);

		if (real && access(real, X_OK) == 0)
			return real;
	}
	return NULL;
}

void host_probe_notify(struct host *host)
{
	char *self = os_realpath(&host->arena, "/proc/self/exe");
	char *own = self ? path_parent(&host->arena, self) : arena_strdup(&host->arena, "/");

	host->tools.notify = find(host, own, "wrapix-notify", "../notify/wrapix-notify");
	host->tools.notifyd = find(host, own, "wrapix-notifyd", "../notify/daemon/wrapix-notifyd");
	host->tools.relay = find(host, own, "wrapix-relay", "../wrapix-relay");
}
