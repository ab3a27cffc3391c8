/* SPDX-License-Identifier: MIT */
/* Where the other programs of ours are: beside this program, in the build's tree, or installed. */
#include <string.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/host_priv.h"

char *host_find_own(struct host *host, const char *name, const char *in_build)
{
	struct arena *a = &host->arena;
	char *self = os_realpath(a, "/proc/self/exe");
	char *own = self ? path_parent(a, self) : arena_strdup(a, "/");
	char *places[] = {
		path_join(a, own, name),
		path_join(a, own, in_build),
		path_join(a, WRAPIX_BINDIR, name),
		path_join(a, WRAPIX_LIBEXECDIR, name),
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char *real = os_realpath(a, places[i]);

		if (real && access(real, X_OK) == 0)
			return real;
	}
	return NULL;
}

/* srt, where it can be used in any root. */
static char *find_srt(struct host *host)
{
	char *path = host->tools.self ? host_find_own(host, "srt", "srt") : NULL;

	return path && os_is_static_file(path) ? path : NULL;
}

void host_probe_notify(struct host *host)
{
	char *self = os_realpath(&host->arena, "/proc/self/exe");

	host->tools.self = self && !strcmp(path_name(self), "wrapix") ? self : NULL;
	host->tools.srt = find_srt(host);
	host->tools.relay = host_find_own(host, "wrapix-relay", "../wrapix-relay");
	host->tools.notify = host_find_own(host, "wrapix-notify", "../notify/wrapix-notify");
	host->tools.notifyd = host_find_own(host, "wrapix-notifyd",
					    "../notify/daemon/wrapix-notifyd");
}
